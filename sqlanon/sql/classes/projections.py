"""Classes by some of the quasi-identifiers: what a requirement `on => (columns)` is asked about.

A class of all quasi-identifiers lies in one class of each set of them. A relation class_of_set_i says in which one, for
the set with this number, and the relations of the set's classes are sums over it. There is one for each set, and none
with a column for each set: an engine that puts that one in each place where it is read would compute all sets for each
of them. Rows are withheld by the classes of all quasi-identifiers: of a class of a set that violates, all those that
lie in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import same, total
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import respondents
from sqlanon.sql.classes.requirement import (
    WHOLE,
    Projected,
    SqlRequirement,
    class_of_set,
    projections,
    relation_names,
)

# class_respondent(class_id, entity): who has rows in which class. There is none where rows are counted.
RESPONDENTS = "class_respondent"

# The column of a class_of_set_i that names the class of the set.
_SET_CLASS = "set_class"


def projected_classes(requirements: Sequence[SqlRequirement], projected: Projected | None) -> list[Step]:
    """class_of_set_i(class_id, size, entities, set_class) of each set of columns: the classes, each in one of the set.

    Raises InternalError where a requirement is on some columns, and nothing says what is `projected` on them.
    """
    sets = projections(requirements)
    if sets and projected is None:
        raise InternalError("a requirement asks about some quasi-identifiers, and classes are of all of them only")
    steps: list[Step] = []
    for number, columns in enumerate(sets):
        assert projected is not None
        of_set = alias(projected(column("class_id"), columns), _SET_CLASS)
        named = [column(name) for name in ("class_id", "size", "entities")]
        query = exp.select(*named, of_set).from_(relation("equivalence_class"), copy=False)
        steps.append((class_of_set(number), query))
    return steps


def projection_steps(requirements: Sequence[SqlRequirement], *, entity: bool, prefix: str = "") -> list[Step]:
    """The relations of the classes of each set that a requirement is asked on, under the names that it reads.

    They are made of those of all quasi-identifiers, whose names begin with `prefix`, as theirs do. With an `entity`
    respondents are counted, of the relation `RESPONDENTS`.
    """
    steps: dict[str, exp.Query] = {}
    whole = relation_names(requirements, whole=True)
    for requirement, names, base in zip(requirements, relation_names(requirements), whole, strict=True):
        for kind, name in names.items():
            if requirement.on and kind != WHOLE and name != base[kind] and prefix + name not in steps:
                steps[prefix + name] = _of_set(kind, prefix + base[kind], prefix + base[WHOLE], prefix, entity)
    return list(steps.items())


def _of_set(kind: str, whole: str, classes: str, prefix: str, entity: bool) -> exp.Select:
    """A relation of the classes of a set; `whole` is that of all quasi-identifiers, `classes` the class_of_set_i."""
    if kind == "equivalence_class":
        return _sized(classes, prefix, entity)
    query = exp.select(alias(column(_SET_CLASS, "class"), "class_id")).from_(relation(whole, as_="part"), copy=False)
    query.join(relation(classes, as_="class"), on=same("class_id", "part", "class"), copy=False)
    if kind == "guarded":
        return query.select(column("node", "part"), copy=False).distinct(copy=False)
    value = column("value", "part")
    query.select(value, alias(total(column("n", "part")), "n"), copy=False)
    return query.group_by(column(_SET_CLASS, "class"), value.copy(), copy=False)


def _sized(classes: str, prefix: str, entity: bool) -> exp.Select:
    """class_id, size, entities: respondents of several classes may be the same, so that they are counted again."""
    parts = [alias(column(_SET_CLASS), "class_id"), alias(total(column("size")), "size")]
    if not entity:
        parts.append(alias(total(column("entities")), "entities"))
    sized = exp.select(*parts).from_(relation(classes), copy=False).group_by(column(_SET_CLASS), copy=False)
    if not entity:
        return sized
    counted = exp.select(
        alias(column(_SET_CLASS, "class"), "class_id"), alias(respondents(column("entity", "part")), "entities")
    ).from_(relation(prefix + RESPONDENTS, as_="part"), copy=False)
    counted.join(relation(classes, as_="class"), on=same("class_id", "part", "class"), copy=False)
    counted.group_by(column(_SET_CLASS, "class"), copy=False)
    query = exp.select(column("class_id", "sized"), column("size", "sized"), column("entities", "counted"))
    query.from_(sized.subquery("sized", copy=False), copy=False)
    return query.join(
        counted.subquery("counted", copy=False), on=same("class_id", "sized", "counted"), join_type="LEFT", copy=False
    )


def whole_classes(violating: exp.Query, classes: str) -> exp.Select:
    """The classes of all quasi-identifiers that lie in those of a set which violate: class_id, size, excess.

    `classes` is the class_of_set_i of the set. The excess is that of the class of the set, but no more than the rows.
    """
    share = f.least(column("excess", "violation"), column("size", "class"), ignore_nulls=True)
    on = column(_SET_CLASS, "class").eq(column("class_id", "violation"))
    return (
        exp.select(column("class_id", "class"), column("size", "class"), alias(share, "excess"))
        .from_(relation(classes, as_="class"), copy=False)
        .join(violating.subquery("violation", copy=False), on=on, copy=False)
    )
