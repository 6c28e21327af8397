"""A policy, a release and a live view go on reading what their names meant, whatever a session calls the same."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import sqlanon
from sqlanon import Connection
from sqlanon.domain.policy import Requirement
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, InternalError, PolicyError, UserError
from sqlanon.release.pipeline.check import reported
from sqlanon.sql.build.sql_files import query_tree
from sqlanon.sql.questions.ask import bind_requirement
from tests.support.database import template

SETUP = """
CREATE TABLE people AS SELECT 'p' || i AS name, 20 + i % 3 AS age, ['flu', 'cold'][1 + i % 2] AS disease
    FROM range(60) AS t(i);
CREATE VIEW adults AS FROM people WHERE age > 19;
CREATE TABLE shares AS SELECT * FROM (VALUES ('flu', 0.0, 0.6), ('cold', 0.0, 0.6)) AS t(value, low, high);
CREATE POLICY named ON people (name IDENTIFIER, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5);
CREATE POLICY asked ON (SELECT age, disease FROM people) (age QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE k_anonymity(k => 5);
CREATE POLICY viewed ON adults (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5);
CREATE ANONYMIZED TABLE released AS POLICY named METHOD generalization;
"""
# Sixty rows of which each is one of a kind, by the diseases' column.
DRAFT = "SELECT age, name AS disease FROM memory.main.people"


def _of_duckdb(path: str) -> list[tuple[object, ...]]:
    with duckdb.connect(path, read_only=True) as database:
        return database.execute("SELECT age, disease FROM main.released").fetchall()


def _of_sqlite(path: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT age, disease FROM released").fetchall()


def _of_arrow(path: str) -> list[tuple[object, ...]]:
    columns = pa.ipc.open_file(path).read_all().to_pydict()
    return list(zip(columns["age"], columns["disease"], strict=True))


def _of_file(path: str) -> list[tuple[object, ...]]:
    return duckdb.sql(f"SELECT age, disease FROM '{path}'").fetchall()


# How somebody else reads an exported file of each format.
READERS = {"parquet": _of_file, "csv": _of_file, "arrow": _of_arrow, "duckdb": _of_duckdb, "sqlite": _of_sqlite}


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


def rows(con: Connection, query: str) -> list[tuple[object, ...]]:
    return sorted(con.duckdb.execute(query).fetchall())


@pytest.mark.long
@pytest.mark.parametrize("kind", ["TABLE", "VIEW", "frame"])
@pytest.mark.parametrize("format_", READERS)
def test_an_export_has_the_rows_of_the_release(con: Connection, kind: str, format_: str, tmp_path: Path) -> None:
    expected = rows(con, "SELECT age, disease FROM released")
    if kind == "frame":
        con.duckdb.register("released", con.duckdb.sql(DRAFT).df())
    else:
        con.execute(f"CREATE TEMP {kind} released AS {DRAFT}")
    con.execute(f"EXPORT released TO '{tmp_path}/out/' (FORMAT {format_})")
    [path] = [found for found in (tmp_path / "out").iterdir() if found.suffix == f".{format_}"]
    assert sorted(READERS[format_](str(path))) == expected


def test_a_temporary_table_takes_no_source_s_place(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE people AS SELECT 'x' AS name, 20 AS age, 'HIV' AS disease FROM range(60)")
    con.execute("CREATE ANONYMIZED TABLE again AS POLICY named METHOD generalization")
    assert rows(con, "FROM again") == rows(con, "FROM released")
    con.execute("REFRESH ANONYMIZED TABLE again")
    assert rows(con, "FROM again") == rows(con, "FROM released")


@pytest.mark.parametrize("policy", ["asked", "viewed"])
def test_a_query_or_view_that_would_read_another_table_is_refused(con: Connection, policy: str) -> None:
    con.execute("CREATE TEMP TABLE People AS FROM memory.main.people")
    with pytest.raises(
        PolicyError,
        match=r"read main\.people when the policy was made, and would read the temporary "
        r"table temp\.main\.People now",
    ) as refused:
        con.execute(f"CREATE ANONYMIZED TABLE again AS POLICY {policy} METHOD generalization")
    assert "drop or rename that People" in str(refused.value.hint)
    con.execute("DROP TABLE temp.main.People")
    con.execute(f"CREATE ANONYMIZED TABLE again AS POLICY {policy} METHOD generalization")


def test_a_view_may_read_a_table_of_a_new_name(con: Connection) -> None:
    con.execute("CREATE TABLE others AS FROM people; CREATE OR REPLACE VIEW adults AS FROM others")
    con.execute("CREATE ANONYMIZED TABLE again AS POLICY viewed METHOD generalization")
    assert rows(con, "FROM again") == rows(con, "FROM released")


def test_the_search_path_changes_no_source(con: Connection) -> None:
    con.execute("CREATE SCHEMA drafts; CREATE TABLE drafts.people AS SELECT * REPLACE ('HIV' AS disease) FROM people")
    con.execute("SET search_path = 'memory.drafts,memory.main'")
    con.execute("CREATE ANONYMIZED TABLE main.again AS POLICY named METHOD generalization")
    assert rows(con, "FROM memory.main.again") == rows(con, "FROM memory.main.released")


@pytest.mark.long
@pytest.mark.parametrize("path", ["memory.clinic,memory.main", "other.main,memory.main", "other.main", "memory.clinic"])
@pytest.mark.parametrize("policy", ["named", "asked", "viewed"])
def test_the_search_path_changes_no_live_view(con: Connection, policy: str, path: str) -> None:
    con.execute(f"CREATE ANONYMIZED VIEW live AS POLICY {policy} METHOD generalization")
    shown = rows(con, "FROM memory.main.live")
    con.execute("ATTACH ':memory:' AS other; CREATE SCHEMA clinic")
    for place in ("memory.clinic", "other.main"):
        con.execute(f"CREATE TABLE {place}.people AS SELECT * REPLACE ('HIV' AS disease) FROM memory.main.people")
        con.execute(f"CREATE VIEW {place}.adults AS FROM {place}.people")
    con.execute(f"SET search_path = '{path}'")
    assert rows(con, "FROM memory.main.live") == shown


def test_a_live_view_reads_no_name_that_the_search_path_decides(con: Connection) -> None:
    con.execute(
        "CREATE SCHEMA clinic; CREATE TABLE clinic.stays AS FROM people; CREATE VIEW clinic.grown AS FROM stays; "
        "CREATE VIEW clinic.all_people AS FROM people; SET search_path = 'memory.clinic,memory.main'"
    )
    role = "(age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)"
    con.execute(f"CREATE VIEW clinic.again AS FROM stays; CREATE POLICY whole ON clinic.again {role}")
    con.execute("CREATE ANONYMIZED VIEW main.live AS POLICY whole METHOD generalization")
    for source in ("(SELECT age, disease FROM stays)", "clinic.all_people"):
        con.execute(f"CREATE OR REPLACE POLICY bare ON {source} {role}")
        with pytest.raises(PolicyError, match=r"without its schema, (clinic|main), and with another search path"):
            con.execute("CREATE ANONYMIZED VIEW main.bare AS POLICY bare METHOD generalization")


def test_a_name_is_looked_up_along_the_search_path(con: Connection) -> None:
    """As DuckDB does: the second schema of the path comes before main, and so do schemas of other databases."""
    con.execute("ATTACH ':memory:' AS other; CREATE SCHEMA one; CREATE SCHEMA two; CREATE SCHEMA other.three")
    for place in ("memory.two.people", "other.three.visits", "memory.main.visits"):
        con.execute(f"CREATE TABLE {place} AS SELECT '{place}' AS place, 1 AS age FROM range(9)")
    for path, name in (("memory.one,memory.two", "people"), ("memory.one,other.three", "visits")):
        con.execute(f"SET search_path = '{path}'")
        ((place,),) = con.duckdb.execute(f"SELECT DISTINCT place FROM {name}").fetchall()
        con.execute(f"CREATE OR REPLACE POLICY p ON {name} (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
        ((bound,),) = con.duckdb.execute("SELECT bound FROM anon.policy WHERE policy = 'p'").fetchall()
        assert ".".join(json.loads(bound)[0]) == place.removeprefix("memory.")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["other.people", "other.main.people", "temp.drafts", "memory.people", "main.people"])
def test_a_name_may_have_its_database_or_its_schema(con: Connection, name: str) -> None:
    con.execute(
        "ATTACH ':memory:' AS other; CREATE TABLE other.people AS FROM people; CREATE TEMP TABLE drafts AS FROM people"
    )
    con.execute(f"CREATE POLICY p ON {name} (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)")
    con.execute("CREATE ANONYMIZED TABLE again AS POLICY p METHOD generalization")
    assert rows(con, "FROM again") == rows(con, "FROM released")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "source",
    ["of_people()", "(FROM of_people())", "(SELECT age, disease FROM people WHERE age > youngest())", "by_macro"],
)
def test_a_macro_goes_on_meaning_what_it_meant(con: Connection, source: str) -> None:
    con.execute(
        "CREATE MACRO of_people() AS TABLE FROM people; CREATE MACRO youngest() AS 19; "
        "CREATE VIEW by_macro AS FROM of_people(); "
        f"CREATE POLICY p ON {source} (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)"
    )
    con.execute("CREATE ANONYMIZED TABLE again AS POLICY p METHOD generalization")
    with pytest.raises(PolicyError, match="a session may have another one of that name"):
        con.execute("CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization")
    con.execute("CREATE TEMP MACRO of_people() AS TABLE SELECT 20 AS age, 'HIV' AS disease FROM range(60)")
    con.execute("CREATE TEMP MACRO youngest() AS 21")
    for statement in (
        "CREATE OR REPLACE ANONYMIZED TABLE again AS POLICY p",
        "REFRESH ANONYMIZED TABLE again",
    ):
        with pytest.raises(
            PolicyError, match=r"read main\.\w+\(\) when .* would read the temporary macro temp\.main\."
        ):
            con.execute(statement)


@pytest.mark.parametrize(
    "asked", ["getvariable('n')", "length(current_schema())", "(SELECT count(*) FROM duckdb_tables())"]
)
def test_a_live_view_reads_nothing_that_a_session_answers_for_itself(con: Connection, asked: str) -> None:
    con.execute(
        f"CREATE POLICY p ON (SELECT age, disease FROM people WHERE age > {asked}) "
        "(age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)"
    )
    with pytest.raises(PolicyError, match="which each session answers for itself"):
        con.execute("CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization")


def test_a_hidden_source_of_other_columns_is_said_to_be_hidden(con: Connection) -> None:
    con.execute(
        "CREATE ANONYMIZED VIEW live AS POLICY named METHOD generalization; CREATE TEMP TABLE people AS SELECT 1 AS x"
    )
    for statement in ("CHECK live", "CREATE OR REPLACE ANONYMIZED VIEW live AS POLICY named METHOD generalization"):
        with pytest.raises(UserError, match="is called people, as what this view reads") as refused:
            con.execute(statement)
        assert 'DROP TABLE "temp"."people"' in str(refused.value.hint)


def test_a_table_that_is_gone_is_not_another_one_of_its_name(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE people AS FROM memory.main.people; DROP VIEW adults; DROP TABLE memory.main.people")
    with pytest.raises(
        PolicyError,
        match=r"people was main\.people when the policy was made, which is gone; the name "
        r"means the table temp\.main\.people now",
    ):
        con.execute("CREATE ANONYMIZED TABLE again AS POLICY named METHOD generalization")
    con.execute(
        "CREATE OR REPLACE POLICY named ON people (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)"
    )
    con.execute("CREATE ANONYMIZED TABLE again AS POLICY named METHOD generalization")


def test_a_policy_keeps_what_its_names_mean(con: Connection) -> None:
    kept = "SELECT policy, bound FROM anon.policy"
    assert rows(con, kept) == [
        ("asked", '[["main","people"]]'),
        ("named", '[["main","people"]]'),
        ("viewed", '[["main","adults"],["main","people"]]'),
    ]
    con.execute("CREATE TEMP TABLE people AS FROM memory.main.people; ALTER POLICY named REQUIRE k_anonymity(k => 4)")
    assert ("named", '[["main","people"]]') in rows(con, kept)


def test_a_policy_of_a_user_s_own_rows_means_what_is_found(con: Connection) -> None:
    con.duckdb.execute("UPDATE anon.policy SET bound = NULL")
    con.execute("CREATE ANONYMIZED TABLE again AS POLICY asked METHOD generalization")
    assert rows(con, "FROM again") == rows(con, "FROM released")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("bound = '{'", "its bound in anon.policy cannot be read"),
        ('bound = \'[["main","others"]]\'', "has the source people, but the different table or view main.others"),
    ],
)
def test_entries_that_were_changed_by_hand_are_refused(con: Connection, change: str, message: str) -> None:
    con.duckdb.execute(f"UPDATE anon.policy SET {change} WHERE policy = 'named'")
    with pytest.raises(PolicyError, match=message) as refused:
        con.execute("CREATE ANONYMIZED TABLE again AS POLICY named METHOD generalization")
    assert "NULL" in str(refused.value.hint)


def test_a_temporary_table_takes_no_place_of_ranges(con: Connection) -> None:
    """By the ranges that were meant nobody's share may be more than 0.6, by those of the draft it may be 1."""
    con.execute(
        "CREATE TABLE alike AS SELECT 20 AS age, 'flu' AS disease FROM range(9); "
        "CREATE POLICY bounded ON alike (age QUASI IDENTIFIER, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2), value_ranges(ranges => shares)"
    )
    con.execute("CREATE TEMP TABLE shares AS SELECT 'flu' AS value, 0.0 AS low, 1.0 AS high")
    with pytest.raises(sqlanon.PrivacyViolation, match="value_ranges"):
        con.execute("CREATE ANONYMIZED TABLE again AS POLICY bounded METHOD generalization")


def test_a_live_view_shows_nothing_beside_a_temporary_table_of_its_source_s_name(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED VIEW live AS POLICY named METHOD generalization")
    shown = rows(con, "FROM live")
    con.duckdb.register("people", pd.DataFrame({"name": ["x"] * 60, "age": [20] * 60, "disease": ["HIV"] * 60}))
    with pytest.raises(duckdb.Error, match="a temporary table or view is called people, as what this view reads"):
        con.duckdb.execute("FROM live").fetchall()
    with pytest.raises(UserError, match="is called people, as what this view reads") as refused:
        con.execute("CHECK live")
    assert "DROP" in str(refused.value.hint)
    con.duckdb.unregister("people")
    assert rows(con, "FROM live") == shown


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["count_star", "min", "+", "||", "struct_pack", "current_setting", "lower", "error"])
def test_a_live_view_does_not_call_a_reader_s_macros(con: Connection, name: str) -> None:
    con.execute("CREATE ANONYMIZED VIEW live AS POLICY named METHOD mondrian")
    shown = rows(con, "FROM live")
    con.duckdb.execute(f'CREATE TEMP MACRO "{name}"() AS 1000, (a) AS 1000, (a, b) AS 1000')
    assert rows(con, "FROM live") == shown


@pytest.mark.parametrize(
    "macro",
    [
        "duckdb_functions() AS TABLE SELECT 'x' AS function_name, true AS internal, 'f' AS function_type WHERE false",
        *("lower(x) AS x || random()", "bool_or(x) AS false", "min(x) AS 100", "min(x) AS x", "count_star() AS 100"),
    ],
)
def test_a_macro_hides_no_other_macro(con: Connection, macro: str) -> None:
    con.execute(
        "CREATE TABLE alike AS SELECT i % 3 AS age, CASE WHEN i % 3 = 0 THEN 'HIV' ELSE 'd' || i % 5 END AS ill "
        "FROM range(60) t(i); CREATE POLICY p ON alike (age QUASI IDENTIFIER MAX LEVEL 0, ill SENSITIVE) "
        "REQUIRE l_diversity(l => 3, variant => 'entropy')"
    )
    con.execute(f"CREATE TEMP MACRO {macro}; CREATE TEMP MACRO ln(a) AS -5 + 0 * a")
    for statement in (
        "CREATE ANONYMIZED TABLE again AS POLICY p",
        "CHECK alike (age) SENSITIVE ill",
    ):
        with pytest.raises(UserError, match=r"macros of this database have the names of built-in functions: .*\bln\b"):
            con.execute(statement)


@pytest.mark.parametrize("path", ["memory.main,other.anon", "other.anon,memory.main"])
def test_another_database_s_schema_anon_is_not_the_catalog(con: Connection, path: str) -> None:
    con.execute(
        "ATTACH ':memory:' AS other; CREATE SCHEMA other.anon; CREATE TABLE other.anon.policy AS FROM anon.policy"
    )
    con.execute(f"SET search_path = '{path}'")
    with pytest.raises((CatalogError, UserError)):
        con.execute("CREATE ANONYMIZED TABLE again AS POLICY named METHOD generalization")


@pytest.mark.parametrize(
    ("model", "arguments", "achieved"),
    [("k_anonymity", (("k", 4),), 3.0), ("t_closeness", (("t", 0),), 0.25)],
)
def test_a_verdict_that_the_figure_contradicts_is_an_error_of_ours(
    con: Connection, model: str, arguments: tuple[tuple[str, int], ...], achieved: float
) -> None:
    engine = DuckDBEngine(con.duckdb)
    (requirement,) = bind_requirement(Requirement(model, arguments), ["disease"])
    report = f"SELECT 0 AS place, CAST({achieved} AS DOUBLE) AS achieved, {{}} AS violating"
    with pytest.raises(InternalError, match="no class violates"):
        reported(engine, query_tree(report.format(0)), {0: requirement})
    assert not reported(engine, query_tree(report.format(1)), {0: requirement})[0].satisfied
