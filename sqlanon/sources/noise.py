"""Noise by OpenDP: whole numbers from exact distributions, with their privacy cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from math import ceil, exp, expm1, inf, isqrt, log, log1p, nextafter, pi, sqrt
from statistics import NormalDist
from typing import Any

from sqlanon.errors import PolicyError, UserError

# OpenDP's whole numbers have 64 bits, and noise stops at their ends. Figures stay at this distance from them.
MOST = 2**62
# The largest scale: greater noise would exceed every count.
_MOST_SCALE = 2.0**50
_CONFIDENCE = 0.95
# The number of cached mechanisms of each kind: finding one takes ms, and the statement alone determines it.
_REMEMBERED = 256
# Up to this scale the weights of normal noise are added up one by one.
_SMALL_SCALE = 1_000.0


@cache
def _opendp() -> Any:
    """Returns OpenDP. Raises UserError if it is not installed.

    Its feature for noise in floating-point numbers is never enabled, because such noise is private only in theory.
    """
    try:
        import opendp.prelude as opendp
    except ImportError:
        raise UserError("noise is drawn by OpenDP, which is not installed", hint="pip install 'sqlanon[dp]'") from None
    opendp.enable_features("contrib")
    return opendp


def require_opendp() -> None:
    """Raises UserError if OpenDP is not installed."""
    _opendp()


def not_above(value: Decimal) -> float:
    """Returns the largest float that is at most the value."""
    near = float(value)
    return nextafter(near, -inf) if Decimal(near) > value else near


@dataclass(frozen=True)
class Laplace:
    """Discrete Laplace noise, which adds z to a whole number with a probability proportional to exp(-abs(z) / scale).

    One respondent changes all numbers by at most `sensitivity` in total, and the noisy numbers cost at most `epsilon`,
    as OpenDP computes it.
    """

    sensitivity: int
    epsilon: float
    scale: float

    def drawn(self, values: Sequence[int]) -> list[int]:
        """Returns the values, each with its own noise."""
        within = [max(-MOST, min(MOST, value)) for value in values]
        return [int(value) for value in _laplace(self.scale)(within)] if within else []

    def within(self, confidence: float) -> int:
        """Returns the least w such that the noise is from -w to w with at least this probability."""
        return width_of(self.scale, confidence)

    def __str__(self) -> str:
        return "discrete Laplace"

    @property
    def width(self) -> int:
        """Returns the least w such that the noise is from -w to w with a probability of 95 % or more."""
        return width_of(self.scale)

    @property
    def expected_error(self) -> float:
        """The expectation of abs(z)."""
        return expected_error(self.scale)


@lru_cache(_REMEMBERED)
def laplace(sensitivity: int, epsilon: float) -> Laplace:
    """Returns the least Laplace noise that costs at most epsilon. Raises PolicyError if the noise would exceed any
    figure.
    """
    scale = _least(sensitivity / epsilon, lambda scale: _laplace(scale).map(sensitivity) <= epsilon)
    return Laplace(sensitivity, epsilon, scale)


@dataclass(frozen=True)
class Gaussian:
    """Discrete Gaussian noise, which adds z with a probability proportional to exp(-z^2 / (2 scale^2)).

    One respondent changes the numbers by a vector of length at most `sensitivity`, and the noisy numbers cost at most
    `rho` of zero-concentrated differential privacy, as OpenDP computes it.
    """

    sensitivity: float
    rho: float
    scale: float

    def drawn(self, values: Sequence[int]) -> list[int]:
        """Returns the values, each with its own noise."""
        within = [max(-MOST, min(MOST, value)) for value in values]
        return [int(value) for value in _gaussian(self.scale)(within)] if within else []

    def within(self, confidence: float) -> int:
        """Returns a w such that noise is from -w to w with at least this probability; it is the least such w for small
        scales.
        """
        if self.scale > _SMALL_SCALE:
            # A tail of discrete noise is at most the tail of continuous noise that begins one whole number before.
            return ceil(NormalDist().inv_cdf((1 + confidence) / 2) * self.scale) + 1
        weights = self._weights()
        total = 2 * sum(weights) - weights[0]
        mass, width = weights[0], 0
        while mass < confidence * total:
            width += 1
            mass += 2 * weights[width]
        return width

    @property
    def width(self) -> int:
        """Returns a w such that the noise is from -w to w with a probability of 95 % or more."""
        return self.within(_CONFIDENCE)

    @property
    def expected_error(self) -> float:
        """The expectation of abs(z)."""
        if self.scale > _SMALL_SCALE:
            return self.scale * sqrt(2 / pi)
        weights = self._weights()
        return 2 * sum(z * weight for z, weight in enumerate(weights)) / (2 * sum(weights) - weights[0])

    def _weights(self) -> list[float]:
        return [exp(-z * z / (2 * self.scale**2)) for z in range(ceil(10 * self.scale) + 2)]

    def __str__(self) -> str:
        return "discrete Gaussian"


@lru_cache(_REMEMBERED)
def gaussian(squared: int, rho: float) -> Gaussian:
    """Returns the least noise that costs at most rho; `squared` is the squared length of one respondent's change.

    Raises PolicyError if the noise would exceed any figure.
    """
    length = float(isqrt(squared)) if isqrt(squared) ** 2 == squared < 2**106 else _above(_above(sqrt(squared)))
    scale = _least(length / sqrt(2 * rho), lambda scale: _gaussian(scale).map(length) <= rho)
    return Gaussian(length, rho, scale)


def _above(value: float) -> float:
    return nextafter(value, inf)


def _gaussian(scale: float) -> Any:
    opendp = _opendp()
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T=float)
    return opendp.m.make_gaussian(*space, scale)


@lru_cache(_REMEMBERED)
def _laplace(scale: float) -> Any:
    opendp = _opendp()
    # T=int has 32 bits, and an error for a larger number would reveal that there is one.
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    return opendp.m.make_laplace(*space, scale)


def _least(scale: float, is_enough: Callable[[float], bool]) -> float:
    """Returns the least scale, from `scale` on, that is enough, because OpenDP rounds costs up."""
    step = 2.0**-50
    while scale <= _MOST_SCALE:
        if is_enough(scale):
            return scale
        scale, step = scale * (1 + step), 2 * step
    raise PolicyError(
        "the noise would be greater than any figure: epsilon is too small for what one respondent may add",
        hint="raise epsilon, or narrow low and high or rows",
    )


def width_of(scale: float, confidence: float = _CONFIDENCE) -> int:
    """Returns the least w such that discrete Laplace noise is from -w to w with at least this probability.

    P(abs(Z) > w) = 2 r^(w + 1) / (1 + r) with r = exp(-1 / scale).
    """
    ratio = exp(-1 / scale)
    if ratio == 0:
        return 0
    bound = log((1 - confidence) / 2) + log1p(ratio)
    return max(0, ceil(-bound * scale - 1 - 1e-9))


def expected_error(scale: float) -> float:
    """The expectation of the absolute value of discrete Laplace noise: 2 r / (1 - r^2) with r = exp(-1 / scale)."""
    ratio = exp(-1 / scale)
    return 2 * ratio / -expm1(-2 / scale)


@dataclass(frozen=True)
class Threshold:
    """Discrete Laplace noise for counts of secret keys; a key is published if its noisy count is above a threshold.

    One respondent causes a key to be published with a probability of at most delta.
    """

    scale: float
    threshold: int

    def drawn(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Returns the keys whose noisy count is at least the threshold, each with its noisy count."""
        within = {key: min(MOST, count) for key, count in counts.items()}
        return {str(key): int(count) for key, count in _threshold(self.scale, self.threshold)(within).items()}

    @property
    def width(self) -> int:
        """Returns the least w such that the noise is from -w to w with a probability of 95 % or more."""
        return width_of(self.scale)

    @property
    def expected_error(self) -> float:
        """The expectation of abs(z)."""
        return expected_error(self.scale)


