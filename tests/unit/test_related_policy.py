"""Policies on several tables: how they are written, kept and bound, what is refused, and what requirements know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest

from sqlanon import Connection
from sqlanon.catalog import policies
from sqlanon.domain.policy import Attribute, Policy, RelatedTable, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError, SqlanonError, StatementError
from sqlanon.export.report.policy_page import policy_page
from sqlanon.release.existing.composition import sources_of
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.related_tables import related_sources
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement
from sqlanon.sql.questions.load import load_question, question_names
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.syntax.definitions import policy_text
from tests.support.database import new_database, template
from tests.support.names import HOSTILE, quoted

SETUP = """
CREATE TABLE persons AS SELECT i AS id, 1950 + i // 3 * 10 AS born, ['F', 'M'][1 + i // 3] AS sex, 'H' || i % 2 AS ward
    FROM range(6) AS t(i);
CREATE TABLE visits AS SELECT CAST(patient AS BIGINT) AS patient, clinic, diagnosis FROM (VALUES
    (0, 'North', 'flu'), (0, 'North', 'cold'), (1, 'North', 'flu'), (2, 'North', 'ulcer'), (2, 'South', 'flu'),
    (3, 'South', 'cold'), (4, 'South', 'flu'), (4, 'East', 'ulcer'), (5, 'South', 'cold'), (5, 'East', 'flu')
) AS t(patient, clinic, diagnosis);
CREATE TABLE drugs AS SELECT i % 6 AS who, 'd' || i % 2 AS drug FROM range(12) AS t(i);
CREATE HIERARCHY regions AS LEVELS (FROM (VALUES ('North', 'N'), ('South', 'SE'), ('East', 'SE')) AS t(value, region));
"""
SOURCE = "(id ENTITY, born QUASI IDENTIFIER, sex QUASI IDENTIFIER)"
VISITS = "WITH TABLE visits ON (patient) (clinic QUASI IDENTIFIER USING regions, diagnosis SENSITIVE)"
DRUGS = "WITH TABLE drugs ON (who) (drug SENSITIVE)"
K = "REQUIRE k_anonymity(k => 2)"


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


def created(*parts: str, source: str = "persons", columns: str = SOURCE) -> str:
    return f"CREATE OR REPLACE POLICY clinic ON {source} {columns} {' '.join(parts)}"


def parsed(text: str) -> Policy:
    (statement,) = parse_script(text)
    assert isinstance(statement, CreatePolicy)
    return statement.policy


def under_caret(error: SqlanonError) -> str:
    """What of the statement's line stands at the caret, up to a blank."""
    assert error.excerpt is not None
    line, caret = error.excerpt.splitlines()[:2]
    return line[caret.index("^") :].split()[0]


def test_a_policy_on_two_tables_is_read_and_written_back(con: Connection) -> None:
    policy = parsed(created(VISITS, K))
    assert policy.related == (
        RelatedTable(
            "visits",
            Source(QualifiedName(("visits",))),
            "patient",
            (
                Attribute("clinic", Role.QUASI_IDENTIFIER, "regions"),
                Attribute("diagnosis", Role.SENSITIVE),
            ),
        ),
    )
    assert parsed(policy_text(policy)) == policy
    con.execute(created(VISITS, K))
    engine = DuckDBEngine(con.duckdb)
    assert policies.load(engine, "CLINIC") == policy
    assert con.execute("SHOW POLICIES").fetchall() == [
        ("clinic", "persons, visits", "born, sex, clinic", "diagnosis", "k_anonymity(k => 2)")
    ]
    described = con.execute("DESCRIBE POLICY clinic").fetchall()
    assert described[4:7] == [
        ("related table", "visits", "visits ON (patient)"),
        ("column", "clinic", 'QUASI IDENTIFIER USING "regions", of visits'),
        ("column", "diagnosis", "SENSITIVE, of visits"),
    ]
    assert parsed(described[-1][2]) == policy
    page = policy_page(engine, "clinic")
    assert "Columns of visits" in page
    assert "clinic by regions" in page


def test_what_is_no_table_has_a_name(con: Connection, tmp_path: Path) -> None:
    path = str(tmp_path / "visits.csv")
    con.execute(f"COPY visits TO '{path}'")
    for source in ("(SELECT * FROM visits)", f"'{path}'", f"read_csv('{path}')"):
        with pytest.raises(StatementError, match="expected AS, and a name for the table"):
            con.execute(created(f"WITH TABLE {source} ON (patient) (diagnosis SENSITIVE)", K))
        con.execute(created(f"WITH TABLE {source} AS checkups ON (patient) (diagnosis SENSITIVE)", K))
        (related,) = policies.load(DuckDBEngine(con.duckdb), "clinic").related
        assert (related.name, related.key) == ("checkups", "patient")


