"""Summaries of rows inside a query: steps and derived tables that group rows on Spark, and what is made of them.

A query of a release has many steps, of which few read rows: these are joined, grouped once, and all else is computed
from the groups. Spark computes a step anew for each that reads it, and spends a second on a step of ten rows. So what a
query groups is collected as a table of DuckDB's, where the steps that read nothing else are computed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import duckdb
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import RAISE_BOUND, Column, Query, TooManyRows
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.portable import spark_sql
from sqlanon.engines.spark import SparkEngine, spark_errors
from sqlanon.errors import EngineError
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.render import to_sql


class _Step(NamedTuple):
    """A step of a WITH, and the steps before it, which it may read."""

    node: exp.CTE
    visible: Mapping[str, _Step]


class _Part(NamedTuple):
    """A query inside another one, the node that it is the body of, and the steps that it may read."""

    node: exp.Expr
    body: exp.Query
    visible: Mapping[str, _Step]


def with_summaries(
    query: exp.Query, is_remote: Callable[[exp.Query], bool], table_of: Callable[[exp.Query], str]
) -> exp.Query:
    """The query with temporary tables of DuckDB's in the place of what groups rows on Spark.

    Where it reads rows besides, the steps that it joins with them and that read none become such tables, too.
    `is_remote` tells whether a query reads rows on Spark, and `table_of` makes a table of one, or of one of DuckDB's.

    Raises EngineError for a query that is not portable. One that is has no draws, so that a step which two of the
    tables are made of may be computed for each.
    """
    spark_sql(query)
    names = [fold(step.alias) for step in query.find_all(exp.CTE)]
    if len(names) > len(set(names)) or any(steps.recursive for steps in query.find_all(exp.With)):
        return query
    whole = query.copy()

    def tabulate_steps(body: exp.Query, visible: Mapping[str, _Step]) -> None:
        """Makes tables of the steps that a query joins with rows and that read none."""
        for step in _read(body, _within(body, visible), prune=_is_with):
            if is_remote(alone := _alone(step.node.this, step.visible)):
                tabulate_steps(step.node.this, step.visible)
            elif not _is_table(step.node.this):
                _replace(step.node, table_of(alone))

    for part in _parts(whole, {}):
        if _is_grouped(part.body) and is_remote(_alone(part.body, part.visible)):
            tabulate_steps(part.body, part.visible)
            _replace(part.node, table_of(_alone(part.body, part.visible)))
    _drop_unread(whole)
    for part in [*_parts(whole, {}), _Part(whole, whole, {})]:
        if is_remote(_alone(part.body, part.visible)):
            tabulate_steps(part.body, part.visible)
    _drop_unread(whole)
    return whole


def tables_read(query: exp.Expr) -> list[exp.Table]:
    """The tables that a query reads, and not the names of its steps."""
    steps = {fold(step.alias) for step in query.find_all(exp.CTE)}
    return [table for table in query.find_all(exp.Table) if table.db or fold(table.name) not in steps]


def _parts(query: exp.Query, visible: Mapping[str, _Step]) -> Iterator[_Part]:
    """The steps and derived tables of a query in an order in which each stands behind what it reads.

    Queries inside expressions are left out: they may read columns of the rows around them.
    """
    for node in query.ctes:
        yield from _parts(node.this, visible)
        yield _Part(node, node.this, visible)
        visible = {**visible, fold(node.alias): _Step(node, visible)}
    for inner in _inner(query):
        if isinstance(inner, exp.Subquery):
            yield from _parts(inner.this, visible)
            yield _Part(inner, inner.this, visible)
        elif isinstance(inner, exp.Query):
            yield from _parts(inner, visible)


def _inner(query: exp.Query) -> list[exp.Expr]:
    """What a query reads or unites: tables, queries in parentheses, and others."""
    if isinstance(query, exp.SetOperation):
        return [query.this, query.expression]
    sources = [query.args.get("from_"), *(query.args.get("joins") or ())]
    return [source.this for source in sources if source is not None]


def _within(query: exp.Query, visible: Mapping[str, _Step]) -> Mapping[str, _Step]:
    """The steps that the query may read, its own too."""
    for node in query.ctes:
        visible = {**visible, fold(node.alias): _Step(node, visible)}
    return visible


def _is_grouped(query: exp.Query) -> bool:
    """Whether the query has fewer rows than it reads: a row for each group, each distinct row, or all together."""
    if not isinstance(query, exp.Select):
        return False
    aggregates = all(isinstance(value.unalias(), exp.AggFunc) for value in query.selects)
    return bool(query.args.get("group") or query.args.get("distinct") or aggregates)


def _alone(body: exp.Query, visible: Mapping[str, _Step]) -> exp.Query:
    """A part as a query of its own, with the steps that it reads."""
    needed: dict[str, exp.CTE] = {}
    _need(body, visible, needed)
    whole = body.copy()
    if steps := [*(node.copy() for node in needed.values()), *whole.ctes]:
        whole.set("with_", exp.With(expressions=steps))
    return whole


def _need(body: exp.Query, visible: Mapping[str, _Step], needed: dict[str, exp.CTE]) -> None:
    """Adds the steps that a query reads, each behind those that it reads itself."""
    for step in _read(body, visible):
        if (name := fold(step.node.alias)) not in needed:
            _need(step.node.this, step.visible, needed)
            needed[name] = step.node


def _read(
    body: exp.Query, visible: Mapping[str, _Step], prune: Callable[[exp.Expr], bool] | None = None
) -> list[_Step]:
    """The visible steps that a query names, not inside what is pruned."""
    tables = (node for node in body.walk(prune=prune) if isinstance(node, exp.Table) and not node.db)
    return [visible[name] for name in dict.fromkeys(fold(table.name) for table in tables) if name in visible]


def _is_with(node: exp.Expr) -> bool:
    return isinstance(node, exp.With)


def _is_table(query: exp.Query) -> bool:
    """Whether a step is a table already, as `_replace` writes it."""
    return query.is_star and not any(part for name, part in query.args.items() if name not in ("expressions", "from_"))


def _replace(node: exp.Expr, table: str) -> None:
    node.set("this", exp.select(exp.Star()).from_(relation(table)))
    if isinstance(node, exp.CTE):
        node.set("materialized", None)


def _drop_unread(query: exp.Query) -> None:
    """Takes out steps that nothing reads any more, the last first."""
    for steps in list(query.find_all(exp.With)):
        for node in reversed(steps.expressions):
            if all(fold(table.name) != fold(node.alias) for table in query.find_all(exp.Table) if not table.db):
                node.pop()
        if not steps.expressions:
            steps.pop()


# Tables of bounded size from one engine to the other, by Arrow: numbers and texts, none of which is rounded.


# Types of DuckDB's that Arrow hands to Spark as they are, and as what the others go that Spark has no like of.
_PLAIN = frozenset(
    ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "VARCHAR", "BLOB")
)
_WIDER = {
    "HUGEINT": "DECIMAL(38, 0)",
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(38, 0)",
}
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*\d+\)")


class Transfer:
    """Moves tables of at most `bound` rows between DuckDB and Spark."""

    def __init__(self, local: DuckDBEngine, spark: SparkEngine, bound: int) -> None:
        self._local = local
        self._spark = spark
        self._bound = bound

    def collect(self, rows: DataFrame, columns: Sequence[Column], query: Query) -> exp.Select:
        """The rows of a query of Spark's, as a query of DuckDB's that is to be run at once; it has these columns.

        Raises TooManyRows for more rows than the bound.
        """
        with spark_errors(query):
            table = rows.limit(self._bound + 1).toArrow()
        if table.num_rows > self._bound:
            raise TooManyRows(
                f"a summary of the source has more than {self._bound:,} rows, too many to be held in memory",
                hint=RAISE_BOUND,
            )
        name = self._registered(table)
        parts = (alias(cast(column(f"c{index}"), kind), part) for index, (part, kind) in enumerate(columns))
        return exp.select(*parts).from_(relation(name))

    def _registered(self, table: Any) -> str:
        name = f"__sqlanon_arrow_{secrets.token_hex(6)}"
        self._local.connection.register(name, table.rename_columns([f"c{i}" for i in range(table.num_columns)]))
        return name

    def forget(self, query: exp.Select) -> None:
        """Lets go of the rows that a query of `collect` reads."""
        for table in query.find_all(exp.Table):
            # An aborted transaction refuses, and takes them along when it is rolled back.
            with suppress(duckdb.Error):
                self._local.connection.unregister(table.name)

    def ship(self, table: exp.Table, name: str) -> None:
        """A table of DuckDB's as a temporary view of Spark's with this name.

        Raises TooManyRows for more rows than the bound, EngineError for a column that Spark has no type for.
        """
        source = relation(tuple(part.name for part in table.parts))
        columns = self._local.columns(exp.select(exp.Star()).from_(source))
        parts = [alias(cast(column(part), _shipped_type(kind)), part) for part, kind in columns]
        query = exp.select(*parts).from_(source.copy()).limit(self._bound + 1)
        rows = self._local.arrow(query)
        if rows.num_rows > self._bound:
            raise TooManyRows(
                f"a table that is joined on Spark has more than {self._bound:,} rows, too many to be sent there",
                hint=RAISE_BOUND,
            )
        if not rows.num_rows:
            # Spark takes no column of structs that has no part, not even an empty one.
            rows = rows.schema.empty_table()
        with spark_errors():
            # Whatever the session takes a TIMESTAMP for, one of DuckDB's has no time zone.
            schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
            self._spark.connection.createDataFrame(rows, schema).createTempView(name)


def _shipped_type(kind: str) -> str:
    """The type as which a column goes. A struct does where its fields go as they are: a class may have such a key."""
    if _is_plain(kind) or (kind.startswith("STRUCT(") and all(_is_plain(part) for part in _field_types(kind))):
        return kind
    if kind not in _WIDER:
        raise EngineError(
            f"a column with values of type {kind} would be sent to Spark, which takes such values otherwise",
            hint="make it another type in the view that is the source: CAST(moment AS TIMESTAMP_NTZ) in Spark's SQL",
        )
    return _WIDER[kind]


def _is_plain(kind: str) -> bool:
    return kind in _PLAIN or _DECIMAL.fullmatch(kind) is not None


def _field_types(kind: str) -> list[str]:
    fields = exp.DataType.build(kind, dialect="duckdb").expressions
    return [to_sql(field.args["kind"]) for field in fields]
