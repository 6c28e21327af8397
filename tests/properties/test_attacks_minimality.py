"""ATTACK ... WITH minimality against every world and every node looked at, on small random tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PolicyError, PrivacyViolation
from sqlanon.assess.attacks.minimality import sizes
from tests.oracles.granularity_loss import Taxonomy
from tests.oracles.minimality import Satisfied, beliefs
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.policies import levels_of

pytestmark = pytest.mark.drawn

BUDGET = settings(max_examples=draws(3, long=12), deadline=None, suppress_health_check=list(HealthCheck))
WARDS = ("u", "it's", None)
rows_of_people = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(WARDS), st.sampled_from(("flu", "cold", None))), min_size=2, max_size=7
)


def _shares(values: Sequence[Hashable]) -> dict[Hashable, Fraction]:
    return {value: Fraction(n, len(values)) for value, n in Counter(values).items()}


def distinct(classes: Sequence[Sequence[Hashable]]) -> bool:
    return all(len(set(values)) >= 2 for values in classes)


def probabilistic(classes: Sequence[Sequence[Hashable]]) -> bool:
    return all(max(_shares(values).values()) <= Fraction(1, 2) for values in classes)


def alpha_k(classes: Sequence[Sequence[Hashable]]) -> bool:
    return all(len(values) >= 2 and max(_shares(values).values()) <= Fraction(7, 10) for values in classes)


def close(classes: Sequence[Sequence[Hashable]]) -> bool:
    of_all = _shares([value for values in classes for value in values])
    distances = (
        sum(abs(_shares(values).get(value, Fraction(0)) - share) for value, share in of_all.items()) / 2
        for values in classes
    )
    return all(distance <= Fraction(1, 4) for distance in distances)


REQUIRED: dict[str, Satisfied] = {
    "l_diversity(l => 2, variant => 'distinct')": distinct,
    "l_diversity(l => 2, variant => 'probabilistic')": probabilistic,
    "alpha_k_anonymity(alpha => 0.7, k => 2)": alpha_k,
    "t_closeness(t => 0.25, distance => 'equal')": close,
    "k_anonymity(k => 2), l_diversity(l => 2, variant => 'distinct')": lambda classes: (
        distinct(classes) and all(len(values) >= 2 for values in classes)
    ),
}


def taxonomies(rows: Sequence[tuple[Any, ...]]) -> list[Taxonomy]:
    ages = {age: (age, age // 2, age // 4) for age, *_ in rows}
    return [Taxonomy(ages, 3), Taxonomy({ward: (ward,) for _, ward, _ in rows}, 1)]


def released(rows: Sequence[tuple[Any, ...]], required: str) -> Connection:
    con = new_database()
    con.execute('CREATE TABLE people ("the age" INTEGER, ward VARCHAR, "ill""ness" VARCHAR)')
    con.executemany("INSERT INTO people VALUES (?, ?, ?)", [list(row) for row in rows])
    con.execute("CREATE HIERARCHY h AS INTERVALS (2, 4)")
    con.execute('CREATE POLICY p ON people ("the age" QUASI IDENTIFIER USING h, ward QUASI IDENTIFIER, "ill""ness" '
                f"SENSITIVE) REQUIRE {required}")  # fmt: skip
    try:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)")
    except PrivacyViolation:
        assume(False)
    return con


@pytest.mark.one_in(5)
@pytest.mark.parametrize("required", REQUIRED)
@given(rows=rows_of_people)
@settings(BUDGET, max_examples=draws(2, long=12))
def test_it_is_what_all_worlds_and_all_nodes_come_to(required: str, rows: list[tuple[Any, ...]]) -> None:
    con = released(rows, required)
    expected = beliefs(
        [row[:2] for row in rows],
        [row[2] for row in rows],
        taxonomies(rows),
        levels_of(con),
        (3, 1),
        REQUIRED[required],
    )
    highest = [max(each.values()) for each in expected]
    hits = [
        Fraction(each.get(row[2], Fraction(0)) == most, sum(share == most for share in each.values()))
        for each, row, most in zip(expected, rows, highest, strict=True)
    ]
    event("surer than chance" if max(highest) == 1 else "not sure")
    answers = con.execute("ATTACK r WITH minimality").fetchall()
    assert [row[0] for row in answers] == ["minimality", "minimality_high", "minimality_low"]
    for _, attribute, targets, succeeded, sure, mean, bound, _ in answers:
        assert (attribute, targets, bound) == ('ill"ness', len(rows), None)
        assert sure == pytest.approx(float(max(highest)), abs=1e-12)
        assert mean == pytest.approx(float(sum(highest) / len(rows)), abs=1e-12)
        assert abs(succeeded - float(sum(hits))) <= 0.5 + 1e-9
    con.close()


@pytest.mark.long
@given(rows=rows_of_people, seed=st.integers(0, 2**40))
@settings(BUDGET, max_examples=draws(2, long=12))
def test_drawn_worlds_come_near(rows: list[tuple[Any, ...]], seed: int) -> None:
    required = "l_diversity(l => 2, variant => 'probabilistic')"
    con = released(rows, required)
    [(*_, exact, _, _), *_] = con.execute("ATTACK r WITH minimality").fetchall()
    with sizes.replaced(every_world=0, least_worlds=200):
        try:
            drawn = con.execute(f"ATTACK r WITH minimality(worlds => 4000, seed => {seed})").fetchall()
        except PolicyError:
            event("too few worlds")
            con.close()
            return
        again = con.execute(f"ATTACK r WITH minimality(worlds => 4000, seed => {seed})").fetchall()
    assert drawn == again
    mean, high, low = (row[5] for row in drawn)
    # 200 worlds at least: six standard deviations of a share, whose greatest is a little more than expected.
    assert mean == pytest.approx(exact, abs=0.22)
    assert low <= mean <= high
    con.close()
