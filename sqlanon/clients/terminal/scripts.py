"""Runs scripts and shows the result of each statement, for `sqlanon run`, `demo` and the shell."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import RLock, Timer
from typing import TYPE_CHECKING, Any

from sqlanon.clients.terminal.presentation.output import Output, show_advice, show_definitions, show_profile
from sqlanon.clients.terminal.presentation.rows import Rows
from sqlanon.clients.terminal.signals import interrupting, stop_of
from sqlanon.domain.identifiers import fold
from sqlanon.engines.translated import translated
from sqlanon.errors import (
    WITHHELD,
    EngineError,
    InternalError,
    PrivacyViolation,
    SqlanonError,
    UserError,
    not_encodable,
)
from sqlanon.statements.base import NOT_SATISFIED, PassThrough, Presentation, Statement
from sqlanon.statements.parser import hint_for
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.drop_release import DropRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.releases.refresh_release import RefreshRelease
from sqlanon.syntax.lexer import UNPAIRED

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


# The progress of a statement: a live line after a second, and with -v the SQL of each stage.


_SECONDS_BEFORE_LIVE_LINE = 1.0


class Watch:
    """Follows the stages of a statement; a connection calls `observe`.

    The live line appears on standard error, only on a terminal, and only for statements that take over a second.
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
        """Shows the current stage, with `done` of `total` steps if they are known, and, with -v, its SQL."""
        if sql and self._output.verbose:
            self._show(stage, sql)
        with self._lock:
            if sql is None or stage != self._stage:
                # The event of a query lacks the progress of its stage, which is kept.
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
            # `stop` was called after the timer ended, so the statement is over.
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


Answered = Callable[[Statement, Rows], None]

_ABOUT_RELEASES = (CreateRelease, RefreshRelease, ExportRelease)

# The columns of an answer that only reports that a statement is done.
_DONE = ("statement", "name", "outcome")
# The column of an answer that holds a warning, or NULL.
_WARNING = "warning"
# The column of an answer that holds the meaning of a figure, and the number of figures that are shown in words.
_MEANING = "meaning"
_IN_WORDS = 3
# The column of an answer that holds remarks, a line each, or NULL.
_REMARKS = "remarks"
# The column of an answer that holds the methods that were compared, a line each, or NULL.
_METHOD = "method"


def as_sqlanon_error(error: BaseException, statement: Statement | None) -> BaseException:
    """Converts an error to a SqlanonError with the statement's position; returns defects of sqlanon unchanged.

    A DuckDB error in the user's own SQL becomes a UserError, and a DuckDB error in sqlanon's SQL becomes an
    EngineError. The message keeps names and drops values.
    """
    known = _known_error(error, statement)
    return statement.locate(known) if statement and isinstance(known, SqlanonError) else known


def _known_error(error: BaseException, statement: Statement | None) -> BaseException:
    if isinstance(error, SqlanonError):
        return error
    if isinstance(error, OSError):
        what = f": {error.filename}" if error.filename else ""
        return EngineError(f"the system refuses: {error.strerror}{what}")
    if not _is_duckdb_error(error):
        return error
    translation = translated(error)  # type: ignore[arg-type]
    if translation.hint:
        # An error with a hint has the right class already.
        return translation
    is_fatal = type(error).__name__ in ("InternalException", "FatalException")
    is_sqlanons = is_fatal or not isinstance(statement, PassThrough)
    kind: type[SqlanonError] = EngineError if is_sqlanons else UserError
    withheld = WITHHELD in translation.message
    hint = "SQLANON_DEBUG=1 or -vv shows all of it, values included" if withheld else None
    message = translation.message
    quoted = translation.quoted
    if isinstance(statement, PassThrough):
        if statement.parts and statement.parts.is_doubtful:
            # DuckDB quotes the wrong word, which may be data if a quote is unpaired.
            (message, hint), quoted = UNPAIRED, None
        hint = hint or hint_for(error, statement.text)
    own_error = kind(message, hint=hint, quoted=quoted)
    own_error.__cause__ = error
    return own_error


def report(
    output: Output,
    error: BaseException,
    statement: Statement | None = None,
    script: str | None = None,
    *,
    is_script: bool = True,
) -> int:
    """Prints an error and returns the exit code of its kind."""
    known = as_sqlanon_error(error, statement)
    if isinstance(known, SqlanonError):
        if not is_script:
            known.position = known.excerpt = None
        output.error(known, script)
        return known.exit_code
    if isinstance(error, UnicodeEncodeError) and error.encoding != "utf-8":
        output.error(not_encodable(error), script)
        return UserError.exit_code
    output.unexpected(error, script)
    return InternalError.exit_code


