"""What requirements need of a policy, its source and the tables beside it: found when a policy is made, or refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from sqlanon import Connection
from sqlanon.catalog import hierarchies, policies
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Requested
from sqlanon.sources.bind_policy import bind, hierarchies_of, public_source
from sqlanon.sources.requirements import bind_requirements, resolve_requirements
from sqlanon.sources.source import bind_source
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from tests.support.database import template

SOURCE = """
CREATE TYPE verdict AS ENUM ('yes', 'no', 'secret');
CREATE TABLE patients (
    age INTEGER, "Zip" VARCHAR, disease VARCHAR, ward VARCHAR, bill DECIMAL(6, 2), verdict verdict, codes INTEGER[],
    visit STRUCT(day DATE, hour INTEGER), "Guard Node" VARCHAR, ssn VARCHAR, patient INTEGER
);
INSERT INTO patients
SELECT 20 + i, '9410' || i % 3, 'Flu', 'A', i, 'yes', [i], {'day': DATE '2026-01-01', 'hour': i}, 'chest', i::VARCHAR, i
FROM range(12) AS t(i);
CREATE TABLE voters AS SELECT age, "Zip" AS zip, 'x' AS name FROM patients;
CREATE VIEW electors AS SELECT * FROM voters;
"""


@pytest.fixture
def engine():
    with template(SOURCE, with_hierarchies) as connection:
        yield DuckDBEngine(connection.duckdb)


def with_hierarchies(connection: Connection) -> None:
    for name in ("diseases", "wards"):
        hierarchies.save(DuckDBEngine(connection.duckdb), HierarchyDefinition(name, "prefixes", (2, 1)))


ROLES = """
    age QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE USING diseases, WARD SENSITIVE, ssn IDENTIFIER
