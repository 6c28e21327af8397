"""A working copy of a data set's file with its hierarchies and its policy, ready to be measured."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlanon
from benchmarks.data import ADULT, DISTINCT, Dataset
from sqlanon import assets

__all__ = ["K", "POLICY", "group_by", "working_copy"]

K = 5
POLICY = "benchmark"
_USING = {
    "birth": "birth_date",
    "zip": "zip_prefix",
    **{name: f"adult_{name}" for name in (*ADULT.columns, *DISTINCT.columns[2:])},
}
_MORE_HIERARCHIES = """
CREATE OR REPLACE HIERARCHY birth_date AS CALENDAR (MONTH, YEAR, DECADE);
CREATE OR REPLACE HIERARCHY zip_prefix AS PREFIXES (4, 3, 2, 1);
"""


def group_by(dataset: Dataset) -> str:
    """What every figure of the search is measured against: one grouping of the source by its columns."""
    columns = ", ".join(dataset.columns)
    return f"SELECT count(*) FROM (SELECT {columns}, count(*) FROM {dataset.name} GROUP BY ALL)"


@contextmanager
def working_copy(dataset: Dataset, file: Path, *, memory: bool = False) -> Iterator[sqlanon.Connection]:
    """A connection to a copy of `file`, or to its table in memory, with a policy of k-anonymity on all columns."""
    with tempfile.TemporaryDirectory(prefix="sqlanon-benchmark-", dir=file.parent) as folder:
        copy = Path(folder) / "work.duckdb"
        shutil.copyfile(file, copy)
        with sqlanon.connect(":memory:" if memory else copy) as connection:
            if memory:
                quoted = str(copy).replace("'", "''")
                connection.execute(f"ATTACH '{quoted}' AS stored (READ_ONLY)")
                connection.execute(f"CREATE TABLE {dataset.name} AS FROM stored.{dataset.name}")
                connection.execute("DETACH stored")
            connection.sql(assets.read("sql", "examples", "adult_hierarchies.sql"))
            connection.sql(_MORE_HIERARCHIES)
            connection.sql(_policy(dataset))
            yield connection


def _policy(dataset: Dataset) -> str:
    columns = ", ".join(f"{name} QUASI IDENTIFIER USING {_USING[name]}" for name in dataset.columns)
    return f"CREATE OR REPLACE POLICY {POLICY} ON {dataset.name} ({columns}) REQUIRE k_anonymity(k => {K})"
