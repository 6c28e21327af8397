"""Measures whole statements by the number of rows and by the number of attributes.

The measure is processor time over all threads, which other work on the machine hardly changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

import sqlanon
from benchmarks.papers import adult
from benchmarks.papers.adult import OCC_7, RELEASE, Selection
from benchmarks.papers.settings import Setting

__all__ = ["ROWS", "by_attributes", "by_rows"]

ROWS = (10_000, 20_000, 30_000, 45_000)
_COPY = f"CREATE OR REPLACE TABLE copied AS FROM {adult.SOURCE} ORDER BY random()"


def by_rows(
    connection: sqlanon.Connection, selection: Selection, settings: Sequence[Setting], rows: Sequence[int], runs: int
) -> Iterator[str]:
    """Yields the lines of a table: the processor seconds of each method for each number of rows, and their ratio to a
    copy's.
    """
    yield from _heads(f"{selection.name}, rows", settings)
    taken = []
    for number in rows:
        adult.take(connection, selection, limit=number)
        taken.append(_seconds(connection, selection, settings, runs))
        yield _line(f"{number:,}", taken[-1])
    yield _growth(f"{rows[-1]:,} to {rows[0]:,}", rows[-1] / rows[0], taken)


def by_attributes(
    connection: sqlanon.Connection, selection: Selection, settings: Sequence[Setting], numbers: Sequence[int], runs: int
) -> Iterator[str]:
    """Measures different numbers of the selection's attributes: first those of OCC-7, then the others in order."""
    yield from _heads(f"{selection.name}, attributes", settings)
    others = [name for name in selection.quasi_identifiers if name not in OCC_7.quasi_identifiers]
    ordered = (*OCC_7.quasi_identifiers, *others)
    taken = []
    for number in numbers:
        part = replace(selection, quasi_identifiers=ordered[: number - 1])
        adult.take(connection, part)
        taken.append(_seconds(connection, part, settings, runs))
        yield _line(f"{number:,}", taken[-1])
    yield _growth(f"{numbers[-1]:,} to {numbers[0]:,}", numbers[-1] / numbers[0], taken)


def _seconds(
    connection: sqlanon.Connection, selection: Selection, settings: Sequence[Setting], runs: int
) -> list[float]:
    """Returns the median processor seconds of a copy of the source in random order and of each method, in turns."""
    [requirement] = {setting.requirement for setting in settings}
    policy = adult.declare(connection, selection, requirement)
    made = f"CREATE OR REPLACE ANONYMIZED TABLE {RELEASE} AS POLICY {policy} METHOD"
    statements = [f"{made} {setting.call}" for setting in settings]
    taken: list[list[float]] = [[] for _ in range(len(statements) + 1)]
    for run in range(runs + 1):
        taken[0].append(_processor_time(lambda: connection.duckdb.execute(_COPY).fetchall()))
        for position, statement in enumerate(statements):
            taken[position + 1].append(_processor_time(partial(connection.sql, statement)))
        if not run:
            # The first turn only warms up.
            taken = [[] for _ in taken]
    return [median(turns) for turns in taken]


def _processor_time(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _heads(first: str, settings: Sequence[Setting]) -> Iterator[str]:
    yield f"| {first} | copy | {' | '.join(setting.name for setting in settings)} |"
    yield "| --- |" + " ---: |" * (len(settings) + 1)


def _line(first: str, taken: Sequence[float]) -> str:
    cells = [f"{taken[0]:.3f} s", *(f"{number:.2f} s, x {number / taken[0]:.0f}" for number in taken[1:])]
    return f"| {first} | {' | '.join(cells)} |"


def _growth(first: str, growth: float, taken: Sequence[Sequence[float]]) -> str:
    """Returns a line with the growth of rows or attributes, and the growth of each column's seconds."""
    cells = [f"x {last / start:.2f}" for start, last in zip(taken[0], taken[-1], strict=True)]
    return f"| {first}: x {growth:.2f} | {' | '.join(cells)} |"
