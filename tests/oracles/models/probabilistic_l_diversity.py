"""l-diversity of a partition (Xiao and Tao 2006): no value makes up more than 1/l of its class."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table, shares


def _most(table: Table, of: Class) -> Fraction:
    return max(shares(table.counts(of)).values())


def violating(table: Table, l: Fraction) -> set[Class]:  # noqa: E741 - the paper's name
    return {of for of in table.classes if _most(table, of) > 1 / l}


def achieved(table: Table, l: Fraction) -> Fraction | None:  # noqa: E741
    return min((1 / _most(table, of) for of in table.classes), default=None)
