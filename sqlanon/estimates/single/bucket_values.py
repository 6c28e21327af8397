"""The values of buckets as leaves: any row of a bucket has any of its values, each as likely as it is frequent.

Columns that are published in a table of their own have buckets, too: the groups that link the rows of two tables (De
Capitani di Vimercati et al., Fragments and loose associations, 2010), or a single one where nothing links them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, PolicyError
from sqlanon.estimates.release_model import BucketedColumns, ReleaseModel, bucketed_value
from sqlanon.estimates.sizes import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, identical, infix, or_zero, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.rows import class_label

AGAIN = "it was changed: create it again"


def bucketed_leaves(bucketed: BucketedColumns) -> exp.Select:
    """The values of each bucket: any row of it has any of them, each as likely as it is frequent."""
    parts = (column(name) for name in (*map(bucketed_value, range(len(bucketed.columns))), "weight"))
    return exp.select(alias(column("bucket"), "label"), *parts).from_(bucketed.values.subquery("bucket"))


def bucket_of_row(bucketed: BucketedColumns, rows: str | None = None) -> exp.Expr:
    """The bucket of a row of the release for a set of bucketed columns."""
    return literal(0) if bucketed.bucket is None else column(bucketed.bucket, rows)


def bucket_column(release: ReleaseModel, index: int) -> str:
    """The column of the classes with the bucket of the set of columns at this index, or of all if they share it."""
    return f"bucket_{index}" if release.linked else "bucket"


def component(release: ReleaseModel, classes: str) -> exp.Expr:
    """The component that is bounded by itself: a bucket, or all rows where sets of columns have different buckets."""
    return literal(0) if release.linked else column("bucket", classes)


def require_linked(engine: Engine, release: ReleaseModel) -> None:
    """Raises DataError unless each group of a table has as many rows as the release links to it, and counterfeits."""
    for bucketed in release.bucketed:
        count = literal(1) if release.counted is None else column(release.counted)
        linked = exp.select(alias(bucket_of_row(bucketed), "bucket"), alias(count, "n"))
        rows: exp.Query = linked.from_(release.rows.copy().subquery("released"))
        if release.counterfeits is not None:
            rows = union_all([rows, release.counterfeits.copy()])
        values = exp.select(alias(column("bucket"), "label"), column("weight")).from_(bucketed.values.subquery("value"))
        if _differ(engine, rows.subquery("rows"), values.subquery("values")):
            raise DataError(f"the tables of {release.name} do not have the same rows", hint=AGAIN)


def require_whole(engine: Engine, release: str, classes: str, values: str) -> None:
    """Raises DataError unless every bucket of the rows has as many values as rows."""
    if _differ(engine, relation(classes), relation(values)):
        raise DataError(f"buckets of {release} do not have as many values as rows", hint=AGAIN)


def _differ(engine: Engine, classes: exp.Table | exp.Subquery, values: exp.Table | exp.Subquery) -> bool:
    """Whether the number of rows (bucket, n) and the number of values (label, weight) differ in any bucket."""
    rows = exp.select(column("bucket"), alias(f.sum(column("n")), "n")).from_(classes)
    counted_values = exp.select(column("label"), alias(f.sum(column("weight")), "n")).from_(values)
    same = identical(column("bucket", "rows"), column("label", "values"))
    other = exp.not_(identical(column("n", "rows"), column("n", "values")))
    query = exp.select(f.count()).from_(rows.group_by(column("bucket")).subquery("rows"))
    query = query.join(
        counted_values.group_by(column("label")).subquery("values"), on=same, join_type="FULL", copy=False
    )
    return bool(engine.rows(query.where(other))[0][0])


def require_few(engine: Engine, classes: str, signatures: Sequence[tuple[exp.Expr, str]], aggregates: int) -> None:
    """Raises PolicyError where there are too many combinations of rows and values.

    `signatures` are the tables of signatures, each with the column of the classes that has its label.
    """
    query = exp.select().from_(relation(classes, as_="class"))
    number: exp.Expr = cast(literal(aggregates), "DOUBLE")
    for index, (label, table) in enumerate(signatures):
        counts = exp.select(column("label"), alias(f.count(), "n")).from_(relation(table))
        name = f"values_{index}"
        same = identical(label.copy(), column("label", name))
        query = query.join(counts.group_by(column("label")).subquery(name), on=same, copy=False)
        number = infix(number, "*", column("n", name))
    ((count,),) = engine.rows(query.select(or_zero(f.sum(number))))
    most = sizes().max_combinations
    if count > most:
        raise PolicyError(
            f"the query tells {count:.0f} combinations of rows and values apart, more than {most}",
            hint="group by less, or by columns of one table of the release only",
        )


def drawn(relations: Sequence[tuple[str, exp.Expr]]) -> exp.Expr:
    """For each relation of values the bucket and the signature of a combination.

    With them are the number of the bucket's values with this signature, and its numbers of signatures and of values.
    """

    def draw(index: int, name: str, bucket: exp.Expr) -> exp.Expr:
        parts = {name_: column(name_, name) for name_ in ("signature", "weight", "signatures", "total")}
        return class_label({"place": literal(index), "bucket": bucket.copy(), **parts})

    return exp.Array(expressions=[draw(index, *parts) for index, parts in enumerate(relations)])