def _is_duckdb_error(error: BaseException) -> bool:
    # Compared by name, because only the engines import the driver.
    return any(kind.__name__ == "Error" and kind.__module__ in ("duckdb", "_duckdb") for kind in type(error).__mro__)


class ScriptRun:
    """Runs scripts on one connection and prints the answers and errors.

    If `answered` is given, it is called with each statement and its result, which is then not printed. `exit_code` is
    the exit code of the first error, 1 after a CHECK with a requirement that is not met, and otherwise 0.
    """

    def __init__(self, connection: Any, output: Output, answered: Answered | None = None) -> None:
        self._connection = connection
        self._output = output
        self._answered = answered
        self._watch = Watch(output)
        self._statement: Statement | None = None
        self._begun = 0.0
        self._script = ""
        self.exit_code = 0
        self._is_script = True
        self._unexported: set[str] = set()
        self._warned: set[tuple[str, str]] = set()
        connection.observe(self._watch.observe)

    @property
    def unexported(self) -> str:
        """Returns the number of releases that were made but not exported, in words; empty if there are none."""
        count = len(self._unexported)
        return f"{count} release{'s' if count > 1 else ''}" if count else ""

    def run(self, text: str, script: str, *, is_script: bool = True) -> bool:
        """Runs the statements of `text` up to the first one that fails; returns whether all succeeded.

        `script` is the name of the text in messages. If `is_script` is false, as for a text that no user wrote,
        messages do not show a line. The effects of statements before a failure stay.
        """
        self._script, self._statement, self._is_script = script, None, is_script
        try:
            with interrupting(self._connection):
                self._connection.script(text, on_statement=self._on_statement)
            return True
        except BrokenPipeError:
            raise
        except Exception as error:
            if stop := stop_of(error):
                raise stop from None
            self._watch.stop()
            code = report(self._output, error, self._statement, self._script, is_script=self._is_script)
            self.exit_code = self.exit_code or code
            return False
        finally:
            self._watch.stop()

    def _on_statement(self, event: Any) -> None:
        self._statement = event.statement
        if event.phase == "start":
            self._begun = time.perf_counter()
            self._watch.start()
        else:
            self._ended(event.statement, event.result)
            for remark in event.remarks:
                self._output.warning(remark, event.statement.position, self._script, kind="remark")

    def _ended(self, statement: Statement, result: Any) -> None:
        is_sqlanons = not isinstance(statement, PassThrough)
        rows = Rows((), ())
        if result is not None:
            rows = Rows.of(result, None if is_sqlanons else self._output.row_limit)
        # A relation is computed while its rows are read, so the statement ends only now.
        self._watch.stop()
        seconds = time.perf_counter() - self._begun
        self._show(statement, rows, seconds)
        if is_sqlanons:
            self._warn(statement, rows)
            outcome = statement.outcome(rows.columns, rows.rows)
            if outcome == NOT_SATISFIED:
                self._not_satisfied(statement, rows)
        if isinstance(statement, CreateRelease | RefreshRelease):
            self._unexported.add(fold(statement.name.name))
        elif isinstance(statement, ExportRelease | DropRelease):
            self._unexported.discard(fold(statement.name.name))
        if is_sqlanons:
            self._output.status(f"{statement.label()}: {outcome} ({seconds:.2f} s)")

    def _warn(self, statement: Statement, rows: Rows) -> None:
        """Prints the warnings and remarks of an answer on standard error, without repetition.

        A warning about a release that was printed when the release was made is not printed with its export again.
        """
        release = fold(statement.name.name) if isinstance(statement, _ABOUT_RELEASES) else ""
        warnings = [warning for warning in dict.fromkeys(rows.column(_WARNING)) if warning is not None]
        for warning in warnings:
            if not isinstance(statement, ExportRelease) or (release, warning) not in self._warned:
                self._output.warning(warning, statement.position, self._script)
        self._warned |= {(release, warning) for warning in warnings}
        for remarks in dict.fromkeys(rows.column(_REMARKS)):
            for remark in (remarks or "").splitlines():
                self._output.warning(remark, statement.position, self._script, kind="remark")

    def _show(self, statement: Statement, rows: Rows, seconds: float) -> None:
        if self._answered:
            self._answered(statement, rows)
            return
        if self._output.json:
            self._output.result(rows, **_about(statement, self._script, seconds))
            return
        presentation = statement.presentation()
        if presentation is not Presentation.ROWS:
            _PRINTED[presentation](self._output, rows)
        elif not _says_only_that_it_is_done(statement, rows.without(_WARNING)):
            self._output.result(rows)

    def _not_satisfied(self, statement: Statement, rows: Rows) -> None:
        """Prints the number of a CHECK's requirements that are not met, and sets the exit code."""
        verdicts = [record["satisfied"] for record in rows.records() if record.get("required") is not None]
        failed = sum(verdict is not True for verdict in verdicts)
        self.exit_code = self.exit_code or PrivacyViolation.exit_code
        message = f"{statement.label()}: {failed} of {len(verdicts)} requirements are not met"
        self._output.error(PrivacyViolation(message, position=statement.position), self._script)


