"""Slices a wide, sparse table: `python -m benchmarks.wide` prints the seconds of each statement.

The ratings are a function of the numbers of respondent and item, and therefore the same everywhere: eight tastes, eight
genres, and some items with many ratings but most with few.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import perf_counter

import sqlanon

__all__ = ["main", "make_ratings", "measured"]

_RATINGS = """
CREATE TABLE ratings AS
WITH pair AS (
  SELECT
    respondent,
    item,
    (hash(respondent, item, 1) % 1000003) / 1000003 AS draw,
    (hash(respondent, item, 2) % 1000003) / 1000003 AS noise,
    cos(((hash(respondent, 3) % 8)::INTEGER - (hash(item, 4) % 8)::INTEGER) * pi() / 4) AS liking
  FROM range($respondents) AS a(respondent), range($items) AS b(item)
)
SELECT
  respondent,
  format('film {:04d}', item) AS item,
  greatest(1, least(5, round(3 + 1.2 * liking + 1.6 * (noise - 0.5))))::INTEGER AS rating
FROM pair
WHERE draw < least(0.6, 0.7 / sqrt(item + 1)) * (1 + 0.5 * liking)
"""
_SENSITIVE_EACH = 100
_METHOD = (
    "slicing(l => 2, variant => 'distinct', columns => 9, sensitive_attributes => 1, similarity => 'equal_ratings', "
    "grouping => 'random', bucket_size => 100)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each statement."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide", description="Slices a wide, sparse table.")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--respondents", type=int, default=50_000)
    options = parser.parse_args(arguments)
    with sqlanon.connect() as connection:
        make_ratings(connection, options.items, options.respondents)
        ((ratings,),) = connection.execute("SELECT count(*) FROM ratings").fetchall()
        print(f"{ratings:,} ratings of {options.items:,} items by {options.respondents:,} respondents")
        for name, seconds in measured(connection, options.items).items():
            print(f"{name:25} {seconds:6.1f} s")
        for figure, value in connection.execute("SELECT figure, value FROM anon.release_figure").fetchall():
            print(f"{figure:25} {value:10.4f}")
    return 0


def make_ratings(connection: sqlanon.Connection, items: int, respondents: int) -> None:
    """Creates the table ratings (respondent, item, rating)."""
    connection.duckdb.execute(_RATINGS, {"items": items, "respondents": respondents})


def measured(connection: sqlanon.Connection, items: int) -> dict[str, float]:
    """Returns the seconds of each statement."""
    sensitive = ", ".join(f'"film {item:04d}" SENSITIVE' for item in range(0, items, _SENSITIVE_EACH))
    statements = {
        "CREATE POLICY": "CREATE POLICY films ON ratings PIVOT item VALUES rating (respondent IDENTIFIER, "
        f"{sensitive}) REQUIRE k_anonymity(k => 10)",
        "CREATE ANONYMIZED TABLE": f"CREATE ANONYMIZED TABLE sliced AS POLICY films METHOD {_METHOD}",
        "CHECK": "CHECK sliced",
        "MEASURE WITH TASK": "MEASURE sliced WITH TASK (kind => 'ratings', rank => 10)",
    }
    seconds: dict[str, float] = {}
    for name, statement in statements.items():
        begun = perf_counter()
        connection.execute(statement)
        seconds[name] = perf_counter() - begun
    return seconds


if __name__ == "__main__":
    raise SystemExit(main())