def test_a_table_may_have_another_name_and_be_there_twice(con: Connection) -> None:
    again = "WITH TABLE visits AS again ON (patient) (diagnosis SENSITIVE)"
    con.execute(created("WITH TABLE visits ON (patient) (clinic SENSITIVE)", again, K))
    assert [table.name for table in policies.load(DuckDBEngine(con.duckdb), "clinic").related] == ["visits", "again"]


CLINIC = "(patient) (clinic SENSITIVE)"
WRONG: Sequence[tuple[str, type[SqlanonError], str, str]] = [
    # How it is written.
    (created("WITH TABEL visits ON (patient) (clinic SENSITIVE)", K), StatementError, "expected TABLE", "TABEL"),
    (
        created(f"WITH TABLE visits {CLINIC}", K),
        StatementError,
        "expected AS, and a name",
        "(clinic",
    ),
    (created("WITH TABLE visits ON patient (clinic SENSITIVE)", K), StatementError, r'expected "\("', "patient"),
    (created("WITH TABLE visits ON () (clinic SENSITIVE)", K), StatementError, "expected the column with the", ")"),
    (
        created("WITH TABLE visits ON (patient, clinic) (clinic SENSITIVE)", K),
        StatementError,
        "more than one",
        "clinic)",
    ),
    (created("WITH TABLE visits ON (patient)", K), StatementError, r'expected "\("', "REQUIRE"),
    (created("WITH TABLE visits ON (patient) ()", K), StatementError, "expected a column", ")"),
    (created(VISITS, VISITS, K), StatementError, "two tables are called visits", "visits"),
    (created(VISITS, "WITH TABLE drugs ON (who) (DIAGNOSIS SENSITIVE)", K), StatementError, "in two tables", "DIAGN"),
    (created("WITH TABLE visits ON (patient) (ID SENSITIVE)", K), StatementError, "in two tables", "ID"),
    (created("WITH TABLE visits ON (patient) (clinic ENTITY)", K), StatementError, "clinic is an ENTITY", "clinic"),
    (created(K, VISITS), StatementError, "WITH TABLE comes too late", "WITH"),
    (created(K, "JOINED WITH RELEASE r ON (born)"), StatementError, "JOINED WITH RELEASE comes too late", "JOINED"),
    (created("LEFT JOIN visits ON (id)", K), StatementError, "a policy joins no tables", "LEFT"),
    (created("CONFIDENTIAL (born, sex)", VISITS), StatementError, "WITH TABLE comes too late", "WITH"),
    # What it means.
    (created("WITH TABLE visits AS persons ON (patient) (clinic SENSITIVE)", K), PolicyError, "are both", "persons"),
    (
        created(VISITS, K, columns="(id ENTITY PSEUDONYM, sex QUASI IDENTIFIER)"),
        PolicyError,
        "random in each release",
        "id",
    ),
    (created(VISITS, K, columns="(id IDENTIFIER, sex QUASI IDENTIFIER)"), PolicyError, "who these are", "visits"),
    (created("WITH TABLE visits ON (clinic) (clinic SENSITIVE)", K), PolicyError, "is never published", "clinic"),
    (created(VISITS, "CONFIDENTIAL (born, sex)", K), PolicyError, "CONFIDENTIAL takes the columns of one", "born"),
    (created(VISITS, "AGAINST persons", K), PolicyError, "public table persons have no rows in visits", "persons"),
    (created(VISITS, K, source="visits PIVOT clinic VALUES diagnosis"), StatementError, "go with PIVOT", "WITH"),
    # What it is bound to.
    (
        created("WITH TABLE visit ON (patient) (clinic SENSITIVE)", K),
        PolicyError,
        "WITH TABLE visit: there is no",
        "visit",
    ),
    (
        created("WITH TABLE visits ON (person) (clinic SENSITIVE)", K),
        PolicyError,
        "visits has no column person",
        "(person",
    ),
    (created("WITH TABLE visits ON (patient) (ward SENSITIVE)", K), PolicyError, "visits has no column ward", "ward"),
    (
        created("WITH TABLE visits ON (clinic) (diagnosis SENSITIVE)", K),
        PolicyError,
        "is of type VARCHAR, and",
        "(clinic",
    ),
    (
        created("WITH TABLE visits ON (patient) (clinic QUASI IDENTIFIER USING regions MAX LEVEL 9)", K),
        PolicyError,
        "clinic has no level 9",
        "9",
    ),
    (
        created("WITH TABLE visits ON (patient) (clinic QUASI IDENTIFIER USING r)", K),
        PolicyError,
        "no hierarchy r",
        "r)",
    ),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("statement", "kind", "message", "at"), WRONG)
