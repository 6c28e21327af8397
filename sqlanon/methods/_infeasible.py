"""Why no node of the lattice meets the requirements: the class that stands in the way."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation
from sqlanon.questions.ask import BoundRequirement
from sqlanon.search.rollup import CellSource
from sqlanon.sqlgen.asked import relation_names
from sqlanon.sqlgen.lattice import class_label, smallest_class
from sqlanon.sqlgen.nodes import Batch
from sqlanon.sqlgen.rows import Step

__all__ = ["infeasible"]


def infeasible(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    cells: CellSource,
    batch: Batch,
    steps: Sequence[Step],
    limit: int,
) -> PrivacyViolation:
    """The error that names a requirement and its smallest class at the most general levels allowed.

    `steps` make the normal relations of that node.
    """
    asked = ", ".join(map(str, requirements))
    for requirement, names in zip(requirements, relation_names(requirements), strict=True):
        violating = requirement.statement("violations", names)
        found = engine.rows(smallest_class(steps, violating, batch.key, cells.layout.words))
        if found:
            rows, count, size, *key = (int(part) for part in found[0])
            which = _label(engine, policy, cells, key)
            return PrivacyViolation(
                f"{asked} cannot be met with at most {limit} of {cells.rows} rows suppressed: at the most general "
                f"levels allowed, classes that violate {requirement}: {count} with {rows} rows, the smallest{which} "
                f"with {size}; nothing was published",
                hint=_hint(policy),
            )
    return PrivacyViolation(f"{asked} cannot be met; nothing was published")


def _label(engine: Engine, policy: BoundPolicy, cells: CellSource, key: Sequence[int]) -> str:
    """The class as the release would show it.

    Without the columns that would be `*` for every class, and without those that would
    be kept as they are: their values are a respondent's own.
    """
    parts = []
    for place, bound in enumerate(policy.quasi_identifiers):
        if 0 < bound.max_level < bound.height:
            query = class_label(bound, cells.trees[place], cells.layout.fields[place], key)
            parts.append(f"{bound.column} = {engine.rows(query)[0][0]}")
    return f" ({', '.join(parts)})" if parts else ""


def _hint(policy: BoundPolicy) -> str:
    capped = [b.column for b in policy.quasi_identifiers if b.max_level < b.height]
    if capped:
        return f"raise MAX LEVEL of {', '.join(capped)}, allow more suppression, or ask for less"
    return "the whole table does not meet it: ask for less, or allow more suppression"
