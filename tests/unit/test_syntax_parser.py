"""Our statements as dataclasses, and everything else as it was."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Pseudonym, Requirement, Role
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import UNNAMED, QualifiedName, Source
from sqlanon.errors import Position, StatementError
from sqlanon.statements.base import PassThrough, Statement
from sqlanon.statements.checks.check_relation import CheckRelation
from sqlanon.statements.checks.check_release import CheckRelease
from sqlanon.statements.checks.check_series import CheckSeries
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.hierarchies.drop_hierarchy import DropHierarchy
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.policies.drop_policy import DropPolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.drop_release import DropRelease
from sqlanon.statements.releases.explain_release import ExplainRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.releases.refresh_release import RefreshRelease
from sqlanon.statements.series.create_series import CreateSeries
from sqlanon.statements.series.drop_series import DropSeries
from sqlanon.statements.streams.advance import Advance
from sqlanon.statements.streams.create_stream import CreateStream
from sqlanon.statements.streams.drop_stream import DropStream
from sqlanon.statements.workloads.create_workload import CreateWorkload
from sqlanon.statements.workloads.drop_workload import DropWorkload
from sqlanon.syntax.query_text import query_text


def parsed(text: str) -> Statement:
    (statement,) = parse_script(text)
    return statement


def name(*parts: str) -> QualifiedName:
    return QualifiedName(parts)


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
    statement = parsed("CREATE HIERARCHY h AS INTERVALS (5, 5.25, .5, 1e-2, -3)")
    assert isinstance(statement, CreateHierarchy)
    assert [type(value) for value in statement.definition.arguments] == [int, Decimal, Decimal, Decimal, int]


def test_a_whole_number_is_one_however_it_is_written() -> None:
    statement = parsed("CREATE HIERARCHY h AS INTERVALS (5.0, 5., 50e-1, 0.5e1, -5.000)")
    assert isinstance(statement, CreateHierarchy)
    assert [str(value) for value in statement.definition.arguments] == ["5", "5", "5", "5", "-5"]
    with pytest.raises(StatementError, match=r"expected a number, such as .*, found 1e401"):
        parsed("CREATE HIERARCHY h AS INTERVALS (1e401)")


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
    ("written", "arguments"),
    [
        ("value_ranges(ranges => main.my_ranges)", (("ranges", name("main", "my_ranges")),)),
        ('value_ranges(ranges => "My; Ranges")', (("ranges", name("My; Ranges")),)),
        ("personalized(p => 0.5, guarding => guard_node)", (("p", Decimal("0.5")), ("guarding", name("guard_node")))),
        (
            "L_Diversity(l => 2.5, variant => 'entropy', attribute => disease, jointly => TRUE)",
            (("l", Decimal("2.5")), ("variant", "entropy"), ("attribute", name("disease")), ("jointly", True)),
        ),
        (
            'delta_presence(min => 0, max => 5e-1, "from" => "true")',
            (("min", 0), ("max", Decimal("0.5")), ("from", name("true"))),
        ),
    ],
)
def test_arguments_of_requirements(written: str, arguments: tuple[tuple[str, object], ...]) -> None:
    statement = parsed(f"CREATE POLICY p ON t (a INSENSITIVE) REQUIRE {written}")
    assert isinstance(statement, CreatePolicy)
    (requirement,) = statement.policy.requirements
    assert requirement.model == written.partition("(")[0].lower()
    assert requirement.arguments == arguments
    assert [type(found) for _, found in requirement.arguments] == [type(wanted) for _, wanted in arguments]


@pytest.mark.parametrize(
    "written",
    [
        "t(t => 0.2, attribute => disease), t(t => 0.2, attribute => ward)",
        "t(t => 0.2), t(t => 0.2, distance => 'ordered')",
        "l(l => 2), l(l => 2, jointly => true)",
        'value_ranges(ranges => a), value_ranges(ranges => "a.b"), value_ranges(ranges => a.b)',
        "personalized(p => 0.5, guarding => a), personalized(p => 0.5, guarding => b)",
    ],
)
def test_a_model_may_be_required_in_several_ways(written: str) -> None:
    statement = parsed(f"CREATE POLICY p ON t (a INSENSITIVE) REQUIRE {written}")
    assert isinstance(statement, CreatePolicy)
    assert len(statement.policy.requirements) == written.count("), ") + 1


def test_against() -> None:
    policy = parsed('create policy p on t (a quasi identifier) against main."re;quire" require k_map(k => 3)')
    assert isinstance(policy, CreatePolicy)
    assert policy.policy.against == Source(name("main", "re;quire"))
    query = parsed("CREATE POLICY p ON t (a INSENSITIVE) AGAINST (SELECT a FROM v -- )\n) REQUIRE k_map(k => 3)")
    assert isinstance(query, CreatePolicy)
    assert query.policy.against == Source(query="SELECT a FROM v")
    none = parsed("CREATE POLICY p ON t (against INSENSITIVE) REQUIRE k_map(k => 3)")
    assert isinstance(none, CreatePolicy)
    assert none.policy.against is None


@pytest.mark.parametrize(
    ("written", "sensitive", "hierarchies", "public"),
    [
        ("", (), (), None),
        ("SENSITIVE disease USING diseases, ward", ("disease", "ward"), (("disease", "diseases"),), None),
        (
            'sensitive "using" using "using", Ward using w against voters',
            ("using", "Ward"),
            (("using", "using"), ("Ward", "w")),
            Source(name("voters")),
        ),
        ("AGAINST (FROM v)", (), (), Source(query="FROM v")),
        ("SENSITIVE ward AGAINST a.b", ("ward",), (), Source(name("a", "b"))),
    ],
)
def test_what_a_check_is_asked_of(
    written: str, sensitive: tuple[str, ...], hierarchies: tuple[tuple[str, str], ...], public: Source | None
) -> None:
    required = (Requirement("k_map", (("k", 2),)),)
    expected = CheckRelation(Source(name("t")), ("a",), sensitive, required, hierarchies, public)
    assert parsed(f"CHECK t (a) {written} REQUIRE k_map(k => 2)") == expected


def test_arguments_of_methods() -> None:
    text = "generalization(suppression => .02, loss => 'non_uniform_entropy', time_limit => 10, recoding => 'local')"
    statement = parsed(f"CREATE ANONYMIZED TABLE t AS POLICY p METHOD {text}")
    assert isinstance(statement, CreateRelease)
    wanted = (
        ("suppression", Decimal("0.02")),
        ("loss", "non_uniform_entropy"),
        ("time_limit", 10),
        ("recoding", "local"),
    )
    assert statement.method == MethodCall("generalization", wanted)
    assert isinstance(dict(statement.method.arguments)["time_limit"], int)
    for limit, value in (
        ("0.5", Decimal("0.5")),
        ("1e3", Decimal(1000)),
        ("1_000", 1000),
        ("'10 seconds'", "10 seconds"),
    ):
        again = parsed(f"EXPLAIN ANONYMIZED TABLE t AS POLICY p METHOD generalization(time_limit => {limit})")
        assert isinstance(again, ExplainRelease)
        assert again.create.method.arguments == (("time_limit", value),)


@pytest.mark.one_in(5)
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
                "table",
                name("t"),
                "p",
                MethodCall("generalization", (("suppression", Decimal("0.02")),)),
                if_not_exists=True,
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
        ("CREATE WORKLOAD w ON POLICY p", CreateWorkload("w", "p")),
        ("CREATE OR REPLACE WORKLOAD w ON POLICY p ()", CreateWorkload("w", "p", or_replace=True)),
        (
            "create workload if not exists \"w w\" on policy p (Queries => 10, aggregate => 'count')",
            CreateWorkload("w w", "p", (("queries", 10), ("aggregate", "count")), if_not_exists=True),
        ),
        ("DROP WORKLOAD IF EXISTS w", DropWorkload("w", if_exists=True)),
        ("CREATE SERIES s ON POLICY p KEY 'K'", CreateSeries("s", "p", "K")),
        (
            "create series if not exists s on policy p key 'K' require m_invariance(3)",
            CreateSeries("s", "p", "K", (Requirement("m_invariance", ((UNNAMED, 3),)),), if_not_exists=True),
        ),
        ("DROP SERIES IF EXISTS s", DropSeries("s", if_exists=True)),
        (
            "CREATE ANONYMIZED STREAM IF NOT EXISTS a.s AS POLICY p ORDER BY arrived "
            "METHOD stream(3, delay => INTERVAL '1 day')",
            CreateStream(
                QualifiedName(("a", "s")),
                "p",
                "arrived",
                MethodCall("stream", ((UNNAMED, 3), ("delay", "1 day"))),
                True,
            ),
        ),
        (
            "CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY arrived METHOD stream(delay => INTERVAL 10 MINUTES)",
            CreateStream(QualifiedName(("s",)), "p", "arrived", MethodCall("stream", (("delay", "10 minutes"),))),
        ),
        ("ADVANCE s", Advance(QualifiedName(("s",)))),
        ("ADVANCE STREAM s TO END", Advance(QualifiedName(("s",)), to_end=True)),
        ("ADVANCE stream TO END", Advance(QualifiedName(("stream",)), to_end=True)),
        ("ADVANCE s TO DATE '2026-01-01'", Advance(QualifiedName(("s",)), until="2026-01-01")),
        ("DROP ANONYMIZED STREAM IF EXISTS s", DropStream(QualifiedName(("s",)), if_exists=True)),
        ("REFRESH ANONYMIZED TABLE s.r", RefreshRelease(name("s", "r"))),
        ("refresh anonymized table r levels from release q", RefreshRelease(name("r"), name("q"))),
        (
            "CREATE ANONYMIZED TABLE r AS POLICY p LEVELS FROM RELEASE q IN SERIES s",
            CreateRelease("table", name("r"), "p", series="s", levels_from=name("q")),
        ),
        ("CHECK r IN SERIES s", CheckSeries(name("r"), "s")),
        (
            "CREATE ANONYMIZED TABLE r AS POLICY p IN SERIES s",
            CreateRelease("table", name("r"), "p", series="s"),
        ),
        (
            "CREATE ANONYMIZED TABLE r AS POLICY p METHOD m COLUMNS (a) IN SERIES s",
            CreateRelease("table", name("r"), "p", MethodCall("m", columns=(("a",),)), series="s"),
        ),
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
