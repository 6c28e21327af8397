"""p-sensitive k-anonymity (Truta and Vinay 2006): k respondents and p different values in every class."""

from __future__ import annotations

from tests.oracles.models.support import Class, Table


def _values(table: Table, of: Class) -> int:
    return len(set(table.counts(of)))


def violating(table: Table, p: int, k: int) -> set[Class]:
    return {of for of in table.classes if table.respondents(of) < k or _values(table, of) < p}


def achieved(table: Table, p: int, k: int) -> int | None:
    """Returns the least number of values of a class; k has no effect."""
    return min((_values(table, of) for of in table.classes), default=None)
