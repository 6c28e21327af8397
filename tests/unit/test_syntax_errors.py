"""What is said of a statement of ours that is not written correctly: where, what, and how to write it."""

from __future__ import annotations

import pytest

from sqlanon.errors import Position, StatementError
from sqlanon.statements.base import PassThrough
from sqlanon.statements.parser import parse_script
from sqlanon.statements.registry import keywords


def failure(text: str) -> StatementError:
    with pytest.raises(StatementError) as caught:
        parse_script(text)
    return caught.value


HEAD = "CREATE POLICY p ON t "


@pytest.mark.parametrize(
    ("text", "offset", "message", "hint"),
    [
        (HEAD + "(a QUASI IDENTIFER) REQUIRE k", "IDENTIFER", "expected IDENTIFIER", "did you mean IDENTIFIER?"),
        (
            HEAD + "(a QUAZI IDENTIFIER) REQUIRE k",
            "QUAZI",
            "QUASI IDENTIFIER, SENSITIVE",
            "did you mean QUASI IDENTIFIER?",
        ),
        (HEAD + "(a SENSITIV) REQUIRE k", "SENSITIV)", "expected IDENTIFIER, ENTITY", "did you mean SENSITIVE?"),
        (HEAD + "(a QUASI IDENTIFIER USNG h) REQUIRE k", "USNG", "MIN LEVEL, MAX LEVEL", "did you mean USING?"),
        (HEAD + "(a QUASI IDENTIFIER MIN 1) REQUIRE k", "1)", "expected LEVEL", "a correct form is"),
        (HEAD + "(a QUASI IDENTIFIER MIN LEVEL 1.5) REQUIRE k", "1.5", "whole number", "a correct form is"),
        (HEAD + "(a QUASI IDENTIFIER USING g USING h) REQUIRE k", "USING h", "USING occurs twice", "keep one USING"),
        (
            HEAD + "(a ENTITY WEIGHT 2) REQUIRE k",
            "WEIGHT",
            "WEIGHT does not go with ENTITY",
            "belongs to QUASI IDENTIFIER",
        ),
        (HEAD + "(a SENSITIVE PSEUDONYM) REQUIRE k", "PSEUDONYM", "PSEUDONYM does not go", "IDENTIFIER or ENTITY"),
        (HEAD + "(a ENTITY PSEUDONYM KEY '') REQUIRE k", "''", "KEY names no variable", "environment variable"),
        (HEAD + "(a ENTITY PSEUDONYM KEY k) REQUIRE k", "k) R", "environment variable", "a correct form is"),
        (HEAD + "(a ENTITY, A SENSITIVE) REQUIRE k", "A SENS", "column A is named twice", "one role"),
        (HEAD + "(order ENTITY) REQUIRE k", "order", "expected a column", '"order"'),
        (HEAD + "('a' ENTITY) REQUIRE k", "'a'", "expected a column", "double quotes"),
        (HEAD + "(a) REQUIRE k", ") REQ", "expected IDENTIFIER, ENTITY", "age QUASI IDENTIFIER"),
        (HEAD + "(a, b ENTITY) REQUIRE k", ", b", "expected IDENTIFIER, ENTITY", "the role follows each column"),
        (
            HEAD + "(SENSITIVE a) REQUIRE k",
            "SENSITIVE a",
            "must follow the column",
            "the role follows each column: a SENSITIVE",
        ),
        (HEAD + "(QUASI IDENTIFIER (a, b)) REQUIRE k", "QUASI", "must follow the column", "age QUASI IDENTIFIER"),
        (HEAD + "(a QUASI IDENTIFIERS) REQUIRE k", "IDENTIFIERS", "expected IDENTIFIER", "did you mean IDENTIFIER?"),
        ("CREATE POLICY p ON SELECT a FROM t (a ENTITY)", "SELECT a", "expected a table", "parentheses: (SELECT ...)"),
        (HEAD + "(a ENTITY) AGAINST FROM u REQUIRE k", "FROM u", "expected a table", "in parentheses: (FROM ...)"),
        ("CHECK SELECT a FROM t (a)", "SELECT", "expected a table", "write a query in parentheses"),
        ("CREATE HIERARCHY h AS LEVELS SELECT 1, 2", "SELECT", 'expected "("', "write a query in parentheses"),
        ("ALTER POLICY p DROP REQUIRE k", "REQUIRE k", "expected a column", "ALTER POLICY p REQUIRE names all"),
        (HEAD + "() REQUIRE k", ") REQ", "expected a column", "k_anonymity(k => 4)"),
        (
            HEAD + "(a ENTITY)",
            None,
            "VISIBLE, AGAINST, JOINED WITH RELEASE or REQUIRE, found the end",
            "REQUIRE k_anonymity(k => 4)",
        ),
        (
            HEAD + "(a ENTITY) REQUIR k",
            "REQUIR",
            "VISIBLE, AGAINST, JOINED WITH RELEASE or REQUIRE",
            "did you mean REQUIRE?",
        ),
        (
            HEAD + "(a ENTITY) AGAINTS t REQUIRE k",
            "AGAINTS",
            "VISIBLE, AGAINST, JOINED WITH RELEASE or REQUIRE",
            "did you mean AGAINST?",
        ),
        (HEAD + "(a ENTITY) AGAINST 4 REQUIRE k", "4 REQ", "a table, a view, a 'file' or (SELECT", 'needs quotes: "4"'),
        (HEAD + "(a ENTITY) AGAINST (t) REQUIRE k", "t) R", "begins with SELECT", "a correct form is"),
        (HEAD + "(a ENTITY) AGAINST t, u REQUIRE k", ", u", "expected REQUIRE", "a correct form is"),
        (HEAD + "(a ENTITY) AGAINST t", None, "expected REQUIRE, found the end", "a correct form is"),
        (HEAD + "(a ENTITY) REQUIRE k AGAINST t", "AGAINST", "the end of the statement", "a correct form is"),
        (HEAD + "(a ENTITY) REQUIRE k_anonymity(k = 4)", "= 4", "expected =>", "k_anonymity(k => 4)"),
        (HEAD + "(a ENTITY) REQUIRE k_anonymity(4, 5)", "5)", "in k_anonymity(...)", "k_anonymity(k => 4)"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4, K => 5)", "K =>", "k is given twice", "keep one"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4), K()", "K()", "k is required twice", "keep one"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4), m, k(k => 5)", "k(k => 5)", "k is required twice", "keep one k(...)"),
        (
            HEAD
            + "(a ENTITY) REQUIRE l(l => 3, attribute => s, jointly => false), l(jointly => false, attribute => 'S')",
            "l(jointly",
            "l is required twice",
            "the stricter of each number",
        ),
        (HEAD + "(a ENTITY) REQUIRE k(k => null)", "null", "expected a value", "reserved"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4x)", "4x", "expected a number", "a correct form is"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4) foo", "foo", "expected the end of the statement", "a correct form is"),
        (HEAD + "(a ENTITY) REQUIRE k CREATE TABLE u(a int)", "CREATE TABLE", "the end of the", "semicolon before"),
        ("CREATE POLICY p ON a.b.c.d (a ENTITY) REQUIRE k", ".d", "at most database.schema.name", "a correct form is"),
        ("CREATE POLICY p ON (t) (a ENTITY) REQUIRE k", "t)", "begins with SELECT", "a correct form is"),
        ("CREATE POLICY p ON (SELECT (1) (a ENTITY", "(SELECT", "never closed", "a correct form is"),
        ("CREATE POLICY p ON (SELECT 'a) (a ENTITY", "'a)", "a string that is never closed", "a correct form is"),
        ("CREATE OR REPLACE POLICY IF NOT EXISTS p ON t", "IF NOT", "exclude each other", "keep one of them"),
        ("CREATE HIERARCHY s.h AS INTERVALS (5)", ".h", "without a schema", "own name only"),
        ('CREATE HIERARCHY "" AS INTERVALS (5)', '""', "name of the hierarchy", "a correct form is"),
        (
            "CREATE HIERARCHY h AS INTERVALS (low => 1, 5)",
            "5)",
            "because it follows an option",
            "INTERVALS (5, 10, 20)",
        ),
        ("CREATE HIERARCHY h AS INTERVALS (0x1F)", "0x1F", "expected a number", "a correct form is"),
        ("CREATE HIERARCHY h AS INTERVALS (1e9999999999999999999)", "1e9", "expected a number", "a correct form is"),
        ("CREATE HIERARCHY h AS INTERVALS (E'\\n')", "E'", "expected a string", "without escapes"),
        ("CREATE HIERARCHY h AS INTERVALS 5", "5", 'expected "("', "a correct form is"),
        *(
            (
                f"CREATE HIERARCHY h {text}",
                at,
                message,
                "a correct form is: CREATE HIERARCHY age_bands AUTO ON patients.age",
            )
            for text, at, message in (
                ("AUTO t.age", "t.age", "expected ON"),
                ("AUTO ON", None, "expected a table"),
                ("AUTO ON t", None, 'expected "."'),
                ("AUTO ON t.age (5)", "(5)", "expected"),
                ("AS AUTO ON t.age", "ON", "expected"),
            )
        ),
        ("CREATE HIERARCHY h 5", "5", "expected AS or AUTO", "or CREATE HIERARCHY age_bands AUTO ON patients.age"),
        ("CREATE ANONYMIZED VEIW v AS POLICY p", "VEIW", "expected VIEW, TABLE or STREAM", "did you mean VIEW?"),
        (
            "CREATE ANONYMIZED VIEW v AS POLICY p METHD m",
            "METHD",
            "METHOD, LEVELS FROM RELEASE",
            "did you mean METHOD?",
        ),
        ("CREATE ANONYMIZED VIEW v AS POLICY p METHOD m(1, 0.02)", "0.02", "in m(...)", "suppression => 0.02"),
        ("EXPLAIN ANONYMIZED v", "v", "expected VIEW or TABLE", "EXPLAIN ANONYMIZED TABLE"),
        ("DROP ANONYMIZED TABLE IF EXIST t", "EXIST", "the end of the statement", "DROP ANONYMIZED TABLE IF EXISTS"),
        ("CHECK", None, "expected a table, a view, a 'file' or (SELECT", "CHECK hospital_2026"),
        ("CHECK (SELECT 1)", None, 'expected "("', "CHECK patients (age, zip)"),
        ("CHECK t (a) REQUIRED k", "REQUIRED", "SENSITIVE, AGAINST or REQUIRE", "did you mean REQUIRE?"),
        ("CHECK t (a) SENSITIVE s USNG h REQUIRE k", "USNG", 'USING, ",", AGAINST or REQUIRE', "did you mean USING?"),
        ("CHECK t (a) SENSITIVE s USING h, S REQUIRE k", "S REQ", "the column S is named twice", "name it once"),
        ("CHECK t (a) SENSITIVE s USING 'h' REQUIRE k", "'h'", "the name of a hierarchy", "double quotes"),
        ("CHECK t (a) AGAINST REQUIRE k", "k", "expected REQUIRE", "a correct form is"),
        ("CHECK t () REQUIRE k", ") R", "expected a column", "a correct form is"),
        ("CHECK POLICY p", "POLICY", "a policy has no rows", "DESCRIBE POLICY"),
        ("DROP RELEASE r", "DROP", "no such statement", "DROP ANONYMIZED TABLE r, or DROP ANONYMIZED VIEW r"),
        ("drop release IF EXISTS r", "drop", "no such statement", "DROP ANONYMIZED TABLE r"),
        ('SHOW RELEASE "a b"', "SHOW", "no such statement", 'CHECK "a b"'),
        ("DESCRIBE HIERARCHY h", "DESCRIBE", "no such statement", "SHOW HIERARCHIES"),
        ("CREATE RELEASE r AS POLICY p", "CREATE", "no such statement", "CREATE ANONYMIZED TABLE r AS POLICY"),
        ("EXPORT r TO out", "out", "the path in quotes", "TO 'out/'"),
        ("EXPORT r TO 'x' (FROMAT csv)", "FROMAT", "DICTIONARY, REPLACE, REPORT or SIGN KEY", "did you mean FORMAT?"),
        ("EXPORT r TO 'x' (FORMAT csv, FORMAT csv)", "FORMAT csv)", "FORMAT occurs twice", "keep one"),
    ],
)
def test_errors_say_where_what_and_how(text: str, offset: str | None, message: str, hint: str) -> None:
    before = "select 'é';\n\n  "
    error = failure(f"{before}{text} ; select 2")
    assert message in error.message
    assert error.hint is not None
    assert hint in error.hint
    assert error.message.startswith(" ".join(text.split()[:1]).upper())
    column = (len(text) if offset is None else text.index(offset)) + 3
    assert error.position == Position(3, column)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CREATE ANONYMIZED TABLE r-2026 AS POLICY p", "r-2026"),
        ("CREATE ANONYMIZED TABLE main.r-2026-x AS POLICY p", "r-2026-x"),
        ("CREATE ANONYMIZED TABLE 2026-q1 AS POLICY p", "2026-q1"),
        ("CREATE ANONYMIZED TABLE my release AS POLICY p", "my release"),
        ("CREATE ANONYMIZED TABLE r AS POLICY my policy METHOD m", "my policy"),
        ("EXPLAIN ANONYMIZED TABLE r AS POLICY my-policy", "my-policy"),
        ("CREATE POLICY my policy ON t (a ENTITY) REQUIRE k", "my policy"),
        ("CREATE POLICY p ON my table (a ENTITY) REQUIRE k", "my table"),
        (HEAD + "(date of birth QUASI IDENTIFIER) REQUIRE k", "date of birth"),
        (HEAD + "(e-mail IDENTIFIER) REQUIRE k", "e-mail"),
        (HEAD + "(a QUASI IDENTIFIER USING my bands) REQUIRE k", "my bands"),
        (HEAD + "(a SENSITIVE) REQUIRE l(attribute => e-mail)", "e-mail"),
        ("CREATE HIERARCHY my h AS INTERVALS (5)", "my h"),
        ("CREATE WORKLOAD w-1 ON POLICY p", "w-1"),
        ("ALTER POLICY my p ADD a ENTITY", "my p"),
        ("ALTER POLICY p RENAME TO q-1", "q-1"),
        ("DESCRIBE POLICY my p", "my p"),
        ("CHECK r-2026", "r-2026"),
        ("CHECK my release", "my release"),
        ("CHECK t (age zip) REQUIRE k", "age zip"),
        ("EXPORT r-2026 TO 'out/'", "r-2026"),
        ("ESTIMATE SELECT count(*) FROM t FROM RELEASE r-2026", "r-2026"),
        ("MEASURE r-2026 WITH WORKLOAD w", "r-2026"),
        *((f"DROP {kind} my-name", "my-name") for kind in ("POLICY", "HIERARCHY", "WORKLOAD", "ANONYMIZED TABLE")),
    ],
)
def test_a_name_that_needs_quotes_is_shown_with_them(text: str, name: str) -> None:
    """All of it stands in the line that is shown, too."""
    error = failure(text)
    assert f'needs quotes: "{name}"' in str(error.hint)
    assert name in str(error.excerpt)
    assert ("a comma is missing" in str(error.hint)) == (name in ("age zip", "my bands"))


