"""Estimates about a population against their definitions, over histograms of class sizes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlanon.assess.figures.population_estimates import (
    Uniques,
    individual_risk,
    k_map_class_size,
    number_of_classes,
    pitman,
    pitman_fit,
    population_uniques,
    snb,
    snb_fit,
    zayatz,
)
from tests.oracles import population_estimates as oracle
from tests.support.draws import draws

histograms = st.dictionaries(st.integers(1, 12), st.integers(1, 40), min_size=1, max_size=8)
with_pairs = st.tuples(histograms, st.integers(1, 60), st.integers(1, 40)).map(
    lambda drawn: {**drawn[0], 1: drawn[1], 2: drawn[2]}
)


@pytest.mark.drawn
@settings(max_examples=draws(30, long=300), deadline=None)
@given(histograms, st.integers(1, 60))
def test_zayatz_is_the_definition(classes: Mapping[int, int], times: int) -> None:
    people = oracle.rows_of(classes) * times
    assert zayatz(classes, float(people)) == pytest.approx(float(oracle.zayatz(classes, people)), rel=1e-9)


@pytest.mark.drawn
@settings(max_examples=draws(4, long=60), deadline=None)
@given(histograms)
def test_pitman_s_maximum_is_scipy_s(classes: Mapping[int, int]) -> None:
    """No parameters have a greater likelihood; where the greatest is at an end of alpha, there is no estimate."""
    assume(1 < sum(classes.values()) < oracle.rows_of(classes))
    theta, alpha = oracle.pitman_maximum(classes)
    fit = pitman_fit(classes)
    if fit is None:
        assert alpha < 1e-4
        return
    best = oracle.likelihood(classes, fit.theta, fit.alpha)
    assert best >= oracle.likelihood(classes, theta, alpha) - 1e-9 * abs(best)
    assert fit.alpha == pytest.approx(alpha, abs=1e-3)
    people = 10.0 * oracle.rows_of(classes)
    assert pitman(classes, people) == pytest.approx(oracle.pitman_uniques(fit.theta, fit.alpha, people), rel=1e-9)


@pytest.mark.drawn
@settings(max_examples=draws(12, long=150), deadline=None)
@given(with_pairs, st.integers(2, 50))
def test_the_slide_negative_binomial_has_the_sample_s_uniques_and_pairs(classes: Mapping[int, int], times: int) -> None:
    """The parameters, summed over the sizes of all population classes, give the uniques and pairs of the sample."""
    fraction = 1 / times
    assert number_of_classes(classes, fraction) == pytest.approx(
        float(oracle.haas_stokes(classes, Fraction(1, times))), rel=1e-9
    )
    fit = snb_fit(classes, fraction)
    if fit is None:
        return
    ones, twos = oracle.snb_expected(fit.number, fraction, fit.alpha, fit.beta)
    assert (ones, twos) == (pytest.approx(classes[1], rel=1e-6), pytest.approx(classes[2], rel=1e-6))
    assert snb(classes, fraction) == pytest.approx(fit.number * fit.beta**fit.alpha)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(25))
def test_the_slide_negative_binomial_has_every_solution_that_scipy_finds(seed: int) -> None:
    random = Random(seed)
    classes = {random.randint(3, 12): random.randint(1, 40) for _ in range(random.randint(1, 6))}
    classes |= {1: random.randint(1, 60), 2: random.randint(1, 40)}
    fraction = 1 / random.randint(2, 50)
    solutions = oracle.snb_solutions(classes, fraction)
    fit = snb_fit(classes, fraction)
    assert (fit is None) == (not solutions)
    if fit is not None:
        ((alpha, beta),) = solutions
        assert (fit.alpha, fit.beta) == (pytest.approx(alpha, rel=1e-3), pytest.approx(beta, abs=1e-6))


@pytest.mark.drawn
@settings(max_examples=draws(20, long=200), deadline=None)
@given(histograms, st.fractions(Fraction(1, 1000), 1, max_denominator=1000))
def test_the_rule_takes_one_of_the_models(classes: Mapping[int, int], fraction: Fraction) -> None:
    estimated = population_uniques(classes, fraction)
    assert estimated is not None
    if 1 not in classes:
        assert estimated == Uniques(0.0, "", 0.0, None, None)
    elif fraction <= Fraction(1, 10):
        assert estimated.chosen == (estimated.zayatz if estimated.pitman is None else estimated.pitman)
        assert estimated.model == ("Zayatz" if estimated.pitman is None else "Pitman")
    else:
        assert estimated.chosen == min(e for e in (estimated.zayatz, estimated.snb) if e is not None)
    if fraction == 1:
        assert estimated.chosen == classes.get(1, 0)


@pytest.mark.parametrize("classes", [{1: 9}, {1: 1}, {7: 1}, {2: 5}])
def test_samples_without_a_maximum_or_without_pairs(classes: Mapping[int, int]) -> None:
    """All unique, one row, one class, only pairs: Pitman and SNB have no parameters."""
    assert (pitman_fit(classes), snb_fit(classes, 0.1)) == (None, None)
    assert zayatz(classes, 10.0 * oracle.rows_of(classes)) == pytest.approx(10 * classes.get(1, 0))
    assert population_uniques({}, Fraction(1, 10)) is None


sizes = st.integers(1, 400)
factors = st.sampled_from([1.0, 1.0001, 1.5, 1.99, 2.0, 2.01, 3.7, 12.0, 250.0, 1e5])


@pytest.mark.drawn
@settings(max_examples=draws(60, long=600), deadline=None)
@given(sizes, factors, sizes, factors)
def test_individual_risk_is_the_hypergeometric_function(f: int, factor: float, g: int, other: float) -> None:
    """The risk is between 1 / W and 1 / f, and merged classes have no greater risk than the safer one of them."""
    risk, more = individual_risk(f, f * factor), individual_risk(g, g * other)
    if f < 60:
        assert risk == pytest.approx(oracle.individual_risk(f, f * factor), rel=1e-8)
    assert 1 / (f * factor) * (1 - 1e-9) <= risk <= 1 / f * (1 + 1e-9)
    assert individual_risk(f + g, f * factor + g * other) <= min(risk, more) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("size", "weight", "risk"),
    [(1, 45.5, 0.085791), (1, 17, 0.177076), (1, 123.5, 0.039316), (2, 100, 0.018779), (3, 108, 0.013553)],
)
def test_individual_risk_of_sdcmicro_s_test_table(size: int, weight: float, risk: float) -> None:
    """The values of sdcMicro's tests with method = 'exact'."""
    assert individual_risk(size, weight) == pytest.approx(risk, abs=1e-6)


