"""Numbers the labels of the columns that queries read, and counts the rows that show the same labels.

The rows are counted once for many queries, on a release or on its source. The labels of a source are the values
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.fixed_sql import sizes
from sqlanon.estimates.query.conjunctions import VALUE, Condition, Slot, WorkloadQuery, common_type
from sqlanon.estimates.release_model import BucketedColumns, bucketed_value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    cast,
    digest,
    entry,
    identical,
    integer,
    is_null,
    order_by,
    same,
    total,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.classes.rows import class_label


@dataclass(frozen=True)
class ColumnLabel:
    """The label of a row in a column, as expressions over the relation of the rows."""

    # The label of the row; for bucketed columns its bucket.
    label: exp.Expr
    # The label as a text, as an expression over the column `label`; None if labels are values.
    text: exp.Expr | None = None
    # If the label is a bucket, the columns whose values the bucket has.
    bucketed: BucketedColumns | None = None


@dataclass(frozen=True)
class DistinctRows:
    """The distinct combinations of labels that rows show."""

    # The table of `number_of` each column, the number of its label, and n, the number of rows with these labels.
    # Buckets with the same values, equally often, share a number; `bucket_of` a column distinguishes them.
    table: str
    # The number of rows of that table.
    count: int
    # For each column the table of number, label, and, if labels have one, text.
    labels: Sequence[str]


def number_of(index: int) -> str:
    """Returns the name of the column that holds the label numbers of column `index`."""
    return f"number_{index}"


def bucket_of(index: int) -> str:
    """Returns the name of the column that holds a row's bucket for bucketed column `index`."""
    return f"bucket_{index}"


def classes(
    engine: Engine,
    rows: exp.Expr,
    columns: Sequence[ColumnLabel],
    temp: TempTables,
    *,
    also: Sequence[exp.Alias] = (),
    counted: bool = True,
    dictionaries: bool = False,
    number: str | None = None,
) -> DistinctRows:
    """Groups the rows of a relation by their labels and by the columns `also`, and counts each group.

    If `counted` is false, each row is a row of the result. `dictionaries` is true for a stored table, in which repeated
    texts are dictionaries. `number` names a column that counts the rows which a row already represents.
    """
    labelled_rows = select(
        *(alias(column_label.label, _label(index)) for index, column_label in enumerate(columns)), *also
    )
    extend(labelled_rows, of=rows)
    digests = _digests(engine, labelled_rows, len(columns), temp) if counted and dictionaries else {}
    table = (
        _counted(labelled_rows, digests, number, temp)
        if counted
        else subquery(labelled_rows.select(alias(literal(1), "n")), "labelled")
    )
    query = select(column("n", "labelled"), *(column(part.alias, "labelled") for part in also), of=table)
    labels: list[str] = []
    for index, column_label in enumerate(columns):
        label_table, digest_table = f"labels_{index}", digests.get(index)
        distinct = select(alias(column(_label(index)), "label"), of=table, distinct=True)
        if digest_table:
            distinct = select(exp.Star(), of=relation(digest_table))
        labels.append(temp.table("label", _labels(column_label, distinct)))
        same = column("digest" if digest_table else "label", label_table)
        on = identical(column(_label(index), "labelled"), same)
        extend(query, joins=[inner_join(relation(labels[-1], as_=label_table), on)])
        extend(query, alias(column("number", label_table), number_of(index)))
        if column_label.bucketed is not None:
            extend(query, alias(column("bucket", label_table), bucket_of(index)))
    made = temp.table("class", query)
    count = select(f.count(), of=relation(made))
    return DistinctRows(made, int(engine.rows(count)[0][0]), labels)


def _label(index: int) -> str:
    return f"label_{index}"


def _digests(engine: Engine, labelled_rows: exp.Select, count: int, temp: TempTables) -> dict[int, str]:
    """Creates a table of label and digest for each column of texts, unless two of its texts share a digest.

    DuckDB computes the digest of a text in a dictionary once, and groups by numbers in a third of the time. Texts are
    equal if their bytes are, so equal texts have equal digests.
    """
    kinds = [kind for _, kind in engine.columns(labelled_rows)]
    tables: dict[int, str] = {}
    for index in (index for index in range(count) if kinds[index] == "VARCHAR"):
        label = alias(column(_label(index)), "label")
        rows = select(label, distinct=True, of=subquery(labelled_rows, "labelled"))
        digested = select(column("label"), alias(digest([column("label")]), "digest"), of=subquery(rows, "labelled"))
        table = temp.table("digest", digested)
        different = f.count_distinct(column("digest"))
        alone = f.count().eq(different)
        if engine.rows(select(alone, of=relation(table)))[0][0]:
            tables[index] = table
    return tables


