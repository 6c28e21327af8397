"""What people who are new to it get wrong, and what they are told: what is wrong, where, and what to type instead."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import duckdb
import pytest

from sqlanon import Connection, PrivacyViolation, SqlanonError, UserError, connect
from tests.support.command_line import invoke, run_script
from tests.support.database import template

POLICY = """CREATE POLICY p ON pay (
    born QUASI IDENTIFIER USING decades,
    bats QUASI IDENTIFIER,
    salary SENSITIVE
) REQUIRE k_anonymity(k => 3)"""


@pytest.fixture
def con() -> Connection:
    return template(
        "CREATE TABLE pay AS SELECT 'p' || i % 40 AS player, 1950 + i % 30 AS born, "
        "['L', 'R', NULL][1 + i % 3] AS bats, ['US', 'CA', 'MX'][1 + i % 3] AS country, i % 7 AS salary "
        "FROM range(240) AS t(i)",
        "CREATE HIERARCHY decades AS INTERVALS (10, 20)",
        POLICY.replace("POLICY p", "POLICY good"),
        "CREATE ANONYMIZED TABLE r AS POLICY good",
    )


MISTAKES = {
    "a misspelt column": (POLICY.replace("born", "borne"), "no column borne", "borne QUASI", "did you mean born?"),
    "REQUIRE before the columns": (
        "CREATE POLICY p ON pay REQUIRE k_anonymity(k => 3) (born QUASI IDENTIFIER)",
        'expected "(", found "REQUIRE"',
        "REQUIRE k",
        "ON patients (",
    ),
    "a forgotten semicolon": (
        f"CREATE HIERARCHY h AS INTERVALS (10)\n{POLICY}",
        'found "CREATE"',
        "CREATE POLICY",
        "put a semicolon before it",
    ),
    "no sensitive column": (
        POLICY.replace(",\n    salary SENSITIVE", "").replace("k_anonymity(k => 3)", "l_diversity(l => 2)"),
        "there is no sensitive attribute",
        "l_diversity(",
        "name one",
    ),
    "a misspelt model": (
        POLICY.replace("k_anon", "kanon"),
        "no privacy model 'kanonymity'",
        "kanonymity(",
        "k_anonymity",
    ),
    "an equals sign": (POLICY.replace("k => 3", "k = 3"), "expected =>", "= 3", "write k => ..."),
    "the name of a table": (
        "CREATE ANONYMIZED TABLE pay AS POLICY good",
        "main.pay is a table that is not a release",
        "pay AS",
        "choose another name",
    ),
    "the name of a release": (
        "CREATE ANONYMIZED TABLE r AS POLICY good",
        "the release main.r exists already",
        "r AS",
        "OR REPLACE",
    ),
    "a hierarchy of numbers on texts": (
        POLICY.replace("bats QUASI IDENTIFIER", "bats QUASI IDENTIFIER USING decades"),
        "does not fit the column bats of type VARCHAR",
        "decades,\n",
        "PREFIXES",
    ),
    "a reserved word": (
        POLICY.replace("POLICY p", "POLICY select"),
        "expected the name of the policy",
        "select ON",
        '"select"',
    ),
    "single quotes around a name": (
        POLICY.replace("born QUASI", "'born' QUASI"),
        "expected a column, found a text in quotes",
        "'born' QUASI",
        "double quotes",
    ),
    "five for five percent": (
        "CREATE ANONYMIZED TABLE q AS POLICY good METHOD generalization(suppression => 5)",
        "must be a fraction between 0 and 1, not 5",
        "suppression =>",
        "suppression => 0.0",
    ),
    "a method in another spelling": (
        "CREATE ANONYMIZED TABLE q AS POLICY good METHOD generalisation",
        "no method 'generalisation'",
        "generalisation",
        "did you mean generalization?",
    ),
    "a misspelt argument": (
        "CREATE ANONYMIZED TABLE q AS POLICY good METHOD generalization(supression => 0.1)",
        "no argument 'supression'",
        "supression =>",
        "did you mean suppression?",
    ),
    "a file that is not there": (POLICY.replace("ON pay", "ON 'pay.parquet'"), "No files found", "", None),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_where_it_is_and_what_to_type(con: Connection, mistake: str) -> None:
    script, message, at, hint = MISTAKES[mistake]
    with pytest.raises(SqlanonError) as caught:
        con.execute(script)
    error = caught.value
    assert message in error.message
    assert error.position is not None
    rest = "\n".join(script.split("\n")[error.position.line - 1 :])[error.position.column - 1 :]
    assert rest.startswith(at)
    assert error.excerpt is not None
    assert hint is None or hint in str(error.hint)


WORKS = {
    "a comma behind the last column": POLICY.replace("SENSITIVE\n)", "SENSITIVE,\n)"),
    "the argument without its name": POLICY.replace("k => 3", "3"),
    "a percentage": "CREATE ANONYMIZED TABLE q AS POLICY good METHOD generalization(suppression => 5%)",
    "the kind of object": "CHECK TABLE r",
    "a join with USING": "CHECK (SELECT born FROM pay JOIN (SELECT DISTINCT player FROM pay) USING (player)) (born) "
    "REQUIRE k_anonymity(3)",
    "NULL in a quasi-identifier": "CHECK r",
    "comments and semicolons in texts": "CHECK /* ; */ (SELECT ';' AS a, $$;$$ AS b FROM pay) -- ;\n"
    "(a) REQUIRE k_anonymity(3)",
    "a view on a release": "CREATE VIEW w AS FROM r; SELECT * FROM w",
    "a release whose table was dropped": "DROP TABLE r; CREATE ANONYMIZED TABLE r AS POLICY good",
    "listing": "SHOW POLICIES",
    "a description": "DESCRIBE POLICY good",
    "a change": "ALTER POLICY good ADD COLUMN country QUASI IDENTIFIER",
    "the time with its zone": "SELECT now()",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("habit", WORKS)
def test_what_people_are_used_to_works(con: Connection, habit: str) -> None:
    assert con.execute(WORKS[habit]).fetchall()


def test_values_that_a_hierarchy_lacks_are_named(con: Connection) -> None:
    con.execute("CREATE HIERARCHY places AS LEVELS (SELECT 'US', 'America')")
    con.execute(POLICY.replace("bats QUASI IDENTIFIER", "country QUASI IDENTIFIER USING places"))
    with pytest.raises(UserError, match=r"lacks values of the column country: 'CA', 'MX'") as caught:
        con.execute("CREATE ANONYMIZED TABLE q AS POLICY p")
    assert "CREATE OR REPLACE HIERARCHY places" in str(caught.value.hint)


def test_k_larger_than_the_table(con: Connection) -> None:
    con.execute(POLICY.replace("k => 3", "k => 1000"))
    with pytest.raises(SqlanonError, match="cannot be met") as caught:
        con.execute("CREATE ANONYMIZED TABLE q AS POLICY p")
    # To leave out more rows would be to leave out all.
    assert caught.value.hint == "ask for less: k_anonymity(k => 240) is the most that the whole table meets"


@pytest.mark.parametrize("method", ["generalization", "mondrian"])
@pytest.mark.parametrize(
    ("columns", "required", "hint"),
    [
        ("(born) SENSITIVE country", "l_diversity(4)", "country has 3 values: l_diversity(l => 3) is the most"),
        ("(born) SENSITIVE bats", "l_diversity(4)", "bats has 3 values: l_diversity(l => 3) is the most"),
        ("(born) ENTITY player", "k_anonymity(41)", "k_anonymity(k => 40) is the most"),
        ("(born)", "k_anonymity(241)", "k_anonymity(k => 240) is the most"),
    ],
)
def test_what_no_table_meets_is_answered_with_what_it_meets(
    con: Connection, method: str, columns: str, required: str, hint: str
) -> None:
    """Of 240 rows of 40 players; three countries, and left, right and NULL."""
    short = f"CREATE ANONYMIZED TABLE q FROM pay {columns} REQUIRE {{}} METHOD {method}"
    with pytest.raises(PrivacyViolation) as caught:
        con.execute(short.format(required))
    assert hint in str(caught.value.hint)
    (number,) = re.findall(r"=> (\d+)\) is", str(caught.value.hint))
    con.execute(short.format(required.replace(re.findall(r"\d+", required)[0], number)))


SPELLINGS = {
    "CREATE ANONYMISED TABLE q AS POLICY good": "write it with a Z: CREATE ANONYMIZED TABLE",
    "CREATE OR REPLACE ANONYMISED VIEW q AS POLICY good": "write it with a Z: CREATE ANONYMIZED TABLE",
    "DROP ANONYMISED TABLE r": "write it with a Z: DROP ANONYMIZED TABLE",
    "REFRESH ANONYMISED TABLE r": "write it with a Z: REFRESH ANONYMIZED TABLE",
    "EXPLAIN ANONYMISED TABLE q AS POLICY good": "write it with a Z: EXPLAIN ANONYMIZED TABLE",
    "CREATE TABLE ANONYMIZED q AS POLICY good": "CREATE ANONYMIZED TABLE q FROM",
    "CREATE OR REPLACE TABLE ANONYMISED q AS POLICY good": "CREATE ANONYMIZED TABLE q FROM",
    "ANONYMIZE pay": "CREATE ANONYMIZED TABLE name FROM patients (age, sex, zip)",
    "CREATE ANONYMIZED q AS POLICY good": "write CREATE ANONYMIZED TABLE q AS",
    "CREATE ANONYMIZED TABLE q AS SELECT * FROM pay": "FROM (SELECT ...) (age, sex) SENSITIVE disease",
    "CREATE ANONYMIZED TABLE q AS (SELECT * FROM pay)": "FROM (SELECT ...) (age, sex) SENSITIVE disease",
    "CREATE ANONYMIZED TABLE q AS pay": "FROM pay (age, sex)",
    "CREATE ANONYMIZED TABLE q POLICY good": "write AS POLICY good",
    "CREATE ANONYMIZED TABLE q 4 AS POLICY good": 'CREATE ANONYMIZED TABLE "q 4"',
    "CREATE ANONYMIZED TABLE q FROM pay": "FROM patients (age, sex, zip)",
    "CREATE ANONYMIZED TABLE q FROM pay (born QUASI IDENTIFIER)": "list the columns alone",
    "CREATE ANONYMIZED TABLE q FROM pay (born) SENSITIVE (salary)": "SENSITIVE disease, income",
    "CREATE ANONYMIZED TABLE q FROM pay (born) REQUIRE k_anonymity(3) SENSITIVE salary": "the order is",
    "CREATE ANONYMIZED TABLE q FROM pay (born) REQUIRE k = 3": "REQUIRE k_anonymity(k => 3)",
    "CREATE ANONYMIZED TABLE q FROM pay (born) REQUIRE l => 3": "REQUIRE l_diversity(l => 3)",
    "CREATE ANONYMIZED TABLE q FROM pay (born) REQUIRE 3": "REQUIRE k_anonymity(3)",
    "CREATE ANONYMIZED TABLE q FROM pay (*)": "name each column",
    "CREATE ANONYMIZED TABLE q FROM data/pay.csv (born)": "write 'data/pay.csv'",
    "CHECK ./pay.parquet (born)": "write './pay.parquet'",
    "PROFILE pay-2026.csv": "write 'pay-2026.csv'",
    "CHECK pay (pay.born)": 'write "pay.born", in quotes, if the dot is in the column\'s name; else "born" alone',
    'CHECK pay (born) SENSITIVE "a ""b""".c': 'write "a ""b"".c", in quotes',
    "CREATE POLICY p ON pay (year.born QUASI IDENTIFIER) REQUIRE k_anonymity(3)": 'write "year.born", in quotes',
    "CREATE POLICY p ON pay (born QI) REQUIRE k_anonymity(3)": "write QUASI IDENTIFIER in full",
    "CREATE POLICY p ON pay (born QUASI IDENTIFIER)": "REQUIRE k_anonymity(k => 4)",
    "ALTER POLICY good REQIRE k_anonymity(3)": "did you mean REQUIRE?",
    "DROP ANONYMIZED STREM s": "did you mean STREAM?",
    "CREATE WORKLOAD w ON good": "write ON POLICY good",
    "CREATE WORKLOAD w ON POLICY good (querys => 5)": "did you mean queries?",
    "CREATE ANONYMIZED TABLE q AS POLICY good METHOD mondrian(relaxed => true)": "write mode => 'relaxed'",
    "CREATE ANONYMIZED TABLE q AS POLICY good METHOD generalization(local)": "write recoding => 'local'",
    "CREATE ANONYMIZED TABLE q AS POLICY good METHOD generalization(suppression => 2)": "write suppression => 0.02",
    "EXPORT r TO 'out/' (FORMAT csv, HEADER true)": "leave it out",
    "EXPORT r TO 'out/' (OVERWRITE)": "write REPLACE",
    "EXPORT r TO 'out/' WITH (FORMAT csv)": "leave WITH out",
    "EXPORT good TO 'out/'": "good is a policy; its release is main.r",
    "CHECK good": "good is a policy; its release is main.r",
}


