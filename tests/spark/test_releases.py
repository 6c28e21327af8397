"""A release made through Spark has the levels, the rows and the figures of the same release made in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest

from sqlanon import Connection, connect
from sqlanon.engines.spark import SparkEngine
from tests.support.spark_releases import CASES, COLUMNS, HIERARCHIES, TABLES, Case, released_alike

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def connections(
    spark: SparkEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Connection, Connection]]:
    """The same source, as a table of DuckDB's and as a view of Spark's."""
    session = spark.connection
    folder = tmp_path_factory.mktemp("releases")
    ours, theirs = connect(), connect(engine="spark", session=session, releases=folder)
    for name, rows in TABLES.items():
        ours.duckdb.register("given", rows)
        ours.duckdb.execute(f"CREATE TABLE {name} AS FROM given")
        session.createDataFrame(rows).coalesce(1).createOrReplaceTempView(name)
    for connection in (ours, theirs):
        connection.execute(HIERARCHIES)
    yield ours, theirs
    for name in TABLES:
        session.catalog.dropTempView(name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_release_is_the_same(case: Case, connections: tuple[Connection, Connection], spark: SparkEngine) -> None:
    released_alike(case, connections, spark)


@pytest.mark.parametrize(
    ("seed", "asked"),
    [
        (7, "t_closeness(t => 0.25)"),
        (3, "beta_likeness(beta => 1), l_diversity(l => 3, on => (school))"),
        (1, "delta_disclosure(delta => 1.5)"),
    ],
)
def test_rounds(seed: int, asked: str, connections: tuple[Connection, Connection], spark: SparkEngine) -> None:
    """Random rows of few values: three rounds, four, and two, which withhold a half and more of them."""
    random = Random(seed)
    picked = {name: random.sample(COLUMNS[name][1], 3) for name in ("age", "school", "disease")}
    columns = {
        name: pa.array(random.choices([*values, None], weights=[5, 3, 2, 1], k=60), COLUMNS[name][0])
        for name, values in picked.items()
    }
    rows = pa.table({**columns, "who": pa.array(random.choices(range(40), k=60), pa.int64())})
    connections[0].duckdb.register("given", rows)
    connections[0].duckdb.execute("CREATE OR REPLACE TABLE small AS FROM given")
    spark.connection.createDataFrame(rows).coalesce(1).createOrReplaceTempView("small")
    policy = f"""ON small (who ENTITY, age QUASI IDENTIFIER USING ages MAX LEVEL 2,
        school QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE) REQUIRE {asked}, k_anonymity(k => 2)"""
    case = Case(f"rounds {seed}", policy, "generalization(suppression => 0.9)")
    assert 0 < released_alike(case, connections, spark) <= 31
