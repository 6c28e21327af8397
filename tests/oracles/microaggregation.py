"""Microaggregation in plain Python, from the definitions, with exact fractions.

MDAV follows Domingo-Ferrer and Torra (2005); the earlier row wins a tie. The best partition of one column is the best
of all partitions (Hansen and Mukherjee 2003 prove that groups of neighbors suffice). The loss is SSE / SST.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

__all__ = ["Row", "best_neighbors", "best_partition", "mdav", "mean", "share", "squares", "variances"]

Row = Sequence[Fraction]
# The rows of each group, by their numbers.
Groups = Sequence[Sequence[int]]


def mean(rows: Sequence[Row]) -> Row:
    return [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]


def variances(rows: Sequence[Row]) -> Row:
    """Returns the variance of each column; 1 for a column whose values are all equal."""
    middle = mean(rows)
    squares = (
        sum(((value - at) ** 2 for value in column), Fraction(0)) / len(rows)
        for column, at in zip(zip(*rows, strict=True), middle, strict=True)
    )
    return [square or Fraction(1) for square in squares]


def _distance(row: Row, other: Row, scale: Row) -> Fraction:
    """Returns the squared distance of two rows, with the square of each column's difference divided by its `scale`."""
    return sum(((a - b) ** 2 / by for a, b, by in zip(row, other, scale, strict=True)), Fraction(0))


def _near(rows: Sequence[Row], left: Sequence[int], to: int, k: int, scale: Row) -> list[int]:
    others = sorted((n for n in left if n != to), key=lambda n: (_distance(rows[n], rows[to], scale), n))
    return [to, *others[: k - 1]]


def _farthest(rows: Sequence[Row], left: Sequence[int], point: Row, scale: Row) -> int:
    return min(left, key=lambda n: (-_distance(rows[n], point, scale), n))


def mdav(rows: Sequence[Row], k: int, scale: Row) -> list[list[int]]:
    """Returns the groups of k rows or more, in the order in which they are made."""
    left, groups = list(range(len(rows))), []
    while len(left) >= 3 * k:
        r = _farthest(rows, left, mean([rows[n] for n in left]), scale)
        s = _farthest(rows, left, rows[r], scale)
        groups.append(_near(rows, left, r, k, scale))
        left = [n for n in left if n not in groups[-1]]
        if s not in left:
            s = _farthest(rows, left, rows[r], scale)
        groups.append(_near(rows, left, s, k, scale))
        left = [n for n in left if n not in groups[-1]]
    if len(left) >= 2 * k:
        r = _farthest(rows, left, mean([rows[n] for n in left]), scale)
        groups.append(_near(rows, left, r, k, scale))
        left = [n for n in left if n not in groups[-1]]
    return [*groups, left]


def squares(rows: Sequence[Row], groups: Groups, scale: Row) -> Fraction:
    """Returns SSE: the sum of the squared distances of rows from the mean of their group."""
    total = Fraction(0)
    for group in groups:
        middle = mean([rows[n] for n in group])
        total += sum(_distance(rows[n], middle, scale) for n in group)
    return total


def share(rows: Sequence[Row], groups: Groups, scale: Row) -> Fraction:
    """Returns SSE / SST; 0 if all rows are equal."""
    total = squares(rows, [range(len(rows))], scale)
    return squares(rows, groups, scale) / total if total else Fraction(0)


def _partitions(items: Sequence[int], k: int) -> Iterator[list[list[int]]]:
    """Yields all partitions of the items into sets of at least k."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for mask in range(2 ** len(rest)):
        group = [first, *(item for place, item in enumerate(rest) if mask >> place & 1)]
        if len(group) >= k:
            for others in _partitions([item for item in rest if item not in group], k):
                yield [group, *others]


def best_partition(values: Sequence[Fraction], k: int) -> Fraction:
    """Returns the least SSE of all partitions of values into groups of k or more, for at most a few values."""
    rows = [[value] for value in values]
    return min(squares(rows, groups, [Fraction(1)]) for groups in _partitions(range(len(values)), k))


def best_neighbors(values: Sequence[Fraction], k: int) -> Fraction:
    """Returns the least SSE of the partitions into groups of k or more neighbors, for more values than
    `best_partition`.
    """
    ordered = sorted(values)
    least: list[Fraction | None] = [Fraction(0), *([None] * len(values))]
    for end in range(k, len(ordered) + 1):
        for start in range(end - k + 1):
            before = least[start]
            if before is not None:
                rows = [[value] for value in ordered[start:end]]
                total = before + squares(rows, [range(len(rows))], [Fraction(1)])
                known = least[end]
                least[end] = total if known is None else min(total, known)
    found = least[-1]
    assert found is not None
    return found
