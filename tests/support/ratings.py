"""Ratings of items by respondents: a small table laid out by hand, and tables of any ratings."""

from __future__ import annotations

from collections.abc import Sequence

import sqlanon
from sqlanon.assess.tasks.ratings import Ratings
from sqlanon.clients.session import Connection
from tests.oracles.ratings import Table
from tests.oracles.similarity import Rating

__all__ = ["ITEMS", "RATINGS", "films", "rated", "ratings_of"]

ITEMS = ("A", "B", "C", "D")
_TABLE = {
    "u1": (5, 5, 1, None),
    "u2": (5, 5, None, 1),
    "u3": (4, 4, 2, 2),
    "u4": (1, 1, 5, 5),
    "u5": (1, None, 5, 5),
    "u6": (None, 2, 4, 4),
}
RATINGS: tuple[Rating, ...] = tuple(
    (who, item, value)
    for who, values in _TABLE.items()
    for item, value in zip(ITEMS, values, strict=True)
    if value is not None
)


def rated(ratings: Sequence[Rating]) -> Connection:
    """A connection whose table ratings (respondent, item, rating) has these rows."""
    connection = sqlanon.connect()
    connection.execute("CREATE TABLE ratings (respondent VARCHAR, item VARCHAR, rating INTEGER)")
    if ratings:
        connection.duckdb.executemany("INSERT INTO ratings VALUES (?, ?, ?)", [list(row) for row in ratings])
    return connection


def films(connection: Connection, *sensitive: str, source: str = "ratings") -> None:
    """The policy films, of which these items are sensitive."""
    items = ", ".join(f'"{name}" SENSITIVE' for name in sensitive)
    connection.execute(
        f"CREATE OR REPLACE POLICY films ON {source} PIVOT item VALUES rating (respondent IDENTIFIER, {items}) "
        "REQUIRE k_anonymity(k => 2)"
    )


def ratings_of(table: Table) -> Ratings:
    """The ratings of a table with a row for each respondent and a column for each item."""
    rows = [
        (who, item, float(value))
        for who, row in enumerate(table)
        for item, value in enumerate(row)
        if value is not None
    ]
    return Ratings(rows, len(table), len(table[0]))
