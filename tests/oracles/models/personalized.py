"""Personalized anonymity (Xiao and Tao 2006), row by row: the probability of a breach of each row's guarding node."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table


def breaches(table: Table) -> list[tuple[Class, Fraction]]:
    """For each row its class and the share of that class whose value lies below the row's guarding node."""
    found: list[tuple[Class, Fraction]] = []
    for of, places in table.classes.items():
        for place in places:
            guard = (table.guards or ())[place]
            below = [other for other in places if guard is not None and guard in _branch(table, other)]
            found.append((of, Fraction(len(below), len(places))))
    return found


def _branch(table: Table, place: int) -> tuple[object, ...]:
    """A row's value with all that is above it."""
    value = table.values[place]
    return (value, *(table.taxonomy or {}).get(value, ()))


def violating(table: Table, p: Fraction) -> set[Class]:
    return {of for of, share in breaches(table) if share > p}


def achieved(table: Table, p: Fraction) -> Fraction | None:
    """The greatest probability of a breach; 0 where nobody guards anything."""
    return max((share for _, share in breaches(table)), default=None)