@pytest.mark.parametrize("statement", SPELLINGS)
def test_a_hint_has_what_to_type(con: Connection, statement: str) -> None:
    with pytest.raises(SqlanonError) as caught:
        con.execute(statement)
    assert SPELLINGS[statement] in str(caught.value.hint)
    assert caught.value.position is not None


def test_a_table_may_be_called_anonymized(con: Connection) -> None:
    con.execute("CREATE TABLE anonymized AS SELECT 1 AS a; CREATE OR REPLACE TABLE ANONYMISED (a INT); FROM anonymized")


def test_a_file_without_quotes(con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    con.execute("COPY pay TO 'pay_2026.csv'")
    statements = {
        "PROFILE pay_2026.csv": "write 'pay_2026.csv', in quotes: the file is there",
        "CHECK pay_2026.csv (born)": "write 'pay_2026.csv', in quotes: the file is there",
        "CREATE ANONYMIZED TABLE q FROM pay_2026.csv (born)": "write 'pay_2026.csv', in quotes: the file is there",
        POLICY.replace("ON pay", "ON pay_2026.csv"): "write 'pay_2026.csv', in quotes: the file is there",
        "CREATE ANONYMIZED TABLE q FROM pay_2025.csv (born)": "write 'pay_2025.csv', in quotes: a path begins",
        "CREATE ANONYMIZED TABLE q FROM pay_2026 (born)": "write 'pay_2026.csv', in quotes, if you mean the file",
        "CREATE ANONYMIZED TABLE q FROM 'pay_2062.csv' (born)": "did you mean 'pay_2026.csv'?",
    }
    for statement, hint in statements.items():
        with pytest.raises(SqlanonError) as caught:
            con.execute(statement)
        assert hint in str(caught.value.hint), statement
    con.execute("SET enable_external_access = false")
    with pytest.raises(SqlanonError) as caught:
        con.execute("PROFILE pay_2026.csv")
    assert "the file is there" not in str(caught.value.hint)


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("CREATE ANONYMIZED TABLE q FROM pay (born) WITH k=10", "write REQUIRE k_anonymity(10)"),
        ("CREATE ANONYMIZED TABLE q FROM pay (born) WITH (k => 10)", "write REQUIRE k_anonymity(10)"),
        ("CREATE ANONYMIZED TABLE q FROM pay (born) l = 3", "write REQUIRE l_diversity(3)"),
        ("CREATE ANONYMIZED TABLE q AS POLICY good WITH k=4", "ALTER POLICY ... REQUIRE k_anonymity(4)"),
        ("CREATE ANONYMIZED TABLE q FROM pay (born (year), b)", 'in it needs quotes: "born (year)"'),
        ("CREATE ANONYMIZED TABLE q FROM pay (b) SENSITIVE born (year)", 'in it needs quotes: "born (year)"'),
        ("CREATE POLICY q ON pay (born (in year) SENSITIVE)", 'in it needs quotes: "born (in year)"'),
        ("CHECK pay (born (year))", 'in it needs quotes: "born (year)"'),
        ("CHECK pay (birth year)", 'needs quotes: "birth year"'),
        ("CREATE ANONYMIZED TABLE q FROM pay (born) SENSITIVE Post Code", 'needs quotes: "Post Code"'),
        ("CREATE ANONYMIZED TABLE q FROM pay (born) SENSITIVE Post Code REQUIRE k_anonymity(4)", '"Post Code"'),
        ("CREATE ANONYMIZED TABLE q FROM pay (born) SENSITIVE bats CHOSE METHOD", "did you mean CHOOSE METHOD?"),
        ("CREATE ANONYMIZED TABLE q FROM pay (born) SENSITIVE bats REQIRE k_anonymity(4)", "did you mean REQUIRE?"),
        ("CREATE ANONYMIZED TABLE q FROM pay (born) REQUIRE t_closeness(t => 2/3)", "two thirds are at most 0.667"),
        ("CREATE ANONYMIZED TABLE q (born) FROM pay", "a correct form is"),
    ],
)
def test_words_of_other_tools_and_names_without_quotes(con: Connection, statement: str, hint: str) -> None:
    with pytest.raises(SqlanonError) as caught:
        con.execute(statement)
    assert hint in str(caught.value.hint)


