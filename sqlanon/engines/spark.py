"""Spark behind the engine protocol: it answers portable queries over tables and views of a session.

Temporary tables become temporary views of rows that Spark keeps. There are no transactions, and nothing is published,
because Spark only encodes, counts and checks.
"""

from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Calls, Column, Query, Reading, SingleEngine
from sqlanon.engines.portable import spark_sql
from sqlanon.errors import WITHHELD, EngineError, SqlanonError, UserError
from sqlanon.sql.build.render import dropped, to_sql
from sqlanon.sql.build.sql_files import sql_file

try:
    from py4j.protocol import Py4JError
    from pyspark import StorageLevel
    from pyspark.errors import AnalysisException, PySparkException
    from pyspark.logger import PySparkLogger
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, DecimalType
except ModuleNotFoundError as missing:
    message = "sqlanon.engines.spark needs PySpark: pip install 'sqlanon[spark]'"
    raise ModuleNotFoundError(message, name=missing.name) from None

# Overflow and bad input are errors, as in DuckDB; otherwise they would be wrong numbers and NULLs.
_ANSI = "spark.sql.ansi.enabled"
# Unless this is off, ${...} in a query is replaced, in names and strings too.
_SUBSTITUTION = "spark.sql.variable.substitute"
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # An executor logs the message of an error, which may quote values.
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "UTC",
    # A TIMESTAMP is one without a time zone, as in DuckDB.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.shuffle.partitions": "4",
    # With it, kept rows are read in two thirds of the time.
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    _ANSI: "true",
    _SUBSTITUTION: "false",
}
_TYPES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}
# A random number: 122 bits of java.security.SecureRandom.
_DRAW = "reflect('java.util.UUID', 'randomUUID')"
# The place of kept rows: in memory they would leave grouping and sorting too little of Java's heap, and these fail.
# Files in the operating system's cache are read as fast as memory.
_ON_DISK = StorageLevel.DISK_ONLY
# Spark's type for DuckDB's HUGEINT.
_HUGE = DecimalType(38, 0)


