"""Measures what a sliced release reveals about membership: the tuples that match a bucket, in the source or not.

`nearest` searches for the columns and the version of OCC-7 with the printed figures of Slicing (2012), section 6.3. The
paper names its columns for five of them, and not for two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks.papers import adult, releases
from benchmarks.papers.adult import OCC_7, RELEASE, Selection
from benchmarks.papers.statements import table

__all__ = [
    "AGES",
    "COLUMNS",
    "Matched",
    "Version",
    "counted",
    "intervals",
    "lines",
    "matched",
    "measured",
    "most_tuples",
    "nearest",
    "number_parts",
    "partitions",
    "version",
]

Codes = NDArray[np.int64]

# Tuples are not counted one by one if the product of the columns' numbers of values exceeds this.
_MOST_TUPLES = 20_000_000
_L = 2
_DEALT = "dealt"
_STATEMENT = f"METHOD slicing, l = {_L}"
_HEADS = (
    *("buckets of", "columns", "release", "buckets", "rows, mean", "original", "fake", "fake / original"),
    *("buckets that originals match, mean", "up to 10", "11 to 20", "more"),
    *("that fakes match, mean", "up to 10", "11 to 20", "more"),
)


def lines(
    connection: sqlanon.Connection, selection: Selection, sizes: Sequence[int], columns: Sequence[int], seed: int
) -> Iterator[str]:
    """Yields the lines of two tables: for each number of columns and bucket size the tuples and their matching buckets.

    Each has two releases: random buckets of exactly this size, as in the paper, with the columns that slicing finds;
    and a statement's release, whose buckets are merged until they are l-diverse, with the sensitive attribute in its
    own column. The second table has the columns.
    """
    yield f"| {selection.name}: {' | '.join(_HEADS)} |"
    yield "| ---: | ---: | --- |" + " ---: |" * (len(_HEADS) - 3)
    adult.take(connection, selection)
    policy = adult.declare(connection, selection, f"l_diversity(l => {_L}, variant => 'probabilistic')")
    connection.duckdb.execute("SELECT setseed(?)", [1 / (1 + seed)])
    found = []
    for number in columns:
        tables = _released(connection, policy, number, "grouping => 'random', bucket_size => 1000")
        found.append((number, "random", tables))
        for size in sizes:
            _deal(connection, tables, size)
            yield f"| {size:,} | {number} | random | {' | '.join(_cells(connection, _DEALT, tables))} |"
        for size in sizes:
            grouping = f"sensitive_attributes => 1, grouping => 'random', bucket_size => {size}"
            alone = _released(connection, policy, number, grouping)
            yield f"| {size:,} | {number} | {_STATEMENT} | {' | '.join(_cells(connection, RELEASE, alone))} |"
        found.append((number, _STATEMENT, alone))
    yield ""
    yield f"| {selection.name}: columns | release | they are |"
    yield "| ---: | --- | --- |"
    for number, name, tables in found:
        yield f"| {number} | {name} | {releases.listed(tables)} |"


def _released(connection: sqlanon.Connection, policy: str, columns: int, arguments: str) -> list[list[str]]:
    """Makes a release, and returns the attributes of each of its columns."""
    call = f"slicing(l => {_L}, columns => {columns}, {arguments})"
    connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {RELEASE} AS POLICY {policy} METHOD {call}")
    return releases.sliced_columns(connection)


def _deal(connection: sqlanon.Connection, tables: Sequence[Sequence[str]], size: int) -> None:
    """Assigns the source's rows to random buckets of `size` rows, in a table for each column."""
    connection.duckdb.execute(
        f"CREATE OR REPLACE TEMP TABLE {_DEALT} AS SELECT *, (row_number() OVER (ORDER BY draw) - 1) // {size} AS "
        f"bucket FROM (SELECT *, random() AS draw FROM {adult.SOURCE})"
    )
    for number, names in enumerate(tables, 1):
        connection.duckdb.execute(
            f"CREATE OR REPLACE TEMP TABLE {_DEALT}_{number} AS SELECT bucket, {', '.join(names)} FROM {_DEALT}"
        )


