"""t-closeness with the Jensen-Shannon divergence (Li and Li 2009): 1/2 KL(q, M) + 1/2 KL(p, M), M = (p + q) / 2."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction

from tests.oracles.models.support import TOLERANCE, Class, Table, decimal, ln, shares


def kullback_leibler(of: Mapping[Hashable, Fraction], to: Mapping[Hashable, Fraction]) -> Decimal:
    """Returns the divergence in nats, with fifty digits; a value with share 0 adds 0."""
    with localcontext() as context:
        context.prec = 50
        return sum((decimal(share) * ln(share / to[value]) for value, share in of.items() if share), Decimal(0))


def divergence(table: Table, of: Class) -> Decimal:
    p, q = shares(table.counts(of)), shares(table.baseline)
    middle = {value: (p.get(value, Fraction(0)) + q[value]) / 2 for value in q}
    with localcontext() as context:
        context.prec = 50
        return (kullback_leibler(q, middle) + kullback_leibler(p, middle)) / 2


def violating(table: Table, t: Fraction) -> set[Class]:
    return {of for of in table.classes if divergence(table, of) > decimal(t) + TOLERANCE}


def achieved(table: Table, t: Fraction) -> float | None:
    return max((float(divergence(table, of)) for of in table.classes), default=None)
