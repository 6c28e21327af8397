"""Whether the order of a release's rows tells more of the source's order than chance does."""

from __future__ import annotations

import itertools
from typing import Any

ROWS = 5_000
HITS = 15
DEVIATIONS = 6.0


def marks(connection: Any, table: str, order: str = "rowid") -> list[int]:
    """Who stands where in a release; `mark` says who it is, which the adversary does not see."""
    return [mark for (mark,) in connection.sql(f"SELECT mark FROM {table} ORDER BY {order}").fetchall()]


def hits(found: list[int], guessed: list[int]) -> int:
    return sum(a == b for a, b in zip(found, guessed, strict=True))


def correlation(found: list[int]) -> float:
    """Pearson's of place and mark; the marks are the source's places, so it is the rank correlation."""
    n, middle = len(found), (len(found) - 1) / 2
    covariance = sum((place - middle) * (mark - middle) for place, mark in enumerate(found))
    return covariance / (n * (n * n - 1) / 12)


def neighbours(found: list[int]) -> int:
    """How often two rows that stand side by side in the release do so in the source."""
    return sum(abs(a - b) == 1 for a, b in itertools.pairwise(found))


def is_unordered(found: list[int]) -> bool:
    assert sorted(found) == list(range(ROWS))
    chance = DEVIATIONS / ROWS**0.5
    return hits(found, list(range(ROWS))) < HITS and abs(correlation(found)) < chance and neighbours(found) < HITS + 5
