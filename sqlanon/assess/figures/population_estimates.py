"""Estimates about a population from the sizes of a sample's classes, each by the model of one paper.

A histogram maps a size to the number of classes of that size. `people` is the size of the population, and the sampling
fraction is the number of rows of the sample divided by it. An estimate depends on its model and is never a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, lgamma, log, log1p, sqrt

Histogram = Mapping[int, int]

# Terms with a probability below this are neglected in a sum.
_NEGLIGIBLE = 1e-300
# Dankar et al. 2012: up to this sampling fraction Pitman's model is used first.
SMALL_FRACTION = Fraction(1, 10)


@dataclass(frozen=True)
class Uniques:
    """The estimated number of people with unique values in the population, by each model.

    `chosen` is the estimate by Dankar's rule, and `model` the model that the rule selects: Zayatz, Pitman, SNB, or ""
    if no row of the sample is unique. The estimate of a model is None if the model has none.
    """

    chosen: float
    model: str
    zayatz: float
    pitman: float | None
    snb: float | None


def population_uniques(classes: Histogram, fraction: Fraction) -> Uniques | None:
    """Estimates the number of population uniques from a sample of this fraction; None for a sample without rows.

    Dankar's rule takes Pitman's estimate for fractions up to 0.1, or Zayatz's estimate if Pitman's model has none. For
    larger fractions it takes the smaller estimate of SNB and Zayatz (Dankar, El Emam, Neisa and Roffey, Estimating the
    re-identification risk of clinical data sets, 2012).
    """
    if not classes:
        return None
    if not classes.get(1):
        return Uniques(0.0, "", 0.0, None, None)
    people = float(_rows(classes) / fraction)
    by_zayatz, by_pitman, by_snb = zayatz(classes, people), pitman(classes, people), snb(classes, float(fraction))
    if fraction <= SMALL_FRACTION:
        chosen, model = (by_zayatz, "Zayatz") if by_pitman is None else (by_pitman, "Pitman")
    else:
        chosen, model = (by_zayatz, "Zayatz") if by_snb is None or by_zayatz < by_snb else (by_snb, "SNB")
    return Uniques(chosen, model, by_zayatz, by_pitman, by_snb)


def _rows(classes: Histogram) -> int:
    return sum(size * number for size, number in classes.items())


# Zayatz, Estimation of the percent of unique population elements on a microdata file using the sample (1991).


def zayatz(classes: Histogram, people: float) -> float:
    """Estimates the population uniques: the number of sample uniques times P(unique in the population), divided by the
    sampling fraction.

    The population is assumed to have classes of each size in the proportions of the sample. Exactly 1 person of a class
    of i people is among the n rows with the hypergeometric probability P(1|i) = i n/N (N-n)/(N-1) ...
    (N-n-i+2)/(N-i+1).
    """
    rows, unique, largest = _rows(classes), classes.get(1, 0), max(classes)
    if not unique:
        return 0.0
    # The sum of c_i P(1|i), over n/N.
    expected, others_are_left_out = 0.0, 1.0
    for size in range(1, largest + 1):
        expected += classes.get(size, 0) * size * others_are_left_out
        others_are_left_out *= max(0.0, people - rows - size + 1) / (people - size) if people > size else 0.0
        if others_are_left_out < _NEGLIGIBLE:
            break
    return unique * unique / expected * people / rows


# Pitman's model: Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment (2001).


@dataclass(frozen=True)
class PitmanFit:
    """The parameters that maximize the likelihood of Pitman's sampling formula."""

    theta: float
    alpha: float


def pitman(classes: Histogram, people: float) -> float | None:
    """Estimates population uniques as Gamma(theta + 1) / Gamma(theta + alpha) N^alpha; None if `pitman_fit` finds no
    parameters.
    """
    fit = pitman_fit(classes)
    if fit is None:
        return None
    theta, alpha = fit.theta, fit.alpha
    # Far from 0 the quotient equals this power up to a share of 1 / theta^2; the logarithms would cancel.
    quotient = (1 - alpha) * log(theta + alpha / 2) if theta > 1e6 else lgamma(theta + 1) - lgamma(theta + alpha)
    return exp(quotient + alpha * log(people))


