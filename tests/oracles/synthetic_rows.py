"""Trees of pairs of columns by trying all, and counts of single columns and of pairs, each from the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

Row = Sequence[int]


def of_columns(rows: Sequence[Row], columns: Sequence[int]) -> Counter[tuple[int, ...]]:
    """How many rows have each combination of some columns' codes."""
    return Counter(tuple(row[column] for column in columns) for row in rows)


def score(rows: Sequence[Row], pair: tuple[int, int], sizes: Sequence[int]) -> int:
    """How far the counts of a pair are from those of independent columns, each rounded to a whole number."""
    counts, total = of_columns(rows, pair), len(rows)
    first, second = (of_columns(rows, (column,)) for column in pair)
    expected = {
        (a, b): round(first[a,] * second[b,] / total) if total else 0
        for a, b in product(range(sizes[pair[0]]), range(sizes[pair[1]]))
    }
    return sum(abs(counts[key] - expected[key]) for key in expected)


def trees(columns: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """All sets of edges that join all columns and have no circle."""
    pairs = list(combinations(range(columns), 2))
    for edges in combinations(pairs, columns - 1):
        reached = {0}
        for _ in edges:
            reached |= {column for edge in edges if reached & set(edge) for column in edge}
        if len(reached) == columns:
            yield edges


def greatest_tree(scores: Mapping[tuple[int, int], int], columns: int) -> int:
    """The greatest sum of scores that a tree has."""
    return max(sum(scores[edge] for edge in edges) for edges in trees(columns))


def variation(rows: Sequence[Sequence[object]], others: Sequence[Sequence[object]], columns: Sequence[int]) -> float:
    """Half the sum of the differences between two tables' shares of each combination of some columns' values."""
    one, other = (Counter(tuple(row[column] for column in columns) for row in table) for table in (rows, others))
    return sum(abs(one[key] / len(rows) - other[key] / len(others)) for key in one.keys() | other.keys()) / 2
