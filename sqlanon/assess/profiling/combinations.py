"""Counts the distinct values of columns, alone and combined, to find the columns that identify rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.assess.encoded_rows import encoded
from sqlanon.assess.profiling.sample import sizes
from sqlanon.assess.special_uniques import NOT_LOOKED_FOR, SpecialColumns, special_columns
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    huge,
    union_all,
)
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

# The sets that one query counts: DuckDB plans longer queries slowly.
_TOGETHER = 32
# Combinations are counted in an array with one entry each if it has at most this many times the number of rows.
_SPARSE = 8


@dataclass(frozen=True)
class Combinations:
    """The frequency of each combination of values of some columns, in a table of `rows` rows; NULL is a value.

    `values` counts the distinct combinations, `alone` the rows whose combination no other row has, `alike` the ordered
    pairs of different rows with the same combination, and `most` the rows of the most frequent combination.
    """

    columns: tuple[str, ...]
    rows: int
    values: int
    alone: int
    alike: int
    most: int

    @property
    def distinction(self) -> float | None:
        """Combinations per row: the share of rows that remains if each combination is kept once (Motwani, Xu 2007,
        section 2).

        None if there are no rows.
        """
        return self.values / self.rows if self.rows else None

    @property
    def separation(self) -> float | None:
        """The share of the pairs of rows that differ in the columns (ibid.); None if there are no pairs."""
        pairs = self.rows * (self.rows - 1)
        return 1 - self.alike / pairs if pairs else None

    @property
    def unique(self) -> float | None:
        """The share of rows whose combination no other row has; None if there are no rows."""
        return self.alone / self.rows if self.rows else None


@dataclass(frozen=True)
class Search:
    """The counted sets of columns, by the number of columns in a set, and the minimal keys among them.

    `size` is the largest number of columns of a set, and `left_out` the number of columns that were not searched.
    `special` has the columns that make rows special.
    """

    by_size: tuple[tuple[Combinations, ...], ...]
    keys: tuple[Combinations, ...]
    size: int
    left_out: int
    special: SpecialColumns


def count_alone(engine: Engine, table: QualifiedName, columns: Sequence[str]) -> list[Combinations]:
    """Counts the values of each column alone, and returns the counts in the order of the columns."""
    rows = select(alias(huge(f.count()), "n"), of=relation(table))
    return _counted(engine, [((name,), rows.group_by(column(name))) for name in columns])


def search(temp: TempTables, table: QualifiedName, columns: Sequence[Combinations]) -> Search:
    """Counts sets of columns from single columns on, and finds the minimal sets that identify nearly all rows.

    A superset of a key is a key, too, and is skipped. The search stops at a size whose sets would read more cells than
    `sizes().set_cells`. Only single columns are counted if the rows are on another engine and have more combinations
    than may be collected.
    """
    alone = tuple(columns[: sizes().columns])
    keys = [counted for counted in alone if _is_key(counted)]
    by_size = [alone]
    rows = alone[0].rows if alone else 0
    known = {key.columns for key in keys}
    parts = [column.columns[0] for column in alone if column.columns not in known]
    cells = _cells(temp, table, parts)
    codes = _collected(temp, cells, parts)
    for size in range(2, sizes().set_columns + 1):
        if cells is None or len(parts) < size or comb(len(parts), size) * rows > sizes().set_cells:
            break
        sets = [names for names in combinations(parts, size) if not _has_part(names, {key.columns for key in keys})]
        counted = codes.counted(sets) if codes else _sets_of(temp, cells, parts, sets)
        by_size.append(tuple(counted))
        keys += [combination for combination in counted if _is_key(combination)]
    bounds = sizes().set_columns, sizes().special_looks
    special = special_columns(temp, cells, parts, *bounds) if cells else NOT_LOOKED_FOR
    return Search(tuple(by_size), tuple(keys), len(by_size), len(columns) - len(alone), special)


def _sets_of(temp: TempTables, cells: str, parts: Sequence[str], sets: Sequence[tuple[str, ...]]) -> list[Combinations]:
    """Counts these sets of the columns `parts` by queries on a table of `encoded`."""
    rows_of = select(alias(huge(f.sum(column("n"))), "n"), of=relation(cells))
    keys_of = [[column(f"value_{parts.index(name)}") for name in names] for names in sets]
    return _counted(temp.engine, [(names, rows_of.group_by(*key)) for names, key in zip(sets, keys_of, strict=True)])


def _collected(temp: TempTables, cells: str | None, parts: Sequence[str]) -> _Codes | None:
    """Reads a table of `encoded` into memory. Returns None if there is no such table, if it is empty, or if it has more
    than `collected_cells` cells.
    """
    if cells is None:
        return None
    ((rows,),) = temp.engine.rows(select(f.count(), of=relation(cells)))
    if not 0 < rows * len(parts) <= sizes().collected_cells:
        return None
    names = [*(f"value_{i}" for i in range(len(parts))), "n"]
    return _Codes.of(parts, temp.engine.rows(select(*map(column, names), of=relation(cells))))


@dataclass(frozen=True)
class _Codes:
    """Columns of integers from 0 on in place of values, by name; `heights` are the numbers of distinct values of each.

    `weights` has the number of source rows for each row; None if all these numbers are 1.
    """

    codes: dict[str, Whole]
    heights: dict[str, int]
    weights: Whole | None

    @classmethod
    def of(cls, names: Sequence[str], rows: Sequence[Sequence[int]]) -> _Codes:
        """Converts rows of a table of `encoded` to arrays.

        A row has an integer from 1 on for each of the columns `names`, and then the number of source rows.
        """
        import numpy as np

        *columns, weights = np.array(rows, dtype=np.int64).T
        codes = {name: np.ascontiguousarray(codes) - 1 for name, codes in zip(names, columns, strict=True)}
        heights = {name: int(values.max()) + 1 for name, values in codes.items()}
        return cls(codes, heights, None if weights.max() == 1 else np.ascontiguousarray(weights))

    def counted(self, sets: Sequence[tuple[str, ...]]) -> list[Combinations]:
        """Counts the combinations of each set; consecutive sets with the same first columns share their codes."""
        before: tuple[str, ...] = ()
        first: tuple[Whole, int] | None = None
        counted = []
        for names in sets:
            *head, last = names
            if first is None or tuple(head) != before:
                before, first = tuple(head), self._codes_of(head)
            codes, height = first
            together = codes * self.heights[last] + self.codes[last]
            counted.append(self._figures(names, together, height * self.heights[last]))
        return counted

    def _codes_of(self, names: Sequence[str]) -> tuple[Whole, int]:
        """Returns an integer for each row's combination of the columns, and a bound above all of these integers."""
        import numpy as np

        if len(names) == 1:
            return self.codes[names[0]], self.heights[names[0]]
        codes, height = self._codes_of(names[:-1])
        codes, height = codes * self.heights[names[-1]] + self.codes[names[-1]], height * self.heights[names[-1]]
        if height <= len(codes):
            return codes, height
        values, codes = np.unique(codes, return_inverse=True)
        return codes.astype(np.int64), len(values)

    def _figures(self, names: tuple[str, ...], codes: Whole, height: int) -> Combinations:
        """Returns the counts of a set from the code of each row, which is an integer below `height`."""
        import numpy as np

        if height <= _SPARSE * len(codes):
            # Sums of weights are exact, because they are below 2**53.
            counts = np.bincount(codes, self.weights, minlength=height)
            counts = counts[counts > 0].astype(np.int64)
        elif self.weights is None:
            ordered = np.sort(codes)
            starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
            counts = np.diff(np.append(starts, len(ordered)))
        else:
            order = np.argsort(codes)
            ordered = codes[order]
            starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
            counts = np.add.reduceat(self.weights[order], starts)
        rows, alike = int(counts.sum()), int((counts * (counts - 1)).sum())
        return Combinations(names, rows, len(counts), int((counts == 1).sum()), alike, int(counts.max()))


