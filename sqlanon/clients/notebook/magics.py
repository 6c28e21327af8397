"""The IPython magics %sqlanon, %%sqlanon, %sqlanon_report and %sqlanon_policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from types import FunctionType
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.display import HTML, display

from sqlanon.clients.notebook.result import Result
from sqlanon.clients.session import Connection, StatementEvent, connect
from sqlanon.clients.terminal.command_arguments import release_name
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import is_connection
from sqlanon.export.report.markup import Page, paragraph
from sqlanon.export.report.page import report_page
from sqlanon.export.report.policy_page import policy_page
from sqlanon.statements.base import Statement
from sqlanon.statements.checks.check_release import CheckRelease
from sqlanon.statements.listings.describe_policy import DescribePolicy

# The progress of a statement, in a line below the cell that runs it.


_SECONDS_BEFORE_LINE = 1.0
_SECONDS_BETWEEN = 0.25


class Progress:
    """A line below a cell that appears after a second, shows the current stage, and is empty at the end.

    A connection calls `observe`. The line is updated at most four times a second.
    """

    def __init__(self) -> None:
        self._begun = self._written = monotonic()
        self._line: Any = None

    def observe(
        self, stage: str, sql: str | None, done: int | None, total: int | None, detail: str | None = None
    ) -> None:
        """Shows the current stage, with the number of its steps that are done, if it is known."""
        now = monotonic()
        is_early = now - self._begun < _SECONDS_BEFORE_LINE
        if sql is not None or is_early or (self._line is not None and now - self._written < _SECONDS_BETWEEN):
            return
        self._written = now
        steps = None if done is None or not total else f"{done} of {total}"
        self._write(": ".join(filter(None, [stage or "working", detail or steps])))

    def end(self) -> None:
        """Empties the line of progress, also in the saved notebook."""
        if self._line is not None:
            self._line.update(HTML(""))
            self._line = None

    def _write(self, words: str) -> None:
        line = HTML(paragraph(words))
        if self._line is None:
            self._line = display(line, display_id=True)
        else:
            self._line.update(line)


_T = TypeVar("_T")

# The packages whose errors are about the statement, and not about Python code.
_DATABASE = ("duckdb", "_duckdb")
_OPTIONS = ("database=", "connection=", "output=")


@magics_class
class SqlanonMagics(Magics):  # type: ignore[misc]
    """Runs statements on one connection, to a database in memory until the user names another."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._current: Connection | None = None

    @property
    def connection(self) -> Connection:
        """Returns the connection that the magics use; if no connection is named, it opens a database in memory."""
        if self._current is None:
            self._current = connect()
        return self._current

    @line_cell_magic  # type: ignore[untyped-decorator]
    def sqlanon(self, line: str, cell: str | None = None) -> Connection | Result | None:
        """Run statements of DuckDB and sqlanon on the connection of the notebook.

        %sqlanon [options] statement      runs it, and returns its answer
        %%sqlanon [options]               runs the script below it, and displays the answer of each statement
        %sqlanon [options]                returns the connection

        In a line IPython replaces {name} and $name by the values of variables, without quotes; in a
        script below %%sqlanon it does not.

        --database FILE, -d     uses a connection to this database from now on
        --connection NAME, -c   uses the connection in this variable, sqlanon's or DuckDB's, from now on
        --output NAME, -o       puts the last answer into this variable, and does not display it
        """
        options, statement = self.parse_options(line, "d:c:o:", *_OPTIONS, preserve_non_opts=True)
        self._choose(options)
        if cell is not None and statement.strip():
            raise UsageError("%%sqlanon takes options on its own line, and statements on the lines below it")
        text = statement if cell is None else cell
        output = options.get("o", options.get("output"))
        if output is not None and not output.isidentifier():
            raise UsageError(f"--output {output} is not the name of a variable")
        if not text.strip():
            return None if options else self.connection
        last = self._last_answer(text)
        if output is None:
            return last
        self.shell.user_ns[output] = last
        return None

    @line_magic  # type: ignore[untyped-decorator]
    def sqlanon_report(self, line: str) -> Page:
        """Display the report of a release: %sqlanon_report release. It needs the extra report."""
        name = release_name(_one_name(line, "sqlanon_report", "release"))
        return self._page(f"Report of the release {name}", CheckRelease(name), lambda engine: report_page(engine, name))

    @line_magic  # type: ignore[untyped-decorator]
    def sqlanon_policy(self, line: str) -> Page:
        """Display a policy and its hierarchies, drawn: %sqlanon_policy policy. It needs the extra report."""
        name = _one_name(line, "sqlanon_policy", "policy")
        return self._page(f"The policy {name}", DescribePolicy(name), lambda engine: policy_page(engine, name))

    def _page(self, title: str, statement: Statement, written: Callable[[Engine], str]) -> Page:
        return Page(title, _beside(self.shell.user_ns, partial(self.connection.page, statement, written)))

    def _choose(self, options: dict[str, str]) -> None:
        """Sets the connection that the options name."""
        database, variable = options.get("d", options.get("database")), options.get("c", options.get("connection"))
        if database is not None and variable is not None:
            raise UsageError("name a database or a connection, and not both")
        if database is not None:
            self._current = connect(database)
        if variable is not None:
            if variable not in self.shell.user_ns:
                raise UsageError(f"there is no variable {variable}")
            value = self.shell.user_ns[variable]
            if not (isinstance(value, Connection) or is_connection(value)):
                raise UsageError(f"{variable} is not a connection of sqlanon's or DuckDB's")
            self._current = value if isinstance(value, Connection) else connect(value)

    def _last_answer(self, text: str) -> Result | None:
        """Runs a script, displays the answer of each statement except the last, and returns the last answer.

        An answer is displayed when the next answer arrives, or when the script ends in an error.
        """
        last: list[Result] = []

        def note(event: StatementEvent) -> None:
            if event.phase == "end" and (event.result is not None or event.remarks):
                answer = Result(event.result, event.statement.label(), event.remarks)
                show()
                last.append(answer)

        def show() -> None:
            while last:
                display(last.pop())

        try:
            with self._watched(self.connection):
                _beside(self.shell.user_ns, partial(self.connection.script, text, note))
        except BaseException:
            show()
            raise
        return last[0] if last else None

    @contextmanager
    def _watched(self, connection: Connection) -> Iterator[None]:
        """Shows a statement's progress, except in a terminal, where a line cannot be updated."""
        if not hasattr(self.shell, "kernel"):
            yield
            return
        progress = Progress()
        before = connection.observe(progress.observe)
        try:
            yield
        finally:
            connection.observe(before)
            progress.end()


def _one_name(line: str, magic: str, kind: str) -> str:
    if not line.strip():
        raise UsageError(f"name a {kind}: %{magic} {kind}")
    return line.strip()


def _beside(variables: dict[str, Any], function: Callable[[], _T]) -> _T:
    """Calls a function with the notebook's variables in scope, so that statements find data frames by name."""
    try:
        result: _T = FunctionType(_call.__code__, variables)(function)
    except Exception as error:
        if type(error).__module__.partition(".")[0] in _DATABASE:
            # The frames of the traceback add nothing to the message.
            error._render_traceback_ = partial(_rendered, error)  # type: ignore[attr-defined]
        raise
    return result


def _call(function: Callable[[], Any]) -> Any:
    return function()


def _rendered(error: Exception) -> list[str]:
    return [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