def _about(statement: Statement, script: str, seconds: float) -> dict[str, Any]:
    """Returns the items of a result's JSON object besides its rows: script, line, column, statement and seconds."""
    position = statement.position
    return {
        "script": script,
        "line": position.line if position else None,
        "column": position.column if position else None,
        "statement": statement.label(),
        "seconds": round(seconds, 6),
    }


def _says_only_that_it_is_done(statement: Statement, rows: Rows) -> bool:
    """Whether a result has no content besides the statement's outcome, or DuckDB's count of written rows."""
    counted = rows.columns == ("Count",) and statement.label() not in ("SELECT", "FROM", "WITH", "TABLE")
    return rows.columns == _DONE or counted or (rows.columns == ("Success",) and not rows.rows)


def _print_release(output: Output, rows: Rows) -> None:
    """Prints the figures of a release, without its remarks, which are printed as sentences."""
    result = (rows if any(rows.column(_WARNING)) else rows.without(_WARNING)).without(_REMARKS).without(_METHOD)
    for methods in dict.fromkeys(rows.column(_METHOD)):
        for line in (methods or "").splitlines():
            output.status(line)
    for table in _common_and_varying(result):
        output.result(table)


def _print_plan(output: Output, rows: Rows) -> None:
    """Prints the stages as a table and, with -v, the SQL of the stages below it."""
    long = [row for row in rows.rows if "\n" in str(row[-1])]
    hint = "{} lines of SQL" if output.verbose else "{} lines of SQL; -v shows them"
    steps = (row if row not in long else (*row[:-1], hint.format(row[-1].count("\n") + 1)) for row in rows.rows)
    output.result(Rows(rows.columns, tuple(steps)))
    if output.verbose:
        for row in long:
            output.text(f"\n{row[-1]}")


def _print_figures(output: Output, rows: Rows) -> None:
    """Prints two tables: the three figures in words, and the other figures, without the name of the release.

    On a terminal, the three figures come last, where the reader looks, and a repeated figure's meaning is shown once.
    """
    if _MEANING not in rows.columns or not rows.rows:
        output.result(rows)
        return
    short = rows.without("release")
    in_words, others = short.rows[:_IN_WORDS], short.rows[_IN_WORDS:]
    if output.mode == "table":
        named = [None, *(row[0] for row in others)]
        others = tuple(
            (*row[:-1], row[-1] if row[0] != before else "") for row, before in zip(others, named, strict=False)
        )
        in_words, others = others, in_words
    for part in (in_words, others):
        output.folded(Rows(short.columns, part))


# The functions that print answers with a presentation of their own.
_PRINTED: Mapping[Presentation, Callable[[Output, Rows], None]] = {
    Presentation.RELEASE: _print_release,
    # The warning is printed once and not for each file.
    Presentation.FILES: lambda output, rows: output.result(rows.without(_WARNING)),
    Presentation.PLAN: _print_plan,
    Presentation.PROFILE: show_profile,
    Presentation.DEFINITIONS: show_definitions,
    Presentation.SCRIPT: lambda output, rows: output.text("\n".join(str(row[0]) for row in rows.rows)),
    Presentation.FIGURES: _print_figures,
    # Without requirements these columns are empty.
    Presentation.UNASKED: lambda output, rows: output.result(rows.without("required").without("satisfied")),
    Presentation.ADVICE: show_advice,
}


def _common_and_varying(rows: Rows) -> list[Rows]:
    """Returns two tables: (item, value) of the columns whose value is the same in all rows, and the rows of the other
    columns.
    """
    common = [index for index in range(len(rows.columns)) if len({row[index] for row in rows.rows}) == 1]
    varying = [index for index in range(len(rows.columns)) if index not in common]
    if not rows.rows:
        return [rows]
    items = Rows(("item", "value"), tuple((rows.columns[index], rows.rows[0][index]) for index in common))
    others = tuple(tuple(row[index] for index in varying) for row in rows.rows)
    return [items, Rows(tuple(rows.columns[index] for index in varying), others)] if varying else [items]
