"""Decides where and how much is printed: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from sqlanon.clients.terminal.presentation.rows import Rows, draw_folded, draw_table, fits, markdown_table, one_line
from sqlanon.errors import InternalError, Position, SqlanonError
from sqlanon.statements.policies._proposal import script_lines

if TYPE_CHECKING:
    from rich.console import Console


MODES = ("table", "markdown", "json")

# A width at which nothing is cut off in a pipe.
_PIPE_WIDTH = 100_000
# DuckDB answers EXPLAIN with drawings of several lines.
_PLAN = ("explain_key", "explain_value")


@dataclass
class Output:
    """The options of printing: `limit` is the largest number of rows of a result: 0 means all, None means the default.

    `markdown` selects tables in Markdown or drawn with lines; None draws lines on a terminal and writes Markdown into a
    pipe.
    """

    json: bool = False
    quiet: bool = False
    verbose: int = 0
    limit: int | None = None
    markdown: bool | None = None
    _stdout: TextIO | None = field(default=None, repr=False)
    _stderr: TextIO | None = field(default=None, repr=False)
    _tables: int = field(default=0, repr=False)

    @cached_property
    def out(self) -> Console:
        """The console for results."""
        return _console(self._stdout or sys.stdout)

    @cached_property
    def err(self) -> Console:
        """The console for errors, progress and status lines."""
        return _console(self._stderr or sys.stderr)

    @property
    def mode(self) -> str:
        """Returns the form in which results are printed, one of `MODES`."""
        if self.json:
            return "json"
        is_markdown = not self.out.is_terminal if self.markdown is None else self.markdown
        return "markdown" if is_markdown else "table"

    def set_mode(self, mode: str) -> None:
        """Sets the form in which results are printed, one of `MODES`."""
        self.json = mode == "json"
        self.markdown = mode == "markdown"

    @property
    def debug(self) -> bool:
        """Whether texts are shown that may contain values: tracebacks, and complete messages of the database."""
        return self.verbose > 1 or bool(os.environ.get("SQLANON_DEBUG"))

    @property
    def row_limit(self) -> int | None:
        """Returns the largest number of rows that are shown: 40 on a terminal, and None, which means all, in a pipe or
        in JSON.
        """
        if self.limit is not None:
            return self.limit or None
        return 40 if self.out.is_terminal and not self.json else None

    def result(self, rows: Rows, **about: Any) -> None:
        """Prints the result of a statement; `about` are further items of its JSON object."""
        if self.json:
            answer = about | {"columns": list(rows.columns), "rows": rows.records(), "truncated": rows.truncated}
            self.json_line(answer)
        elif self.quiet or not rows.columns:
            return
        elif rows.columns == _PLAN:
            for _, plan in rows.rows:
                self.text(str(plan))
        else:
            self._table(rows)

    def fits(self, rows: Rows) -> bool:
        """Whether a table of these rows would show all their columns; always true outside of a terminal."""
        return self.mode != "table" or fits(rows, self.out.width)

    def folded(self, rows: Rows) -> None:
        """Prints a table like `result`; on a terminal, the last column's text is folded to the remaining width."""
        if self.mode == "table" and not self.quiet:
            self._space()
            draw_folded(self.out, rows)
        else:
            self.result(rows)

    def text(self, text: str) -> None:
        """Prints lines on standard output unchanged, unless the run is quiet."""
        if not self.quiet:
            self.out.print(_printable(text), soft_wrap=True)

    def json_line(self, answer: dict[str, Any]) -> None:
        """Prints one JSON object on a line of standard output."""
        if self.quiet:
            return
        file = self._stdout or sys.stdout
        print(json.dumps(answer, ensure_ascii=False, default=str), file=file, flush=True)

    def status(self, text: str) -> None:
        """Prints a line about the progress on standard error, unless the run is quiet or in JSON."""
        if not self.quiet and not self.json:
            self.err.print(one_line(text), style="dim", markup=False, highlight=False)

    def warning(
        self, text: str, position: Position | None = None, script: str | None = None, kind: str = "warning"
    ) -> None:
        """Prints `script.sql:12:5: warning: message` on standard error, unless the run is quiet or in JSON.

        In JSON, the warning is part of the statement's result. `kind` is the word before the message.
        """
        if self.quiet or self.json:
            return
        from rich.text import Text

        line = Text(_location(script, position), style="bold")
        line.append(f"{kind}: ", style="bold yellow").append(_printable(text), style="not bold")
        self.err.print(line)

    def error(self, error: SqlanonError, script: str | None = None) -> None:
        """Prints `script.sql:12:5: error: message`, with the hint on the next line, or the error as a JSON object."""
        if self.json:
            print(json.dumps(_error_record(error, script), ensure_ascii=False), file=self._stderr or sys.stderr)
            return
        from rich.text import Text

        line = Text(_location(script, error.position), style="bold")
        line.append("error: ", style="bold red").append(_printable(error.message), style="not bold")
        for excerpt_line in (error.excerpt or "").splitlines():
            line.append("\n  " + _printable(excerpt_line), style="not bold")
        if error.hint:
            line.append("\n  hint: ", style="cyan").append(_printable(error.hint), style="not bold")
        if error.query and self.verbose:
            line.append("\n  query: ", style="cyan").append(_printable(error.query), style="not bold")
        self.err.print(line, soft_wrap=True)
        if self.debug:
            self._trace(error)

    def unexpected(self, error: BaseException, script: str | None = None) -> None:
        """Prints an error that is a defect of sqlanon: only its type, because its text may contain values."""
        defect = InternalError(
            f"unexpected {type(error).__name__}: this is a defect of sqlanon",
            hint="SQLANON_DEBUG=1 or -vv shows where; please report it",
        )
        defect.__cause__ = error
        self.error(defect, script)

    def _trace(self, error: Exception) -> None:
        import traceback

        self.err.print("".join(traceback.format_exception(error)), style="dim", soft_wrap=True)

    def _space(self) -> None:
        """Prints an empty line between tables."""
        if self._tables:
            self.out.out("")
        self._tables += 1

    def _table(self, rows: Rows) -> None:
        self._space()
        if self.mode == "table":
            draw_table(self.out, rows)
        else:
            # Output into a pipe is neither folded nor cut.
            for line in markdown_table(rows):
                self.out.out(line, highlight=False)
        if rows.truncated:
            self.out.print(f"(the first {len(rows.rows)} rows; there are more)", style="dim")


