"""Runs a script and shows each statement's result: what `sqlanon run`, `demo` and the shell have in common."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import translated
from sqlanon.errors import EngineError, InternalError, PrivacyViolation, SqlanonError, UserError
from sqlanon.syntax.statements import (
    CheckRelation,
    CheckRelease,
    CreateHierarchy,
    CreatePolicy,
    CreateRelease,
    CreateWorkload,
    DropHierarchy,
    DropPolicy,
    DropRelease,
    DropWorkload,
    Estimate,
    ExplainRelease,
    ExportRelease,
    Measure,
    PassThrough,
    Statement,
)
from sqlanon.terminal.presentation import Output, Rows
from sqlanon.terminal.progress import Watch
from sqlanon.terminal.signals import interrupting, stop_of

__all__ = ["Answered", "ScriptRun", "label", "read_script", "release_name", "report", "sorted_out"]

Answered = Callable[[Statement, Rows], None]

_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")

# The columns with which a statement answers that has nothing to say but that it is done.
_DONE = ("statement", "name", "outcome")
# The column of an answer with what is to be looked at although the statement is done.
_WARNING = "warning"


def label(statement: Statement) -> str:
    """What kind of statement it is and on what: CREATE POLICY hospital, CHECK hospital_2026, SELECT, ..."""
    match statement:
        case PassThrough(text=text):
            words = re.findall(r"\w+", re.sub(r"/\*.*?\*/|--[^\n]*", " ", text, flags=re.DOTALL))
            return words[0].upper() if words else "SQL"
        case CreateHierarchy(definition=definition):
            return f"CREATE HIERARCHY {definition.name}"
        case DropHierarchy(name=name):
            return f"DROP HIERARCHY {name}"
        case CreatePolicy(policy=policy):
            return f"CREATE POLICY {policy.name}"
        case DropPolicy(name=name):
            return f"DROP POLICY {name}"
        case CreateWorkload(name=name):
            return f"CREATE WORKLOAD {name}"
        case DropWorkload(name=name):
            return f"DROP WORKLOAD {name}"
        case CreateRelease(kind=kind, name=release):
            return f"CREATE ANONYMIZED {kind.upper()} {release}"
        case ExplainRelease(create=create):
            return f"EXPLAIN ANONYMIZED {create.kind.upper()} {create.name}"
        case DropRelease(kind=kind, name=release):
            return f"DROP ANONYMIZED {kind.upper()} {release}"
        case CheckRelease(name=release):
            return f"CHECK {release}"
        case CheckRelation(source=source):
            return f"CHECK {source}"
        case Measure(release=release):
            return f"MEASURE {release}"
        case ExportRelease(name=release):
            return f"EXPORT {release}"
        case Estimate():
            return f"ESTIMATE FROM RELEASE {statement.release or statement.file}"


def read_script(script: str) -> tuple[str, str]:
    """The name of a script in messages and its text; `-` is standard input.

    Raises UserError when it cannot be read or is not UTF-8.
    """
    name = "<stdin>" if script == "-" else script
    try:
        read = sys.stdin.buffer.read() if script == "-" else Path(script).read_bytes()
        return name, read.decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"the script {name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"the script {name} is not UTF-8 text", hint="save it as UTF-8") from None


def release_name(text: str) -> QualifiedName:
    """A name as typed on a command line: `release`, `schema.release`, or with quotes as in SQL.

    Anything else is taken for the name itself, so that hostile names need no second kind of quotes.
    """
    if not _DOTTED.fullmatch(text):
        return QualifiedName((text,))
    parts = _PART.findall(text)
    return QualifiedName(tuple(part[1:-1].replace('""', '"') if part[0] == '"' else part for part in parts))


def sorted_out(error: BaseException, statement: Statement | None) -> BaseException:
    """The error as one of sqlanon's, with its place in the script, or itself where it is a defect of ours.

    What DuckDB says of the user's own SQL is the user's to mend. Its message passes on names and drops values.
    """
    position = statement.position if statement else None
    if isinstance(error, SqlanonError):
        return error.at(position)
    if isinstance(error, OSError):
        what = f": {error.filename}" if error.filename else ""
        return EngineError(f"the system refuses: {error.strerror}{what}", position=position)
    if not _is_duckdb_error(error):
        return error
    said = translated(error)  # type: ignore[arg-type]
    if said.hint:
        # It says what to change, and so whose it is.
        return said.at(position)
    ours = not isinstance(statement, PassThrough) or type(error).__name__ in ("InternalException", "FatalException")
    kind: type[SqlanonError] = EngineError if ours else UserError
    withheld = "withheld" in said.message
    hint = "SQLANON_DEBUG=1 or -vv shows all of it, values included" if withheld else None
    better = kind(said.message, hint=hint, position=position)
    better.__cause__ = error
    return better


def report(output: Output, error: BaseException, statement: Statement | None = None, script: str | None = None) -> int:
    """Prints an error, and returns the exit code that says whose fault it is."""
    better = sorted_out(error, statement)
    if isinstance(better, SqlanonError):
        output.error(better, script)
        return better.exit_code
    output.unexpected(error, script)
    return InternalError.exit_code


def _is_duckdb_error(error: BaseException) -> bool:
    # By name: the engines are the only place that imports the driver.
    return any(kind.__name__ == "Error" and kind.__module__ in ("duckdb", "_duckdb") for kind in type(error).__mro__)


class ScriptRun:
    """Runs scripts on one connection and prints what they answer, errors included.

    `answered`, if given, is called with each statement and its result in place of printing it. `exit_code` is
    that of the first error, 1 once a CHECK has found a requirement that is not met, else 0.
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
        connection.observe(self._watch.observe)

    def run(self, text: str, script: str) -> bool:
        """Runs the statements of `text` up to the first that fails; whether it came to the end.

        `script` is its name in messages. What ran before a failure stays.
        """
        self._script, self._statement = script, None
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
            code = report(self._output, error, self._statement, self._script)
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

    def _ended(self, statement: Statement, result: Any) -> None:
        ours = not isinstance(statement, PassThrough)
        rows = Rows((), ())
        if result is not None:
            rows = Rows.of(result, None if ours else self._output.row_limit)
        # A relation is computed while its rows are read, so only now the statement is over.
        self._watch.stop()
        seconds = time.perf_counter() - self._begun
        self._show(statement, rows, seconds)
        if ours:
            self._warn(statement, rows)
        outcome = rows.rows[0][2] if rows.columns == _DONE else "done"
        if isinstance(statement, CheckRelease | CheckRelation):
            outcome = "satisfied" if self._judge(statement, rows) else "not satisfied"
        if ours:
            self._output.status(f"{label(statement)}: {outcome} ({seconds:.2f} s)")

    def _warn(self, statement: Statement, rows: Rows) -> None:
        """Repeats what an answer warns of, where it is seen though the answer goes elsewhere."""
        for said in dict.fromkeys(rows.column(_WARNING)):
            if said is not None:
                self._output.warning(said, statement.position, self._script)

    def _show(self, statement: Statement, rows: Rows, seconds: float) -> None:
        if self._answered:
            self._answered(statement, rows)
            return
        if self._output.json:
            self._output.result(rows, **_about(statement, self._script, seconds))
            return
        if isinstance(statement, CreateRelease):
            shown = rows if any(rows.column(_WARNING)) else rows.without(_WARNING)
            for table in _once_and_each(shown):
                self._output.result(table)
        elif isinstance(statement, ExportRelease):
            # It is told once beside the files, and not with each of them.
            self._output.result(rows.without(_WARNING))
        elif isinstance(statement, ExplainRelease):
            self._explain(rows)
        elif not _says_only_that_it_is_done(statement, rows):
            self._output.result(rows)

    def _explain(self, rows: Rows) -> None:
        """The steps as a table; details of many lines, which are SQL, stand below it and only on demand."""
        long = [row for row in rows.rows if "\n" in str(row[-1])]
        hint = "{} lines of SQL" if self._output.verbose else "{} lines of SQL; -v shows them"
        steps = (row if row not in long else (*row[:-1], hint.format(row[-1].count("\n") + 1)) for row in rows.rows)
        self._output.result(Rows(rows.columns, tuple(steps)))
        if self._output.verbose:
            for row in long:
                self._output.text(f"\n{row[-1]}")

    def _judge(self, statement: Statement, rows: Rows) -> bool:
        """Whether a CHECK's requirements are met; reports it if not.

        A figure that nothing is required of has no verdict; a requirement without one is not met.
        """
        verdicts = [record["satisfied"] for record in rows.records() if record.get("required") is not None]
        failed = sum(verdict is not True for verdict in verdicts)
        if verdicts and not failed:
            return True
        self.exit_code = self.exit_code or PrivacyViolation.exit_code
        message = f"{label(statement)}: {failed} of {len(verdicts)} requirements are not met"
        self._output.error(PrivacyViolation(message, position=statement.position), self._script)
        return False


def _about(statement: Statement, script: str, seconds: float) -> dict[str, Any]:
    """What a machine needs to know of a result besides its rows."""
    place = statement.position
    return {
        "script": script,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "statement": label(statement),
        "seconds": round(seconds, 6),
    }


def _says_only_that_it_is_done(statement: Statement, rows: Rows) -> bool:
    """Whether the result is an outcome in one word, or DuckDB's count of the rows that a statement wrote."""
    counted = rows.columns == ("Count",) and label(statement) not in ("SELECT", "FROM", "WITH", "TABLE")
    return rows.columns == _DONE or counted or (rows.columns == ("Success",) and not rows.rows)


def _once_and_each(rows: Rows) -> list[Rows]:
    """What is the same in all rows as a table of items, and the rest as a table of rows."""
    same = [index for index in range(len(rows.columns)) if len({row[index] for row in rows.rows}) == 1]
    rest = [index for index in range(len(rows.columns)) if index not in same]
    if not rows.rows:
        return [rows]
    once = Rows(("item", "value"), tuple((rows.columns[index], rows.rows[0][index]) for index in same))
    each = Rows(tuple(rows.columns[i] for i in rest), tuple(tuple(row[i] for i in rest) for row in rows.rows))
    return [once, each] if rest else [once]
