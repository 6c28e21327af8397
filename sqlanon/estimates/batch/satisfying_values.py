"""The values of a column that satisfy the conditions of many queries, each condition evaluated once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.batch.distinct_rows import listed
from sqlanon.estimates.query.conjunctions import VALUE, Condition, common_type
from sqlanon.estimates.query.templates import Slot, WorkloadQuery
from sqlanon.estimates.sizes import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, entry, integer, is_null, same, try_cast, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.rows import class_label


@dataclass(frozen=True)
class Constants:
    """The constants that the queries of a workload compare values with."""

    # The table of query_id, column_index, low and, for a range, high.
    table: str
    # The indexes of the columns, by their folded names.
    indexes: Mapping[str, int]

    def of(self, name: str, queries: str) -> exp.Select | None:
        """query, low and high of one column, for the queries in a table of `among`; None if it is never compared."""
        if name not in self.indexes:
            return None
        of_column = column("column_index", "constant").eq(literal(self.indexes[name]))
        rows = exp.select(column("query", "batch_query"), column("low", "constant"), column("high", "constant"))
        rows.from_(relation(self.table, as_="constant"), copy=False)
        rows.join(relation(queries, as_="batch_query"), on=same("query_id", "constant", "batch_query"), copy=False)
        return rows.where(of_column, copy=False)


def constants(queries: Sequence[WorkloadQuery], scratch: Scratch) -> Constants:
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
    return Constants(scratch.table("constant", listed(kinds), columns), indexes)


def among(numbers: Mapping[int, int], scratch: Scratch) -> str:
    """The table of query, its number in a batch, and query_id, its number in the workload."""
    return scratch.table("among", listed({"query": "INTEGER", "query_id": "BIGINT"}), [[*numbers], [*numbers.values()]])


def satisfying(
    engine: Engine,
    leaf: exp.Expr,
    kind: str,
    conditions: Mapping[int, Condition],
    compared: exp.Select | None,
    also: Sequence[str] = (),
) -> exp.Query:
    """query, number, weight and the columns `also` of the leaves that satisfy the condition of a query.

    `leaf` is a relation of that name with number, value and weight. `kind` is the type of the column's values, and
    `compared` has the constants of those conditions that are slots: query, low and high.
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
    """query and the columns `carried` of the leaves that equal a constant of a query, or lie between its two."""
    kind = exp.DataType.build(common, dialect="duckdb")
    ends = ("low", "high") if between else ("low",)
    rows = exp.select(column("query"), *(alias(try_cast(column(e), kind), e) for e in ends))
    no_end = is_null(column("high"))
    rows = rows.distinct(copy=False).from_(compared.subquery("compared"))
    rows.where(exp.not_(no_end) if between else no_end, copy=False)
    value = cast(column(VALUE, "leaf"), kind)
    holds: exp.Expr = value.eq(column("low", "bounds"))
    if between:
        holds = value.between(column("low", "bounds"), column("high", "bounds"))
    query = exp.select(column("query", "bounds"), *(column(name, "leaf") for name in carried))
    return query.from_(leaf.copy()).join(rows.subquery("bounds"), on=holds, copy=False)


def _of_trees(
    engine: Engine, leaf: exp.Expr, trees: Mapping[exp.Expr, Sequence[int]], carried: Sequence[str]
) -> exp.Query:
    """query and the columns `carried` of the leaves that satisfy a condition, which several queries may share."""
    count = exp.select(f.count()).from_(leaf.copy())
    if int(engine.rows(count)[0][0]) > sizes().max_leaves_in_one_scan:
        satisfied = union_all([_where(leaf.copy(), index, tree, carried) for index, tree in enumerate(trees)])
    else:
        structs = [class_label({"tree": literal(index), "holds": tree}) for index, tree in enumerate(trees)]
        truths = _listed(structs).select(*map(column, carried), copy=False).from_(leaf.copy(), copy=False)
        names = (column(name) for name in ("tree", *carried))
        satisfied = exp.select(*names).from_(truths.subquery("truths", copy=False)).where(column("holds"))
    pairs = [(index, query) for index, queries in enumerate(trees.values()) for query in queries]
    numbers = _listed([class_label({"tree": literal(index), "query": literal(query)}) for index, query in pairs])
    rows = exp.select(column("query", "query_of_tree"), *(column(name, "satisfied") for name in carried))
    rows.from_(satisfied.subquery("satisfied", copy=False), copy=False)
    return rows.join(numbers.subquery("query_of_tree"), on=same("tree", "satisfied", "query_of_tree"), copy=False)


def _where(leaf: exp.Expr, index: int, condition: exp.Expr, carried: Sequence[str]) -> exp.Select:
    """tree, the index of the condition, and the columns `carried` of the leaves that satisfy it."""
    rows = exp.select(alias(integer(literal(index)), "tree"), *map(column, carried)).from_(leaf)
    return rows.where(condition.copy(), copy=False)


def _listed(structs: Sequence[exp.Expr]) -> exp.Select:
    """A row for each of the structs, with a column for each of their fields."""
    unnested = f.call(
        "unnest",
        exp.Array(expressions=list(structs)),
        entry("recursive", exp.true()),
    )
    return exp.Select(expressions=[unnested])
