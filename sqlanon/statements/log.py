"""Writes to the logger `sqlanon`: a record for each statement and, at level DEBUG, for each of its stages.

No record contains a value, so there are no rows, no queries, and no texts of errors, because these may quote the user's
text.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from sqlanon.domain.context import Watching
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.statements.base import NOT_SATISFIED, Statement

if TYPE_CHECKING:
    from sqlanon.statements.base import Answer

LOGGER = logging.getLogger("sqlanon")
# A program that sets up no logging prints nothing.
LOGGER.addHandler(logging.NullHandler())

# A query may have values in its text.
_QUERY = Source(name=QualifiedName(("(query)",)))


class StatementLog:
    """Logs one statement: its stages when they end, and its answer or its error, each with the duration."""

    def __init__(self, statement: Statement, watching: Watching | None) -> None:
        self._statement = statement
        self._watching = watching
        self._begun = self._stage_begun = time.perf_counter()
        self._stage: str | None = None

    @property
    def watching(self) -> Watching | None:
        """Returns the function that observes the statement's stages; it logs them at level DEBUG."""
        return self._observe if LOGGER.isEnabledFor(logging.DEBUG) else self._watching

    def answered(self, answer: Answer) -> None:
        """Logs the end of a statement without an error; an unsatisfied CHECK is logged as a warning."""
        self._end_stage("done")
        outcome = self._statement.outcome([name for name, _ in answer.columns], answer.rows)
        level = logging.WARNING if outcome == NOT_SATISFIED else logging.INFO
        self._log(level, None, self._begun, outcome, rows=self._statement.released_rows(answer))

    def failed(self, error: BaseException) -> None:
        """Logs the class of an error, without its message."""
        self._end_stage("failed", error)
        self._log(logging.ERROR, None, self._begun, "failed", error)

    def _observe(self, stage: str, done: int, total: int, detail: str | None = None) -> None:
        if stage != self._stage:
            self._end_stage("done")
            self._stage, self._stage_begun = stage, time.perf_counter()
        if self._watching:
            self._watching(stage, done, total, detail)

    def _end_stage(self, outcome: str, error: BaseException | None = None) -> None:
        if self._stage is not None:
            self._log(logging.DEBUG, self._stage, self._stage_begun, outcome, error)
        self._stage = None

    def _log(
        self,
        level: int,
        stage: str | None,
        begun: float,
        outcome: str,
        error: BaseException | None = None,
        rows: int | None = None,
    ) -> None:
        if not LOGGER.isEnabledFor(level):
            return
        # A name may contain a line break, after which a reader of the log would expect a new record.
        name = "".join(map(_printable, _without_query(self._statement).label()))
        extra = {
            "kind": type(self._statement).__name__,
            "statement": name,
            "stage": stage,
            "seconds": round(time.perf_counter() - begun, 6),
            "rows": rows,
            "outcome": outcome,
            "error": type(error).__name__ if error else None,
        }
        part = f"{name}, {stage}" if stage else name
        ended = f"{outcome}, {type(error).__name__}" if error else outcome
        LOGGER.log(level, "%s: %s (%.2f s)", part, ended, extra["seconds"], extra=extra)


@contextmanager
def logged(statement: Statement, watching: Watching | None) -> Iterator[StatementLog]:
    """Logs a statement, and any error that ends it."""
    log = StatementLog(statement, watching)
    try:
        yield log
    except BaseException as error:
        log.failed(error)
        raise


def _without_query(statement: Statement) -> Statement:
    """Returns the statement with a name in place of each query among its sources."""
    queries: dict[str, Any] = {
        field.name: _QUERY
        for field in fields(statement)
        if isinstance(source := getattr(statement, field.name), Source) and source.query is not None
    }
    return replace(statement, **queries) if queries else statement


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
