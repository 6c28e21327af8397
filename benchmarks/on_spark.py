"""Makes one release of a Parquet file: `python -m benchmarks.on_spark THREADS FILE RUNS MEMORY`.

With 0 threads DuckDB makes the release, else Spark, in one session. A fifth argument limits the rows that go from Spark
to DuckDB: below the number of cells, the cells are searched on Spark.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import sqlanon
from benchmarks.spill import Spill

__all__ = ["main", "make_source"]

# 73 ages, 2 sexes, 100 zip codes, 8 educations and 20 diseases: at most 2.3 million cells, however many rows there are.
_SOURCE = """
    COPY (
        SELECT i AS person, 18 + (hash(i, 1) % 73)::INTEGER AS age,
            CASE WHEN hash(i, 2) % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
            (10000 + 137 * least(hash(i, 3) % 100, hash(i, 4) % 100))::VARCHAR AS zip,
            'education ' || least(hash(i, 5) % 8, hash(i, 6) % 8) AS education,
            'disease ' || least(hash(i, 7) % 20, hash(i, 8) % 20) AS disease, (hash(i, 9) % 100000)::INTEGER AS cost
        FROM range($rows) AS r(i)
    ) TO '{}' (FORMAT parquet)
"""
_POLICY = """
    CREATE HIERARCHY ages AS INTERVALS (5, 10, 20);
    CREATE HIERARCHY zips AS PREFIXES (4, 3, 2);
    CREATE POLICY measured ON {} (age QUASI IDENTIFIER USING ages, sex QUASI IDENTIFIER,
        zip QUASI IDENTIFIER USING zips, education QUASI IDENTIFIER, disease SENSITIVE,
        cost INSENSITIVE, person IDENTIFIER)
    REQUIRE k_anonymity(k => 5), l_diversity(l => 2)
"""
_RELEASE = "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY measured METHOD generalization(suppression => 0.02)"
# A checksum of the rows that does not depend on their order, with their number.
_MULTISET = """
    SELECT count(*), sum(hash(released)::HUGEINT)::VARCHAR, bit_xor(hash(released, 'again'))::VARCHAR
    FROM (SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {}) AS released
"""
_THREADS = "2"
_Made = tuple[sqlanon.Connection, str]


def make_source(rows: int, file: Path) -> None:
    """Writes the source as a Parquet file, with the same rows each time."""
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(_SOURCE.format(_quoted(file)), {"rows": rows})


def main(threads: int, file: Path, runs: int, memory: str, summary_rows: int | None = None) -> None:
    """Prints a line of JSON: the seconds of each run, the result, and the peaks of memory and of files."""
    with tempfile.TemporaryDirectory(prefix="sqlanon-spill-", dir=file.parent) as name:
        folder = Path(name)
        made = _in_spark(threads, file, folder, memory, summary_rows) if threads else _in_duckdb(file, folder, memory)
        with made as (connection, released), Spill(folder / "spilled") as spill:
            taken, answer = [], []
            for _ in range(runs):
                begun = time.perf_counter()
                answer = connection.execute(_RELEASE).fetchall()
                taken.append(time.perf_counter() - begun)
            # Without warnings and remarks, which rows on Spark do not have.
            come_to = [list(row[:-2]) for row in answer] + connection.execute("CHECK released").fetchall()
            memory_held = _peaks()
            rows = connection.duckdb.execute(_MULTISET.format(released)).fetchall()
    found = {"seconds": taken, "come_to": [*come_to, *rows], "spilled": spill.most, "memory": memory_held}
    print(json.dumps(found, default=str))


@contextmanager
def _in_duckdb(file: Path, folder: Path, memory: str) -> Iterator[_Made]:
    """Yields a database in the folder, with the Parquet file as a view, and the name of its release."""
    config = {"memory_limit": memory, "threads": _THREADS, "temp_directory": str(folder / "spilled")}
    with sqlanon.connect(folder / "database.duckdb", config=config) as connection:
        connection.duckdb.execute(f"CREATE VIEW people AS FROM read_parquet('{_quoted(file)}')")
        connection.execute(_POLICY.format("people"))
        yield connection, "released"


@contextmanager
def _in_spark(threads: int, file: Path, folder: Path, memory: str, summary_rows: int | None) -> Iterator[_Made]:
    """Yields a Spark session with its files in the folder, and its release's files as DuckDB reads them."""
    from sqlanon.engines.spark import local_session

    spilled = folder / "spilled"
    spilled.mkdir()
    settings = {"spark.driver.memory": memory.removesuffix("B"), "spark.local.dir": str(spilled)}
    session = local_session(threads, settings)
    releases = folder / "releases"
    with sqlanon.connect(engine="spark", session=session, releases=releases, summary_rows=summary_rows) as connection:
        connection.execute(_POLICY.format(f'"{file}"'))
        yield connection, f"read_parquet('{_quoted(folder)}/releases/main/released/*.parquet')"


def _peaks() -> dict[str, int]:
    """Returns the peak memory of this process and of its child processes, by name."""
    processes = [path.parent for path in Path("/proc").glob("[0-9]*/status") if _parent(path) == os.getpid()]
    return {_status(process, "Name"): _kilobytes(process) for process in (*processes, Path("/proc/self"))}


def _parent(status: Path) -> int | None:
    try:
        return int(_status(status.parent, "PPid"))
    except OSError:  # it has ended meanwhile
        return None


def _kilobytes(process: Path) -> int:
    return int(_status(process, "VmHWM").removesuffix(" kB")) * 1024


def _status(process: Path, name: str) -> str:
    lines = (process / "status").read_text(encoding="utf-8").splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(f"{name}:")), "")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4], *map(int, sys.argv[5:]))
