"""MEASURE ... WITH FIGURES (suda): the guideline's table to the digit, whose rows are in it, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sqlanon.assess.special_uniques import special_uniques
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError
from sqlanon.sql.build.names import relation
from tests.support.database import one_thread, template

# Ten rows of the guideline of the International Household Survey Network: residence, gender, education, labour.
TEN = "U F si E, U F si E, U F pi N, U M sc E, D F sc U, U M sc E, U F pc N, U M ps U, U F si N, U F si N"
SETUP = f"""
CREATE TABLE ten AS SELECT split_part(t, ' ', 1) AS residence, split_part(t, ' ', 2) AS "gen""der",
    split_part(t, ' ', 3) AS education, split_part(t, ' ', 4) AS labour, 'x' AS secret
    FROM (SELECT unnest(string_split('{TEN}', ', ')) AS t);
CREATE POLICY ten ON ten (residence QUASI IDENTIFIER, "gen""der" QUASI IDENTIFIER, education QUASI IDENTIFIER,
    labour QUASI IDENTIFIER, secret SENSITIVE) REQUIRE k_anonymity(k => 1);
CREATE ANONYMIZED TABLE r AS POLICY ten;
"""
RESIDENCE, GENDER, EDUCATION, LABOUR = range(4)


@pytest.fixture
def con():
    with template(SETUP) as connection:
        yield connection


def found(rows, columns, largest=None, score="elliot", missing="none"):
    with one_thread() as con:
        values = ", ".join(f"({', '.join(map(repr, row))})" for row in rows)
        con.execute(f"CREATE TABLE t AS FROM (VALUES {values}) AS t ({', '.join(f'c{i}' for i in range(columns))})")
        engine = DuckDBEngine(con)
        with engine.transaction(), TempTables(engine) as temp:
            names = [f"c{i}" for i in range(columns)]
            return special_uniques(temp, relation("t"), names, largest or columns, score, missing)


def test_ten_rows_have_the_minimal_uniques_and_scores_of_the_guideline():
    rows = [row.split(" ") for row in TEN.split(", ")]
    special = found(rows, 4)
    assert special.sets == {
        frozenset({EDUCATION}): 3,
        frozenset({RESIDENCE}): 1,
        frozenset({GENDER, EDUCATION}): 1,
        frozenset({GENDER, LABOUR}): 2,
        frozenset({EDUCATION, LABOUR}): 1,
        frozenset({RESIDENCE, LABOUR}): 1,
    }
    assert special.scores == {6: 2, 12: 1, 10: 1}
    assert (special.unique, special.pairs) == (4, 3)
    assert found(rows, 4, score="ihsn").scores == {Fraction(7, 4): 2, Fraction(13, 4): 1, Fraction(11, 4): 1}


@pytest.mark.parametrize(
    ("fraction", "risks"),
    [
        (Fraction(1, 100), (0.004987, 0.011383, 0.009167)),
        (Fraction(1, 10), (0.052249, 0.112417, 0.092367)),
        (Fraction(1, 3), (0.198772, 0.363036, 0.314105)),
    ],
)
def test_risks_of_the_ten_rows(fraction, risks):
    special = found([row.split(" ") for row in TEN.split(", ")], 4)
    assert [round(special.risk(Fraction(score), fraction), 6) for score in (6, 12, 10)] == list(risks)
    # The harmonic mean over the unique rows is theta.
    of_rows = [special.risk(score, fraction) for score, n in special.scores.items() for _ in range(n)]
    theta = 4 * fraction / (4 * fraction + 6 * (1 - fraction))
    assert len(of_rows) / sum(1 / risk for risk in of_rows) == pytest.approx(float(theta))


def test_three_rows():
    special = found([(2, 0, 0), (1, 3, 6), (1, 0, 0)], 3)
    sets = [{0}, {1}, {2}, {0, 1}, {0, 2}]
    assert special.sets == {frozenset(chosen): 1 for chosen in sets}
    assert special.scores == {2: 2, 4: 1}
    assert special.risk(Fraction(2), Fraction(1, 10)) is None


def test_columns_are_named_and_no_row_is(con):
    figures = con.execute("MEASURE r WITH FIGURES (suda(sampling_fraction => 0.1))").fetchall()
    assert [(figure, attribute) for _, figure, attribute, _ in figures] == [
        ("special_rows", None),
        ("minimal_sample_uniques", None),
        ("suda", None),
        ("suda_contribution", "residence"),
        ("suda_contribution", 'gen"der'),
        ("suda_contribution", "education"),
        ("suda_contribution", "labour"),
        ("dis_suda", None),
    ]
    wanted = [4, 9, 12, 8 / 34, 6 / 34, 22 / 34, 8 / 34, 0.112417]
    assert [row[3] for row in figures] == pytest.approx(wanted, abs=1e-6)
    smaller = con.execute("MEASURE r WITH FIGURES (suda(max_size => 1))").fetchall()
    assert [row[3] for row in smaller] == [4, 4, 1, 1 / 4, 0, 3 / 4, 0]


def test_nothing_is_special_of_classes_of_two(con):
    con.execute("ALTER POLICY ten REQUIRE k_anonymity(k => 2); CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY ten")
    figures = con.execute("MEASURE r WITH FIGURES (suda(sampling_fraction => 0.1))").fetchall()
    assert [row[3] for row in figures] == [0, 0, 0, None, None, None, None, None]


def test_a_null_is_in_no_set_unless_it_is_a_value(con):
    con.execute("UPDATE ten SET residence = NULL WHERE residence = 'D'")
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY ten")
    contributions = {
        missing: con.execute(f"MEASURE r WITH FIGURES (suda(missing => '{missing}'))").fetchall()[3][3]
        for missing in ("none", "own")
    }
    assert contributions["own"] == pytest.approx(8 / 34)
    assert contributions["none"] < 0.1


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("suda(max_size => 7)", "max_size is a number of columns from 1 to 6"),
        ("suda(max_size => true)", "max_size is a number of columns from 1 to 6"),
        ("suda(score => 'other')", "there is no such score"),
        ("suda(missing => 'any')", "missing is 'none' or 'own'"),
        ("suda(sampling_fraction => 0)", "sampling_fraction is above 0"),
        ("suda(3)", "has no such argument"),
        ("suda(size => 3)", "has no such argument"),
    ],
)
def test_arguments_are_refused(con, call, message):
    with pytest.raises(UserError, match=message) as refused:
        con.execute(f"MEASURE r WITH FIGURES ({call})")
    assert refused.value.hint


def test_rows_that_are_not_shown_one_by_one_are_refused(con):
    con.execute("CREATE POLICY two ON ten (residence QUASI IDENTIFIER, labour SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE dealt AS POLICY two METHOD anatomy(l => 2)")
    con.execute("CREATE POLICY people ON ten (secret ENTITY, labour QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE of_people AS POLICY people")
    for release, message in (("dealt", "by levels or ranges"), ("of_people", "rows of one secret count as one")):
        with pytest.raises(PolicyError, match=message):
            con.execute(f"MEASURE {release} WITH FIGURES (suda)")


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        (13, "", "13 columns, more than 12 without a max_size"),
        pytest.param(21, "(max_size => 4)", "7546 sets of columns", marks=pytest.mark.long),
    ],
)
def test_many_columns_need_small_sets(con, columns, arguments, message):
    names = [f"q{i}" for i in range(columns)]
    con.execute(f"CREATE TABLE wide AS SELECT {', '.join(f'i AS {name}' for name in names)} FROM range(4) AS t(i)")
    roles = ", ".join(f"{name} QUASI IDENTIFIER MAX LEVEL 0" for name in names)
    con.execute(f"CREATE POLICY wide ON wide ({roles}) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE ANONYMIZED TABLE w AS POLICY wide METHOD generalization")
    with pytest.raises(PolicyError, match=message) as refused:
        con.execute(f"MEASURE w WITH FIGURES (suda{arguments})")
    assert "max_size" in refused.value.hint
    assert con.execute("MEASURE w WITH FIGURES (suda(max_size => 2))").fetchall()[0][3] == 4


@pytest.mark.long
def test_columns_are_as_many_as_bits_of_a_number(con):
    for columns, message in ((63, None), (64, "64 columns, and at most at 63")):
        names = [f"q{i}" for i in range(columns)]
        con.execute(f"CREATE TABLE t{columns} AS SELECT {', '.join(f'i AS {q}' for q in names)} FROM range(4) AS t(i)")
        roles = ", ".join(f"{name} QUASI IDENTIFIER MAX LEVEL 0" for name in names)
        con.execute(f"CREATE POLICY p{columns} ON t{columns} ({roles}) REQUIRE k_anonymity(k => 1)")
        con.execute(f"CREATE ANONYMIZED TABLE r{columns} AS POLICY p{columns} METHOD generalization")
        statement = f"MEASURE r{columns} WITH FIGURES (suda(max_size => 2))"
        if message is None:
            figures = con.execute(statement).fetchall()
            assert [row[3] for row in figures[:2]] == [4, 4 * columns]
        else:
            with pytest.raises(PolicyError, match=message):
                con.execute(statement)