"""


def policy_of(required: str, roles: str = ROLES, source: str = "patients", against: str = "") -> Policy:
    public = f"AGAINST {against} " if against else ""
    (statement,) = parse_script(f"CREATE POLICY hospital ON {source} ({roles}) {public}REQUIRE {required}")
    assert isinstance(statement, CreatePolicy)
    return statement.policy


def bound(engine, policy: Policy, temp: TempTables) -> tuple[BoundPolicy, tuple[BoundRequirement, ...]]:
    source = bind_source(engine, policy.source, temp)
    public = public_source(engine, policy, temp)
    found = bind(policy, source, hierarchies_of(engine, policy), "", public)
    return bind_requirements(engine, found, source, temp)


def refusal(engine, policy: Policy) -> PolicyError:
    """The error with which the policy is refused, of which nothing is kept."""
    with pytest.raises(PolicyError) as refused:
        CreatePolicy(policy).run(engine, None)
    assert not policies.exists(engine, "hospital")
    assert refused.value.hint
    return refused.value


# ---- which requirement is asked about what


@pytest.mark.parametrize(
    ("required", "asked"),
    [
        ("k_anonymity(k => 2)", [("k_anonymity", ())]),
        (
            "l_diversity(l => 2), k_anonymity(k => 3)",
            [("distinct_l_diversity", ("disease",)), ("distinct_l_diversity", ("ward",)), ("k_anonymity", ())],
        ),
        ("l_diversity(l => 2, attribute => Ward)", [("distinct_l_diversity", ("ward",))]),
        ("l_diversity(l => 2, attribute => 'DISEASE')", [("distinct_l_diversity", ("disease",))]),
        ("l_diversity(l => 2, jointly => true)", [("distinct_l_diversity", ("disease", "ward"))]),
        (
            "t_closeness(t => 0.5, distance => 'hierarchical', attribute => disease), "
            "t_closeness(t => 0.2, attribute => ward)",
            [("hierarchical_t_closeness", ("disease",)), ("equal_t_closeness", ("ward",))],
        ),
    ],
)
def test_requirements_are_asked_of_the_columns_of_the_source(engine, required, asked):
    with TempTables(engine) as temp:
        found, requirements = bound(engine, policy_of(required), temp)
    assert [(r.question_name, r.attributes) for r in requirements] == asked
    assert [b.column for b in found.sensitive] == ["disease", "ward"]
    assert (found.public, found.guarding, found.ranges) == (None, (), ())


def test_an_argument_of_another_choice_of_the_model_is_named(engine):
    error = refusal(engine, policy_of("epsilon_privacy(epsilon => 2, weights => shares)"))
    assert error.message == "epsilon_privacy with prior 'release' has no argument 'weights'"
    assert error.hint.startswith("weights goes with prior => 'table': write epsilon_privacy(")
    assert error.hint.endswith("weights => ..., prior => 'table')")


@pytest.mark.parametrize(
    ("required", "problem"),
    [
        ("l_diversity(l => 2, attribute => ssn)", "ssn is not a sensitive attribute"),
        ("l_diversity(l => 2, attribute => age)", "age is not a sensitive attribute"),
        ("l_diversity(l => 2, attribute => patient)", "patient is not a sensitive attribute"),
        ("l_diversity(l => 2, attribute => a.disease)", "a.disease is not a sensitive attribute"),
        ("k_anonymity(k => 2, attribute => disease)", "k_anonymity has no argument 'attribute'"),
        ("t_closeness(t => 0.5, distance => 'ordered', jointly => true)", "cannot take several attributes"),
    ],
)
def test_what_cannot_be_asked_about_is_refused(engine, required, problem):
    assert problem in refusal(engine, policy_of(required)).message


def test_a_policy_without_a_sensitive_attribute_cannot_be_asked_about_one(engine):
    error = refusal(engine, policy_of("l_diversity(l => 2)", "age QUASI IDENTIFIER, ssn IDENTIFIER"))
    assert "no sensitive attribute" in error.message


# ---- hierarchies and orders


@pytest.mark.parametrize(
    "required",
    ["t_closeness(t => 0.2, distance => 'hierarchical')", 'personalized(p => 0.5, guarding => "Guard Node")'],
)
def test_some_need_a_hierarchy_of_the_sensitive_values(engine, required):
    error = refusal(engine, policy_of(required))
    assert "needs a hierarchy of the values of WARD" in error.message
    assert "WARD SENSITIVE USING" in error.hint
    with pytest.raises(PolicyError, match="needs a hierarchy"):
        resolve_requirements(policy_of(required))
    roles = ROLES.replace("WARD SENSITIVE", "ward SENSITIVE USING wards")
    CreatePolicy(policy_of(required, roles)).run(engine, None)
    assert policies.exists(engine, "hospital")


def test_a_sensitive_hierarchy_is_bound_like_that_of_a_quasi_identifier(engine):
    engine.run("INSERT INTO anon.hierarchy (hierarchy, kind) VALUES ('listed', 'levels')")
    engine.run("INSERT INTO anon.hierarchy_value VALUES ('listed', 'Flu', 0, 'Flu'), ('listed', 'Flu', 1, 'lung')")
    for name, stored, height in (("diseases", False, 3), ("listed", True, 2)):
        roles = f"age QUASI IDENTIFIER, disease SENSITIVE USING {name}"
        with TempTables(engine) as temp:
            found, _ = bound(engine, policy_of("l_diversity(l => 2)", roles), temp)
        (disease,) = found.sensitive
        assert disease.hierarchy is not None
        assert (disease.hierarchy.name, disease.stored, disease.height) == (name, stored, height)


def test_a_hierarchy_that_does_not_fit_a_sensitive_column_is_refused_without_its_enum(engine):
    hierarchies.save(engine, HierarchyDefinition("days", "calendar", ("MONTH",)))
    error = refusal(
        engine,
        policy_of(
            "t_closeness(t => 1, distance => 'hierarchical')", "age QUASI IDENTIFIER, verdict SENSITIVE USING days"
        ),
    )
    assert "does not fit the column verdict" in error.message
    assert "secret" not in str(error)


@pytest.mark.parametrize("column", ["codes", "visit"])
def test_values_without_an_order_have_no_ordered_distance(engine, column):
    roles = f"age QUASI IDENTIFIER, {column} SENSITIVE"
    error = refusal(engine, policy_of("t_closeness(t => 0.2, distance => 'ordered')", roles))
    assert f"{column} holds" in error.message
    CreatePolicy(policy_of("t_closeness(t => 0.2)", roles)).run(engine, None)


@pytest.mark.parametrize("column", ["bill", "verdict", "ward", "patient"])
def test_single_values_have_an_order(engine, column):
    required = "t_closeness(t => 0.2, distance => 'ordered')"
    CreatePolicy(policy_of(required, f"age QUASI IDENTIFIER, {column} SENSITIVE")).run(engine, None)


# ---- the public table


@pytest.mark.parametrize(
    ("against", "stable", "lasting"),
    [
        ("voters", True, ("main", "voters")),
        ("main.Electors", False, ("main", "electors")),
        ("(SELECT zip, age FROM voters)", False, None),
    ],
)
def test_the_public_table_has_a_column_for_each_quasi_identifier(engine, against, stable, lasting):
    policy = policy_of(
        "k_map(k => 2)", 'zip QUASI IDENTIFIER, disease SENSITIVE, "AGE" QUASI IDENTIFIER', against=against
    )
    with TempTables(engine) as temp:
        found, (requirement,) = bound(engine, policy, temp)
        public = found.public
        assert public is not None
        assert public.columns == ("zip", "age")
        assert (public.stable, public.lasting) == (stable, QualifiedName(lasting) if lasting else None)
        name = '"' + '"."'.join(public.relation.parts) + '"'
        rows = engine.rows(f"SELECT count(*), min(age) FROM {name}")
        engine.run("DELETE FROM voters")
        assert engine.rows(f"SELECT count(*), min(age) FROM {name}") == ([(0, None)] if stable else rows)
    assert requirement.attributes == ()


def test_a_model_that_compares_with_a_public_table_needs_one(engine):
    for required in ("k_map(k => 2)", "k_anonymity(k => 2), delta_presence(min => 0, max => 0.5)"):
        error = refusal(engine, policy_of(required))
        assert "compares with a public table" in error.message
        assert "AGAINST" in error.hint


def test_a_public_table_that_nothing_is_asked_about_is_refused(engine):
    error = refusal(engine, policy_of("k_anonymity(k => 2)", against="voters"))
    assert "no requirement uses the public table voters" in error.message


@pytest.mark.parametrize(
    ("against", "problem", "hint"),
    [
        ("nobody", "AGAINST: there is no table or view nobody", "SHOW ALL TABLES"),
        ("(SELECT age FROM voters)", "has no column Zip", "it has age"),
        ("(SELECT age, age AS zip FROM voters)", "Zip is of type VARCHAR, and zip of the public table", "AS VARCHAR"),
        ("(SELECT age::BIGINT AS age, zip FROM voters)", "age is of type INTEGER", "AS INTEGER"),
        ("(SELECT nothing FROM voters)", "AGAINST: the query of the policy does not run", None),
        ("(SELECT age, zip FROM voters) ", None, None),
        ("(SELECT age, zip::verdict AS zip FROM (SELECT 1 AS age, 'yes' AS zip))", None, None),
    ],
)
def test_the_public_table_has_to_fit(engine, against, problem, hint):
    policy = policy_of("k_map(k => 2)", against=against)
    if problem is None:
        CreatePolicy(policy).run(engine, None)
        assert policies.load(engine, "hospital") == policy
        return
    with pytest.raises(PolicyError) as refused:
        CreatePolicy(policy).run(engine, None)
    assert problem in refused.value.message
    assert hint is None or hint in refused.value.hint


def test_a_public_table_under_a_collation_is_refused(engine):
    engine.run("CREATE TABLE loose (age INTEGER, zip VARCHAR COLLATE NOCASE)")
    assert "collation" in refusal(engine, policy_of("k_map(k => 2)", against="loose")).message


@pytest.mark.parametrize(
    ("against", "lasting"),
    [
        ("t", True),
        ("near", True),
        ("(FROM t)", True),
        ("other.far", False),
        ("fleeting", False),
        ("(FROM fleeting)", False),
        ("through", False),
    ],
)
def test_a_live_view_reads_a_public_table_of_this_database_only(engine, against, lasting):
    engine.run(
        "ATTACH ':memory:' AS other; CREATE TABLE t AS SELECT i % 2 AS age FROM range(20) AS r(i);"
        "CREATE TABLE other.far AS FROM t; CREATE TEMPORARY TABLE fleeting AS FROM t; CREATE VIEW near AS FROM t;"
        "CREATE VIEW through AS FROM other.far"
    )
    policies.save(engine, policy_of("k_map(k => 2)", "age QUASI IDENTIFIER", "t", against))
    with TempTables(engine) as temp:
        for kind in ("view", "table"):
            create = CreateRelease(kind, QualifiedName(("r",)), "hospital")
            resolved = resolve_stage(Requested(engine, create, temp))
            if kind == "table" or lasting:
                assert bind_stage(resolved).policy.public is not None
                continue
            with pytest.raises(PolicyError, match="temporary or lives in another database") as refused:
                bind_stage(resolved)
            assert "copy the public table into this database" in refused.value.hint


# ---- guarding nodes

GUARDED = 'personalized(p => 0.5, guarding => "guard node")'


@pytest.mark.parametrize("role", ["", ', "GUARD NODE" INSENSITIVE', ', "Guard Node" IDENTIFIER'])
def test_guarding_nodes_stand_in_a_column_that_is_published_as_it_is_or_not_at_all(engine, role):
    roles = "age QUASI IDENTIFIER, disease SENSITIVE USING diseases" + role
    with TempTables(engine) as temp:
        found, (requirement,) = bound(engine, policy_of(GUARDED, roles), temp)
    assert found.guarding == ("Guard Node",)
    assert requirement.argument("guarding") == QualifiedName(("Guard Node",))
    assert requirement.argument("p") == Decimal("0.5")
    assert ("Guard Node" in found.unpublished) == (role == "")


def test_an_enum_may_hold_guarding_nodes_and_a_column_guard_twice(engine):
    required = (
        "personalized(p => 0.5, guarding => verdict), personalized(p => 0.2, guarding => 'VERDICT', attribute => ward)"
    )
    with pytest.raises(PolicyError, match="needs a hierarchy of the values of ward"):
        resolve_requirements(
            policy_of(required, "age QUASI IDENTIFIER, disease SENSITIVE USING diseases, ward SENSITIVE")
        )
    roles = "age QUASI IDENTIFIER, disease SENSITIVE USING diseases, ward SENSITIVE USING wards"
    with TempTables(engine) as temp:
        found, requirements = bound(engine, policy_of(required, roles), temp)
    assert found.guarding == ("verdict",)
    assert [r.attributes for r in requirements] == [("disease",), ("ward",), ("ward",)]


@pytest.mark.parametrize(
    ("guarding", "roles", "problem", "hint"),
    [
        ("guard", "", "needs a column guard of guarding nodes", "it has age, Zip, disease"),
        ("bill", "", "bill is to hold guarding nodes, labels of a hierarchy, and is of type DECIMAL(6,2)", "cast it"),
        ("zip", ", zip QUASI IDENTIFIER", "Zip holds guarding nodes and is QUASI IDENTIFIER", "make it INSENSITIVE"),
        ("ward", ", ward SENSITIVE USING wards", "ward holds guarding nodes and is SENSITIVE", "leave ward out"),
        ("patient", ", patient ENTITY", "patient holds guarding nodes and is ENTITY", "leave patient out"),
        ("disease", "", "disease holds guarding nodes and is SENSITIVE", "leave disease out"),
    ],
)
def test_a_column_of_guarding_nodes_has_to_be_one(engine, guarding, roles, problem, hint):
    roles = "age QUASI IDENTIFIER, disease SENSITIVE USING diseases" + roles
    error = refusal(engine, policy_of(f"personalized(p => 0.5, guarding => {guarding})", roles))
    assert problem in error.message
    assert hint in error.hint


# ---- ranges

RANGED = "value_ranges(ranges => my_ranges)"


def ranges_of(engine, made: str, column: str = "disease") -> list[tuple[object, ...]]:
    """The ranges of a policy on one sensitive column, from a table of the user's, with their types."""
    engine.run(f"CREATE OR REPLACE TABLE my_ranges AS {made}")
    policy = policy_of(RANGED, f"age QUASI IDENTIFIER, {column} SENSITIVE")
    with TempTables(engine) as temp:
        found, _ = bound(engine, policy, temp)
        ((place, table),) = found.ranges
        assert place == 0
        name = '"' + '"."'.join(table.parts) + '"'
        assert [kind for _, kind in engine.columns(f"FROM {name}")][1:] == ["DOUBLE", "DOUBLE"]
        rows = engine.rows(f"SELECT value, low, high FROM {name} ORDER BY value NULLS LAST")
        kinds = {kind for (kind,) in engine.rows(f"SELECT typeof(value) FROM {name}")}
        assert kinds == {{"verdict": "VARCHAR"}.get(column, found.sensitive[0].type)}
    return rows


