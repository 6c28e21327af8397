"""What a user sees: result tables, errors and status lines, for a terminal, a pipe or a machine.

Results go to standard output and everything else to standard error, so that a pipe
carries results only. Colours appear on a terminal and nowhere else; NO_COLOR turns them off.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from sqlanon.errors import InternalError, Position, SqlanonError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["Output", "Rows", "cell_text", "json_value", "one_line"]

# Wide enough that nothing is cut off in a pipe.
_PIPE_WIDTH = 100_000
_WIDEST_CELL = 48
_NARROWEST = 2


@dataclass(frozen=True)
class Rows:
    """A statement's result: its column names and rows, `more` if rows were left out at the end."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False

    @classmethod
    def of(cls, result: Any, limit: int | None = None) -> Rows:
        """The rows of a DuckDB relation, at most `limit` of them."""
        if limit is None:
            return cls(tuple(result.columns), tuple(result.fetchall()))
        fetched = result.fetchmany(limit + 1)
        return cls(tuple(result.columns), tuple(fetched[:limit]), more=len(fetched) > limit)

    def records(self) -> list[dict[str, Any]]:
        """A dict a row. A repeated column name gets a number, as DuckDB gives it."""
        names: list[str] = []
        for column in self.columns:
            name, number = column, 0
            while name in names:
                number += 1
                name = f"{column}_{number}"
            names.append(name)
        return [dict(zip(names, map(json_value, row), strict=True)) for row in self.rows]


def json_value(value: Any) -> Any:
    """A value as JSON can say it: exact numbers as numbers, everything else that JSON lacks as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Decimal):
        return _json_number(value)
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return cell_text(value)


def _json_number(value: Decimal) -> int | float | str:
    if value == value.to_integral_value():
        return int(value)
    as_float = float(value)
    return as_float if Decimal(repr(as_float)) == value else str(value)


def cell_text(value: Any) -> str:
    """A value on one line, without characters that would act on a terminal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, dict | list | tuple):
        return one_line(json.dumps(json_value(value), ensure_ascii=False))
    return one_line(str(value))


