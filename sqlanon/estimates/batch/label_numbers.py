"""Numbers the labels of columns, and gives rows the codes that name the masks of their labels.

Labels are numbered in the order of the values, so that the labels that satisfy a query are mostly one run of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.batch.code_layout import CODE_BITS, LOCAL_BITS
from sqlanon.estimates.batch.context import BatchContext
from sqlanon.estimates.batch.distinct_rows import listed
from sqlanon.estimates.batch.satisfying_values import among, satisfying
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.query.conjunctions import VALUE, Condition, common_type
from sqlanon.estimates.query.templates import Slot
from sqlanon.estimates.release_model import BucketedColumns, ReleaseModel, bucketed_value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    big,
    cast,
    infix,
    integer,
    is_not_null,
    is_null,
    order_by,
    paren,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation

if TYPE_CHECKING:
    from sqlanon.estimates.batch.label_masks import Codes, Masks

# The relation of the values of buckets.
BUCKETED = "bucketed"


# A query of a workload: its number, and its conditions by the folded names of the columns.
NumberedConditions = tuple[int, Mapping[str, Condition]]


def code_name(index: int) -> str:
    """The column with the code of a row at this index."""
    return f"code_{index}"


@dataclass(frozen=True)
class Encoded:
    """The codes of rows, and for each column the table of value and code of its labels."""

    codes: Codes
    tables: Sequence[str]

    def rows(
        self, rows: exp.Expr, values: Sequence[exp.Expr], also: Sequence[exp.Alias] = (), bucket: exp.Expr | None = None
    ) -> exp.Select:
        """The columns `also` of all rows, and their codes from these values of the columns, each named by `code_name`.

        With a `bucket` there is the column `block`, too, and the first code has the number of the bucket in its block.
        """
        if bucket is not None:
            block, local = in_block(bucket)
            also = [*also, alias(block, "block"), alias(local, "local")]
        named = [alias(value, f"value_{number}") for number, value in enumerate(values)]
        labelled = exp.select(*named, *also).from_(rows.copy(), copy=False)
        others = (column(part.alias, "labelled") for part in also if part.alias != "local")
        query = exp.select(*others).from_(labelled.subquery("labelled"), copy=False)
        sums: list[exp.Expr] = [literal(0) for _ in range(self.codes.count)]
        if bucket is not None:
            sums[0] = paren(infix(column("local", "labelled"), "<<", literal(CODE_BITS)))
        for number, (table, position) in enumerate(zip(self.tables, self.codes.columns, strict=True)):
            code_table = f"labels_{number}"
            # A join that finds NULL for NULL is a third slower.
            same = column(f"value_{number}", "labelled").eq(column(VALUE, code_table))
            query.join(relation(table, as_=code_table), on=same, join_type="LEFT", copy=False)
            null = is_null(column(VALUE))
            of_null = exp.select(column("code")).from_(relation(table)).where(null).subquery()
            code = f.coalesce(column("code", code_table), of_null)
            sums[position.index] = infix(sums[position.index], "+", code)
        return query.select(*(alias(big(paren(tree)), code_name(i)) for i, tree in enumerate(sums)), copy=False)


def in_block(bucket: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """The block of a bucket, and the number of the bucket in it."""
    block = infix(big(bucket), ">>", literal(LOCAL_BITS))
    local = infix(big(bucket.copy()), "&", literal((1 << LOCAL_BITS) - 1))
    return block, paren(local)


class NumberedLabels:
    """The labels of columns, numbered, and their masks for batches of queries.

    `columns` has for each column its relation, and the column there.
    """

    def __init__(self, context: BatchContext, columns: Mapping[str, tuple[exp.Expr, exp.Expr]]) -> None:
        self.engine, self.scratch = context.engine, context.scratch
        self.columns = columns
        self._context = context
        self._labels: dict[str, str] = {}

    def labels_of(self, name: str) -> str:
        """The table of number and value of a column's labels."""
        if name not in self._labels:
            self._labels[name] = _labels(*self.columns[name], self.scratch)
        return self._labels[name]

    def masks(self, names: Iterable[str], batch: Sequence[NumberedConditions]) -> dict[str, Masks]:
        """For each of the columns the masks of its labels, whose bits are the queries of a batch in their order."""
        from sqlanon.estimates.batch.label_masks import masks_of

        with_slots = {
            query: number
            for query, (number, conditions) in enumerate(batch)
            if any(isinstance(condition, Slot) for condition in conditions.values())
        }
        compared = among(with_slots, self.scratch)
        masks: dict[str, Masks] = {}
        for name in names:
            asking = {query: conditions[name] for query, (_, conditions) in enumerate(batch) if name in conditions}
            constants, kind = self._context.constants.of(name, compared), self._context.kinds[name]
            intervals = self.engine.rows(_intervals(self.engine, self.labels_of(name), kind, asking, constants))
            masks[name] = masks_of(len(batch), list(asking), intervals)
        return masks

    def encoded(self, names: Sequence[str], masks_of_columns: Mapping[str, Masks], queries: int) -> Encoded:
        """The codes of rows for columns with these masks."""
        tables = [self.labels_of(name) for name in names]
        return _encoded(tables, [masks_of_columns[name] for name in names], queries, self.scratch)


