"""Finds minimal sample uniques: the smallest sets of columns in which a row is unique.

Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem (2002); Manning, Haglin
and Keane, A recursive search algorithm for statistical disclosure assessment (2008).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, prod
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.assess.encoded_rows import encoded
from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    filtered,
    infix,
    paren,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import filled, filled_select, query_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A set of columns is a bit mask in a signed integer of 64 bits.
MOST_COLUMNS = 63
# The most integers in memory, of 8 bytes each: one for each cell and each set of the size before the largest.
_MOST_NUMBERS = 20_000_000
# Codes are counted in an array of at most `_SHORT` entries, or `_SPARSE` times the number of cells.
_SHORT, _SPARSE = 1_000_000, 4
_OWN = "own"
_ROW, _SET = "r", "s"


@dataclass(frozen=True)
class _Special:
    """The minimal sample uniques: their number by set of columns, the rows by their numbers of sets of each size, and
    the rows by column.

    `sets` counts the rows of each set. `rows` has tuples (sets of size 1, sets of size 2, ..., n): n rows have these
    numbers of sets. `columns` counts, for each column, the rows that have a set which contains the column.
    """

    sets: Mapping[frozenset[int], int]
    rows: Sequence[tuple[Sequence[int], int]]
    columns: tuple[int, ...]


@dataclass(frozen=True)
class SpecialUniques:
    """The minimal sample uniques of the rows of a table.

    A minimal sample unique of a row is a minimal set of columns in which no other row has the same values. `sets`
    counts the minimal sample uniques of each set of columns, by their indexes, and `scores` counts the rows with each
    score. `special` counts, for each column, the rows with a minimal sample unique that contains it. `unique` is the
    number of rows that no other row equals in all columns, `pairs` the number of pairs of rows that are equal to each
    other and to no other row.
    """

    columns: int
    largest: int
    sets: Mapping[frozenset[int], int]
    scores: Mapping[Fraction, int]
    special: tuple[int, ...]
    unique: int
    pairs: int

    def contribution(self, index: int, score: str) -> Fraction | None:
        """Returns the share of all scores that sets with this column contribute; None if no row has a score.

        Because a set counts for each of its columns, the shares of all columns add up to more than 1.
        """
        weights = {s: n * score_of(score, self.columns, len(s), self.largest) for s, n in self.sets.items()}
        total = sum(weights.values(), Fraction(0))
        return sum((w for s, w in weights.items() if index in s), Fraction(0)) / total if total else None

    def risk(self, score: Fraction, fraction: Fraction) -> float | None:
        """Returns DIS-SUDA: a row's score, rescaled so that its harmonic mean over the unique rows is theta.

        Theta is the probability that the only match of a unique row is the right person, if the rows are a sample of
        this fraction of the population. The result is None if no row is unique, if no two rows are a pair, or for a
        score of 0.
        """
        if not (self.unique and self.pairs and score):
            return None
        theta = fraction * self.unique / (fraction * self.unique + 2 * (1 - fraction) * self.pairs)
        power = 1 + (8 - self.columns) / 20
        inverse = sum(rows / float(other**power) for other, rows in self.scores.items() if other)
        return 1 / (1 + float(self.unique / theta - self.unique) / (float(score**power) * inverse))


def score_of(score: str, columns: int, size: int, largest: int) -> Fraction:
    """Returns the score of a minimal sample unique of `size` columns in a search of sets of up to `largest`."""
    if score == "elliot":
        return Fraction(prod(columns - i for i in range(size, largest)))
    return Fraction((2 ** (columns - size) - 1) * factorial(size) * factorial(columns - size), factorial(columns))


def special_uniques(
    temp: TempTables, rows: exp.Table | exp.Subquery, names: Sequence[str], largest: int, score: str, missing: str
) -> SpecialUniques:
    """Finds the minimal sample uniques of a relation in the columns `names`, at most `MOST_COLUMNS`.

    NULL is in no set, unless `missing` is 'own', by which it is a value.
    """
    return special_uniques_of(
        temp, encoded(temp, rows, names, number_nulls=missing == _OWN), len(names), largest, score
    )


def special_uniques_of(
    temp: TempTables, cells: str, columns: int, largest: int, score: str, most_numbers: int = _MOST_NUMBERS
) -> SpecialUniques:
    """Finds the minimal sample uniques in a table of `encoded`; NULL is in no set.

    It searches in memory if this needs at most `most_numbers` integers, otherwise by queries.
    """
    engine = temp.engine
    sizes = select(f.count(), *(filtered(f.count(), column("n").eq(literal(n))) for n in (1, 2)))
    ((count, unique, pairs),) = engine.rows(extend(sizes, of=relation(cells)))
    look = _in_memory if _numbers(count, columns, largest) <= most_numbers else _by_queries
    special = look(temp, cells, columns, largest)
    weights = [score_of(score, columns, size, largest) for size in range(1, largest + 1)]
    scores: Counter[Fraction] = Counter()
    for of_sizes, n in special.rows:
        scores[sum((weight * m for weight, m in zip(weights, of_sizes, strict=True)), Fraction(0))] += n
    return SpecialUniques(columns, largest, special.sets, scores, special.columns, unique, pairs)


@dataclass(frozen=True)
class SpecialColumn:
    """A column in the minimal sample uniques of `rows` rows; `contribution` is its share of all scores."""

    name: str
    rows: int
    contribution: float


@dataclass(frozen=True)
class SpecialColumns:
    """The columns that make rows special, in descending order of their contribution.

    Minimal sample uniques of at most `size` columns count; size 0 means that there was no search.
    """

    columns: tuple[SpecialColumn, ...]
    size: int


NOT_LOOKED_FOR = SpecialColumns((), 0)


def special_columns(
    temp: TempTables, cells: str, names: Sequence[str], most_columns: int = 3, most_looks: int = 50_000_000
) -> SpecialColumns:
    """Finds the columns that make the rows of a table of `encoded` special, by Elliot's score, in a bounded time.

    Sets have at most `most_columns` columns, and fewer if the search would take more than `most_looks` steps of about
    10 ns, one for each cell and set. If these steps are too few even for pairs of columns, there is no search.
    """
    ((count,),) = temp.engine.rows(select(f.count(), of=relation(cells)))
    largest = _largest_in_memory(count, len(names), most_columns, most_looks)
    if largest < min(2, len(names)):
        return NOT_LOOKED_FOR
    unique = special_uniques_of(temp, cells, len(names), largest, "elliot")
    special = [
        SpecialColumn(name, unique.special[i], float(unique.contribution(i, "elliot") or 0))
        for i, name in enumerate(names)
        if unique.special[i]
    ]
    return SpecialColumns(tuple(sorted(special, key=lambda each: -each.contribution)), largest)


def _largest_in_memory(cells: int, columns: int, most_columns: int, most_looks: int) -> int:
    """Returns the size of the largest sets, up to `most_columns`, that can be searched in memory; 0 if there are
    none.
    """
    largest, looks = 0, 0
    for size in range(1, min(columns, most_columns) + 1):
        looks += comb(columns, size) * cells
        if looks > most_looks or _numbers(cells, columns, size) > _MOST_NUMBERS:
            break
        largest = size
    return largest


def _numbers(cells: int, columns: int, largest: int) -> int:
    """Returns the number of integers in memory during a search of sets of up to `largest` columns."""
    return cells * max((comb(columns, size) for size in range(1, largest)), default=1)


def _in_memory(temp: TempTables, cells: str, columns: int, largest: int) -> _Special:
    """Finds minimal sample uniques size by size, with one integer for each cell and set in memory."""
    import numpy as np

    values = [alias(f.coalesce(column(f"value_{i}"), literal(0)), f"value_{i}") for i in range(columns)]
    arrays = temp.engine.arrays(select(*values, column("n"), of=relation(cells)))
    codes = [np.asarray(arrays[f"value_{i}"], dtype=np.int64) for i in range(columns)]
    is_single = np.asarray(arrays["n"]) == 1
    present = [values > 0 for values in codes]
    length = len(is_single)
    heights = [int(values.max(initial=0)) + 1 for values in codes]
    sets: dict[frozenset[int], int] = {}
    of_sizes = np.zeros((largest, length), dtype=np.int32)
    of_columns = np.zeros((columns, length), dtype=np.bool_)
    # Of the sets with one column less: the code of each cell with its height, and whether the cell is unique in a part.
    narrower: dict[tuple[int, ...], tuple[NDArray[np.int64], int]] = {(): (np.zeros(length, dtype=np.int64), 1)}
    unique: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.zeros(length, dtype=np.bool_)}
    for size in range(1, largest + 1):
        coded: dict[tuple[int, ...], tuple[NDArray[np.int64], int]] = {}
        also: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        for chosen in combinations(range(columns), size):
            (before, height), last = narrower[chosen[:-1]], chosen[-1]
            together, height = before * heights[last] + codes[last], height * heights[last]
            if height > max(_SHORT, _SPARSE * length):
                together = np.unique(together, return_inverse=True)[1]
                height = length
            minimal = np.bincount(together, minlength=height)[together] == 1
            minimal &= is_single
            part = np.logical_or.reduce([unique[chosen[:i] + chosen[i + 1 :]] for i in range(size)])
            minimal &= ~part
            for i in chosen:
                minimal &= present[i]
            if size < largest:
                coded[chosen], also[chosen] = (together, height), part | minimal
            if n := int(np.count_nonzero(minimal)):
                sets[frozenset(chosen)] = n
                of_sizes[size - 1] += minimal
                for i in chosen:
                    of_columns[i] |= minimal
        narrower, unique = coded, also
    alike, numbers = np.unique(of_sizes[:, of_sizes.any(axis=0)], axis=1, return_counts=True)
    rows = list(zip(alike.T.tolist(), numbers.tolist(), strict=True))
    return _Special(sets, rows, tuple(of_columns.sum(axis=1).tolist()))


def _by_queries(temp: TempTables, cells: str, columns: int, largest: int) -> _Special:
    """Finds minimal sample uniques by two queries: the first query groups by all sets, and the second compares the sets
    of each row.
    """
    unique_sets = temp.table("unique", _unique_sets(cells, columns, largest))
    minimal = relation(temp.table("minimal", _minimal(unique_sets, columns)))
    bits = [2 ** (columns - 1 - i) for i in range(columns)]
    counted = select(column(_SET), f.count(), of=minimal, group_by=[column(_SET)])
    sets = temp.engine.rows(counted)
    figures = [filtered(f.count(), f.call("bit_count", column(_SET)).eq(literal(n))) for n in range(1, largest + 1)]
    with_column = [
        alias(paren(infix(f.bit_or(column(_SET)), "&", literal(bit))).neq(0), f"column_{i}")
        for i, bit in enumerate(bits)
    ]
    of_sizes = [alias(figure, f"size_{n}") for n, figure in enumerate(figures, 1)]
    of_rows = temp.table("row", select(*of_sizes, *with_column, of=minimal, group_by=[column(_ROW)]))
    keys = [column(figure.alias) for figure in of_sizes]
    alike = select(*keys, f.count(), of=relation(of_rows), group_by=keys)
    special = [filtered(f.count(), column(flag.alias)) for flag in with_column]
    ((*numbers,),) = temp.engine.rows(select(*special, of=relation(of_rows)))
    return _Special(
        {frozenset(i for i, bit in enumerate(bits) if mask & bit): n for mask, n in sets},
        [(row[:-1], row[-1]) for row in temp.engine.rows(alike)],
        tuple(numbers),
    )


def _unique_sets(cells: str, columns: int, largest: int) -> exp.Select:
    """SELECT of r, s: each row with the sets of columns in which it is unique, as bit masks; the highest bit is the
    first column.
    """
    names = [f"value_{i}" for i in range(columns)]
    sizes = range(1, largest + 1)
    sets = [exp.Tuple(expressions=[*map(column, chosen)]) for size in sizes for chosen in combinations(names, size)]
    # A cell of several rows has no number, because its rows are not unique.
    text = """
        SELECT any_value(r) AS r, CAST($whole AS BIGINT) - grouping_id({names}) AS s
        FROM (SELECT {names}, CASE WHEN n = 1 THEN row_number() OVER () END AS r FROM "{cells}") AS numbered
        GROUP BY GROUPING SETS ($sets)
        HAVING count(*) = 1 AND NOT any_value(r) IS NULL AND $known
    """
    known = [filled("grouping({name}) = 1 OR NOT {name} IS NULL", names={"name": name}) for name in names]
    return filled_select(text, names={"names": names, "cells": cells}, whole=2**columns - 1, sets=sets, known=known)


def _minimal(unique_sets: str, columns: int) -> exp.Query:
    """SELECT of r, s: the unique sets without a proper subset in which the row is unique, too."""
    bits = [2**column for column in range(columns)]
    return query_file("profiles", "minimal_sets", names={"sets": unique_sets}, bits=bits)
