"""Spark behind the engine protocol: it answers portable queries over tables and views of a session.

Temporary tables become temporary views of rows that Spark keeps. There are no
transactions, and nothing is published: Spark encodes, counts and checks.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Query, Reading
from sqlanon.engines.portable import INFINITE, require_portable
from sqlanon.errors import EngineError, SqlanonError, UserError
from sqlanon.sqlgen.build.expressions import big, paren
from sqlanon.sqlgen.build.render import to_sql

try:
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException
    from pyspark.logger import PySparkLogger
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, DecimalType
except ModuleNotFoundError as missing:
    message = "sqlanon.engines.spark needs PySpark: pip install 'sqlanon[spark]'"
    raise ModuleNotFoundError(message, name=missing.name) from None

__all__ = ["SparkEngine", "local_session", "spark_sql"]

# Overflow and bad input are errors, as in DuckDB, rather than wrong numbers and NULLs.
_ANSI = "spark.sql.ansi.enabled"
# Unless switched off, ${...} in a query is replaced, in names and strings too.
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
# Where PySpark writes each error that it raises, message and all, to the standard error stream.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# What DuckDB has as HUGEINT.
_HUGE = DecimalType(38, 0)


def local_session(threads: int = 2, config: Mapping[str, str] | None = None) -> SparkSession:
    """A Spark session inside this process, which listens on this machine only.

    Tables that it writes lie in a temporary folder, gone when the process ends.
    `config` adds settings. Raises UserError where there is no Java to run Spark with.
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
            raise _translated(error) from None
        raise UserError("Spark did not start", hint="it needs Java 17 or newer; set JAVA_HOME to one") from None


def spark_sql(tree: exp.Expr) -> str:
    """A portable query as Spark writes it; parameters become :p1, :p2 and so on.

    Raises EngineError, naming the construct, for a query that is not portable.
    """
    require_portable(tree)
    # Wrapped, so that the query itself can be replaced like any other part.
    spelled = paren(tree.copy())
    for node in list(spelled.walk()):
        if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.INT128:
            node.replace(exp.DataType.build("DECIMAL(38, 0)"))
        elif isinstance(node, exp.Extract) and node.name.upper() == "ISODOW":
            node.set("this", exp.var("DAYOFWEEK_ISO"))
        elif isinstance(node, exp.BitwiseLeftShift):
            # Spark drops the bits that leave an INT; DuckDB has an error for it.
            node.set("this", big(node.this))
        elif isinstance(node, exp.Parameter | exp.Placeholder):
            node.replace(exp.Placeholder(this=f"p{node.name}"))
        elif isinstance(node, exp.TryCast):
            # Unless told so, sqlglot takes it for one that raises errors.
            node.set("safe", True)
        elif isinstance(node, exp.Cast) and node.this.is_string and node.this.name in INFINITE:
            # No date of Spark's is infinite, and none equals NULL. Numbers are as in DuckDB.
            node.replace(exp.TryCast(this=node.this.copy(), to=node.to.copy(), safe=True))
    return to_sql(spelled.this, dialect="spark")


