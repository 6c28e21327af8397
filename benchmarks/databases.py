"""A working copy of a data set's file with its hierarchies and a policy, ready to be measured."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlanon
from benchmarks.data import ADULT, DISTINCT, Dataset
from benchmarks.measure import seconds
from sqlanon import assets

__all__ = [
    "SHUFFLED",
    "declare",
    "explain",
    "grouped",
    "keep_apart",
    "materialized",
    "planned",
    "published",
    "release",
    "require",
    "shuffled",
    "working_copy",
]

# The baseline of snapshots of any kind.
SHUFFLED = "CREATE TABLE AS ... ORDER BY random()"

_K = 5
_POLICY = "benchmark"
_USING = {
    "birth": "birth_date",
    "zip": "zip_prefix",
    **{name: f"adult_{name}" for name in (*ADULT.columns, *DISTINCT.columns[2:])},
}
_MORE_HIERARCHIES = """
CREATE OR REPLACE HIERARCHY birth_date AS CALENDAR (MONTH, YEAR, DECADE);
CREATE OR REPLACE HIERARCHY zip_prefix AS PREFIXES (4, 3, 2, 1);
"""


def grouped(connection: sqlanon.Connection, dataset: Dataset) -> float:
    """Returns the seconds of one grouping of the source by its columns, the baseline of search and live view."""
    columns = ", ".join(dataset.columns)
    query = f"SELECT count(*) FROM (SELECT {columns}, count(*) FROM {dataset.name} GROUP BY ALL)"
    return seconds(lambda: connection.duckdb.execute(query).fetchall())


def materialized(connection: sqlanon.Connection, dataset: Dataset) -> float:
    """Returns the seconds of the same grouping into a table, the baseline of methods that keep every row."""
    columns = ", ".join(dataset.columns)
    query = f"CREATE TEMP TABLE grouped AS SELECT {columns}, count(*) AS n FROM {dataset.name} GROUP BY ALL"
    taken = seconds(lambda: connection.duckdb.execute(query).fetchall())
    connection.duckdb.execute("DROP TABLE grouped")
    return taken


def shuffled(connection: sqlanon.Connection, dataset: Dataset) -> float:
    """Copies all columns in random order into the table `naive`, and returns the seconds."""
    columns = ", ".join((*dataset.columns, *([dataset.sensitive] if dataset.sensitive else [])))
    naive = f"CREATE OR REPLACE TABLE naive AS SELECT {columns} FROM {dataset.name} ORDER BY random()"
    return seconds(lambda: connection.duckdb.execute(naive).fetchall())


def release(kind: str, name: str, suppression: str) -> str:
    """Returns the statement that makes a release, a 'view' or a 'table', by generalization."""
    return published(kind, name, _generalization(suppression))


def explain(suppression: str) -> str:
    """Returns the dry run of a release by generalization."""
    return planned(_generalization(suppression))


def published(kind: str, name: str, method: str) -> str:
    """Returns the statement that makes a release by any method."""
    return f"CREATE OR REPLACE ANONYMIZED {kind.upper()} {name} AS POLICY {_POLICY} METHOD {method}"


def planned(method: str) -> str:
    """Returns the dry run of a release by any method."""
    return f"EXPLAIN ANONYMIZED TABLE planned AS POLICY {_POLICY} METHOD {method}"


def _generalization(suppression: str) -> str:
    return f"generalization(suppression => {suppression})"


def require(connection: sqlanon.Connection, dataset: Dataset, k: int = _K) -> None:
    """Creates the policy with all columns as quasi-identifiers and a requirement of k-anonymity."""
    declare(connection, dataset, dataset.columns, (), f"k_anonymity(k => {k})")


def declare(
    connection: sqlanon.Connection,
    dataset: Dataset,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    requirements: str,
    *,
    hierarchies: bool = True,
) -> None:
    """Creates the policy with some of the columns, with or without hierarchies; other columns are not published."""
    using = {name: f" USING {_USING[name]}" if hierarchies else "" for name in quasi_identifiers}
    quasi = [f"{name} QUASI IDENTIFIER{used}" for name, used in using.items()]
    columns = ", ".join(quasi + [f"{name} SENSITIVE" for name in sensitive])
    connection.sql(f"CREATE OR REPLACE POLICY {_POLICY} ON {dataset.name} ({columns}) REQUIRE {requirements}")


def keep_apart(connection: sqlanon.Connection, dataset: Dataset) -> None:
    """Creates the policy that forbids showing all quasi-identifiers together with the sensitive column."""
    columns = ", ".join(f"{name} QUASI IDENTIFIER" for name in dataset.columns)
    apart = ", ".join((*dataset.columns, str(dataset.sensitive)))
    connection.sql(
        f"CREATE OR REPLACE POLICY {_POLICY} ON {dataset.name} ({columns}, {dataset.sensitive} SENSITIVE) "
        f"CONFIDENTIAL ({apart})"
    )


@contextmanager
def working_copy(
    dataset: Dataset, file: Path, *, memory: bool = False, config: Mapping[str, str] | None = None
) -> Iterator[sqlanon.Connection]:
    """Yields a connection to a copy of `file`, or of its table in memory, with the policy of `require`.

    The file itself never changes, so that each run starts from the same bytes.
    """
    with tempfile.TemporaryDirectory(prefix="sqlanon-benchmark-", dir=file.parent) as folder:
        copy = Path(folder) / "work.duckdb"
        if not memory:
            shutil.copyfile(file, copy)
        with sqlanon.connect(":memory:" if memory else copy, config=config) as connection:
            if memory:
                _load(connection, dataset, file)
            connection.sql(assets.read("sql", "examples", "adult_hierarchies.sql"))
            connection.sql(_MORE_HIERARCHIES)
            require(connection, dataset)
            yield connection


def _load(connection: sqlanon.Connection, dataset: Dataset, file: Path) -> None:
    """Copies the table into memory, where DuckDB does not compress it."""
    quoted = str(file).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS stored (READ_ONLY)")
    connection.execute(f"CREATE TABLE {dataset.name} AS FROM stored.{dataset.name}")
    connection.execute("DETACH stored")
