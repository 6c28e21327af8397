"""A file that sqlanon made, opened by a client that has never heard of it: releases and macros work there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon

SETUP = """
CREATE TABLE t AS
SELECT i % 4 AS age, CASE WHEN i % 3 = 0 THEN NULL ELSE 'z' || (i % 2) END AS zip, i AS "o'd""d",
       (i % 5)::DOUBLE / 3 AS score
FROM range(50) AS r(i);
CREATE VIEW older AS SELECT * FROM t WHERE age > 1;
CREATE SCHEMA "my s";
CREATE TABLE "my s"."we.ird ""t"" 'q'" AS FROM t;
CREATE HIERARCHY pz AS PREFIXES (1);
CREATE POLICY p ON t (age QUASI IDENTIFIER, zip QUASI IDENTIFIER USING pz) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization;
CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization;
"""
# Reads queries, answers rows or the error, and says at the end which of our modules were loaded.
CLIENT = """
import json, sys
import duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
for query in json.load(sys.stdin):
    try:
        answer = ["rows", connection.execute(query).fetchall()]
    except duckdb.Error as error:
        answer = [type(error).__name__, str(error)]
    print(json.dumps(answer))
print(json.dumps([name for name in sys.modules if name.startswith(("sqlanon", "sqlglot"))]))
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bare") / "hospital.duckdb"
    with sqlanon.connect(path) as connection:
        connection.sql(SETUP)
    return path


@pytest.fixture(scope="module")
def bare(database: Path) -> Any:
    """A plain connection, as any other language's driver opens it."""
    with duckdb.connect(str(database), read_only=True) as connection:
        yield connection


def classes(connection: Any, relation: str, *columns: str) -> tuple[int, int, int]:
    """The smallest class, the classes and the rows, counted in Python."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    sizes = Counter(connection.execute(f"SELECT {names} FROM {relation}").fetchall())
    return min(sizes.values()), len(sizes), sum(sizes.values())


def test_a_process_without_sqlanon_reads_releases_and_macros(database: Path, bare: Any) -> None:
    queries = [
        "FROM anon.k_anonymity('t', ['age', 'zip'])",
        "SELECT count(*)::INT FROM live",
        "SELECT count(*)::INT FROM released",
        "FROM anon.k_anonymity('live', ['age', 'zip'])",
        "FROM anon.k_anonymity('t', ['age', 'zpi'])",
    ]
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(database)],
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        check=True,
    )
    *answers, loaded = [json.loads(line) for line in done.stdout.splitlines()]
    assert loaded == []
    (figures, live, released, of_live, misspelt) = answers
    assert figures == ["rows", [list(classes(bare, "t", "age", "zip"))]]
    assert live == released == ["rows", [[50]]]
    assert of_live == ["rows", [list(classes(bare, "released", "age", "zip"))]]
    assert misspelt[0] == "BinderException"
    assert 'does not have a column named "zpi"' in misspelt[1]


@pytest.mark.parametrize(
    ("relation", "columns"),
    [
        ("t", ["age"]),
        ("t", ["zip"]),
        ("t", ["age", "zip"]),
        ("t", ["AGE", "Zip"]),
        ("t", ["score"]),
        ("t", ["o'd\"d"]),
        ("main.t", ["age"]),
        ('"t"', ["age"]),
        ("older", ["age", "zip"]),
        ("live", ["age", "zip"]),
        ("released", ["zip"]),
        ('"my s"."we.ird ""t"" \'q\'"', ["age", "o'd\"d"]),
        ("(SELECT * FROM t WHERE age > 2)", ["age", "zip"]),
        ("  (SELECT age AS x FROM t)", ["x"]),
    ],
)
def test_figures_agree_with_a_count_in_python(bare: Any, relation: str, columns: list[str]) -> None:
    found = bare.execute("FROM anon.k_anonymity(?, ?)", [relation, columns]).fetchall()
    assert found == [classes(bare, relation, *columns)]


def test_a_relation_without_rows_reaches_nothing(bare: Any) -> None:
    found = bare.execute("FROM anon.k_anonymity('(SELECT * FROM t WHERE false)', ['age'])").fetchall()
    assert found == [(None, 0, None)]


@pytest.mark.parametrize(
    "arguments",
    [
        "'t', ['aeg']",
        "'t', ['age', 'aeg']",
        "'t', ['age.zip']",
        "'t', ['1']",
        "'t', ['*']",
        "'t', ['t']",
        "'t', ['']",
        "'t', ['age\"']",
        "'t', ['age\"; DROP TABLE t; --']",
        "'t', []",
        "'t', NULL",
        "'t', [NULL]",
        "'t', 'age'",
        "NULL, ['age']",
        "'', ['age']",
        "'nowhere', ['age']",
        "'t; DROP TABLE t', ['age']",
        "'(SELECT * FROM t) AS x; DROP TABLE t; --', ['age']",
        "'(DELETE FROM t RETURNING *)', ['age']",
    ],
)
def test_what_is_no_relation_or_no_column_is_refused(bare: Any, arguments: str) -> None:
    with pytest.raises(duckdb.Error):
        bare.execute(f"FROM anon.k_anonymity({arguments})").fetchall()


def test_a_column_that_is_null_is_refused(bare: Any) -> None:
    """Leaving it out would answer for fewer columns, with a larger k than the table has."""
    with pytest.raises(duckdb.Error):
        bare.execute("FROM anon.k_anonymity('t', ['age', NULL])").fetchall()


def test_a_macro_works_from_an_attached_library(database: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database}' AS lib (READ_ONLY)")
        connection.execute("CREATE TABLE mine AS SELECT i % 6 AS q FROM range(40) AS r(i)")
        assert connection.execute("FROM lib.anon.k_anonymity('mine', ['q'])").fetchall() == [
            classes(connection, "mine", "q")
        ]
        connection.execute("CREATE VIEW report AS FROM lib.anon.k_anonymity('mine', ['q'])")
        connection.execute("INSERT INTO mine VALUES (99)")
        assert connection.execute("FROM report").fetchall() == [(1, 7, 41)]
        assert connection.execute("FROM lib.anon.k_anonymity('lib.live', ['zip'])").fetchall() == [
            classes(connection, "lib.released", "zip")
        ]
