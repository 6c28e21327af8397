"""Our statements as dataclasses, and what is said of one that is not written correctly."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, Policy, Pseudonym, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.errors import Position, StatementError
from sqlanon.syntax.parser import KEYWORDS, parse_script, query_text
from sqlanon.syntax.statements import (
    CheckRelation,
    CheckRelease,
    CreateHierarchy,
    CreatePolicy,
    CreateRelease,
    DropHierarchy,
    DropPolicy,
    DropRelease,
    ExplainRelease,
    ExportRelease,
    MethodCall,
    PassThrough,
    Statement,
)


def parsed(text: str) -> Statement:
    (statement,) = parse_script(text)
    return statement


def name(*parts: str) -> QualifiedName:
    return QualifiedName(parts)


def failure(text: str) -> StatementError:
    with pytest.raises(StatementError) as caught:
        parse_script(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "definition"),
    [
        ("INTERVALS (5, 10, 20)", HierarchyDefinition("h", "intervals", (5, 10, 20))),
        (
            "intervals (0.5, 1_000, low => -15, high => 9e1)",
            HierarchyDefinition("h", "intervals", (Decimal("0.5"), 1000), (("low", -15), ("high", Decimal(90)))),
        ),
        ("PREFIXES (4,3,2)", HierarchyDefinition("h", "prefixes", (4, 3, 2))),
        ("Calendar (month, Year)", HierarchyDefinition("h", "calendar", ("MONTH", "YEAR"))),
        (
            "CALENDAR ('it''s', $$;$$, true, a.b)",
            HierarchyDefinition("h", "calendar", ("it's", ";", True, name("a", "b"))),
        ),
        ("LEVELS (SELECT * FROM t)", HierarchyDefinition("h", "levels", query="SELECT * FROM t")),
        ("LEVELS ((SELECT ')' FROM t) -- c\n)", HierarchyDefinition("h", "levels", query="(SELECT ')' FROM t)")),
        ("LEVELS (/* ( */ FROM `a)` /* ( */ )", HierarchyDefinition("h", "levels", query="FROM `a)`")),
        ("PARENTS (with e as (from f) from e)", HierarchyDefinition("h", "parents", query="with e as (from f) from e")),
        ("PARENTS (VALUES (1, 2))", HierarchyDefinition("h", "parents", query="VALUES (1, 2)")),
        ("ANYTHING ()", HierarchyDefinition("h", "anything")),
    ],
)
def test_hierarchy(text: str, definition: HierarchyDefinition) -> None:
    assert parsed(f"CREATE HIERARCHY h AS {text}") == CreateHierarchy(definition)


def test_numbers_keep_their_type() -> None:
    statement = parsed("CREATE HIERARCHY h AS INTERVALS (5, 5., .5, 1e2, -3)")
    assert isinstance(statement, CreateHierarchy)
    assert [type(value) for value in statement.definition.arguments] == [int, Decimal, Decimal, Decimal, int]


POLICY = """
create or replace policy "Hos;pital" on main.patients (  -- a comment, with (parentheses;
    ssn      IDENTIFIER PSEUDONYM KEY 'RELEASE_KEY',
    patient  ENTITY PSEUDONYM,
    dob      QUASI IDENTIFIER USING birth,
    "order"  QUASI IDENTIFIER,
    date     QUASI /* quasi; */ IDENTIFIER WEIGHT 2 MAX LEVEL 3 USING zip_prefix MIN LEVEL 1,
    disease  SENSITIVE USING "dis""eases",
    entity   INSENSITIVE
) REQUIRE K_Anonymity(K => 4), t_closeness(t => 0.3, distance => 'hierarchical', strict => true, ranges => a."b")"""


def test_policy() -> None:
    assert parsed(POLICY) == CreatePolicy(
        Policy(
            "Hos;pital",
            Source(name("main", "patients")),
            (
                Attribute("ssn", Role.IDENTIFIER, pseudonym=Pseudonym("RELEASE_KEY")),
                Attribute("patient", Role.ENTITY, pseudonym=Pseudonym()),
                Attribute("dob", Role.QUASI_IDENTIFIER, hierarchy="birth"),
                Attribute("order", Role.QUASI_IDENTIFIER),
                Attribute("date", Role.QUASI_IDENTIFIER, "zip_prefix", 1, 3, Decimal(2)),
                Attribute("disease", Role.SENSITIVE, hierarchy='dis"eases'),
                Attribute("entity", Role.INSENSITIVE),
            ),
            (
                Requirement("k_anonymity", (("k", 4),)),
                Requirement(
                    "t_closeness",
                    (("t", Decimal("0.3")), ("distance", "hierarchical"), ("strict", True), ("ranges", name("a", "b"))),
                ),
            ),
        ),
        or_replace=True,
    )


@pytest.mark.parametrize(
    ("written", "source"),
    [
        ("t", Source(name("t"))),
        ('db."s.s".T', Source(name("db", "s.s", "T"))),
        ("(SELECT a FROM t WHERE b = ';)')", Source(query="SELECT a FROM t WHERE b = ';)'")),
        ("((select 1 as a) union (select 2))", Source(query="(select 1 as a) union (select 2)")),
        ("(FROM t)", Source(query="FROM t")),
    ],
)
def test_source(written: str, source: Source) -> None:
    statement = parsed(f"CREATE POLICY p ON {written} (a INSENSITIVE) REQUIRE k_anonymity(k => 2)")
    assert isinstance(statement, CreatePolicy)
    assert statement.policy.source == source
    checked = parsed(f"CHECK {written} (a, b) SENSITIVE c, d REQUIRE k_anonymity(k => 2)")
    assert checked == CheckRelation(source, ("a", "b"), ("c", "d"), (Requirement("k_anonymity", (("k", 2),)),))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("CREATE ANONYMIZED VIEW v AS POLICY p", CreateRelease("view", name("v"), "p")),
        (
            "create or replace anonymized table s.t as policy p method Mondrian",
            CreateRelease("table", name("s", "t"), "p", MethodCall("mondrian"), or_replace=True),
        ),
        (
            "CREATE ANONYMIZED TABLE IF NOT EXISTS t AS POLICY p METHOD generalization(Suppression => 0.02)",
            CreateRelease(
                "table", name("t"), "p", MethodCall(arguments=(("suppression", Decimal("0.02")),)), if_not_exists=True
            ),
        ),
        ("EXPLAIN ANONYMIZED VIEW v AS POLICY p", ExplainRelease(CreateRelease("view", name("v"), "p"))),
        (
            "explain create or replace anonymized view v as policy p",
            ExplainRelease(CreateRelease("view", name("v"), "p", or_replace=True)),
        ),
        ("DROP ANONYMIZED VIEW v", DropRelease("view", name("v"))),
        ("drop anonymized table if exists s.v", DropRelease("table", name("s", "v"), if_exists=True)),
        ("DROP HIERARCHY IF EXISTS h", DropHierarchy("h", if_exists=True)),
        ("DROP HIERARCHY if", DropHierarchy("if")),
        ("DROP POLICY `p``q`", DropPolicy("p`q")),
        ("CHECK hospital_2026", CheckRelease(name("hospital_2026"))),
        ("EXPORT r TO 'out/'", ExportRelease(name("r"), "out/")),
        ("EXPORT r TO 'o''ut' (FORMAT CSV, REPLACE)", ExportRelease(name("r"), "o'ut", "csv", replace=True)),
        ("export r to 'x' (replace false, format 'DuckDB')", ExportRelease(name("r"), "x", "duckdb")),
        ("export \"database\" to 'x' (replace true)", ExportRelease(name("database"), "x", replace=True)),
    ],
)
def test_statement(text: str, statement: Statement) -> None:
    assert parsed(text) == statement
    assert parsed(f" -- c;\n{text.replace(' ', ' /* ; */ ', 1)} ;") == statement


@pytest.mark.parametrize(
    "text",
    [
        "EXPORT DATABASE 'x' (FORMAT parquet)",
        "export/**/database 'x'",
        "EXPLAIN SELECT 1",
        "EXPLAIN CREATE TABLE hierarchy (i int)",
        "CREATE TABLE policy (i int)",
        "CREATE OR REPLACE VIEW anonymized AS SELECT 1",
        "CREATE HIERACHY h AS INTERVALS (1)",
        "CREATE ANONYMISED VIEW v AS POLICY p",
        'CREATE "HIERARCHY" h',
        "CREATE H\u0131ERARCHY h",
        "DROP TABLE policy",
        "CHECKPOINT",
        "SELECT 'CREATE POLICY p'",
        "(CHECK x)",
    ],
)
def test_the_rest_is_duckdbs(text: str) -> None:
    assert parsed(text) == PassThrough(text)


def test_statements_know_their_place_in_the_script() -> None:
    statements = parse_script("-- head\nselect 1;\n\n  CHECK r; explain anonymized view v as policy p")
    assert [statement.position for statement in statements] == [Position(2, 1), Position(4, 3), Position(4, 12)]
    explained = statements[2]
    assert isinstance(explained, ExplainRelease)
    assert explained.create.position == Position(4, 12)


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
        (HEAD + "(a QUASI IDENTIFIER USING g USING h) REQUIRE k", "USING h", "USING stands twice", "keep one USING"),
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
        (HEAD + "(a) REQUIRE k", ") REQ", "expected IDENTIFIER, ENTITY", "k_anonymity(k => 4)"),
        (HEAD + "() REQUIRE k", ") REQ", "expected a column", "k_anonymity(k => 4)"),
        (HEAD + "(a ENTITY)", None, "expected REQUIRE, found the end", "REQUIRE k_anonymity(k => 4)"),
        (HEAD + "(a ENTITY) REQUIR k", "REQUIR", "expected REQUIRE", "did you mean REQUIRE?"),
        (HEAD + "(a ENTITY) REQUIRE k_anonymity(4)", "4)", "in k_anonymity(...)", "k_anonymity(k => 4)"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4, K => 5)", "K =>", "k is given twice", "keep one"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4), K()", "K()", "k is required twice", "keep one"),
        (HEAD + "(a ENTITY) REQUIRE k(k => null)", "null", "expected a value", "reserved"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4x)", "4x", "expected a number", "a correct form is"),
        (HEAD + "(a ENTITY) REQUIRE k(k => 4) foo", "foo", "expected the end of the statement", "a correct form is"),
        (
            "CREATE POLICY p ON 'f.csv' (a ENTITY) REQUIRE k",
            "'f.csv'",
            "a table, a view or (SELECT",
            "SELECT * FROM 'file'",
        ),
        ("CREATE POLICY p ON a.b.c.d (a ENTITY) REQUIRE k", ".d", "at most database.schema.name", "a correct form is"),
        ("CREATE POLICY p ON (t) (a ENTITY) REQUIRE k", "t)", "begins with SELECT", "a correct form is"),
        ("CREATE POLICY p ON (SELECT (1) (a ENTITY", "(SELECT", "never closed", "a correct form is"),
        ("CREATE POLICY p ON (SELECT 'a) (a ENTITY", "'a)", "a string that is never closed", "a correct form is"),
        ("CREATE OR REPLACE POLICY IF NOT EXISTS p ON t", "IF NOT", "exclude each other", "keep one of them"),
        ("CREATE HIERARCHY s.h AS INTERVALS (5)", ".h", "without a schema", "own name only"),
        ('CREATE HIERARCHY "" AS INTERVALS (5)', '""', "name of the hierarchy", "a correct form is"),
        ("CREATE HIERARCHY h AS INTERVALS (low => 1, 5)", "5)", "an option stands before it", "INTERVALS (5, 10, 20)"),
        ("CREATE HIERARCHY h AS INTERVALS (0x1F)", "0x1F", "expected a number", "a correct form is"),
        ("CREATE HIERARCHY h AS INTERVALS (1e9999999999999999999)", "1e9", "expected a number", "a correct form is"),
        ("CREATE HIERARCHY h AS INTERVALS (E'\\n')", "E'", "expected a string", "without escapes"),
        ("CREATE HIERARCHY h AS INTERVALS 5", "5", 'expected "("', "a correct form is"),
        ("CREATE ANONYMIZED VEIW v AS POLICY p", "VEIW", "expected VIEW or TABLE", "did you mean VIEW?"),
        ("CREATE ANONYMIZED VIEW v AS POLICY p METHD m", "METHD", "METHOD or the end", "did you mean METHOD?"),
        ("CREATE ANONYMIZED VIEW v AS POLICY p METHOD m(0.02)", "0.02", "in m(...)", "suppression => 0.02"),
        ("EXPLAIN ANONYMIZED v", "v", "expected VIEW or TABLE", "EXPLAIN ANONYMIZED TABLE"),
        ("DROP ANONYMIZED TABLE IF EXIST t", "EXIST", "the end of the statement", "DROP ANONYMIZED TABLE IF EXISTS"),
        ("CHECK", None, "expected a table, a view or (SELECT", "CHECK hospital_2026"),
        ("CHECK (SELECT 1)", None, 'expected "("', "CHECK patients (age, zip)"),
        ("CHECK t (a) REQUIRED k", "REQUIRED", "SENSITIVE or REQUIRE", "did you mean REQUIRE?"),
        ("CHECK t () REQUIRE k", ") R", "expected a column", "a correct form is"),
        ("EXPORT r TO out", "out", "the path in quotes", "TO 'out/'"),
        ("EXPORT r TO 'x' (FROMAT csv)", "FROMAT", "FORMAT or REPLACE", "did you mean FORMAT?"),
        ("EXPORT r TO 'x' (FORMAT csv, FORMAT csv)", "FORMAT csv)", "FORMAT stands twice", "keep one"),
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


def test_an_error_quotes_little_of_a_long_text() -> None:
    error = failure(f"CREATE POLICY p ON {'x' * 5000}.'{'y' * 5000}' (a ENTITY)")
    assert len(str(error)) < 500


def test_no_statement_runs_if_one_is_wrong() -> None:
    assert failure("select 1; CHECK r r2;").position == Position(1, 19)


@pytest.mark.parametrize("keywords", KEYWORDS)
def test_keywords_begin_our_statements(keywords: str) -> None:
    assert failure(f"{keywords} ,").message.startswith(keywords.replace(" VIEW", "").replace(" TABLE", ""))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("  SELECT 1 -- one\n", "SELECT 1"),
        ("/* a */ FROM t;", "FROM t"),
        ("((SELECT ')'))", "((SELECT ')'))"),
    ],
)
def test_query_text(text: str, query: str) -> None:
    assert query_text(text) == query


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "SELECT 1; SELECT 2",
        "SELECT 1) UNION (SELECT 2",
        "SELECT (1",
        "SELECT 'a",
        "SELECT 1 /*",
        "DROP TABLE t",
        "t",
    ],
)
def test_no_query_text(text: str) -> None:
    with pytest.raises(StatementError):
        query_text(text)
