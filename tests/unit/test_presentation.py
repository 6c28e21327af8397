"""Values as text and JSON, tables for a terminal and a pipe, and the live line."""

from __future__ import annotations

import io
import json
import math
import re
import time
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon import connect
from sqlanon.clients.terminal import scripts
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.presentation.rows import Rows, cell_text, json_value, one_line
from sqlanon.clients.terminal.scripts import ScriptRun
from sqlanon.errors import Position, PrivacyViolation, StatementError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def output(*, terminal: bool = False, **options: Any) -> Output:
    kind = Terminal if terminal else io.StringIO
    return Output(_stdout=kind(), _stderr=kind(), **options)


def printed(made: Output) -> tuple[str, str]:
    assert made._stdout is not None
    assert made._stderr is not None
    return made._stdout.getvalue(), made._stderr.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "true"),
        (b"\x00\xff", "\\x00ff"),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02 03:04:05"),
        ("a\nb\x1b[31m", "a\\nb\\x1b[31m"),
        ({"a": [1, None]}, '{"a": [1, null]}'),
        (Decimal("1.50"), "1.50"),
        ("Ünïcode 名", "Ünïcode 名"),
    ],
)
def test_a_cell(value: object, text: str) -> None:
    assert cell_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (605.800000000003, "605.8"),
        (4.0, "4.0"),
        (0.0, "0.0"),
        (-0.4749460123, "-0.474946"),
        (1856759.25, "1856759.25"),
        (0.0000123456789, "1.23457e-05"),
        (math.inf, "inf"),
        (math.nan, "nan"),
        (Decimal("0.123456789"), "0.123456789"),
    ],
)
def test_tables_round_figures_and_json_does_not(value: object, text: str) -> None:
    rows = Rows(("figure",), ((value,),))
    for made in (output(), output(terminal=True)):
        made.result(rows)
        assert re.search(rf"(^|[ |]){re.escape(text)}( |$)", printed(made)[0], re.MULTILINE)
    made = output(json=True)
    made.result(rows)
    shown = json.loads(printed(made)[0])["rows"][0]["figure"]
    assert shown == (value if isinstance(value, float) and math.isfinite(value) else json_value(value))


@pytest.mark.long
@given(st.text())
def test_no_text_can_drive_a_terminal(text: str) -> None:
    assert one_line(text).isprintable()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("5"), 5),
        (Decimal("0.1"), 0.1),
        (Decimal("0.12345678901234567890123"), "0.12345678901234567890123"),
        (math.inf, "inf"),
        (math.nan, "nan"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (timedelta(days=1), "1 day, 0:00:00"),
        ({1: date(2026, 1, 2)}, {"1": "2026-01-02"}),
        (2**100, 2**100),
    ],
)
def test_a_value_in_json(value: object, expected: object) -> None:
    assert json_value(value) == expected
    assert json.loads(json.dumps(json_value(value), allow_nan=False)) == expected


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_keeps_its_value_in_json(value: Decimal) -> None:
    said = json_value(value)
    assert Decimal(repr(said) if isinstance(said, float) else said) == value


def test_a_repeated_column_name_is_told_apart() -> None:
    assert Rows(("a", "a", "a_1"), ((1, 2, 3),)).records() == [{"a": 1, "a_1": 2, "a_1_1": 3}]


def test_no_more_than_the_limit_is_fetched() -> None:
    with duckdb.connect() as connection:
        rows = Rows.of(connection.sql("SELECT i FROM range(100) r(i)"), 3)
        exact = Rows.of(connection.sql("SELECT i FROM range(3) r(i)"), 3)
    assert rows == Rows(("i",), ((0,), (1,), (2,)), truncated=True)
    assert not exact.truncated


def test_a_pipe_gets_all_columns_uncut_and_no_colour() -> None:
    made = output()
    wide = Rows(tuple(f"column_{i}" for i in range(30)), (tuple("x" * 90 for _ in range(30)),))
    made.result(wide)
    out, err = printed(made)
    assert err == ""
    assert "\x1b" not in out
    assert out.count("x" * 90) == 30
    assert "…" not in out


def test_a_terminal_gets_the_columns_that_fit_and_is_told_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    columns = tuple(f"column_{i}" for i in range(9))
    made = output(terminal=True)
    made.result(Rows(columns, (tuple(range(9)),) * 7, truncated=True))
    out, _ = printed(made)
    assert "\x1b[" in out
    assert "not shown for lack of width: column_6, column_7, column_8" in out
    assert "the first 7 rows; there are more" in out
    few = output(terminal=True)
    few.result(Rows(columns, (tuple(range(9)),)))
    assert re.search(r"^column_8 +8$", printed(few)[0], re.MULTILINE)


def test_a_quiet_run_prints_errors_only() -> None:
    made = output(quiet=True)
    made.result(Rows(("a",), ((1,),)))
    made.status("working")
    made.error(StatementError("wrong", hint="right", position=Position(12, 5)), "script.sql")
    assert printed(made) == ("", "script.sql:12:5: error: wrong\n  hint: right\n")