def test_ranges_are_read_in_the_type_of_their_column(engine):
    named = "SELECT 0.1 AS low, 'Flu' AS \"VALUE\", 1 AS HIGH, 'why' AS note UNION ALL SELECT NULL, NULL, 0.25, ''"
    assert ranges_of(engine, named) == [("Flu", 0.1, 1.0), (None, None, 0.25)]
    assert ranges_of(engine, "SELECT 'x' AS a, NULL AS b, '0.5' AS c") == [("x", None, 0.5)]
    assert ranges_of(engine, "VALUES (1, 0, 0.5), (2, 0.25, 1)", "patient") == [(1, 0.0, 0.5), (2, 0.25, 1.0)]
    assert ranges_of(engine, "VALUES ('01', 0, 0.5)", "patient") == [(1, 0.0, 0.5)]
    assert ranges_of(engine, "VALUES ('1.50', 0, 0.5), ('2', 0, 1)", "bill") == [
        (Decimal("1.50"), 0.0, 0.5),
        (Decimal("2.00"), 0.0, 1.0),
    ]
    assert ranges_of(engine, "VALUES ('yes'::verdict, 0, 0.5)", "verdict") == [("yes", 0.0, 0.5)]
    assert ranges_of(engine, "VALUES ('never', 0, 0.5)", "verdict") == [("never", 0.0, 0.5)]