class ReleaseLabels(NumberedLabels):
    """The numbered labels of the exact and the bucketed columns of a release."""

    def __init__(self, context: BatchContext, release: ReleaseModel) -> None:
        self.release = release
        columns: dict[str, tuple[exp.Expr, exp.Expr]] = {
            name: (release.rows.subquery(ROW), column(own_name, ROW)) for name, own_name in release.exact.items()
        }
        for name, (table, index) in release.bucketed_positions.items():
            values = release.bucketed[table].values.subquery(BUCKETED)
            columns.setdefault(name, (values, column(bucketed_value(index), BUCKETED)))
        super().__init__(context, columns)

    def rows(
        self,
        names: Sequence[str],
        by: Encoded,
        also: Sequence[exp.Alias] = (),
        bucketed: BucketedColumns | None = None,
        bucket: exp.Expr | None = None,
    ) -> exp.Select:
        """The rows of the release, or with `bucketed` the values of its buckets, with their codes for some columns."""
        rows = self.release.rows.subquery(ROW) if bucketed is None else bucketed.values.subquery(BUCKETED)
        return by.rows(rows, [self.columns[name][1].copy() for name in names], also, bucket)


def _labels(rows: exp.Expr, value: exp.Expr, scratch: Scratch) -> str:
    """The table of number, from 0, and value of every value that occurs, in their order, NULL at the end."""
    different = exp.select(alias(value, VALUE)).distinct(copy=False).from_(rows.copy(), copy=False)
    order = order_by(ascending(column(VALUE)))
    number = window(f.row_number(), order=order) - 1
    return scratch.table(
        "label",
        exp.select(alias(integer(paren(number)), "number"), column(VALUE)).from_(different.subquery("different")),
    )


def _encoded(tables: Sequence[str], masks_of_columns: Sequence[Masks], queries: int, scratch: Scratch) -> Encoded:
    """The codes of rows for columns with these tables of labels and these masks."""
    from sqlanon.estimates.batch.label_masks import encoded

    codes = encoded(masks_of_columns, queries)
    code_tables: list[str] = []
    for table, masks, position in zip(tables, masks_of_columns, codes.columns, strict=True):
        codes_of_masks = [number * position.stride for number in range(len(masks.first))]
        starts = scratch.table(
            "mask", listed({"first": "BIGINT", "code": "BIGINT"}), [masks.first.tolist(), codes_of_masks]
        )
        on = column("number", "label") >= column("first", "mask")
        query = exp.select(column(VALUE, "label"), column("code", "mask")).from_(relation(table, as_="label"))
        query.append("joins", exp.Join(this=relation(starts, as_="mask"), method="ASOF", on=on))
        code_tables.append(scratch.table("code", query))
    return Encoded(codes, code_tables)


def listed_codes(codes: int) -> exp.Expr:
    """The codes of a group of rows in one list: the first code of every row, then the second code of every row, ..."""
    parts = [f.call("list", column(code_name(index))) for index in range(codes)]
    return reduce(lambda left, right: f.call("list_concat", left, right), parts)


def _intervals(
    engine: Engine, table: str, kind: str, conditions: Mapping[int, Condition], compared: exp.Select | None
) -> exp.Query:
    """query, low and high: a row for each run of numbers of labels that satisfy the condition of a query."""
    between = {
        query: condition for query, condition in conditions.items() if isinstance(condition, Slot) and condition.between
    }
    others = {query: condition for query, condition in conditions.items() if query not in between}
    queries: list[exp.Query] = []
    if between and compared is not None and (common := common_type(next(iter(between.values())), kind)):
        queries.append(_between(table, common, compared))
    if others:
        value = exp.select(column("number"), column(VALUE), alias(literal(1), "weight")).from_(relation(table))
        satisfied = satisfying(engine, value.subquery("leaf", copy=False), kind, others, compared)
        queries.append(
            _runs(exp.select(column("query"), column("number")).from_(satisfied.subquery("satisfied", copy=False)))
        )
    return union_all(queries)


def _between(table: str, common: str, compared: exp.Select) -> exp.Select:
    """query, low and high: the numbers of the first and the last label between the two constants of each query."""
    kind = exp.DataType.build(common, dialect="duckdb")
    ends = [alias(try_cast(column(end), kind), end) for end in ("low", "high")]
    has = is_not_null(column("high"))
    ranges = exp.select(column("query"), *ends).distinct(copy=False).from_(compared.subquery("compared")).where(has)
    value = alias(cast(column(VALUE), kind), VALUE)
    known = is_not_null(column(VALUE))
    labelled = exp.select(column("number"), value).from_(relation(table)).where(known)
    query = exp.select(column("query", "bounds"), alias(column("number", "first"), "low")).from_(
        ranges.subquery("bounds")
    )
    query.select(alias(column("number", "last"), "high"), copy=False)
    for name, end, compares in (("first", "low", exp.LTE), ("last", "high", exp.GTE)):
        on = compares(this=column(end, "bounds"), expression=column(VALUE, name))
        query.append("joins", exp.Join(this=labelled.copy().subquery(name), method="ASOF", on=on))
    return query.where(column("number", "first") <= column("number", "last"), copy=False)


def _runs(satisfied: exp.Select) -> exp.Select:
    """query, low and high: the first and the last number of each run of numbers without a gap."""
    order = order_by(ascending(column("number")))
    position = window(f.row_number(), partition_by=[column("query")], order=order)
    run = column("number") - position
    numbered = exp.select(column("query"), column("number"), alias(run, "run")).from_(satisfied.subquery("satisfied"))
    query = exp.select(column("query"), alias(f.min(column("number")), "low"))
    query.select(alias(f.max(column("number")), "high"), copy=False)
    return query.from_(numbered.subquery("numbered")).group_by(column("query"), column("run"))
