"""Runs jobs: scripts that run only if there is something to do, with a log, metrics and an archive."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.catalog import jobs as catalog
from sqlanon.catalog import migrations, releases
from sqlanon.clients.jobs.inputs import (
    Outputs,
    archived,
    inputs_digest,
    outputs_of,
    released_names,
    remove_oldest,
    script_digest,
)
from sqlanon.clients.jobs.metrics import JobFigures
from sqlanon.clients.terminal.command_arguments import new_for_its_owner
from sqlanon.clients.terminal.databases import connected
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.scripts import ScriptRun, report
from sqlanon.domain.series import FinishedJob
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import EngineError, InUseError, SqlanonError, UserError
from sqlanon.statements.base import Statement
from sqlanon.statements.checks.check_export import CheckExport
from sqlanon.statements.checks.check_release import CheckRelease
from sqlanon.statements.checks.check_series import CheckSeries
from sqlanon.statements.parser import parse_script
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.releases.refresh_release import RefreshRelease

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlanon.clients.terminal.presentation.rows import Rows


# The log of jobs: a JSON object a line for each event, without rows; an error's message may contain a value.


@dataclass(frozen=True)
class JobLog:
    """Appends lines to a log file, and prints them if JSON output is wanted.

    Only the owner may read a new file. Raises UserError for a file that cannot be written.
    """

    path: Path | None = None
    printed: bool = False

    def write(self, job: str, event: str, **about: Any) -> None:
        """Writes one line: the timestamp (UTC), the job, the event, and its details."""
        timestamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": timestamp, "job": job, "event": event, **about}, ensure_ascii=False, default=str)
        if self.printed:
            print(line, file=sys.stdout, flush=True)
        if self.path is not None:
            try:
                with open(self.path, "a", encoding="utf-8", opener=new_for_its_owner) as file:
                    file.write(f"{line}\n")
            except OSError as error:
                raise UserError(f"the log {self.path} cannot be written: {error.strerror}") from None


@dataclass
class LoggedOutput(Output):
    """Output that also writes errors and warnings into a log."""

    log: JobLog = JobLog()
    job: str = ""

    def error(self, error: SqlanonError, script: str | None = None) -> None:
        """Writes the error into the log, and prints it unless the output is JSON."""
        about = {"message": error.message, "hint": error.hint, "position": error.position and str(error.position)}
        self.log.write(self.job, "error", kind=type(error).__name__, **about)
        if not self.json:
            super().error(error, script)

    def warning(self, text: str, position: Any = None, script: str | None = None, kind: str = "warning") -> None:
        """Writes the warning into the log and prints it."""
        self.log.write(self.job, kind, message=text, position=position and str(position))
        super().warning(text, position, script, kind)


# Statements whose answers contain figures of releases, but no values.
_OF_RELEASES = (CreateRelease, RefreshRelease, CheckRelease, CheckExport, CheckSeries, ExportRelease)
# The seconds between two attempts to open a database that is in use.
_PAUSE = 0.5


@contextmanager
def connected_in_time(database: str, wait: float) -> Iterator[Any]:
    """Opens a database and waits up to `wait` seconds if it is in use. Raises InUseError if it stays in use."""
    until = time.monotonic() + wait
    with ExitStack() as opened:
        while True:
            try:
                connection = opened.enter_context(connected(database))
                break
            except InUseError:
                if time.monotonic() >= until:
                    raise
                time.sleep(_PAUSE)
        yield connection


@dataclass(frozen=True)
class Jobs:
    """Runs jobs on one connection. The exports of a successful job are copied to `archive`, which keeps `most` runs.

    If `force` is true, a job runs even if nothing has changed. If `measured` is true, the figures include measurements
    of releases.
    """

    connection: Any
    output: LoggedOutput
    archive: Path | None = None
    most: int | None = None
    force: bool = False
    measured: bool = False

    def run(self, name: str, text: str, script: str) -> JobFigures:
        """Runs a job unless nothing has changed, and returns its outcome. Errors are printed and set the exit code."""
        output = replace(self.output, job=name)
        output.log.write(name, "begun", script=script)
        begun = time.perf_counter()
        try:
            exit_code, is_unchanged = self._run(output, name, text, script)
        except (SqlanonError, OSError) as error:
            exit_code, is_unchanged = report(output, error, script=script), False
        seconds = round(time.perf_counter() - begun, 3)
        outcome = "failed" if exit_code else "unchanged" if is_unchanged else "done"
        output.log.write(name, "ended", outcome=outcome, exit_code=exit_code, seconds=seconds)
        output.status(f"job {name}: {'nothing to do' if is_unchanged else outcome} ({seconds:.2f} s)")
        figures = JobFigures(name, exit_code, is_unchanged, seconds, None)
        return self._with_releases(figures, text) if self.measured else figures

    def _run(self, output: LoggedOutput, name: str, text: str, script: str) -> tuple[int, bool]:
        """Runs one job; returns the exit code, and whether the job was skipped because nothing had changed."""
        engine = DuckDBEngine(self.connection.duckdb)
        statements = list(parse_script(text))
        job = FinishedJob(name, script_digest(engine, text), inputs_digest(engine, statements))
        if not self.force and self._is_done(engine, job, statements):
            return 0, True
        runner = ScriptRun(self.connection, output, _Steps(output, name).ended)
        try:
            runner.run(text, script)
            exit_code = runner.exit_code
            if not exit_code and engine.in_transaction():
                hint = "end the script with COMMIT; the statements after BEGIN were undone"
                raise UserError(f"{script} leaves a transaction open", hint=hint)
        finally:
            # The next job must begin without an open transaction.
            with suppress(EngineError):
                engine.run("ROLLBACK")
        if exit_code:
            return exit_code, False
        if self.archive is not None:
            copy = archived(engine, statements, self.archive / name)
            if copy is not None:
                output.log.write(name, "archived", path=copy.as_posix())
            # A run without an archived copy removes no earlier run.
            for path in remove_oldest(copy, self.most) if copy is not None and self.most is not None else ():
                output.log.write(name, "removed", path=path.as_posix())
        if migrations.ready(engine):
            catalog.record(engine, _outputs(engine, statements).recorded(job))
        return 0, False

    def _is_done(self, engine: DuckDBEngine, job: FinishedJob, statements: Sequence[Statement]) -> bool:
        """Whether the last run had the same script and inputs and its outputs are unchanged; if this is true, records
        this success.
        """
        last = catalog.finished(engine, job.name)
        if last is None or not job.inputs or (last.script, last.inputs) != (job.script, job.inputs):
            return False
        is_done = _outputs(engine, statements).are_of(last)
        if is_done:
            catalog.record(engine, last)
        return is_done

    def _with_releases(self, figures: JobFigures, text: str) -> JobFigures:
        """Returns the figures with the current measurements of the job's releases and its last success."""
        engine = DuckDBEngine(self.connection.duckdb)
        last = catalog.finished(engine, figures.job)
        figures = replace(figures, finished_at=last.finished_at if last else None)
        # A script that cannot be read was reported before.
        with suppress(SqlanonError):
            of_job = _outputs(engine, list(parse_script(text))).releases
            figures = replace(figures, releases=[(each, releases.measurements(engine, each)) for each in of_job])
        return figures


def _outputs(engine: DuckDBEngine, statements: Sequence[Statement]) -> Outputs:
    return outputs_of(engine, statements, released_names(engine, statements))


class _Steps:
    """Writes each statement into the log when it has ended."""

    def __init__(self, output: LoggedOutput, job: str) -> None:
        self._output, self._job = output, job
        self._last = time.perf_counter()

    def ended(self, statement: Statement, rows: Rows) -> None:
        """Logs a statement that has ended.

        The answer is logged only if it is about releases; other answers may contain values.
        """
        now = time.perf_counter()
        seconds, self._last = round(now - self._last, 3), now
        about = {"answer": rows.records()} if isinstance(statement, _OF_RELEASES) else {}
        self._output.log.write(self._job, "statement", statement=statement.label(), seconds=seconds, **about)