def test_each_requirement_has_ranges_of_its_own(engine):
    engine.run("CREATE VIEW my_ranges AS SELECT 'A' AS value, 0 AS low, 0.5 AS high")
    with TempTables(engine) as temp:
        required = f"k_anonymity(k => 2), {RANGED}, l_diversity(l => 2, attribute => ward)"
        found, requirements = bound(engine, policy_of(required), temp)
    assert [r.question_name for r in requirements][1:3] == ["value_ranges", "value_ranges"]
    assert [place for place, _ in found.ranges] == [1, 2]
    assert len({table for _, table in found.ranges}) == 2


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("made", "column", "problem"),
    [
        ("SELECT 'x' AS value, 0 AS low", "disease", "its columns are value, low"),
        ("SELECT 0 AS low, 1 AS high, 'x' AS v", "disease", "its columns are low, high, v"),
        ("SELECT 'x' AS v, 0 AS l, 1 AS h, 2 AS more", "disease", "its columns are v, l, h, more"),
        ("SELECT 'x' AS value, 0 AS low, 1 AS high WHERE false", "disease", "lists no value"),
        ("VALUES ('one', 0, 1), ('2', 0, 1)", "patient", "values that do not have patient's type INTEGER: 'one'"),
        ("VALUES ('1.5', 0, 1)", "patient", "values that do not have patient's type INTEGER: '1.5'"),
        ("VALUES (1.5, 0, 1)", "patient", "values that do not have patient's type INTEGER: '1.5'"),
        ("VALUES ('1.555', 0, 1)", "bill", "values that do not have bill's type DECIMAL(6,2): '1.555'"),
        ("VALUES (99999999999, 0, 1)", "patient", "values that do not have patient's type INTEGER: '99999999999'"),
        ("VALUES ('Flu', -0.1, 1)", "disease", "not a number from 0 to 1: 'Flu'"),
        ("VALUES ('Flu', 0, 1.0001)", "disease", "not a number from 0 to 1: 'Flu'"),
        ("VALUES ('Flu', 0, 'NaN'::DOUBLE)", "disease", "not a number from 0 to 1: 'Flu'"),
        ("VALUES (NULL, 0, 'half')", "disease", "not a number from 0 to 1: NULL"),
        ("VALUES ('Flu', 0.5, 0.4)", "disease", "low is above their high: 'Flu'"),
        ("VALUES ('Flu', 0, 1), ('Flu', 0, 1)", "disease", "in more than one row: 'Flu'"),
        ("VALUES (NULL, 0, 1), (NULL, 0, 1)", "disease", "in more than one row: NULL"),
        ("VALUES ('1', 0, 1), ('01', 0, 1)", "patient", "in more than one row: '01'"),
        ("SELECT 'v' || i AS value, 2 AS low, 1 AS high FROM range(12) AS t(i)", "disease", "and 2 more (12 in all)"),
    ],
)
def test_ranges_that_are_none_are_refused_with_their_values(engine, made, column, problem):
    engine.run(f"CREATE TABLE my_ranges AS {made}")
    error = refusal(engine, policy_of(RANGED, f"age QUASI IDENTIFIER, {column} SENSITIVE"))
    assert error.message.startswith("policy hospital: the ranges my_ranges")
    assert problem in error.message


