"""Runs jobs: each script if there is anything to do, with what came of it in a log, in figures and in an archive."""

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


# The log of jobs: a JSON object a line, of what was done and how it ended, without rows; errors may name a value.


@dataclass(frozen=True)
class JobLog:
    """Appends lines to a file, and prints them where they are wanted as JSON.

    Only its owner may read a new file. Raises UserError for one that cannot be written.
    """

    path: Path | None = None
    printed: bool = False

    def write(self, job: str, event: str, **about: Any) -> None:
        """One line: the moment (UTC), the job, what happened, and what there is to say of it."""
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": moment, "job": job, "event": event, **about}, ensure_ascii=False, default=str)
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
    """Output whose errors and warnings are in a log, too."""

    log: JobLog = JobLog()
    job: str = ""

    def error(self, error: SqlanonError, script: str | None = None) -> None:
        """Prints the error, and writes it into the log."""
        about = {"message": error.message, "hint": error.hint, "position": error.position and str(error.position)}
        self.log.write(self.job, "error", kind=type(error).__name__, **about)
        if not self.json:
            super().error(error, script)

    def warning(self, text: str, position: Any = None, script: str | None = None, kind: str = "warning") -> None:
        """Prints the warning, and writes it into the log."""
        self.log.write(self.job, kind, message=text, position=position and str(position))
        super().warning(text, position, script, kind)


# Statements whose answers have figures of releases, and no values.
_OF_RELEASES = (CreateRelease, RefreshRelease, CheckRelease, CheckExport, CheckSeries, ExportRelease)
# So many seconds are between two looks at a database that is in use.
_PAUSE = 0.5


@contextmanager
def connected_in_time(database: str, wait: float) -> Iterator[Any]:
    """A connection to a database that is in use for `wait` seconds at most. Raises InUseError if it is for longer."""
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
    """Jobs on one connection. Each that is run to its end is copied to the `archive`, which has `most` runs of it.

    If `force`, a job is run whether anything has changed or not; if `measured`, the figures have those of releases.
    """

    connection: Any
    output: LoggedOutput
    archive: Path | None = None
    most: int | None = None
    force: bool = False
    measured: bool = False

    def run(self, name: str, text: str, script: str) -> JobFigures:
        """Runs a job, or says that there is nothing to do. What fails is printed, and its exit code returned."""
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
        """The exit code, and whether there was nothing to do."""
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
                hint = "end the script with COMMIT; nothing that stands behind BEGIN was done"
                raise UserError(f"{script} leaves a transaction open", hint=hint)
        finally:
            # The next job begins without a transaction; most leave none.
            with suppress(EngineError):
                engine.run("ROLLBACK")
        if exit_code:
            return exit_code, False
        if self.archive is not None:
            copy = archived(engine, statements, self.archive / name)
            if copy is not None:
                output.log.write(name, "archived", path=copy.as_posix())
            # A run that has archived nothing takes no former one's place.
            for path in remove_oldest(copy, self.most) if copy is not None and self.most is not None else ():
                output.log.write(name, "removed", path=path.as_posix())
        if migrations.ready(engine):
            catalog.record(engine, _outputs(engine, statements).recorded(job))
        return 0, False

    def _is_done(self, engine: DuckDBEngine, job: FinishedJob, statements: Sequence[Statement]) -> bool:
        """Whether the last run was of the same script on the same rows, and what it made stands; it is recorded so."""
        last = catalog.finished(engine, job.name)
        if last is None or not job.inputs or (last.script, last.inputs) != (job.script, job.inputs):
            return False
        is_done = _outputs(engine, statements).are_of(last)
        if is_done:
            catalog.record(engine, last)
        return is_done

    def _with_releases(self, figures: JobFigures, text: str) -> JobFigures:
        """The figures with those of the releases as they stand now, and with when the job last came to its end."""
        engine = DuckDBEngine(self.connection.duckdb)
        last = catalog.finished(engine, figures.job)
        figures = replace(figures, finished_at=last.finished_at if last else None)
        # A script that is none was told before.
        with suppress(SqlanonError):
            of_job = _outputs(engine, list(parse_script(text))).releases
            figures = replace(figures, releases=[(each, releases.measurements(engine, each)) for each in of_job])
        return figures


def _outputs(engine: DuckDBEngine, statements: Sequence[Statement]) -> Outputs:
    return outputs_of(engine, statements, released_names(engine, statements))


class _Steps:
    """Writes each statement into the log as it ends."""

    def __init__(self, output: LoggedOutput, job: str) -> None:
        self._output, self._job = output, job
        self._last = time.perf_counter()

    def ended(self, statement: Statement, rows: Rows) -> None:
        """Logs the answer of a statement about releases, which is figures; answers of other statements may be values
        and are left out.
        """
        now = time.perf_counter()
        seconds, self._last = round(now - self._last, 3), now
        about = {"answer": rows.records()} if isinstance(statement, _OF_RELEASES) else {}
        self._output.log.write(self._job, "statement", statement=statement.label(), seconds=seconds, **about)
