"""Spark and DuckDB as one engine: a query runs on the engine that has its rows.

A query that names a relation of Spark runs on Spark, and the tables of DuckDB that it also reads are sent there. Every
other query runs in DuckDB. A temporary table of rows on Spark is a summary, and is collected into DuckDB, as are the
groups inside a query; only the rows of `copy_rows` stay on Spark. So the stages of a release need not know on which
engine they run.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Calls, Column, Engine, Query, Reading, TooManyRows
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.federated.parquet_releases import ParquetFolder, ParquetReleases
from sqlanon.engines.federated.stand_ins import stand_in
from sqlanon.engines.federated.summaries import tables_read, with_summaries
from sqlanon.engines.federated.transfer import Transfer
from sqlanon.engines.portable import quoted
from sqlanon.engines.random_order import RANDOM_DRAW, in_random_order, without_draws
from sqlanon.engines.spark import (
    SparkEngine,
    columns_of,
    local_session,
    spark_errors,
)
from sqlanon.errors import EngineError, InternalError, UserError
from sqlanon.sql.build.names import identifier, relation
from sqlanon.sql.build.render import create_temporary, drop, dropped
from sqlanon.sql.build.sql_files import sql_file

# Sources of policies with rows on Spark: tables and views of the session, and Parquet files.


class Sources:
    """The sources in statements; each has a stand-in, a temporary view of DuckDB."""

    def __init__(self, local: DuckDBEngine, spark: SparkEngine) -> None:
        self._local = local
        self._spark = spark
        self._views: dict[tuple[str, ...], str] = {}
        self._named: dict[tuple[str, ...], str] = {}
        # The session outlives the connection.
        finalize(self, _forget, spark.connection, self._views).atexit = False

    def view_of(self, key: tuple[str, ...]) -> str | None:
        """Returns the Spark view that has the rows of a relation, by its folded name; None for any other relation."""
        return self._views.get(key)

    def declare(self, source: QualifiedName, *, in_duckdb: bool) -> QualifiedName:
        """Makes a stand-in for a source as it is now, and returns its name.

        A name with a slash in its last part is a path: of Parquet files, or of the format in its first part. Raises
        UserError if DuckDB has a relation of this name that is not a stand-in (`in_duckdb`), and if Spark has no
        relation of this name.
        """
        name = self._named.setdefault(source.parts, self._name_of(source))
        key = ("temp", "main", fold(name))
        if in_duckdb:
            raise UserError(
                f"{source} is a table or view in DuckDB, but a release on Spark needs a source in Spark",
                hint="connect without engine => 'spark', or rename Spark's table if it has this name too",
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
        """Returns the name of a stand-in: the name of the source, or a random name if the source's name has several
        parts.
        """
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
        """Returns the rows of files of a format. Raises UserError if Spark cannot read the files as this format."""
        try:
            with spark_errors():
                return self._spark.connection.read.format(kind).load(path)
        except EngineError as error:
            raise UserError(
                f"{path} cannot be read as {kind}: {error.message}",
                hint="check that the path has files of this format, and that the session has a reader for the format",
            ) from None


def _forget(session: SparkSession, views: Mapping[tuple[str, ...], str]) -> None:
    """Drops the views of sources from a session, which may have ended."""
    with suppress(EngineError), spark_errors():
        for view in views.values():
            session.catalog.dropTempView(view)


def _how_named(source: QualifiedName) -> str:
    """Returns a hint on the name of a source that Spark may have under another name."""
    if len(source.parts) == 1 and "." in source.name:
        parts = ".".join(f'"{part}"' for part in source.name.split("."))
        return f"each part of a name has quotes of its own: {parts}"
    return (
        "a table is named with its database, clinic.patients, a view of this session by its name, and files by a path "
        "with a slash, in double quotes"
    )


# The largest number of rows of a table that goes from one engine to the other: cells, trees of values, hierarchies.
SUMMARY_ROWS = 5_000_000

_Key = tuple[str, ...]

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FederatedEngine:
    """A DuckDB connection and a Spark session as one engine.

    Relations with rows on Spark have stand-ins in DuckDB: the sources of policies, their copies, and releases. A
    release is a folder of Parquet files below `releases`. A table of more than `summary_rows` rows is never copied from
    one engine to the other.
    """

    distributed = True
    reads_in_place = False
    numbers_rows = False
    shares_names = False
    releases_are_files = True

    def __init__(
        self, local: DuckDBEngine, spark: SparkEngine, releases: str | None, summary_rows: int = SUMMARY_ROWS
    ) -> None:
        self.local = local
        self.spark = spark
        self._releases = ParquetReleases(local, ParquetFolder(spark.connection, releases))
        self._transfer = Transfer(local, spark, summary_rows)
        self._sources = Sources(local, spark)
        self._copies: dict[_Key, str] = {}
        self._depth = 0

    @property
    def connection(self) -> Any:
        """DuckDB's connection."""
        return self.local.connection

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Returns the rows of a query, from the engine that holds its tables."""
        if isinstance(query, exp.Create):
            return self._made(query, parameters)
        if isinstance(query, exp.Query) and self._is_remote(query):
            with self._summarized(query, parameters) as summarized:
                if self._is_remote(summarized):
                    with self._spelled(summarized) as spelled:
                        return self.spark.rows(spelled, parameters)
                return self.local.rows(summarized, parameters)
        return self.local.rows(query, parameters)

    def arrays(self, query: exp.Query) -> dict[str, NDArray[Any]]:
        """Returns the columns of a query of numbers, which reads summaries, as arrays by name."""
        return self.local.arrays(query)

    def readable(self, name: str, columns: Mapping[str, NDArray[Any]]) -> AbstractContextManager[None]:
        """Makes arrays of numbers the columns of a temporary view of DuckDB."""
        return self.local.readable(name, columns)

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Runs a statement on the engine that holds its tables."""
        if isinstance(query, exp.Create):
            self._made(query, parameters)
        elif isinstance(query, exp.Alter) and self._releases.path(query.this):
            self._releases.alter(query)
        elif isinstance(query, exp.Drop) and any(map(self._releases.path, dropped(query))):
            self._releases.drop(query)
        elif isinstance(query, exp.Query):
            self.rows(query, parameters)
        else:
            self.local.run(query, parameters)

    def columns(self, query: Query) -> list[Column]:
        """Returns the names and types of a query's columns.

        DuckDB infers them from its views that have the columns of Spark's relations, and no rows to read.
        """
        return self.local.columns(query)

    def copy_rows(self, name: str, query: exp.Query) -> str:
        """Stores the rows of a query on Spark's executors; if an executor is lost, the statement fails.

        Columns of random numbers are generated when the rows are stored; they are texts of hexadecimal digits, with 122
        random bits each.
        """
        if not self._is_remote(query):
            return self.local.copy_rows(name, query)
        view = _view_name()
        undrawn, draws = without_draws(query)
        with self._spelled(undrawn) as spelled, spark_errors(query):
            copied = self.spark.drawn(self.spark.frame(spelled), draws)
            copied.createTempView(view)
            columns = columns_of(copied)
        self._copies |= {(fold(name),): view, ("temp", "main", fold(name)): view}
        self.local.run(stand_in(QualifiedName((name,)), columns, "on Spark", temporary=True))
        return "VIEW"

    def declare(self, source: Source) -> Source:
        """Returns a stand-in for a table or view of the Spark session, or for the files at a path.

        The path is the name or the last part of the name. Raises UserError for a query, because only DuckDB runs
        queries, for a relation of DuckDB, and for a relation that Spark lacks.
        """
        if source.name is None:
            raise UserError(
                "a source on Spark must be a table, a view or Parquet files, not a query",
                hint="make it a view of the Spark session, createOrReplaceTempView('people'), and name that; a path is "
                'written as a name, in double quotes: ON "/data/people"',
            )
        table, schema, database = (*reversed(source.name.parts), None, None)[:3]
        find = sql_file("statements", "find_relation")
        known = sorted(self.local.rows(find, (table, schema, database)))
        if len(source.name.parts) == 2:
            # In DuckDB a name a.b may be an object in a database, too.
            known = known or sorted(self.local.rows(find, (table, None, schema)))
        full_name = known[0][-3:] if known else ()
        if known and self._releases.path(relation(full_name[1:])) is not None:
            return source
        in_duckdb = bool(known) and self._sources.view_of(tuple(fold(str(part)) for part in full_name)) is None
        return Source(self._sources.declare(source.name, in_duckdb=in_duckdb))

    def native_function(self, name: str) -> str | None:
        """Returns Spark's own name for functions that Spark computes itself."""
        return RANDOM_DRAW if name == "random_draw" else None

    def copy_files(self, table: QualifiedName, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Copies a release's Parquet files to a local folder."""
        path = self._releases.path(relation(table))
        return [] if path is None else self._releases.copy_to(path, folder, named)

    def fingerprint(self, rows: exp.Query) -> str | None:
        """Returns Spark's fingerprint, for rows on Spark."""
        if not self._is_remote(rows):
            return self.local.fingerprint(rows)
        with self._spelled(rows) as spelled:
            return self.spark.fingerprint(spelled)

    def reads(self, query: str) -> list[Reading]:
        """Returns the relations that DuckDB reads; relations on Spark have stand-ins, which are views."""
        return self.local.reads(query)

    def calls(self, query: str) -> Calls:
        """Returns the calls of a query of DuckDB; a source on Spark has no calls."""
        return self.local.calls(query)

    def tables_of(self, query: str) -> list[QualifiedName]:
        return self.local.tables_of(query)

    def in_transaction(self) -> bool:
        return self.local.in_transaction()

    def shadowing_macros(self) -> list[str]:
        """Returns the macros of DuckDB that have the name of a built-in function."""
        return self.local.shadowing_macros()

    def end_statement(self) -> None:
        self.local.end_statement()

    def version(self) -> str:
        return f"{self.spark.version()}, {self.local.version()}"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Runs a transaction of the catalog; if it fails, changes to folders are undone, too.

        Raises UserError in a user's transaction, because the end of this transaction is not known here.
        """
        if self._depth:
            yield
            return
        if self.local.in_transaction():
            raise UserError(
                "a statement on Spark cannot run inside a transaction",
                hint="COMMIT or ROLLBACK first",
            )
        self._depth += 1
        committed = False
        try:
            with self.local.transaction():
                yield
                self._releases.before_commit()
            committed = True
        finally:
            self._depth -= 1
            views = set(self._copies.values())
            self._copies.clear()
            # A session that has ended has no views either, and the error that ended it is the one to report.
            with suppress(EngineError), spark_errors():
                for view in views:
                    self.spark.connection.catalog.dropTempView(view)
            self._releases.end(committed=committed)

    def _made(self, statement: exp.Create, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """Creates a table; returns the number of its rows, as in DuckDB.

        A temporary table of rows on Spark is a summary in DuckDB; another table of such rows is a candidate of a
        release.
        """
        query = statement.expression
        if not isinstance(query, exp.Query) or not self._is_remote(query):
            return self.local.rows(statement, parameters)
        if statement.kind != "TABLE":
            raise InternalError("a view of rows on Spark would be made in DuckDB")
        if statement.args.get("properties") is None:
            self._write(statement.this, in_random_order(query))
            return []
        with self._summarized(query, parameters) as summarized:
            return self._collected(statement.this.name, summarized, parameters)

    def _collected(self, name: str, query: exp.Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Collects the rows of a query in a temporary table of DuckDB; returns their number, as in DuckDB.

        Raises TooManyRows for more rows on Spark than the bound.
        """
        if not self._is_remote(query):
            return self.local.rows(create_temporary("TABLE", name, query), parameters)
        columns = self.local.columns(query) if not parameters else None
        with self._spelled(query) as spelled:
            with spark_errors(query):
                frame = self.spark.frame(spelled, parameters)
                known = columns or columns_of(frame)
            collected = self._transfer.collect(frame, known, query)
        try:
            return self.local.rows(create_temporary("TABLE", name, collected))
        finally:
            self._transfer.forget(collected)

    @contextmanager
    def _summarized(self, query: exp.Query, parameters: Sequence[object] = ()) -> Iterator[exp.Query]:
        """Yields the query in which tables of DuckDB replace the groups that are computed on Spark.

        The tables exist inside the block. If a summary has more rows than the bound, or if there are parameters, the
        query is unchanged.
        """
        made: list[exp.Expr] = []

        def table_of(summary: exp.Query) -> str:
            name = _view_name()
            self._collected(name, summary)
            made.append(relation(name))
            return name

        try:
            try:
                yielded = query if parameters else with_summaries(query, self._is_remote, table_of)
            except TooManyRows:
                yielded = query
            yield yielded
        finally:
            # An aborted transaction refuses this, and its rollback removes the tables.
            with suppress(EngineError):
                for table in made:
                    self.local.run(drop("TABLE", table))

    def _write(self, table: exp.Table, query: exp.Query) -> None:
        """Writes the rows of a query to Parquet files in a random order, as a candidate of a release."""
        columns = self.local.columns(query)
        with self._summarized(query) as summarized, self._spelled(summarized) as spelled:
            with spark_errors():
                rows = self.spark.frame(spelled)
            self._releases.write(table, self.spark.shuffled(rows), columns)

    def _location(self, table: exp.Table) -> str | None:
        """Returns the Spark view, or the path of the Parquet files, that has the rows of a table; None for a table of
        DuckDB.
        """
        key = tuple(fold(part.name) for part in table.parts)
        return self._copies.get(key) or self._sources.view_of(key) or self._releases.path(table)

    def _is_remote(self, query: exp.Expr) -> bool:
        return any(self._location(table) for table in tables_read(query))

    @contextmanager
    def _spelled(self, query: exp.Expr) -> Iterator[Any]:
        """Yields the query whose tables are replaced by temporary views of Spark. These exist inside the block."""
        spelled = query.copy()
        views: dict[_Key, str] = {}
        with ExitStack() as stack:
            for table in tables_read(spelled):
                key = tuple(fold(part.name) for part in table.parts)
                if key not in views:
                    views[key] = self._copies.get(key) or self._sources.view_of(key) or self._view(table, stack)
                named = table.alias_or_name
                table.set("this", identifier(views[key]))
                table.set("db", None)
                table.set("catalog", None)
                table.set(
                    "alias",
                    exp.TableAlias(this=identifier(named), columns=table.args["alias"].columns)
                    if table.args.get("alias")
                    else exp.TableAlias(this=identifier(named)),
                )
            yield spelled

    def _view(self, table: exp.Table, stack: ExitStack) -> str:
        """Creates a temporary view of a release's files, or of a table that is sent to Spark; returns its name."""
        view = _view_name()
        if path := self._releases.path(table):
            self._releases.rows_at(path).createTempView(view)
        else:
            self._transfer.ship(table, view)
        stack.callback(self.spark.connection.catalog.dropTempView, view)
        return view


def _view_name() -> str:
    return f"__sqlanon_{secrets.token_hex(8)}"


# The engine of a connection with rows on Spark.


def federated(
    session: SparkSession | None, releases: str | None, summary_rows: int | None
) -> Callable[[DuckDBEngine], Engine]:
    """Returns a function that makes the engine of a connection, with the given Spark session or a session of this
    process.

    Raises UserError for a bound that is not a number of rows, and for a session of Spark Connect, with another
    collation, or with speculative tasks.
    """
    bound = SUMMARY_ROWS if summary_rows is None else summary_rows
    if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
        raise UserError(f"summary_rows must be a number of rows, 1 or more, not {bound!r}")
    used = session or local_session()
    if not hasattr(used, "_jvm"):
        raise UserError(
            "this is a session of Spark Connect, which cannot rename the files of a release",
            hint="use a session of SparkSession.builder.master(...), or leave session out",
        )
    _require_binary_text(used)
    if used.sparkContext.getConf().get("spark.speculation", "false") == "true":
        raise UserError(
            "this Spark session runs slow tasks a second time, which would choose random rows again",
            hint="use a session whose spark.speculation is false",
        )
    return lambda local: FederatedEngine(local, SparkEngine(used, local.observe), releases, bound)


def _require_binary_text(session: SparkSession) -> None:
    """Raises UserError if a session does not compare texts by their bytes, because classes would look larger."""
    with spark_errors():
        (collation,) = session.sql("SELECT collation('a')").collect()[0]
    if not str(collation).endswith("UTF8_BINARY"):
        raise UserError(
            f"this Spark session compares text by the collation {collation}: classes would look larger than they are",
            hint="use a session whose default collation is UTF8_BINARY",
        )