def _console(file: TextIO) -> Console:
    from rich.console import Console

    class Printer(Console):
        """A console that raises BrokenPipeError once the reader of the pipe is gone."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Printer(file=file, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def _printable(text: str) -> str:
    return "\n".join(map(one_line, text.splitlines()))


def _location(script: str | None, position: Position | None) -> str:
    """Returns `script.sql:12:5: `, the form that compilers write and editors read."""
    parts = [script] if script else []
    parts += [str(position.line), str(position.column)] if position else []
    return one_line(":".join(parts)) + ": " if parts else ""


def _error_record(error: SqlanonError, script: str | None) -> dict[str, Any]:
    position = error.position
    return {
        "error": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "script": script,
        "line": position.line if position else None,
        "column": position.column if position else None,
        "excerpt": error.excerpt,
        "query": error.query,
        "exit_code": error.exit_code,
    }


# Answers with statements: proposals, shown as tables and a script to run, and lists of definitions.


# The most informative column is first, because a long name may leave no room for the last columns.
_FIGURES = ("unique_rows", "distinct", "missing", "distinction", "separation")


# The longest part of a definition that is shown, in characters.
_DEFINITION = 100


def show_definitions(output: Output, rows: Rows) -> None:
    """Prints a list of hierarchies, with only the beginning of a long definition, such as a query.

    A long definition would make each line of the table thousands of characters wide. JSON has the whole definitions.
    """
    at = rows.columns.index("definition")
    texts = [row[at] for row in rows.rows]
    short = [text if text is None or len(text) <= _DEFINITION else f"{text[: _DEFINITION - 1]}…" for text in texts]
    listed = zip(rows.rows, short, strict=True)
    output.result(Rows(rows.columns, tuple((*row[:at], text, *row[at + 1 :]) for row, text in listed), rows.truncated))
    if short != texts:
        output.status("long definitions are cut; in JSON they are whole: --json, or .mode json in the shell")


def show_advice(output: Output, rows: Rows) -> None:
    """Prints the chosen candidate with its figures, and below it the statements that publish it."""
    output.result(rows.without("statement"))
    _print_script(output, [f"{text.rstrip(';')};" for text in rows.column("statement") if text is not None])


def show_profile(output: Output, rows: Rows) -> None:
    """Prints an answer of PROFILE: tables of columns, of sets of columns and of columns that make rows special, then
    statements.

    On a narrow terminal, roles and figures of the columns have separate tables, and sets have fewer figures.
    """
    columns = _with_parts(rows, "column").without("part")
    if output.fits(columns):
        output.result(columns)
    else:
        roles = tuple((name, str(role).partition(" USING")[0], why) for name, role, why in _subject_rows(columns))
        output.folded(Rows(("subject", "proposal", "why"), roles))
        output.result(columns.only("subject", *_FIGURES))
    sets = _with_parts(rows, "columns", "key").without("missing").without("proposal")
    if sets.rows:
        fits = output.fits(sets)
        output.folded(sets if fits else sets.only("subject", "unique_rows", "distinct", "why"))
    if (special := _with_parts(rows, "special")).rows:
        output.folded(special.only("subject", "unique_rows", "why"))
    _print_script(output, [*(f"-- {row[-1]}" for row in _with_parts(rows, "remark").rows), *script_lines(rows.rows)])
    for _, path, *_, why in _with_parts(rows, "script").rows:
        output.text(f"\n{path}: {why}")


def _subject_rows(columns: Rows) -> Iterator[tuple[str, str, str]]:
    return zip(*(columns.column(name) for name in ("subject", "proposal", "why")), strict=True)


def _with_parts(rows: Rows, *parts: str) -> Rows:
    return Rows(rows.columns, tuple(row for row in rows.rows if row[0] in parts))


def _print_script(output: Output, lines: Sequence[str]) -> None:
    if lines:
        output.text("\n".join(["", *lines]))
