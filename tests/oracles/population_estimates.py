"""Estimates about a population, from their definitions: sums over rows, exact fractions, and SciPy's solvers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import comb, exp, lgamma, log

from scipy.optimize import minimize, root
from scipy.special import hyp2f1
from scipy.stats import poisson

Histogram = Mapping[int, int]


def rows_of(classes: Histogram) -> int:
    return sum(size * number for size, number in classes.items())


def zayatz(classes: Histogram, people: int) -> Fraction:
    """c_1 P(1|1) c_1 / (f sum_i c_i P(1|i)), with P from binomial coefficients."""
    rows, unique = rows_of(classes), classes.get(1, 0)

    def alone(size: int) -> Fraction:
        return Fraction(size * comb(people - size, rows - 1), comb(people, rows))

    if not unique:
        return Fraction(0)
    fraction = Fraction(rows, people)
    return unique * alone(1) * unique / (fraction * sum(number * alone(size) for size, number in classes.items()))


def likelihood(classes: Histogram, theta: float, alpha: float) -> float:
    """The logarithm of Pitman's sampling formula, without its constants, summed term by term."""
    rows, number = rows_of(classes), sum(classes.values())
    return (
        sum(log(theta + i * alpha) for i in range(1, number))
        - sum(log(theta + i) for i in range(1, rows))
        + sum(c * sum(log(j - alpha) for j in range(1, size)) for size, c in classes.items())
    )


def pitman_maximum(classes: Histogram) -> tuple[float, float]:
    """Returns theta and alpha of the greatest likelihood that SciPy finds, for 0 <= alpha < 1 and theta > -alpha."""

    def loss(x: tuple[float, float]) -> float:
        alpha = x[1]
        return -likelihood(classes, exp(x[0]) - alpha, alpha)

    bounds = [(-12.0, 25.0), (1e-9, 1 - 1e-9)]
    starts = product((-1.0, 2.0, 5.0), (0.2, 0.7))
    found = min((minimize(loss, start, bounds=bounds, method="L-BFGS-B") for start in starts), key=lambda r: r.fun)
    return exp(found.x[0]) - found.x[1], found.x[1]


def pitman_uniques(theta: float, alpha: float, people: float) -> float:
    return exp(lgamma(theta + 1) - lgamma(theta + alpha)) * people**alpha


def haas_stokes(classes: Histogram, fraction: Fraction) -> Fraction:
    """Returns the estimated number of classes, in exact fractions."""
    f = fraction
    some = sum(i * f**2 * (1 - f**2) ** (i - 1) * c for i, c in classes.items())
    shared = sum((1 - f) ** i * ((1 + f) ** i - 1) * c for i, c in classes.items())
    none = sum((1 - f) ** i * c for i, c in classes.items())
    alone = sum(i * f * (1 - f) ** (i - 1) * c for i, c in classes.items())
    return sum(classes.values()) + classes.get(1, 0) * some / shared * (none / alone) ** 2


def snb_expected(number: float, fraction: float, alpha: float, beta: float) -> tuple[float, float]:
    """Returns the expected unique rows and pairs of a sample, summed over the sizes of the population's classes.

    A class has 1 + x people, x negative binomial; 1 or 2 of them are in the sample by a binomial distribution.
    """
    ones, twos, probability, size = 0.0, 0.0, beta**alpha, 1
    for size in range(1, 100_000):
        left = 1 - fraction
        ones += probability * size * fraction * left ** (size - 1)
        twos += probability * size * (size - 1) / 2 * fraction**2 * left ** max(0, size - 2)
        probability *= (alpha + size - 1) / size * (1 - beta)
        if left**size < 1e-20:
            break
    return number * ones, number * twos


def snb_solutions(classes: Histogram, fraction: float, starts: int = 5) -> set[tuple[float, float]]:
    """Returns the solutions (alpha, beta) that SciPy finds from a grid of starting points, rounded."""
    number = float(haas_stokes(classes, Fraction(fraction)))

    def equations(x: tuple[float, float]) -> tuple[float, float]:
        alpha, beta = exp(x[0]), 1 / (1 + exp(-x[1]))
        q = (1 - fraction) * (1 - beta)
        ones = number * fraction * (beta / (1 - q)) ** alpha * (1 + alpha * q / (1 - q))
        above = (1 - q) ** (alpha + 2)
        twos = number * alpha * fraction**2 * beta**alpha * (1 - beta) * (2 - (1 - alpha) * q) / (2 * above)
        return log(ones / classes[1]), log(twos / classes[2])

    found = set()
    for a, b in product(range(starts), repeat=2):
        try:
            result = root(equations, (-5 + 10 * a / (starts - 1), -10 + 16 * b / (starts - 1)))
        except (OverflowError, ValueError, ZeroDivisionError):
            continue
        if result.success and max(map(abs, equations(result.x))) < 1e-9:
            found.add((round(exp(result.x[0]), 5), round(1 / (1 + exp(-result.x[1])), 6)))
    return found


def individual_risk(size: int, weight: float) -> float:
    """p^f / f 2F1(f, f; f + 1; 1 - p), by SciPy."""
    p = size / weight
    return float(p**size / size * hyp2f1(size, size, size + 1, 1 - p))


def k_map_class_size(k: int, fraction: float, alpha: float, *, truncated: bool) -> int:
    """Returns the least size whose tail is at most alpha, trying one size after the other with SciPy's Poisson."""
    some = 1 - poisson.pmf(0, fraction * k) if truncated else 1.0
    return next((size for size in range(1, k) if poisson.sf(size - 1, fraction * k) / some <= alpha), k)
