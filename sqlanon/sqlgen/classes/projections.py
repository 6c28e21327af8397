"""Classes by some of the quasi-identifiers: what a requirement `on => (columns)` is asked about.

A class of all quasi-identifiers lies in one class of each set of them. So the relation equivalence_class says, in a
column for each set, in which one, and the relations of the set's classes are sums over it. Rows are withheld by the
classes of all quasi-identifiers: of a class of a set that violates, all those that lie in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import same, total
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.build.steps import Step
from sqlanon.sqlgen.cells.cells import respondents
from sqlanon.sqlgen.classes.requirement import (
    WHOLE,
    Projected,
    SqlRequirement,
    projections,
    relation_names,
)

__all__ = ["RESPONDENTS", "projected_classes", "projection_steps", "whole_classes"]

# class_respondent(class_id, entity): who has rows in which class. There is none where rows are counted.
RESPONDENTS = "class_respondent"


def projected_classes(
    classes: exp.Query, requirements: Sequence[SqlRequirement], projected: Projected | None
) -> exp.Query:
    """The relation equivalence_class with a column for each set of columns; as it is where there is none."""
    sets = projections(requirements)
    if not sets or projected is None:
        return classes
    parts = [alias(projected(column("class_id"), columns), _set_column(number)) for number, columns in enumerate(sets)]
    return exp.select(exp.Star(), *parts).from_(classes.subquery("class", copy=False), copy=False)


def projection_steps(requirements: Sequence[SqlRequirement], *, entity: bool, prefix: str = "") -> list[Step]:
    """The relations of the classes of each set that a requirement is asked on, under the names that it reads.

    They are made of those of all quasi-identifiers, whose names begin with `prefix`, as theirs do. With an `entity`
    respondents are counted, of the relation `RESPONDENTS`.
    """
    steps: dict[str, exp.Query] = {}
    sets, whole = projections(requirements), relation_names(requirements, whole=True)
    for requirement, names, base in zip(requirements, relation_names(requirements), whole, strict=True):
        for kind, name in names.items():
            if requirement.on and kind != WHOLE and name != base[kind] and prefix + name not in steps:
                number = sets.index(tuple(requirement.on))
                steps[prefix + name] = _of_set(kind, prefix + base[kind], _set_column(number), prefix, entity)
    return list(steps.items())


def _set_column(number: int) -> str:
    """The column of equivalence_class that names its class of a set."""
    return f"on_{number}"


def _of_set(kind: str, whole: str, set_column: str, prefix: str, entity: bool) -> exp.Select:
    named = alias(column(set_column, "class"), "class_id")
    if kind == "equivalence_class":
        return _sized(whole, set_column, prefix, entity)
    query = exp.select(named).from_(relation(whole, as_="part"), copy=False)
    query.join(relation(f"{prefix}equivalence_class", as_="class"), on=same("class_id", "part", "class"), copy=False)
    if kind == "guarded":
        return query.select(column("node", "part"), copy=False).distinct(copy=False)
    value = column("value", "part")
    query.select(value, alias(total(column("n", "part")), "n"), copy=False)
    return query.group_by(column(set_column, "class"), value.copy(), copy=False)


def _sized(whole: str, set_column: str, prefix: str, entity: bool) -> exp.Select:
    """class_id, size, entities: respondents of several classes may be the same, so that they are counted again."""
    parts = [alias(column(set_column), "class_id"), alias(total(column("size")), "size")]
    if not entity:
        parts.append(alias(total(column("entities")), "entities"))
    sized = exp.select(*parts).from_(relation(whole), copy=False).group_by(column(set_column), copy=False)
    if not entity:
        return sized
    counted = exp.select(
        alias(column(set_column, "class"), "class_id"), alias(respondents(column("entity", "part")), "entities")
    ).from_(relation(prefix + RESPONDENTS, as_="part"), copy=False)
    counted.join(relation(whole, as_="class"), on=same("class_id", "part", "class"), copy=False)
    counted.group_by(column(set_column, "class"), copy=False)
    query = exp.select(column("class_id", "sized"), column("size", "sized"), column("entities", "counted"))
    query.from_(sized.subquery("sized", copy=False), copy=False)
    return query.join(
        counted.subquery("counted", copy=False), on=same("class_id", "sized", "counted"), join_type="LEFT", copy=False
    )


def whole_classes(violating: exp.Query, number: int, whole: str) -> exp.Select:
    """The classes of all quasi-identifiers that lie in those of a set which violate: class_id, size, excess.

    The excess is that of the class of the set, but no more than the rows.
    """
    share = f.least(column("excess", "violation"), column("size", "class"), ignore_nulls=True)
    on = column(_set_column(number), "class").eq(column("class_id", "violation"))
    return (
        exp.select(column("class_id", "class"), column("size", "class"), alias(share, "excess"))
        .from_(relation(whole, as_="class"), copy=False)
        .join(violating.subquery("violation", copy=False), on=on, copy=False)
    )
