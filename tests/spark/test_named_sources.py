"""A source on Spark by each of the names that Spark has for it: a database's table, a catalog's, files of a format."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from sqlanon import UserError, connect
from sqlanon.engines.spark import SparkEngine

pytestmark = pytest.mark.spark

PEOPLE = pa.table({"age": pa.array([20 + i % 40 for i in range(120)], pa.int32())})
OTHERS = pa.table({"age": pa.array([20 + i % 40 for i in range(80)], pa.int32())})
DATABASE = "select"


@pytest.fixture(scope="module")
def tables(spark: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`people` of a database, another `people` of the session, and files in several formats."""
    session, folder = spark.connection, tmp_path_factory.mktemp("files")
    session.sql(f"CREATE DATABASE `{DATABASE}` LOCATION '{folder / 'database'}'")
    people = session.createDataFrame(PEOPLE).coalesce(1)
    people.write.saveAsTable(f"`{DATABASE}`.people")
    for kind in ("orc", "json", "parquet"):
        people.write.format(kind).save(str(folder / f"people as {kind}"))
    session.createDataFrame(OTHERS).coalesce(1).createOrReplaceTempView("people")
    yield folder
    session.sql(f"DROP DATABASE `{DATABASE}` CASCADE")
    session.catalog.dropTempView("people")
    shutil.rmtree(folder)


def policy(source: str, name: str = "p") -> str:
    return f"CREATE POLICY {name} ON {source} (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 3)"


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ('"{database}".people', 120),
        ('spark_catalog."{database}".people', 120),
        ('orc."{folder}/people as orc"', 120),
        ('json."{folder}/people as json"', 120),
        ('"parquet"."{folder}/people as parquet"', 120),
        ('"{folder}/people as parquet"', 120),
        ("people", 80),
    ],
)
def test_a_source_is_what_spark_has_by_the_name(
    source: str, rows: int, tables: Path, spark: SparkEngine, tmp_path: Path
) -> None:
    catalog = tmp_path / "catalog.duckdb"
    named = source.format(database=DATABASE, folder=tables)
    with connect(catalog, engine="spark", session=spark.connection, releases=tmp_path) as connection:
        connection.execute(policy(named))
        # The session has the plain name for another relation beside it.
        connection.execute(policy("people", "of_people"))
        connection.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        checked = connection.execute(f"CHECK {named} (age)").fetchall()
        assert {("rows", rows), ("k_anonymity", rows // 40)} <= {(row[1], row[4]) for row in checked}
    assert spark.connection.read.parquet(str(tmp_path / "main" / "r")).count() == rows
    with connect(catalog, engine="spark", session=spark.connection, releases=tmp_path) as connection:
        connection.execute("REFRESH ANONYMIZED TABLE r")
    assert spark.connection.read.parquet(str(tmp_path / "main" / "r")).count() == rows


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere.people", "no table or view nowhere.people"),
        (f'"{DATABASE}.people"', "no table or view"),
        (f'"{DATABASE}".nobody', "no table or view"),
        ('orc."/nowhere/people"', "cannot be read as orc: Spark .PATH_NOT_FOUND"),
        ('nonsense."/nowhere/people"', "cannot be read as nonsense"),
        ("'/nowhere/people'", "not a query"),
        ("main.local", "is a table or view in DuckDB"),
        ("attached.local", "is a table or view in DuckDB"),
        ("main.people", "no table or view main.people"),
    ],
)
def test_a_name_that_spark_has_not_is_refused(
    source: str, message: str, tables: Path, spark: SparkEngine, tmp_path: Path
) -> None:
    with connect(engine="spark", session=spark.connection, releases=tmp_path) as connection:
        connection.duckdb.execute("CREATE TABLE local AS SELECT 1 AS age; ATTACH ':memory:' AS attached")
        connection.duckdb.execute("CREATE TABLE attached.local AS SELECT 1 AS age")
        connection.execute(policy("people", "of_people"))
        with pytest.raises(UserError, match=message) as raised:
            connection.execute(policy(source))
        assert raised.value.hint
