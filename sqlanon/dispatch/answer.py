"""The answer of a statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.statements import answer_columns

__all__ = ["Answer", "Handler", "done", "table"]


@dataclass(frozen=True)
class Answer:
    """Columns with their types, rows of numbers, texts, booleans and NULL, and sentences about them as `remarks`."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[str, ...] = ()


Handler = Callable[[Engine, Any, Watching | None], Answer]


def table(columns_and_rows: tuple[tuple[tuple[str, str], ...], list[tuple[Any, ...]]]) -> Answer:
    """The answer that has these columns and rows."""
    columns, rows = columns_and_rows
    return Answer(columns, tuple(rows))


def done(statement: str, name: str, outcome: str) -> Answer:
    """The answer of a statement that makes, changes or drops an object: one row."""
    return Answer(answer_columns.DONE, ((statement, name, outcome),))
