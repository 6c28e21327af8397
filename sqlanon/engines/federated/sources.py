"""What policies are on, where their rows are on Spark: tables and views of the session, and Parquet files."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from weakref import finalize

from pyspark.sql import DataFrame, SparkSession

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.federated.stand_ins import stand_in
from sqlanon.engines.spark import SparkEngine, columns_of
from sqlanon.engines.spark_errors import spark_errors
from sqlanon.engines.spark_sql import quoted
from sqlanon.errors import EngineError, UserError


class Sources:
    """The sources that statements have named, by the names of their stand-ins, which are temporary views."""

    def __init__(self, local: DuckDBEngine, spark: SparkEngine) -> None:
        self._local = local
        self._spark = spark
        self._views: dict[tuple[str, ...], str] = {}
        self._named: dict[tuple[str, ...], str] = {}
        # The session outlives the connection.
        finalize(self, _forget, spark.connection, self._views).atexit = False

    def view_of(self, key: tuple[str, ...]) -> str | None:
        """The view of Spark's with the rows of a relation, by its folded name; None for another relation."""
        return self._views.get(key)

    def declare(self, source: QualifiedName, *, in_duckdb: bool) -> QualifiedName:
        """Makes a stand-in for a source as it is now, and returns its name.

        A single name with a slash is the path of Parquet files; as the last of two it is a path, too, and the first one
        says how Spark reads the files there. Raises UserError where DuckDB has a relation of this
        name, which is no stand-in (`in_duckdb`), and for a name that Spark has no relation of.
        """
        name = self._named.setdefault(source.parts, self._name_of(source))
        key = ("temp", "main", fold(name))
        if in_duckdb:
            raise UserError(
                f"{source} is a table or view of DuckDB's, and releases on Spark are made of what is there",
                hint="connect without engine => 'spark', or give the one that is meant another name",
            )
        view = self._views.get(key) or f"__sqlanon_source_{len(self._views)}_{id(self):x}"
        with spark_errors():
            rows = self._rows(source)
            rows.createOrReplaceTempView(view)
            columns = columns_of(rows)
        self._local.run(stand_in(QualifiedName((name,)), columns, "on Spark", temporary=True))
        self._views[key] = view
        return QualifiedName((name,))

    def _name_of(self, source: QualifiedName) -> str:
        """The name of a stand-in, which has one part: of a name of several parts it is one that nobody else has."""
        return source.name if len(source.parts) == 1 else f"__sqlanon_source_{secrets.token_hex(8)}"

    def _rows(self, source: QualifiedName) -> DataFrame:
        session = self._spark.connection
        if "/" in source.name:
            return self._files(".".join(source.parts[:-1]) or "parquet", source.name)
        name = ".".join(map(quoted, source.parts))
        if not session.catalog.tableExists(name):
            raise UserError(f"the Spark session has no table or view {source}", hint=_how_named(source))
        return session.table(name)

    def _files(self, kind: str, path: str) -> DataFrame:
        """The rows of files of a format. Raises UserError where Spark does not read them so."""
        try:
            with spark_errors():
                return self._spark.connection.read.format(kind).load(path)
        except EngineError as error:
            raise UserError(
                f"{path} cannot be read as {kind}: {error.message}",
                hint="the path has to be there, with files of this format, for which the session has a reader",
            ) from None


def _forget(session: SparkSession, views: Mapping[tuple[str, ...], str]) -> None:
    """Drops the views of sources from a session, which may have ended."""
    with suppress(EngineError), spark_errors():
        for view in views.values():
            session.catalog.dropTempView(view)


def _how_named(source: QualifiedName) -> str:
    """How a source is named that Spark may have under another name."""
    if len(source.parts) == 1 and "." in source.name:
        parts = ".".join(f'"{part}"' for part in source.name.split("."))
        return f"each part of a name has quotes of its own: {parts}"
    return (
        "a table is named with its database, clinic.patients, a view of this session by its name, and files by a path "
        "with a slash, in double quotes"
    )