def test_what_is_refused(con: Connection, statement: str, kind: type[SqlanonError], message: str, at: str) -> None:
    with pytest.raises(kind, match=message) as refused:
        con.execute(statement)
    assert refused.value.hint or "level" in message
    assert under_caret(refused.value).startswith(at)
    assert con.execute("SHOW POLICIES").fetchall() == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("INSERT INTO visits VALUES (6, 'North', 'secret')", "1 row of visits is of no respondent in persons"),
        ("INSERT INTO visits VALUES (6, 'x', 'secret'), (7, 'y', 'secret')", "2 rows of visits are of no respondent"),
        ("UPDATE visits SET patient = NULL WHERE patient = 0", "patient is NULL in 2 rows of visits"),
        ("INSERT INTO persons VALUES (3, 1, 'secret', 'x')", "1 value of id occurs in more than one row of persons"),
        ("INSERT INTO persons FROM persons", "6 values of id occur in more than one row of persons"),
        ("INSERT INTO persons VALUES (NULL, 1, 'secret', 'x')", "id is NULL in 1 row of persons"),
    ],
)
def test_each_row_is_of_one_respondent(con: Connection, change: str, message: str) -> None:
    con.execute(created(VISITS, K))
    con.execute(change)
    for statement in (created(VISITS, K), "CREATE ANONYMIZED TABLE r AS POLICY clinic", "ALTER POLICY clinic " + K):
        with pytest.raises(DataError, match=message) as refused:
            con.execute(statement)
        assert refused.value.hint
        assert "secret" not in str(refused.value)
    assert con.execute("SHOW RELEASES").fetchall() == []


def test_a_respondent_may_have_no_row_and_a_table_none_at_all(con: Connection) -> None:
    con.execute("DELETE FROM visits WHERE patient < 3; DELETE FROM drugs")
    con.execute(created(VISITS, DRUGS, K))


def test_the_bound_policy_has_the_columns_of_all_tables(con: Connection) -> None:
    con.execute("ALTER TABLE visits ADD COLUMN bill INTEGER; ALTER TABLE visits ALTER COLUMN diagnosis TYPE "
                "ENUM ('flu', 'cold', 'ulcer')")  # fmt: skip
    con.execute(created(VISITS, "WITH TABLE (FROM drugs) AS d ON (who) (drug SENSITIVE)", K))
    engine = DuckDBEngine(con.duckdb)
    policy = policies.load(engine, "clinic")
    with engine.transaction(), TempTables(engine) as temp:
        related = related_sources(engine, policy, temp)
        source = policy_source(engine, policy, temp)
        bound = bind(policy, source, hierarchies_of(engine, policy), "", related=related)
        visits, drugs = bound.related
        assert (visits.name, visits.key, visits.relation.name) == ("visits", "patient", "visits")
        assert [(b.column, b.published_type, b.height) for b in visits.attributes] == [
            ("clinic", "VARCHAR", 2),
            ("diagnosis", "VARCHAR", 1),
        ]
        assert set(visits.unpublished) == {"patient", "bill"}
        # What is no table is copied, so that each step reads the same rows.
        assert (drugs.name, drugs.key, drugs.relation.parts[0]) == ("d", "who", "temp")
        assert [b.column for b in bound.all_sensitive] == ["diagnosis", "drug"]
        # What knows nothing of related tables does not leave them out unasked.
        with pytest.raises(PolicyError, match="has related tables"):
            bind(policy, source, hierarchies_of(engine, policy), "")


def test_all_that_a_release_is_made_from_counts(con: Connection) -> None:
    con.execute("CREATE VIEW pills AS FROM drugs")
    con.execute(created(VISITS, "WITH TABLE pills ON (who) (drug SENSITIVE)", K))
    engine = DuckDBEngine(con.duckdb)
    read = set(map(str, sources_of(engine, policies.load(engine, "clinic"))))
    assert read == {"main.persons", "main.visits", "main.pills", "main.drugs"}


