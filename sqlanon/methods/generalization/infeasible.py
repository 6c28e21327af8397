"""Why no node of the lattice meets the requirements: the class that stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.counts import count_of
from sqlanon.domain.explanation import JoinReached, Violated
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.generalization.violating_classes import labels, violated
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.frequent_values import too_frequent_in
from sqlanon.methods.shared.lattice.batch_sql import Batch
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.steps import Step
from sqlanon.sql.questions.ask import BoundRequirement


def infeasible(
    engine: Engine,
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    cells: Cells,
    batch: Batch,
    steps: Sequence[Step],
    limit: int,
) -> PrivacyViolation:
    """The error that names what cannot be met, and the smallest class at the most general levels allowed.

    Where that is all rows, and the requirement is about sensitive values, it names the most
    frequent one. `steps` make the normal relations of that node.
    """
    violations = violated(engine, batch, requirements, steps)
    if not violations:
        return PrivacyViolation(f"{', '.join(map(str, requirements))} cannot be met; nothing was published")
    broken = [violation for violation, _ in violations[0][1]]
    worst, key = violations[0][1][0]
    node = tuple(bound.max_level for bound in policy.quasi_identifiers)
    worst = replace(worst, label=labels(engine, policy, cells, [(node, key, worst.on)])[0])
    # A value of a smaller class would tell of its respondents.
    of_all_rows = [r for r in requirements if str(r) == worst.requirement and worst.smallest == cells.rows]
    values = too_frequent_in(engine, policy, of_all_rows)
    # Within the budget it is what later rounds would have to suppress.
    later = ", and without them others do" if violations[0][0] <= limit else ""
    return PrivacyViolation(
        f"{_unmet(requirements, broken, limit)} with at most {count_of(limit, cells.rows, 'row')} suppressed: "
        f"at the most general levels allowed, {worst}{values}{later}; nothing was published",
        hint=_hint(policy, worst.on, spared=violations[0][0] < cells.rows),
    )


def _unmet(requirements: Sequence[BoundRequirement], broken: Sequence[Violated], limit: int) -> str:
    """Names the requirements that cannot be met: those too much by themselves, else those too much together."""
    alone = [violation for violation in broken if violation.rows > limit or not violation.curable]
    unmet = {violation.requirement for violation in alone or broken}
    names = ", ".join(dict.fromkeys(str(requirement) for requirement in requirements if str(requirement) in unmet))
    return f"{names} cannot be met{' together' if not alone and len(broken) > 1 else ''}"


def infeasible_join(task: Task, broken: Sequence[JoinReached], limit: int) -> PrivacyViolation:
    """The error where classes meet what is required of them, and the join with another release tells too much.

    `broken` is what it comes to at the most general levels allowed. Other levels may come to less, or more.
    """
    rows = task.encoded.rows
    comes_to = ", ".join(f"{reached.requirement} comes to {reached.figure}" for reached in broken)
    return PrivacyViolation(
        f"no levels that were looked at meet what is required with at most {count_of(limit, rows, 'row')} suppressed: "
        f"at the most general ones, joined with {broken[0].other}, {comes_to}; nothing was published",
        hint="ask for less of the join, or allow more levels or more suppression",
    )


def _hint(policy: BoundPolicy, on: Sequence[str], *, spared: bool) -> str:
    """What can be done; `spared` is whether some rows would be left if all classes that violate were suppressed.

    `on` are the quasi-identifiers by which these are told apart, none if they are all.
    """
    quasi = [b for b in policy.quasi_identifiers if not on or b.attribute.name in on]
    capped = [b.column for b in quasi if b.max_level < b.height]
    if not capped:
        return "the whole table does not meet it: ask for less"
    more = "allow more suppression, or ask for less" if spared else "or ask for less"
    return f"raise MAX LEVEL of {', '.join(capped)}, {more}"