@lru_cache(_REMEMBERED)
def threshold(keys: int, in_one_key: int, epsilon: float, delta: float) -> Threshold:
    """Returns the least noise, and then the least threshold, that together cost at most epsilon and delta.

    A respondent has at most `keys` keys and as many rows, and at most `in_one_key` of these rows have the same key.
    """
    distance = (keys, keys, in_one_key)
    surely = 2**40
    scale = _least(keys / epsilon, lambda scale: _threshold(scale, surely).map(distance)[0] <= epsilon)
    low, high = in_one_key - 1, in_one_key
    while high < surely and _threshold(scale, high).map(distance)[1] > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _threshold(scale, middle).map(distance)[1] <= delta else (middle, high)
    if _threshold(scale, high).map(distance)[1] > delta:
        raise PolicyError("no threshold is enough for so small a delta", hint="raise delta, or name the keys")
    return Threshold(scale, high)


def _threshold(scale: float, least: int) -> Any:
    opendp = _opendp()
    domain = opendp.map_domain(opendp.atom_domain(T=str), opendp.atom_domain(T="i64"))
    distance = opendp.l01inf_distance(opendp.absolute_distance(T="i64"))
    return opendp.m.make_laplace_threshold(domain, distance, scale, least)


@dataclass(frozen=True)
class Quantile:
    """The random choice of a candidate as a quantile; candidates nearer to the quantile have a greater probability."""

    candidates: tuple[int, ...]
    share: float
    scale: float

    def drawn(self, values: Sequence[int]) -> int:
        """Returns a candidate; epsilon bounds one respondent's effect on the probability of each candidate."""
        return int(_quantile(self.candidates, self.share, self.scale)(list(values)))


