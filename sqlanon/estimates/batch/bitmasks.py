"""Evaluates many conjunctions of conditions on the same rows at once, by bitmasks of labels.

A mask has a bit for each query, in words of 64. The mask of a label has the bit of a query if the query has no
condition on the label's column, or if its condition holds for a value below the label. The AND of the masks of a
class's labels therefore has the queries that the class's rows may satisfy. A second mask has the bit if the condition
holds for all values below the label; its AND shows which queries the rows certainly satisfy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.batch.code_layout import CODE_BITS, LOCAL_BITS
from sqlanon.estimates.batch.distinct_rows import BatchContext, among, listed, number_of, satisfying
from sqlanon.estimates.fixed_sql import Tables, fixed
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.query.conjunctions import VALUE, Condition, Slot, common_type
from sqlanon.estimates.release_model import BucketedColumns, ReleaseModel, bucketed_value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, filtered, infix, integer, try_cast, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, query_file, select_file

if TYPE_CHECKING:
    from sqlanon.estimates.batch.label_masks import Codes, Masks


WORD = 64

_SIDES = ("possible", "certain")


@dataclass(frozen=True)
class MaskedColumn:
    """A column of the released rows whose labels have masks, and the queries with a condition on the column."""

    index: int
    # The table of the numbers of its labels.
    labels: str
    # Which labels (number) may satisfy which query, and whether they do for certain (query, number, certain).
    shares: Relation
    queries: Collection[int]
    # The labels of an exact column satisfy for certain or not at all, so it needs no shares.
    exact: bool
    # The leaves below the labels (number, weight) if their shares are not added up yet: then `shares` has each leaf
    # that satisfies a query (query, number, weight).
    leaves: Relation | None = None


def bits(size: int, temp: TempTables) -> str:
    """Creates the table (bit, value) of the bits of a word that `size` queries use; bits count from 0, and value is 1
    << bit.
    """
    return temp.table(
        "bit",
        filled_query(
            "SELECT CAST(bit AS INTEGER) AS bit, CAST(1 AS UBIGINT) << CAST(bit AS INTEGER) AS value "
            "FROM (SELECT unnest(range($size)) AS bit) AS number",
            size=min(size, WORD),
        ),
    )


def masked(classes: str, carried: Sequence[str], columns: Sequence[MaskedColumn], size: int, temp: TempTables) -> str:
    """Creates a table with a row for each class and each word of 64 queries of which the class may satisfy at least
    one.

    Its columns are word, possible, certain and the columns `carried`. There is no column certain if all columns are
    exact, because it would equal possible. `size` is the number of queries, which are numbered from 0.
    """
    sides = _sides(columns)
    words = range(-(-size // WORD))
    query = select(*(column(name, "class") for name in carried), of=relation(classes, as_="class"))
    masks = temp.table("masks", _masks(columns, size, temp))
    for col in columns:
        # In a table of its own, so that DuckDB knows how few they are when it orders the joins.
        of_column = "SELECT * FROM masks WHERE column_index = $index"
        table = temp.table("mask", filled_query(of_column, tables={"masks": masks}, index=col.index))
        number = column(number_of(col.index), "class").eq(column("number", f"mask_{col.index}"))
        extend(query, joins=[inner_join(relation(table, as_=f"mask_{col.index}"), number)])
    for side in sides:
        for word in words:
            parts = [column(_name(side, word), f"mask_{col.index}") for col in columns]
            extend(query, alias(_all(exp.BitwiseAnd, parts), _name(side, word)))
    lists: dict[str, list[exp.Expr]] = {"word": [integer(literal(word)) for word in words]}
    lists |= {side: [column(_name(side, word)) for word in words] for side in sides}
    unnested = [alias(f.call("unnest", exp.Array(expressions=parts)), name) for name, parts in lists.items()]
    long = exp.select(*map(column, carried), *unnested).from_(query.subquery("words", copy=False))
    # A few classes are read by one thread, and have many words: as rows of a table, all threads read these.
    return temp.table("masked", filled_query("SELECT * FROM long WHERE possible <> 0", tables={"long": long}))


def each(masks: str, bit: str, carried: Sequence[str], which: exp.Expr) -> exp.Select:
    """Returns query and the columns `carried`: a row for each bit that is set in the mask `which` of a row of
    `masked`'s table.
    """
    return filled_select(
        "SELECT CAST(masked.word * $word + bit.bit AS INTEGER) AS query, {masked.carried} "
        "FROM masked CROSS JOIN bit WHERE ($which & bit.value) <> 0",
        tables={"masked": masks, "bit": bit},
        names={"carried": carried},
        word=WORD,
        which=which,
    )


def _sides(columns: Sequence[MaskedColumn]) -> Sequence[str]:
    return _SIDES[:1] if all(col.exact for col in columns) else _SIDES


def _masks(columns: Sequence[MaskedColumn], size: int, temp: TempTables) -> exp.Query:
    """Returns the masks of each label: column_index, number, possible_0, ...; certain_0, ... unless all columns are
    exact.
    """
    distinct = "SELECT DISTINCT $index AS column_index, number FROM labels"
    labels = [filled_query(distinct, tables={"labels": col.labels}, index=col.index) for col in columns]
    certain = "SELECT $index AS column_index, number, query, certain FROM share"
    exact = "SELECT $index AS column_index, number, query, true AS certain FROM share"
    shares = [
        filled_query(exact if col.exact else certain, tables={"share": col.shares}, index=col.index) for col in columns
    ]
    words = range(-(-size // WORD))
    others = [(col.index, word, _others(col, word, size)) for col in columns for word in words]
    lists: list[object] = [list(part) for part in zip(*others, strict=True)]
    table = temp.table("others", listed({"column_index": "INTEGER", "word": "INTEGER", "others": "UBIGINT"}), lists)
    masks = [
        alias(filtered(f.any_value(column(side)), column("word").eq(word)), _name(side, word))
        for side in _sides(columns)
        for word in words
    ]
    tables: Tables = {"label": union_all(labels), "share": union_all(shares), "word": table}
    return filled_query(
        "SELECT column_index, number, {masks} FROM label_words GROUP BY column_index, number",
        tables={"label_words": fixed("label_words", tables)},
        names={"masks": masks},
    )


def _others(col: MaskedColumn, word: int, size: int) -> int:
    queries = range(word * WORD, min(size, (word + 1) * WORD))
    return sum(1 << query % WORD for query in queries if query not in col.queries)


def _name(side: str, word: int) -> str:
    return f"{side}_{word}"


def _all(kind: type[exp.Binary], parts: Sequence[exp.Expr]) -> exp.Expr:
    tree = parts[0]
    for part in parts[1:]:
        tree = kind(this=tree, expression=part)
    return tree


# Numbers the labels of columns, and computes the codes of rows, which name the masks of their labels.
#
# Labels are numbered in the order of the values, so that the labels that satisfy a query are mostly one run of
# numbers.


# The relation of the values of buckets.
BUCKETED = "bucketed"


# A query of a workload: its number, and its conditions by the folded names of the columns.
NumberedConditions = tuple[int, Mapping[str, Condition]]


def code_name(index: int) -> str:
    """Returns the name of the column that holds the code at this index."""
    return f"code_{index}"


@dataclass(frozen=True)
class Encoded:
    """The layout of rows' codes, and for each column a table that maps its values to their part of a code."""

    codes: Codes
    tables: Sequence[str]

    def rows(
        self, rows: exp.Expr, values: Sequence[exp.Expr], also: Sequence[exp.Alias] = (), bucket: exp.Expr | None = None
    ) -> exp.Select:
        """Returns the columns `also` of all rows, and the codes of their `values`, named by `code_name`.

        If `bucket` is given, the result has a column `block`, and the first code begins with the bucket's number in it.
        """
        if bucket is not None:
            block, local = in_block(bucket)
            also = [*also, alias(block, "block"), alias(local, "local")]
        named = [alias(value, f"value_{number}") for number, value in enumerate(values)]
        sums = [literal(0) for _ in range(self.codes.count)]
        if bucket is not None:
            sums[0] = filled("(labelled.local << $bits)", bits=CODE_BITS)
        of = [f"labels_{number}" for number in range(len(self.tables))]
        for name, table, position in zip(of, self.tables, self.codes.columns, strict=True):
            text = 'coalesce("{of}".code, (SELECT code FROM "{table}" WHERE value IS NULL))'
            code = filled(text, names={"of": name, "table": table})
            sums[position.index] = infix(sums[position.index], "+", code)
        return select_file(
            "estimates",
            "encoded_rows",
            tables={"labelled": select(*named, *also, of=rows)},
            names={
                "others": [part.alias for part in also if part.alias != "local"],
                "codes": [code_name(index) for index in range(len(sums))],
                "tables": self.tables,
                "of": of,
                "values": [f"value_{number}" for number in range(len(of))],
            },
            sums=sums,
        )


