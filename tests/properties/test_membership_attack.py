"""ATTACK ... WITH membership against the ranking by each person's own ESTIMATE, and against chance."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.membership import named, releases
from sqlanon import Connection
from sqlanon.errors import PrivacyViolation, SqlanonError
from sqlanon.methods.registry import METHODS as METHODS_OF_ALL
from tests.oracles.attacks import membership
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of

METHODS = (
    "generalization(recoding => 'local', suppression => 1)",
    "mondrian(publish => 'none')",
    "anatomy(l => 2, variant => 'distinct')",
)
AGE, WARD, ILL = 'a "ge', "wa'rd", "select"
Person = tuple[Any, Any, Any]
people = st.tuples(
    st.sampled_from([None, -3, 20, 27, 41]), st.sampled_from(["x", "it's", None]), st.sampled_from(["a", "b", ""])
)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def installed(inside: list[Person], everybody: list[Person], method: str) -> Connection:
    con = new_database()
    columns = f"{quoted(AGE)} INTEGER, {quoted(WARD)} VARCHAR, {quoted(ILL)} VARCHAR"
    con.execute(f"CREATE TABLE t ({columns}); CREATE TABLE known ({columns})")
    for table, rows in (("t", inside), ("known", everybody)):
        for row in rows:
            con.duckdb.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", row)
    con.execute(
        "CREATE HIERARCHY tens AS INTERVALS (10, 50);"
        f"CREATE POLICY p ON t ({quoted(AGE)} QUASI IDENTIFIER USING tens, {quoted(WARD)} QUASI IDENTIFIER, "
        f"{quoted(ILL)} SENSITIVE) REQUIRE k_anonymity(k => 2);"
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}"
    )
    return con


def condition(name: str, value: Any) -> str:
    if value is None:
        return f"{quoted(name)} IS NULL"
    return (
        f"{quoted(name)} = {value}"
        if isinstance(value, int)
        else f"{quoted(name)} = '{value.replace(chr(39), chr(39) * 2)}'"
    )


@pytest.mark.drawn
@pytest.mark.one_in(3)
@pytest.mark.parametrize("method", METHODS)
def test_people_are_ranked_by_their_estimates(method: str) -> None:
    @settings(max_examples=draws(2, long=12), deadline=None)
    @given(st.lists(people, max_size=7), st.lists(people, max_size=4), st.sampled_from(["0", "0.25", "0.5", "1"]))
    def holds(inside: list[Person], others: list[Person], rate: str) -> None:
        everybody = inside + others
        try:
            con = installed(inside, everybody, method)
        except PrivacyViolation:
            return
        with con:
            ranked = []
            for person in set(everybody):
                where = " AND ".join(condition(*part) for part in zip((AGE, WARD, ILL), person, strict=True))
                ((estimate, _, _, high),) = figures_of(
                    con.sql(f"ESTIMATE SELECT count(*) FROM t WHERE {where} FROM RELEASE r")
                )
                n, members = everybody.count(person), inside.count(person)
                score = -1.0 if high == 0 else round((estimate or 0) / n, 9)
                ranked += [(score, round(high / n, 9), number < members) for number in range(n)]
            attack = f"ATTACK r WITH membership(against => known, false_positives => {rate})"
            right, chance = con.sql(attack).fetchall()
            assert right[:3] == ("membership", None, len(inside))
            assert right[3] == pytest.approx(floor(membership(ranked, Fraction(rate)) + Fraction(1, 2)), abs=0)
            assert chance[2] == len(inside)
            assert chance[3] == floor(Fraction(rate) * len(inside) + Fraction(1, 2))

    holds()


@pytest.mark.parametrize("rate", ["0.1", "0.5"])
def test_one_class_of_all_rows_names_people_by_chance(rate: str) -> None:
    """Where k is the number of rows nothing but the number of people is told, to readers who know no secret."""
    con = new_database()
    con.execute(
        "CREATE TABLE t AS SELECT i AS age, i % 2 AS ill FROM range(40) AS r(i);"
        "CREATE TABLE known AS SELECT i AS age FROM range(80) AS r(i);"
        "CREATE HIERARCHY all_ages AS INTERVALS (100);"
        "CREATE POLICY p ON t (age QUASI IDENTIFIER USING all_ages, ill SENSITIVE) REQUIRE k_anonymity(k => 40);"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"
    )
    with con:
        right, chance = con.sql(f"ATTACK r WITH membership(against => known, false_positives => {rate})").fetchall()
        assert right[2:4] == chance[2:4] == (40, round(40 * float(rate)))
        assert right[4] == chance[4] == 0.5


def test_exact_quasi_identifiers_name_everybody() -> None:
    """Buckets show each row's quasi-identifiers: nobody else has them, and no false positive is needed."""
    con = new_database()
    con.execute(
        "CREATE TABLE t AS SELECT i AS age, i % 4 AS ill FROM range(40) AS r(i);"
        "CREATE TABLE known AS SELECT i AS age FROM range(80) AS r(i);"
        "CREATE POLICY p ON t (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2);"
        "CREATE ANONYMIZED TABLE f AS POLICY p METHOD mondrian(publish => 'none')"
    )
    with con:
        for release in ("r", "f"):
            right, chance = con.sql(
                f"ATTACK {release} WITH membership(against => known, false_positives => 0)"
            ).fetchall()
            assert right[:6] == ("membership", None, 40, 40, 1.0, 1.0)
            assert chance[3] == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=9), st.sampled_from(["0", "0.3", "1"]))
def test_the_benchmark_ranks_as_the_attack_does(people_ranked: list[tuple[int, bool]], rate: str) -> None:
    wanted = membership([(score, 0, is_member) for score, is_member in people_ranked], Fraction(rate))
    scores, members = [score for score, _ in people_ranked], [is_member for _, is_member in people_ranked]
    assert named(scores, members, float(rate)) * max(1, sum(members)) == pytest.approx(float(wanted))


def test_the_benchmark_attacks_every_method_that_there_is() -> None:
    attacked = [release.call.partition("(")[0].partition(" ")[0] for release in releases()]
    assert set(attacked) == {*METHODS_OF_ALL}
    # Those with noise at three epsilons.
    assert sorted(attacked.count(name) for name in METHODS_OF_ALL if name.startswith("dp_")) == [3, 3]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("ATTACK r WITH membership", "against"),
        ("ATTACK r WITH membership(against => nobody)", "nobody"),
        ("ATTACK r WITH membership(against => strangers)", "no column that main.r shows"),
        ("ATTACK r WITH membership(against => words)", "1 value of age in words cannot be"),
        ("ATTACK r WITH membership(against => t, false_positives => 2)", "outside"),
        ("ATTACK r SENSITIVE ill WITH membership(against => t)", "no sensitive attribute"),
        ("ATTACK t (age) WITH membership(against => t)", "does not say what it was made of"),
    ],
)
def test_errors_say_what_to_write(statement: str, words: str) -> None:
    con = new_database()
    con.execute(
        "CREATE TABLE t AS SELECT 20 + i AS age, i % 4 AS ill FROM range(8) AS r(i);"
        "CREATE TABLE strangers AS SELECT 1 AS shoe; CREATE TABLE words AS SELECT 'secret' AS age;"
        "CREATE POLICY p ON t (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)"
    )
    with con, pytest.raises(SqlanonError) as error:
        con.sql(statement)
    assert words in str(error.value)
    assert "secret" not in str(error.value)
