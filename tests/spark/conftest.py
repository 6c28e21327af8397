"""One Spark session and one DuckDB connection for all tests of this folder: starting Spark is what takes long."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.spark import SparkEngine, local_session

# Tables here are small, so that most of the time would go into splitting them and into compiling Spark.
SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.default.parallelism": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkEngine]:
    session = local_session(config=SMALL)
    yield SparkEngine(session)
    session.stop()


@pytest.fixture(scope="session")
def duck() -> Iterator[DuckDBEngine]:
    connection = open_database(":memory:", config={"threads": "1"})
    yield DuckDBEngine(connection)
    connection.close()
