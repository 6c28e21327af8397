"""(c,k)-safety (Martin, Kifer, Machanavajjhala, Gehrke and Halpern 2007), over every split of k + 1 atoms among
classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from tests.oracles.models.support import Class, Table

# The counts of a class's values, in descending order.
Counts = tuple[int, ...]


def disclosure(table: Table, of: Class, k: int) -> Fraction:
    """Returns the highest probability that somebody in a class has a value, for a reader with k implications."""
    counts = {other: tuple(sorted(table.counts(other).values(), reverse=True)) for other in table.classes}
    others = tuple(sorted(counts[other] for other in table.classes if other != of))
    size, most = sum(counts[of]), counts[of][0]
    odds = min(
        least(counts[of], atoms) * Fraction(size, most) * _least_of(others, k + 1 - atoms) for atoms in range(1, k + 2)
    )
    return 1 / (1 + odds)


@cache
def _least_of(classes: tuple[Counts, ...], atoms: int) -> Fraction:
    """Returns the least probability that none of some atoms holds, over every split of the atoms among classes."""
    if not classes:
        # 2 exceeds any probability: a split with atoms left over is impossible.
        return Fraction(1) if atoms == 0 else Fraction(2)
    first, *rest = classes
    return min(least(first, part) * _least_of(tuple(rest), atoms - part) for part in range(atoms + 1))


@cache
def least(counts: Counts, atoms: int) -> Fraction:
    """Returns the least probability that none of some atoms about people of one class holds."""
    size = sum(counts)
    return min(_chance(counts, size, people) for people in _partitions(atoms, atoms) if len(people) <= size)


def _chance(counts: Counts, size: int, people: list[int]) -> Fraction:
    chance = Fraction(1)
    for before, values in enumerate(people):
        chance *= Fraction(max(0, size - before - sum(counts[:values])), size - before)
    return chance


def _partitions(number: int, most: int) -> Iterator[list[int]]:
    if number == 0:
        yield []
    for part in range(min(number, most), 0, -1):
        for rest in _partitions(number - part, part):
            yield [part, *rest]


def violating(table: Table, c: Fraction, k: int) -> set[Class]:
    return {of for of in table.classes if disclosure(table, of, k) >= c}


def achieved(table: Table, k: int, c: Fraction = Fraction(1)) -> Fraction | None:
    return max((disclosure(table, of, k) for of in table.classes), default=None)
