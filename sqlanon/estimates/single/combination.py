"""Combines the classes of released rows with the leaves below their labels, for a query's aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, PolicyError
from sqlanon.estimates.axes import Number
from sqlanon.estimates.fixed_sql import fixed, sizes
from sqlanon.estimates.labels.pieces import LISTED, value_moments
from sqlanon.estimates.labels.spans import MOMENTS, unit_weight
from sqlanon.estimates.query.bind import ROW, Plan, relations_in
from sqlanon.estimates.release_model import BucketedColumns, ReleaseModel, bucketed_value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, cast, identical, infix, or_zero, union_all
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, query_file
from sqlanon.sql.classes.rows import class_label

# The values of buckets as leaves: any row of a bucket has any of its values, each as likely as it is frequent.
#
# Columns published in a separate table have buckets, too: the groups that link the rows of two tables (De
# Capitani di Vimercati et al., Fragments and loose associations, 2010), or a single one where nothing links them.


AGAIN = "it was changed: create it again"


def bucketed_leaves(bucketed: BucketedColumns) -> exp.Select:
    """Returns the values of buckets as leaves; the probability that a row has a value of its bucket is the value's
    frequency there.
    """
    names = {"values": [*map(bucketed_value, range(len(bucketed.columns)))]}
    text = "SELECT bucket AS label, {values}, weight FROM bucket"
    return filled_select(text, tables={"bucket": bucketed.values}, names=names)


def bucket_of_row(bucketed: BucketedColumns, rows: str | None = None) -> exp.Expr:
    """Returns the SQL of a released row's bucket, for a set of bucketed columns; 0 if all rows are in one bucket."""
    return literal(0) if bucketed.bucket is None else column(bucketed.bucket, rows)


def bucket_column(release: ReleaseModel, index: int) -> str:
    """Returns the name of the column of the classes with the bucket for set `index` of bucketed columns.

    All sets share one column if they have common buckets.
    """
    return f"bucket_{index}" if release.linked else "bucket"


def component(release: ReleaseModel, classes: str) -> exp.Expr:
    """Returns the unit with separate bounds: a bucket, or all rows if several sets have buckets of their own."""
    return literal(0) if release.linked else column("bucket", classes)


def require_linked(engine: Engine, release: ReleaseModel) -> None:
    """Raises DataError unless the number of rows in each group of a table equals the number of links and counterfeits
    that lead to it.
    """
    for bucketed in release.bucketed:
        count = literal(1) if release.counted is None else column(release.counted)
        rows = filled_query(
            "SELECT $bucket AS bucket, $count AS n FROM released",
            tables={"released": release.rows},
            bucket=bucket_of_row(bucketed),
            count=count,
        )
        if release.counterfeits is not None:
            rows = union_all([rows, release.counterfeits.copy()])
        values = filled_query("SELECT bucket AS label, weight FROM value", tables={"value": bucketed.values})
        if _differ(engine, rows, values):
            raise DataError(f"the tables of {release.name} do not have the same rows", hint=AGAIN)


def require_whole(engine: Engine, release: str, classes: str, values: str) -> None:
    """Raises DataError unless each bucket of the release has as many values as rows; `release` is its name for the
    error.
    """
    if _differ(engine, classes, values):
        raise DataError(f"buckets of {release} do not have as many values as rows", hint=AGAIN)


def _differ(engine: Engine, classes: Relation, values: Relation) -> bool:
    """Whether the number of rows (bucket, n) and the number of values (label, weight) differ in any bucket."""
    query = fixed("unequal_buckets", {"class": classes, "value": values})
    return bool(engine.rows(query)[0][0])


def require_few(engine: Engine, classes: str, signatures: Sequence[tuple[exp.Expr, str]], aggregates: int) -> None:
    """Raises PolicyError if there would be too many combinations of rows and values.

    `signatures` are the tables of signatures, each with the column of the classes that holds its label.
    """
    query = select(of=relation(classes, as_="class"))
    number: exp.Expr = cast(literal(aggregates), "DOUBLE")
    for index, (label, table) in enumerate(signatures):
        counts = filled_query("SELECT label, count(*) AS n FROM value GROUP BY label", tables={"value": table})
        name = f"values_{index}"
        query.join(counts.subquery(name), on=identical(label.copy(), column("label", name)), copy=False)
        number = infix(number, "*", column("n", name))
    ((count,),) = engine.rows(query.select(or_zero(f.sum(number)), copy=False))
    most = sizes().max_combinations
    if count > most:
        raise PolicyError(
            f"the query tells {count:.0f} combinations of rows and values apart, more than {most}",
            hint="group by less, or by columns of one table of the release only",
        )