def test_a_data_frame_may_be_a_related_table() -> None:
    con = new_database()
    con.execute("CREATE TABLE persons AS SELECT i AS id, i % 2 AS born, 'F' AS sex FROM range(6) AS t(i)")
    stays = pandas.DataFrame({"who": [0, 1, 2], "ward": ["a", "b", "a"]})
    con.execute(created("WITH TABLE stays ON (who) (ward SENSITIVE)", K))
    (related,) = policies.load(DuckDBEngine(con.duckdb), "clinic").related
    assert related.name == "stays"
    assert str(related.source) == "data frame stays"
    del stays
    with pytest.raises(PolicyError, match="WITH TABLE stays: the policy is on the data frame stays"):
        con.execute("ALTER POLICY clinic " + K)


BY_HAND = """
INSERT INTO anon.policy_related_table (policy, related_table, source, key_column)
    VALUES ('clinic', 'Drugs', 'drugs', 'who');
INSERT INTO anon.policy_attribute (policy, attribute, role, related_table)
    VALUES ('clinic', 'drug', 'sensitive', 'DRUGS');
"""


def test_a_related_table_by_hand(con: Connection) -> None:
    con.execute(created(VISITS, K))
    con.execute(BY_HAND)
    assert policies.load(DuckDBEngine(con.duckdb), "clinic").related[1] == RelatedTable(
        "Drugs", Source(QualifiedName(("drugs",))), "who", (Attribute("drug", Role.SENSITIVE),)
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE anon.policy_related_table SET source = 'a b'", "source in anon.policy_related_table cannot be read"),
        ("UPDATE anon.policy_related_table SET source = NULL", "needs one source"),
        ("UPDATE anon.policy_related_table SET query = 'FROM t'", "needs one source"),
        ("UPDATE anon.policy_related_table SET related_table = ''", "but anon.policy_related_table does not list"),
        ("UPDATE anon.policy_related_table SET key_column = ''", "says whose its rows are"),
        ("UPDATE anon.policy_related_table SET key_column = 'DRUG' WHERE key_column = 'who'", "is never published"),
        (
            "UPDATE anon.policy_related_table SET related_table = 'VISITS'",
            "but anon.policy_related_table does not list",
        ),
        ("DELETE FROM anon.policy_related_table", "clinic is of the table visits in anon.policy_attribute, but"),
        ("DELETE FROM anon.policy_attribute WHERE attribute = 'drug'", "no column of Drugs has a role"),
        ("UPDATE anon.policy_attribute SET attribute = 'Sex' WHERE attribute = 'drug'", "two columns are called Sex"),
        ("UPDATE anon.policy_attribute SET role = 'entity' WHERE attribute = 'drug'", "drug of Drugs is an ENTITY"),
        ("UPDATE anon.policy_attribute SET role = 'sensitive' WHERE role = 'quasi_identifier'", "no quasi-identifier"),
        ("UPDATE anon.policy SET against = 'persons'", "public table persons have no rows in visits"),
    ],
)
def test_a_related_table_by_hand_is_validated(con: Connection, change: str, problem: str) -> None:
    con.execute(created(VISITS, K))
    con.execute(BY_HAND)
    con.execute(change)
    with pytest.raises(PolicyError, match=problem) as refused:
        policies.load(DuckDBEngine(con.duckdb), "clinic")
    assert refused.value.hint


def test_dropping_and_replacing_leave_nothing(con: Connection) -> None:
    con.execute(created(VISITS, DRUGS, K))
    con.execute(created(DRUGS, K))
    assert con.execute("SELECT related_table FROM anon.policy_related_table").fetchall() == [("drugs",)]
    con.execute("ALTER POLICY clinic RENAME TO others; DROP POLICY others")
    for table in ("policy_related_table", "policy_attribute"):
        assert con.execute(f"SELECT count(*) FROM anon.{table}").fetchall() == [(0,)]