def test_a_source_that_is_gone_is_named_with_its_policy(con: Connection) -> None:
    con.execute("DROP TABLE pay")
    with pytest.raises(UserError, match="policy good: there is no table or view pay"):
        con.execute("CREATE ANONYMIZED TABLE q AS POLICY good")


def test_a_renamed_column_below_a_live_view(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY good; ALTER TABLE pay RENAME born TO birth")
    with pytest.raises(UserError, match="pay no longer has a column born") as caught:
        con.execute("CHECK v")
    assert "make the view again" in str(caught.value.hint)


def test_an_empty_table_is_remarked_upon() -> None:
    script = (
        "CREATE TABLE t (a INTEGER, s INTEGER);"
        "CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(3);"
        "CREATE ANONYMIZED TABLE r AS POLICY p;"
    )
    done = run_script(script)
    assert done.exit_code == 0
    assert "no rows" in done.stdout + done.stderr


def test_a_used_folder_is_not_replaced_and_nothing_says_that_it_could_be(con: Connection, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for options in ("", " (REPLACE true)"):
        with pytest.raises(UserError, match=r"notes\.txt does not belong to an earlier export") as caught:
            con.execute(f"EXPORT r TO '{tmp_path}/'{options}")
        assert "REPLACE" not in str(caught.value.hint)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "statement",
    ["EXPORT r TO '{}'", "CHECK '{}'", "ESTIMATE SELECT count(*) FROM pay FROM RELEASE '{}'", "EXPORT r TO '{}.csv'"],
)
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("~nobody of this name/x", "~nobody of this name is not a user's home directory"),
        ("x" * 300, "is too long a name for a file"),
    ],
)
def test_paths_that_no_file_can_have(con: Connection, statement: str, path: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        con.execute(statement.format(path))
    assert len(caught.value.message) < 150
    line, caret = str(caught.value.excerpt).split("\n")
    assert line[caret.index("^") :].startswith(f"'{path[:20]}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CHECK".encode("utf-16"), "x.sql is UTF-16 text, not UTF-8\n  hint: save it as UTF-8"),
        ("CHECK".encode("utf-16-le"), "x.sql is UTF-16 text"),
        ("CHECK".encode("utf-16-be"), "x.sql is UTF-16 text"),
        (b"SELECT 1;\n-- caf\xe9\n", "x.sql is not UTF-8 text: its line 2 is not"),
    ],
)
def test_other_encodings(tmp_path: Path, text: bytes, said: str) -> None:
    script = tmp_path / "x.sql"
    script.write_bytes(text)
    done = invoke("run", script)
    assert done.exit_code == 2
    assert said in done.stderr
    script.write_bytes(b"\xef\xbb\xbfSELECT 1 AS one;\r\nSELECT 2 AS two;\r\n")
    assert invoke("run", script).exit_code == 0


