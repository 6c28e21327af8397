"""Numbers the labels of the columns that queries read, and counts the rows that show the same labels.

The rows are counted once for many queries, on a release or on its source. The labels of a source are the values
themselves.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.fixed_sql import Tables, fixed, sizes
from sqlanon.estimates.query.conjunctions import Condition, Slot, WorkloadQuery, common_type
from sqlanon.estimates.release_model import BucketedColumns, bucketed_value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, digest, identical, total, try_cast, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled_query
from sqlanon.sql.classes.rows import class_label


@dataclass(frozen=True)
class ColumnLabel:
    """The label of a row in one column, and its text: expressions over the relation of the rows."""

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
    known = _labels_with_digests(engine, labelled_rows, columns, temp) if counted and dictionaries else {}
    digests = _with_own_digests(engine, known)
    table = (
        _counted(labelled_rows, digests, number, temp)
        if counted
        else subquery(labelled_rows.select(alias(literal(1), "n")), "labelled")
    )
    query = select(column("n", "labelled"), *(column(part.alias, "labelled") for part in also), of=table)
    labels: list[str] = []
    for index, column_label in enumerate(columns):
        label_table = f"labels_{index}"
        distinct = select(alias(column(_label(index)), "label"), of=table, distinct=True)
        labels.append(known[index] if index in known else temp.table("label", _labels(column_label, distinct)))
        same = column("digest" if index in digests else "label", label_table)
        on = identical(column(_label(index), "labelled"), same)
        # Each row has one label, so an inner join would return the same. But DuckDB has no statistics of a table that
        # the same transaction has made: after two inner joins it expects one row, and hashes the rows, not the labels.
        extend(query, joins=[left_join(relation(labels[-1], as_=label_table), on)])
        extend(query, alias(column("number", label_table), number_of(index)))
        if column_label.bucketed is not None:
            extend(query, alias(column("bucket", label_table), bucket_of(index)))
    made = temp.table("class", query)
    count = select(f.count(), of=relation(made))
    return DistinctRows(made, int(engine.rows(count)[0][0]), labels)


def _label(index: int) -> str:
    return f"label_{index}"


def _labels_with_digests(
    engine: Engine, labelled_rows: exp.Select, columns: Sequence[ColumnLabel], temp: TempTables
) -> dict[int, str]:
    """Creates a table of number, label and digest, and text, for each column of texts; returns their names by index.

    DuckDB computes the digest of a text in a dictionary once, and groups by numbers in a third of the time.
    """
    kinds = [kind for _, kind in engine.columns(labelled_rows)]
    distinct = "SELECT label, digest(label) AS digest FROM (SELECT DISTINCT {label} FROM labelled) AS distinct_label"
    tables: dict[int, str] = {}
    for index, column_label in enumerate(columns):
        if kinds[index] == "VARCHAR" and column_label.bucketed is None:
            query = filled_query(
                distinct,
                tables={"labelled": labelled_rows},
                names={"label": [alias(column(_label(index)), "label")]},
                calls={"digest": lambda label: digest([label])},
            )
            tables[index] = temp.table("label", _labels(column_label, query))
    return tables


def _with_own_digests(engine: Engine, tables: Mapping[int, str]) -> set[int]:
    """Returns the columns in which no two texts share a digest; equal texts have equal digests, as DuckDB compares
    bytes.
    """
    text = "SELECT $index AS table_index, count(*) = count(DISTINCT digest) AS alone FROM label"
    queries = [filled_query(text, tables={"label": table}, index=index) for index, table in tables.items()]
    return {int(index) for index, alone in engine.rows(union_all(queries)) if alone} if queries else set()


def _counted(labelled_rows: exp.Select, digests: Container[int], number: str | None, temp: TempTables) -> exp.Expr:
    """Creates a table of the distinct rows and their counts n; texts are replaced by their digests, if they have
    any.
    """
    labels = [
        alias(digest([part.this]), part.alias) if index in digests else part
        for index, part in enumerate(labelled_rows.expressions)
    ]
    rows = labelled_rows.copy().select(*labels, append=False, copy=False)
    if number is not None:
        extend(rows, alias(column(number), "n"))
    query = filled_query(
        "SELECT {names}, $n AS n FROM labelled GROUP BY {names}",
        tables={"labelled": rows},
        names={"names": [part.alias for part in labels]},
        n=f.count() if number is None else total(column("n")),
    )
    return relation(temp.table("labelled", query), as_="labelled")


def _labels(column_label: ColumnLabel, rows: exp.Query) -> exp.Query:
    """Returns number and label of each distinct label of a column, and its text if the rows have digests."""
    if column_label.bucketed is not None:
        names = [*map(bucketed_value, range(len(column_label.bucketed.columns))), "weight"]
        tables: Tables = {"distinct_label": rows, "value": column_label.bucketed.values}
        return fixed("bucket_labels", tables, content=class_label({name: column(name) for name in names}))
    return filled_query(
        "SELECT CAST(row_number() OVER () AS INTEGER) AS number, *, {text} FROM distinct_label",
        tables={"distinct_label": rows},
        names={"text": [] if column_label.text is None else [alias(column_label.text, "text")]},
    )


def listed(names: Mapping[str, str]) -> exp.Select:
    """Returns a SELECT of columns with these names and types; its parameters are one list of values for each column."""
    lists = (cast(exp.Placeholder(), f"{kind}[]") for kind in names.values())
    return select(*(alias(f.unnest(values), name) for values, name in zip(lists, names, strict=True)))


def numbered(results: Sequence[tuple[int, int, str, str]]) -> tuple[exp.Select, list[object]]:
    """Returns a SELECT of query, query_id, result and function with a row for each result, and the SELECT's
    parameters.
    """
    kinds = {"query": "INTEGER", "query_id": "BIGINT", "result": "VARCHAR", "function": "VARCHAR"}
    return listed(kinds), [list(part) for part in zip(*results, strict=True)]


# The values of a column that satisfy the conditions of many queries, each condition evaluated once.


@dataclass(frozen=True)
class Constants:
    """The table of the constants with which the queries of a workload compare columns; `indexes` has each column's
    number in it.
    """

    # The table of query_id, column_index, low and, for a range, high.
    table: str
    # The indexes of the columns, by their folded names.
    indexes: Mapping[str, int]

    def of(self, name: str, queries: str) -> exp.Query | None:
        """Returns query, low and high: a column's constants for the queries of `among`; None if it has none."""
        if name not in self.indexes:
            return None
        return filled_query(
            "SELECT among.query, constant.low, constant.high FROM constant "
            "JOIN among ON constant.query_id = among.query_id WHERE constant.column_index = $index",
            tables={"constant": self.table, "among": queries},
            index=self.indexes[name],
        )