def _cells(connection: sqlanon.Connection, prefix: str, tables: Sequence[Sequence[str]]) -> list[str]:
    """Returns the numbers of buckets and tuples of the release, and shares of tuples by matching buckets."""
    query = f"SELECT count(DISTINCT bucket), count(*) / count(DISTINCT bucket) FROM {prefix}_1"
    buckets, rows = connection.duckdb.execute(query).fetchall()[0]
    number_parts(connection, prefix, tables)
    originals, tuples = most_tuples(connection, len(tables))
    about = [f"{buckets:,}", f"{rows:.1f}", f"{originals:,}"]
    if tuples > _MOST_TUPLES:
        most = min(tuples, _combinations(connection, len(tables))) - originals
        return [*about, f"at most {most:,}", f"at most {most / originals:,.0f}", *([""] * 8)]
    original, fake = measured(connection) if prefix == RELEASE else counted(connection, len(tables))
    return [*about, f"{fake[0]:,.0f}", f"{fake[0] / originals:.2f}", *_shares(original), *_shares(fake)]


def _shares(figures: Sequence[float]) -> list[str]:
    return [f"{figures[1]:.1f}", *(f"{100 * share:.1f} %" for share in figures[2:])]


def number_parts(connection: sqlanon.Connection, prefix: str, tables: Sequence[Sequence[str]]) -> None:
    """Creates tables that number each combination of a column's values: by bucket, and by row of the source."""
    for number, names in enumerate(tables, 1):
        columns = ", ".join(names)
        connection.duckdb.execute(
            f"CREATE OR REPLACE TEMP TABLE combination_{number} AS SELECT *, row_number() OVER () AS part_{number} "
            f"FROM (SELECT DISTINCT {columns} FROM {adult.SOURCE})"
        )
        connection.duckdb.execute(
            f"CREATE OR REPLACE TEMP TABLE column_{number} AS SELECT DISTINCT bucket, part_{number} "
            f"FROM {prefix}_{number} JOIN combination_{number} USING ({columns})"
        )
    joins = " ".join(f"JOIN combination_{number} USING ({', '.join(names)})" for number, names in enumerate(tables, 1))
    parts = _listed(len(tables))
    connection.duckdb.execute(
        f"CREATE OR REPLACE TEMP TABLE original AS SELECT DISTINCT {parts} FROM {adult.SOURCE} {joins}"
    )


def _listed(count: int) -> str:
    return ", ".join(f"part_{number}" for number in range(1, count + 1))


def most_tuples(connection: sqlanon.Connection, count: int) -> tuple[int, int]:
    """Returns the number of the source's distinct tuples, and an upper bound of the tuples that match a bucket.

    The bound counts a tuple once for each bucket that it matches.
    """
    joins = " JOIN ".join(
        ["(SELECT bucket, count(*)::HUGEINT AS n FROM column_1 GROUP BY bucket) AS c_1"]
        + [
            f"(SELECT bucket, count(*)::HUGEINT AS n FROM column_{number} GROUP BY bucket) AS c_{number} USING (bucket)"
            for number in range(2, count + 1)
        ]
    )
    product = " * ".join(f"c_{number}.n" for number in range(1, count + 1))
    query = f"SELECT (SELECT count(*) FROM original), (SELECT sum({product}) FROM {joins})"
    originals, tuples = connection.duckdb.execute(query).fetchall()[0]
    return int(originals), int(tuples)


def _combinations(connection: sqlanon.Connection, count: int) -> int:
    """Counts the tuples that would match if all rows were one bucket."""
    return prod(
        int(connection.duckdb.execute(f"SELECT count(*) FROM combination_{number}").fetchall()[0][0])
        for number in range(1, count + 1)
    )


def measured(connection: sqlanon.Connection) -> list[list[float]]:
    """Returns `counted` of a release's originals, then of its fakes, as MEASURE reports it."""
    rows = connection.sql(f"MEASURE {RELEASE} WITH FIGURES (membership)").fetchall()
    figures = {figure: float(value) for _, figure, _, value in rows}
    ends = ("", "_at_most_10", "_11_to_20", "_above_20")
    return [
        [figures[kind], *(figures[f"matching_buckets_{kind}{end}"] for end in ends)] for kind in ("original", "fake")
    ]


