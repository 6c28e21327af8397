"""Personalized anonymity (Xiao and Tao 2006), row by row: the probability of a breach of each row's guarding node."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table


def breaches(table: Table) -> list[tuple[Class, Fraction]]:
    """Returns for each row its class, and the share of the class whose values are below the row's guarding node."""
    found: list[tuple[Class, Fraction]] = []
    for of, places in table.classes.items():
        for place in places:
            guard = (table.guards or ())[place]
            below = [other for other in places if guard is not None and guard in _branch(table, other)]
            found.append((of, Fraction(len(below), len(places))))
    return found


def _branch(table: Table, place: int) -> tuple[object, ...]:
    """Returns a row's value and all labels above it."""
    value = table.values[place]
    return (value, *(table.taxonomy or {}).get(value, ()))


def violating(table: Table, p: Fraction) -> set[Class]:
    return {of for of, share in breaches(table) if share > p}


def achieved(table: Table, p: Fraction) -> Fraction | None:
    """Returns the greatest probability of a breach; 0 if no row has a guarding node."""
    return max((share for _, share in breaches(table)), default=None)