def local_session(threads: int = 2, config: Mapping[str, str] | None = None) -> SparkSession:
    """Returns a Spark session inside this process, which listens only on this machine.

    Its tables are in a temporary folder, which is deleted when the process ends. `config` adds settings. Raises
    UserError if there is no Java for Spark.
    """
    folder = tempfile.mkdtemp(prefix="sqlanon-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settings = {"spark.sql.warehouse.dir": folder, **_LOCAL, **(config or {})}
    builder = SparkSession.builder.master(f"local[{threads}]").appName("sqlanon")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except PySparkException as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise translated(error) from None
        raise UserError("Spark did not start", hint="it needs Java 17 or newer; set JAVA_HOME to one") from None


class SparkEngine(SingleEngine):
    """One Spark session; `observe` is called with the text of every query before it runs.

    Spark itself logs the messages of errors, which may quote values; in a session that `local_session` did not make,
    the user switches the log off with `setLogLevel("OFF")`.
    """

    def __init__(self, session: SparkSession, observe: Callable[[str], None] | None = None) -> None:
        self.connection = session
        self._observe = observe

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Returns the rows, with values as in DuckDB: a struct is a dictionary, and a large whole number is an int."""
        with spark_errors(query):
            frame = self.frame(query, parameters)
            huge = [field.dataType == _HUGE for field in frame.schema.fields]
            return [
                tuple(int(v) if whole and v is not None else _plain(v) for v, whole in zip(row, huge, strict=True))
                for row in frame.collect()
            ]

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Creates or drops temporary tables; Spark does not write anything else.

        Raises EngineError for any other statement.
        """
        statement = _parsed(query)
        if isinstance(statement, exp.Block):
            for part in statement.expressions:
                self.run(part, parameters)
            return
        with spark_errors(query):
            if isinstance(statement, exp.Drop) and _dropped(statement):
                for table in _dropped(statement):
                    self.connection.catalog.dropTempView(table.name)
            elif isinstance(statement, exp.Create) and _is_temporary(statement):
                # The rows are kept, because a view alone would run its query again, on tables that may have changed.
                checkpoint = self.frame(statement.expression, parameters).localCheckpoint(storageLevel=_ON_DISK)
                checkpoint.createTempView(exp.to_identifier(statement.this.name, quoted=True).sql(dialect="spark"))
            else:
                raise _cannot(f"run {type(statement).__name__}", "it answers queries and makes temporary tables")

    def fingerprint(self, rows: exp.Query) -> str:
        """Returns the number of rows and the sums of parts of their digests, as one text that no order changes."""
        name = f"__sqlanon_{secrets.token_hex(8)}"
        with spark_errors(rows):
            self.frame(rows).createTempView(name)
            try:
                query = sql_file("spark", "content_fingerprint")
                return str(self.connection.sql(str(query), args={"rows": name}).collect()[0][0])
            finally:
                self.connection.catalog.dropTempView(name)

    def shuffled(self, rows: DataFrame) -> DataFrame:
        """Returns the rows in an order by random numbers that nobody can repeat."""
        draw = f"__sqlanon_{secrets.token_hex(8)}"
        with spark_errors():
            drawn = self.drawn(rows, [draw])
            # The rows are partitioned by the random numbers and sorted in each part, because a full sort would read
            # them once more.
            return drawn.repartition(draw).sortWithinPartitions(draw).drop(draw)

    def drawn(self, rows: DataFrame, names: Sequence[str]) -> DataFrame:
        """Returns the rows as they are now, with further columns `names` of random numbers.

        The random numbers come from java.util.UUID on each executor's operating system. They are generated once and
        kept, because a repeated task would generate other numbers, so that rows would be lost or doubled. If an
        executor is lost, its random numbers are lost too, and every read of them fails.
        """
        return rows.selectExpr("*", *(f"{_DRAW} AS {name}" for name in names)).localCheckpoint(storageLevel=_ON_DISK)

    def columns(self, query: Query) -> list[Column]:
        """Returns the names of a query's columns and their types, as DuckDB calls them.

        Raises EngineError for a type without a counterpart in DuckDB.
        """
        with spark_errors(query):
            return columns_of(self.frame(query))

    def reads(self, query: str) -> list[Reading]:
        """Raises EngineError, because Spark does not report the tables that a view reads."""
        raise _cannot("say which tables a query reads", "name the tables")

    def calls(self, query: str) -> Calls:
        """Raises EngineError, because Spark does not report the functions that a view calls."""
        raise _cannot("say which functions a query calls", "name the tables")

    def tables_of(self, query: str) -> list[QualifiedName]:
        """Raises EngineError, because Spark does not report the tables that a view reads."""
        raise _cannot("say which tables a query reads", "name the tables")

    def in_transaction(self) -> bool:
        """Raises EngineError: Spark has no transactions."""
        raise _cannot("run transactions", "release from DuckDB")

    def transaction(self) -> AbstractContextManager[None]:
        """Raises EngineError: Spark has no transactions."""
        raise _cannot("run transactions", "release from DuckDB")

    def version(self) -> str:
        return "Spark " + str(self.connection.version)

    def frame(self, query: Query, parameters: Sequence[object] = ()) -> DataFrame:
        """Returns a portable query as a data frame of Spark, which runs when its rows are read.

        Raises EngineError for a query that is not portable, and in a session that would answer differently.
        """
        tree = _parsed(query)
        if not isinstance(tree, exp.Query):
            raise _cannot(f"run {type(tree).__name__} here", "it answers queries")
        text = spark_sql(tree)
        if self._setting(_ANSI) != "true":
            raise EngineError(f"this Spark session computes without ANSI rules; set {_ANSI} to true")
        if "${" in text and self._setting(_SUBSTITUTION) != "false":
            raise EngineError(f"a name or text holds ${{, which Spark would replace; set {_SUBSTITUTION} to false")
        if self._observe:
            self._observe(text)
        arguments: dict[str, Any] = {f"p{number}": value for number, value in enumerate(parameters, start=1)}
        return self.connection.sql(text, args=arguments) if arguments else self.connection.sql(text)

    def _setting(self, name: str) -> str:
        return str(self.connection.conf.get(name)).lower()


def _parsed(query: Query) -> exp.Expr:
    if isinstance(query, exp.Expr):
        return query
    try:
        return sqlglot.parse_one(query, dialect="duckdb")
    except SqlglotError:
        raise _cannot("read this statement", "it takes portable queries only", query) from None


def _is_temporary(statement: exp.Create) -> bool:
    properties = statement.args.get("properties")
    temporary = properties is not None and [type(part) for part in properties.expressions] == [exp.TemporaryProperty]
    plain = not any(statement.args.get(name) for name in ("replace", "exists", "indexes", "clone"))
    named = isinstance(statement.this, exp.Table) and not statement.this.db
    return temporary and plain and named and statement.kind == "TABLE" and isinstance(statement.expression, exp.Query)


def _dropped(statement: exp.Drop) -> list[exp.Table]:
    """Returns the tables or views that a DROP ... IF EXISTS names; empty for any other DROP."""
    tables = [table for table in dropped(statement) if isinstance(table, exp.Table) and not table.db]
    certain = statement.args.get("exists") and statement.kind in ("TABLE", "VIEW")
    return tables if certain and len(tables) == len(dropped(statement)) else []


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return {name: _plain(part) for name, part in zip(value.__fields__, value, strict=True)}
    return value


def columns_of(frame: DataFrame) -> list[Column]:
    """Returns the names of a data frame's columns and their types, as DuckDB calls them.

    Raises EngineError for a type without a counterpart in DuckDB.
    """
    return [(field.name, _type(field.name, field.dataType)) for field in frame.schema.fields]


def _type(name: str, kind: DataType) -> str:
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    text = kind.simpleString()
    if text not in _TYPES:
        raise EngineError(f"the column {name} has the Spark type {text}, which sqlanon does not read")
    return _TYPES[text]


def _cannot(what: str, hint: str, query: str | None = None) -> EngineError:
    return EngineError(f"Spark does not {what}", hint=hint, query=query)


# Errors of Spark, without the values that their messages may quote.


# The loggers by which PySpark writes each error with its message to the standard error stream.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextmanager
def spark_errors(query: Query | None = None) -> Iterator[None]:
    """Converts errors of Spark in its block to EngineError without values, and keeps PySpark from logging them."""
    with ExitStack() as stack:
        for logger in map(PySparkLogger.getLogger, _LOGGERS):
            stack.callback(setattr, logger, "disabled", logger.disabled)
            logger.disabled = True
        try:
            yield
        except (PySparkException, Py4JError, pa.ArrowException) as error:
            raise translated(error, query) from None


def translated(error: Exception, query: Query | None = None) -> SqlanonError:
    """Converts an error of Spark to an error of sqlanon.

    The message is kept only for an analysis error, because such a message is about names and not about values.
    """
    text = query if isinstance(query, str) or query is None else to_sql(query.copy())
    condition = (error.getCondition() if isinstance(error, PySparkException) else None) or type(error).__name__
    if isinstance(error, AnalysisException):
        return EngineError(f"Spark {str(error).strip().splitlines()[0]}", query=text)
    return EngineError(f"Spark {condition}: {WITHHELD}", query=text)