def test_one_connection_in_two_threads_says_what_to_do(con: Connection) -> None:
    said: list[str] = []

    def use(stage: str, *_: object) -> None:
        def ask() -> None:
            try:
                con.execute("SELECT 1")
            except duckdb.Error as error:
                said.append(str(error))

        if stage == "solve" and not said:
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()

    con.observe(use)
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY good")
    assert "cursor()" in said[0]


def test_a_live_view_on_another_database(con: Connection) -> None:
    con.execute("ATTACH ':memory:' AS other; CREATE TABLE other.t AS FROM pay")
    con.execute(POLICY.replace("ON pay", "ON other.t"))
    with pytest.raises(UserError, match="lives in another database") as caught:
        con.execute("CREATE ANONYMIZED VIEW v AS POLICY p")
    assert "make a snapshot" in str(caught.value.hint)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("script", "hint"),
    [
        ("CREATE ANONYMIZD TABLE r AS POLICY p", "did you mean CREATE ANONYMIZED?"),
        ("SHOW POLICYS", "did you mean SHOW POLICIES?"),
        ("SHOW RELEASE", "did you mean SHOW RELEASES?"),
        ("DESCRIBE pp", "if pp is a policy, write DESCRIBE POLICY pp"),
        ("EXPLAIN pp", "if pp is a policy, write EXPLAIN ANONYMIZED TABLE release AS POLICY pp"),
        ("REFRESH pp", "write REFRESH ANONYMIZED TABLE pp"),
        ("ALTER POLICIES p RENAME TO q", "did you mean ALTER POLICY?"),
        (
            "CREATE TABLE z AS SELECT 1\nCREATE POLICY p ON z (a ENTITY) REQUIRE k",
            "if CREATE POLICY begins another statement",
        ),
        ("SELECT 1\n  CHECK r", "if CHECK begins another statement"),
    ],
)
def test_what_duckdb_could_not_read_may_have_been_meant_for_sqlanon(script: str, hint: str) -> None:
    done = run_script(script)
    assert done.exit_code == 2
    assert hint in done.stderr


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("script", "hint"),
    [
        ("PROFLE visits", "hint: did you mean PROFILE?"),
        ("PROFLE visits (age)", "hint: did you mean PROFILE?"),
        ("MEASUR r WITH FIGURES (membership)", "hint: did you mean MEASURE?"),
        ("FRONTIR f ON POLICY p METHODS (mondrian) MEASURE gain", "hint: did you mean FRONTIER?"),
        ("CREATE ANONYMIZD TABLE r AS POLICY p", "hint: did you mean CREATE ANONYMIZED?"),
        ("CREATE TABLE z AS SELECT 1 AS a; ADVIS f LEAST gain; SELECT 2", "hint: did you mean ADVISE?"),
        ("SELECT 1; SELEC 2", None),
        ("CHECKPOINT; SELECT * FROM nowhere", None),
        ("SELECT measur FROM range(3)", None),
    ],
)
def test_in_python_the_statement_that_was_meant_is_a_note_of_duckdbs_error(script: str, hint: str | None) -> None:
    for method in ("sql", "execute", "script"):
        with connect() as connection, duckdb.connect() as plain:
            with pytest.raises(duckdb.Error) as caught:
                getattr(connection, method)(script)
            with pytest.raises(duckdb.Error) as expected:
                plain.sql(script)
        assert type(caught.value) is type(expected.value)
        assert getattr(caught.value, "__notes__", []) == ([hint] if hint else [])


@pytest.mark.parametrize("statement", ["CHECKPOINT", "TABLE PROFLE", "FROM profle", "SELECT profle(1)", "SHOW profle"])
def test_what_duckdb_can_run_is_duckdbs(statement: str) -> None:
    """A macro or a table may be called nearly like one of sqlanon's statements."""
    with connect() as connection:
        connection.execute("CREATE TABLE profle AS SELECT 1 AS a; CREATE MACRO profle(x) AS x")
        connection.execute(statement)


@pytest.mark.parametrize("text", ["'O'Hara'", "'it's', 'O'Hara'"])
def test_a_word_that_a_quote_sets_free_is_not_shown(text: str) -> None:
    done = run_script(f"SELECT 1;\nSELECT {text};")
    assert done.exit_code == 2
    assert "Hara" not in done.stderr.replace("'O''Hara'", "")
    assert "the quotes may not pair" in done.stderr
    assert "LINE 2: SELECT ***" in done.stderr


@pytest.mark.parametrize("script", ["SELEC 1", "CREATE TABEL t (a INT)", "SHOW nothing", "DROP TABLE nothing"])
def test_other_mistakes_are_duckdbs(script: str) -> None:
    assert "hint" not in run_script(script).stderr
