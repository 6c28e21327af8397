"""What a reader of answers under a budget learns about who is in the table: no more than epsilon allows.

The reader knows all other rows. One statement asks for many groups, each with one person who is in it or not, so that
each group is an attack by itself.
"""

from __future__ import annotations

from math import frexp

import numpy as np
import pytest

from tests.oracles.noise import measured_epsilon
from tests.support.database import template
from tests.support.draws import draws

# Three patients are in each ward; the fourth, the target, has two visits with the greatest bill.
WARDS = """
CREATE TABLE wards AS SELECT i AS ward FROM range({wards}) AS t (i);
CREATE TABLE visits AS SELECT 4 * ward + i AS patient, ward, i / 4 AS bill FROM wards, range(3) AS t (i);
CREATE TABLE targets AS SELECT 4 * ward + 3 AS patient, ward, 2.0::DOUBLE AS bill FROM wards, range(2) AS t (i);
CREATE POLICY visits ON visits (patient ENTITY, ward QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY visits (epsilon => 1000, delta => 0.001);
"""
OF_VALUES = "decimals => 1, low => 0, high => 2"


@pytest.fixture
def con():
    with template(WARDS.format(wards=draws(2_000, long=6_000))) as connection:
        yield connection


def answered(con, figure, arguments):
    """An answer for each ward; None where it has none."""
    keys = "" if "keys" in arguments else ", keys => wards"
    query = f"ESTIMATE SELECT ward, {figure} AS n FROM visits GROUP BY ward UNDER BUDGET b ({arguments}{keys})"
    told = {int(ward): n for ward, n, *_ in con.execute(query).fetchall()}
    wards = con.execute("SELECT count(*) FROM wards").fetchone()[0]
    return [told.get(ward) for ward in range(wards)]


def without_and_with(con, figure, arguments):
    """The answers without the targets, and with them."""
    without = answered(con, figure, arguments)
    con.duckdb.execute("INSERT INTO visits FROM targets")
    return without, answered(con, figure, arguments)


def worst(without, present, events, delta=0.0):
    """The greatest epsilon that is measured by any event, in either direction."""
    return max(
        measured_epsilon([event(a) for a in one], [event(a) for a in other], delta)
        for event in events
        for one, other in ((without, present), (present, without))
    )


def thresholds(answers):
    """Guesses that somebody is in where the answer is above a number, or not above it, and where there is none."""
    given = sorted(answer for answer in answers if answer is not None)
    for number in given[:: max(1, len(given) // 25)]:
        yield lambda answer, number=number: answer is not None and answer > number
        yield lambda answer, number=number: answer is not None and answer <= number
    yield lambda answer: answer is None


QUERIES = [
    ("count(*)", "rows => 2", 0.5),
    ("count(DISTINCT patient)", "rows => 1", 0.5),
    ("sum(bill)", f"rows => 2, {OF_VALUES}", 0.5),
    ("avg(bill)", f"rows => 2, {OF_VALUES}", -1),
    ("median(bill)", "rows => 2, decimals => 1, candidates => (0, 0.2, 0.5, 1, 2)", -1),
]


@pytest.mark.drawn
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@pytest.mark.parametrize(
    ("figure", "arguments", "share"), [QUERIES[0], *(pytest.param(*q, marks=pytest.mark.long) for q in QUERIES[1:])]
)
def test_who_is_in_is_guessed_no_better_than_epsilon_allows(con, figure, arguments, share, epsilon):
    """tpr <= e^epsilon fpr for each guess.

    Counts and sums reach half of epsilon, so that the guesses are no bad ones.
    """
    without, present = without_and_with(con, figure, f"epsilon => {epsilon}, {arguments}")
    measured = worst(without, present, list(thresholds([*without, *present])))
    assert measured <= epsilon
    if len(without) > 2_000:
        assert measured >= share * epsilon


@pytest.mark.drawn
@pytest.mark.parametrize("epsilon", [1, pytest.param(3, marks=pytest.mark.long)])
def test_who_is_in_is_guessed_no_better_where_groups_are_found(con, epsilon):
    arguments = f"epsilon => {epsilon}, delta => 0.0001, rows => 2, keys => found"
    without, present = without_and_with(con, "count(*)", arguments)
    guesses = list(thresholds([*without, *present, 0]))
    assert worst(without, present, guesses, delta=0.0001) <= epsilon
    if epsilon == 3:
        # With more noise hardly one in thousands of groups of so few rows is told.
        assert sum(answer is not None for answer in present) > 0


def test_the_guesses_find_out_noise_that_is_too_small():
    """Noise for one row, where the target has two."""
    random = np.random.default_rng(1)
    without, present = (random.laplace(n, 1.0, 10_000).tolist() for n in (3, 5))
    assert worst(without, present, list(thresholds([*without, *present]))) > 1.0


# Mironov, On significance of the least significant bits for differential privacy (2012).


def lowest_bit(number):
    """The exponent of the lowest bit that is 1 in a DOUBLE: -53 for 2^-53."""
    if number is None or number == 0:
        return 2_000
    fraction, exponent = frexp(number)
    whole = abs(int(fraction * 2**53))
    return exponent - 53 + (whole & -whole).bit_length() - 1


def low_bits():
    """Guesses by how fine the number is."""
    for least in range(-80, 2):
        yield lambda answer, least=least: lowest_bit(answer) < least


def textbook(truth, draws_, random):
    """Laplace noise of epsilon 1, as textbooks draw it: the inverse of its distribution, in DOUBLE."""
    return [
        truth + sign * -np.log(uniform)
        for sign, uniform in zip(random.choice([-1.0, 1.0], draws_), 1 - random.random(draws_), strict=True)
    ]


def test_low_bits_of_textbook_noise_tell_who_is_in():
    """A count of 0 or 1 with noise of epsilon 1: the guess is right with odds that no epsilon below 5 allows."""
    random = np.random.default_rng(1)
    without, present = (textbook(truth, 10_000, random) for truth in (0.0, 1.0))
    assert worst(without, present, list(low_bits())) > 5
    # Its greater bits keep what they promise.
    assert worst(without, present, list(thresholds([*without, *present]))) < 1


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("figure", "arguments"),
    [
        ("sum(bill)", OF_VALUES),
        pytest.param("avg(bill)", OF_VALUES, marks=pytest.mark.long),
        pytest.param("count(*)", "rows => 2", marks=pytest.mark.long),
    ],
)
def test_low_bits_of_answers_tell_nothing_more(con, figure, arguments):
    """Noise is added to whole numbers; what a quotient has in its low bits follows from two of them."""
    without, present = (
        [None if answer is None else float(answer) for answer in answers]
        for answers in without_and_with(con, figure, f"epsilon => 1, {arguments}")
    )
    assert worst(without, present, list(low_bits())) <= 1
    if figure != "avg(bill)":
        assert {answer * 10 % 1 for answer in (*without, *present)} == {0}
