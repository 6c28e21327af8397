"""The two ways in which a budget adds up costs: epsilons, or the rho of zero-concentrated differential privacy.

An answer that costs epsilon costs a rho of epsilon^2 / 2 (Bun and Steinke, Concentrated differential privacy, 2016,
proposition 3.3; lemma 8.2 with a delta). Noise of the normal distribution can be chosen by its rho, and has no epsilon.
For a delta, a sum of rho bounds an epsilon. Added up in this way, the costs of many small answers are less than the sum
of their epsilons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from math import exp, log, log1p, sqrt

BASIC, ZCDP = "basic", "zcdp"
# The number of decimals that the ledger stores.
DIGITS = 18

_UNIT = Decimal(1).scaleb(-DIGITS)
# The relative error allowed for floating-point numbers.
_SLACK = 1e-12


def rho_of(epsilon: Decimal) -> Decimal:
    """Returns the rho of an answer that costs epsilon, rounded up to the stored digits."""
    with localcontext(prec=100):
        return (epsilon * epsilon / 2).quantize(_UNIT, ROUND_CEILING)


def amounts(
    accounting: str, epsilon: Decimal, delta: Decimal, own_rho: Decimal | None = None
) -> tuple[Decimal, Decimal, Decimal]:
    """Returns the epsilon, the delta and the rho that an answer costs by an accounting.

    `own_rho` is the rho of noise with known steps, which needs no delta. A ZCDP budget pays this rho. For other noise,
    it pays the largest rho that the epsilon may cost.
    """
    if accounting != ZCDP:
        return epsilon, delta, Decimal(0)
    return (epsilon, delta, rho_of(epsilon)) if own_rho is None else (epsilon, Decimal(0), own_rho)


def most_rho(epsilon: Decimal, delta: Decimal) -> Decimal:
    """Returns the largest sum of rho that an epsilon and a delta allow, rounded down; 0 if delta is 0.

    This is the inverse of `epsilon_of`: the greatest value over alpha > 1 of

        (epsilon - ln(1 / (alpha delta)) / (alpha - 1) - ln(1 - 1 / alpha)) / alpha
    """
    if delta <= 0:
        return Decimal(0)
    most, log_delta = float(epsilon), log(delta)
    rho = -_least(lambda alpha: (_beyond(alpha, log_delta) - most) / alpha)
    return max(Decimal(0), Decimal(rho * (1 - _SLACK)).quantize(_UNIT, ROUND_FLOOR))


def epsilon_of(rho: Decimal, delta: Decimal) -> Decimal:
    """Returns the smallest epsilon that a sum of rho is known to guarantee with a delta.

    Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy (2020), corollary 13: it is the minimum
    over alpha > 1 of

        alpha rho + ln(1 / (alpha delta)) / (alpha - 1) + ln(1 - 1 / alpha)
    """
    if not rho:
        return Decimal(0)
    sum_of_rho, log_delta = float(rho), log(delta)
    epsilon = _least(lambda alpha: alpha * sum_of_rho + _beyond(alpha, log_delta))
    return max(Decimal(0), Decimal(epsilon * (1 + _SLACK)))


def _beyond(alpha: float, log_delta: float) -> float:
    return -(log(alpha) + log_delta) / (alpha - 1) + log1p(-1 / alpha)


def _least(value: Callable[[float], float]) -> float:
    """Minimizes a function over alpha > 1 by golden sections; its value at any alpha is a valid bound."""
    golden = (sqrt(5) - 1) / 2
    low, high = -8.0, 25.0
    for _ in range(120):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if value(1 + exp(left)) < value(1 + exp(right)):
            high = right
        else:
            low = left
    return value(1 + exp((low + high) / 2))


def accounting_of(epsilon: Decimal, delta: Decimal, answers: int) -> str:
    """Chooses the accounting with less noise for equal counts: at epsilon 1 and delta 1e-6, ZCDP from 11 answers on.

    The choice is by the variances 2 (answers / epsilon)^2 of Laplace noise and answers / (2 rho) of normal noise.
    """
    rho = most_rho(epsilon, delta)
    return ZCDP if rho and answers / (2 * rho) < 2 * (answers / epsilon) ** 2 else BASIC


def share_of(epsilon: Decimal, delta: Decimal, accounting: str, answers: int) -> Decimal:
    """Returns the epsilon that each of a number of equal answers may cost, rounded down to six digits."""
    share = (2 * most_rho(epsilon, delta) / answers).sqrt() if accounting == ZCDP else epsilon / answers
    return share.quantize(Decimal("0.000001"), ROUND_FLOOR)


@dataclass(frozen=True)
class Left:
    """The remaining amounts of a budget by its accounting.

    `delta` is left for answers; with ZCDP, a part of the budget's delta is also needed to convert the sum of rho to an
    epsilon.
    """

    accounting: str
    epsilon: Decimal
    delta: Decimal
    spent_rho: Decimal
    # The epsilon of the whole budget.
    total: Decimal

    def answers(self, epsilon: Decimal, delta: Decimal, own_rho: Decimal | None = None) -> int:
        """Returns the number of answers of this cost that the budget still pays for; `own_rho` has the same meaning as
        in `amounts`.
        """
        epsilon, delta, rho = amounts(self.accounting, epsilon, delta, own_rho)
        if self.accounting == BASIC:
            by_epsilon = int(self.epsilon / epsilon)
            return min(by_epsilon, int(self.delta / delta)) if delta else by_epsilon
        low, high = 0, int(self.most_rho(delta) / rho) if self.delta > delta else 0
        while low < high:
            middle = (low + high + 1) // 2
            enough = middle * rho <= self.most_rho(middle * delta)
            low, high = (middle, high) if enough else (low, middle - 1)
        return low

    def most_rho(self, delta: Decimal) -> Decimal:
        """Returns the rho that is left if further answers cost this much delta in total."""
        return max(Decimal(0), most_rho(self.total, self.delta - delta) - self.spent_rho)
