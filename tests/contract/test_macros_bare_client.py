"""A file that sqlanon made, opened by a client that has never heard of it: releases and macros work there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.catalog import migrations
from sqlanon.clients.terminal.cli import app
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.sql.questions.load import load_question, model_names, question_names
from tests.support.models.macros import (
    TABLE,
    answers,
    call,
    fitting,
    name,
    some_arguments,
    source,
    stored_hierarchy,
    text,
)
from tests.support.models.relations import of_numbers

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
CREATE POLICY wards ON (SELECT age, zip, i % 7 AS "il'l", i % 2 AS ward FROM (SELECT *, "o'd""d" AS i FROM t))
    (age QUASI IDENTIFIER, zip QUASI IDENTIFIER, ward QUASI IDENTIFIER, "il'l" SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE sliced AS POLICY wards METHOD slicing(l => 2, grouping => 'random', bucket_size => 10)
    COLUMNS (age, ward), (zip), ("il'l");
CREATE ANONYMIZED TABLE "my s"."over'lap" AS POLICY wards METHOD slicing(l => 2)
    COLUMNS (age, zip), (zip, ward), ("il'l");
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


# The macro that is about no model.
JOINED = "joined_buckets"
# A table with names that want to be anything but names.
PATIENTS = 'main."p$$a\'t;{{i}}ents"'


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bare") / "hospital.duckdb"
    with sqlanon.connect(path) as connection:
        connection.sql(SETUP)
        for statement in (f"CREATE TABLE {PATIENTS} AS {source(TABLE)}", *stored_hierarchy(TABLE)):
            connection.duckdb.execute(statement)
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


def client(database: Path, queries: list[str]) -> list[Any]:
    """What a process that never loads sqlanon answers."""
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(database)],
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        check=True,
    )
    *answered, loaded = [json.loads(line) for line in done.stdout.splitlines()]
    assert loaded == []
    return answered


def calls(relation: str, database: str | None = None) -> dict[str, str]:
    """A call for each of the models' files."""
    questions = [*map(load_question, question_names())]
    tables = {q.name: None if of_numbers(q.name) else relation for q in questions}
    return {q.name: call(q, some_arguments(q).items(), fitting(q, TABLE), tables[q.name], database) for q in questions}


def assert_right(question: str, rows: Any) -> None:
    expected = answers(load_question(question), import_module(f"tests.oracles.models.{question}"))
    assert [tuple(row) for row in rows] == [pytest.approx(expected)], question
    assert expected[-1] > 0, f"{question} is not violated, which shows little"


def test_a_process_without_sqlanon_asks_every_model(database: Path) -> None:
    asked = calls(PATIENTS)
    assert {load_question(question).model for question in asked} == set(model_names())
    for question, (kind, rows) in zip(asked, client(database, list(asked.values())), strict=True):
        assert kind == "rows", rows
        assert_right(question, rows)