def counted(connection: sqlanon.Connection, count: int) -> list[list[float]]:
    """Returns for originals, then for fakes, the count, the mean number of matching buckets, and shares by it."""
    joins = " JOIN ".join(["column_1", *(f"column_{number} USING (bucket)" for number in range(2, count + 1))])
    parts = _listed(count)
    query = f"""
        WITH matching AS (SELECT {parts}, count(*) AS buckets FROM {joins} GROUP BY {parts}),
             parted AS (SELECT buckets, known FROM matching LEFT JOIN (SELECT *, true AS known FROM original)
                        USING ({parts}))
        SELECT count(*), coalesce(avg(buckets), 0), coalesce(avg((buckets <= 10)::INTEGER), 0),
               coalesce(avg((buckets BETWEEN 11 AND 20)::INTEGER), 0), coalesce(avg((buckets > 20)::INTEGER), 0)
        FROM parted WHERE coalesce(known, false) = ?
    """
    return [list(connection.duckdb.execute(query, [known]).fetchall()[0]) for known in (True, False)]


# Columns of a release, each with the positions of its attributes.
Partition = tuple[tuple[int, ...], ...]

_SIZE = 100
# The sensitive column of section 6.2, (sex, occupation), and the other attributes; ages in intervals of five years.
COLUMNS: Partition = ((0, 1, 2, 3, 4), (5, 6))
AGES = 15
# The columns that slicing finds by correlation: (age, education, marital_status, race), (workclass, sex, occupation).
_CORRELATED: Partition = ((0, 2, 3, 4), (1, 5, 6))
_FEW_AGES, _MANY_AGES = (4, 5, 7, 8, 10, 15), (12, 13, 14, 15, 16, 17, 18, 20)
# A partition into three columns is left out if two of its columns, merged, have more fakes than this multiple of the
# printed number.
_FACTOR = 1.5


@dataclass(frozen=True)
class Version:
    """Rows of OCC-7 in a random order, with a code for each value."""

    name: str
    codes: Codes


@dataclass(frozen=True)
class Matched:
    """Numbers of tuples that match a bucket: fakes, and fakes and originals that match more than 20 buckets."""

    fakes: int
    often: int
    rows_often: int
    rows: int
    tuples: int
    tuples_often: int

    @property
    def distance(self) -> float:
        """The sum of the logarithms of the factors between the figures and the printed ones."""
        ours = (self.fakes, self.often, self.rows_often)
        return sum(abs(log(max(number, 1) / told)) for number, told in zip(ours, PRINTED, strict=True))

    def cells(self) -> tuple[str, ...]:
        numbers = (self.fakes, self.often, self.rows_often)
        share, distinct = self.rows_often / self.rows, self.tuples_often / self.tuples
        return (*(f"{number:,}" for number in numbers), f"{100 * share:.1f} %", f"{100 * distinct:.1f} %")


_COUNTED = ("fakes", "fakes in more than 20 buckets", "rows in more than 20", "share of rows", "of distinct tuples")
# Fakes, fakes in more than 20 buckets, and originals in more than 20 buckets.
PRINTED = (87_936, 5_325, 31_452)


def version(connection: sqlanon.Connection, name: str, relation: str = "people", ages: int | None = None) -> Version:
    """Returns a version of the data; `ages` has the number of intervals of equal width into which ages are cut."""
    age = "age" if ages is None else f"least((age - 17) * {ages} // (90 - 17), {ages - 1})"
    terms = [age if attribute == "age" else attribute for attribute in OCC_7.attributes]
    ranks = ", ".join(f"dense_rank() OVER (ORDER BY {term}) - 1" for term in terms)
    rows = connection.duckdb.execute(f"SELECT {ranks} FROM {relation} ORDER BY hash(number), number").fetchall()
    return Version(name, np.array(rows, np.int64))


def partitions(count: int, number: int) -> Iterator[Partition]:
    """Yields the ways to divide attributes, given by their positions, into a number of columns."""

    def grown(position: int, parts: list[list[int]]) -> Iterator[Partition]:
        if position == count:
            if len(parts) == number:
                yield tuple(map(tuple, parts))
            return
        for part in parts:
            part.append(position)
            yield from grown(position + 1, parts)
            part.pop()
        if len(parts) < number:
            parts.append([position])
            yield from grown(position + 1, parts)
            parts.pop()

    yield from grown(0, [])


