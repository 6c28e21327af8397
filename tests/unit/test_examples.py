"""The scripts that ship with sqlanon: hierarchies that cover Adult, statements that parse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon import assets
from sqlanon.clients.session import connect
from sqlanon.clients.terminal.demo import load_adult
from sqlanon.statements.base import PassThrough
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy

HIERARCHIES = {
    statement.definition.name: statement.definition
    for statement in parse_script(assets.read("sql", "examples", "adult_hierarchies.sql"))
    if isinstance(statement, CreateHierarchy)
}
COLUMNS = ["workclass", "education", "marital_status", "occupation", "race", "sex", "native_country", "salary_class"]


@pytest.fixture(scope="module")
def adult(adult_cache: Path) -> Any:
    with duckdb.connect() as connection, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLANON_CACHE", str(adult_cache))
        load_adult(connection)
        yield connection


def test_there_is_a_hierarchy_for_each_column() -> None:
    assert set(HIERARCHIES) == {"adult_age", *(f"adult_{column}" for column in COLUMNS)}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_hierarchy_lists_exactly_the_values_that_occur(adult: Any, column: str) -> None:
    listed = [row[0] for row in adult.execute(HIERARCHIES[f"adult_{column}"].query).fetchall()]
    occurring = adult.execute(f"SELECT DISTINCT {column} FROM adult WHERE {column} IS NOT NULL").fetchall()
    assert sorted(listed) == sorted(value for (value,) in occurring)
    if column == "native_country":
        assert len(listed) == 41


@pytest.mark.parametrize("column", COLUMNS)
def test_each_level_contains_the_one_before(adult: Any, column: str) -> None:
    rows = adult.execute(HIERARCHIES[f"adult_{column}"].query).fetchall()
    for finer, coarser in zip(range(len(rows[0]) - 1), range(1, len(rows[0])), strict=True):
        parents: dict[str, set[str]] = {}
        for row in rows:
            parents.setdefault(row[finer], set()).add(row[coarser])
        assert all(len(found) == 1 for found in parents.values())


@pytest.mark.parametrize("column", ["education", "occupation", "native_country", "workclass"])
def test_the_long_domains_have_two_or_three_levels_that_coarsen(adult: Any, column: str) -> None:
    rows = adult.execute(HIERARCHIES[f"adult_{column}"].query).fetchall()
    sizes = [len({row[level] for row in rows}) for level in range(len(rows[0]))]
    assert len(sizes) in (3, 4)
    assert sizes == sorted(set(sizes), reverse=True)


@pytest.mark.parametrize("script", assets.listing("sql", "examples"))
def test_only_plain_sql_is_left_to_duckdb(script: str) -> None:
    """A misspelt statement of ours would be taken for DuckDB's."""
    for statement in parse_script(assets.read("sql", "examples", script)):
        if isinstance(statement, PassThrough):
            assert statement.text.startswith(("CREATE OR REPLACE TABLE", "SELECT", "COPY"))


@pytest.mark.parametrize("script", ["adult.sql", "hospital.sql"])
def test_the_examples_can_be_run_twice(script: str) -> None:
    for statement in parse_script(assets.read("sql", "examples", script)):
        if isinstance(statement, CreateHierarchy | CreatePolicy):
            assert statement.or_replace


@pytest.mark.long
def test_the_hospital_is_4_anonymous_and_3_diverse_without_one_row() -> None:
    """The classes by year, sex and three digits that the worked example prints."""
    with connect() as connection:
        connection.script(assets.read("sql", "examples", "hospital.sql"))
        classes = connection.execute(
            "SELECT dob, sex, zip, count(*), count(DISTINCT disease) FROM hospital_release GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        share = connection.execute(
            "SELECT avg((disease = 'H1N1')::INTEGER) FROM hospital_release GROUP BY dob, sex ORDER BY 1 DESC LIMIT 1"
        ).fetchall()
    assert classes == [(year, sex, "941**", 4, 3) for year in ("1940", "1950") for sex in ("F", "M")]
    assert share == [(0.5,)]
