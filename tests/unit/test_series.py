"""Series of releases: what they take, what they refuse, and what the ledger has of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import sqlanon
from sqlanon import CatalogError, Connection, PolicyError, PrivacyViolation, UserError
from sqlanon.catalog.series import load
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.republication.series.together import measured_together
from tests.support.command_line import run_script
from tests.support.database import template

KEY = "a key that nobody knows"
SETUP = """
CREATE TABLE people AS FROM (VALUES ('Ann', 30, 'flu'), ('Ben', 30, 'cold'), ('Cem', 40, 'flu'), ('Dan', 40, 'asthma'))
    AS t (name, age, disease);
CREATE POLICY p ON people (name ENTITY, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2);
"""
# One class, half of which has each of two values.
LARGE = """
CREATE OR REPLACE TABLE people AS
    SELECT i::VARCHAR AS name, 1 AS age, 'd' || i % 2 AS disease FROM range({}) AS t(i)
"""
# Ann had the flu or a cold, and has the flu or asthma now.
TELLING = "UPDATE people SET age = CASE WHEN name IN ('Ann', 'Dan') THEN 30 ELSE 40 END"


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setenv("SERIES_KEY", KEY)
    return template(
        SETUP,
        "CREATE SERIES monthly ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.5)",
        "CREATE ANONYMIZED TABLE r1 AS POLICY p IN SERIES monthly",
    )


def ledger(con: Connection) -> list[Any]:
    tables = ("series", "series_requirement", "series_release", "series_member", "series_class", "series_value")
    return [sorted(con.duckdb.execute(f"FROM anon.{table}").fetchall(), key=repr) for table in tables]


def checked(con: Connection, release: str, series: str = "monthly") -> dict[str, tuple[Any, ...]]:
    rows = con.execute(f"CHECK {release} IN SERIES {series}").fetchall()
    return {row[1]: tuple(row[2:]) for row in rows}


@pytest.mark.long
def test_what_is_required_is_reached_and_what_is_not_is_told(con: Connection) -> None:
    assert checked(con, "r1") == {
        "composition": ("disease", 0.5, 0.5, True),
        "m_invariance": ("disease", None, 2.0, None),
    }


@pytest.mark.long
def test_a_series_that_requires_nothing_is_satisfied_at_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERIES_KEY", KEY)
    create = "CREATE ANONYMIZED TABLE r1 AS POLICY p IN SERIES s; CHECK r1 IN SERIES s;"
    done = run_script(f"{SETUP} CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'; {create}")
    assert done.exit_code == 0, done.stderr
    assert "m_invariance" in done.stdout
    assert "not met" not in done.output
    required = "CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.5);"
    assert run_script(f"{SETUP} {required} {create}").exit_code == 0


@pytest.mark.long
def test_a_release_that_tells_too_much_with_the_others_is_not_published(con: Connection) -> None:
    before = ledger(con)
    con.execute(TELLING)
    with pytest.raises(PrivacyViolation, match=r"would violate composition of series monthly, on disease") as error:
        con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p IN SERIES monthly")
    assert not any(name in str(error.value) for name in ("Ann", "Cem", "flu"))
    # Ann and Dan, Ben and Cem: what each has now, and had, leaves one value.
    assert "respondents whose value is surer: 4" in str(error.value)
    assert ledger(con) == before
    assert [row[0] for row in con.execute("SHOW RELEASES").fetchall()] == ["main.r1"]
    con.execute("CREATE ANONYMIZED TABLE elsewhere AS POLICY p")


@pytest.mark.long
def test_respondents_who_come_and_go_are_known_again_by_the_key_alone(con: Connection) -> None:
    con.execute("DELETE FROM people WHERE name = 'Ben'; INSERT INTO people VALUES ('Eva', 30, 'cold')")
    con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p IN SERIES monthly")
    assert con.execute("SHOW SERIES").fetchall() == [("monthly", "p", 2, 5)]
    members = con.duckdb.execute("SELECT position, respondent FROM anon.series_member").fetchall()
    assert len({respondent for _, respondent in members}) == 5
    con.execute("CREATE SERIES other ON POLICY p KEY 'SERIES_KEY'")
    con.execute("CREATE ANONYMIZED TABLE r3 AS POLICY p IN SERIES other")
    (shared,) = con.duckdb.execute(
        "SELECT count(*) FROM "
        "(SELECT respondent FROM anon.series_member GROUP BY ALL HAVING count(DISTINCT series_id) > 1)"
    ).fetchone() or (None,)
    assert shared == 0
    text = "\n".join(map(str, con.duckdb.execute("FROM anon.series_member").fetchall()))
    assert "Ann" not in text
    assert KEY not in "\n".join(map(str, ledger(con)))


def test_the_worst_of_both_ways_to_reckon_counts(con: Connection) -> None:
    """One of three has another value than the others: 2/3 by its rows, and 1/2 by its candidates."""
    con.execute(
        "CREATE OR REPLACE TABLE people AS "
        "FROM (VALUES ('A', 1, 'x'), ('B', 1, 'x'), ('C', 1, 'y')) t (name, age, disease)"
    )
    con.execute("CREATE SERIES lenient ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.7)")
    con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p IN SERIES lenient")
    assert checked(con, "r2", "lenient")["composition"] == ("disease", 0.7, pytest.approx(2 / 3), True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("changed", "is_made"), [("refused", False), ("ignored", True)])
def test_a_value_that_must_have_changed_is_refused_unless_it_is_ignored(
    con: Connection, changed: str, is_made: bool
) -> None:
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(0.5, changed => '{changed}')")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s")
    con.execute(
        "UPDATE people SET disease = 'x' WHERE name = 'Ann'; UPDATE people SET disease = 'y' WHERE name = 'Ben'"
    )
    statement = "CREATE ANONYMIZED TABLE b AS POLICY p IN SERIES s"
    if is_made:
        con.execute(statement)
        assert checked(con, "b", "s")["composition"] == ("disease", 0.5, 0.5, True)
    else:
        with pytest.raises(PrivacyViolation, match="respondents whose value has changed: 2") as error:
            con.execute(statement)
        assert "changed => 'ignored'" in str(error.value.hint)


@pytest.mark.long
def test_a_release_of_the_same_source_outside_the_series_is_warned_of(con: Connection) -> None:
    [row] = con.execute("CREATE ANONYMIZED TABLE outside AS POLICY p").fetchall()
    assert "main.r1 (in the series monthly) is made from the same source" in row[-2]
    assert "IN SERIES monthly REQUIRE checks releases together" in row[-2]
    [row] = con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p IN SERIES monthly").fetchall()
    assert "main.outside is made" in row[-2]
    assert "r1" not in row[-2]
    [row] = con.execute("CREATE ANONYMIZED VIEW live AS POLICY p").fetchall()
    assert "main.r1 (in the series monthly)" in row[-2]
    con.execute("CREATE SERIES free ON POLICY p KEY 'SERIES_KEY'")
    [row] = con.execute("CREATE OR REPLACE ANONYMIZED TABLE r3 AS POLICY p IN SERIES free").fetchall()
    [row] = con.execute("CREATE ANONYMIZED TABLE r4 AS POLICY p IN SERIES free").fetchall()
    assert "main.r3 (in the series free)" in row[-2]


@pytest.mark.long
@pytest.mark.parametrize("others", [2, 98])
@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("value", ["d0", "new"])
def test_one_who_comes_or_leaves_is_the_difference_of_two_classes(
    con: Connection, others: int, leaves: bool, value: str
) -> None:
    """FROM february EXCEPT ALL FROM january is the row of the newcomer, however many others a class has."""
    con.execute(LARGE.format(others))
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.9)")
    come = f"INSERT INTO people VALUES ('Zoe', 1, '{value}')"
    if leaves:
        con.execute(come)
    con.execute("CREATE ANONYMIZED TABLE january AS POLICY p IN SERIES s")
    con.execute("DELETE FROM people WHERE name = 'Zoe'" if leaves else come)
    with pytest.raises(
        PrivacyViolation, match=r"it reaches 1\.0 where 0\.9 is required \(respondents whose value is surer: 1\)"
    ):
        con.execute("CREATE ANONYMIZED TABLE february AS POLICY p IN SERIES s")
    # Two who come together, with different values, hide each other.
    con.execute("DELETE FROM people WHERE name = 'Zoe'; INSERT INTO people VALUES ('Yan', 1, 'd0'), ('Zoe', 1, 'd1')")
    con.execute("CREATE SERIES t ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.9)")
    con.execute("CREATE ANONYMIZED TABLE march AS POLICY p IN SERIES t")
    con.execute("DELETE FROM people WHERE name IN ('Yan', 'Zoe')")
    con.execute("CREATE ANONYMIZED TABLE april AS POLICY p IN SERIES t")
    assert checked(con, "april", "t")["composition"][2] < 0.9


@pytest.mark.long
def test_differences_of_differences_are_compared(con: Connection) -> None:
    """0 to 99 and 0 to 99, A and B: the difference is A and B. A, B, C and D less these are C and D."""
    con.execute(LARGE.format(100))
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.7)")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s")
    con.execute("INSERT INTO people VALUES ('A', 1, 'd0'), ('B', 1, 'd1')")
    con.execute("CREATE ANONYMIZED TABLE b AS POLICY p IN SERIES s")
    con.execute(
        "DELETE FROM people WHERE name NOT IN ('A', 'B'); INSERT INTO people VALUES ('C', 1, 'd0'), ('D', 1, 'd1')"
    )
    con.execute("CREATE ANONYMIZED TABLE c AS POLICY p IN SERIES s")
    assert checked(con, "c", "s")["composition"] == ("disease", 0.7, pytest.approx(0.5), True)
    con.execute("DELETE FROM people; INSERT INTO people SELECT i::VARCHAR, 1, 'd' || i % 2 FROM range(100) t(i)")
    con.execute("INSERT INTO people VALUES ('A', 1, 'd0')")
    with pytest.raises(PrivacyViolation, match="respondents whose value is surer: 2"):
        con.execute("CREATE ANONYMIZED TABLE d AS POLICY p IN SERIES s")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("changed", "is_made"), [("refused", False), ("ignored", True)])
def test_classes_that_contradict_each_other_tell_that_a_value_has_changed(
    con: Connection, changed: str, is_made: bool
) -> None:
    con.execute(LARGE.format(100))
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(0.9, changed => '{changed}')")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s; UPDATE people SET disease = 'd1' WHERE name = '0'")
    create = "CREATE ANONYMIZED TABLE b AS POLICY p IN SERIES s"
    if is_made:
        con.execute(create)
        assert checked(con, "b", "s")["composition"][3] is True
        return
    with pytest.raises(PrivacyViolation, match="respondents among whom a value has changed: 100") as error:
        con.execute(create)
    assert "changed => 'ignored'" in str(error.value.hint)


@pytest.mark.long
def test_a_release_without_rows_tells_nothing(con: Connection) -> None:
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.5), m_invariance(m => 2)")
    con.execute("DELETE FROM people")
    con.execute("CREATE ANONYMIZED TABLE empty AS POLICY p IN SERIES s")
    assert checked(con, "empty", "s")["composition"] == ("disease", 0.5, None, True)
    con.execute("INSERT INTO people VALUES ('Ann', 30, 'flu'), ('Ben', 30, 'cold')")
    con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p IN SERIES s")
    assert checked(con, "r2", "s")["composition"] == ("disease", 0.5, 0.5, True)


def explained_warning(con: Connection, create: str) -> list[str]:
    return [row[2] for row in con.execute(f"EXPLAIN {create}").fetchall() if row[:2] == ("bind", "warning")]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("before", "create"),
    [
        ("DROP ANONYMIZED TABLE r1", "CREATE ANONYMIZED TABLE outside AS POLICY p"),
        ("DROP ANONYMIZED TABLE r1", "CREATE ANONYMIZED TABLE r1 AS POLICY p"),
        ("DROP ANONYMIZED TABLE r1", "CREATE ANONYMIZED VIEW outside AS POLICY p"),
        ("REFRESH ANONYMIZED TABLE r1; DROP ANONYMIZED TABLE r1", "CREATE ANONYMIZED TABLE outside AS POLICY p"),
        ("", "CREATE OR REPLACE ANONYMIZED TABLE r1 AS POLICY p"),
    ],
)
def test_a_release_of_a_series_that_is_gone_is_warned_of(
    con: Connection, tmp_path: Path, before: str, create: str
) -> None:
    """The ledger has what was dropped or replaced, because somebody has it."""
    con.execute(before)
    number = "2 of this name, " if "REFRESH" in before else ""
    words = f"main.r1 ({number}gone since, in the series monthly) is made from the same source"
    [said] = explained_warning(con, create)
    # A release that the statement will replace is not gone yet.
    assert (words if before else "main.r1 (in the series monthly) is made from the same source") in said
    [row] = con.execute(create).fetchall()
    assert words in row[-2]
    name = create.split(" AS ")[0].split()[-1]
    if "VIEW" not in create:
        [row] = con.execute(f"EXPORT {name} TO '{tmp_path}/out'").fetchall()
        assert words in row[-1]
    assert con.execute("CREATE POLICY q ON (SELECT 1 AS a) (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)")
    assert con.execute("CREATE ANONYMIZED TABLE unrelated AS POLICY q").fetchall()[0][-2] is None


@pytest.mark.long
def test_releases_of_a_series_that_requires_something_are_not_warned_of_within_it(con: Connection) -> None:
    create = "CREATE OR REPLACE ANONYMIZED TABLE r1 AS POLICY p IN SERIES monthly"
    for statement in (create, create.replace("r1", "r2"), "REFRESH ANONYMIZED TABLE r1"):
        if statement.startswith("CREATE"):
            assert explained_warning(con, statement) == []
        assert con.execute(statement).fetchall()[0][-2] is None
    con.execute("DROP POLICY p")
    con.execute("CREATE POLICY q ON people (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)")
    [row] = con.execute("CREATE ANONYMIZED TABLE outside AS POLICY q").fetchall()
    assert "its source is not known" in row[-2]


@pytest.mark.long
def test_m_invariance_is_required_of_all_releases(con: Connection) -> None:
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s")
    con.execute("INSERT INTO people VALUES ('Eva', 50, 'flu'), ('Fay', 50, 'cold')")
    con.execute("CREATE ANONYMIZED TABLE b AS POLICY p IN SERIES s")
    assert checked(con, "b", "s")["m_invariance"] == ("disease", 2.0, 2.0, True)
    con.execute(TELLING)
    [series] = [
        row
        for row in con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE c AS POLICY p IN SERIES s").fetchall()
        if row[1] == "series"
    ]
    assert series[2] == "s, 2 releases so far; m_invariance(m => 2) is measured when the release is made"
    with pytest.raises(PrivacyViolation, match=r"reaches 1\.0 where 2\.0 is.*twice: 1; respondents with.*: 2\)"):
        con.execute("CREATE ANONYMIZED TABLE c AS POLICY p IN SERIES s")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE people SET name = NULL WHERE name = 'Ann'", "1 row of the release has no name"),
        ("INSERT INTO people FROM people WHERE name = 'Ann'", "1 row of the release is of a respondent with another"),
        (
            "ALTER POLICY p ALTER COLUMN name INSENSITIVE",
            "identifies respondents by name, but the ENTITY of policy p was removed",
        ),
        ("CREATE POLICY q ON people (name ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)", "not by q"),
    ],
)
def test_rows_that_nobody_could_be_known_by_are_refused(con: Connection, change: str, words: str) -> None:
    before = ledger(con)
    con.execute(change)
    policy = "q" if "POLICY q" in change else "p"
    with pytest.raises(PolicyError, match=words) as error:
        con.execute(f"CREATE ANONYMIZED TABLE r2 AS POLICY {policy} IN SERIES monthly")
    assert "Ann" not in str(error.value)
    assert ledger(con) == before


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE ANONYMIZED VIEW v AS POLICY p IN SERIES monthly", "a live view cannot be in series monthly"),
        (
            "CREATE ANONYMIZED TABLE v AS POLICY p METHOD anatomy(l => 2) IN SERIES monthly",
            "counts rows and not respondents",
        ),
        ("CREATE ANONYMIZED TABLE v AS POLICY p METHOD trivial IN SERIES monthly", "counts rows and not respondents"),
        ("CREATE ANONYMIZED TABLE v AS POLICY p IN SERIES monthy", "there is no series monthy"),
        ("CREATE SERIES monthly ON POLICY p KEY 'SERIES_KEY'", "exists already"),
        ("CREATE SERIES t ON POLICY q KEY 'SERIES_KEY'", "there is no policy q"),
        (
            "CREATE SERIES t ON POLICY p KEY 'NO_SUCH_KEY'",
            "NO_SUCH_KEY, which should hold the key of the series, is not",
        ),
        ("CREATE SERIES t ON POLICY p KEY 'SERIES_KEY' REQUIRE k_anonymity(k => 2)", "cannot require 'k_anonymity'"),
        ("CREATE SERIES t ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 2)", "outside"),
        ("CREATE SERIES t ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 1)", "outside"),
        ("CREATE OR REPLACE SERIES monthly ON POLICY p KEY 'SERIES_KEY'", "a series is not replaced"),
        ("CHECK r1 IN SERIES nothing", "there is no series nothing"),
        ("DROP SERIES nothing", "there is no series nothing"),
    ],
)
def test_what_is_refused(con: Connection, statement: str, words: str) -> None:
    before = ledger(con)
    with pytest.raises(UserError, match=words):
        con.execute(statement)
    assert ledger(con) == before


def test_a_policy_without_an_entity_has_no_series(con: Connection) -> None:
    con.execute("CREATE POLICY q ON people (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="has no ENTITY"):
        con.execute("CREATE SERIES t ON POLICY q KEY 'SERIES_KEY'")


@pytest.mark.one_in(45)
@pytest.mark.parametrize("required", ["composition(max => 1, changed => 'ignored')", "m_invariance(m => 2)", ""])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ALTER POLICY p ALTER COLUMN disease INSENSITIVE", "disease is no longer SENSITIVE"),
        (
            "ALTER TABLE people RENAME disease TO diag; CREATE OR REPLACE POLICY p ON people "
            "(name ENTITY, age QUASI IDENTIFIER, diag SENSITIVE) REQUIRE k_anonymity(k => 2)",
            "disease is no longer SENSITIVE",
        ),
        ("ALTER POLICY p ADD COLUMN sex QUASI IDENTIFIER; ALTER POLICY p ALTER COLUMN age SENSITIVE", "age was not"),
        (
            "ALTER TABLE people ALTER disease TYPE INTEGER USING length(disease)",
            "disease is INTEGER now and was VARCHAR",
        ),
        ("ALTER TABLE people ALTER name TYPE INTEGER USING ascii(name)", "name is INTEGER now and was VARCHAR"),
    ],
)
def test_columns_that_mean_something_else_are_refused(con: Connection, required: str, change: str, words: str) -> None:
    con.execute("ALTER TABLE people ADD COLUMN sex VARCHAR")
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' {f'REQUIRE {required}' if required else ''}")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s")
    for statement in change.split("; "):
        con.duckdb.execute(statement) if statement.startswith("ALTER TABLE") else con.execute(statement)
    with pytest.raises(PolicyError, match=words):
        con.execute("CREATE ANONYMIZED TABLE b AS POLICY p IN SERIES s")
    assert checked(con, "a", "s")["m_invariance"][0] == "disease"


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("kind", "is_known"),
    [
        *(
            (kind, True)
            for kind in ("INTEGER", "HUGEINT", "DECIMAL(18,3)", "UUID", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIME")
        ),
        *((kind, False) for kind in ("DOUBLE", "FLOAT", "INTERVAL", "INTEGER[]")),
    ],
)
def test_respondents_of_a_type_are_known_again_in_any_session(con: Connection, kind: str, is_known: bool) -> None:
    made = {
        "UUID": "md5(i::VARCHAR)::UUID",
        "DATE": "DATE '2020-01-01' + i::INTEGER",
        "TIMESTAMP": "TIMESTAMP '2020-01-01' + INTERVAL (i) HOUR",
        "TIMESTAMPTZ": "TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i) HOUR",
        "TIME": "TIME '00:00:00' + INTERVAL (i) HOUR",
        "INTERVAL": "INTERVAL (i) DAY",
        "INTEGER[]": "[i]",
    }.get(kind, f"i::{kind}")
    con.execute(
        "CREATE OR REPLACE TABLE people AS "
        f"SELECT {made} AS name, i // 2 AS age, 'd' || i % 2 AS disease FROM range(8) t(i)"
    )
    create = "CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)"
    if not is_known:
        with pytest.raises(PolicyError, match="cannot recognize name"):
            con.execute(create)
        return
    con.execute(create)
    for number, zone in enumerate(("UTC", "Asia/Tokyo")):
        con.duckdb.execute(f"SET TimeZone = '{zone}'")
        con.execute(f"CREATE ANONYMIZED TABLE made_{number} AS POLICY p IN SERIES s")
    assert ("s", "p", 2, 8) in con.execute("SHOW SERIES").fetchall()


def test_equal_values_are_one_value(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE people AS "
        "FROM (VALUES (1, 0, 0.0::DOUBLE), (2, 0, '-0.0'::DOUBLE)) t (name, age, disease)"
    )
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s")
    assert {name: row[2] for name, row in checked(con, "a", "s").items()} == {"composition": 1, "m_invariance": 1}


def test_moments_are_compared_in_utc(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE people AS SELECT i AS name, i // 2 AS age, "
        "TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i % 2) HOUR AS disease FROM range(4) t(i)"
    )
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s")
    con.duckdb.execute("SET TimeZone = 'America/New_York'")
    con.execute("CREATE ANONYMIZED TABLE b AS POLICY p IN SERIES s")
    assert checked(con, "a", "s")["composition"][2] == 0.5


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("most", "rest", "limit"), [(3, 2, 0.6), (3, 1, 0.75), (7, 3, 0.7)])
def test_rounding_breaks_no_promise(con: Connection, most: int, rest: int, limit: float) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE people AS "
        f"SELECT i AS name, 1 AS age, if(i < {most}, 'a', 'b') AS disease FROM range({most + rest}) t(i)"
    )
    con.execute(f"CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => {limit})")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY p IN SERIES s")
    assert checked(con, "a", "s")["composition"] == ("disease", limit, limit, True)


def test_many_releases_of_large_classes_have_a_figure(con: Connection) -> None:
    """The product of the rows of 500 classes has no number in a computer; its logarithm has."""
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    (series,) = con.duckdb.execute("SELECT series_id FROM anon.series WHERE series = 's'").fetchone() or (None,)
    con.duckdb.execute(
        f"INSERT INTO anon.series_value SELECT '{series}', 1, ?, 'disease', v, 3000 FROM (VALUES ('a'), ('b')) t(v)",
        [set_of_values := uuid4()],
    )
    con.duckdb.execute(
        f"INSERT INTO anon.series_class SELECT '{series}', i, 0, 'disease', ? FROM range(1, 501) t(i)", [set_of_values]
    )
    con.duckdb.execute(f"INSERT INTO anon.series_member SELECT '{series}', i, 0, uuid() FROM range(1, 501) t(i)")
    engine = DuckDBEngine(con.duckdb)
    with TempTables(engine) as temp:
        reached = {m.question: m.achieved for m in measured_together(engine, load(engine, "s"), temp)}
    assert reached["composition"] == 0.5


def test_if_not_exists_finds_no_release_of_another_series(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE outside AS POLICY p")
    create = "CREATE ANONYMIZED TABLE IF NOT EXISTS {} AS POLICY p IN SERIES {}"
    con.execute(create.format("r1", "MONTHLY"))
    for name, series, words in (
        ("outside", "monthly", "is in no series"),
        ("r1", "nothing", "there is no series nothing"),
    ):
        with pytest.raises(UserError, match=words):
            con.execute(create.format(name, series))


def test_a_policy_may_be_renamed(con: Connection) -> None:
    con.execute("ALTER POLICY p RENAME TO q")
    con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY q IN SERIES monthly")
    assert con.execute("SHOW SERIES").fetchall() == [("monthly", "q", 2, 4)]


def test_a_policy_without_sensitive_columns_has_a_series_of_classes(con: Connection) -> None:
    con.execute("CREATE POLICY q ON people (name ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE SERIES s ON POLICY q KEY 'SERIES_KEY'")
    con.execute("CREATE ANONYMIZED TABLE a AS POLICY q IN SERIES s")
    assert checked(con, "a", "s") == {}
    con.duckdb.execute("DELETE FROM a WHERE rowid = 0")
    with pytest.raises(PrivacyViolation, match="does not show the classes that it had"):
        con.execute("CHECK a IN SERIES s")
    with pytest.raises(PolicyError, match="no SENSITIVE column"):
        con.execute("CREATE SERIES t ON POLICY q KEY 'SERIES_KEY' REQUIRE composition(max => 0.5)")


def test_another_key_is_noticed(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERIES_KEY", KEY + "!")
    with pytest.raises(PolicyError, match="no respondent would be recognized"):
        con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p IN SERIES monthly")
    assert checked(con, "r1")["composition"][2] == 0.5


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM anon.series_member WHERE rowid = 0",
        "UPDATE anon.series_member SET class_no = 1 - class_no WHERE rowid = 0",
        "UPDATE anon.series_value SET n = n + 1 WHERE rowid = 0",
        "UPDATE anon.series_value SET value = NULL WHERE rowid = 0",
        "DELETE FROM anon.series_release",
        "UPDATE anon.series_release SET position = 2",
        "DELETE FROM anon.series_requirement",
        "UPDATE anon.series_requirement SET arguments = replace(arguments, '0.5', '1.0')",
        "UPDATE anon.series SET attributes = '[]'",
        "INSERT INTO anon.series_member SELECT series_id, 2, class_no, respondent FROM anon.series_member",
        "INSERT INTO anon.series_class SELECT series_id, 7, class_no, attribute, value_set FROM anon.series_class",
        "INSERT INTO anon.series_value SELECT series_id, 7, value_set, attribute, value, n FROM anon.series_value",
        "DELETE FROM anon.series_release; DELETE FROM anon.series_member; DELETE FROM anon.series_class; "
        "DELETE FROM anon.series_value",
    ],
)
def test_a_ledger_with_other_rows_is_not_believed(con: Connection, change: str) -> None:
    con.duckdb.execute(change)
    with pytest.raises(CatalogError, match="the rows of its ledger were changed"):
        con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p IN SERIES monthly")


def test_a_release_with_other_rows_than_the_ledger_is_not_believed(con: Connection) -> None:
    con.duckdb.execute("UPDATE r1 SET disease = 'flu'")
    with pytest.raises(PrivacyViolation, match="does not show the classes that it had"):
        con.execute("CHECK r1 IN SERIES monthly")


@pytest.mark.long
def test_a_release_that_is_gone_still_counts(con: Connection) -> None:
    """What was published stays known: replacing or dropping a release does not take it back."""
    con.execute("DROP ANONYMIZED TABLE r1")
    con.execute(TELLING)
    with pytest.raises(PrivacyViolation, match="composition"):
        con.execute("CREATE ANONYMIZED TABLE r1 AS POLICY p IN SERIES monthly")
    con.execute("CREATE ANONYMIZED TABLE other AS POLICY p")
    with pytest.raises(UserError, match=r"main\.other is not in series monthly"):
        con.execute("CHECK other IN SERIES monthly")


def test_a_release_whose_table_is_gone_is_made_again_in_its_series(con: Connection) -> None:
    con.duckdb.execute("DROP TABLE r1")
    with pytest.raises(UserError, match="is gone") as error:
        con.execute("CHECK r1 IN SERIES monthly")
    assert 'IN SERIES "monthly" makes it again' in str(error.value.hint)


def test_drop_erases_the_ledger_and_keeps_the_releases(con: Connection) -> None:
    con.execute("DROP SERIES Monthly")
    assert ledger(con) == [[]] * 6
    assert con.execute("SELECT count(*) FROM r1").fetchone() == (4,)
    con.execute("DROP SERIES IF EXISTS monthly")
    con.execute("CREATE SERIES IF NOT EXISTS monthly ON POLICY p KEY 'SERIES_KEY'")
    con.execute("CREATE SERIES IF NOT EXISTS monthly ON POLICY p KEY 'SERIES_KEY'")


def test_an_export_has_nothing_of_the_ledger(con: Connection, tmp_path: Path) -> None:
    tokens = [
        str(row[0]) for row in con.duckdb.execute("SELECT DISTINCT respondent FROM anon.series_member").fetchall()
    ]
    con.execute(f"EXPORT r1 TO '{tmp_path}/out' (FORMAT csv)")
    con.execute(f"EXPORT r1 TO '{tmp_path}/out.duckdb'")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            held = path.read_bytes().replace(b"-", b"")
            assert not any(token.replace("-", "").encode() in held for token in tokens)
    with sqlanon.connect(tmp_path / "out.duckdb") as receiver:
        tables = {row[0] for row in receiver.duckdb.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert not any(name.startswith("series") for name in tables)


@pytest.mark.long
def test_hostile_names(con: Connection) -> None:
    con.execute(
        """CREATE TABLE "a ""table" AS SELECT i AS "the 'one'", i // 2 AS "class", i % 2 AS "SELECT" FROM range(6) t(i);
        CREATE POLICY "p ö" ON "a ""table" ("the 'one'" ENTITY, "class" QUASI IDENTIFIER, "SELECT" SENSITIVE)
            REQUIRE k_anonymity(k => 2);
        CREATE SERIES "ser'ies ""x" ON POLICY "p ö" KEY 'SERIES_KEY' REQUIRE m_invariance(2), composition(max => 0.5);
        CREATE ANONYMIZED TABLE "re ""lease" AS POLICY "p ö" IN SERIES "SER'ies ""x" """
    )
    rows = con.execute("""CHECK "re ""lease" IN SERIES "ser'ies ""x" """).fetchall()
    assert [tuple(row[1:]) for row in rows] == [
        ("composition", "SELECT", 0.5, 0.5, True),
        ("m_invariance", "SELECT", 2.0, 2.0, True),
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("method", ["mondrian", "mondrian(mode => 'relaxed')", "generalization(suppression => 0.5)"])
def test_methods_of_one_table(con: Connection, method: str) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE people AS "
        "SELECT 'n' || i AS name, i AS age, 'd' || i % 2 AS disease FROM range(40) t(i)"
    )
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY p METHOD {method} IN SERIES s")
    (rows,) = con.execute("SELECT count(*) FROM made").fetchone() or (None,)
    assert con.duckdb.execute("SELECT members FROM anon.series_release WHERE object_name = 'made'").fetchall() == [
        (rows,)
    ]
    assert checked(con, "made", "s")["composition"][2] >= 0.5
    assert [name for name, *_ in con.execute("DESCRIBE made").fetchall()] == ["age", "disease"]
