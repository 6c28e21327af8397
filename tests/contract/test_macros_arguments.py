"""What the macros make of what they are given: numbers to the digit, several columns, orders, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from sqlanon.catalog import migrations
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.sql.questions.macros import macro_definitions
from tests.oracles.models import distinct_l_diversity, equal_t_closeness, ordered_t_closeness
from tests.oracles.models.support import Table
from tests.support.database import one_thread

# Two classes: ages 0 and 1; five diseases, of which NULL is one.
PATIENTS = """
CREATE TABLE t AS SELECT * FROM (VALUES
    (0, 'x', 'flu', 10, 'red'), (0, 'x', 'flu', 9, 'blue'), (0, 'y', 'cold', 2, 'red'), (0, 'y', NULL, NULL, NULL),
    (1, 'x', 'cold', 2, 'red'), (1, 'x', 'HIV', 100, 'green'), (1, 'y', 'flu', 10, 'blue'), (1, 'y', 'flu', 9, 'blue')
) AS r(age, ward, disease, code, colour);
"""
HIERARCHIES = """
INSERT INTO anon.hierarchy (hierarchy, kind, height) VALUES
    ('Diseases', 'levels', 2), ('computed', 'prefixes', 2), ('codes', 'parents', NULL), ('short', 'levels', 2),
    ('ambiguous', 'levels', 2), ('spelled', 'levels', 1), ('tall', 'levels', 3),
    ('twice', 'levels', 1), ('twice', 'levels', 1);
INSERT INTO anon.hierarchy_value VALUES
    ('Diseases', 'flu', 0, 'flu'), ('Diseases', 'cold', 0, 'cold'), ('Diseases', 'HIV', 0, 'HIV'),
    ('Diseases', 'flu', 1, 'mild'), ('Diseases', 'cold', 1, 'mild'), ('Diseases', 'HIV', 1, 'severe'),
    ('codes', '2', 0, '2'), ('codes', '9', 0, '9'), ('codes', '010', 0, '010'), ('codes', '100', 0, '100'),
    ('codes', 'none', 0, 'none'),
    ('short', 'flu', 0, 'flu'), ('short', 'flu', 1, 'mild'),
    ('ambiguous', 'flu', 0, 'flu'), ('ambiguous', 'flu', 1, 'mild'), ('ambiguous', 'flu', 1, 'severe'),
    ('spelled', '10', 0, '10'), ('spelled', '010', 0, '010'), ('tall', 'flu', 0, 'flu'), ('twice', 'flu', 0, 'flu');
