"""What a statement costs however few rows there are: what is parsed or asked once, and how many queries that leaves."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import duckdb
import pytest
from sqlglot import exp

import sqlanon
from sqlanon import assets
from sqlanon.catalog.migrations import known_migrations
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.statement_memo import current_database, rows_once, within_statement
from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build.names import literal
from sqlanon.sql.build.render import InstalledScript, RepeatedQuery
from sqlanon.syntax.script import split

METHOD = "AS POLICY hospital METHOD generalization(suppression => 0.06)"


class Counting:
    """A connection of DuckDB's that counts how often it parses."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.parsed = 0

    def extract_statements(self, text: str) -> list[Any]:
        self.parsed += 1
        return list(self.connection.extract_statements(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def test_a_query_that_repeats_is_parsed_once_and_bound_each_time() -> None:
    connection = Counting()
    engine, query = DuckDBEngine(connection), RepeatedQuery("SELECT * FROM t WHERE a = $1")
    engine.run("CREATE TABLE t AS SELECT 1 AS a")
    assert engine.rows(query, [1]) == [(1,)]
    engine.run("CREATE OR REPLACE TABLE t AS SELECT 'x' AS a, 2 AS b")
    assert engine.rows(query, ["x"]) == [("x", 2)]
    assert engine.rows(query, [None]) == []
    assert connection.parsed == 1


def test_a_text_of_the_users_is_parsed_each_time() -> None:
    engine = DuckDBEngine(duckdb.connect())
    assert engine.rows("SELECT 1 / 2") == [(0.5,)]
    engine.run("SET integer_division = true")
    assert engine.rows("SELECT 1 / 2") == [(0,)]


def test_a_script_is_parsed_once_for_sessions_that_parse_alike() -> None:
    script = InstalledScript("CREATE TABLE quotient AS SELECT 7 / 2 AS a; INSERT INTO quotient SELECT 9 / 2")
    parsed = []
    for whole in (False, False, True):
        connection = Counting()
        connection.execute(f"SET integer_division = {whole}")
        engine = DuckDBEngine(connection)
        engine.run(script)
        expected = [(3,), (4,)] if whole else [(3.5,), (4.5,)]
        assert engine.rows("FROM quotient") == expected
        parsed.append(connection.parsed)
    # The first query of each reads the settings.
    assert parsed == [2, 1, 2]


def test_what_holds_for_a_statement_is_asked_once() -> None:
    texts: list[str] = []
    engine = DuckDBEngine(duckdb.connect(), texts.append)
    other = DuckDBEngine(duckdb.connect(), texts.append)
    with within_statement(engine):
        assert {current_database(engine) for _ in range(3)} == {"memory"}
        assert len(texts) == 1
        assert current_database(other) == "memory"
        assert len(texts) == 2
    for _ in range(2):
        assert rows_once(engine, RepeatedQuery("SELECT 1")) == [(1,)]
    assert len(texts) == 4


@pytest.mark.one_in(7)
@pytest.mark.parametrize(
    ("statement", "most"),
    [
        ("CREATE ANONYMIZED TABLE another " + METHOD, 35),
        # The digest of the text that DuckDB keeps of the view is one of them.
        ("CREATE ANONYMIZED VIEW live " + METHOD, 43),
        ("EXPLAIN ANONYMIZED TABLE another " + METHOD, 37),
        ("CHECK hospital_release", 12),
        ("ESTIMATE SELECT count(*) FROM patients WHERE dob < DATE '1950-01-01' FROM RELEASE hospital_release", 28),
        ("CREATE HIERARCHY another AS PREFIXES (3)", 8),
        ("CREATE POLICY another ON patients (zip QUASI IDENTIFIER USING zip_prefix) REQUIRE k_anonymity(k => 2)", 16),
    ],
)
def test_queries_of_a_statement(statement: str, most: int) -> None:
    pieces = [piece.text for piece in split(assets.read("sql", "examples", "hospital.sql"))]
    with sqlanon.connect() as con:
        con.sql(";".join((*pieces[:4], pieces[5])))
        queries: list[str] = []
        con.observe(lambda stage, sql, *_: queries.append(sql) if sql else None)
        con.sql(statement)
    assert len(queries) <= most


def test_a_tree_is_parsed_anew_under_other_settings() -> None:
    connection = Counting()
    engine, half = DuckDBEngine(connection), exp.select(literal(7) / 2)
    expected = [(False, 3.5), (False, 3.5), (True, 3), (True, 3), (False, 3.5)]
    for whole, quotient in expected:
        connection.execute(f"SET integer_division = {whole}")
        with within_statement(engine):
            assert engine.rows(half.copy()) == [(quotient,)]
    # Under each of the two once, and the query of the settings.
    assert connection.parsed == 3


def test_statements_that_repeat_have_the_same_texts_and_one_that_failed_has_its_own() -> None:
    engine = DuckDBEngine(duckdb.connect())
    names = []
    for fails in (False, False, True, False):
        with suppress(ZeroDivisionError), TempTables(engine) as outer, TempTables(engine) as inner:
            names.append((outer.table("a", exp.select(literal(1))), inner.table("a", exp.select(literal(2)))))
            if fails:
                raise ZeroDivisionError
    assert names[0] == names[1] == names[2]
    assert len({name for pair in names for name in pair}) == 4
    assert {name for (name,) in engine.rows("SELECT table_name FROM duckdb_tables()")} == {*names[2]}


def test_queries_of_the_first_statement_in_a_new_database() -> None:
    """Each migration of the catalog is one script, and each macro is another."""
    with sqlanon.connect() as con:
        queries: list[str] = []
        con.observe(lambda stage, sql, *_: queries.append(sql) if sql else None)
        con.sql("CREATE HIERARCHY h AS PREFIXES (2, 1)")
    macros = [text for text in queries if "MACRO anon." in text]
    assert 12 <= len(macros) == len({text.partition("(")[0] for text in macros})
    assert len(queries) - len(macros) <= 2 * len(known_migrations()) + 12
