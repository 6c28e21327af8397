"""The commands that write pages: `sqlanon report` and `sqlanon policy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.clients.terminal.databases import connected, existing
from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.options import AsJson, Quiet, ReadOnly, Verbose

if TYPE_CHECKING:
    from sqlanon.clients.terminal.presentation.output import Output


_File = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file; replaced.")]
_Database = Annotated[str, typer.Option("--database", "-d", metavar="FILE", help="The DuckDB file.")]


def report(
    name: Annotated[str, typer.Argument(metavar="RELEASE", help="The release; schema.name works too.")],
    output_file: _File,
    database: _Database,
    read_only: ReadOnly = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write a page about a release for a privacy officer: what it reaches, gives away, and how attacks fare.

    Its plots need the extra report. The page loads nothing from a network.
    """
    from sqlanon.clients.terminal.command_arguments import release_name
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.clients.terminal.report_file import write_report

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        with connected(existing(database), read_only=read_only) as connection:
            write_report(connection, release_name(name), output_file, database)
        _say_written(output, "report", output_file)


def policy(
    name: Annotated[str, typer.Argument(metavar="POLICY", help="The policy.")],
    output_file: _File,
    database: _Database,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write a page about a policy, with its hierarchies drawn; it needs the extra report.

    The database is opened for reading only.
    """
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.clients.terminal.report_file import write_policy

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        with connected(existing(database), read_only=True) as connection:
            write_policy(connection, name, output_file, database)
        _say_written(output, "policy", output_file)


def _say_written(output: Output, key: str, path: Path) -> None:
    if output.json:
        output.json_line({key: str(path)})
    output.status(f"wrote {path}")
