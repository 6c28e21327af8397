"""The gate of `sqlanon serve`: the processor time of an analyst's statement, from its text to the decision."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from statistics import median

from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon.clients.serve.gate import admit
from sqlanon.clients.serve.refused import Refused
from tests.support.door.statements import ANALYST, ANALYST_GRANTED, statements

__all__ = ["run"]

_RUNS, _MARK = 50, 3.0


def run(context: Context) -> Iterator[Figure]:
    texts = statements(ANALYST.read_text(encoding="utf-8"))
    context.note(f"the gate, {len(texts)} statements")
    _milliseconds(texts[0])  # opens the parser's database and reads the lists
    runs = context.runs or _RUNS
    taken = sorted(median(_milliseconds(text) for _ in range(runs)) for text in texts)
    for what, value in (("a statement, median of 30", median(taken)), ("the slowest of the 30 statements", taken[-1])):
        yield Figure("gate", what, value, "ms", taken[0], taken[-1], runs=runs, mark=_MARK)


def _milliseconds(statement: str) -> float:
    """Returns the processor time of a decision, whichever it is."""
    begun = time.process_time()
    with suppress(Refused):
        admit(statement, ANALYST_GRANTED)
    return 1000 * (time.process_time() - begun)
