"""Full-domain generalization with suppression: one level of its hierarchy for each attribute.

Samarati (2001); Incognito (LeFevre et al. 2005); OLA (El Emam et al. 2009). The node of
least granularity loss among those that meet the requirements after suppressing at most
a given fraction of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.transformation import Generalization
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PolicyError, PrivacyViolation
from sqlanon.questions.ask import BoundRequirement
from sqlanon.search.lattice import Lattice, Node, search
from sqlanon.search.rollup import CellSource, Keep, Rollups
from sqlanon.sqlgen.lattice import node_loss, smallest_class

__all__ = ["Options", "Report", "options", "solve"]

# Called with how many nodes are settled, and how many there are.
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """METHOD generalization(suppression => fraction): the share of rows, in [0, 1], that may be left out."""

    suppression: Decimal = Decimal(0)


def options(arguments: Sequence[tuple[str, Value]]) -> Options:
    """Checks the method's arguments; raises PolicyError for one that is unknown or out of bounds."""
    given = dict(arguments)
    suppression = given.pop("suppression", 0)
    if given:
        raise PolicyError(
            f"generalization has no argument {next(iter(given))!r}", hint="write generalization(suppression => 0.02)"
        )
    if isinstance(suppression, bool) or not isinstance(suppression, int | Decimal) or not 0 <= suppression <= 1:
        raise PolicyError(f"generalization: suppression is a fraction between 0 and 1, not {suppression}")
    return Options(Decimal(suppression))


def solve(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    given: Options,
    cells: CellSource,
    keep: Keep,
    progress: Report | None = None,
) -> Generalization:
    """The optimal node.

    Raises PrivacyViolation, with the class that makes it so, where not even the most
    general node that MAX LEVEL allows meets the requirements.
    """
    for requirement in requirements:
        if not requirement.question.monotone_under_suppression:
            raise InternalError(f"the search cannot prune by {requirement.question.name} yet")
    limit = int(given.suppression * cells.rows)
    lattice, unit = _lattice(policy, cells)
    rollups = Rollups(engine, cells, keep, entity=policy.entity is not None)

    def suppressed(nodes: Sequence[Node]) -> list[int]:
        return rollups.suppressed(nodes, requirements)

    def loss(node: Node) -> int:
        return _loss(engine, policy, requirements, cells, rollups, lattice, unit, node)

    found = search(lattice, limit, suppressed, loss, batch=rollups.batch, progress=progress)
    if found is None:
        raise _infeasible(engine, policy, requirements, cells, rollups, limit)
    total = unit * cells.rows * sum((Fraction(b.attribute.weight) for b in policy.quasi_identifiers), Fraction())
    share = Fraction(found.loss) / total if total else Fraction()
    return Generalization(found.node, share, cells.rows, found.suppressed, limit, lattice.size, found.checked)


def _lattice(policy: BoundPolicy, cells: CellSource) -> tuple[Lattice, int]:
    """The lattice with its costs in units of 1/unit of a cell, exact for every attribute and weight."""
    weights = [Fraction(b.attribute.weight) for b in policy.quasi_identifiers]
    unit = lcm(*(w.denominator * max(v - 1, 1) for w, v in zip(weights, cells.values, strict=True)))
    costs = tuple(
        tuple(int(unit * w * s / max(v - 1, 1)) for s in spread)
        for w, v, spread in zip(weights, cells.values, cells.spread, strict=True)
    )
    low = tuple(b.min_level for b in policy.quasi_identifiers)
    high = tuple(b.max_level for b in policy.quasi_identifiers)
    return Lattice(low, high, costs, row=int(unit * sum(weights))), unit


def _loss(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    cells: CellSource,
    rollups: Rollups,
    lattice: Lattice,
    unit: int,
    node: Node,
) -> int:
    """The loss of a node: that of its recoding, with the suppressed rows' own loss replaced by 1 a cell."""
    query = node_loss(policy, rollups.equivalence_class(node), requirements, cells, node)
    rows, *spreads = engine.rows(query)[0]
    total = lattice.bound(node)
    for bound, leaves, spread in zip(policy.quasi_identifiers, cells.values, spreads, strict=True):
        weight = Fraction(bound.attribute.weight)
        total += int(unit * weight * (int(rows) - Fraction(int(spread), max(leaves - 1, 1))))
    return total


def _infeasible(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    cells: CellSource,
    rollups: Rollups,
    limit: int,
) -> PrivacyViolation:
    """Names the requirement and the class that stand in the way at the most general node allowed."""
    top = tuple(b.max_level for b in policy.quasi_identifiers)
    classes = rollups.equivalence_class(top)
    asked = ", ".join(map(str, requirements))
    for requirement in requirements:
        rows, count, smallest = engine.rows(smallest_class(classes, requirement))[0]
        if not count:
            continue
        capped = [b.column for b in policy.quasi_identifiers if b.max_level < b.height]
        hint = (
            f"raise MAX LEVEL of {', '.join(capped)}, allow more suppression, or ask for less"
            if capped
            else "the whole table does not meet it: ask for less"
        )
        return PrivacyViolation(
            f"{asked} cannot be met with at most {limit} of {cells.rows} rows suppressed: even at the most general "
            f"levels allowed, {count} class{'es' if count > 1 else ''} with {rows} rows violate{'' if count > 1 else 's'} "
            f"{requirement}, the smallest with {smallest} row{'s' if smallest > 1 else ''}; nothing was published",
            hint=hint,
        )
    return PrivacyViolation(f"{asked} cannot be met; nothing was published")