def test_ranges_that_are_not_there_are_refused(engine):
    assert "no such table" in refusal(engine, policy_of(RANGED)).message
    engine.run("CREATE TABLE gone (value VARCHAR, low DOUBLE, high DOUBLE); CREATE VIEW my_ranges AS FROM gone")
    engine.run("DROP TABLE gone")
    assert "my_ranges cannot be read" in refusal(engine, policy_of(RANGED)).message
    engine.run("CREATE OR REPLACE TABLE my_rangez (value VARCHAR COLLATE NOCASE, low DOUBLE, high DOUBLE)")
    assert "collation" in refusal(engine, policy_of("value_ranges(ranges => my_rangez)")).message


# ---- weights

WEIGHTED = "epsilon_privacy(epsilon => 2, stubbornness => 1, prior => 'table', weights => my_weights)"


def test_weights_are_ranges_of_one_share(engine):
    engine.run(
        "CREATE VIEW my_weights AS SELECT '0.75' AS weight, 'why' AS note, 'Flu' AS \"VALUE\" "
        "UNION ALL VALUES ('0.125', '', NULL), ('0.125', '', 'never')"
    )
    with TempTables(engine) as temp:
        found, requirements = bound(engine, policy_of(WEIGHTED, "age QUASI IDENTIFIER, disease SENSITIVE"), temp)
        ((_, table),) = found.ranges
        rows = engine.rows(f"FROM temp.main.{table.name} ORDER BY value NULLS LAST")
    assert rows == [("Flu", 0.75, 0.75), ("never", 0.125, 0.125), (None, 0.125, 0.125)]
    assert [r.question_name for r in requirements] == ["epsilon_privacy_of_table"]


