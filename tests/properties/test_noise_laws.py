"""Answers under a budget have the distribution that their mechanism is defined by, not only its moments.

One statement asks for many groups of equal rows, whose noise is drawn for each by itself. A test of correct noise
fails once in ten million times.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sqlanon.sources import noise
from tests.oracles.noise import (
    chi_square,
    deviation,
    discrete_gaussian,
    discrete_laplace,
    most_apart,
    of_average,
    permute_and_flip,
)
from tests.support.database import template
from tests.support.draws import draws

# Five patients in each ward, with bills of 1.25.
ROWS, BILL = 5, Fraction(5, 4)
WARDS = """
CREATE TABLE wards AS SELECT i AS ward FROM range({wards}) AS t (i);
CREATE TABLE visits AS SELECT 5 * ward + i AS patient, ward, 1.25 AS bill FROM wards, range(5) AS t (i);
CREATE POLICY visits ON visits (patient ENTITY, ward QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY visits (epsilon => 1000, delta => 0.001);
CREATE BUDGET z ON POLICY visits (epsilon => 1000, delta => 0.001, accounting => 'zcdp');
"""


@pytest.fixture
def con():
    with template(WARDS.format(wards=draws(2_000, long=10_000))) as connection:
        yield connection


def answers(con, figure, arguments, keys="keys => wards", budget="b"):
    query = f"ESTIMATE SELECT ward, {figure} AS n FROM visits GROUP BY ward UNDER BUDGET {budget} ({arguments}, {keys})"
    return [row[1] for row in con.execute(query).fetchall()]


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("figure", "arguments", "scale", "truth", "unit"),
    [
        ("count(*)", "epsilon => 0.5", 2, ROWS, 1),
        # Two wards of a patient, whose counts are each 1 more.
        ("count(DISTINCT patient)", "epsilon => 0.5, rows => 2", 4, ROWS, 1),
        # A bill of at most 2.00 is 200 cents.
        ("sum(bill)", "epsilon => 4, low => 0, high => 2", 50, ROWS * BILL, Fraction(1, 100)),
    ],
)
def test_counts_and_sums_have_discrete_laplace_noise(con, figure, arguments, scale, truth, unit):
    drawn = [int((Fraction(n) - truth) / unit) for n in answers(con, figure, arguments)]
    distance, most = chi_square(drawn, discrete_laplace(scale))
    assert distance < most


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("figure", "arguments", "scale", "truth", "unit"),
    [
        ("count(*)", "epsilon => 0.5", 2, ROWS, 1),
        # Two wards of a patient, whose counts are each 1 more: the length of the change is the square root of 2.
        pytest.param("count(DISTINCT patient)", "epsilon => 1, rows => 2", 2**0.5, ROWS, 1, marks=pytest.mark.long),
        pytest.param(
            "sum(bill)", "epsilon => 4, low => 0, high => 2", 50, ROWS * BILL, Fraction(1, 100), marks=pytest.mark.long
        ),
    ],
)
def test_counts_and_sums_have_discrete_gaussian_noise_by_zcdp(con, figure, arguments, scale, truth, unit):
    drawn = [int((Fraction(n) - truth) / unit) for n in answers(con, figure, arguments, budget="z")]
    distance, most = chi_square(drawn, discrete_gaussian(scale))
    assert distance < most


@pytest.mark.drawn
def test_averages_are_quotients_of_a_sum_and_a_count_with_noise(con):
    """With epsilon 4, half of it for each: a count at scale 1/2, and doubled centered cents at scale 100."""
    drawn = answers(con, "avg(bill)", "epsilon => 4, low => 0, high => 2")
    ends = (Fraction(0), Fraction(200))
    width = noise.width_of(0.5, 0.975)
    at_most, absent = of_average(ROWS, ROWS * BILL * 100, ends, (0.5, 100.0), width)
    given = [Fraction(round(each * 100 * 10**6), 10**6) for each in drawn if each is not None]
    assert abs(1 - len(given) / len(drawn) - absent) < most_apart(len(drawn))
    # A millionth of a cent is for the DOUBLE that an average is.
    slack = Fraction(1, 10**6)
    assert deviation(given, lambda number: at_most(number + slack) / (1 - absent)) < most_apart(len(given))


@pytest.mark.drawn
def test_groups_that_are_found_have_noise_and_are_cut_off_at_the_threshold(con):
    drawn = answers(con, "count(*)", "epsilon => 2, delta => 0.0001", "keys => found")
    least = noise.threshold(1, 1, 2.0, 0.0001).threshold
    whole = {ROWS + z: p for z, p in discrete_laplace(0.5).items()}
    law = {n: p for n, p in whole.items() if n >= least}
    wards = con.execute("SELECT count(*) FROM wards").fetchone()[0]
    distance, most = chi_square(
        [*drawn, *[None] * (wards - len(drawn))], {**law, None: sum(p for n, p in whole.items() if n < least)}
    )
    assert 0 < len(drawn) < wards
    assert distance < most


# E65, an example: the median of ten values among six candidates, whose scores are how unevenly they part the values.
VALUES = [21, 24, 28, 33, 35, 36, 47, 55, 58, 61]
CANDIDATES = (20, 30, 40, 50, 60, 70)


@pytest.mark.drawn
def test_a_quantile_is_chosen_by_permute_and_flip():
    scores = [abs(sum(v < c for v in VALUES) - sum(v > c for v in VALUES)) for c in CANDIDATES]
    assert scores == [10, 4, 2, 4, 8, 10]
    probabilities = permute_and_flip(scores, 2.0)
    assert [round(p, 4) for p in probabilities] == [0.0405, 0.2096, 0.4313, 0.2096, 0.0684, 0.0405]
    made = noise.Quantile(CANDIDATES, 0.5, 2.0)
    drawn = [made.drawn(VALUES) for _ in range(draws(1_000, long=8_000))]
    distance, most = chi_square(drawn, dict(zip(CANDIDATES, probabilities, strict=True)))
    assert distance < most


def test_noise_that_is_a_little_different_is_told_apart():
    """Rounded continuous noise, noise with a scale 13 % too small, and noise that is now and then 0."""
    random = np.random.default_rng(1)
    law = discrete_laplace(1.0)
    values, probabilities = list(law), list(law.values())
    true = random.choice(values, 20_000, p=np.array(probabilities) / sum(probabilities))
    distance, most = chi_square(list(map(int, true)), law)
    assert distance < most
    smaller = discrete_laplace(0.87)
    for wrong in (
        np.rint(random.laplace(scale=1.0, size=20_000)),
        random.choice(list(smaller), 20_000, p=np.array(list(smaller.values())) / sum(smaller.values())),
        true * (random.random(20_000) > 0.08),
    ):
        distance, most = chi_square(list(map(int, wrong)), law)
        assert distance > most
