"""Guesses at which row of a group is which row of a linked one: they are right as often as chance, and no more."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import correlation
from typing import Any

import pytest

from tests.support.loose import Made, Table, database, make

FRAGMENTS = (("age",), ("disease",))
CONSTRAINTS = (("age", "disease"),)
COLUMNS = (("age", "INTEGER"), ("disease", "INTEGER"))
ROWS = 6000
# Groups of two rows on both sides, so a row is one of four.
SIZES = (2, 2)

Row = tuple[Any, ...]
# Of the two rows of a group and the two groups that it is linked to: the group of the first row.
Guess = Callable[[Sequence[Row], Sequence[int], dict[int, list[Row]]], int]


def patients() -> list[Row]:
    """Ages that are all different, and diseases that some have more often than others."""
    drawn = random.Random(7)
    return [(age, min(drawn.randrange(40), drawn.randrange(40))) for age in range(ROWS)]


def hits(made: Made, guess: Guess) -> tuple[int, int]:
    """How often the guess is right, and how many groups it was made for."""
    members: dict[int, list[Row]] = defaultdict(list)
    others: dict[int, list[Row]] = defaultdict(list)
    linked: dict[int, list[int]] = defaultdict(list)
    for age, group in made.fragments[0]:
        members[group].append((age,))
    for disease, group in made.fragments[1]:
        others[group].append((disease,))
    for one, other in made.groups:
        linked[one].append(other)
    truth = {row[0]: row[3] for row in made.truth}
    right = sum(guess(rows, linked[group], others) == truth[sorted(rows)[0][0]] for group, rows in members.items())
    return right, len(members)


def by_number(rows: Sequence[Row], linked: Sequence[int], others: dict[int, list[Row]]) -> int:
    """The younger is in the group with the lower number."""
    return min(linked)


def by_value(rows: Sequence[Row], linked: Sequence[int], others: dict[int, list[Row]]) -> int:
    """The younger is in the group with the least disease."""
    return min(linked, key=lambda group: min(others[group]))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("near", [(), ("age",)])
def test_no_guess_is_better_than_chance(near) -> None:
    with database() as engine:
        made = make(engine, Table(COLUMNS, patients()), FRAGMENTS, CONSTRAINTS, SIZES, near)
    assert made.association.placed > ROWS * 0.95
    for guess in (by_number, by_value):
        right, tried = hits(made, guess)
        # Half of the guesses, within five standard deviations.
        assert abs(right - tried / 2) < 5 * (tried / 4) ** 0.5, guess.__name__


@pytest.mark.long
def test_the_numbers_of_groups_tell_nothing() -> None:
    with database() as engine:
        made = make(engine, Table(COLUMNS, patients()), FRAGMENTS, CONSTRAINTS, SIZES, ("age",))
    for number in range(len(FRAGMENTS)):
        groups = [row[-2 + number] for row in made.truth]
        # The deviation of this correlation is about one in the square root of the groups, 0.02.
        assert abs(correlation([row[0] for row in made.truth], groups)) < 0.1
        assert sorted(set(groups)) == list(range(1, len(set(groups)) + 1))


def test_who_is_in_a_group_is_drawn_anew() -> None:
    rows = [(age, age % 4) for age in range(40)]
    seen = set()
    with database() as engine:
        engine.run("SELECT setseed(0.5)")
        for _ in range(3):
            engine.run("SELECT setseed(0.5)")
            made = make(engine, Table(COLUMNS, rows), FRAGMENTS, CONSTRAINTS, SIZES)
            seen.add(tuple(sorted(map(tuple, made.fragments[0]))))
    assert len(seen) == 3


@pytest.mark.long
def test_a_group_of_many_rows_hides_each_of_them_evenly() -> None:
    """In a block of 9 rows, every row is with every line and every column about as often."""
    rows = [(age, age) for age in range(9)]
    counts: dict[tuple[int, int], int] = defaultdict(int)
    runs = 45
    with database() as engine:
        for _ in range(runs):
            made = make(engine, Table(COLUMNS, rows), FRAGMENTS, CONSTRAINTS, (3, 3), ("age",))
            group = dict(made.fragments[0])
            # With near, the three youngest are in one group, and so on.
            assert [group[0] == group[1] == group[2], group[3] == group[5], group[6] == group[8]] == [True] * 3
            together = dict(made.fragments[1])
            for young in range(3):
                for old in range(6, 9):
                    counts[young, old] += together[young] == together[old]
    # A third of the runs, within five standard deviations.
    assert all(abs(counts[pair] - runs / 3) < 5 * (runs * 2 / 9) ** 0.5 for pair in counts)
    assert len(counts) == 9
