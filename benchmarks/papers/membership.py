"""Measures what a sliced release reveals about membership: the tuples that match a bucket, in the source or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import sqlanon
from benchmarks.papers import adult, releases
from benchmarks.papers.adult import RELEASE, Selection

__all__ = ["counted", "lines", "measured", "most_tuples", "number_parts"]

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
