"""Distributions of noise, from their definitions, and tests whether answers follow them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import exp, log, sqrt

from scipy.stats import beta, chi2

__all__ = ["Law", "chi_square", "deviation", "discrete_gaussian", "discrete_laplace", "measured_epsilon", "most_apart"]
__all__ += ["of_average", "permute_and_flip"]

# The probability of each outcome; None is the outcome without an answer.
Law = Mapping[int | None, float]

# A test of correct noise fails once in ten million times.
_SURE = 1e-7
# The mass of a distribution that is left out at each of its ends.
_NEGLIGIBLE = 1e-16


def discrete_laplace(scale: float) -> dict[int, float]:
    """P(z) = (1 - r) / (1 + r) r^abs(z) with r = e^(-1 / scale) (Ghosh, Roughgarden and Sundararajan, 2009)."""
    ratio = exp(-1 / scale)
    most = int(-log(_NEGLIGIBLE) * scale) + 1
    return {z: (1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(-most, most + 1)}


def discrete_gaussian(scale: float) -> dict[int, float]:
    """P(z) proportional to e^(-z^2 / (2 scale^2)) (Canonne, Kamath and Steinke, 2020)."""
    most = int(sqrt(-2 * log(_NEGLIGIBLE)) * scale) + 2
    weights = {z: exp(-z * z / (2 * scale * scale)) for z in range(-most, most + 1)}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def permute_and_flip(scores: Sequence[float], scale: float) -> list[float]:
    """Returns the probability of each candidate (McKenna and Sheldon, 2020), over all orders in which they may be
    tried.

    A candidate is accepted with probability e^(-(score - least score) / (2 scale)).
    """
    accepted = [exp(-(score - min(scores)) / (2 * scale)) for score in scores]
    chosen = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for candidate in order:
            chosen[candidate] += left * accepted[candidate] / len(orders)
            left *= 1 - accepted[candidate]
    return chosen


def of_average(count: int, total: Fraction, ends: tuple[Fraction, Fraction], scales: tuple[float, float], least: int):
    """Returns a function, the probability that a noisy average is at most a number, and the probability of no answer.

    `count` numbers between the ends add up to `total`. The count gets noise of the first scale, the centered sum noise
    of the second, in half units. There is no answer if the noisy count is `least` or less.
    """
    middle = sum(ends) / 2
    centered = 2 * (total - count * middle)
    of_count, of_sum = map(discrete_laplace, scales)
    below, mass = {}, 0.0
    for z, probability in sorted(of_sum.items()):
        mass += probability
        below[z] = mass
    most = max(below)

    def within(z: int) -> float:
        return 0.0 if z < -most else below[min(most, z)]

    def at_most(number: Fraction) -> float:
        if number >= ends[1]:
            return 1.0 - absent
        given = ((count + z, p) for z, p in of_count.items() if count + z > least)
        return sum(p * within((2 * (number - middle) * n - centered).__floor__()) for n, p in given)

    absent = sum(p for z, p in of_count.items() if count + z <= least)
    return at_most, absent


def chi_square(answers: Sequence[int | None], law: Law) -> tuple[float, float]:
    """Returns the chi-square of answers, and the number that it exceeds with probability 1e-7 if they follow this law.

    Neighboring outcomes are merged into cells with at least 50 expected answers.
    """
    cells: list[tuple[list[int | None], float]] = []
    absent = law.get(None, 0.0)
    values, mass = [], 0.0
    for value in sorted(value for value in law if value is not None):
        values.append(value)
        mass += law[value]
        if mass * len(answers) >= 50:
            cells.append((values, mass))
            values, mass = [], 0.0
    last, last_mass = cells.pop()
    cells.append(([*last, *values], last_mass + mass))
    if absent:
        cells.append(([None], absent))
    number = {value: index for index, (members, _) in enumerate(cells) for value in members}
    observed = [0] * len(cells)
    for answer in answers:
        observed[number[answer]] += 1
    expected = [mass * len(answers) for _, mass in cells]
    assert abs(sum(expected) - len(answers)) < 1e-6 * len(answers)
    distance = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    return distance, float(chi2.isf(_SURE, len(cells) - 1))


def deviation(answers: Sequence[Fraction], at_most: Callable[[Fraction], float]) -> float:
    """Returns the largest difference of the empirical and the given distribution function (Kolmogorov)."""
    ordered = sorted(answers)
    step = max(1, len(ordered) // 60)
    return max(abs(sum(each <= a for each in ordered) / len(ordered) - at_most(a)) for a in ordered[::step])


def most_apart(answers: int) -> float:
    """Returns the deviation exceeded with probability 1e-7 by this many answers (Dvoretzky, Kiefer, Wolfowitz)."""
    return sqrt(log(2 / _SURE) / (2 * answers))


def measured_epsilon(one: Sequence[bool], other: Sequence[bool], delta: float = 0.0) -> float:
    """Returns a lower bound of epsilon from the frequency of an event in two worlds, with confidence 1 - 1e-7.

    It uses the Clopper-Pearson interval of each probability; at most 0 if the event proves nothing.
    """
    [low, high] = (
        beta.isf(1 - _SURE, sum(one), len(one) - sum(one) + 1) if any(one) else 0.0,
        beta.isf(_SURE, sum(other) + 1, len(other) - sum(other)) if not all(other) else 1.0,
    )
    return log((low - delta) / high) if low > delta else 0.0
