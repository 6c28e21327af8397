"""Makes rows for a learner from the contents of a release.

Rows change as little as possible: columns published separately are joined at random within a bucket, and a label or a
range is replaced by a random value below it. These values are as likely as they are frequent in the source: releases
with exact values show these frequencies, and generalization should not be at a disadvantage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import sqlanon
from benchmarks.papers.adult import RELEASE, SENSITIVE, SOURCE, Numbers, Selection

__all__ = ["Rows", "anatomy", "buckets", "generalization", "listed", "mondrian", "sliced_columns", "slicing", "source"]

Reader = Callable[[sqlanon.Connection, Selection, np.random.Generator], "Rows"]
_RANGE = re.compile(r"\[(-?\d+),(-?\d+)\)")


@dataclass(frozen=True)
class Rows:
    """A number for each row and attribute: the value, or the code of a text in its domain."""

    columns: Mapping[str, Numbers]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def _fetched(connection: sqlanon.Connection, selection: Selection, relation: str) -> Rows:
    columns = ", ".join(f"{selection.coded(name)} AS {name}" for name in selection.attributes)
    numbers = connection.duckdb.execute(f"SELECT {columns} FROM {relation}").fetchnumpy()
    return Rows({name: _complete(numbers[name]) for name in selection.attributes})


def _complete(column: Any) -> Numbers:
    """Returns the column. Raises ValueError if a value is NULL: a text outside the domain has no code."""
    if np.ma.is_masked(column):
        raise ValueError("a published value is not of the attribute's domain")
    return np.asarray(column, dtype=np.float64)


def source(connection: sqlanon.Connection, selection: Selection, relation: str) -> Rows:
    """Returns the unchanged rows of a table."""
    return _fetched(connection, selection, relation)


def anatomy(connection: sqlanon.Connection, selection: Selection, generator: np.random.Generator) -> Rows:
    """Returns the first table's rows, each with a random one of its bucket's sensitive values."""
    values = f"SELECT bucket, value AS {SENSITIVE} FROM {RELEASE}_sensitive, range(count)"
    return _joined(connection, selection, generator, [f"FROM {RELEASE}_qi", values])


def slicing(connection: sqlanon.Connection, selection: Selection, generator: np.random.Generator) -> Rows:
    """Returns the rows of all columns, joined at random within each bucket."""
    tables = [f"FROM {RELEASE}_{number + 1}" for number in range(len(sliced_columns(connection)))]
    return _joined(connection, selection, generator, tables)


def sliced_columns(connection: sqlanon.Connection) -> list[list[str]]:
    """Returns the attributes of each column of a sliced release."""
    rows = connection.duckdb.execute(
        "SELECT list(column_name ORDER BY column_index) FROM duckdb_columns() "
        "WHERE regexp_full_match(table_name, $release || '_[0-9]+') AND column_name <> 'bucket' "
        "AND schema_name = 'main' GROUP BY table_name ORDER BY table_name",
        {"release": RELEASE},
    ).fetchall()
    return [names for (names,) in rows]


def listed(columns: Sequence[Sequence[str]]) -> str:
    """Returns the columns as text for the argument COLUMNS."""
    return ", ".join(f"({', '.join(names)})" for names in columns)


def buckets(connection: sqlanon.Connection, read: Reader | None) -> int:
    """Counts the buckets of a release that `read` reads; 0 if it has none."""
    tables: dict[Reader, str] = {anatomy: f"{RELEASE}_qi", slicing: f"{RELEASE}_1"}
    table = tables.get(read) if read else None
    if table is None:
        return 0
    return int(connection.duckdb.execute(f"SELECT count(DISTINCT bucket) FROM {table}").fetchall()[0][0])


def _joined(
    connection: sqlanon.Connection, selection: Selection, generator: np.random.Generator, queries: list[str]
) -> Rows:
    connection.duckdb.execute("SELECT setseed(?)", [generator.random()])
    parts = [
        f"(SELECT *, row_number() OVER (PARTITION BY bucket ORDER BY draw) AS position "
        f"FROM (SELECT *, random() AS draw FROM ({query})))"
        for query in queries
    ]
    joined = " JOIN ".join(parts[:1] + [f"{part} USING (bucket, position)" for part in parts[1:]])
    return _fetched(connection, selection, joined)


def mondrian(connection: sqlanon.Connection, selection: Selection, generator: np.random.Generator) -> Rows:
    """Replaces each range by a random value between its bounds, which the release has in columns of their own."""
    columns = [f"{selection.coded(SENSITIVE)} AS {SENSITIVE}"]
    for name in selection.quasi_identifiers:
        columns += [f"{selection.coded(name, f'{name}_{end}')} AS {name}_{end}" for end in ("low", "high")]
    numbers = connection.duckdb.execute(f"SELECT {', '.join(columns)} FROM {RELEASE}").fetchnumpy()
    ends = {name: _complete(column) for name, column in numbers.items()}
    known = source(connection, selection, SOURCE)
    drawn = {
        name: _drawn(known.columns[name], ends[f"{name}_low"], ends[f"{name}_high"], generator)
        for name in selection.quasi_identifiers
    }
    return Rows(drawn | {SENSITIVE: ends[SENSITIVE]})


def generalization(connection: sqlanon.Connection, selection: Selection, generator: np.random.Generator) -> Rows:
    """Replaces each label by a random value below it."""
    published = connection.duckdb.execute(f"FROM {RELEASE}").fetchnumpy()
    known = source(connection, selection, SOURCE)
    columns = {}
    for name in selection.attributes:
        labels, positions = np.unique(np.asarray(published[name]).astype(str), return_inverse=True)
        ends = np.array([_ends(selection, name, label) for label in labels])
        columns[name] = _drawn(known.columns[name], ends[positions, 0], ends[positions, 1], generator)
    return Rows(columns)


def _ends(selection: Selection, name: str, label: str) -> tuple[float, float]:
    """Returns the least and the greatest value below a label; the values below a label are consecutive."""
    if not selection.numeric(name):
        codes = selection.labels[name][label]
        return min(codes), max(codes)
    if label == "*":
        return -np.inf, np.inf
    if ends := _RANGE.fullmatch(label):
        return float(ends[1]), float(ends[2]) - 1
    return float(label), float(label)


def _drawn(known: Numbers, low: Numbers, high: Numbers, generator: np.random.Generator) -> Numbers:
    """Returns for each pair of ends a random value of the column `known` between them."""
    column = np.sort(known)
    first, last = np.searchsorted(column, low, side="left"), np.searchsorted(column, high, side="right")
    if (first >= last).any():
        raise ValueError("a published range is in another order than its attribute's values")
    return column[generator.integers(first, last)]