def matched(data: Version, columns: Partition) -> Matched | None:
    """Returns what matches random buckets; None if there are more than `_FACTOR` times as many fakes as printed."""
    parts = [_combined(data.codes, column) for column in columns]
    widths = [int(part.max()) + 1 for part in parts]
    rows = np.zeros(len(data.codes), np.int64)
    for part, width in zip(parts, widths, strict=True):
        rows = rows * width + part
    keys: list[Codes] = []
    most = _FACTOR * PRINTED[0] + len(np.unique(rows))
    starts = range(0, len(rows), _SIZE)
    for position, start in enumerate(starts):
        key = np.zeros(1, np.int64)
        for part, width in zip(parts, widths, strict=True):
            key = (key[:, None] * width + np.unique(part[start : start + _SIZE])[None, :]).ravel()
        keys.append(key)
        # Tuples of one bucket are distinct, so a large bucket is enough.
        if len(columns) > 2 and (
            len(key) > most or (position in (2, 10, 50) and len(np.unique(np.concatenate(keys))) > most)
        ):
            return None
    tuples, buckets = np.unique(np.concatenate(keys), return_counts=True)
    originals = np.unique(rows)
    known = np.isin(tuples, originals, assume_unique=True)
    own = buckets[np.searchsorted(tuples, rows)]
    often = buckets > 20
    return Matched(
        int((~known).sum()),
        int((often & ~known).sum()),
        int((own > 20).sum()),
        len(rows),
        len(originals),
        int((often & known).sum()),
    )


def _combined(codes: Codes, column: Sequence[int]) -> Codes:
    key = np.zeros(len(codes), np.int64)
    for position in column:
        key = key * (codes[:, position].max() + 1) + codes[:, position]
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def intervals(connection: sqlanon.Connection) -> Iterator[str]:
    """Yields a table with the figures of chosen columns, for exact ages and ages in intervals of equal width."""
    heads = ("ages", "columns", *_COUNTED)
    exact = version(connection, "exact")
    rows: list[Sequence[str]] = []
    for data, way in [(exact, _CORRELATED), (exact, COLUMNS)]:
        rows += [(data.name, _shown(way), *found.cells()) for found in [matched(data, way)] if found]
    for ages in _MANY_AGES:
        data = version(connection, f"{ages} intervals", ages=ages)
        rows += [(data.name, _shown(COLUMNS), *found.cells()) for found in [matched(data, COLUMNS)] if found]
    yield from table(heads, iter(rows))


def nearest(connection: sqlanon.Connection, *, quick: bool) -> Iterator[str]:
    """Yields a table with the nearest columns for each version of the data and number of columns."""
    connection.duckdb.execute(
        "CREATE OR REPLACE TABLE with_missing AS SELECT *, row_number() OVER () AS number FROM adult"
    )
    versions = [
        (version(connection, "exact ages"), (2, 3)),
        (version(connection, "exact ages, the training file", "(FROM people WHERE number <= 30162)"), (2,)),
        (version(connection, "exact ages, with missing values", "with_missing"), (2,)),
        *((version(connection, f"ages in {ages} intervals", ages=ages), (2,)) for ages in _FEW_AGES),
    ]
    heads = ("data", "counted", "nearest columns", *_COUNTED)
    yield from table(heads, _nearest_of(versions[:1] if quick else versions, quick=quick))


def _nearest_of(versions: Sequence[tuple[Version, Sequence[int]]], *, quick: bool) -> Iterator[Sequence[str]]:
    for data, numbers in versions:
        fakes: dict[Partition, int] = {}
        for number in numbers:
            ways = list(partitions(len(OCC_7.attributes), number))
            few = [way for way in ways if all(fakes.get(each, 0) <= _FACTOR * PRINTED[0] for each in _merged(way))]
            found = [(counted, way) for way in (few[:3] if quick else few) if (counted := matched(data, way))]
            fakes |= {way: counted.fakes for counted, way in found}
            if found:
                near, way = min(found, key=lambda each: each[0].distance)
                yield (data.name, f"{len(found)} of {len(ways)} in {number} columns", _shown(way), *near.cells())


def _merged(columns: Partition) -> Iterator[Partition]:
    """Yields the columns with one of three apart, and the others as one: they have no more fakes."""
    for apart in columns if len(columns) > 2 else ():
        others = sorted(position for column in columns if column != apart for position in column)
        yield tuple(sorted((tuple(others), apart)))


def _shown(columns: Partition) -> str:
    return releases.listed([[OCC_7.attributes[position] for position in column] for column in columns])