@pytest.mark.parametrize(
    "text",
    [
        "DROP POLICY p 4711",
        "DROP POLICY p Alice 4711",
        "DROP POLICY p\nAlice",
        "CREATE POLICY p FOR t (a ENTITY) REQUIRE k",
        "CREATE ANONYMIZED TABLE r AS POLICY p USING METHOD m",
        HEAD + "(a QUASI IDENTIFIER USING h b SENSITIVE) REQUIRE k",
        "DROP POLICY IF EXIST p",
    ],
)
def test_what_is_no_name_is_not_said_to_need_quotes(text: str) -> None:
    assert "quotes" not in str(failure(text).hint)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("CHECK RELEASE r", "CHECK r"),
        ('CHECK VIEW "r"', "CHECK r"),
        ("CHECK release release", "CHECK release"),
        ("EXPORT RELEASE r TO 'x'", "EXPORT r TO 'x'"),
        ("MEASURE TABLE r WITH WORKLOAD w", "MEASURE r WITH WORKLOAD w"),
        ("MEASURE TABLE r WITH FIGURES (f, g,)", "measure r with figures (f, g)"),
        ("SHOW POLICY p", "DESCRIBE POLICY p"),
    ],
)
def test_the_kind_of_object_may_be_said(text: str, meant: str) -> None:
    assert parse_script(text) == parse_script(meant)


