"""A table that arrives in parts, published as a stream: the time of all ADVANCEs, and of the tenth."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from benchmarks.measure import Cost, cost

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (10_000, 100_000), (2_000,)
_DELAYS = (1_000, 5_000)
_PARTS = 10
# From this many rows on, as many rows should take at most a second of processor time.
_MARKED_FROM, _ROWS_A_SECOND = 100_000, 20_000
_ROW = (
    "i AS arrived, hash(i, 1) % {rows} AS person, hash(i, 2) % 70 AS age, "
    "(10000 + hash(i, 3) % 90000)::VARCHAR AS zip, hash(i, 4) % 2 = 0 AS sex, 'd' || hash(i, 5) % 20 AS disease"
)
_BEGIN = """
CREATE HIERARCHY zips AS PREFIXES (4, 3, 2, 1);
CREATE POLICY visits ON visits (person ENTITY, age QUASI IDENTIFIER, zip QUASI IDENTIFIER USING zips,
    sex QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5);
CREATE ANONYMIZED STREAM published AS POLICY visits ORDER BY arrived METHOD stream(k => 5, delay => {delay});
"""


def run(context: Context) -> Iterator[Figure]:
    """Measures ten ADVANCEs over the rows, and one that publishes the rows that still wait."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        for delay in _DELAYS:
            context.note(f"stream, delay {delay:,}, {rows:,} rows")
            with sqlanon.connect() as connection:
                taken = list(_advanced(connection, rows, delay))
            used = sum(advance.processor for advance in taken)
            mark = rows / _ROWS_A_SECOND if rows >= _MARKED_FROM else None
            note = f"{rows / used:,.0f} rows in a second of processor time"
            what = f"delay {delay:,}, all, processor time"
            yield Figure("stream", what, used, "s", used, used, rows=rows, mark=mark, note=note)
            clock = {"all": sum(advance.seconds for advance in taken), "the tenth ADVANCE": taken[_PARTS - 1].seconds}
            for name, part in clock.items():
                yield Figure("stream", f"delay {delay:,}, {name}", part, "s", part, part, rows=rows)


def _advanced(connection: sqlanon.Connection, rows: int, delay: int) -> Iterator[Cost]:
    row = _ROW.format(rows=rows)
    connection.duckdb.execute(f"CREATE TABLE visits AS SELECT {row} FROM range(0) AS t(i)")
    connection.execute(_BEGIN.format(delay=delay))
    for part in range(_PARTS):
        first = rows * part // _PARTS
        arriving = f"range({first}, {rows * (part + 1) // _PARTS}) AS t(i)"
        connection.duckdb.execute(f"INSERT INTO visits SELECT {row} FROM {arriving}")
        yield cost(lambda: connection.execute("ADVANCE published").fetchall())
    yield cost(lambda: connection.execute("ADVANCE published TO END").fetchall())
