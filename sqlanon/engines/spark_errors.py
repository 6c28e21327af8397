"""What Spark says of an error, without the values that it may quote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.logger import PySparkLogger

from sqlanon.engines.base import Query
from sqlanon.errors import WITHHELD, EngineError, SqlanonError
from sqlanon.sql.build.render import to_sql

# Where PySpark writes each error that it raises, message and all, to the standard error stream.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextmanager
def spark_errors(query: Query | None = None) -> Iterator[None]:
    """Inside the block Spark's errors are raised as EngineError, without values, and none of them is logged."""
    with ExitStack() as stack:
        for logger in map(PySparkLogger.getLogger, _LOGGERS):
            stack.callback(setattr, logger, "disabled", logger.disabled)
            logger.disabled = True
        try:
            yield
        except (PySparkException, Py4JError, pa.ArrowException) as error:
            raise translated(error, query) from None


def translated(error: Exception, query: Query | None = None) -> SqlanonError:
    """The error without the values that its message may quote: only what speaks of names is passed on."""
    text = query if isinstance(query, str) or query is None else to_sql(query.copy())
    condition = (error.getCondition() if isinstance(error, PySparkException) else None) or type(error).__name__
    if isinstance(error, AnalysisException):
        return EngineError(f"Spark {str(error).strip().splitlines()[0]}", query=text)
    return EngineError(f"Spark {condition}: {WITHHELD}", query=text)