def test_an_error_in_json() -> None:
    made = output(json=True)
    made.error(PrivacyViolation("too few", position=Position(2, 1), query="SELECT 1"), "a.sql")
    assert json.loads(printed(made)[1]) == {
        "error": "PrivacyViolation",
        "message": "too few",
        "hint": None,
        "script": "a.sql",
        "line": 2,
        "column": 1,
        "excerpt": None,
        "query": "SELECT 1",
        "exit_code": 1,
    }


def test_markup_in_names_is_printed_as_it_is() -> None:
    made = output()
    made.error(StatementError("no table [red]x[/] :smile:"), "[b].sql")
    made.result(Rows(("[bold]",), (("[/]",),)))
    out, err = printed(made)
    assert err == "[b].sql: error: no table [red]x[/] :smile:\n"
    assert "[bold]" in out
    assert "[/]" in out


def test_an_unexpected_error_says_its_kind_and_not_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SQLANON_DEBUG", raising=False)
    made = output()
    made.unexpected(ValueError("Alice has the flu"))
    assert "unexpected ValueError" in printed(made)[1]
    assert "Alice" not in printed(made)[1]
    monkeypatch.setenv("SQLANON_DEBUG", "1")
    made.unexpected(ValueError("Alice has the flu"))
    assert "Alice has the flu" in printed(made)[1]


def test_the_live_line_appears_only_on_a_terminal_and_only_for_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(scripts, "_SECONDS_BEFORE_LIVE_LINE", 0.05)

    def drawn(pause: float, **options: Any) -> str:
        made = output(**options)
        watch = scripts.Watch(made)
        watch.start()
        watch.observe("solve", None, 3, 10, "3 of 10 nodes checked")
        watch.observe("solve", "SELECT 1", None, None, None)
        time.sleep(pause)
        watch.stop()
        out, err = printed(made)
        assert out == ""
        return err

    assert "solve: 3 of 10 nodes checked" in drawn(2.0, terminal=True)
    assert drawn(0, terminal=True) == ""
    assert drawn(0.2) == ""
    assert drawn(0.2, terminal=True, quiet=True) == ""
    assert drawn(0.2, terminal=True, json=True) == ""


def test_verbose_shows_the_sql_of_each_stage() -> None:
    made = output(verbose=1)
    scripts.Watch(made).observe("check", "SELECT 1", None, None)
    assert printed(made) == ("", "-- check\nSELECT 1\n")


ALL_TYPES = """
    bool tinyint smallint int bigint hugeint uhugeint utinyint usmallint uint ubigint bignum date time timestamp
    timestamp_s timestamp_ms timestamp_ns time_tz timestamp_tz timestamp_tz_ns float double dec_4_1 dec_9_4 dec_18_6
    dec38_10 uuid interval varchar blob bit small_enum medium_enum large_enum int_array double_array date_array
    timestamp_array timestamptz_array varchar_array nested_int_array struct empty_struct struct_of_arrays
    array_of_structs map union fixed_int_array fixed_varchar_array fixed_nested_int_array fixed_nested_varchar_array
    fixed_struct_array struct_of_fixed_array fixed_array_of_int_list list_of_fixed_int_array time_ns geometry
    tuple""".split()


def test_every_type_is_there() -> None:
    assert connect().sql("FROM test_all_types() LIMIT 0").columns == ALL_TYPES