def _counted(labelled_rows: exp.Select, digests: Mapping[int, str], number: str | None, temp: TempTables) -> exp.Expr:
    """Creates a table of the distinct rows and their counts n; texts are replaced by their digests, if they have
    any.
    """
    labels = [
        alias(digest([part.this]), part.alias) if index in digests else part
        for index, part in enumerate(labelled_rows.expressions)
    ]
    rows = labelled_rows.copy().select(*labels, append=False, copy=False)
    names = [column(part.alias) for part in labels]
    count: exp.Expr = f.count()
    if number is not None:
        extend(rows, alias(column(number), "n"))
        count = total(column("n"))
    query = select(*names, alias(count, "n"), of=subquery(rows, "labelled"))
    return relation(temp.table("labelled", extend(query, group_by=names)), as_="labelled")


def _labels(column_label: ColumnLabel, rows: exp.Select) -> exp.Select:
    """Returns number and label of each distinct label of a column, and its text if the rows have digests."""
    if column_label.bucketed is not None:
        return _buckets(rows, column_label.bucketed)
    query = select(alias(_number(), "number"), exp.Star(), of=subquery(rows, "distinct"))
    return query if column_label.text is None else extend(query, alias(column_label.text, "text"))


def _number(order: exp.Expr | None = None) -> exp.Expr:
    """Numbers rows from 0; with an order, rows that are equal in it share a number."""
    if order is None:
        return integer(window(f.row_number()))
    ordered = order_by(ascending(order))
    return integer(window(f.call("dense_rank"), order=ordered))


def _buckets(rows: exp.Select, bucketed: BucketedColumns) -> exp.Select:
    """Returns number, bucket and label; buckets share a number if they hold the same values equally often."""
    names = [*map(bucketed_value, range(len(bucketed.columns))), "weight"]
    values = class_label({name: column(name) for name in names})
    values_list = f.call("list_sort", f.list_(values))
    content = select(column("bucket"), alias(values_list, "content"), of=subquery(bucketed.values, "value"))
    content = extend(content, group_by=[column("bucket")])
    same = identical(column("label", "distinct"), column("bucket", "content"))
    number = alias(_number(column("content", "content")), "number")
    query = select(number, alias(_number(), "bucket"), column("label", "distinct"), of=subquery(rows, "distinct"))
    return extend(query, joins=[left_join(subquery(content, "content"), same)])


def listed(names: Mapping[str, str]) -> exp.Select:
    """Returns a SELECT of columns with these names and types; its parameters are one list of values for each column."""
    lists = (cast(exp.Placeholder(), f"{kind}[]") for kind in names.values())
    return select(*(alias(f.unnest(values), name) for values, name in zip(lists, names, strict=True)))


def numbered(results: Sequence[tuple[int, int, str, str]]) -> tuple[exp.Select, list[object]]:
    """Returns a SELECT of query, query_id, result and function, a row for each result, and its parameters."""
    kinds = {"query": "INTEGER", "query_id": "BIGINT", "result": "VARCHAR", "function": "VARCHAR"}
    return listed(kinds), [list(part) for part in zip(*results, strict=True)]


# The values of a column that satisfy the conditions of many queries, each condition evaluated once.


@dataclass(frozen=True)
class Constants:
    """The constants that the queries of a workload compare values with."""

    # The table of query_id, column_index, low and, for a range, high.
    table: str
    # The indexes of the columns, by their folded names.
    indexes: Mapping[str, int]

    def of(self, name: str, queries: str) -> exp.Select | None:
        """Returns query, low and high: a column's constants for the queries of `among`; None if it has none."""
        if name not in self.indexes:
            return None
        of_column = column("column_index", "constant").eq(literal(self.indexes[name]))
        rows = select(column("query", "batch_query"), column("low", "constant"), column("high", "constant"))
        extend(rows, of=relation(self.table, as_="constant"))
        extend(
            rows, joins=[inner_join(relation(queries, as_="batch_query"), same("query_id", "constant", "batch_query"))]
        )
        return extend(rows, where=[of_column])


def constants(queries: Sequence[WorkloadQuery], temp: TempTables) -> Constants:
    """The constants of all queries of a workload, as a table."""
    rows: list[tuple[int, int, str, str | None]] = []
    indexes: dict[str, int] = {}
    for query in queries:
        for name, slot in zip(query.columns, query.slots, strict=True):
            index = indexes.setdefault(name, len(indexes))
            if slot.between:
                rows.append((query.number, index, slot.values[0], slot.values[1]))
            else:
                rows += [(query.number, index, value, None) for value in slot.values]
    columns = list(map(list, zip(*rows, strict=True))) if rows else [[], [], [], []]
    kinds = {"query_id": "BIGINT", "column_index": "INTEGER", "low": "VARCHAR", "high": "VARCHAR"}
    return Constants(temp.table("constant", listed(kinds), columns), indexes)


