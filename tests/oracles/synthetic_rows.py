"""Trees of pairs of columns by enumeration, and counts of single columns and of pairs, each from the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

Row = Sequence[int]


def of_columns(rows: Sequence[Row], columns: Sequence[int]) -> Counter[tuple[int, ...]]:
    """Counts the rows with each combination of the codes of some columns."""
    return Counter(tuple(row[column] for column in columns) for row in rows)


def score(rows: Sequence[Row], pair: tuple[int, int], sizes: Sequence[int]) -> int:
    """Returns the distance of a pair's counts from the counts of independent columns, which are rounded."""
    counts, total = of_columns(rows, pair), len(rows)
    first, second = (of_columns(rows, (column,)) for column in pair)
    expected = {
        (a, b): round(first[a,] * second[b,] / total) if total else 0
        for a, b in product(range(sizes[pair[0]]), range(sizes[pair[1]]))
    }
    return sum(abs(counts[key] - expected[key]) for key in expected)


def trees(columns: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yields all spanning trees of the columns, as sets of edges."""
    pairs = list(combinations(range(columns), 2))
    for edges in combinations(pairs, columns - 1):
        reached = {0}
        for _ in edges:
            reached |= {column for edge in edges if reached & set(edge) for column in edge}
        if len(reached) == columns:
            yield edges


def greatest_tree(scores: Mapping[tuple[int, int], int], columns: int) -> int:
    """Returns the greatest sum of scores of a spanning tree."""
    return max(sum(scores[edge] for edge in edges) for edges in trees(columns))


def variation(rows: Sequence[Sequence[object]], others: Sequence[Sequence[object]], columns: Sequence[int]) -> float:
    """Returns half the sum of differences between two tables' shares of each combination of values of some columns."""
    one, other = (Counter(tuple(row[column] for column in columns) for row in table) for table in (rows, others))
    return sum(abs(one[key] / len(rows) - other[key] / len(others)) for key in one.keys() | other.keys()) / 2
