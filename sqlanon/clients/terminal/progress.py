"""What happens while a statement runs: a live line after a second, and with -v the SQL of each stage."""

from __future__ import annotations

from threading import RLock, Timer
from typing import TYPE_CHECKING

from sqlanon.clients.terminal.presentation.output import Output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


_SECONDS_BEFORE_LIVE_LINE = 1.0


class Watch:
    """Follows the stages of a statement; `observe` is what a connection calls.

    The live line is drawn on standard error, only if that is a terminal, and only for work that takes over a second.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._live = output.err.is_terminal and not output.quiet and not output.json
        self._lock = RLock()
        self._timer: Timer | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._done: int | None = None
        self._total: int | None = None
        self._detail = ""

    def observe(
        self, stage: str, sql: str | None, done: int | None, total: int | None, detail: str | None = None
    ) -> None:
        """Shows the stage that runs, with `done` of `total` steps where they are known, and with -v its SQL."""
        if sql and self._output.verbose:
            self._show(stage, sql)
        with self._lock:
            if sql is None or stage != self._stage:
                # The event of a query has no progress of its stage.
                self._stage, self._done, self._total, self._detail = stage, done, total, detail or ""
            self._update()

    def start(self) -> None:
        """Begins to follow a statement: after a second a live line appears."""
        self.stop()
        if self._live:
            self._timer = Timer(_SECONDS_BEFORE_LIVE_LINE, self._begin)
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """Ends following a statement: removes the live line, or cancels it before it appears."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
                self._timer = None
            if self._bar:
                self._bar.stop()
                self._bar = None
            self._stage, self._done, self._total, self._detail = "", None, None, ""

    def _begin(self) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            # Stopped between the timer's end and this line: the statement is over.
            if self._timer is None:
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=self._output.err, transient=True)
            self._task = self._bar.add_task("working", total=None)
            self._update()
            self._bar.start()

    def _update(self) -> None:
        if self._bar and self._task is not None:
            description = ": ".join(filter(None, [self._stage or "working", self._detail]))
            self._bar.update(self._task, description=description, total=self._total, completed=self._done or 0)

    def _show(self, stage: str, sql: str) -> None:
        err = self._output.err
        err.print(f"-- {stage or 'catalog'}", style="dim", soft_wrap=True)
        if err.is_terminal:
            from rich.syntax import Syntax

            err.print(Syntax(sql, "sql", background_color="default", word_wrap=True))
        else:
            err.print(sql, soft_wrap=True)