@pytest.mark.drawn
@settings(max_examples=draws(40, long=400), deadline=None)
@given(st.integers(1, 60), st.sampled_from([0.001, 0.05, 0.1, 0.3, 1.0]), st.sampled_from([0.001, 0.01, 0.05, 0.5]))
def test_sizes_of_estimated_k_map_are_scipy_s(k: int, fraction: float, alpha: float) -> None:
    careful, poisson = (k_map_class_size(k, fraction, alpha, truncated=truncated) for truncated in (True, False))
    assert careful == oracle.k_map_class_size(k, fraction, alpha, truncated=True)
    assert poisson == oracle.k_map_class_size(k, fraction, alpha, truncated=False)
    assert poisson <= careful <= k


@pytest.mark.parametrize(
    ("k", "fraction", "alpha", "poisson", "truncated"),
    [(5, 0.1, 0.05, 3, 3), (5, 0.1, 0.01, 4, 4), (3, 0.1, 0.05, 2, 3), (10, 0.3, 0.05, 7, 7), (20, 0.3, 0.01, 13, 13)],
)
def test_sizes_of_estimated_k_map(k: int, fraction: float, alpha: float, poisson: int, truncated: int) -> None:
    assert k_map_class_size(k, fraction, alpha, truncated=False) == poisson
    assert k_map_class_size(k, fraction, alpha, truncated=True) == truncated
