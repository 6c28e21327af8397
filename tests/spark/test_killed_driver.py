"""A driver is killed at random moments: a release's folder has one that was checked, whole, or is not there."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pytest

import sqlanon
from tests.support.killed_drivers import BEGIN, NAMES, kill_at_random

pytestmark = [pytest.mark.spark, pytest.mark.long]

KILLS = 3
# The rows of each release by their ages: 2,000 rows of 50 ages, and those below 40.
_ROWS = {"first": dict.fromkeys(range(50), 40), "second": dict.fromkeys(range(40), 40)}


def test_a_killed_driver_leaves_one_that_is_whole(tmp_path: Path) -> None:
    chance = random.Random("drivers")
    release = tmp_path / "releases" / "main" / "r"
    recorded = None
    for _ in range(KILLS):
        kill = kill_at_random(tmp_path, chance)
        before, making = (recorded, *kill.begun)[-2:]
        there, recorded = _release_at(release), _recorded(tmp_path / "catalog.duckdb")
        assert _may_be(kill.stage, before, making, there, recorded), (kill, before, there, recorded)
        for hidden in tmp_path.glob("releases/**/_sqlanon_*"):
            assert hidden.stat().st_mode & 0o777 == 0o700
        if there and not recorded:
            # Of no catalog: it is never replaced, and whoever runs the releases moves it away.
            shutil.rmtree(release)


def _may_be(stage: str, before: str | None, making: str, there: str | None, recorded: str | None) -> bool:
    """Whether a kill may leave this release in the folder, and this one in the catalog."""
    if stage in (BEGIN, "encode", "solve"):
        return there == recorded == before
    if recorded == making != before:
        return there == making
    # Between the first rename and the commit the folder is empty, or ahead of the catalog.
    return recorded == before and there in (before, making, None)


def _release_at(folder: Path) -> str | None:
    """Which release a folder has; None where there is none. It has all the rows of one, and no other column."""
    if not folder.exists():
        return None
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT * FROM read_parquet('{folder}/*.parquet')").fetchall()
    ages = Counter(age for age, ill in rows)
    (name,) = [name for name in NAMES if ages == _ROWS[name]]
    return name


def _recorded(database: Path) -> str | None:
    """Which release the catalog has a record of. It opens without Spark."""
    with sqlanon.connect(database) as connection:
        found = connection.execute("SELECT policy FROM anon.release").fetchall()
    assert len(found) <= 1
    return found[0][0] if found else None
