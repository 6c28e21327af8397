"""A test module stands on its own: what it shares with others lies in `tests/support`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, connect
from tests.support.database import ONE_THREAD, rows, template

TESTS = Path(__file__).resolve().parents[1]
# Folders of modules that hold no tests. The golden files have a command of their own, `python -m tests.golden`.
SHARED = ("tests.golden", "tests.oracles", "tests.support")


# An import statement, wherever in a file; to parse the statements alone takes a tenth of the time of the files.
IMPORT = re.compile(r"^ *((?:from \S+ import (?:\([^)]*\)|[^(\n]*)|import [^\n]*))$", re.MULTILINE)


def imported(text: str) -> Iterator[str]:
    """The modules that a module names in its imports, and each name that it takes from one."""
    for node in ast.walk(ast.parse("\n".join(IMPORT.findall(text)))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def is_shared(name: str) -> bool:
    return name.startswith(tuple(f"{folder}." for folder in SHARED)) and ".test_" not in name


def test_nothing_is_imported_from_a_test_module() -> None:
    found = {
        (path.relative_to(TESTS).as_posix(), name)
        for path in TESTS.rglob("*.py")
        for name in imported(path.read_text(encoding="utf-8"))
        if name.startswith("tests.") and not is_shared(name)
    }
    assert found == set()


def test_only_the_shared_folders_hold_modules_without_tests() -> None:
    folders = [TESTS / name.partition(".")[2] for name in SHARED]
    beside = [
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if not path.name.startswith("test_")
        and path.name != "conftest.py"
        and not any(f in path.parents for f in folders)
    ]
    assert beside == []


def test_the_search_would_find_such_an_import() -> None:
    text = (
        "from tests.unit import test_docs\nfrom tests.unit.test_docs import (\n    Reading,\n    Words,\n)\n"
        "if True:\n    import tests.unit.test_docs"
    )
    found = list(imported(text))
    assert found == [
        "tests.unit.test_docs",
        "tests.unit.test_docs.Reading",
        "tests.unit.test_docs.Words",
        "tests.unit.test_docs",
    ]
    assert not any(map(is_shared, found))


# All that DuckDB lists of a database, but for the numbers by which it knows the entries.
LISTED = (
    "SELECT table_name, column_name, data_type, column_default, is_nullable, comment FROM duckdb_columns()",
    "SELECT table_name, constraint_text FROM duckdb_constraints()",
    "SELECT function_name, parameters, macro_definition, comment FROM duckdb_functions()",
    "SELECT table_name, index_name, sql FROM duckdb_indexes()",
    "SELECT sequence_name, last_value, sql FROM duckdb_sequences()",
    "SELECT schema_name, comment FROM duckdb_schemas()",
    "SELECT schema_name, table_name, estimated_size, sql, comment FROM duckdb_tables()",
    "SELECT type_name, labels FROM duckdb_types() WHERE NOT internal",
    "SELECT view_name, sql, comment FROM duckdb_views()",
)
# A catalog of sqlanon's, and what DuckDB has beside: a view, an index, a comment, an ENUM, a sequence.
SETUP = """
CREATE TABLE "the ""house" AS SELECT i % 6 AS "é age", 'd' || i AS "it's" FROM range(24) AS t(i);
CREATE VIEW seen AS FROM "the ""house" WHERE "é age" > 2;
CREATE HIERARCHY listed AS LEVELS (SELECT DISTINCT "it's", left("it's", 1) AS first FROM "the ""house");
CREATE POLICY p ON "the ""house" ("é age" QUASI IDENTIFIER, "it's" SENSITIVE USING listed)
    REQUIRE k_anonymity(k => 2);
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE SEQUENCE turns START 5;
CREATE TABLE people (turn BIGINT PRIMARY KEY DEFAULT nextval('turns'), mood mood);
INSERT INTO people (mood) VALUES ('sad'), ('glad');
CREATE INDEX by_mood ON people (mood);
COMMENT ON TABLE people IS 'who';
COMMENT ON COLUMN people.mood IS 'how';
"""


def database_of(con: Connection) -> dict[str, list[Any]]:
    """The lists that DuckDB makes of a database, and the rows of its tables, by query."""
    [*tables] = rows(con, "SELECT schema_name, table_name FROM duckdb_tables()")
    queries = (*LISTED, *(f'FROM "{schema}"."{table.replace(chr(34), chr(34) * 2)}"' for schema, table in tables))
    return {query: sorted(map(str, rows(con, query))) for query in queries}


@pytest.mark.long
def test_a_template_is_the_database_that_the_script_makes() -> None:
    with connect(config=ONE_THREAD) as made, template(SETUP) as copy:
        made.execute(SETUP)
        expected, found = database_of(made), database_of(copy)
    # Rows of the catalog have timestamps.
    assert [query for query in expected if expected[query] != found.get(query) and '"anon"' not in query] == []
    assert {query: len(listed) for query, listed in expected.items()} == {
        query: len(listed) for query, listed in found.items()
    }


def test_each_copy_of_a_template_is_a_database_of_its_own() -> None:
    ran = []

    def setup(con: Connection) -> None:
        ran.append(con.execute("CREATE TABLE t AS SELECT 1 AS a"))

    with template(setup) as one, template(setup) as other:
        one.execute("INSERT INTO t VALUES (2)")
        one.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
        assert rows(one, "FROM t") == [(1,), (2,)]
        assert rows(other, "FROM t") == [(1,)]
        assert rows(other, "SELECT schema_name FROM duckdb_schemas() WHERE schema_name = 'anon'") == []
    with template(setup) as later:
        assert rows(later, "FROM t") == [(1,)]
        assert rows(later, "SELECT database_name FROM duckdb_databases() WHERE NOT internal") == [("memory",)]
    assert len(ran) == 1
