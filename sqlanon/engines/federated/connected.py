"""The engine of a connection whose rows are on Spark."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.federated.engine import SUMMARY_ROWS, FederatedEngine
from sqlanon.engines.spark import SparkEngine, local_session
from sqlanon.engines.spark_errors import spark_errors
from sqlanon.errors import UserError


def federated(
    session: SparkSession | None, releases: str | None, summary_rows: int | None
) -> Callable[[DuckDBEngine], Engine]:
    """What makes the engine of a connection, and of its cursors: with a session, or one of this process.

    Raises UserError for a bound that is no number of rows, and for a session of Spark Connect, of another collation or
    that computes a task twice.
    """
    bound = SUMMARY_ROWS if summary_rows is None else summary_rows
    if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
        raise UserError(f"summary_rows is {bound!r}, and is to be a number of rows, 1 or more")
    used = session or local_session()
    if not hasattr(used, "_jvm"):
        raise UserError(
            "this is a session of Spark Connect, which cannot rename the files of a release",
            hint="use a session of SparkSession.builder.master(...), or leave session out",
        )
    _require_binary_text(used)
    if used.sparkContext.getConf().get("spark.speculation", "false") == "true":
        raise UserError(
            "this Spark session computes a task that is slow a second time, and rows would be drawn twice",
            hint="use a session whose spark.speculation is false",
        )
    return lambda local: FederatedEngine(local, SparkEngine(used, local.observe), releases, bound)


def _require_binary_text(session: SparkSession) -> None:
    """Raises UserError in a session that compares text otherwise than by its bytes: classes would look larger."""
    with spark_errors():
        (collation,) = session.sql("SELECT collation('a')").collect()[0]
    if not str(collation).endswith("UTF8_BINARY"):
        raise UserError(
            f"this Spark session compares text by the collation {collation}: classes would look larger than they are",
            hint="use a session whose default collation is UTF8_BINARY",
        )