@pytest.mark.parametrize(
    ("made", "column", "problem"),
    [
        ("SELECT 'x' AS value, 0 AS low, 1 AS high", "disease", "its columns are value, low, high"),
        ("SELECT 'x' AS value, 1 AS weight WHERE false", "disease", "lists no value"),
        ("VALUES ('1.5', 1)", "patient", "values that do not have patient's type INTEGER: '1.5'"),
        ("VALUES ('Flu', 1.5)", "disease", "weight is not a number from 0 to 1: 'Flu'"),
        ("VALUES ('Flu', NULL)", "disease", "weight is not a number from 0 to 1: 'Flu'"),
        ("VALUES ('Flu', 'NaN'::DOUBLE)", "disease", "weight is not a number from 0 to 1: 'Flu'"),
        ("VALUES ('Flu', 0.5), ('Flu', 0.5)", "disease", "in more than one row: 'Flu'"),
        ("VALUES ('Flu', 0.5), ('Cold', 0.499)", "disease", "the weights add up to 0.999, not to 1"),
        ("VALUES ('Cold', 1)", "disease", "1 value of disease has no weight above 0"),
        ("VALUES ('Cold', 1), ('Flu', 0)", "disease", "1 value of disease has no weight above 0"),
        ("VALUES (NULL, 1)", "patient", "12 values of patient have no weight above 0"),
    ],
)
def test_weights_that_are_no_prior_are_refused(engine, made, column, problem):
    engine.run(f"CREATE TABLE my_weights AS {made}")
    error = refusal(engine, policy_of(WEIGHTED, f"age QUASI IDENTIFIER, {column} SENSITIVE"))
    assert error.message.startswith("policy hospital: the weights my_weights")
    assert problem in error.message