def constants(queries: Sequence[WorkloadQuery], temp: TempTables) -> Constants:
    """The constants of all queries of a workload, as a table."""
    rows: list[tuple[int, int, Sequence[str], str | None]] = []
    indexes: dict[str, int] = {}
    for query in queries:
        for name, slot in zip(query.columns, query.slots, strict=True):
            index = indexes.setdefault(name, len(indexes))
            low, high = (slot.values[:1], slot.values[1]) if slot.between else (slot.values, None)
            rows.append((query.number, index, low, high))
    columns = [list(part) for part in zip(*rows, strict=True)] if rows else [[], [], [], []]
    # DuckDB takes long to read parameters, so a slot is one row of them.
    kinds = {"query_id": "BIGINT", "column_index": "INTEGER", "lows": "VARCHAR[]", "high": "VARCHAR"}
    of_slots = "SELECT query_id, column_index, unnest(lows) AS low, high FROM slot"
    return Constants(temp.table("constant", filled_query(of_slots, tables={"slot": listed(kinds)}), columns), indexes)


def among(numbers: Mapping[int, int], temp: TempTables) -> str:
    """Creates the table (query, query_id) that maps a query's number in a batch to its number in the workload; returns
    its name.
    """
    return temp.table("among", listed({"query": "INTEGER", "query_id": "BIGINT"}), [[*numbers], [*numbers.values()]])


def satisfying(
    engine: Engine,
    leaf: Relation,
    kind: str,
    conditions: Mapping[int, Condition],
    compared: exp.Query | None,
    also: Sequence[str] = (),
) -> exp.Query:
    """Returns query, number, weight and the columns `also`: a row for each query and each leaf that satisfies its
    condition.

    `leaf` is a relation with number, value and weight. `kind` is the type of the column's values.
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


_EQUAL = """
    SELECT bounds.query, {leaf.carried}
    FROM leaf
    JOIN (SELECT DISTINCT query, try_common(low) AS low FROM compared WHERE high IS NULL) AS bounds
        ON common(leaf.value) = bounds.low
"""
_BETWEEN = """
    SELECT bounds.query, {leaf.carried}
    FROM leaf
    JOIN (
        SELECT DISTINCT query, try_common(low) AS low, try_common(high) AS high FROM compared WHERE NOT high IS NULL
    ) AS bounds
        ON common(leaf.value) BETWEEN bounds.low AND bounds.high
"""


def _compared(leaf: Relation, common: str, between: bool, compared: exp.Query, carried: Sequence[str]) -> exp.Query:
    """Returns query and the columns `carried`: a row for each leaf that satisfies the comparison of a query.

    A leaf satisfies it if it equals the query's constant or, if `between` is true, lies between its two constants.
    """
    return filled_query(
        _BETWEEN if between else _EQUAL,
        tables={"leaf": leaf, "compared": compared},
        names={"carried": carried},
        calls={"common": partial(cast, kind=common), "try_common": partial(try_cast, kind=common)},
    )


def _of_trees(
    engine: Engine, leaf: Relation, trees: Mapping[exp.Expr, Sequence[int]], carried: Sequence[str]
) -> exp.Query:
    """Returns query and the columns `carried` of the leaves that satisfy a condition; queries may share a condition."""
    tables, names = {"leaf": leaf}, {"carried": carried}
    leaves = engine.rows(filled_query("SELECT count(*) FROM leaf", tables=tables))[0][0]
    if int(leaves) > sizes().max_leaves_in_one_scan:
        text = "SELECT CAST($index AS INTEGER) AS tree, {carried} FROM leaf WHERE $condition"
        satisfied = union_all(
            [
                filled_query(text, tables=tables, names=names, index=index, condition=tree)
                for index, tree in enumerate(trees)
            ]
        )
    else:
        structs = [class_label({"tree": literal(index), "holds": tree}) for index, tree in enumerate(trees)]
        satisfied = filled_query(
            "SELECT tree, {carried} "
            "FROM (SELECT unnest([{structs}], recursive := true), {carried} FROM leaf) AS truths WHERE holds",
            tables=tables,
            names={"carried": carried, "structs": structs},
        )
    pairs = [(index, query) for index, queries in enumerate(trees.values()) for query in queries]
    return filled_query(
        "SELECT query_of_tree.query, {satisfied.carried} FROM satisfied "
        "JOIN (SELECT unnest([{pairs}], recursive := true)) AS query_of_tree ON satisfied.tree = query_of_tree.tree",
        tables={"satisfied": satisfied},
        names={
            "carried": carried,
            "pairs": [class_label({"tree": literal(index), "query": literal(query)}) for index, query in pairs],
        },
    )


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
