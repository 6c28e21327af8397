"""A query's aggregates over every class of released rows and every combination of leaves below its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.estimates.labels.listed_leaves import MOMENTS, unit_weight
from sqlanon.estimates.labels.moments import value_moments
from sqlanon.estimates.labels.unlisted_leaves import LISTED
from sqlanon.estimates.numbers import Number
from sqlanon.estimates.query.bind import ROW, relations_in
from sqlanon.estimates.query.plan import Plan
from sqlanon.estimates.single.bucket_values import drawn
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import huge, identical, infix, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.rows import class_label

# The relation of the classes of released rows.
CLASS = "class"

_DOUBLE = exp.DataType.build("DOUBLE")


@dataclass(frozen=True)
class BucketDraws:
    """The relations of buckets with the bucket of a class in each, and the component that is bounded by itself."""

    component: exp.Expr
    relations: Sequence[tuple[str, exp.Expr]]


def combination(
    plan: Plan,
    classes: str,
    signatures: Sequence[tuple[str, exp.Expr, str]],
    taken: BucketDraws | None,
    numbers: Mapping[int, Number],
) -> exp.Query:
    """A row for each aggregate, class and combination of signatures of its labels and of the `taken` values of buckets.

    The aggregates are those of `numbers`, which are all exact or all inexact. Labels on which an aggregate does
    not depend are left out of it: their leaves need not be known.
    """
    key: exp.Expr = literal(0)
    if plan.groups:
        key = class_label({f"group_{i}": _placed(group) for i, group in enumerate(plan.groups)})
    # A value that is not listed is in a group that nobody knows.
    listed = [column(LISTED, name) for name in dict.fromkeys(group.table for group in plan.groups) if name != ROW]
    return union_all(
        [_of_aggregate(plan, classes, signatures, taken, number, kind, key, listed) for number, kind in numbers.items()]
    )


def _of_aggregate(
    plan: Plan,
    classes: str,
    signatures: Sequence[tuple[str, exp.Expr, str]],
    taken: BucketDraws | None,
    number: int,
    kind: Number,
    key: exp.Expr,
    listed: Sequence[exp.Expr],
) -> exp.Select:
    """The rows of one aggregate; `key` is that of its groups, `listed` are flags of the relations of groups."""
    holds = exp.and_(_placed(plan.condition), _placed(plan.present[number]), *(flag.copy() for flag in listed))
    values = _values(plan, number, kind)
    read = {name for tree in (holds, key, *values) for name in relations_in(tree)}
    if taken:
        read |= {name for name, _ in taken.relations}
    shares, combinations = unit_weight(), literal(1)
    rows = exp.select().from_(relation(classes, as_=CLASS))
    for name, label, table in signatures:
        if name in read:
            same = identical(label.copy(), column("label", name))
            rows.join(relation(table, as_=name), on=same, copy=False)
            shares = infix(shares, "*", column("share", name))
            combinations = infix(combinations, "*", column("signatures", name))
    query = rows.select(
        column("id", CLASS),
        alias(key.copy(), "key"),
        column("n", CLASS),
        alias(literal(number), "number"),
        alias(huge(literal(kind.unit)), "unit"),
        alias(shares, "share"),
        alias(f.coalesce(holds, exp.false()), "holds"),
        *(alias(value, name) for value, name in zip(values, MOMENTS, strict=True)),
    )
    if taken:
        parts = {"component": taken.component, "ways": combinations, "drawn": drawn(taken.relations)}
        query.select(*(alias(part.copy(), name) for name, part in parts.items()), copy=False)
    return query


def _placed(tree: exp.Expr) -> exp.Expr:
    """An expression over parts in which those of the released rows are columns of the classes."""

    def moved(node: exp.Expr) -> exp.Expr:
        return column(node.name, CLASS) if isinstance(node, exp.Column) and node.table == ROW else node

    return tree.copy().transform(moved)


def _values(plan: Plan, number: int, kind: Number) -> list[exp.Expr]:
    """The moments of the argument of an aggregate; those of 1 where it has none."""
    argument = plan.arguments[number]
    if argument is None:
        part = kind.parts(literal(1))
        return [unit_weight(), unit_weight(), part, part.copy()]
    name, _ = argument
    if name == ROW:
        return value_moments(column(f"value_{number}", CLASS), kind)
    return [column(f"{moment}_{number}", name) for moment in MOMENTS]