def test_a_value_without_a_weight_is_counted_and_not_shown(engine):
    engine.run(
        "UPDATE patients SET disease = 'secret' WHERE age < 23; UPDATE patients SET disease = NULL WHERE age > 30"
    )
    engine.run("CREATE TABLE my_weights AS SELECT 'Flu' AS value, 1 AS weight")
    error = refusal(engine, policy_of(WEIGHTED, "age QUASI IDENTIFIER, disease SENSITIVE"))
    assert "2 values of disease have no weight above 0" in error.message
    assert "secret" not in f"{error} {error.hint}"


# ---- triples

SKYLINE = "privacy_skyline(c => 0.75, knowledge => 'table', triples => my_triples)"


def test_triples_are_read_in_the_type_of_their_column(engine):
    engine.run(
        "CREATE VIEW my_triples AS SELECT '1' AS m, 2.0 AS l, 'Flu' AS \"VALUE\", 'why' AS note, 3 AS k "
        "UNION ALL VALUES ('0', 1, NULL, '', 4), ('8', 0, 'never', '', 0)"
    )
    with TempTables(engine) as temp:
        found, requirements = bound(engine, policy_of(SKYLINE, "age QUASI IDENTIFIER, disease SENSITIVE"), temp)
        ((_, table),) = found.ranges
        rows = engine.rows(f"FROM temp.main.{table.name} ORDER BY value NULLS LAST")
    assert rows == [("Flu", 2, 3, 1), ("never", 0, 0, 8), (None, 1, 4, 0)]
    assert [r.question_name for r in requirements] == ["privacy_skyline_of_table"]


