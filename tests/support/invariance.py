"""Releases of a series by METHOD m_invariance, and what their tables and the ledger show of each respondent."""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

import pytest

from sqlanon import Connection
from tests.oracles.composition import Classes
from tests.support.database import template

__all__ = ["KEY", "counterfeits_of", "in_ranges", "people_in_series", "publish", "shown"]

KEY = "a key that nobody knows"


def people_in_series(monkeypatch: pytest.MonkeyPatch, policy: str, *more: Callable[[Connection], object]) -> Connection:
    """A table of people (who, age, ill) without rows, this policy p on it, a series s, and what else is done once."""
    monkeypatch.setenv("SERIES_KEY", KEY)
    return template(
        "CREATE TABLE people (who VARCHAR, age INTEGER, ill VARCHAR)",
        policy,
        "CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'",
        *more,
    )


def publish(con: Connection, rows: Sequence[Sequence[object]], name: str, call: str = "m_invariance(m => 2)") -> None:
    """Makes a release of these rows (who, ill), and what else the table has; its policy is p, its series s."""
    con.duckdb.execute("DELETE FROM people")
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        con.duckdb.executemany(f"INSERT INTO people VALUES ({marks})", [list(row) for row in rows])
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY p METHOD {call} IN SERIES s")


def shown(con: Connection, name: str, person: str = "shown") -> Classes:
    """The bucket of each respondent, whose name the column `person` shows, and the values of each bucket."""
    members = dict(con.duckdb.execute(f"SELECT {person}, bucket FROM {name}_qi").fetchall())
    values: dict[Hashable, list[Hashable]] = defaultdict(list)
    for bucket, value, count in con.duckdb.execute(f"SELECT bucket, value, count FROM {name}_sensitive").fetchall():
        values[bucket] += [value] * count
    return members, dict(values)


def in_ranges(con: Connection, name: str, people: Sequence[str], sensitive: str = "ill", series: str = "s") -> Classes:
    """The bucket of each respondent, whom only the ledger knows, and the values of each bucket's rows."""
    members = (
        "SELECT replace(respondent::VARCHAR, '-', ''), class_no FROM anon.series_member "
        "JOIN anon.series_release USING (series_id, position) WHERE object_name = ?"
    )
    buckets = dict(con.duckdb.execute(members, [name]).fetchall())
    key = hmac.digest(KEY.encode(), f"series:{series}".encode(), "sha256")
    tokens = {person: hashlib.blake2b(person.encode(), key=key, digest_size=16).hexdigest() for person in people}
    values: dict[Hashable, list[Hashable]] = defaultdict(list)
    for bucket, value in con.duckdb.execute(f'SELECT bucket, "{sensitive}" FROM {name}_rows').fetchall():
        values[bucket].append(value)
    return {person: buckets[token] for person, token in tokens.items() if token in buckets}, dict(values)


def counterfeits_of(con: Connection, name: str) -> dict[int, int]:
    """How many counterfeits each bucket has that has some."""
    return dict(con.duckdb.execute(f"SELECT bucket, counterfeits FROM {name}_counterfeits").fetchall())
