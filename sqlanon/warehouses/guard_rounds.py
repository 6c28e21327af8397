"""The guard's rounds one after the other, for engines that know no recursion or another one.

Where a requirement judges a class by the rows of others, each round withholds the classes that violate and asks the
rest again, as often as a live view does.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqlgen.build.expressions import exists
from sqlanon.sqlgen.build.names import column, literal, relation
from sqlanon.sqlgen.build.steps import with_steps
from sqlanon.sqlgen.classes.guard import restricted, violations
from sqlanon.sqlgen.classes.requirement import SqlRequirement
from sqlanon.sqlgen.sizes import sizes
from sqlanon.warehouses.script_step import ScriptStep

__all__ = ["guard_rounds"]


def guard_rounds(requirements: Sequence[SqlRequirement], *, entity: bool) -> list[ScriptStep]:
    """Steps that end in kept(class_id), which is empty where the last round still finds a class that violates."""
    last = sizes().guard_rounds
    steps: list[ScriptStep] = []
    for number in range(1, last):
        after = _remaining(number).where(
            exp.not_(column("class_id").isin(query=_violating(requirements, number, entity)))
        )
        steps.append(
            ScriptStep(
                f"remaining_{number}",
                after,
                f"Round {number}: without the classes that violate among those of the round before, whose rows"
                " no longer count."
                if number > 1
                else "Round 1: without the classes that violate among all.",
            )
        )
    violating = exp.select(literal(1)).from_(_violating(requirements, last, entity).subquery("violating"))
    last_classes = _remaining(last).where(exp.not_(exists(violating)))
    return [
        *steps,
        ScriptStep("kept", last_classes, "What remains, if none of it violates; else nothing is published."),
    ]


def _remaining(number: int) -> exp.Select:
    """The classes that a round asks."""
    return exp.select(column("class_id")).from_(relation(_classes_of(number)))


def _classes_of(number: int) -> str:
    return f"remaining_{number - 1}" if number > 1 else "equivalence_class"


def _violating(requirements: Sequence[SqlRequirement], number: int, entity: bool) -> exp.Select:
    steps, names = restricted(requirements, _classes_of(number), f"round_{number}", entity=entity)
    query = exp.select(column("class_id")).from_(violations(requirements, names).subquery("violations"))
    return with_steps(query, steps)
