"""A search over cells that are too many to go to DuckDB goes on on Spark, and finds the same release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp

from sqlanon import Connection, connect
from sqlanon.engines.base import TooManyRows
from sqlanon.engines.spark import SparkEngine
from sqlanon.engines.temp_tables import TempTables
from tests.support.spark_releases import CASES, HIERARCHIES, TABLES, Case, released_alike

pytestmark = pytest.mark.spark

BY_LABEL = {case.label: case for case in CASES}
AVERAGE = """ON source (age QUASI IDENTIFIER USING ages, "zip ""4`" QUASI IDENTIFIER USING prefix, disease SENSITIVE)
    REQUIRE k_anonymity(k => 3), l_diversity(l => 2)"""

# What every class satisfies by itself, so that nothing is to be settled.
CLOSE = """ON source (who ENTITY, age QUASI IDENTIFIER USING ages, disease SENSITIVE)
    REQUIRE t_closeness(t => 1)"""
MAP = """ON source (age QUASI IDENTIFIER USING ages, school QUASI IDENTIFIER USING schools, disease SENSITIVE,
        income SENSITIVE)
    AGAINST people
    REQUIRE k_map(k => 8), delta_presence(min => 0, max => 0.55), l_diversity(l => 2, attribute => disease)"""


@pytest.fixture(scope="module")
def ours(spark: SparkEngine) -> Iterator[Connection]:
    """The source as tables of DuckDB's; Spark has them as views."""
    with connect() as connection:
        for name, rows in TABLES.items():
            connection.duckdb.register("given", rows)
            connection.duckdb.execute(f"CREATE TABLE {name} AS FROM given")
            spark.connection.createDataFrame(rows).coalesce(1).createOrReplaceTempView(name)
        connection.execute(HIERARCHIES)
        yield connection
    for name in TABLES:
        spark.connection.catalog.dropTempView(name)


@pytest.fixture
def purposes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What relations of rows that stay on Spark are made for."""
    made: list[str] = []
    keep = TempTables.rows

    def rows(self: TempTables, purpose: str, query: exp.Query) -> str:
        made.append(purpose)
        return keep(self, purpose, query)

    monkeypatch.setattr(TempTables, "rows", rows)
    return made


# For each case the most rows that leave Spark: fewer than the cells, and where a guard goes through rounds enough for
# the classes of the levels that are chosen.
@pytest.mark.parametrize(
    ("case", "bound"),
    [
        (BY_LABEL["respondents"]._replace(explained=False), 110),
        (BY_LABEL["guarding nodes"], 150),
        (BY_LABEL["ranges"], 60),
        (BY_LABEL["distances"]._replace(explained=False), 200),
        (Case("classes of any size", AVERAGE, "generalization(suppression => 0.2, loss => 'average_class_size')"), 120),
        (Case("a map", MAP, "generalization(suppression => 0.2)"), 150),
        (Case("levels", AVERAGE, "generalization(suppression => 0.2, loss => 'precision')"), 120),
    ],
    ids=lambda given: given.label if isinstance(given, Case) else "",
)
def test_a_release_is_the_same(
    case: Case, bound: int, ours: Connection, spark: SparkEngine, tmp_path: Path, purposes: list[str]
) -> None:
    case = case._replace(label=case.label + " beyond the bound")
    with connect(engine="spark", session=spark.connection, releases=tmp_path, summary_rows=bound) as theirs:
        theirs.execute(HIERARCHIES)
        released_alike(case, (ours, theirs), spark)
    assert "cells" in purposes


@pytest.mark.parametrize(
    ("policy", "method", "message"),
    [
        (BY_LABEL["distances"].policy, "generalization(suppression => 0.6)", "too many rows to be settled in memory"),
        (CLOSE, "generalization(loss => 'height')", "too many rows to be judged in memory"),
        (BY_LABEL["respondents"].policy, "generalization(loss => 'non_uniform_entropy')", "combinations of values"),
        (BY_LABEL["respondents"].policy, "mondrian", "combinations of values: .* more than 110 rows"),
    ],
    ids=["settled in rounds", "judged in rounds", "rounded", "cut"],
)
def test_what_is_searched_in_memory_alone_is_refused(
    policy: str, method: str, message: str, ours: Connection, spark: SparkEngine, tmp_path: Path
) -> None:
    with connect(engine="spark", session=spark.connection, releases=tmp_path, summary_rows=110) as theirs:
        theirs.execute(HIERARCHIES)
        theirs.execute(f"CREATE POLICY asked {policy}")
        with pytest.raises(TooManyRows, match=message) as raised:
            theirs.execute(f"CREATE ANONYMIZED TABLE r AS POLICY asked METHOD {method}")
        assert "summary_rows" in str(raised.value.hint)
        assert theirs.duckdb.execute("SELECT * FROM anon.release").fetchall() == []
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_column_of_too_many_values_is_named(ours: Connection, spark: SparkEngine, tmp_path: Path) -> None:
    with connect(engine="spark", session=spark.connection, releases=tmp_path, summary_rows=11) as theirs:
        theirs.execute(HIERARCHIES)
        policy = "(alive QUASI IDENTIFIER, age QUASI IDENTIFIER USING ages MIN LEVEL 1) REQUIRE k_anonymity(k => 2)"
        theirs.execute(f"CREATE POLICY asked ON source {policy}")
        with pytest.raises(
            TooManyRows, match=r"age has too many values to be numbered: .* more than 11 rows"
        ) as raised:
            theirs.execute("CREATE ANONYMIZED TABLE r AS POLICY asked METHOD generalization")
        assert "in a view that is the source" in str(raised.value.hint)
