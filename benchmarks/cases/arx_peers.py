"""The optimal search of ARX against METHOD generalization: the same rows, hierarchies, requirements and loss.

ARX is a Java library: the case runs if the variable ARX_CLASSPATH has its jar and the jars that it needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure
from benchmarks.measure import cost

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (30_162,), (2_000,)
_RUNS = 3
_PROGRAM = Path(__file__).resolve().parents[1] / "ArxSearch.java"
_SENSITIVE = "occupation"
_WIDTHS = (5, 10, 20, 40)
_AGES = ", ".join(
    f"'[' || age // {width} * {width} || ', ' || (age // {width} + 1) * {width} || ')'" for width in _WIDTHS
)
_MARK = 1.0


@dataclass(frozen=True)
class _Search:
    """A policy in both notations; with a model of the sensitive column eight attributes are quasi-identifiers."""

    what: str
    suppression: str
    models: tuple[str, ...]
    required: str

    @property
    def sensitive(self) -> tuple[str, ...]:
        return (_SENSITIVE,) if len(self.models) > 1 else ()

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return tuple(name for name in ADULT.columns if name not in self.sensitive)


_SEARCHES = (
    _Search("k = 5, none suppressed", "0", ("k=5",), "k_anonymity(k => 5)"),
    _Search("k = 5, 4 % suppressed", "0.04", ("k=5",), "k_anonymity(k => 5)"),
    _Search("k = 100, 4 % suppressed", "0.04", ("k=100",), "k_anonymity(k => 100)"),
    _Search(
        "k = 5, distinct l = 3, 4 % suppressed",
        "0.04",
        ("k=5", "l=3"),
        "k_anonymity(k => 5), l_diversity(l => 3)",
    ),
    _Search("k = 5, t = 0.2, 4 % suppressed", "0.04", ("k=5", "t=0.2"), "k_anonymity(k => 5), t_closeness(t => 0.2)"),
)


def run(context: Context) -> Iterator[Figure]:
    """Yields sqlanon's time over ARX's; ARX runs first, in a process of its own, and sqlanon directly after it."""
    classpath = os.environ.get("ARX_CLASSPATH")
    if not classpath:
        context.note("arx_peers: skipped, because ARX_CLASSPATH does not name ARX's jar files")
        return
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with (
            databases.working_copy(ADULT, context.file(ADULT, rows)) as connection,
            tempfile.TemporaryDirectory(prefix="sqlanon-arx-", dir=context.folder) as folder,
        ):
            for search in _SEARCHES:
                context.note(f"arx_peers, {search.what}, {rows:,} rows")
                yield from _figures(connection, search, classpath, Path(folder), rows, context.runs or _RUNS)


def _figures(
    connection: sqlanon.Connection, search: _Search, classpath: str, folder: Path, rows: int, runs: int
) -> Iterator[Figure]:
    databases.declare(connection, ADULT, search.quasi_identifiers, search.sensitive, search.required)
    _write(connection, search, folder)
    command = ["java", "-cp", classpath, str(_PROGRAM), str(folder), str(runs + 1), search.suppression]
    command += [*search.sensitive[:1], *search.models] if search.sensitive else ["-", *search.models]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    statement = databases.release("table", "snapshot", search.suppression)
    connection.sql(statement)
    costs = [cost(lambda: connection.sql(statement)) for _ in range(runs)]
    taken, processor = [one.seconds for one in costs], [one.processor for one in costs]
    # The first run of ARX is left out, as ours is: it loads classes.
    theirs, their_processor = median(found["seconds"][1:]), median(found["processor"][1:])
    levels = _levels(connection, search)
    same = "the same levels" if levels == found["levels"] else f"levels {levels}, of ARX {found['levels']}"
    note = (
        f"{theirs / median(taken):.2f} times as fast; processor {median(processor):.2f} s and {their_processor:.2f} s, "
        f"{their_processor / median(processor):.2f} times; ARX's process {found['peak'] / 1e6:,.0f} MB; {same}"
    )
    shares = [own / theirs for own in taken]
    yield Figure(
        "arx_peers",
        f"the whole statement over ARX's search and output, {search.what}",
        median(shares),
        "x",
        min(shares),
        max(shares),
        rows=rows,
        runs=runs,
        seconds=median(taken),
        baseline="ARX",
        baseline_seconds=theirs,
        mark=_MARK,
        note=note,
        found={"own": taken, "processor": processor, **found},
    )


def _write(connection: sqlanon.Connection, search: _Search, folder: Path) -> None:
    """Writes the rows and the hierarchies as ARX reads them: no quotes, columns separated by semicolons."""
    columns = ", ".join((*search.quasi_identifiers, *search.sensitive))
    _copy(connection, f"SELECT {columns} FROM {ADULT.name}", folder / "rows.csv", header=True)
    for name in search.quasi_identifiers:
        if name == "age":
            query = f"SELECT DISTINCT age, {_AGES}, '*' FROM {ADULT.name} ORDER BY age ASC NULLS LAST"
        else:
            query = (
                f"PIVOT (SELECT value, level, label FROM anon.hierarchy_value WHERE hierarchy = 'adult_{name}') "
                "ON level USING any_value(label) GROUP BY value"
            )
            query = f"SELECT * EXCLUDE (value), '*' FROM ({query})"
        _copy(connection, query, folder / f"{name}.csv", header=False)


def _copy(connection: sqlanon.Connection, query: str, file: Path, *, header: bool) -> None:
    quoted = str(file).replace("'", "''")
    connection.duckdb.execute(f"COPY ({query}) TO '{quoted}' (FORMAT csv, DELIMITER ';', QUOTE '', HEADER {header})")


def _levels(connection: sqlanon.Connection, search: _Search) -> dict[str, Any]:
    """Returns the level of each quasi-identifier in the release, which is the only one of this copy."""
    rows = connection.duckdb.execute("SELECT attribute, level FROM anon.release_attribute").fetchall()
    return {name: level for name, level in rows if name in search.quasi_identifiers}
