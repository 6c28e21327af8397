"""Exports to a PostgreSQL server that are killed: the schema has the earlier export or the new one, and no other."""

from __future__ import annotations

import random
import time
from pathlib import Path

import psycopg
import pytest

import sqlanon
from tests.support.killed_exports import NAMES, Exporter, made

KILLS = 25
_OTHERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


@pytest.mark.long
def test_a_killed_export_leaves_one_that_is_whole(postgres: str, tmp_path: Path) -> None:
    database, target = tmp_path / "people.duckdb", f"{postgres}&schema=published"
    made(database)
    with sqlanon.connect(database) as connection:
        connection.sql(f"EXPORT first TO '{target}'")
    chance, seen = random.Random("schemas"), []
    with Exporter() as exporter, psycopg.connect(postgres, autocommit=True) as looking:
        for _ in range(KILLS):
            exporter.kill_at_random(database, target, chance)
            # The server ends what it is at before it notices that nobody listens.
            while looking.execute(_OTHERS).fetchall() != [(0,)]:
                time.sleep(0.01)
            with sqlanon.connect() as receiver:
                rows = receiver.sql(f"CHECK '{target}'").fetchall()
            assert all(row[5] for row in rows)
            seen.append(rows[0][0])
            assert looking.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ 'sqlanon'").fetchall() == []
    assert set(seen) == set(NAMES)
