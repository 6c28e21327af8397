"""How far a statement has come, in a line below the cell that runs it."""

from __future__ import annotations

from time import monotonic
from typing import Any

from IPython.display import HTML, display

from sqlanon.export.report.markup import paragraph

_SECONDS_BEFORE_LINE = 1.0
_SECONDS_BETWEEN = 0.25


class Progress:
    """A line that appears below a cell after a second, says which stage runs, and is empty at the end.

    `observe` is what a connection calls. A line is written anew at most four times a second.
    """

    def __init__(self) -> None:
        self._begun = self._written = monotonic()
        self._line: Any = None

    def observe(
        self, stage: str, sql: str | None, done: int | None, total: int | None, detail: str | None = None
    ) -> None:
        """Says which stage runs, and how many of its steps are done where they are known."""
        now = monotonic()
        is_early = now - self._begun < _SECONDS_BEFORE_LINE
        if sql is not None or is_early or (self._line is not None and now - self._written < _SECONDS_BETWEEN):
            return
        self._written = now
        steps = None if done is None or not total else f"{done} of {total}"
        self._write(": ".join(filter(None, [stage or "working", detail or steps])))

    def end(self) -> None:
        """Leaves nothing of the line, in the notebook's file either."""
        if self._line is not None:
            self._line.update(HTML(""))
            self._line = None

    def _write(self, words: str) -> None:
        line = HTML(paragraph(words))
        if self._line is None:
            self._line = display(line, display_id=True)
        else:
            self._line.update(line)