def among(numbers: Mapping[int, int], temp: TempTables) -> str:
    """Creates a table of query, the number in a batch, and query_id, the number in the workload."""
    return temp.table("among", listed({"query": "INTEGER", "query_id": "BIGINT"}), [[*numbers], [*numbers.values()]])


def satisfying(
    engine: Engine,
    leaf: exp.Expr,
    kind: str,
    conditions: Mapping[int, Condition],
    compared: exp.Select | None,
    also: Sequence[str] = (),
) -> exp.Query:
    """Returns query, number, weight and the columns `also`: a row for each query and each leaf that satisfies its
    condition.

    `leaf` is the name of a relation with number, value and weight. `kind` is the type of the column's values.
    `compared` has the constants of the conditions that are slots: query, low and high.
    """
    carried = ("number", "weight", *also)
    slots = [slot for slot in conditions.values() if isinstance(slot, Slot)]
    queries: list[exp.Query] = []
    for between in (False, True):
        alike = [slot for slot in slots if slot.between is between]
        if alike and compared is not None and (common := common_type(alike[0], kind)):
            queries.append(_compared(leaf, common, between, compared, carried))
    trees: dict[exp.Expr, list[int]] = {}
    for query, condition in conditions.items():
        if not isinstance(condition, Slot):
            trees.setdefault(condition, []).append(query)
    if trees:
        queries.append(_of_trees(engine, leaf, trees, carried))
    return union_all(queries)


def _compared(leaf: exp.Expr, common: str, between: bool, compared: exp.Select, carried: Sequence[str]) -> exp.Select:
    """Returns query and the columns `carried` of the leaves that equal a query's constant, or lie between its two
    constants.
    """
    kind = exp.DataType.build(common, dialect="duckdb")
    ends = ("low", "high") if between else ("low",)
    rows = select(column("query"), *(alias(try_cast(column(e), kind), e) for e in ends))
    no_end = is_null(column("high"))
    rows = extend(rows, distinct=True, of=subquery(compared, "compared"))
    extend(rows, where=[exp.not_(no_end) if between else no_end])
    value = cast(column(VALUE, "leaf"), kind)
    holds: exp.Expr = value.eq(column("low", "bounds"))
    if between:
        holds = value.between(column("low", "bounds"), column("high", "bounds"))
    query = select(column("query", "bounds"), *(column(name, "leaf") for name in carried))
    return extend(query, of=leaf, joins=[inner_join(subquery(rows, "bounds"), holds)])


def _of_trees(
    engine: Engine, leaf: exp.Expr, trees: Mapping[exp.Expr, Sequence[int]], carried: Sequence[str]
) -> exp.Query:
    """Returns query and the columns `carried` of the leaves that satisfy a condition; queries may share a condition."""
    count = select(f.count(), of=leaf)
    if int(engine.rows(count)[0][0]) > sizes().max_leaves_in_one_scan:
        satisfied = union_all([_where(leaf.copy(), index, tree, carried) for index, tree in enumerate(trees)])
    else:
        structs = [class_label({"tree": literal(index), "holds": tree}) for index, tree in enumerate(trees)]
        truths = extend(_listed(structs), *map(column, carried), of=leaf)
        names = (column(name) for name in ("tree", *carried))
        satisfied = select(*names, of=subquery(truths, "truths"), where=[column("holds")])
    pairs = [(index, query) for index, queries in enumerate(trees.values()) for query in queries]
    numbers = _listed([class_label({"tree": literal(index), "query": literal(query)}) for index, query in pairs])
    rows = select(column("query", "query_of_tree"), *(column(name, "satisfied") for name in carried))
    extend(rows, of=subquery(satisfied, "satisfied"))
    return extend(
        rows, joins=[inner_join(subquery(numbers, "query_of_tree"), same("tree", "satisfied", "query_of_tree"))]
    )


def _where(leaf: exp.Expr, index: int, condition: exp.Expr, carried: Sequence[str]) -> exp.Select:
    """Returns tree (the index of the condition) and the columns `carried` of the leaves that satisfy the condition."""
    return select(alias(integer(literal(index)), "tree"), *map(column, carried), of=leaf, where=[condition])


def _listed(structs: Sequence[exp.Expr]) -> exp.Select:
    """SELECT of a row for each struct, with a column for each field."""
    unnested = f.call(
        "unnest",
        exp.Array(expressions=list(structs)),
        entry("recursive", exp.true()),
    )
    return exp.Select(expressions=[unnested])


# The data that all batches of a workload's queries share, on a release or on its source.


@dataclass(frozen=True)
class BatchContext:
    """The database, and facts about the columns and the queries that are shared by all batches."""

    engine: Engine
    # The types of the columns' values, by the folded names of the columns.
    kinds: Mapping[str, str]
    # The constants that the queries compare values with.
    constants: Constants
    temp: TempTables
