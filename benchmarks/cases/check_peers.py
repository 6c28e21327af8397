"""CHECK of all models against pyCANON's nine functions, which compute the same figures from a data frame."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from statistics import median
from typing import Any

import sqlanon
from benchmarks import databases, peers
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import MARKED_FROM, Figure
from benchmarks.measure import Cost, cost

__all__ = ["run"]

# pyCANON goes through a table once for each of its classes: a million rows take it minutes.
_SIZES, _QUICK_SIZES = (10_000, 30_000, 100_000), (1_000,)
_QUASI = ("workclass", "education", "marital_status", "race", "sex", "salary_class")
_SENSITIVE = "occupation"
_OF_CLASSES = "k_anonymity"
_FUNCTIONS = (
    "l_diversity",
    "entropy_l_diversity",
    "recursive_c_l_diversity",
    "alpha_k_anonymity",
    "basic_beta_likeness",
    "enhanced_beta_likeness",
    "t_closeness",
    "delta_disclosure",
)
# Per cent of pyCANON's time: a fiftieth.
_MARK = 2.0


def run(context: Context) -> Iterator[Figure]:
    """Measures the whole statement over a stored table, and the functions alone, once each, on a frame in memory."""
    version = peers.installed("pycanon")
    if version is None:
        context.note("check_peers: skips pycanon, which is not installed (pip install 'sqlanon[dev]')")
        return
    statement = f"CHECK {ADULT.name} ({', '.join(_QUASI)}) SENSITIVE {_SENSITIVE}"
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            context.note(f"check_peers: sqlanon, {rows:,} rows")
            connection.sql(statement).fetchall()
            taken = [cost(lambda: connection.sql(statement).fetchall()) for _ in range(context.runs_at(rows))]
            context.note(f"check_peers: pycanon {version}, {rows:,} rows")
            yield _figure(rows, taken, f"pycanon {version}", _peer_cost(connection))


def _peer_cost(connection: sqlanon.Connection) -> Cost:
    """Returns the total cost of the nine functions, without the import and without reading the rows."""
    columns = ", ".join((*_QUASI, _SENSITIVE))
    # Texts as objects, with which pyCANON is faster.
    frame = connection.duckdb.execute(f"SELECT {columns} FROM {ADULT.name}").df().astype(object)
    package: Any = import_module("pycanon.anonymity")

    def work() -> None:
        getattr(package, _OF_CLASSES)(frame, [*_QUASI])
        for name in _FUNCTIONS:
            getattr(package, name)(frame, [*_QUASI], [_SENSITIVE])

    return cost(work)


def _figure(rows: int, taken: list[Cost], peer: str, theirs: Cost) -> Figure:
    shares = [100 * own.seconds / theirs.seconds for own in taken]
    own, processor = (median(values) for values in ([c.seconds for c in taken], [c.processor for c in taken]))
    return Figure(
        "check_peers",
        f"CHECK of all models, share of the time of {peer}",
        median(shares),
        "%",
        min(shares),
        max(shares),
        rows=rows,
        runs=len(shares),
        seconds=own,
        baseline=peer,
        baseline_seconds=theirs.seconds,
        mark=_MARK if rows >= MARKED_FROM else None,
        note=f"{theirs.seconds / own:,.0f} times as fast; processor {processor:.2f} s and {theirs.processor:.1f} s, "
        f"{theirs.processor / processor:,.0f} times",
    )