@pytest.mark.parametrize(
    ("made", "column", "problem"),
    [
        ("SELECT 'x' AS value, 0 AS l, 1 AS k", "disease", "its columns are value, l, k"),
        ("SELECT 'x' AS value, 0 AS l, 0 AS k, 0 AS m WHERE false", "disease", "there is no row"),
        ("SELECT 'x' || i AS value, 0 AS l, 0 AS k, 0 AS m FROM range(1001) AS t(i)", "disease", "1001 rows"),
        ("VALUES ('1.5', 1, 0, 0)", "patient", "values that do not have patient's type INTEGER: '1.5'"),
        ("VALUES ('Flu', 1.5, 0, 0)", "disease", "an l, k or m that is out of bounds: 'Flu'"),
        ("VALUES ('Flu', NULL, 0, 0)", "disease", "an l, k or m that is out of bounds: 'Flu'"),
        ("VALUES (NULL, 0, -1, 0)", "disease", "an l, k or m that is out of bounds: NULL"),
        ("VALUES (NULL, 0, 0, 9)", "disease", "an l, k or m that is out of bounds: NULL"),
        ("VALUES (NULL, 0, 0, 'many')", "disease", "an l, k or m that is out of bounds: NULL"),
        ("VALUES ('Flu', 0, 1, 0), ('Flu', 0, 1, 0)", "disease", "('Flu', 0, 1, 0) is below ('Flu', 0, 1, 0)"),
        ("VALUES ('Flu', 0, 1, 0), ('Flu', 0, 1, 2)", "disease", "('Flu', 0, 1, 0) is below ('Flu', 0, 1, 2)"),
        ("VALUES ('Flu', 0, 1, 0), (NULL, 0, 1, 0)", "disease", "('Flu', 0, 1, 0) is below (NULL, 0, 1, 0)"),
        ("VALUES (NULL, 0, 0, 0), (NULL, 1, 0, 0)", "disease", "(NULL, 0, 0, 0) is below (NULL, 1, 0, 0)"),
    ],
)
def test_triples_that_are_no_skyline_are_refused(engine, made, column, problem):
    engine.run(f"CREATE TABLE my_triples AS {made}")
    error = refusal(engine, policy_of(SKYLINE, f"age QUASI IDENTIFIER, {column} SENSITIVE"))
    assert error.message.startswith("policy hospital: the triples my_triples")
    assert problem in error.message


def test_a_triple_of_every_value_may_be_less_than_that_of_one(engine):
    engine.run("CREATE TABLE my_triples AS VALUES (NULL, 0, 1, 0), ('Flu', 2, 2, 2), ('Cold', 2, 2, 2)")
    with TempTables(engine) as temp:
        found, _ = bound(engine, policy_of(SKYLINE, "age QUASI IDENTIFIER, disease SENSITIVE"), temp)
    assert len(found.ranges) == 1


# ---- hostile names


@pytest.mark.parametrize("name", ['a"; DROP TABLE t; --', "it's.$1", "select", "Ω" * 200, "a.b"])
def test_hostile_names(engine, name):
    quoted = '"' + name.replace('"', '""') + '"'
    other = '"' + name.replace('"', '""') + ' 2"'
    engine.run(f"CREATE TABLE {quoted} AS SELECT 'x' AS {quoted}, 'y' AS {other}, 1 AS age")
    engine.run(f"CREATE TABLE {other} AS SELECT 'x' AS value, 0 AS low, 1 AS high")
    policy = policy_of(
        f"value_ranges(ranges => {other}), personalized(p => 1, guarding => {other}), k_map(k => 1), "
        f"l_diversity(l => 1, attribute => {quoted})",
        f"age QUASI IDENTIFIER, {quoted} SENSITIVE USING diseases",
        quoted,
        quoted,
    )
    CreatePolicy(policy).run(engine, None)
    stored = policies.load(engine, "hospital")
    ranges, *others = stored.requirements
    # The table that a requirement reads is kept with its schema.
    assert ranges.arguments == (("ranges", QualifiedName(("main", f"{name} 2"))),)
    assert replace(stored, requirements=(policy.requirements[0], *others)) == policy
    with TempTables(engine) as temp:
        found, requirements = bound(engine, policy, temp)
    assert found.guarding == (f"{name} 2",)
    assert [r.attributes for r in requirements] == [(name,), (name,), (), (name,)]
    assert found.public is not None
    assert found.public.columns == ("age",)


def test_a_policy_that_stands_for_a_check_is_called_by_its_source(engine):
    roles = (Attribute("age", Role.QUASI_IDENTIFIER),)
    unnamed = Policy("", Source(QualifiedName(("patients",))), roles, (Requirement("k_map", (("k", 2),)),))
    with pytest.raises(PolicyError, match=r"^patients: k_map"):
        resolve_requirements(unnamed)
