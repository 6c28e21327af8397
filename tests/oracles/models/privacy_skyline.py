"""Privacy skyline (Chen, LeFevre and Ramakrishnan 2007), over every split of known people and family among classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import prod

from tests.oracles.models.support import Class, Table


def surest(table: Table, of: Class, l: int = 0, k: int = 0, m: int = 0) -> Fraction:  # noqa: E741 - the paper's name
    """Returns the highest probability that somebody in a class has a value, given at most this knowledge."""
    return max((surest_of(table, of, value, l, k, m) for value in table.counts(of)), default=Fraction(0))


def surest_of(table: Table, of: Class, value: Hashable, l: int, k: int, m: int) -> Fraction:  # noqa: E741
    """Returns the highest probability that somebody in a class has this value."""
    counts = {name: table.counts(name) for name in (of, *(other for other in table.classes if other != of))}
    if not (n := counts[of][value]):
        return Fraction(0)
    others = sorted((count for name, count in counts[of].items() if name != value), reverse=True)
    # The number of people of each class, without the target, and the number of them with the value.
    people = [(sum(of_class.values()) - (name == of), of_class[value]) for name, of_class in counts.items()]
    least = min(
        max(0, sum(others[l:]) - known[0])
        * prod((_all_lack(*group) for group in zip(people, known, family, strict=True)), start=Fraction(1))
        for known in _spread(k, len(people))
        for family in _spread(m, len(people))
    )
    return n / (n + least)


@cache
def _all_lack(people: tuple[int, int], known: int, family: int) -> Fraction:
    """Returns the probability that all family members in a class lack a value, given that some others lack it."""
    rows, having = people
    left = rows - min(known, max(0, rows - having))
    if family > left:
        # All of the class are members: one of them has it.
        return Fraction(0 if having else 1)
    return prod((Fraction(max(0, left - having - j), left - j) for j in range(family)), start=Fraction(1))


def _spread(number: int, classes: int) -> Iterator[tuple[int, ...]]:
    """Yields every way to divide at most `number` people among the classes."""
    for bars in combinations(range(number + classes), classes):
        yield tuple(after - before - 1 for before, after in zip((-1, *bars), bars, strict=False))


def violating(table: Table, c: Fraction, l: int = 0, k: int = 0, m: int = 0) -> set[Class]:  # noqa: E741
    return {of for of in table.classes if surest(table, of, l, k, m) >= c}


def achieved(table: Table, l: int = 0, k: int = 0, m: int = 0, c: Fraction = Fraction(1)) -> Fraction | None:  # noqa: E741
    return max((surest(table, of, l, k, m) for of in table.classes), default=None)