def in_block(bucket: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """Splits the number of a bucket into the number of its block and its number within the block."""
    block = filled("CAST($bucket AS BIGINT) >> $bits", bucket=bucket, bits=LOCAL_BITS)
    local = filled("(CAST($bucket AS BIGINT) & $ones)", bucket=bucket, ones=(1 << LOCAL_BITS) - 1)
    return block, local


class NumberedLabels:
    """Numbers the labels of columns, and makes their masks for batches of queries.

    `columns` maps the name of a column to a relation and the expression of the column there.
    """

    def __init__(self, context: BatchContext, columns: Mapping[str, tuple[exp.Expr, exp.Expr]]) -> None:
        self.engine, self.temp = context.engine, context.temp
        self.columns = columns
        self._context = context
        self._labels: dict[str, str] = {}

    def labels_of(self, name: str) -> str:
        """Returns the name of the table (number, value) of a column's labels."""
        if name not in self._labels:
            self._labels[name] = _labels(*self.columns[name], self.temp)
        return self._labels[name]

    def masks(self, names: Iterable[str], batch: Sequence[NumberedConditions]) -> dict[str, Masks]:
        """Returns the masks of each column's labels; bit i of a mask is query i of the batch."""
        from sqlanon.estimates.batch.label_masks import masks_of

        with_slots = {
            query: number
            for query, (number, conditions) in enumerate(batch)
            if any(isinstance(condition, Slot) for condition in conditions.values())
        }
        compared = among(with_slots, self.temp)
        masks: dict[str, Masks] = {}
        for name in names:
            asking = {query: conditions[name] for query, (_, conditions) in enumerate(batch) if name in conditions}
            constants, kind = self._context.constants.of(name, compared), self._context.kinds[name]
            intervals = self.engine.rows(_intervals(self.engine, self.labels_of(name), kind, asking, constants))
            masks[name] = masks_of(len(batch), list(asking), intervals)
        return masks

    def encoded(self, names: Sequence[str], masks_of_columns: Mapping[str, Masks], queries: int) -> Encoded:
        """Lays out the codes of rows for these columns, whose labels have these masks."""
        tables = [self.labels_of(name) for name in names]
        return _encoded(tables, [masks_of_columns[name] for name in names], queries, self.temp)


class ReleaseLabels(NumberedLabels):
    """The numbered labels of the exact and the bucketed columns of a release."""

    def __init__(self, context: BatchContext, release: ReleaseModel) -> None:
        self.release = release
        columns: dict[str, tuple[exp.Expr, exp.Expr]] = {
            name: (subquery(release.rows, ROW), column(own_name, ROW)) for name, own_name in release.exact.items()
        }
        for name, (table, index) in release.bucketed_positions.items():
            values = subquery(release.bucketed[table].values, BUCKETED)
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
        """Returns the codes of the release's rows, or of its buckets' values, in the columns `names`."""
        rows = subquery(self.release.rows, ROW) if bucketed is None else subquery(bucketed.values, BUCKETED)
        return by.rows(rows, [self.columns[name][1].copy() for name in names], also, bucket)


def _labels(rows: exp.Expr, value: exp.Expr, temp: TempTables) -> str:
    """Creates a table of the distinct values: number, from 0 in the order of the values, NULL last, and value."""
    different = exp.select(alias(value, VALUE)).distinct(copy=False).from_(rows.copy(), copy=False)
    number = (
        "SELECT CAST(row_number() OVER (ORDER BY value ASC NULLS LAST) - 1 AS INTEGER) AS number, value FROM different"
    )
    return temp.table("label", filled_query(number, tables={"different": different}))


def _encoded(tables: Sequence[str], masks_of_columns: Sequence[Masks], queries: int, temp: TempTables) -> Encoded:
    """Lays out the codes of rows for columns, and creates the table of value and code of each column."""
    from sqlanon.estimates.batch.label_masks import encoded

    codes = encoded(masks_of_columns, queries)
    code_tables: list[str] = []
    for table, masks, position in zip(tables, masks_of_columns, codes.columns, strict=True):
        codes_of_masks = [number * position.stride for number in range(len(masks.first))]
        starts = temp.table(
            "mask", listed({"first": "BIGINT", "code": "BIGINT"}), [masks.first.tolist(), codes_of_masks]
        )
        query = filled_query(
            "SELECT label.value, mask.code FROM label ASOF JOIN mask ON label.number >= mask.first",
            tables={"label": table, "mask": starts},
        )
        code_tables.append(temp.table("code", query))
    return Encoded(codes, code_tables)


def listed_codes(codes: int) -> exp.Expr:
    """Aggregates the codes of a group of rows into one list: the first code of every row, then the second code of every
    row, ...
    """
    parts = [f.call("list", column(code_name(index))) for index in range(codes)]
    return reduce(lambda left, right: f.call("list_concat", left, right), parts)


def _intervals(
    engine: Engine, table: str, kind: str, conditions: Mapping[int, Condition], compared: exp.Query | None
) -> exp.Query:
    """SELECT of query, low, high: the runs of consecutive label numbers whose values satisfy the condition
    of a query.
    """
    between = {
        query: condition for query, condition in conditions.items() if isinstance(condition, Slot) and condition.between
    }
    others = {query: condition for query, condition in conditions.items() if query not in between}
    queries: list[exp.Query] = []
    if between and compared is not None and (common := common_type(next(iter(between.values())), kind)):
        calls: dict[str, Callable[..., exp.Expr]] = {
            "common": partial(cast, kind=common),
            "try_common": partial(try_cast, kind=common),
        }
        tables: Tables = {"label": table, "compared": compared}
        queries.append(query_file("estimates", "numbers_between", tables=tables, calls=calls))
    if others:
        leaf = filled_query("SELECT number, value, 1 AS weight FROM label", tables={"label": table})
        satisfied = satisfying(engine, leaf, kind, others, compared)
        queries.append(fixed("runs", {"satisfied": satisfied}))
    return union_all(queries)