def one_line(text: str) -> str:
    """The text with line breaks and control characters written out, so that no value can drive a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


@dataclass
class Output:
    """Where and how much to print. `limit` is the most rows of a result that are shown, None for all."""

    json: bool = False
    quiet: bool = False
    verbose: int = 0
    limit: int | None = None
    _stdout: TextIO | None = field(default=None, repr=False)
    _stderr: TextIO | None = field(default=None, repr=False)

    @cached_property
    def out(self) -> Console:
        """The console for results."""
        return _console(self._stdout or sys.stdout)

    @cached_property
    def err(self) -> Console:
        """The console for errors, progress and status lines."""
        return _console(self._stderr or sys.stderr)

    @property
    def debug(self) -> bool:
        """Whether to show what may hold values: tracebacks, and the database's messages in full."""
        return self.verbose > 1 or bool(os.environ.get("SQLANON_DEBUG"))

    @property
    def row_limit(self) -> int | None:
        """The most rows to show: a screenful on a terminal, all of them for a pipe or a machine."""
        if self.limit is not None:
            return self.limit or None
        return 40 if self.out.is_terminal and not self.json else None

    def result(self, rows: Rows, **about: Any) -> None:
        """One statement's result; `about` says in JSON which statement it was."""
        if self.json:
            answer = about | {"columns": list(rows.columns), "rows": rows.records(), "truncated": rows.more}
            self.json_line(answer)
        elif not self.quiet and rows.columns:
            self._table(rows)

    def json_line(self, answer: dict[str, Any]) -> None:
        """One JSON object on its own line of standard output."""
        file = self._stdout or sys.stdout
        print(json.dumps(answer, ensure_ascii=False, default=str), file=file, flush=True)

    def status(self, text: str) -> None:
        """A line on standard error about what happens, in neither a machine's nor a quiet run."""
        if not self.quiet and not self.json:
            self.err.print(one_line(text), style="dim", markup=False, highlight=False, soft_wrap=True)

    def error(self, error: SqlanonError, script: str | None = None) -> None:
        """An error as `script.sql:12:5: error: message`, with its hint on a line of its own."""
        if self.json:
            print(json.dumps(_error_record(error, script), ensure_ascii=False), file=self._stderr or sys.stderr)
            return
        from rich.text import Text

        line = Text(_place(script, error.position), style="bold")
        line.append("error: ", style="bold red").append(_printable(error.message), style="not bold")
        if error.hint:
            line.append("\n  hint: ", style="cyan").append(_printable(error.hint), style="not bold")
        if error.query and self.verbose:
            line.append("\n  query: ", style="cyan").append(_printable(error.query), style="not bold")
        self.err.print(line, soft_wrap=True)
        if self.debug:
            self._trace(error)

    def unexpected(self, error: Exception, script: str | None = None) -> None:
        """An error that is a defect of ours: its kind only, since its text may hold values."""
        ours = InternalError(
            f"unexpected {type(error).__name__}: this is a defect of sqlanon",
            hint="SQLANON_DEBUG=1 or -vv shows where; please report it",
        )
        ours.__cause__ = error
        self.error(ours, script)

    def _trace(self, error: Exception) -> None:
        import traceback

        self.err.print("".join(traceback.format_exception(error)), style="dim", soft_wrap=True)

    def _table(self, rows: Rows) -> None:
        from rich import box
        from rich.table import Table

        terminal = self.out.is_terminal
        shown = _fitting(rows, self.out.width) if terminal else len(rows.columns)
        table = Table(box=box.SIMPLE_HEAD if terminal else box.MARKDOWN, header_style="bold")
        for index, column in enumerate(rows.columns[:shown]):
            number = bool(rows.rows) and all(_is_number(row[index]) for row in rows.rows)
            # The last column may be a long text, such as a path: it is folded, never cut.
            last = index == shown - 1
            table.add_column(
                _cell(column),
                justify="right" if number else "left",
                overflow="fold" if last else "ellipsis",
                no_wrap=not last,
                max_width=_WIDEST_CELL if terminal and not last else None,
            )
        for row in rows.rows:
            table.add_row(*(_cell(value) for value in row[:shown]))
        self.out.print(table)
        if notes := _notes(rows, shown):
            self.out.print(notes, style="dim", highlight=False)


def _console(file: TextIO) -> Console:
    from rich.console import Console

    console = Console(file=file, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def _cell(value: Any) -> Text:
    from rich.text import Text

    return Text(cell_text(value), style="dim" if value is None else "")


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))


def _fitting(rows: Rows, width: int) -> int:
    """How many columns, from the left, fit into the width whole; always at least two."""
    from rich.cells import cell_len

    used = 0
    for index, column in enumerate(rows.columns):
        widest = max((cell_len(cell_text(row[index])) for row in rows.rows), default=0)
        used += min(max(widest, cell_len(column)), _WIDEST_CELL) + 2
        if used > width - 2 and index >= _NARROWEST:
            return index
    return len(rows.columns)


def _notes(rows: Rows, shown: int) -> str:
    notes = [f"the first {len(rows.rows)} rows; there are more"] if rows.more else []
    if left := rows.columns[shown:]:
        notes.append(f"not shown for lack of width: {one_line(', '.join(left))}")
    return "\n".join(f"  ({note})" for note in notes)


def _printable(text: str) -> str:
    return "\n".join(map(one_line, text.splitlines()))


def _place(script: str | None, position: Position | None) -> str:
    """`script.sql:12:5: `, as compilers write it and editors read it."""
    place = [script] if script else []
    place += [str(position.line), str(position.column)] if position else []
    return one_line(":".join(place)) + ": " if place else ""


def _error_record(error: SqlanonError, script: str | None) -> dict[str, Any]:
    place = error.position
    return {
        "error": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "script": script,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "query": error.query,
        "exit_code": error.exit_code,
    }