class SparkEngine:
    """One Spark session.

    Spark itself logs the messages of errors, which may quote values: in a session that
    `local_session` did not make, switch that off with `setLogLevel("OFF")`.
    """

    def __init__(self, session: SparkSession) -> None:
        self.connection = session

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows, with values as DuckDB gives them: a struct is a dictionary, a large whole number an int."""
        with _errors(query):
            frame = self._frame(query, parameters)
            huge = [field.dataType == _HUGE for field in frame.schema.fields]
            return [
                tuple(int(v) if whole and v is not None else _plain(v) for v, whole in zip(row, huge, strict=True))
                for row in frame.collect()
            ]

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Makes or drops a temporary table, or several in a row; Spark writes nothing else.

        Raises EngineError for any other statement.
        """
        statement = _parsed(query)
        if isinstance(statement, exp.Block):
            for part in statement.expressions:
                self.run(part, parameters)
            return
        with _errors(query):
            if isinstance(statement, exp.Drop) and _dropped(statement):
                for table in _dropped(statement):
                    self.connection.catalog.dropTempView(table.name)
            elif isinstance(statement, exp.Create) and _is_temporary(statement):
                # Kept as rows: a view alone would ask its query anew, of tables that may have changed.
                checkpoint = self._frame(statement.expression, parameters).localCheckpoint()
                checkpoint.createTempView(exp.to_identifier(statement.this.name, quoted=True).sql(dialect="spark"))
            else:
                raise _cannot(f"run {type(statement).__name__}", "it answers queries and makes temporary tables")

    def columns(self, query: Query) -> list[Column]:
        """The names and types of a query's columns, types as DuckDB calls them.

        Raises EngineError for a type that DuckDB has no like of.
        """
        with _errors(query):
            fields = self._frame(query, ()).schema.fields
        return [(field.name, _type(field.name, field.dataType)) for field in fields]

    def reads(self, query: str) -> list[Reading]:
        """Raises EngineError: Spark does not say which tables a view reads."""
        raise _cannot("say which tables a query reads", "name the tables")

    def tables_of(self, query: str) -> list[QualifiedName]:
        """Raises EngineError: Spark does not say which tables a view reads."""
        raise _cannot("say which tables a query reads", "name the tables")

    def in_transaction(self) -> bool:
        """Raises EngineError: Spark has no transactions."""
        raise _cannot("run transactions", "release from DuckDB")

    def transaction(self) -> AbstractContextManager[None]:
        """Raises EngineError: Spark has no transactions."""
        raise _cannot("run transactions", "release from DuckDB")

    def version(self) -> str:
        return "Spark " + str(self.connection.version)

    def _frame(self, query: Query, parameters: Sequence[object]) -> DataFrame:
        tree = _parsed(query)
        if not isinstance(tree, exp.Query):
            raise _cannot(f"run {type(tree).__name__} here", "it answers queries")
        text = spark_sql(tree)
        if self._setting(_ANSI) != "true":
            raise EngineError(f"this Spark session computes without ANSI rules; set {_ANSI} to true")
        if "${" in text and self._setting(_SUBSTITUTION) != "false":
            raise EngineError(f"a name or text holds ${{, which Spark would replace; set {_SUBSTITUTION} to false")
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
    """The tables of DROP TABLE IF EXISTS, or views; empty where it could be about something else."""
    tables: list[exp.Table] = statement.args.get("tables") or [statement.this]
    certain = statement.args.get("exists") and statement.kind in ("TABLE", "VIEW")
    return tables if certain and all(isinstance(table, exp.Table) and not table.db for table in tables) else []


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return {name: _plain(part) for name, part in zip(value.__fields__, value, strict=True)}
    return value


def _type(name: str, kind: DataType) -> str:
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    text = kind.simpleString()
    if text not in _TYPES:
        raise EngineError(f"the column {name} has the Spark type {text}, which sqlanon does not read")
    return _TYPES[text]


def _cannot(what: str, hint: str, query: str | None = None) -> EngineError:
    return EngineError(f"Spark does not {what}", hint=hint, query=query)


@contextmanager
def _errors(query: Query) -> Iterator[None]:
    """Errors of Spark's as ours, and none of them in the log."""
    with ExitStack() as stack:
        for logger in map(PySparkLogger.getLogger, _LOGGERS):
            stack.callback(setattr, logger, "disabled", logger.disabled)
            logger.disabled = True
        try:
            yield
        except (PySparkException, Py4JError) as error:
            raise _translated(error, query) from None


def _translated(error: Exception, query: Query | None = None) -> SqlanonError:
    """The error without the values that its message may quote: only what speaks of names is passed on."""
    text = query if isinstance(query, str) or query is None else to_sql(query.copy())
    condition = (error.getCondition() if isinstance(error, PySparkException) else None) or type(error).__name__
    if isinstance(error, AnalysisException):
        return EngineError(f"Spark {str(error).strip().splitlines()[0]}", query=text)
    return EngineError(f"Spark {condition}: the message may hold values and is withheld", query=text)