def pitman_fit(classes: Histogram) -> PitmanFit | None:
    """Maximizes the likelihood over 0 < alpha < 1 and theta > -alpha; returns None if the maximum is at a boundary.

    For each alpha, the derivative with respect to theta changes its sign once, from plus to minus, and so does the
    derivative with respect to alpha at these thetas; both zeros are found by bisection.
    """
    rows, number = _rows(classes), sum(classes.values())
    if not 1 < number < rows:
        # The likelihood grows with alpha up to 1, or with falling theta down to -alpha.
        return None

    # `above` is theta + alpha, whatever alpha: theta itself may be as close to -alpha as any number.
    def of_classes(above: float, alpha: float) -> float:
        """Returns the sum of 1 / (theta + i alpha) over 0 < i < the number of classes, where `above` is
        theta + alpha.
        """
        return (number - 1) / above if alpha == 0 else _harmonic(above / alpha, number - 1) / alpha

    def along_theta(above: float, alpha: float) -> float:
        return of_classes(above, alpha) - _harmonic(above - alpha + 1, rows - 1)

    def best(alpha: float) -> float:
        return exp(_last(lambda x: along_theta(exp(x), alpha) > 0, -100.0, 2 * log(rows) + 1))

    def along_alpha(alpha: float) -> float:
        above = best(alpha)
        if alpha == 0:
            # The sum of i / theta over 0 < i < u.
            of_parameters = number * (number - 1) / (2 * above)
        else:
            of_parameters = (number - 1 - (above - alpha) * of_classes(above, alpha)) / alpha
        return of_parameters - sum(c * _harmonic(1 - alpha, size - 1) for size, c in classes.items() if size > 1)

    if along_alpha(0.0) <= 0:
        return None
    alpha = _last(lambda x: along_alpha(x) > 0, 0.0, 1.0)
    return PitmanFit(best(alpha) - alpha, alpha) if alpha > 0 else None


def _harmonic(first: float, terms: int) -> float:
    """The sum of 1 / (first + i) for i from 0 to terms - 1, which is a difference of two digammas.

    For `first` of at least 12 it is computed by the asymptotic series of the digamma function, whose error is then
    below 1e-15.
    """
    added = 0.0
    while terms and first < 12:
        added += 1 / first
        first, terms = first + 1, terms - 1
    if not terms:
        return added
    last = first + terms
    return added + log1p(terms / first) + 0.5 / first - 0.5 / last + _series(first) - _series(last)


def _series(x: float) -> float:
    """Returns log(x) - digamma(x) - 1 / (2 x), by the asymptotic series of the digamma function."""
    y = 1 / (x * x)
    return y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760)))))