@pytest.mark.long
def test_every_model_is_asked_from_an_attached_library(database: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {text(str(database))} AS {name('li b')} (READ_ONLY)")
        connection.execute(f"CREATE TABLE mine AS FROM {name('li b')}.{PATIENTS}")
        for relation in ("mine", f"{name('li b')}.{PATIENTS}"):
            for question, query in calls(relation, "li b").items():
                assert_right(question, connection.execute(query).fetchall())
        connection.execute(f"USE {name('li b')}")
        for question, query in calls(PATIENTS).items():
            assert_right(question, connection.execute(query).fetchall())


def test_a_view_over_a_macro_answers_for_the_rows_of_the_moment(database: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database}' AS lib (READ_ONLY)")
        connection.execute("CREATE TABLE mine AS SELECT i % 2 AS q, i % 3 AS s FROM range(12) AS r(i)")
        connection.execute("CREATE VIEW report AS FROM lib.anon.t_closeness('mine', ['q'], 's', t => 0.1)")
        assert connection.execute("FROM report").fetchall() == [(0, 2, 12, 0.1, True, 0)]
        connection.execute("UPDATE mine SET s = 9 WHERE q = 1")
        assert connection.execute("FROM report").fetchall() == [(0.5, 2, 12, 0.1, False, 2)]
        described = connection.execute("DESCRIBE report").fetchall()
        assert [column[:2] for column in described] == [
            ("achieved", "DOUBLE"),
            ("classes", "BIGINT"),
            ("rows", "BIGINT"),
            ("required", "DOUBLE"),
            ("satisfied", "BOOLEAN"),
            ("violations", "BIGINT"),
        ]


def test_a_migrated_catalog_has_the_macros_of_today(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with duckdb.connect(str(path)) as connection:
        migrations.install(DuckDBEngine(connection))
        connection.execute("CREATE MACRO anon.k_anonymity(relation, columns) AS TABLE SELECT 'old' AS achieved")
    done = CliRunner().invoke(app, ["migrate", str(path)])
    assert done.exit_code == 0, done.output
    with duckdb.connect(str(path), read_only=True) as connection:
        assert macros(connection) == {*model_names(), JOINED}
        found = connection.execute("FROM anon.k_anonymity('(SELECT 1 AS a)', ['a'], k => 2)").fetchall()
        assert found == [(1, 1, 1, 2.0, False, 1)]


def macros(connection: Any) -> set[str]:
    listed = "SELECT function_name FROM duckdb_functions() WHERE schema_name = 'anon' AND function_type = 'table_macro'"
    return {found for (found,) in connection.execute(listed).fetchall()}


def test_a_catalog_has_a_macro_for_every_model(bare: Any) -> None:
    assert macros(bare) == {*model_names(), JOINED}


def test_a_process_without_sqlanon_reads_releases_and_macros(database: Path, bare: Any) -> None:
    queries = [
        "FROM anon.k_anonymity('t', ['age', 'zip'])",
        "SELECT count(*)::INT FROM live",
        "SELECT count(*)::INT FROM released",
        "FROM anon.k_anonymity('live', ['age', 'zip'])",
        "FROM anon.k_anonymity('t', ['age', 'zpi'])",
    ]
    (figures, live, released, of_live, misspelt) = client(database, queries)
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


SLICES = ["sliced_1", "sliced_2", "sliced_3"]


def joined(connection: Any, relations: list[str], seed: object = 42) -> list[tuple[Any, ...]]:
    query = "FROM anon.joined_buckets(?, seed => ?)"
    return list(connection.execute(query, [relations, seed]).fetchall())


def in_sets(connection: Any, query: str) -> Counter[tuple[Any, ...]]:
    return Counter(connection.execute(query).fetchall())


def test_columns_of_a_bucket_are_joined_row_by_row(bare: Any) -> None:
    """Each row of a table is in one row of the joined one, with rows of its bucket; nothing else is."""
    rows = joined(bare, SLICES)
    assert len(rows) == 50
    for table, columns in (("sliced_1", slice(1, 3)), ("sliced_2", slice(3, 4)), ("sliced_3", slice(4, 5))):
        assert Counter((row[0], *row[columns]) for row in rows) == in_sets(bare, f"FROM {table}")
    described = bare.execute("DESCRIBE FROM anon.joined_buckets(?)", [SLICES]).fetchall()
    assert [name for name, *_ in described] == ["bucket", "age", "ward", "zip", "il'l"]


def test_a_seed_joins_again_as_before_and_another_joins_in_another_way(bare: Any) -> None:
    once = Counter(joined(bare, SLICES, 42))
    assert Counter(joined(bare, SLICES, 42)) == once
    others = [Counter(joined(bare, SLICES, seed)) for seed in (0, -1, 43, 2**40)]
    assert all(other != once for other in others)
    assert in_sets(bare, "FROM anon.joined_buckets(['sliced_1', 'sliced_2', 'sliced_3'])") == Counter(
        joined(bare, SLICES, 1)
    )


@pytest.mark.long
def test_each_pair_of_a_bucket_is_joined_as_often(bare: Any) -> None:
    """Over many seeds: two tables of one bucket with four rows each, so a pair comes in a quarter of the joins."""
    left = "(SELECT 1 AS bucket, i AS a FROM range(4) AS r(i))"
    right = "(SELECT 1 AS bucket, i AS b FROM range(4) AS r(i))"
    counted = Counter((a, b) for seed in range(400) for _, a, b in joined(bare, [left, right], seed))
    assert len(counted) == 16
    # 100 of each in the mean, with a standard deviation below 9.
    assert all(60 < number < 140 for number in counted.values()), counted


def test_queries_schemas_and_columns_of_one_name_are_joined(bare: Any) -> None:
    names = [f'"my s"."over\'lap_{number}"' for number in (1, 2, 3)]
    described = bare.execute("DESCRIBE FROM anon.joined_buckets(?)", [names]).fetchall()
    assert [name for name, *_ in described] == ["bucket", "age", "zip", "zip_1", "ward", "il'l"]
    rows = joined(bare, names)
    assert Counter((row[0], row[1], row[2]) for row in rows) == in_sets(bare, f"FROM {names[0]}")
    assert Counter((row[0], row[3], row[4]) for row in rows) == in_sets(bare, f"FROM {names[1]}")
    few = joined(bare, ["(SELECT * FROM sliced_1 WHERE bucket = 1)", "  (FROM sliced_2)"])
    assert few
    assert {row[0] for row in few} == {1}


def test_a_process_without_sqlanon_joins_buckets(database: Path) -> None:
    query = "SELECT count(*)::INT FROM anon.joined_buckets(['sliced_1', 'sliced_3'], seed => 7)"
    assert client(database, [query]) == [["rows", [[50]]]]
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {text(str(database))} AS lib (READ_ONLY)")
        query = "SELECT count(*)::INT FROM lib.anon.joined_buckets(['lib.sliced_1', 'lib.sliced_3'])"
        assert connection.execute(query).fetchall() == [(50,)]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("[]", "name the tables"),
        ("NULL", "name the tables"),
        ("['sliced_1', NULL]", "name the tables"),
        ("['sliced_1', 'nowhere']", "nowhere"),
        ("['sliced_1', 't']", "bucket"),
        ("['sliced_1; DROP TABLE t']", "DROP TABLE t"),
        ("['sliced_1'], seed => NULL", "seed must be a whole number"),
        ("['sliced_1'], seed => 1.5", "seed must be a whole number"),
        ("['sliced_1'], seed => 'x'", "seed must be a whole number"),
        ("['sliced_1'], seed => '1); DROP TABLE t; --'", "seed must be a whole number"),
        ("'sliced_1'", "needs to be List"),
    ],
)
def test_what_cannot_be_joined_is_refused(bare: Any, arguments: str, why: str) -> None:
    with pytest.raises(duckdb.Error, match=why):
        bare.execute(f"FROM anon.joined_buckets({arguments})").fetchall()
    assert bare.execute("SELECT count(*) FROM t").fetchall() == [(50,)]
