"""Individual risk (Benedetti and Franconi 1998): the mean of 1 / F, by the negative binomial distribution of F."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, lgamma, log, log1p

from tests.oracles.models.support import Class, Table

# For more people the series has too many terms, and the closed forms have no cancellation.
_MANY = 10**5


def risk_of(size: int, people: float) -> float:
    """Returns the mean of 1 / F, for a class of `size` rows with weights that sum up to `people`.

    It is the sum over j >= size of P(F = j) / j, where P(F = j) = (j - 1 choose size - 1) p^size (1 - p)^(j - size).
    """
    p = size / people
    if people <= size:
        return 1 / size
    if people > _MANY:
        return _of_many(size, people)
    total, j = 0.0, size
    while True:
        chance = lgamma(j) - lgamma(size) - lgamma(j - size + 1) + size * log(p) + (j - size) * log1p(-p)
        total += exp(chance) / j
        if j > people and exp(chance) / j < 1e-14 * total * p:
            return total
        j += 1


def _of_many(size: int, people: float) -> float:
    """Returns the closed form for one row, then the integrals by parts, in fractions except for the logarithm."""
    ratio = Fraction(people) / size - 1
    value = Fraction(log1p(float(ratio))) / ratio
    for rows in range(1, size):
        value = (Fraction(1, rows) - value) / ratio
    return float(value)


def _risks(table: Table) -> dict[Class, float]:
    """Returns the risk of each class; infinite if a weight is invalid: NULL, below 1 or not finite."""
    risks: dict[Class, float] = {}
    for of, places in table.classes.items():
        weights = table.numbers(of)
        is_wrong = len(weights) < len(places) or min(weights) < 1
        risks[of] = inf if is_wrong else risk_of(len(weights), float(sum(weights, Fraction(0))))
    return risks


def violating(table: Table, **arguments: Fraction) -> set[Class]:
    most = float(arguments["max"])
    return {of for of, risk in _risks(table).items() if risk > most * (1 + 1e-12)}


def achieved(table: Table, **arguments: Fraction) -> float | None:
    return max(_risks(table).values(), default=None)