def _last(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Bisects for the last number at which a condition holds, between `inside`, where it holds, and `outside`, where it
    does not hold.
    """
    while (middle := (inside + outside) / 2) not in (inside, outside):
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


# The slide negative binomial: Chen and Keller-McNulty, Estimation of identification disclosure risk in microdata
# (1998).


# The scan along beta: from 1e-13 to 1 - 1e-13, in equal steps of log(beta / (1 - beta)).
_STEPS, _FARTHEST = 600, 30.0


@dataclass(frozen=True)
class SnbFit:
    """Parameters of the slide negative binomial: K classes, each with one person and a negative binomial number of
    other people.
    """

    number: float
    alpha: float
    beta: float


def snb(classes: Histogram, fraction: float) -> float | None:
    """Estimates population uniques by the slide negative binomial model, as K beta^alpha; None if `snb_fit` finds no
    parameters.
    """
    fit = snb_fit(classes, fraction)
    return None if fit is None else fit.number * fit.beta**fit.alpha


def snb_fit(classes: Histogram, fraction: float) -> SnbFit | None:
    """Fits the parameters to the sample's numbers of unique rows and of pairs; None unless there is exactly one
    solution.

    K is the estimate of `number_of_classes`. With q = (1 - f)(1 - beta) the equations are c_1 = K f (beta / (1 -
    q))^alpha (1 + alpha q / (1 - q)) and c_2 = K alpha f^2 beta^alpha (1 - beta) (2 - (1 - alpha) q) / (2 (1 -
    q)^(alpha + 2)). At each beta, the first equation gives up to two values of alpha, and the second equation is
    scanned for changes of sign.
    """
    unique, pairs = classes.get(1, 0), classes.get(2, 0)
    if not unique or not pairs or fraction >= 1:
        return None
    equations = _SnbEquations(fraction, number_of_classes(classes, fraction), unique, pairs)
    solutions = [fit for branch in (False, True) for fit in equations.solutions(first=branch)]
    return solutions[0] if len(solutions) == 1 else None


def number_of_classes(classes: Histogram, fraction: float) -> float:
    """Estimates the number of the population's classes (Haas and Stokes, Estimating the number of classes, 1998)."""
    f, u = fraction, sum(classes.values())
    g = 1 - f * f
    some = sum(size * f * f * g ** (size - 1) * c for size, c in classes.items())
    # (1 - f)^i ((1 + f)^i - 1), which neither overflows nor cancels.
    shared = sum(-(g**size) * expm1(-size * log1p(f)) * c for size, c in classes.items())
    none = sum((1 - f) ** size * c for size, c in classes.items())
    alone = sum(size * f * (1 - f) ** (size - 1) * c for size, c in classes.items())
    return u + classes.get(1, 0) * some / shared * (none / alone) ** 2


@dataclass(frozen=True)
class _SnbEquations:
    """The two equations of `snb_fit`, which determine alpha and beta, as differences of logarithms.

    `x` is log(beta / (1 - beta)), `number` the number of the population's classes, and `unique` and `pairs` are the
    sample's numbers of classes of 1 and of 2 rows.
    """

    fraction: float
    number: float
    unique: int
    pairs: int

    @property
    def target(self) -> float:
        """The logarithm of c_1 / (K f): the unique rows of the sample, divided by the classes of the population and the
        fraction.
        """
        return log(self.unique / (self.number * self.fraction))

    def solutions(self, *, first: bool) -> Iterator[SnbFit]:
        """Yields the solutions with the lesser alpha of the first equation if `first` is true, otherwise with the
        greater alpha.

        If c_1 < K f, there is one alpha at each beta; otherwise there are two alphas or none.
        """
        if first and self.target <= 0:
            return
        points = [_FARTHEST * (2 * step / _STEPS - 1) for step in range(_STEPS + 1)]
        for low, high in pairwise(points):
            if not self._has_alpha(low):
                low, high = high, low
            if not self._has_alpha(low):
                continue
            # The curve may end between the two.
            end = high if self._has_alpha(high) else _last(self._has_alpha, low, high)
            rises = self._second(low, first=first) < 0
            if rises == (self._second(end, first=first) < 0):
                continue
            x = _last(lambda x: (self._second(x, first=first) < 0) == rises, low, end)  # noqa: B023
            yield SnbFit(self.number, self._alpha(x, first=first), 1 / (1 + exp(-x)))

    def _first(self, alpha: float, x: float) -> tuple[float, float]:
        """Returns the difference of both sides of the equation for unique rows, and its derivative with respect to
        alpha.

        The difference is concave in alpha, and equals -target at alpha = 0.
        """
        slope, ratio = self._parts(x)
        return alpha * slope + log1p(alpha * ratio) - self.target, slope + ratio / (1 + alpha * ratio)

    def _parts(self, x: float) -> tuple[float, float]:
        """Returns two terms of the equations at x: log(beta / (1 - q)) and q / (1 - q), where q = (1 - f)(1 - beta)."""
        beta, rest = 1 / (1 + exp(-x)), 1 / (1 + exp(x))
        above = self.fraction + (1 - self.fraction) * beta
        return -log1p(self.fraction * exp(-x)), (1 - self.fraction) * rest / above

    def _top(self, x: float) -> float:
        """Returns the alpha at which the equation for unique rows has its greatest difference from the sample, for this
        x; at least 0.
        """
        slope, ratio = self._parts(x)
        return max(0.0, -1 / slope - 1 / ratio)

    def _has_alpha(self, x: float) -> bool:
        return self.target < 0 or self._first(self._top(x), x)[0] >= 0

    def _alpha(self, x: float, *, first: bool) -> float:
        """Returns the alpha that solves the equation for unique rows at x: the lesser solution if `first`, else the
        greater.

        Newton's steps on a concave function approach the root from outside and never pass it.
        """
        top = self._top(x)
        if first:
            alpha = 0.0
        else:
            alpha = 2 * top + 1
            while self._first(alpha, x)[0] >= 0:
                alpha *= 2
        for _ in range(200):
            value, derivative = self._first(alpha, x)
            if value >= 0 or not derivative:
                break
            after = alpha - value / derivative
            if after == alpha:
                break
            alpha = min(after, top) if first else max(after, top)
        return alpha

    def _second(self, x: float, *, first: bool) -> float:
        alpha = self._alpha(x, first=first)
        f, beta, rest = self.fraction, 1 / (1 + exp(-x)), 1 / (1 + exp(x))
        q, above = (1 - f) * rest, f + (1 - f) * beta
        expected = self.number * alpha * f * f * rest * (2 - (1 - alpha) * q) / (2 * above * above)
        if expected <= 0:
            return -float("inf")
        return log(expected / self.pairs) + alpha * self._parts(x)[0]


# Individual risk: Benedetti and Franconi, Statistical and technological solutions for controlled data dissemination
# (1998).


def individual_risk(size: int, weight: float) -> float:
    """Returns the mean of 1 / F, where F is the number of people in a class, which is negative binomial given that
    `size` of them are in the sample.

    `weight` is the sum of the sampling weights of the class, at least `size`, and p = size / weight. The mean is p
    times the integral of t^(size - 1) / (p + (1 - p) t) over 0 < t < 1. Integration by parts gives a recurrence in the
    size, whose errors shrink for p < 1/2. Otherwise, and for large classes, the series of 1 / (1 - (1 - p)(1 - t))
    gives a sum with fast shrinking terms.
    """
    p = size / weight
    q = 1 - p
    if p < 0.5 and size < 100:
        risk = p / q * log(1 / p)
        for k in range(1, size):
            risk = p / q * (1 / k - risk)
        return risk
    risk, term, j = 0.0, p / size, 0
    while term > 1e-17 * risk:
        risk, j = risk + term, j + 1
        term *= q * j / (size + j)
    return risk


# k-map: El Emam and Dankar, Protecting privacy using k-anonymity (2008).


def k_map_class_size(k: int, fraction: float, alpha: float, *, truncated: bool) -> int:
    """Returns the least size, at most k, that the sample of a population class of fewer than k people reaches only with
    a small probability.

    The sampled rows of a class of k people are Poisson with mean f k; if `truncated` is true, conditional on at least
    one row. The result is the least size with P(rows >= size) <= alpha.
    """
    mean = fraction * k
    most = alpha * (-expm1(-mean) if truncated else 1.0)
    size, tail = int(mean + 40 * sqrt(mean) + 60), 0.0
    while size:
        tail += exp(size * log(mean) - mean - lgamma(size + 1))
        if tail > most:
            break
        size -= 1
    return min(k, size + 1)