@pytest.mark.parametrize("change", ["DROP clinic", "ADD diagnosis SENSITIVE", "ALTER Clinic INSENSITIVE"])
def test_the_columns_of_related_tables_are_not_altered(con: Connection, change: str) -> None:
    con.execute(created(VISITS, K))
    with pytest.raises(PolicyError, match="is a column of visits, and ALTER POLICY changes those of the source") as no:
        con.execute(f"ALTER POLICY clinic {change}")
    assert "CREATE OR REPLACE" in str(no.value.hint)
    con.execute("ALTER POLICY clinic ADD ward INSENSITIVE; ALTER POLICY clinic REQUIRE k_anonymity(3, knows => 'rows')")
    with pytest.raises(PolicyError, match="no column of the source says who these are"):
        con.execute("ALTER POLICY clinic DROP id")
    policy = policies.load(DuckDBEngine(con.duckdb), "clinic")
    assert policy.requirements == (Requirement("k_anonymity", (("k", 3), ("knows", "rows"))),)
    assert len(policy.related) == 1


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_and_any_type(name: str) -> None:
    con = new_database()
    table, other, key, column = (quoted(name + end) for end in ("", "2", "k", "c"))
    con.execute(f"""CREATE TABLE {table} AS SELECT 'p' || i AS {key}, i % 2 AS {column} FROM range(6) AS t(i);
        CREATE TABLE {other} AS SELECT 'p' || i % 6 AS {column}, i AS {key} FROM range(12) AS t(i);""")
    text = (
        f"CREATE POLICY {table} ON {table} ({key} ENTITY, {column} QUASI IDENTIFIER) WITH TABLE {other} ON ({column}) "
        f"({quoted(name + 'v')} SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    with pytest.raises(PolicyError, match="has no column"):
        con.execute(text)
    con.execute(f"ALTER TABLE {other} RENAME COLUMN {key} TO {quoted(name + 'v')}")
    con.execute(text)
    policy = policies.load(DuckDBEngine(con.duckdb), name)
    assert parsed(policy_text(policy)) == policy
    con.execute(f"INSERT INTO {other} VALUES ('nobody', 1)")
    with pytest.raises(DataError, match="1 row of"):
        con.execute(text.replace("CREATE", "CREATE OR REPLACE", 1))


@pytest.mark.parametrize(
    "kind", ["UUID", "DATE", "DECIMAL(30, 4)", "HUGEINT", "BLOB", "TIMESTAMP WITH TIME ZONE", "ENUM ('0', '1', '2')"]
)
def test_keys_of_any_type(kind: str) -> None:
    con = new_database()
    values = {
        "UUID": "CAST(md5(i::VARCHAR) AS UUID)",
        "DATE": "DATE '2020-01-01' + i::INTEGER",
        "BLOB": "encode(i::VARCHAR)",
        "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_days(i::INTEGER)",
    }
    value = values.get(kind, f"CAST(i::VARCHAR AS {kind})")
    con.execute(f"CREATE TABLE persons AS SELECT {value} AS id, 1 AS born, 'F' AS sex FROM range(3) AS t(i)")
    con.execute(f"CREATE TABLE visits AS SELECT {value} AS who, 'x' AS what FROM range(3) AS t(i), range(2)")
    con.execute(created("WITH TABLE visits ON (who) (what SENSITIVE)", K))


# Requirements.


def bound(con: Connection, *requirements: str, tables: str = f"{VISITS} {DRUGS}") -> list[BoundRequirement]:
    columns = "(id ENTITY, born QUASI IDENTIFIER, sex QUASI IDENTIFIER, ward SENSITIVE)"
    con.execute(created(tables, f"REQUIRE {', '.join(requirements)}", columns=columns))
    return list(resolve_requirements(policies.load(DuckDBEngine(con.duckdb), "clinic")))


def test_what_requirements_know(con: Connection) -> None:
    asked = bound(
        con,
        "k_anonymity(2)",
        "k_anonymity(2, knows => 'one_row')",
        "k_anonymity(k => 2, knows => 'm_rows', m => 3)",
        "k_anonymity(k => 2, knows => 'history')",
    )
    assert [(r.knows, r.rows_known) for r in asked] == [
        ("values", None),
        ("one_row", None),
        ("m_rows", 3),
        ("history", None),
    ]
    assert [r.question_name for r in asked] == [
        "k_anonymity",
        "k_anonymity knows 'one_row'",
        "k_anonymity knows 'm_rows', m => 3",
        "k_anonymity knows 'history'",
    ]
    assert list(map(str, asked)) == [
        "k_anonymity(k => 2)",
        "k_anonymity(k => 2, knows => 'one_row')",
        "k_anonymity(k => 2, knows => 'm_rows', m => 3)",
        "k_anonymity(k => 2, knows => 'history')",
    ]
    assert "up to 3 different rows" in asked[2].scope
    # The default, written out, is named like what is left out.
    assert bound(con, "k_anonymity(2, knows => 'values')")[0].question_name == "k_anonymity"


def test_without_related_tables_nothing_is_known_of_them(con: Connection) -> None:
    (asked,) = bind_requirement(Requirement("k_anonymity", (("k", 2),)), (), ("born",))
    assert (asked.knows, asked.rows_known, asked.scope) == (None, None, "")
    with pytest.raises(PolicyError, match="in related tables, and there are none"):
        con.execute(created("REQUIRE k_anonymity(k => 2, knows => 'rows')"))
    with pytest.raises(PolicyError, match="has no argument 'm'"):
        con.execute(created("REQUIRE k_anonymity(k => 2, m => 2)"))
    with pytest.raises(PolicyError, match="in related tables, and there are none"):
        con.execute("CHECK persons (sex) REQUIRE k_anonymity(k => 2, knows => 'rows')")


def test_requirements_are_asked_of_the_sensitive_columns_of_all_tables(con: Connection) -> None:
    assert [r.attributes for r in bound(con, "l_diversity(2)")] == [("ward",), ("diagnosis",), ("drug",)]
    assert [r.attributes for r in bound(con, "l_diversity(2, attribute => Diagnosis)")] == [("diagnosis",)]
    (closeness,) = bound(con, "t_closeness(0.9, attribute => ward)")
    assert (closeness.attributes, closeness.knows) == (("ward",), "values")


REFUSED: Sequence[tuple[str, str]] = [
    ("k_anonymity(k => 2, knows => 'all')", "there is no knows 'all'"),
    ("k_anonymity(k => 2, knows => 2)", "there is no knows 2"),
    ("k_anonymity(k => 2, knows => 'm_rows')", "it says nothing"),
    ("k_anonymity(k => 2, knows => 'm_rows', m => 0)", "m is a whole number of 1 or more, not 0"),
    ("k_anonymity(k => 2, knows => 'm_rows', m => 1.5)", "m is a whole number of 1 or more, not 1.5"),
    ("k_anonymity(k => 2, knows => 'm_rows', m => true)", "m is a whole number of 1 or more, not true"),
    ("k_anonymity(k => 2, knows => 'rows', m => 2)", "m says how many rows are known"),
    ("k_anonymity(k => 2, m => 2)", "m says how many rows are known"),
    ("k_anonymity(k => 2, on => (born))", "what an adversary knows of related tables is said by knows"),
    ("l_diversity(l => 2, jointly => true)", "jointly is about the values of one row"),
    ("t_closeness(t => 0.2)", "several values of diagnosis, so that their shares are no distribution"),
    ("t_closeness(t => 0.2, attribute => drug)", "several values of drug"),
    ("l_diversity(l => 2, variant => 'entropy', attribute => drug)", "several values of drug"),
    ("l_diversity(l => 2, variant => 'recursive', c => 2, attribute => drug)", "several values of drug"),
    ("delta_disclosure(delta => 1, attribute => drug)", "several values of drug"),
    ("beta_likeness(beta => 1, attribute => drug)", "several values of drug"),
    ("alpha_k_anonymity(alpha => 0.5, k => 2, attribute => drug)", "several values of drug"),
    ("p_sensitive_k_anonymity(p => 2, k => 2, attribute => drug)", "several values of drug"),
    ("beta_likeness(beta => 1, variant => 'enhanced', attribute => drug)", "several values of drug"),
    ("t_closeness(t => 0.2, attribute => ward, knows => 'rows')", "a person is in several classes"),
    ("l_diversity(l => 2, variant => 'entropy', attribute => ward, knows => 'one_row')", "a person is in several"),
    ("k_map(k => 2)", "it compares with a public table"),
    ("personalized(p => 1, guarding => sex, attribute => ward)", "it compares with guarding nodes"),
    ("t_closeness(t => 1, distance => 'hierarchical', attribute => ward)", "it compares with a hierarchy"),
    ("value_ranges(ranges => ranges, attribute => ward)", "it compares with ranges of shares"),
    ("km_anonymity(k => 2, m => 2)", "it compares with the items in lists"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("requirement", "message"), REFUSED)
def test_requirements_that_are_refused(con: Connection, requirement: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message) as refused:
        bound(con, requirement)
    assert refused.value.hint


def test_models_say_themselves_where_they_make_sense() -> None:
    questions = [load_question(name) for name in question_names()]
    several = {question.name for question in questions if question.several_values}
    assert several == {
        "k_anonymity",
        "distinct_l_diversity",
        "probabilistic_l_diversity",
    }
    # These ask how many respondents a class has, too, and a class in which nobody has a value has no row of values.
    of_source = {"alpha_k_anonymity", "p_sensitive_k_anonymity"}
    assert {question.name for question in questions if question.overlapping_classes} == several | of_source
    assert all(question.of_related_tables for question in questions if question.several_values)


def test_shares_are_of_respondents_whatever_they_add_up_to() -> None:
    """Nobody of a class of 4 has a value in the shares' sum: 3 have flu, 2 a cold, and one nothing."""
    con = new_database()
    con.duckdb.execute("""
        CREATE TABLE equivalence_class AS SELECT 1 AS class_id, 4::BIGINT AS size, 4::BIGINT AS entities;
        CREATE TABLE class_sensitive_value AS
            FROM (VALUES (1, 0, 3::BIGINT), (1, 1, 2::BIGINT)) AS t(class_id, value, n)
    """)

    def answers(model: str, **arguments: Any) -> tuple[object, int]:
        (asked,) = bind_requirement(Requirement(model, tuple(arguments.items())), ("s",), (), ("s",))
        engine = DuckDBEngine(con.duckdb)
        return engine.rows(asked.statement("achieved"))[0][0], len(engine.rows(asked.statement("violations")))

    assert answers("l_diversity", l=2) == (2, 0)
    assert answers("l_diversity", l=3) == (2, 1)
    assert answers("l_diversity", l=1, variant="probabilistic") == (pytest.approx(4 / 3), 0)
    assert answers("l_diversity", l=2, variant="probabilistic") == (pytest.approx(4 / 3), 1)


# Statements about one table.


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE WORKLOAD w ON POLICY clinic",
        "CREATE SERIES s ON POLICY clinic KEY 'SQLANON_TEST_KEY'",
        "CREATE ANONYMIZED STREAM s AS POLICY clinic ORDER BY born METHOD stream(k => 2, delay => 5)",
        "FRONTIER f ON POLICY clinic METHODS (generalization) MEASURE p_loss",
        "MEASURE made WITH TASK (target => sex)",
    ],
)
def test_statements_about_one_table(con: Connection, statement: str) -> None:
    con.execute(created(VISITS, K))
    con.execute("CREATE ANONYMIZED TABLE made AS POLICY clinic")
    with pytest.raises(PolicyError, match=r"has related tables, WITH TABLE visits, and .* is about one") as no:
        con.execute(statement)
    assert no.value.hint