"""


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with one_thread() as opened:
        migrations.install(DuckDBEngine(opened))
        for definition in macro_definitions():
            opened.execute(definition)
        opened.execute(PATIENTS + HIERARCHIES)
        yield opened


def ask(connection: Any, call: str) -> tuple[Any, ...]:
    (row,) = connection.execute(f"FROM anon.{call}").fetchall()
    return tuple(row)


# Numbers.


@pytest.mark.parametrize(
    "written", ["0.3", "0.30", "'0.3'", "0.3::DOUBLE", "0.3::FLOAT::DECIMAL(2,1)", "3e-1", "'.3'", "'+0.3e0'"]
)
def test_a_decimal_means_just_what_is_written(connection: Any, written: str) -> None:
    """A tie: in class 0 three of ten rows have a, of all rows six; 3/10 is no DOUBLE."""
    rows = "(SELECT i // 10 AS q, i % 10 < CASE WHEN i < 10 THEN 3 ELSE 9 END AS s FROM range(20) AS r(i))"
    call = f"t_closeness('{rows}', ['q'], 's', t => {written})"
    achieved, _, _, required, satisfied, violations = ask(connection, call)
    assert achieved == pytest.approx(0.3)
    assert (required, satisfied, violations) == (0.3, True, 0)


@pytest.mark.parametrize("below", ["0.299999999999999", "0.29999999999999"])
def test_a_number_just_below_a_tie_is_violated(connection: Any, below: str) -> None:
    rows = "(SELECT i // 10 AS q, i % 10 < CASE WHEN i < 10 THEN 3 ELSE 9 END AS s FROM range(20) AS r(i))"
    assert ask(connection, f"t_closeness('{rows}', ['q'], 's', t => {below})")[4:] == (False, 2)


def test_arguments_may_be_those_of_a_prepared_statement(connection: Any) -> None:
    query = "FROM anon.alpha_k_anonymity($1, $2, $3, alpha => $4, k => $5)"
    found = connection.execute(query, ["t", ["age", "ward"], ["disease"], 0.5, 2]).fetchall()
    assert found == [(1.0, 4, 8, 0.5, False, 2)]
    assert found == [ask(connection, "alpha_k_anonymity('t', ['age', 'ward'], 'disease', alpha => 0.5, k => 2)")]


# Columns.


def test_several_sensitive_columns_are_asked_of_jointly(connection: Any) -> None:
    rows = connection.execute("SELECT age, (disease, colour) FROM t").fetchall()
    classes = {q: [place for place, row in enumerate(rows) if row[0] == q] for q in (0, 1)}
    table = Table(classes, [row[1] for row in rows])
    for sensitive in ("['disease', 'colour']", "['colour', 'disease', 'colour']"):
        found = ask(connection, f"t_closeness('t', ['age'], {sensitive}, t => 0.4)")
        assert found[0] == pytest.approx(float(equal_t_closeness.achieved(table, Fraction(0)) or 0))
        found = ask(connection, f"l_diversity('t', ['age'], {sensitive}, l => 4)")
        assert found[0] == distinct_l_diversity.achieved(table, 1)
    assert ask(connection, "l_diversity('t', ['age'], ['disease'])") == ask(
        connection, "l_diversity('t', ['age'], 'disease')"
    )


@pytest.mark.parametrize("cast", ["code", "code::DOUBLE", "DATE '2000-01-01' + code", "code::VARCHAR"])
def test_an_order_is_that_of_the_values(connection: Any, cast: str) -> None:
    rows = connection.execute(f"SELECT age, {cast} FROM t").fetchall()
    table = Table({0: range(4), 1: range(4, 8)}, [value for _, value in rows])
    expected = ordered_t_closeness.achieved(table, Fraction(0))
    relation = f"(SELECT age, {cast} AS s FROM t)".replace("'", "''")
    found = ask(connection, f"t_closeness('{relation}', ['age'], 's', distance => 'ordered')")
    assert found[0] == pytest.approx(float(expected or 0))
    assert found[0] != pytest.approx(0)


def test_an_enum_is_in_the_order_of_its_texts(connection: Any) -> None:
    """As in CHECK and in a release, which shows texts; its own order is another one."""
    enum = "(SELECT age, colour::ENUM (''red'', ''blue'', ''green'') AS s FROM t)"
    texts = "(SELECT age, colour AS s FROM t)"
    asked = [ask(connection, f"t_closeness('{r}', ['age'], 's', distance => 'ordered')") for r in (enum, texts)]
    assert asked[0] == asked[1]


OURS = (
    *("equivalence_class", "class_sensitive_value", "sensitive_value", "sensitive_ancestor", "value_range", "guarded"),
    *("guarding_node", "public_class", "answer", "cell", "given", "baseline", "class"),
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "called", [*OURS, "guarding_node", "public_class", "answer", "cell", "given", "baseline", "class"]
)
def test_a_table_of_the_users_may_have_a_name_of_ours(connection: Any, called: str) -> None:
    connection.execute(f'CREATE OR REPLACE TABLE "{called}" AS SELECT age AS n, ward AS size, disease AS value FROM t')
    expected = ask(connection, "l_diversity('t', ['age', 'ward'], 'disease', l => 2)")
    assert ask(connection, f"l_diversity('{called}', ['n', 'size'], 'value', l => 2)") == expected
    assert ask(connection, f"l_diversity('(FROM {called})', ['n', 'size'], 'value', l => 2)") == expected
    assert ask(connection, f"k_map('{called}', ['n', 'size'], against => '{called}', k => 3)")[4:] == (False, 4)
    connection.execute(f'DROP TABLE "{called}"')


def test_public_rows_of_another_type_are_compared_by_their_values(connection: Any) -> None:
    public = "(SELECT age::VARCHAR AS age, ward FROM t UNION ALL SELECT ''0'', ''x'')"
    assert ask(connection, f"k_map('t', ['age', 'ward'], against => '{public}', k => 3)") == (2, 4, 8, 3.0, False, 3)


def test_a_whole_number_may_be_written_as_a_decimal(connection: Any) -> None:
    assert ask(connection, "k_anonymity('t', ['age'], k => 3.0)") == ask(
        connection, "k_anonymity('t', ['age'], k => 3)"
    )
    asked = ask(connection, "l_diversity('t', ['age'], 'disease', l => 2.00)")
    assert asked == ask(connection, "l_diversity('t', ['age'], 'disease', l => 2)")


@pytest.mark.parametrize("places", [16, 17, 18, 20, 21])
def test_a_threshold_is_kept_to_its_last_digit(connection: Any, places: int) -> None:
    """Of twelve values one class has 'a' once in three rows, and all have it four times: it is 1/3 of both."""
    rows = "(SELECT i % 4 AS q, CASE WHEN i < 4 THEN ''a'' ELSE i::VARCHAR END AS s FROM range(12) r(i))"
    below = "0." + "3" * places
    above = below[:-1] + "4"
    verdicts = [
        ask(connection, f"alpha_k_anonymity('{rows}', ['q'], 's', k => 1, alpha => {a})") for a in (below, above)
    ]
    assert [verdict[4] for verdict in verdicts] == [False, True]


# Refused.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("k_anonymity('t', ['age'], k => 0)", "k = 0 is outside 1 to 9223372036854775807"),
        ("k_anonymity('t', ['age'], k => 2.5)", "k must be a whole number, not 2.5"),
        ("k_anonymity('t', ['age'], k => 9223372036854775808)", "outside 1 to"),
        ("k_anonymity('t', ['age'], k => '1 OR 1')", "k must be a whole number"),
        ("k_anonymity('t', ['age'], k => [3])", "k must be a whole number"),
        ("t_closeness('t', ['age'], 'disease', t => 1.1)", "t = 1.1 is outside 0 to 1"),
        ("t_closeness('t', ['age'], 'disease', t => -0.1)", "outside 0 to 1"),
        ("t_closeness('t', ['age'], 'disease', t => '0.2)')", "t must be a number"),
        ("t_closeness('t', ['age'], 'disease', t => 'nan')", "t must be a number"),
        (
            "t_closeness('t', ['age'], 'disease', t => 0.3333333333333333333333)",
            "more digits than can be compared with",
        ),
        ("beta_likeness('t', ['age'], 'disease', beta => 10.000000000000000000001)", "more digits than can be"),
        ("t_closeness('t', ['age'], 'disease', distance => 'cosine')", "write distance => 'equal' or distance => 'hi"),
        ("t_closeness('t', ['age'], 'disease', hierarchy => 'Diseases')", "'equal' has no argument hierarchy"),
        ("t_closeness('t', ['age'], 'disease', distance => 'hierarchical')", "needs hierarchy"),
        ("t_closeness('t', ['age'], ['disease', 'code'], distance => 'ordered')", "needs the values of one"),
        ("value_ranges('t', ['age'], ['disease', 'code'], ranges => 'r')", "needs the values of one"),
        ("l_diversity('t', ['age'], 'disease', c => 2)", "'distinct' has no argument c"),
        ("l_diversity('t', ['age'], 'disease', l => 2.5)", "l must be a whole number, not 2.5"),
        ("l_diversity('t', ['age'], 'disease', variant => 'recursive')", "'recursive' needs l"),
        ("alpha_k_anonymity('t', ['age'], 'disease', k => 2)", "needs all of alpha, k"),
        ("delta_disclosure('t', ['age'], 'disease', delta => 1, absent => 'maybe')", "one of 'violates', 'ignored'"),
        ("delta_presence('t', ['age'], min => 0, max => 1)", "needs against"),
        ("k_map('t', ['age'], against => '')", "needs against"),
        ("k_map('t', ['age'], against => '(SELECT 1 AS ega)')", 'does not have a column named "age"'),
        ("value_ranges('t', ['age'], 'disease')", "needs ranges"),
        ("epsilon_privacy('t', ['age'], 'disease', stubbornness => 1, prior => 'table')", "needs weights"),
        ("privacy_skyline('t', ['age'], 'disease', knowledge => 'table')", "needs triples"),
        ("privacy_skyline('t', ['age'], 'disease', l => 1, triples => 't')", "has no argument triples"),
        ("privacy_skyline('t', ['age'], 'disease', knowledge => 'table', triples => 't', l => 1)", "has no argument l"),
        ("epsilon_privacy('t', ['age'], 'disease', stubbornness => 1, weights => 't')", "has no argument weights"),
        ("epsilon_privacy('t', ['age'], 'disease', stubbornness => 1, prior => 'w')", "write prior => 'release' or"),
        ("value_ranges('t', ['age'], 'disease', ranges => 't')", 'does not have a column named "value"'),
        ("personalized('t', ['age'], 'disease', hierarchy => 'Diseases')", "needs guarding: the name of a column"),
        ("personalized('t', ['age'], 'disease', guarding => 'colour')", "needs hierarchy"),
        ("l_diversity('t', ['age'], NULL)", "name a sensitive column"),
        ("l_diversity('t', ['age'], ['disease', NULL])", "name a sensitive column"),
        ("l_diversity('t', ['age'], 3)", "name a sensitive column"),
        ("l_diversity('t', ['age'], 'diseaze')", 'does not have a column named "diseaze"'),
        ("l_diversity('t', ['age'], 'disease\" FROM t; --')", "does not have a column named"),
        ("l_diversity('t', [], 'disease')", "name at least one column"),
        ("l_diversity(NULL, ['age'], 'disease')", "needs relation"),
    ],
)
def test_what_is_wrong_is_refused(connection: Any, call: str, message: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        ask(connection, call)
    assert message in str(refused.value)


def test_text_under_a_collation_is_refused(connection: Any) -> None:
    """'a' and 'A' would count as one value, and a class of two rows would be one of one row each to a reader."""
    connection.execute("CREATE OR REPLACE TABLE folded (a VARCHAR COLLATE nocase, b INTEGER)")
    connection.execute("INSERT INTO folded VALUES ('a', 1), ('A', 1)")
    for call in (
        "k_anonymity('folded', ['a'])",
        "k_anonymity('folded', ['b', 'a'])",
        "l_diversity('folded', ['b'], 'a')",
        "k_map('t', ['a'], against => 'folded')",
        "personalized('folded', ['b'], 'b', guarding => 'a', hierarchy => 'codes')",
    ):
        with pytest.raises(duckdb.Error, match=r"collation|does not have"):
            ask(connection, call)
    assert ask(connection, "k_anonymity('folded', ['b'])") == (2, 1, 2)
    assert ask(connection, "k_anonymity('(SELECT decode(encode(a)) AS a FROM folded)', ['a'])") == (1, 2, 2)
    connection.execute("SET default_collation = 'nocase'")
    with pytest.raises(duckdb.Error, match="this session compares text by a collation"):
        ask(connection, "k_anonymity('t', ['age'])")
    connection.execute("RESET default_collation")
    assert ask(connection, "k_anonymity('t', ['age'])") == (4, 2, 8)


# Hierarchies and ranges.


def test_a_hierarchy_is_found_by_its_name_as_duckdb_finds_names(connection: Any) -> None:
    """Class 0 has flu, flu, cold, NULL and the release flu, flu, cold, NULL, cold, HIV, flu, flu; NULL stands alone."""
    for name in ("Diseases", "DISEASES"):
        call = f"t_closeness('t', ['age'], 'disease', t => 0.125, distance => 'hierarchical', hierarchy => '{name}')"
        assert ask(connection, call) == (0.125, 2, 8, 0.125, True, 0)


def test_a_hierarchy_of_numbers_lists_them_as_text(connection: Any) -> None:
    """Without levels above the values the distance is that of equal values; 010 is ten, and 'none' is no number."""
    call = "t_closeness('t', ['age'], 'code', distance => 'hierarchical', hierarchy => 'codes')"
    assert ask(connection, call) == ask(connection, "t_closeness('t', ['age'], 'code')")


@pytest.mark.parametrize(
    ("column", "hierarchy", "message"),
    [
        ("disease", "nothing", "there is no hierarchy nothing"),
        ("disease", "computed", "the labels of the hierarchy computed are computed and not stored: use CHECK"),
        ("disease", "twice", "the hierarchy twice has 2 rows in anon.hierarchy"),
        ("disease", "short", "the hierarchy short lacks 2 of the values, such as HIV"),
        ("disease", "tall", "the hierarchy tall has another height"),
        ("disease", "ambiguous", "ambiguous: a value has more than one label at a level: 'flu' (level 1)"),
        ("code", "spelled", "the hierarchy spelled lists a value under several texts: 010"),
        ("ward", "codes", "lacks 2 of the values, such as x"),
    ],
)
@pytest.mark.parametrize("model", ["t_closeness", "personalized"])
def test_what_is_no_hierarchy_of_the_values_is_refused(
    connection: Any, model: str, column: str, hierarchy: str, message: str
) -> None:
    own = "distance => 'hierarchical'" if model == "t_closeness" else "guarding => 'colour'"
    with pytest.raises(duckdb.Error) as refused:
        ask(connection, f"{model}('t', ['age'], '{column}', {own}, hierarchy => '{hierarchy}')")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("guard", "achieved"),
    [("'flu'", 0.5), ("'mild'", 0.75), ("'severe'", 0.25), ("'*'", 1), ("'unknown'", 1), ("NULL", 0)],
)
def test_a_guarding_node_is_a_label_or_guards_against_everything(connection: Any, guard: str, achieved: float) -> None:
    relation = f"(SELECT age, disease, {guard}::VARCHAR AS guard FROM t)".replace("'", "''")
    call = f"personalized('{relation}', ['age'], 'disease', guarding => 'guard', hierarchy => 'diseases', p => 0.5)"
    found = ask(connection, call)
    assert found[0] == achieved
    assert found[4] is (achieved <= 0.5)


RANGE = "(SELECT * FROM (VALUES {}) AS r(value, low, high))"


@pytest.mark.parametrize(
    ("column", "rows", "message"),
    [
        ("code", "('flu', 0, 1)", "none of the column's: flu"),
        ("code", "(2.5, 0, 1)", "none of the column's: 2.5"),
        ("disease", "('flu', 0, 1.5)", "a low or a high that is not a number from 0 to 1, for flu"),
        ("disease", "('flu', 'nan', 1)", "a low or a high that is not a number from 0 to 1, for flu"),
        ("disease", "(NULL, 'much', NULL)", "a low or a high that is not a number from 0 to 1, for NULL"),
        ("disease", "('flu', 0.5, 0.25)", "a low above the high, for flu"),
        ("disease", "('flu', 0, 1), ('flu', 0, 1)", "a value more than once: flu"),
        ("code", "('2', 0, 1), ('02', 0, 1)", "a value more than once: 02"),
    ],
)
def test_what_is_no_table_of_ranges_is_refused(connection: Any, column: str, rows: str, message: str) -> None:
    relation = RANGE.format(rows).replace("'", "''")
    with pytest.raises(duckdb.Error) as refused:
        ask(connection, f"value_ranges('t', ['age'], '{column}', ranges => '{relation}')")
    assert message in str(refused.value)


@pytest.mark.parametrize("relation", ["t", "(FROM t WHERE false)"])
def test_no_ranges_are_refused_whatever_the_rows(connection: Any, relation: str) -> None:
    nothing = "(SELECT ''flu'' AS value, 0 AS low, 1 AS high WHERE false)"
    with pytest.raises(duckdb.Error, match="nothing would be required"):
        ask(connection, f"value_ranges('{relation}', ['age'], 'disease', ranges => '{nothing}')")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("('flu', 1.5)", "one that is not a number from 0 to 1, for flu"),
        ("('flu', NULL)", "one that is not a number from 0 to 1, for flu"),
        ("('flu', 0.5), ('flu', 0.5)", "a value more than once: flu"),
        ("('flu', 0.5), ('gout', 0.25)", "add up to 0.75, not to 1"),
        ("('gout', 1)", "values of the column that have no weight above 0"),
    ],
)
def test_what_is_no_prior_is_refused(connection: Any, rows: str, message: str) -> None:
    given = rows.replace("'", "''")
    asked = f"prior => 'table', weights => '(FROM (VALUES {given}) AS w(value, weight))'"
    with pytest.raises(duckdb.Error) as refused:
        ask(connection, f"epsilon_privacy('t', ['age'], 'disease', epsilon => 2, stubbornness => 1, {asked})")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("('flu', 1.5, 0, 0)", "an l, k or m that is out of bounds, for flu"),
        ("(NULL, 0, NULL, 0)", "an l, k or m that is out of bounds, for NULL"),
        ("('flu', 0, 0, 9)", "an l, k or m that is out of bounds, for flu"),
        ("('flu', 0, 1, 1), ('flu', 0, 1, 1)", "one that is below another one, for flu"),
        ("('flu', 0, 1, 1), (NULL, 0, 1, 2)", "one that is below another one, for flu"),
    ],
)
def test_what_is_no_skyline_is_refused(connection: Any, rows: str, message: str) -> None:
    given = rows.replace("'", "''")
    asked = f"knowledge => 'table', triples => '(FROM (VALUES {given}) AS w(value, l, k, m))'"
    with pytest.raises(duckdb.Error) as refused:
        ask(connection, f"privacy_skyline('t', ['age'], 'disease', c => 1, {asked})")
    assert message in str(refused.value)


def test_ranges_of_numbers_may_be_written_as_text_or_as_numbers(connection: Any) -> None:
    for rows in ("('9', 0.5, NULL), (NULL, NULL, 0.125)", "(9.0, 0.5, NULL), (NULL, NULL, 0.125)"):
        relation = RANGE.format(rows).replace("'", "''")
        found = ask(connection, f"value_ranges('t', ['age'], 'code', ranges => '{relation}')")
        assert found == (0.25, 2, 8, 0.0, False, 2)
