"""Streams: what they take, what they refuse, and what they do with rows that are late, gone, changed or unfit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import (
    CatalogError,
    Connection,
    DataError,
    EngineError,
    PolicyError,
    PrivacyViolation,
    StatementError,
    UserError,
)
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.statements.parser import hint_for, parse_script
from sqlanon.statements.run import run_statement
from tests.support.database import template

SETUP = """
CREATE TABLE visits (arrived INTEGER, person VARCHAR, age INTEGER, disease VARCHAR);
CREATE POLICY p ON visits (person ENTITY, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2);
"""
CALL = "stream(k => 2, delay => 4)"


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


def begin(con: Connection, call: str = CALL, policy: str = "p") -> None:
    con.execute(f"CREATE ANONYMIZED STREAM s AS POLICY {policy} ORDER BY arrived METHOD {call}")


def arrive(con: Connection, *rows: tuple[Any, ...]) -> None:
    for row in rows:
        con.duckdb.execute(f"INSERT INTO visits VALUES ({', '.join('?' * len(row))})", list(row))


def advance(con: Connection, rest: str = "") -> dict[str, Any]:
    result = con.execute(f"ADVANCE s {rest}")
    [row] = result.fetchall()
    return dict(zip([part[0] for part in result.description], row, strict=True))


def published(con: Connection) -> list[tuple[Any, ...]]:
    return sorted(con.duckdb.execute("SELECT * EXCLUDE (batch) FROM s").fetchall(), key=repr)


def state(con: Connection) -> list[Any]:
    tables = con.duckdb.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'anon' AND table_name LIKE 'stream%' ORDER BY ALL"
    ).fetchall()
    return [sorted(con.duckdb.execute(f'FROM anon."{name}"').fetchall(), key=repr) for (name,) in tables]


FOUR = [(1, "a", 30, "d1"), (2, "b", 31, "d2"), (3, "c", 50, "d3"), (4, "d", 51, "d4")]


def test_nothing_is_published_before_a_row_is_due(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR[:3])
    assert advance(con)["released_rows"] == 0
    assert published(con) == []
    arrive(con, FOUR[3])
    assert advance(con) == {
        "stream": "main.s",
        "batch": 2,
        "read_rows": 1,
        "classes": 1,
        "released_rows": 2,
        "reused_rows": 0,
        "withheld_rows": 0,
        "late_rows": 0,
        "vanished_rows": 0,
        "waiting_rows": 2,
        "required": 2.0,
        "achieved": 2.0,
    }
    assert published(con) == [("[30, 31]", "d1"), ("[30, 31]", "d2")]


def test_what_is_published_has_no_respondent_and_no_moment(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con, "TO END")
    assert [name for name, *_ in con.duckdb.execute("FROM s").description] == ["batch", "age", "disease"]
    assert con.execute("CHECK s").fetchall() == [("main.s", "k_anonymity", None, 2.0, 2.0, True)]
    assert con.execute("SHOW STREAMS").fetchall() == [
        ("main.s", "p", "arrived", 2, "4", 1, 4, 4, 0, 0, 0, "there"),
    ]


def test_a_respondent_has_one_row_in_a_class(con: Connection) -> None:
    begin(con)
    arrive(con, (1, "a", 30, "d1"), (2, "a", 30, "d2"), (3, "b", 31, "d3"), (4, "a", 30, "d4"))
    assert advance(con)["released_rows"] == 2
    assert published(con) == [("[30, 31]", "d1"), ("[30, 31]", "d3")]
    # The others of the same respondent find nobody, and have the label of the class that covers them.
    assert advance(con, "TO END")["reused_rows"] == 2


def test_the_figures_of_a_stream_are_the_sums_of_its_batches(con: Connection) -> None:
    begin(con)
    arrive(con, (1, "a", 30, "d1"), (2, "a", 30, "d2"), (3, "b", 31, "d3"), (4, "a", 99, "d4"))
    batches = [advance(con)]
    arrive(con, (2, "c", 30, "late"), (5, "a", 30, "d5"))
    con.execute("DELETE FROM visits WHERE arrived = 1")
    batches += [advance(con), advance(con, "TO END")]
    result = con.execute("SHOW STREAMS")
    [row] = result.fetchall()
    shown = dict(zip([part[0] for part in result.description], row, strict=True))
    parts = ("released_rows", "reused_rows", "withheld_rows")
    for name in ("read_rows", *parts):
        assert shown[name] == sum(batch[name] for batch in batches), name
    assert shown["read_rows"] == sum(shown[name] for name in parts) + shown["waiting_rows"] == 6
    assert [shown[name] for name in parts] == [2, 2, 2]
    assert sum(batch["late_rows"] for batch in batches) == sum(batch["vanished_rows"] for batch in batches) == 1


def test_without_reuse_a_row_that_finds_no_class_is_withheld(con: Connection) -> None:
    begin(con, "stream(k => 2, delay => 4, reuse => false)")
    arrive(con, *FOUR[:2], (3, "a", 30, "d3"))
    result = con.execute("ADVANCE s TO END")
    [row] = result.fetchall()
    assert row[4:7] == (2, 0, 1)
    assert published(con) == [("[30, 31]", "d1"), ("[30, 31]", "d2")]


def test_a_row_that_comes_late_is_withheld_and_counted_once(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    arrive(con, (2, "e", 30, "late"), (3, "f", 50, "late"))
    row = advance(con)
    assert (row["read_rows"], row["late_rows"], row["withheld_rows"], row["waiting_rows"]) == (2, 2, 2, 2)
    assert advance(con)["late_rows"] == 0
    advance(con, "TO END")
    assert "late" not in {disease for _, disease in published(con)}


def test_a_row_of_the_last_moment_that_was_read_is_not_late(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    arrive(con, (4, "e", 50, "d5"), (4, "d", 51, "d4"))
    row = advance(con)
    # The second is equal to one that was read: it is another row all the same.
    assert (row["read_rows"], row["late_rows"]) == (2, 0)
    [(waiting,)] = con.duckdb.execute("SELECT waiting_rows FROM anon.stream_batch WHERE batch = 2").fetchall()
    assert waiting + len(published(con)) == 6


def test_rows_that_vanish_are_counted_and_published_as_they_were_read(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    con.execute("DELETE FROM visits")
    assert advance(con)["vanished_rows"] == 4
    assert advance(con)["vanished_rows"] == 0
    assert advance(con, "TO END")["released_rows"] == 2
    assert [disease for _, disease in published(con)] == ["d1", "d2", "d3", "d4"]


@pytest.mark.long
@pytest.mark.parametrize("moment", [1, 4])
def test_a_row_that_is_changed_after_it_was_read_is_not_published_twice(con: Connection, moment: int) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    con.execute(f"UPDATE visits SET disease = 'changed' WHERE arrived = {moment}")
    row = advance(con)
    assert (row["read_rows"], row["late_rows"], row["vanished_rows"]) == (1, 1, 1)
    advance(con, "TO END")
    assert [disease for _, disease in published(con)] == ["d1", "d2", "d3", "d4"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("kind", "moment"), [("INTEGER", "{}"), ("TIMESTAMP WITH TIME ZONE", "make_timestamptz({} * 1000000)")]
)
def test_a_row_of_the_last_moment_that_is_deleted_and_put_back_is_late(con: Connection, kind: str, moment: str) -> None:
    def put(arrived: int, *rest: Any) -> None:
        con.duckdb.execute(f"INSERT INTO visits SELECT {moment.format(arrived)}, ?, ?, ?", list(rest))

    con.execute(f"ALTER TABLE visits ALTER arrived TYPE {kind} USING {moment.format('arrived')}")
    begin(con)
    for row in FOUR:
        put(*row)
    assert advance(con, "TO END")["released_rows"] == 4
    con.execute("DELETE FROM visits WHERE disease = 'd4'")
    assert advance(con)["vanished_rows"] == 1
    # Neither another ADVANCE nor another time zone makes it forget.
    con.duckdb.execute("SET TimeZone = 'Asia/Tokyo'")
    advance(con)
    put(*FOUR[3])
    again = advance(con, "TO END")
    assert (again["read_rows"], again["late_rows"], again["withheld_rows"], again["released_rows"]) == (1, 1, 1, 0)
    assert [disease for _, disease in published(con)] == ["d1", "d2", "d3", "d4"]
    # More rows with a later timestamp, the last one, may come.
    for person in "ef":
        put(5, person, 50, "new")
        assert advance(con)["late_rows"] == 0
    advance(con, "TO END")
    assert sorted(disease for _, disease in published(con)) == ["d1", "d2", "d3", "d4", "new", "new"]


def test_rows_without_a_respondent_are_withheld(con: Connection) -> None:
    begin(con)
    arrive(con, (1, None, 30, "nobody"), *[(n + 1, *rest) for n, *rest in FOUR])
    result = con.execute("ADVANCE s TO END")
    assert result.fetchall()[0][6] == 1
    assert "nobody" not in {disease for _, disease in published(con)}


def test_a_value_that_its_hierarchy_lacks_is_withheld_and_null_is_a_value_of_its_own(con: Connection) -> None:
    con.execute("CREATE HIERARCHY ages AS LEVELS (SELECT 30 + i, i // 2 FROM range(4) AS t(i))")
    con.execute(
        "CREATE POLICY listed ON visits (person ENTITY, age QUASI IDENTIFIER USING ages, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    begin(con, policy="listed")
    arrive(
        con,
        (1, "a", 30, "d1"),
        (2, "b", 31, "d2"),
        (3, "c", 99, "unlisted"),
        (4, "d", None, "d4"),
        (5, "e", None, "d5"),
    )
    row = advance(con, "TO END")
    assert (row["withheld_rows"], row["released_rows"]) == (1, 4)
    assert published(con) == [("0", "d1"), ("0", "d2"), (None, "d4"), (None, "d5")]


@pytest.mark.long
@pytest.mark.parametrize("value", ["NULL", "'infinity'", "'-infinity'", "'nan'"])
def test_what_has_no_distance_is_published_alike_and_with_numbers_as_a_star(con: Connection, value: str) -> None:
    con.execute("ALTER TABLE visits ALTER age TYPE DOUBLE")
    begin(con)
    arrive(con, (1, "a", 30, "d1"), (2, "b", 31, "d2"))
    con.execute(f"INSERT INTO visits VALUES (3, 'c', {value}, 'd3'), (4, 'd', {value}, 'd4')")
    advance(con, "TO END")
    alike = {"NULL": None, "'infinity'": "inf", "'-infinity'": "-inf", "'nan'": "nan"}[value]
    expected = [("[30.0, 31.0]", "d1"), ("[30.0, 31.0]", "d2"), (alike, "d3"), (alike, "d4")]
    assert published(con) == sorted(expected, key=repr)
    con.execute(f"INSERT INTO visits VALUES (5, 'a', {value}, 'd5'), (6, 'b', 30, 'd6'), (7, 'c', 99, 'd7')")
    assert advance(con, "TO END")["released_rows"] == 3
    assert con.duckdb.execute("SELECT DISTINCT age FROM s WHERE batch = 2").fetchall() == [("*",)]


@pytest.mark.filterwarnings("error")
def test_values_with_an_infinite_difference_are_the_farthest(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE visits (arrived INTEGER, person VARCHAR, age DOUBLE, disease VARCHAR)")
    begin(con)
    arrive(con, (1, "a", -1.7e308, "d1"), (2, "b", 1.7e308, "d2"), (3, "c", 0, "d3"), (4, "d", 1, "d4"))
    advance(con, "TO END")
    assert [text for text, _ in published(con)] == ["[-1.7e+308, 0.0]"] * 2 + ["[1.0, 1.7e+308]"] * 2


def test_values_with_an_infinite_difference_are_farther_than_all_rows_after_those_of_one_respondent(
    con: Connection,
) -> None:
    con.execute("CREATE OR REPLACE TABLE visits (arrived INTEGER, person VARCHAR, height DOUBLE, age DOUBLE)")
    con.execute(
        "CREATE POLICY q ON visits (person ENTITY, height QUASI IDENTIFIER, age QUASI IDENTIFIER) "
        "REQUIRE k_anonymity(k => 3)"
    )
    con.execute("CREATE ANONYMIZED STREAM s AS POLICY q ORDER BY arrived METHOD stream(k => 3, delay => 10)")
    near = [(number, "b", 0, 0) for number in range(2, 8)]
    arrive(con, (1, "a", -1.7e308, 0), *near, (8, "c", 0, 9), (9, "d", 1.7e308, 0), (10, "e", 0, 10))
    advance(con)
    assert con.duckdb.execute("SELECT DISTINCT height, age FROM s").fetchall() == [("[-1.7e+308, 0.0]", "[0.0, 9.0]")]


@pytest.mark.parametrize("value", ["NULL", "'infinity'"])
def test_below_a_max_level_what_has_no_distance_leaves_alone(con: Connection, value: str) -> None:
    con.execute("ALTER TABLE visits ALTER age TYPE DOUBLE")
    con.execute("CREATE HIERARCHY tens AS INTERVALS (10, 50)")
    con.execute(
        "CREATE POLICY b ON visits (person ENTITY, age QUASI IDENTIFIER USING tens MAX LEVEL 2, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    begin(con, policy="b")
    con.execute(f"INSERT INTO visits VALUES (1, 'a', {value}, 'd1'), (2, 'b', 30, 'd2'), (3, 'c', 31, 'd3')")
    assert advance(con, "TO END")["withheld_rows"] == 1
    assert published(con) == [("[30,40)", "d2"), ("[30,40)", "d3")]


def test_labels_stay_between_min_and_max_level(con: Connection) -> None:
    con.execute("CREATE HIERARCHY tens AS INTERVALS (10, 50)")
    con.execute(
        "CREATE POLICY b ON visits (person ENTITY, age QUASI IDENTIFIER USING tens MIN LEVEL 1 MAX LEVEL 1, "
        "disease SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    begin(con, "stream(k => 2, delay => 4)", "b")
    arrive(con, (1, "a", 30, "d1"), (2, "b", 30, "d2"), (3, "c", 50, "alone"), (4, "d", 65, "alone"))
    row = advance(con, "TO END")
    assert (row["released_rows"], row["withheld_rows"]) == (2, 2)
    assert published(con) == [("[30,40)", "d1"), ("[30,40)", "d2")]


@pytest.mark.long
def test_a_delay_of_time_is_over_when_a_later_row_arrives_or_when_the_user_says_so(con: Connection) -> None:
    con.execute("CREATE TABLE logs (arrived TIMESTAMP, person INTEGER, age INTEGER)")
    con.execute("CREATE POLICY l ON logs (person ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    begin(con, "stream(k => 2, delay => INTERVAL '10 minutes')", "l")
    con.execute("INSERT INTO logs VALUES ('2021-01-01 10:00', 1, 30), ('2021-01-01 10:05', 2, 31)")
    assert advance(con)["released_rows"] == 0
    con.execute("INSERT INTO logs VALUES ('2021-01-01 10:10', 3, 30)")
    assert advance(con)["released_rows"] == 2
    assert con.duckdb.execute("SELECT DISTINCT age FROM s").fetchall() == [("[30, 31]",)]
    con.execute("INSERT INTO logs VALUES ('2021-01-01 10:11', 4, 90)")
    assert advance(con, "TO '2021-01-01 10:19:59'")["released_rows"] == 0
    assert advance(con, "TO TIMESTAMP '2021-01-01 10:20'")["released_rows"] == 2
    # A row with an earlier timestamp arrives too late.
    con.execute("INSERT INTO logs VALUES ('2021-01-01 10:19', 5, 30)")
    assert advance(con)["late_rows"] == 1


@pytest.mark.long
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"])
def test_a_moment_that_is_none_or_still_to_come_is_refused(con: Connection, kind: str) -> None:
    con.execute(f"CREATE TABLE logs (arrived {kind}, person INTEGER, age INTEGER)")
    con.execute("CREATE POLICY l ON logs (person ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    begin(con, "stream(k => 2, delay => INTERVAL '1 day')", "l")
    con.execute("INSERT INTO logs VALUES ('2021-01-01', 1, 30), ('2021-01-01', 2, 31)")
    before = state(con)
    for moment in ("soon", "infinity", "-infinity", ""):
        with pytest.raises(PolicyError, match=f"and '{moment}' is no such timestamp") as error:
            con.execute(f"ADVANCE s TO '{moment}'")
        assert "2024-12-31" in str(error.value.hint)
    for moment in ("2200-01-01", str(datetime.now(UTC).date() + timedelta(days=3))):
        with pytest.raises(PolicyError, match=f"'{moment}' is in the future") as error:
            con.execute(f"ADVANCE s TO '{moment}'")
        assert "TO END" in str(error.value.hint)
        assert error.value.excerpt
    assert state(con) == before
    assert advance(con, f"TO '{datetime.now(UTC).date()}'")["released_rows"] == 2


def test_a_stream_of_a_query_and_of_two_quasi_identifiers(con: Connection) -> None:
    con.execute(
        "CREATE POLICY q ON (SELECT *, age % 2 = 0 AS even FROM visits WHERE age > 0) "
        "(person ENTITY, age QUASI IDENTIFIER, even QUASI IDENTIFIER, disease INSENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    begin(con, policy="q")
    arrive(con, *FOUR, (5, "x", -1, "left out"))
    advance(con, "TO END")
    # Another parity is as far as the oldest from the youngest.
    assert published(con) == [
        ("[30, 50]", "true", "d1"),
        ("[30, 50]", "true", "d3"),
        ("[31, 51]", "false", "d2"),
        ("[31, 51]", "false", "d4"),
    ]


def test_an_advance_with_nothing_new_publishes_nothing(con: Connection) -> None:
    begin(con)
    assert advance(con)["read_rows"] == 0
    assert advance(con, "TO END")["released_rows"] == 0
    assert con.execute("CHECK s").fetchall() == [("main.s", "k_anonymity", None, 2.0, None, True)]


def test_a_stream_goes_on_after_its_end(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con, "TO END")
    arrive(con, *[(n + 4, *rest) for n, *rest in FOUR])
    assert advance(con, "TO END")["released_rows"] == 4


def test_it_goes_on_in_another_session(tmp_path: Path) -> None:
    path = tmp_path / "visits.duckdb"
    with sqlanon.connect(path) as first:
        first.execute(SETUP)
        begin(first)
        arrive(first, *FOUR[:3])
        advance(first)
    with sqlanon.connect(path) as second:
        arrive(second, FOUR[3])
        assert advance(second)["released_rows"] == 2


def test_a_failure_leaves_everything_as_it_was(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    before = state(con)
    con.duckdb.execute("INSERT INTO visits VALUES (NULL, 'x', 1, 'secret')")
    with pytest.raises(
        DataError, match="without arrived, or with an infinite one, are due, and the source has 1 row of that kind"
    ) as error:
        con.execute("ADVANCE s")
    assert "secret" not in str(error.value)
    assert (state(con), published(con)) == (before, [])


def test_a_rollback_takes_an_advance_back(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    before = state(con)
    con.execute("BEGIN")
    advance(con)
    con.execute("ROLLBACK")
    assert (state(con), published(con)) == (before, [])


def test_of_two_that_advance_at_once_one_does_nothing(tmp_path: Path) -> None:
    with sqlanon.connect(tmp_path / "visits.duckdb") as first:
        first.execute(SETUP)
        begin(first)
        arrive(first, *FOUR)
        second = first.cursor()
        first.execute("BEGIN")
        advance(first, "TO END")
        with pytest.raises(EngineError, match="Conflict on update"):
            second.execute("ADVANCE s TO END")
        first.execute("COMMIT")
        assert [disease for _, disease in published(second)] == ["d1", "d2", "d3", "d4"]
        assert advance(second)["read_rows"] == 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ALTER POLICY p ADD REQUIRE l_diversity(l => 2)", "policy p or a hierarchy of it has changed"),
        ("ALTER POLICY p ALTER COLUMN age QUASI IDENTIFIER WEIGHT 2", "policy p or a hierarchy of it has changed"),
        ("ALTER TABLE visits ALTER age TYPE BIGINT", "the source visits has other columns or types"),
        ("CREATE OR REPLACE TABLE visits (arrived INTEGER, person VARCHAR)", "has no column age"),
        ("DROP TABLE visits", "there is no table or view visits"),
        ("DROP POLICY p", "there is no policy p"),
        ("DROP TABLE s", "the table of the stream main.s is gone, or has other columns"),
        ("DELETE FROM s", "main.s does not have the rows that were published"),
    ],
)
def test_what_was_changed_below_a_stream_is_refused(con: Connection, change: str, message: str) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    con.execute(change)
    before = state(con)
    with pytest.raises(UserError, match=message):
        con.execute("ADVANCE s")
    assert state(con) == before


def test_another_source_of_the_same_columns_is_late_where_it_is_not_new(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    con.execute("CREATE OR REPLACE TABLE visits AS SELECT * REPLACE (arrived + 2 AS arrived) FROM visits")
    row = advance(con)
    # The moment 4 had been read, and what was read of it has vanished.
    assert (row["vanished_rows"], row["late_rows"], row["read_rows"]) == (4, 2, 4)


def test_a_policy_may_be_renamed(con: Connection) -> None:
    begin(con)
    con.execute("ALTER POLICY p RENAME TO q")
    assert advance(con)["batch"] == 1
    assert con.execute("SHOW STREAMS").fetchall()[0][1] == "q"


@pytest.mark.parametrize("tamper", ["UPDATE s SET disease = 'x'", "UPDATE s SET age = '30' WHERE disease = 'd1'"])
def test_check_notices_other_rows_than_were_published(con: Connection, tamper: str) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    con.execute(tamper)
    with pytest.raises(PrivacyViolation, match=r"main\.s does not have the rows that were published"):
        con.execute("CHECK s")


def test_equal_rows_that_are_changed_in_pairs_are_noticed(con: Connection) -> None:
    begin(con)
    arrive(con, (1, "a", 30, "gout"), (2, "b", 30, "gout"), (3, "c", 30, "flu"), (4, "d", 30, "flu"))
    advance(con, "TO END")
    assert published(con) == [("30", "flu"), ("30", "flu"), ("30", "gout"), ("30", "gout")]
    con.execute("UPDATE s SET disease = 'FORGED' WHERE disease = 'gout'")
    with pytest.raises(PrivacyViolation, match=r"main\.s does not have the rows that were published"):
        con.execute("CHECK s")
    with pytest.raises(UserError, match=r"main\.s does not have the rows that were published; nothing was done"):
        con.execute("ADVANCE s")
    con.execute("UPDATE s SET disease = 'gout' WHERE disease = 'FORGED'")
    assert con.execute("CHECK s").fetchall()[0][-1] is True


REFUSED_POLICIES = {
    "l_diversity": (
        "(person ENTITY, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE l_diversity(l => 2)",
        "supports only k_anonymity",
    ),
    "t_closeness": (
        "(person ENTITY, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE t_closeness(t => 0.5)",
        "supports only k_anonymity",
    ),
    "delta_disclosure": (
        "(person ENTITY, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE delta_disclosure(delta => 1)",
        "supports only k_anonymity",
    ),
    "on": (
        "(person ENTITY, age QUASI IDENTIFIER, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2, on => (age)), "
        "k_anonymity(k => 2, on => (disease))",
        r"requires k_anonymity\(k => 2\) on \(age\), but the classes of a stream have all",
    ),
    "more": ("(person ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 3)", "requires k_anonymity"),
    "pseudonym": (
        "(person ENTITY PSEUDONYM, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
        "does not publish pseudonyms",
    ),
    "confidential": ("(age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease)", "says CONFIDENTIAL"),
    "shown": (
        "(age QUASI IDENTIFIER, arrived INSENSITIVE) REQUIRE k_anonymity(k => 2)",
        "would be published unchanged",
    ),
}


@pytest.mark.parametrize("kind", REFUSED_POLICIES)
def test_a_policy_that_a_stream_cannot_keep_is_refused(con: Connection, kind: str) -> None:
    text, message = REFUSED_POLICIES[kind]
    con.execute(f"CREATE POLICY other ON visits {text}")
    with pytest.raises(PolicyError, match=message) as error:
        begin(con, policy="other")
    assert error.value.hint
    assert ("leave on => (...) out" in error.value.hint) == (kind == "on")
    assert con.execute("SHOW STREAMS").fetchall() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("stream(k => 3, delay => 2)", "with delay => 2 a row never meets the 2 others"),
        ("stream(k => 1, delay => 2)", "k must be a whole number from 2, not 1"),
        ("stream(k => 3)", "lacks its argument 'delay'"),
        ("stream(delay => 9)", "lacks its argument 'k'"),
        ("stream(k => 2, delay => 4, size => 2)", "has no argument 'size'"),
        ("stream(k => 2, delay => 0.5)", "delay must be a whole number of rows, or a time"),
        ("stream(k => 2, delay => 'soon')", "delay must be a number of rows or an interval, not 'soon'"),
        ("stream(k => 2, delay => INTERVAL '-1 day')", "delay must be a number of rows or an interval"),
        ("stream(k => 2, delay => INTERVAL '1 day')", "a delay of 1 day is one of time, and arrived is INTEGER"),
        ("mondrian", "a stream is published by METHOD stream, not by mondrian"),
    ],
)
def test_arguments_that_say_nothing_are_refused(con: Connection, call: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message) as error:
        begin(con, call)
    assert error.value.hint
    assert error.value.excerpt is not None


@pytest.mark.parametrize(
    ("kind", "values"),
    [("VARCHAR", "'1'"), ("DOUBLE", "1.5"), ("TIME", "'10:00'")],
)
def test_rows_are_in_the_order_of_whole_numbers_or_moments(con: Connection, kind: str, values: str) -> None:
    con.execute(f"ALTER TABLE visits ALTER arrived TYPE {kind} USING {values}::{kind}")
    with pytest.raises(PolicyError, match=f"rows arrive in the order of arrived, and it is {kind}"):
        begin(con)


def test_a_column_that_is_not_there_is_pointed_at(con: Connection) -> None:
    with pytest.raises(PolicyError, match="has no column arived") as error:
        con.execute("CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY arived METHOD stream(k => 2, delay => 4)")
    assert "arrived" in str(error.value.hint)
    line, caret = str(error.value.excerpt).splitlines()
    assert line.index("arived") == caret.index("^")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "CREATE OR REPLACE ANONYMIZED STREAM s AS POLICY p ORDER BY arrived METHOD stream(2, delay => 3)",
            "is not replaced",
        ),
        ("CREATE ANONYMIZED STREAM s AS POLICY p METHOD stream(k => 2, delay => 3)", "expected ORDER"),
        ("CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY arrived", "expected METHOD"),
        ("CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY arrived DESC METHOD stream(k => 2, delay => 3)", "one order"),
        (
            "EXPLAIN ANONYMIZED STREAM s AS POLICY p ORDER BY arrived METHOD stream(k => 2, delay => 3)",
            "cannot be explained",
        ),
        ("REFRESH ANONYMIZED STREAM s", "is not made again"),
        ("ADVANCE", "expected the name of the stream"),
        ("ADVANCE s FROM 3", "TO END"),
        ("ADVANCE s TO 3", "expected END or a timestamp in quotes"),
        ("CREATE ANONYMIZED TABLE s AS POLICY p METHOD stream(k => 2, delay => 3)", "METHOD stream makes no table"),
        (
            "CREATE STREAM s AS POLICY p ORDER BY arrived METHOD stream(k => 2, delay => 3)",
            "there is no such statement",
        ),
        ("DROP STREAM IF EXISTS s", "there is no such statement"),
        ("SHOW STREAM s", "there is no such statement"),
        ("DESCRIBE STREAM s", "there is no such statement"),
        ("EXPLAIN ANONYMIZED STRAEM s", "expected VIEW or TABLE"),
        ("DROP ANONYMIZED STRAEM s", "expected VIEW, TABLE or STREAM"),
        ("CREATE ANONYMIZED STRAEM s AS POLICY p", "expected VIEW, TABLE or STREAM"),
    ],
)
def test_statements_that_are_not_written_correctly(con: Connection, statement: str, message: str) -> None:
    with pytest.raises(StatementError, match=message) as error:
        con.execute(statement)
    assert error.value.hint
    assert error.value.excerpt


def test_what_is_asked_of_a_release_says_what_a_stream_has_instead(con: Connection, tmp_path: Path) -> None:
    begin(con)
    arrive(con, *FOUR)
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 3, seed => 1)")
    for statement in (
        f"EXPORT s TO '{tmp_path}/out/'",
        "ESTIMATE SELECT count(*) FROM visits FROM RELEASE s",
        "MEASURE s WITH WORKLOAD w",
        "MEASURE s WITH FIGURES (membership)",
        "ATTACK s WITH homogeneity",
        "REFRESH ANONYMIZED TABLE s",
        "DROP ANONYMIZED TABLE s",
        "CHECK s JOINED WITH RELEASE s ON (age) REQUIRE xy_anonymity(x => (age), y => disease, k => 2)",
    ):
        with pytest.raises(UserError, match="s is a stream, not a release") as error:
            con.execute(statement)
        assert "DROP ANONYMIZED STREAM" in str(error.value.hint), statement


def test_a_release_is_not_advanced(con: Connection) -> None:
    arrive(con, *FOUR)
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian")
    with pytest.raises(UserError, match=r"main\.r is a release, not a stream") as error:
        con.execute("ADVANCE r")
    assert "REFRESH" in str(error.value.hint)


def test_a_misspelt_advance_is_understood(con: Connection) -> None:
    with pytest.raises(Exception, match="ADVNACE") as error:
        con.execute("ADVNACE s")
    assert hint_for(error.value, "ADVNACE s") == "did you mean ADVANCE?"


def test_names_with_blanks_and_quotes_in_another_schema(con: Connection) -> None:
    con.execute('CREATE SCHEMA "the s"')
    con.execute('CREATE TABLE "the s"."v""s" ("at; --" INTEGER, "its" INTEGER, "ä b" INTEGER)')
    con.execute(
        'CREATE POLICY "a p" ON "the s"."v""s" ("its" ENTITY, "ä b" QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)'
    )
    name = '"the s"."s""1"'
    con.execute(f'CREATE ANONYMIZED STREAM {name} AS POLICY "a p" ORDER BY "at; --" METHOD stream(k => 2, delay => 2)')
    con.duckdb.execute('INSERT INTO "the s"."v""s" SELECT i, i, i FROM range(5) AS t(i)')
    con.execute(f"ADVANCE {name} TO END")
    assert con.execute(f"CHECK {name}").fetchall()[0][-1] is True
    assert sorted(con.duckdb.execute(f'SELECT "ä b" FROM {name}').fetchall()) == [("[0, 1]",)] * 2 + [("[2, 3]",)] * 2
    con.execute(f"DROP ANONYMIZED STREAM {name}")


@pytest.mark.long
def test_what_is_withheld_is_said_in_a_remark(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR, (5, None, 1, "nobody"))
    advance(con)
    arrive(con, (1, "z", 30, "late"))
    result = run_statement(DuckDBEngine(con.duckdb), parse_script("ADVANCE s TO END")[0])
    assert result.remarks[0].startswith("withheld for coming before what had been read: 1 row;")
    assert not any(word in " ".join(result.remarks) for word in ("nobody", "'z'"))


def test_names_that_are_taken(con: Connection) -> None:
    begin(con)
    with pytest.raises(UserError, match=r"the stream main\.s exists already"):
        begin(con)
    con.execute(
        "CREATE ANONYMIZED STREAM IF NOT EXISTS s AS POLICY p ORDER BY arrived METHOD stream(k => 2, delay => 4)"
    )
    with pytest.raises(UserError, match=r"there is a table main\.visits already"):
        con.execute("CREATE ANONYMIZED STREAM visits AS POLICY p ORDER BY arrived METHOD stream(k => 2, delay => 4)")
    for head in ("CREATE", "CREATE OR REPLACE"):
        with pytest.raises(UserError):
            con.execute(f"{head} ANONYMIZED TABLE s AS POLICY p METHOD mondrian")
    assert con.execute("SHOW STREAMS").fetchall()[0][-1] == "there"


def test_dropping_a_stream_leaves_nothing_of_it(con: Connection) -> None:
    begin(con)
    arrive(con, *FOUR)
    advance(con)
    con.execute("DROP ANONYMIZED STREAM s")
    assert state(con) == [[], [], []]
    assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 's'").fetchall() == [(0,)]
    with pytest.raises(UserError, match=r"there is no stream main\.s"):
        con.execute("DROP ANONYMIZED STREAM s")
    con.execute("DROP ANONYMIZED STREAM IF EXISTS s")
    with pytest.raises(UserError, match=r"there is no stream main\.s"):
        con.execute("ADVANCE s")


def test_a_table_that_has_taken_its_name_stays(con: Connection) -> None:
    begin(con)
    con.execute("DROP TABLE s")
    con.execute("CREATE TABLE s AS SELECT 1 AS other")
    assert con.execute("SHOW STREAMS").fetchall()[0][-1] == "dropped or changed"
    con.execute("DROP ANONYMIZED STREAM s")
    assert con.execute("FROM s").fetchall() == [(1,)]


@pytest.mark.long
def test_a_release_of_the_same_source_is_warned_of_and_so_is_a_stream(con: Connection, tmp_path: Path) -> None:
    arrive(con, *FOUR)
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian")
    begin(con)
    warning = con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD mondrian").fetchall()[0][-2]
    assert "main.s (a stream) is made from the same source" in warning
    # So is a release that is made from what the stream has published.
    advance(con, "TO END")
    con.execute("CREATE POLICY again ON s (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)")
    warning = con.execute("CREATE ANONYMIZED TABLE r2 AS POLICY again METHOD mondrian").fetchall()[0][-2]
    assert "main.r and main.s (a stream) are made from the same source" in warning
    con.execute(f"EXPORT r TO '{tmp_path}/out/'")
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert [(other["release"], other["kind"]) for other in certificate["other_releases"]] == [
        ("r2", "table"),
        ("s", "stream"),
    ]


@pytest.mark.parametrize("purpose", ["waiting", "read", "label"])
def test_a_stream_that_has_lost_its_state_is_refused_and_can_be_dropped(con: Connection, purpose: str) -> None:
    begin(con)
    [(name,)] = con.duckdb.execute("SELECT stream_id FROM anon.stream").fetchall()
    con.duckdb.execute(f"DROP TABLE anon.stream_{purpose}_{name}")
    with pytest.raises(CatalogError, match=rf"lacks its table anon\.stream_{purpose}"):
        con.execute("ADVANCE s")
    con.execute("DROP ANONYMIZED STREAM s")
    assert state(con) == [[], [], []]


@pytest.mark.long
def test_the_nearest_rows_are_near_by_the_weights_of_the_columns(con: Connection) -> None:
    con.execute("CREATE TABLE two (arrived INTEGER, a INTEGER, b INTEGER, id INTEGER)")
    for name, weights in (("by_a", (3, 1)), ("by_b", (1, 3))):
        con.execute(
            f"CREATE POLICY {name} ON two (a QUASI IDENTIFIER WEIGHT {weights[0]}, b QUASI IDENTIFIER WEIGHT "
            f"{weights[1]}, id INSENSITIVE) REQUIRE k_anonymity(k => 2)"
        )
        con.execute(f"CREATE ANONYMIZED STREAM {name}_s AS POLICY {name} ORDER BY arrived METHOD {CALL}")
    # From the first the second is as far in b as the third is in a, and they are near in the other.
    con.execute("INSERT INTO two VALUES (1, 0, 0, 1), (2, 1, 9, 2), (3, 9, 1, 3), (4, 9, 9, 4)")
    for name, expected in (("by_a", [1, 2]), ("by_b", [1, 3])):
        con.execute(f"ADVANCE {name}_s")
        assert sorted(con.duckdb.execute(f"SELECT id FROM {name}_s").fetchall()) == [(n,) for n in expected]


def test_a_damaged_catalog_is_refused(con: Connection) -> None:
    begin(con)
    con.execute("UPDATE anon.stream SET delay = '[]'")
    for statement in ("ADVANCE s", "CHECK s"):
        with pytest.raises(CatalogError, match=r"its columns and its delay in anon\.stream cannot be read"):
            con.execute(statement)


def rows_in_order(con: Connection) -> Sequence[Any]:
    return con.duckdb.execute("SELECT disease FROM s").fetchall()


@pytest.mark.long
def test_rows_of_a_batch_are_in_an_order_that_nobody_can_draw_again() -> None:
    orders = set()
    for _ in range(3):
        con = sqlanon.connect(config={"threads": "1"})
        con.execute(SETUP)
        begin(con, "stream(k => 2, delay => 40)")
        arrive(con, *[(i, f"p{i}", 30, f"d{i:02}") for i in range(12)])
        con.execute("SELECT setseed(0.5)")
        advance(con, "TO END")
        orders.add(tuple(rows_in_order(con)))
    assert len(orders) == 3
    assert tuple((f"d{i:02}",) for i in range(12)) not in orders


@pytest.mark.parametrize("kind", ["TIMESTAMPTZ[]", "STRUCT(seen TIMESTAMPTZ)"])
def test_rows_are_not_known_again_by_moments_within_other_values(con: Connection, kind: str) -> None:
    con.execute(f"ALTER TABLE visits ALTER disease TYPE {kind} USING NULL")
    with pytest.raises(PolicyError, match="depend on the time zone of the session") as error:
        begin(con)
    assert "cast it in a query" in str(error.value.hint)