@pytest.mark.one_in(6)
@pytest.mark.parametrize("column", ALL_TYPES)
def test_every_type_is_shown(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its least and its greatest value and NULL: in a pipe, on a terminal and in JSON; none is an error."""
    monkeypatch.setenv("COLUMNS", "200")
    rows = Rows.of(connect().sql(f'SELECT "{column}" AS shown FROM test_all_types()'), limit=40)
    for made in (output(), output(terminal=True), output(json=True)):
        made.result(rows)
        shown, said = printed(made)
        assert "shown" in shown
        assert not said
    assert [row["shown"] for row in json.loads(shown)["rows"]][-1] is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("TIMESTAMPTZ '2026-07-01 12:00:00+00'", "2026-07-01 14:00:00+02:00"),
        ("[TIMESTAMPTZ '2026-07-01 12:00:00+00']", '["2026-07-01 14:00:00+02:00"]'),
        ("TIMETZ '12:00:00+02'", "12:00:00+02:00"),
    ],
)
def test_a_moment_is_shown_in_the_zone_of_the_session(value: str, text: str) -> None:
    with connect() as connection:
        connection.execute("SET TimeZone = 'Europe/Berlin'")
        ((shown,),) = Rows.of(connection.sql(f"SELECT {value}")).rows
    assert cell_text(shown) == text


def answered(script: str) -> str:
    """What a script prints on a terminal; the table and the policy `visits` are there."""
    con = connect()
    con.execute("""
        CREATE TABLE visits AS SELECT i % 50 AS age, 'A' || (i % 7) AS occupation_now,
            i % 9 AS weekly_hours, ['flu', 'cold', 'angina'][1 + i % 3] AS diagnosis FROM range(200) AS t(i);
        CREATE POLICY visits ON visits (age QUASI IDENTIFIER, diagnosis SENSITIVE) REQUIRE k_anonymity(k => 2);
    """)
    made = output(terminal=True)
    assert ScriptRun(con, made).run(script, "script.sql"), printed(made)
    return re.sub(r"\x1b\[[0-9;]*m", "", printed(made)[0])


def test_a_profile_is_readable_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    narrow = answered("PROFILE visits")
    tables, _, script = narrow.partition("CREATE HIERARCHY")
    assert max(map(len, tables.splitlines())) <= 80
    assert "not shown" not in tables
    titles = [line.split() for line in narrow.splitlines() if line.startswith("subject")]
    assert titles == [
        ["subject", "proposal", "why"],
        ["subject", "unique_rows", "distinct", "missing", "distinction", "separation"],
        ["subject", "unique_rows", "distinct", "why"],
        ["subject", "unique_rows", "why"],
    ]
    assert re.search(r"^diagnosis +SENSITIVE +its name", tables, re.M)
    assert 'CREATE ANONYMIZED TABLE "visits_2_release" AS POLICY "visits_2";' in script
    monkeypatch.setenv("COLUMNS", "250")
    wide = answered("PROFILE visits")
    assert wide.count("subject ") == 3
    assert wide.partition("CREATE HIERARCHY")[2] == script


def test_what_the_script_of_a_profile_says_is_a_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    script = answered("PROFILE visits (age)").partition("CREATE HIERARCHY")[2]
    assert "-- no column looks SENSITIVE" in script
    with_a_release = f"CREATE HIERARCHY{script}SELECT count(*) AS released FROM visits_2_release;"
    assert "released" in answered(with_a_release)


@pytest.mark.long
def test_advice_is_printed_as_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    frontier = "FRONTIER f ON POLICY visits METHODS (mondrian) SWEEP k IN (2, 4) MEASURE p_loss, discernibility;"
    *_, first, second = answered(f"{frontier} ADVISE f LEAST p_loss;").rstrip().splitlines()
    assert (first[:12], second[:23]) == ("ALTER POLICY", "CREATE ANONYMIZED TABLE")
    assert first.endswith(";")
    assert second.endswith(";")
    assert not second.endswith(";;")


def test_a_list_of_hierarchies_is_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    made = "CREATE HIERARCHY h AS INTERVALS (5, 10); CREATE HIERARCHY wide AUTO ON visits.occupation_now;"
    lines = answered(f"{made} SHOW HIERARCHIES;").rstrip().splitlines()
    (long,) = (line for line in lines if line.startswith("wide "))
    assert "CREATE HIERARCHY" in long
    assert max(map(len, lines)) <= 160
    assert any("AS INTERVALS (5, 10)" in line for line in lines)


def test_a_long_text_is_folded_and_what_is_the_same_in_all_rows_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    columns = ("release", "question", "achieved", "detail")
    made = output(terminal=True)
    rows = tuple(("main.hospital_release", f"question_{i}", 5.0 + i, f"begins {'word ' * 9}ends{i}") for i in range(2))
    made.result(Rows(columns, rows))
    out = re.sub(r"\x1b\[[0-9;]*m", "", printed(made)[0])
    head, *lines = out.splitlines()
    assert head.split() == ["question", "achieved", "detail"]
    assert lines[-1] == "release: main.hospital_release"
    assert out.count("begins word") == out.count("ends") == 2
    assert max(map(len, lines)) <= 60
    assert "not shown" not in out


def test_lines_of_the_last_column_stay_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    made = output(terminal=True)
    made.result(Rows(("part", "detail"), (("statement", "CREATE (\n  a\x1b[2J\nrow\n)"), ("a\nb", "c"))))
    out = re.sub(r"\x1b\[[0-9;]*m", "", printed(made)[0])
    assert "\x1b" not in out
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[2:] == [
        "statement  CREATE (",
        "             a\\x1b[2J",
        "           row",
        "           )",
        "a\\nb       c",
    ]


def test_a_remark_is_folded_between_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    text = "this release has eleven words and more than forty letters to say them"
    made = output(terminal=True)
    made.warning(text, Position(1, 1), "a.sql", kind="remark")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed(made)[1]).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()) == f"a.sql:1:1: remark: {text}"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("width", [80, 120])
def test_what_matters_of_a_plan_and_of_figures_is_last_on_the_screen(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    plan = answered("EXPLAIN ANONYMIZED TABLE r AS POLICY visits METHOD mondrian;")
    assert "not shown" not in plan
    assert plan.splitlines()[-1].split() != []
    assert [line.split()[0] for line in plan.splitlines() if line.startswith(("advise", "explain"))] != []
    figures = answered("CREATE ANONYMIZED TABLE r AS POLICY visits METHOD mondrian; MEASURE r;").rstrip()
    assert figures.count("The detail that is lost") == 1
    last = figures[figures.rindex("smallest_class") :]
    assert [name for name in ("surest_guess", "count_error") if name in last] == ["surest_guess", "count_error"]
    assert len(last.splitlines()) <= 8