def drawn(relations: Sequence[tuple[str, exp.Expr]]) -> exp.Expr:
    """Returns the SQL of a list of structs, one for each relation of bucket values in a combination.

    A struct has the bucket and the signature of the combination, and counts the bucket's values with this signature,
    its signatures, and its values.
    """
    draws = [
        filled(
            "struct_pack(place := $place, bucket := $bucket, signature := {signature}, weight := {weight}, "
            "signatures := {signatures}, total := {total})",
            names={part: [column(part, name)] for part in ("signature", "weight", "signatures", "total")},
            place=index,
            bucket=bucket,
        )
        for index, (name, bucket) in enumerate(relations)
    ]
    return exp.Array(expressions=draws)


# The relation of the classes of released rows.
CLASS = "class"


@dataclass(frozen=True)
class BucketDraws:
    """The relations that assign a bucket to each class, and `component`, the expression of the unit with its own
    bounds.

    There is one relation for each kind of bucket.
    """

    component: exp.Expr
    relations: Sequence[tuple[str, exp.Expr]]


def combination(
    plan: Plan,
    classes: str,
    signatures: Sequence[tuple[str, exp.Expr, str]],
    taken: BucketDraws | None,
    numbers: Mapping[int, Number],
) -> exp.Query:
    """Returns a row for each aggregate, class, and combination of its labels' signatures and the `taken` bucket values.

    The aggregates are those of `numbers`, which are all exact or all inexact. A label is left out of an aggregate that
    does not depend on it, because its leaves need not be known.
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
) -> exp.Query:
    """SELECT of the rows of one aggregate in `combination`; `key` identifies its group, `listed` are flags of the
    groups' relations.
    """
    holds = and_(_placed(plan.condition), _placed(plan.present[number]), *listed)
    values = _values(plan, number, kind)
    read = {name for tree in (holds, key, *values) for name in relations_in(tree)}
    if taken:
        read |= {name for name, _ in taken.relations}
    joined = [(name, label, table) for name, label, table in signatures if name in read]
    names = [name for name, _, _ in joined]
    shares, combinations = unit_weight(), literal(1)
    for name in names:
        shares = infix(shares, "*", column("share", name))
        combinations = infix(combinations, "*", column("signatures", name))
    parts = {}
    if taken:
        parts = {"component": taken.component, "ways": combinations, "drawn": drawn(taken.relations)}
    return query_file(
        "estimates",
        "combination",
        tables={"classes": classes},
        names={"tables": [table for _, _, table in joined], "of": names, "moments": MOMENTS, "parts": [*parts]},
        labels=[label for _, label, _ in joined],
        key=key,
        number=number,
        unit=kind.unit,
        share=shares,
        holds=holds,
        values=values,
        further=[*parts.values()],
    )


def _placed(tree: exp.Expr) -> exp.Expr:
    """Returns an expression over the classes, in which columns of the classes replace the parts of the
    released rows.
    """

    def moved(node: exp.Expr) -> exp.Expr:
        return column(node.name, CLASS) if isinstance(node, exp.Column) and node.table == ROW else node

    return tree.copy().transform(moved)


def _values(plan: Plan, number: int, kind: Number) -> list[exp.Expr]:
    """Returns the SQL of the moments of an aggregate's argument; for count(*), the moments of the number 1."""
    argument = plan.arguments[number]
    if argument is None:
        part = kind.parts(literal(1))
        return [unit_weight(), unit_weight(), part, part.copy()]
    name, _ = argument
    if name == ROW:
        return value_moments(column(f"value_{number}", CLASS), kind)
    return [column(f"{moment}_{number}", name) for moment in MOMENTS]
