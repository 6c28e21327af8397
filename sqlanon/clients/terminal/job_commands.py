"""The commands of jobs: `sqlanon job run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.help_texts import Commands, examples
from sqlanon.clients.terminal.options import AsJson, Quiet, Verbose

# The exit code if another process has the database open: try again.
_IN_USE = 4

job = typer.Typer(cls=Commands, no_args_is_help=True, help="Run scripts again and again: for cron, Airflow and CI.")


@job.callback()
def _jobs() -> None:
    """Makes `run` a subcommand: with a single command, typer would drop its name."""


@job.command(epilog=examples("sqlanon job run jobs/*.sql --database warehouse.duckdb --log jobs.jsonl"))
def run(
    scripts: Annotated[list[str], typer.Argument(metavar="SCRIPT", help="SQL files; a job is called after its file.")],
    database: Annotated[str, typer.Option("--database", "-d", metavar="FILE", help="The DuckDB file.")],
    force: Annotated[bool, typer.Option("--force", metavar="", help="Run jobs of unchanged rows, too.")] = False,
    wait: Annotated[float, typer.Option("--wait", min=0, metavar="SECONDS", help="Wait for a database in use.")] = 0,
    log: Annotated[Path | None, typer.Option("--log", metavar="FILE", help="Append JSON lines to this file.")] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            "--metrics", metavar="FILE", help="Write metrics, as Prometheus reads them; it needs the extra jobs."
        ),
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option("--archive", metavar="FOLDER", help="Copy what each run exports to a folder of its own in it."),
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", min=1, metavar="N", help="Runs of each job that the archive keeps.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Run jobs: scripts that make their releases again if the rows that they read have changed.

    If a job fails, the next jobs run nevertheless. The exit code is the exit code of the first job that fails; it is 4
    if another process has the database open.
    """
    from sqlanon.clients.jobs.metrics import write_metrics
    from sqlanon.clients.terminal.command_arguments import read_script
    from sqlanon.clients.terminal.databases import existing
    from sqlanon.clients.terminal.job_run import JobLog, Jobs, LoggedOutput, connected_in_time
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.errors import InUseError, UserError

    output = LoggedOutput(json=as_json, quiet=quiet, verbose=verbose, log=JobLog(log, as_json))
    # An error of the log itself cannot be logged.
    with answering(Output(json=as_json, quiet=quiet, verbose=verbose)):
        if keep is not None and archive is None:
            raise UserError(
                "--keep limits the runs in an archive, but no archive is named", hint="name it: --archive FOLDER"
            )
        texts = [(Path(script).stem, *read_script(script)) for script in scripts]
        if len({name for name, _, _ in texts}) < len(texts):
            raise UserError(
                "two scripts have the same file name, which also names their jobs", hint="rename one of the files"
            )
        try:
            with connected_in_time(existing(database), wait) as connection:
                jobs = Jobs(connection, output, archive, keep, force, measured=metrics is not None)
                figures = [jobs.run(name, text, script) for name, script, text in texts]
        except InUseError as error:
            output.error(error)
            raise typer.Exit(_IN_USE) from None
        if metrics is not None:
            write_metrics(metrics, figures)
        raise typer.Exit(next((each.exit_code for each in figures if each.exit_code), 0))