def _is_key(counted: Combinations) -> bool:
    return counted.unique is not None and counted.rows > 1 and counted.unique >= sizes().key


def _has_part(names: tuple[str, ...], keys: set[tuple[str, ...]]) -> bool:
    return any(set(key) <= set(names) for key in keys)


def _cells(temp: TempTables, table: QualifiedName, columns: Sequence[str]) -> str | None:
    """Makes the table of `encoded`; returns None for fewer than two columns, and for more combinations than may be
    collected.
    """
    if len(columns) < 2:
        return None
    try:
        return encoded(temp, relation(table), columns, number_nulls=True)
    except TooManyRows:
        return None


def _counted(engine: Engine, groups: Sequence[tuple[tuple[str, ...], exp.Select]]) -> list[Combinations]:
    """Counts the combinations of sets of columns, each from a query with the rows `n` of each combination."""
    counted: list[Combinations] = []
    for start in range(0, len(groups), _TOGETHER):
        part = groups[start : start + _TOGETHER]
        queries = [_figures(number, query) for number, (_, query) in enumerate(part)]
        for number, *figures in sorted(engine.rows(union_all(queries))):
            counted.append(Combinations(part[number][0], *map(int, figures)))
    return counted


def _figures(number: int, groups: exp.Query) -> exp.Query:
    text = """
        SELECT $number AS number, coalesce(sum(n), 0) AS total, count(*) AS values,
          count(*) FILTER (WHERE n = 1) AS alone, coalesce(sum(n * (n - 1)), 0) AS alike, coalesce(max(n), 0) AS most
        FROM combination
    """
    return filled_query(text, tables={"combination": groups}, number=number)