def quantile(candidates: Sequence[int], share: float, rows: int, epsilon: float) -> Quantile:
    """Returns the most accurate noise for a quantile that costs at most epsilon if respondents have up to `rows`
    rows.
    """
    scale = _least(rows / (2 * epsilon), lambda s: _quantile(candidates, share, s).map(rows) <= epsilon)
    return Quantile(tuple(candidates), share, scale)


def _quantile(candidates: Sequence[int], share: float, scale: float) -> Any:
    opendp = _opendp()
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    space = domain, opendp.symmetric_distance(), opendp.max_divergence()
    return opendp.m.make_private_quantile(*space, list(candidates), share, scale)


# Noise for several figures that are published together.


@dataclass(frozen=True)
class Greatest:
    """The random choice of one of several scores; greater scores have a greater probability.

    One respondent changes each score by at most `sensitivity`. The choice costs at most `amount`, which is rho if
    `concentrated` is true, otherwise epsilon.
    """

    sensitivity: int
    amount: float
    scale: float
    concentrated: bool

    def drawn(self, scores: Sequence[int]) -> int:
        """Returns the index of the chosen score."""
        return int(_greatest(self.scale, self.concentrated)([max(-MOST, min(MOST, score)) for score in scores]))


def greatest(sensitivity: int, amount: float, *, concentrated: bool) -> Greatest:
    """Returns the most accurate choice that costs at most `amount`."""
    first = sensitivity / sqrt(2 * amount) if concentrated else 2 * sensitivity / amount
    scale = _least(first, lambda s: _greatest(s, concentrated).map(sensitivity) <= amount)
    return Greatest(sensitivity, amount, scale, concentrated)


def _greatest(scale: float, concentrated: bool) -> Any:
    opendp = _opendp()
    measure = opendp.zero_concentrated_divergence() if concentrated else opendp.max_divergence()
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.linf_distance(T="i64"), measure
    return opendp.m.make_noisy_max(*space, scale=scale, negate=False)


def exact_rho(noise: Laplace | Gaussian | Greatest) -> Decimal:
    """Returns an upper bound of the noise's cost in rho: for noise with an epsilon, it is half the square of epsilon.

    Bun and Steinke, Concentrated differential privacy (2016), proposition 1.4.
    """
    if isinstance(noise, Gaussian):
        return Decimal(noise.rho)
    if isinstance(noise, Greatest) and noise.concentrated:
        return Decimal(noise.amount)
    epsilon = Decimal(noise.epsilon if isinstance(noise, Laplace) else noise.amount)
    return epsilon * epsilon / 2


@cache
def rho_of(epsilon: float, delta: float) -> float:
    """Returns the largest rho, to a part in 10^6, that OpenDP converts to at most epsilon and delta.

    Raises PolicyError where there is none.
    """
    # The search is between 0 and epsilon, which is more than any rho.
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta_of(middle, epsilon) <= delta else (low, middle)
    rho = low * (1 - 1e-6)
    if rho <= 0 or not _converts(rho, epsilon, delta):
        raise PolicyError("epsilon and delta are too small for any noise", hint="raise epsilon")
    return rho


def _delta_of(rho: float, epsilon: float) -> float:
    """Returns the delta that a cost of rho implies for an epsilon (Canonne, Kamath and Steinke 2020, corollary 13)."""
    low, high = 1 + 1e-9, 2.0**40
    for _ in range(100):
        alpha = (low + high) / 2
        rises = (2 * alpha - 1) * rho - epsilon + log1p(-1 / alpha) > 0
        low, high = (low, alpha) if rises else (alpha, high)
    exponent = (low - 1) * (low * rho - epsilon) + low * log1p(-1 / low) - log(low - 1)
    return exp(min(0.0, exponent))


def _converts(rho: float, epsilon: float, delta: float) -> bool:
    """Whether OpenDP converts rho to at most this epsilon and delta."""
    opendp = _opendp()
    converted = opendp.c.make_zCDP_to_approxDP(_gaussian(1 / sqrt(2 * rho)))
    return bool(opendp.c.make_fix_delta(converted, delta).map(1.0)[0] <= epsilon)
