"""k-map by estimate (El Emam and Dankar 2008): the tail of the Poisson distribution, term by term."""

from __future__ import annotations

from fractions import Fraction
from math import exp, fsum, lgamma, log

from tests.oracles.models.support import Class, Table


def chance(rows: int, k: int, fraction: float, distribution: str) -> float:
    """Returns P(X >= rows) for a class of k people, X Poisson, or Poisson given X > 0; 0 for k rows or more."""
    if rows >= k:
        return 0.0
    mean = fraction * k
    tail = fsum(exp(n * log(mean) - mean - lgamma(n + 1)) for n in range(rows, rows + 40 * (k + 10)))
    return tail if distribution == "poisson" else tail / -_expm1(mean)


def _expm1(mean: float) -> float:
    return exp(-mean) - 1


def violating(table: Table, k: int, sampling_fraction: Fraction, alpha: Fraction, distribution: str) -> set[Class]:
    chances = {of: chance(table.respondents(of), k, float(sampling_fraction), distribution) for of in table.classes}
    return {of for of, probability in chances.items() if probability > float(alpha)}


def achieved(table: Table, k: int, sampling_fraction: Fraction, alpha: Fraction, distribution: str) -> float | None:
    chances = (chance(table.respondents(of), k, float(sampling_fraction), distribution) for of in table.classes)
    return max(chances, default=None)