@pytest.mark.parametrize("kind", ["CREATE", "EXPLAIN"])
def test_a_live_view_has_no_numbers(con: Connection, kind: str) -> None:
    con.execute(created(VISITS, K))
    with pytest.raises(PolicyError, match="a live view is one query, and policy clinic has related tables") as refused:
        con.execute(f"{kind} ANONYMIZED VIEW live AS POLICY clinic")
    assert "CREATE ANONYMIZED TABLE live" in str(refused.value.hint)


def test_a_policy_of_a_series_that_gets_a_related_table(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLANON_TEST_KEY", "x" * 32)
    con.execute(created(K))
    con.execute("CREATE SERIES monthly ON POLICY clinic KEY 'SQLANON_TEST_KEY'")
    con.execute(created(VISITS, K))
    with pytest.raises(PolicyError, match="and a series is about one: its ledger says"):
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY clinic IN SERIES monthly")


def test_levels_of_an_earlier_release_are_those_of_all_tables(con: Connection) -> None:
    con.execute(created("WITH TABLE visits ON (patient) (clinic QUASI IDENTIFIER USING regions)", K))
    con.execute("CREATE ANONYMIZED TABLE first AS POLICY clinic")
    levels = "SELECT attribute, level FROM anon.release_attribute WHERE level IS NOT NULL ORDER BY ALL"
    before = con.execute(levels).fetchall()
    assert dict(before)["clinic"] > 0
    # By itself the other release would keep more.
    con.execute("UPDATE visits SET clinic = 'North'")
    con.execute("CREATE ANONYMIZED TABLE second AS POLICY clinic LEVELS FROM RELEASE first")
    assert con.execute(levels).fetchall() == sorted(2 * before)
