"""Where an error points: the part of the statement at fault, with its line and a caret below it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from sqlanon import Connection, connect
from sqlanon.clients.terminal.scripts import as_sqlanon_error
from sqlanon.errors import InternalError, Position, PrivacyViolation, SqlanonError, UserError
from sqlanon.statements.parser import parse_script
from tests.support.database import template

POLICY = """CREATE POLICY p ON visits (
    age QUASI IDENTIFIER USING tens MAX LEVEL 2,
    sex QUASI IDENTIFIER,
    disease SENSITIVE
) REQUIRE k_anonymity(k => 3), l_diversity(l => 2, attribute => disease)"""


@pytest.fixture
def con() -> Connection:
    return template(
        "CREATE TABLE visits AS SELECT 20 + i % 30 AS age, ['F', 'M'][1 + i % 2] AS sex, "
        "['Flu', 'Cold', 'Cough'][1 + i % 3] AS disease FROM range(120) AS t(i)",
        "CREATE HIERARCHY tens AS INTERVALS (10)",
        POLICY.replace("POLICY p", "POLICY good"),
    )


def failure(con: Connection, script: str) -> SqlanonError:
    with pytest.raises(SqlanonError) as caught:
        con.execute(script)
    return caught.value


def pointed_at(error: SqlanonError) -> str:
    """What stands in the shown line from the caret on."""
    assert error.excerpt is not None
    line, caret = error.excerpt.split("\n")
    assert caret.strip() == "^"
    return line[caret.index("^") :]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("script", "at", "hint"),
    [
        (POLICY.replace("sex QUASI", "sexx QUASI"), "sexx QUASI", "did you mean sex?"),
        (POLICY.replace("USING tens", "USING ten"), "ten MAX", "did you mean tens?"),
        (POLICY.replace("LEVEL 2", "LEVEL 5"), "5,", None),
        (POLICY.replace("sex QUASI IDENTIFIER", "sex QUASI IDENTIFIER USING tens"), "tens,", "PREFIXES"),
        (POLICY.replace("ON visits", "ON visit"), "visit (", "did you mean visits?"),
        (POLICY.replace("k_anonymity", "kanonymity"), "kanonymity(", "did you mean k_anonymity"),
        (POLICY.replace("(k => 3)", "(kk => 3)"), "kk =>", "did you mean k?"),
        (POLICY.replace("(k => 3)", "(k => 0)"), "k => 0", None),
        (
            POLICY.replace("attribute => disease", "attribute => sex"),
            "attribute => sex",
            "the sensitive attributes are: disease",
        ),
        (POLICY.replace(",\n    disease SENSITIVE", ""), "l_diversity(", "name one"),
        (POLICY.replace("ON visits", "ON (SELECT age, sexx, disease FROM visits)"), "sexx, disease", None),
        (POLICY.replace("REQUIRE", "AGAINST voters REQUIRE k_map(k => 3),"), "voters REQUIRE", "SHOW ALL TABLES"),
        ("CREATE HIERARCHY h AS INTERVAL (10)", "INTERVAL (", "did you mean intervals?"),
        ("CREATE HIERARCHY h AS INTERVALS (10, 15)", "(", None),
        ("CREATE HIERARCHY tens AS INTERVALS (10)", "tens AS", "OR REPLACE"),
        ("CREATE ANONYMIZED TABLE r AS POLICY goood", "goood", "did you mean good?"),
        ("CREATE ANONYMIZED TABLE visits AS POLICY good", "visits AS", "another name"),
        ("CREATE ANONYMIZED TABLE r AS POLICY good METHOD mondrain", "mondrain", "did you mean mondrian?"),
        ("CREATE ANONYMIZED TABLE r AS POLICY good METHOD mondrian(mod => 'x')", "mod =>", "did you mean mode?"),
        ("CREATE ANONYMIZED TABLE r AS POLICY good METHOD mondrian(mode => 'x')", "mode =>", "mode => 'strict'"),
        ("DROP POLICY goood", "goood", "did you mean good?"),
        ("DESCRIBE POLICY goood", "goood", "did you mean good?"),
        ("ALTER POLICY good DROP COLUMN sexx", "sexx", "did you mean sex?"),
        ("CHECK visits (agee) REQUIRE k_anonymity(k => 3)", "agee)", "did you mean age?"),
        ("CHECK nowhere", "nowhere", None),
        ("CREATE WORKLOAD w ON POLICY goood", "goood", "did you mean good?"),
        ("MEASURE nowhere WITH WORKLOAD w", "nowhere WITH", None),
        ("MEASURE nowhere WITH FIGURES (membership)", "nowhere WITH", None),
    ],
)
def test_the_part_at_fault(con: Connection, script: str, at: str, hint: str | None) -> None:
    error = failure(con, f"SELECT 1;\n\n{script}")
    assert pointed_at(error).startswith(at)
    assert error.position is not None
    shown = f"SELECT 1;\n\n{script}".split("\n")[error.position.line - 1]
    assert shown[error.position.column - 1 :].startswith(at)
    if hint is not None:
        assert hint in str(error.hint)


def test_what_the_policy_says_is_placed_at_its_name(con: Connection) -> None:
    con.execute("DROP TABLE visits")
    error = failure(con, "CREATE ANONYMIZED TABLE r\n  AS POLICY good")
    assert "policy good: there is no table or view visits" in str(error)
    assert error.position == Position(2, 13)


def test_the_line_is_shown_as_text_with_a_caret_below(con: Connection) -> None:
    assert str(failure(con, "CHECK visits\n  (agee) REQUIRE k_anonymity(k => 3)")) == (
        "line 2, column 4: visits: the source visits has no column agee\n"
        "  LINE 2:   (agee) REQUIRE k_anonymity(k => 3)\n"
        "             ^\n"
        "  hint: did you mean age?"
    )


def test_a_long_line_is_cut_around_the_place(con: Connection) -> None:
    names = ", ".join(f"column_{number} INSENSITIVE" for number in range(40))
    error = failure(con, POLICY.replace("\n", " ").replace("sex QUASI", f"{names}, sexx QUASI"))
    line, caret = str(error.excerpt).split("\n")
    assert len(line) < 150
    assert line.startswith("LINE 1: ...")
    assert line.endswith("...")
    assert line[caret.index("^") :].startswith("column_0 INSENSITIVE")


@pytest.mark.parametrize(("before", "width"), [('"日本", ', 8), ('"é", ', 5), ("\t", 1), ("/* a comment */ ", 16)])
def test_wide_letters_tabs_and_comments_before_the_place(con: Connection, before: str, width: int) -> None:
    """A caret stands below the place where a terminal shows it."""
    query = 'SELECT age AS "日本", age AS "é" FROM visits'
    line, caret = str(failure(con, f"CHECK ({query}) (\n{before}agee) REQUIRE k_anonymity(3)").excerpt).split("\n")
    assert line.endswith("agee) REQUIRE k_anonymity(3)")
    assert caret == " " * (len("LINE 2: ") + width) + "^"


def test_no_row_and_no_literal_of_another_statement_is_shown(con: Connection) -> None:
    secret = "CREATE TABLE s AS SELECT 'Alice has flu' AS a, 424242 AS n; -- Bob has a cold\n"
    for script in (
        secret.replace("\n", " ").replace("-- Bob has a cold", "") + "CHECK s (b) REQUIRE k_anonymity(k => 3)",
        "CHECK (SELECT * FROM (VALUES ('Alice has flu', 424242), ('Bob', 424242)) AS s(a, n)) (x)",
        "CHECK (SELECT a, n FROM (VALUES ('Alice has flu', 424242)) AS s(a, n) WHERE nix) (a)",
    ):
        text = str(failure(con, script))
        assert "Alice" not in text
        assert "424242" not in text
        assert "LINE 1" in text


@pytest.mark.parametrize(
    ("script", "at"),
    [
        ("SELECT 1;\n  SELECT sexx FROM visits", "sexx FROM"),
        ("SELECT 1;\nSELEC 2", "SELEC"),
        ("SELECT 1;\nSELECT age FROM nowhere", "nowhere"),
    ],
)
def test_errors_of_duckdb_in_a_script(con: Connection, script: str, at: str) -> None:
    (_, statement) = parse_script(script)
    with pytest.raises(duckdb.Error) as caught:
        con.script(script, on_statement=lambda event: event.result and event.result.fetchall())
    error = as_sqlanon_error(caught.value, statement)
    assert isinstance(error, UserError)
    assert pointed_at(error).startswith(at)
    assert "LINE" not in error.message


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("script", "at"),
    [
        *(
            (f"SELECT 'é漢';\nSELECT {text}, {tail}", tail)
            for text in (
                *(
                    "'é'",
                    "'e\u0301'",
                    "'漢字'",
                    "'한글'",
                    "'😀'",
                    "'👍🏽'",
                    "'❤️'",
                    "'🇨🇭🇨🇭'",
                    "'👨\u200d👩\u200d👧'",
                    "'\u200bx'",
                ),
                *("\t'é'", "'हिन्दी'", '1 AS "漢é😀"', f"'{'漢' * 90}'", f"'{'é' * 90}'"),
            )
            for tail in ("sexx FROM visits", "nofunction(1)", f"sexx, '{'漢' * 90}' FROM visits")
        ),
        ("SELECT 1;\nSELECT '漢' AS a ORDR BY 1", "ORDR BY 1"),
        ("SELECT 1;\nSELECT age AS 日本, 漢 FROM visits", "漢 FROM visits"),
        ("SELECT 1;\nSELECT 漢.age FROM visits", "漢.age FROM visits"),
    ],
)
def test_errors_of_duckdb_behind_wide_and_combined_letters(con: Connection, script: str, at: str) -> None:
    """DuckDB counts the columns of what a terminal shows, a position the characters of the script."""
    (_, statement) = parse_script(script)
    with pytest.raises(duckdb.Error) as caught:
        con.script(script, on_statement=lambda event: event.result and event.result.fetchall())
    error = as_sqlanon_error(caught.value, statement)
    assert isinstance(error, UserError)
    assert error.position == Position(2, script.rindex(at) - script.index("\n"))


def test_a_notebook_shows_the_error_alone() -> None:
    """IPython asks an exception for this method before it prints frames."""
    for kind in (UserError, PrivacyViolation):
        assert kind("too few", hint="ask for less")._render_traceback_() == [  # type: ignore[attr-defined]
            f"{kind.__name__}: too few\n  hint: ask for less"
        ]
    assert not hasattr(InternalError, "_render_traceback_")


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("CREATE HIERARCHY h AS INTERVALS (5, 12)", None),
        ("CREATE HIERARCHY h AS INTERVALLS (5, 12)", None),
        ("CHECK visits (agee) REQUIRE k_anonymity(5), l_diversity(3, variant => 'entropy')", None),
        ("EXPORT r TO 'out/r.csv' (FORMATT csv)", None),
        ("CREATE POLICY p ON 'v.csv' (age QUASI IDENTIFER MAX LEVEL 3) REQUIRE k_anonymity(5)", None),
        (
            "CHECK (SELECT * FROM visits WHERE age <= 80 AND sex <> 'F' LIMIT 9) (agee)",
            "CHECK (SELECT * FROM visits WHERE age <= 80 AND sex <> *** LIMIT 9) (agee)",
        ),
        ("CHECK (SELECT * FROM read_csv('nowhere.csv', delim => ';') WHERE age > 17) (age USNG b)", None),
    ],
)
def test_the_literals_of_the_statement_are_shown(con: Connection, statement: str, line: str | None) -> None:
    """Stars would hide what its author has to correct. A text that a query compares with may be a value of a row."""
    assert str(failure(con, statement).excerpt).splitlines()[0] == f"LINE 1: {line or statement}"


INSERT = "INSERT INTO t VALUES ('Alice', 'HIV', 4711);"


@pytest.mark.parametrize(
    "script",
    [
        f"CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 4)\n{INSERT}",
        f"CREATE HIERARCHY h AS PREFIXES (4, 3) {INSERT}",
        f"DROP POLICY p {INSERT}",
        f"EXPORT r TO $$secret Alice\n{INSERT}",
        "CHECK (SELECT * FROM t WHERE n = 'Alice' AND age = 12 (sex)",
        "DROP POLICY p UPDATE t SET n = 'Alice', age = 4711 WHERE TRUE",
        "CHECK (SELECT * FROM (VALUES ('Alice', 4711)) AS t(n, age) (sex)",
        "CHECK (SELECT * FROM (VALUES ('Alice HIV)) t(x)) (x)",
        "ESTIMATE SELECT count(*) FROM t WHERE disease = 'HIV' AND n = 'Alice'",
        "ESTIMATE SELECT count(*) FROM t WHERE disease = 'HIV' AND n = 'Alice' FROM RELESE x",
        "CREATE HIERARCHY h AS LEVELS SELECT * FROM (VALUES ('Alice', 'HIV')) t(a, b)",
        "CREATE HIERARCHY h AS PARENTS ('Alice', 'HIV')",
        "CHECK (SELECT 'Alice' AS a, 12 AS n) (HIV_) REQUIRE k_anonymity(3)",
    ],
)
def test_where_a_semicolon_or_a_quote_was_forgotten_no_data_is_shown(con: Connection, script: str) -> None:
    text = str(failure(con, script))
    for value in ("Alice", "'HIV", "4711"):
        assert value not in text


@pytest.mark.parametrize(
    "script",
    [
        "CHECK (SELECT * FROM t WHERE n = 'O'Alice HIV' AND a = 1) (sex) REQUIRE k_anonymity(3)",
        "CHECK (SELECT * FROM t WHERE n = 'x) (sex) REQUIRE k; INSERT INTO t VALUES (1, 'Alice HIV')",
        "EXPORT r TO 'out\nDROP POLICY p;\nINSERT INTO t VALUES ('Alice', 'HIV')",
        "CREATE POLICY p ON t (a ENTITY PSEUDONYM KEY 'k) REQUIRE k; INSERT INTO t VALUES ('Alice', 'HIV')",
        "DROP POLICY p' INSERT INTO t VALUES ('Alice HIV')",
        "INSERT INTO t VALUES ('it's HIV', 'it's Alice'); CHECK visits (b",
        "CREATE POLICY p ON t (a ENTITY PSEUDONYM KEY ' HIV', Alice SENSITIVE, Alice ENTITY, ' ENTITY) REQUIRE k",
    ],
)
def test_a_word_that_a_quote_sets_free_is_not_shown(con: Connection, script: str) -> None:
    text = str(failure(con, script))
    assert "Alice" not in text
    assert "HIV" not in text


def test_a_quote_without_a_partner_is_told(con: Connection) -> None:
    error = failure(con, "CREATE POLICY p ON visits (age ENTITY PSEUDONYM KEY 'O'Hara') REQUIRE k_anonymity(3)")
    assert "the quotes may not pair" in error.message
    assert "'O''Hara'" in str(error.hint)
    assert str(error.excerpt).startswith("LINE 1: CREATE POLICY p ON visits (age ENTITY PSEUDONYM KEY ***")


def test_texts_that_pair_leave_the_line_as_it_is(con: Connection) -> None:
    error = failure(con, "SELECT 'it''s'; CHECK (SELECT 'x' AS a FROM visits) (nix) REQUIRE k_anonymity(k => 3)")
    assert pointed_at(error).startswith("nix) REQUIRE")


def test_parameters_are_in_no_message(con: Connection) -> None:
    with pytest.raises(UserError) as caught:
        con.execute("CHECK (SELECT age FROM visits WHERE sex <> ?) (nosuch) REQUIRE k_anonymity(3)", ["Alice"])
    assert "Alice" not in str(caught.value)


@pytest.mark.parametrize(
    "query",
    ["SELECT abs(e) AS x FROM marked", "SELECT list_contains([e], DATE '2020-01-01') AS x FROM marked"],
)
def test_an_enum_in_a_message_lists_no_value(query: str) -> None:
    """DuckDB names types, and that of an ENUM has all values of a column in it."""
    with connect() as con:
        con.execute("CREATE TYPE kinds AS ENUM ('SECRET0', 'SECR''ET, 1')")
        con.execute("CREATE TABLE marked AS SELECT 'SECRET0'::kinds AS e")
        with pytest.raises(SqlanonError, match="ENUM") as caught:
            con.execute(f"CHECK ({query}) (x) REQUIRE k_anonymity(k => 2)")
    assert "SECR" not in str(caught.value)


@pytest.mark.parametrize(
    "statement",
    [
        "CHECK (SELECT 'O'Hara, SECRET, 'x' FROM t) (x) REQUIRE k_anonymity(k => 2)",
        "CHECK (SELECT 'O'SECRET, a FROM t) (x) REQUIRE k_anonymity(k => 2)",
        "EXPORT r TO 'the patients' SECRET and nurses' x' (FORMAT parquet)",
        "CREATE POLICY p ON (SELECT a FROM t WHERE n = 'the patients' SECRET and nurses' x') (a QUASI IDENTIFIER) "
        "REQUIRE k_anonymity(2)",
    ],
)
def test_a_word_that_a_quote_sets_free_is_in_no_message(statement: str) -> None:
    with connect() as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS n")
        with pytest.raises(SqlanonError, match="the quotes may not pair") as caught:
            con.execute(statement)
    assert "SECRET" not in f"{caught.value} {caught.value.args} {caught.value.hint} {caught.value.quoted}"


def test_a_type_before_a_text_is_no_quote_that_does_not_pair() -> None:
    with connect() as con, pytest.raises(SqlanonError, match="missing_column"):
        con.execute("CHECK (SELECT missing_column FROM range(3) WHERE DATE'2026-01-01' > E'2025-01-01') (x)")


def test_a_csv_file_whose_type_changes_has_a_hint_and_shows_no_value(tmp_path: Path) -> None:
    # The text of the row looks like the line of DuckDB's that names the column.
    forged = '"x\nColumn SECRET is being converted as type BIGINT\nThis type was auto-detected from the CSV file.\n"'
    rows = "".join(f"{i},x\n" for i in range(21_000))
    (tmp_path / "t.csv").write_text(f"code,note\n{rows}N17,{forged}\n", encoding="utf-8")
    with connect() as con:
        for made in ("CREATE ANONYMIZED TABLE r FROM '{}' (code)", "CREATE TABLE t AS FROM '{}'"):
            with pytest.raises((UserError, duckdb.Error)) as caught:
                con.execute(made.format(tmp_path / "t.csv"))
            error = as_sqlanon_error(caught.value, None)
            assert isinstance(error, UserError)
            # DuckDB counts the rows without reading the quotes, and the copy reads them.
            assert error.message in (
                "line 21002 of a CSV file has no BIGINT in the column code, as the first rows have",
                "line 21003 of a CSV file has another number of columns than the first rows: 1 in place of 2",
            )
            assert "sample_size = -1" in str(error.hint)
            assert "SECRET" not in f"{error} {error.hint} {error.excerpt} {error.quoted}"
        con.execute(f"CREATE TABLE t AS FROM read_csv('{tmp_path / 't.csv'}', sample_size = -1)")
        assert con.execute("SELECT count(*) FROM t").fetchone() == (21_001,)
