"""Copies tables of bounded size between DuckDB and Spark, by Arrow, without rounding or changing numbers or texts."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import duckdb
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from sqlglot import exp

from sqlanon.engines.base import RAISE_BOUND, Column, Query, TooManyRows
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.spark import SparkEngine, spark_errors
from sqlanon.errors import EngineError
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql

# DuckDB's types that Arrow passes to Spark unchanged, and the types that replace others, which Spark lacks.
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
        """Returns the rows of a Spark query as a query of DuckDB with these columns, which has to be run at once.

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
        return select(*parts, of=relation(name))

    def _registered(self, table: Any) -> str:
        name = f"__sqlanon_arrow_{secrets.token_hex(6)}"
        self._local.connection.register(name, table.rename_columns([f"c{i}" for i in range(table.num_columns)]))
        return name

    def forget(self, query: exp.Select) -> None:
        """Frees the rows that a query of `collect` reads."""
        for table in query.find_all(exp.Table):
            # An aborted transaction refuses this, and its rollback removes the rows.
            with suppress(duckdb.Error):
                self._local.connection.unregister(table.name)

    def ship(self, table: exp.Table, name: str) -> None:
        """Copies a table of DuckDB to a temporary view of Spark with this name.

        Raises TooManyRows for more rows than the bound, and EngineError for a column with a type that Spark lacks.
        """
        source = relation(tuple(part.name for part in table.parts))
        columns = self._local.columns(select(exp.Star(), of=source))
        parts = [alias(cast(column(part), _shipped_type(kind)), part) for part, kind in columns]
        query = select(*parts, of=source, limit=self._bound + 1)
        rows = self._local.arrow(query)
        if rows.num_rows > self._bound:
            raise TooManyRows(
                f"a table that is joined on Spark has more than {self._bound:,} rows, too many to be sent there",
                hint=RAISE_BOUND,
            )
        if not rows.num_rows:
            # Spark refuses a column of structs without any chunk, and an empty chunk is one.
            rows = rows.schema.empty_table()
        with spark_errors():
            # DuckDB's TIMESTAMP has no time zone, whatever the session reads a TIMESTAMP as.
            schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
            self._spark.connection.createDataFrame(rows, schema).createTempView(name)


def _shipped_type(kind: str) -> str:
    """Returns the type in which a column is copied; a struct is copied if its fields need no conversion."""
    if _is_plain(kind) or (kind.startswith("STRUCT(") and all(_is_plain(part) for part in _field_types(kind))):
        return kind
    if kind not in _WIDER:
        raise EngineError(
            f"a column with values of type {kind} would be sent to Spark, which reads such values differently",
            hint="make it another type in the view that is the source: CAST(arrived AS TIMESTAMP_NTZ) in Spark's SQL",
        )
    return _WIDER[kind]


def _is_plain(kind: str) -> bool:
    return kind in _PLAIN or _DECIMAL.fullmatch(kind) is not None


def _field_types(kind: str) -> list[str]:
    fields = exp.DataType.build(kind, dialect="duckdb").expressions
    return [to_sql(field.args["kind"]) for field in fields]