@pytest.mark.parametrize("text", ["SHOW policy", "SHOW release", "DESCRIBE release", "DROP release.t", "SHOW policy;"])
def test_what_duckdb_understands_stays_duckdbs(text: str) -> None:
    assert [type(statement) for statement in parse_script(text)] == [PassThrough]


@pytest.mark.parametrize(
    "text",
    ["CHECK release", "CHECK view (a)", "EXPORT release TO 'x'", "MEASURE release WITH WORKLOAD w", "CHECK policy"],
)
def test_an_object_may_be_called_like_its_kind(text: str) -> None:
    (statement,) = parse_script(text)
    assert text.split()[1] in repr(statement)


@pytest.mark.parametrize("role", ["QUASI-IDENTIFIER", "quasi_identifier", "Quasi - Identifier"])
def test_a_quasi_identifier_may_be_written_as_elsewhere(role: str) -> None:
    text = HEAD + "(a {} MAX LEVEL 1, quasi SENSITIVE, sensitive QUASI IDENTIFIER, entity ENTITY PSEUDONYM) REQUIRE k"
    assert parse_script(text.format(role)) == parse_script(text.format("QUASI IDENTIFIER"))


def test_a_model_is_written_with_an_underscore() -> None:
    assert failure(HEAD + "(a ENTITY) REQUIRE k-anonymity(4)").hint == "write k_anonymity, with _"


def test_an_error_quotes_little_of_a_long_text() -> None:
    error = failure(f"CREATE POLICY p ON {'x' * 5000}.'{'y' * 5000}' (a ENTITY)")
    assert len(str(error)) < 500


def test_no_statement_runs_if_one_is_wrong() -> None:
    assert failure("select 1; CHECK r r2;").position == Position(1, 19)


@pytest.mark.parametrize("keywords", keywords())
def test_keywords_begin_our_statements(keywords: str) -> None:
    assert failure(f"{keywords} ,").message.startswith(keywords.replace(" VIEW", "").replace(" TABLE", ""))
