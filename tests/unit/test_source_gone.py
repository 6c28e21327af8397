"""What somebody dropped or changed by hand: a release's own tables, and what a live view reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation, UserError
from sqlanon.assess.workloads.summary import summary_of
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from tests.support.database import template

PEOPLE = """
    CREATE TABLE people AS SELECT 30 + i % 4 AS age, i % 5 AS s FROM range(40) r(i);
    CREATE TABLE voters AS SELECT 30 + i % 4 AS age FROM range(80) r(i);
    CREATE VIEW seen AS SELECT * FROM people;
    CREATE HIERARCHY pairs AS INTERVALS (2);
    CREATE POLICY k ON people (age QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2);
    CREATE POLICY l ON people (age QUASI IDENTIFIER, s SENSITIVE) REQUIRE l_diversity(l => 2);
    CREATE POLICY apart ON people (age QUASI IDENTIFIER, s SENSITIVE) CONFIDENTIAL (age, s);
"""
# What each kind of release is made with, and the tables or views that it is.
RELEASES = [
    ("TABLE r AS POLICY k", ("r",)),
    ("VIEW r AS POLICY k", ("r",)),
    ("TABLE r AS POLICY k METHOD mondrian", ("r",)),
    ("VIEW r AS POLICY k METHOD mondrian", ("r",)),
    ("TABLE r AS POLICY l METHOD anatomy(l => 2)", ("r_qi", "r_sensitive")),
    ("TABLE r AS POLICY apart METHOD loose(k => 2, suppression => 1)", ("r_1", "r_2", "r_association")),
    ("TABLE r AS POLICY apart METHOD fragments", ("r_1", "r_2")),
]
PARTS = [(made, part) for made, parts in RELEASES for part in parts]
WORDS = ("CREATE ANONYMIZED {} {}", "CREATE OR REPLACE ANONYMIZED {} {}", "CREATE ANONYMIZED {} IF NOT EXISTS {}")


@pytest.fixture
def con() -> Iterator[Connection]:
    with template(PEOPLE) as connection:
        yield connection


def objects(con: Connection) -> list[str]:
    tables = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'"
    views = "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
    names = con.duckdb.execute(f"{tables} UNION ALL {views}").fetchall()
    return sorted(name for (name,) in names if name not in ("people", "voters", "seen"))


@pytest.mark.long
@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize(("made", "part"), PARTS)
def test_a_release_of_which_something_was_dropped_is_made_again(made: str, part: str, words: str) -> None:
    kind, rest = made.split(maxsplit=1)
    con = template(PEOPLE, f"CREATE ANONYMIZED {made}")
    before = objects(con)
    con.duckdb.execute(f"DROP {kind} {part}")
    with pytest.raises(UserError, match="is gone") as refused:
        con.execute("CHECK r")
    assert f'CREATE ANONYMIZED {kind} "main"."r" AS POLICY' in str(refused.value.hint)
    con.execute(words.format(kind, rest))
    assert objects(con) == before
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())
    assert con.execute("SELECT count(*) FROM anon.release").fetchall() == [(1,)]
    with pytest.raises(UserError, match="exists already"):
        con.execute(f"CREATE ANONYMIZED {made}")


@pytest.mark.one_in(24)
@pytest.mark.parametrize(("made", "part"), PARTS)
def test_the_hint_makes_the_same_release_again(made: str, part: str) -> None:
    con = template(PEOPLE, f"CREATE ANONYMIZED {made}")
    before, method = objects(con), "SELECT kind, policy, method, method_arguments FROM anon.release"
    was = con.execute(method).fetchall()
    con.duckdb.execute(f"DROP {made.split()[0]} {part}")
    with pytest.raises(UserError, match="is gone") as refused:
        con.execute("CHECK r")
    con.execute(str(refused.value.hint).split(" makes it again")[0])
    assert (objects(con), con.execute(method).fetchall()) == (before, was)


@pytest.mark.one_in(35)
@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize(("made", "part"), PARTS)
def test_what_has_taken_its_name_is_left_alone(made: str, part: str, words: str) -> None:
    kind, rest = made.split(maxsplit=1)
    con = template(PEOPLE, f"CREATE ANONYMIZED {made}")
    before = objects(con)
    con.duckdb.execute(f"DROP {kind} {part}; CREATE TABLE {part} AS SELECT 42 AS mine")
    with pytest.raises(PrivacyViolation, match="was changed after it was released"):
        con.execute("CHECK r")
    with pytest.raises(UserError, match=f"main.{part}"):
        con.execute(words.format(kind, rest))
    assert con.execute(f"FROM {part}").fetchall() == [(42,)]
    assert objects(con) == before
    con.execute(f"DROP ANONYMIZED {kind} r")
    assert objects(con) == [part]


def test_a_release_of_another_kind_in_the_place_of_what_is_left(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY l METHOD anatomy(l => 2)")
    con.duckdb.execute("DROP TABLE r_qi; CREATE TABLE r_qi AS SELECT 42 AS mine")
    con.execute("CREATE ANONYMIZED VIEW r AS POLICY k METHOD generalization")
    assert objects(con) == ["r", "r_qi"]
    assert con.execute("FROM r_qi").fetchall() == [(42,)]


CHANGES = {
    "ALTER TABLE people RENAME age TO born": "people no longer has a column age; it has born, s",
    "ALTER TABLE people DROP age": "people no longer has a column age; it has s",
    "ALTER TABLE people RENAME TO folk": "the table or view people no longer exists",
    "DROP TABLE people": "the table or view people no longer exists",
    "ALTER TABLE people ALTER age TYPE VARCHAR": "the column age was BIGINT",
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("change", CHANGES)
def test_a_live_view_whose_source_has_changed(con: Connection, change: str) -> None:
    """It is to be made again, once the policy names what there is."""
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY k METHOD generalization")
    con.execute(change)
    with pytest.raises(UserError, match=CHANGES[change]) as refused:
        con.execute("CHECK v")
    assert "CREATE OR REPLACE ANONYMIZED VIEW" in str(refused.value.hint)
    assert "TYPE" in change or '"main"."v" AS POLICY "k" METHOD generalization()' in str(refused.value.hint)
    con.execute("CREATE TABLE IF NOT EXISTS people AS FROM folk" if "TO folk" in change else "SELECT 1")
    con.execute("CREATE TABLE IF NOT EXISTS people AS SELECT 30 + i % 4 AS age, i % 5 AS s FROM range(40) r(i)")
    columns = f"{con.sql('FROM people').columns[0]} QUASI IDENTIFIER"
    con.execute(f"CREATE OR REPLACE POLICY k ON people ({columns}) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE OR REPLACE ANONYMIZED VIEW v AS POLICY k METHOD generalization")
    assert all(row[-1] for row in con.execute("CHECK v").fetchall())


@pytest.mark.one_in(32)
@pytest.mark.parametrize(
    ("on", "change", "said"),
    [
        ("seen", "CREATE OR REPLACE VIEW seen AS SELECT age AS born, s FROM people", "seen no longer has a column age"),
        ("seen", "DROP VIEW seen", "the table or view seen no longer exists"),
        ("seen", "DROP TABLE people", "the view seen cannot be read itself: .*people"),
        ("(SELECT age, s FROM people)", "ALTER TABLE people RENAME age TO born", 'column "age"'),
        ("(SELECT age, s FROM people)", "DROP TABLE people", "people does not exist"),
        ("people AGAINST voters", "DROP TABLE voters", "the table or view voters no longer exists"),
        ("people AGAINST voters", "ALTER TABLE voters RENAME age TO born", "voters no longer has a column age"),
        ("people AGAINST voters", "ALTER TABLE voters ALTER age TYPE VARCHAR", "the column age was BIGINT"),
    ],
)
def test_whatever_else_a_live_view_reads(con: Connection, on: str, change: str, said: str) -> None:
    source, _, public = on.partition(" AGAINST ")
    against = f"AGAINST {public} REQUIRE k_map(k => 2), " if public else "REQUIRE "
    columns = "(age QUASI IDENTIFIER, s SENSITIVE)"
    con.execute(f"CREATE POLICY p ON {source} {columns} {against}k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    con.execute(change)
    with pytest.raises(UserError, match=said) as refused:
        con.execute("CHECK v")
    assert "CREATE OR REPLACE ANONYMIZED VIEW" in str(refused.value.hint)


def test_in_a_transaction_of_the_users(con: Connection) -> None:
    """The error has aborted it, so that no more can be asked than what it says itself."""
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY k METHOD generalization")
    con.execute("ALTER TABLE people RENAME age TO born; BEGIN")
    with pytest.raises(UserError, match='column "age"') as refused:
        con.execute("CHECK v")
    assert "make the view again" in str(refused.value.hint)
    con.execute("ROLLBACK")


def test_a_view_that_is_broken_is_no_source(con: Connection) -> None:
    con.execute("DROP TABLE people")
    for statement in (
        "CREATE POLICY p ON seen (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
        "CHECK seen (age) REQUIRE k_anonymity(k => 2)",
    ):
        with pytest.raises(PolicyError, match=r"the view seen cannot be read: .*people"):
            con.execute(statement)


def test_figures_of_a_release_whose_file_is_gone(con: Connection, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    con.duckdb.execute(f"COPY people TO '{file}'")
    con.execute(f"CREATE ANONYMIZED TABLE r FROM '{file}' (age) SENSITIVE s METHOD mondrian")
    file.rename(tmp_path / "peoples.csv")
    figures = {name: value for _, name, _, value, _ in con.sql("MEASURE r").fetchall()}
    assert figures["smallest_class"] == 10
    assert figures["count_error"] is None
    summary = summary_of(DuckDBEngine(con.duckdb), QualifiedName(("r",)))
    assert "No files found" in str(summary.count_error.reason)
    with pytest.raises(PolicyError, match="No files found"):
        con.execute("REFRESH ANONYMIZED TABLE r")
