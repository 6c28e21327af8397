"""Privacy skyline (Chen, LeFevre and Ramakrishnan 2007): each value by its own triples and the general ones."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.privacy_skyline import surest_of
from tests.oracles.models.support import Class, Table


def worst(table: Table, of: Class) -> Fraction:
    """Returns the highest probability that somebody in a class has a value, for a reader with the knowledge of one
    triple.
    """
    asked = [
        (value, known) for value in table.counts(of) for about, *known in table.known if about is None or about == value
    ]
    return max((surest_of(table, of, value, *known) for value, known in asked), default=Fraction(0))


def violating(table: Table, c: Fraction) -> set[Class]:
    return {of for of in table.classes if worst(table, of) >= c}


def achieved(table: Table, c: Fraction = Fraction(1)) -> Fraction | None:
    return max((worst(table, of) for of in table.classes), default=None)
