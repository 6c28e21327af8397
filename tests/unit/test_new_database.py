"""The first statements of several connections on a new database: one makes the catalog, all find it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import InUseError

HIERARCHY = "CREATE HIERARCHY {} AS INTERVALS (10)"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("threads", [2, 6])
def test_threads_wait_for_the_one_that_makes_the_catalog(tmp_path: Path, threads: int) -> None:
    with sqlanon.connect(str(tmp_path / "new.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT i % 4 AS age FROM range(60) AS r(i)")
        together = Barrier(threads)

        def make(number: int) -> list[tuple[Any, ...]]:
            cursor = con.cursor()
            together.wait()
            cursor.execute(
                f"CREATE HIERARCHY h{number} AS INTERVALS (2);"
                f"CREATE POLICY p{number} ON t (age QUASI IDENTIFIER USING h{number}) REQUIRE k_anonymity(k => 2);"
                f"CREATE ANONYMIZED TABLE r{number} AS POLICY p{number} METHOD generalization"
            )
            rows: list[tuple[Any, ...]] = cursor.execute(f"SELECT count(*) FROM r{number}").fetchall()
            return rows

        with ThreadPoolExecutor(threads) as pool:
            assert list(pool.map(make, range(threads))) == [[(60,)]] * threads
        for kind in ("hierarchy", "policy", "release"):
            assert con.execute(f"SELECT count(*) FROM anon.{kind}").fetchall() == [(threads,)]
        assert all(verdict[-1] for verdict in con.sql("CHECK r0").fetchall())


def test_who_finds_a_transaction_that_is_not_over_is_told_so(tmp_path: Path) -> None:
    """Nobody can tell when it ends. Afterwards statements run, alone and in a transaction begun since."""
    with sqlanon.connect(str(tmp_path / "new.duckdb")) as con:
        other = con.cursor()
        con.execute(f"BEGIN; {HIERARCHY.format('mine')}")
        for begun in ("", "BEGIN; "):
            with pytest.raises(InUseError, match="another transaction makes the catalog"):
                other.execute(f"{begun}{HIERARCHY.format('another')}")
        other.execute("ROLLBACK")
        con.execute("COMMIT")
        other.execute(f"BEGIN; {HIERARCHY.format('another')}; COMMIT")
        other.execute(HIERARCHY.format("third"))
        assert other.execute("SELECT count(*) FROM anon.hierarchy").fetchall() == [(3,)]


def test_one_that_fails_lets_the_next_make_it(tmp_path: Path) -> None:
    with sqlanon.connect(str(tmp_path / "new.duckdb")) as con:
        con.execute(f"BEGIN; {HIERARCHY.format('mine')}")
        con.execute("ROLLBACK")
        con.cursor().execute(HIERARCHY.format("another"))
        assert con.execute("SELECT hierarchy FROM anon.hierarchy").fetchall() == [("another",)]
