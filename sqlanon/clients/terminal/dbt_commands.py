"""The commands for dbt: `sqlanon dbt install`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.help_texts import Commands, examples
from sqlanon.clients.terminal.options import AsJson, Quiet, Verbose

dbt = typer.Typer(cls=Commands, no_args_is_help=True, help="Models of dbt that are releases, and tests of dbt.")


@dbt.callback()
def _projects() -> None:
    """Keeps `install` a command of its own, though there is no other."""


@dbt.command(epilog=examples("sqlanon dbt install", "sqlanon dbt install analytics/"))
def install(
    project: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of the dbt project, which has dbt_project.yml.")
    ] = Path(),
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write the materialization and the tests into a dbt project, as macros/sqlanon/.

    Those that an earlier version has written are replaced.
    """
    from sqlanon.clients.dbt.macro_files import install_macros
    from sqlanon.clients.terminal.presentation.output import Output

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        for path in install_macros(project):
            if output.json:
                output.json_line({"file": str(path)})
            output.status(f"wrote {path}")
