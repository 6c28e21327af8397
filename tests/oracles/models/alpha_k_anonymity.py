"""(alpha,k)-anonymity (Wong et al. 2006): k respondents in every class, no value above a share of alpha."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table, shares


def violating(table: Table, alpha: Fraction, k: int) -> set[Class]:
    return {
        of
        for of in table.classes
        if table.respondents(of) < k or any(share > alpha for share in shares(table.counts(of)).values())
    }


def achieved(table: Table, alpha: Fraction, k: int) -> Fraction | None:
    """Returns the greatest share of a value in a class; k has no effect."""
    return max((share for of in table.classes for share in shares(table.counts(of)).values()), default=None)
