"""The commands that write pages: `sqlanon report` and `sqlanon policy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.clients.terminal.databases import connected, existing
from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.help_texts import Commands, examples
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
    """Write a page about a release for a privacy officer: its requirements, its risks, and the success of attacks.

    Its plots need the extra report. The page loads nothing from a network.
    """
    from sqlanon.clients.terminal.command_arguments import release_name, write_report
    from sqlanon.clients.terminal.presentation.output import Output

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
    from sqlanon.clients.terminal.command_arguments import write_policy
    from sqlanon.clients.terminal.presentation.output import Output

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        with connected(existing(database), read_only=True) as connection:
            write_policy(connection, name, output_file, database)
        _say_written(output, "policy", output_file)


def _say_written(output: Output, key: str, path: Path) -> None:
    if output.json:
        output.json_line({key: str(path)})
    output.status(f"wrote {path}")


# The command `sqlanon compile`, which writes scripts for other warehouses.


def compile_(
    name: Annotated[str, typer.Argument(metavar="RELEASE", help="The release; schema.name works too.")],
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="NAME", help="postgres, redshift, snowflake, bigquery or spark.")
    ],
    database: Annotated[str, typer.Option("--database", "-d", metavar="FILE", help="The DuckDB file.")],
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="The table to read there; by default the policy's source."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="The table to write; by default the release's name.")
    ] = None,
    staging: Annotated[
        str | None,
        typer.Option("--staging", metavar="SCHEMA", help="Spark only: where rows lie until they are checked."),
    ] = None,
    output_file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The script; replaced. Printed without it.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write a script that makes a release again in another warehouse, from the source that lies there.

    It may hold values of the source: values in hierarchies, or the ends of regions. So only its owner may read a
    new file. Nothing is written to the database.
    """
    from sqlanon.clients.terminal.command_arguments import new_for_its_owner, release_name, require_other_file
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.export.warehouses.compiled import compiled

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        if output_file is not None:
            require_other_file(output_file, database, "release.sql")
        locations = {"source": source, "target": target, "staging": staging}
        names = {key: None if text is None else release_name(text) for key, text in locations.items()}
        with connected(existing(database), read_only=True) as connection:
            text = compiled(DuckDBEngine(connection.duckdb), release_name(name), dialect, **names)
        if output_file is None:
            typer.echo(text, nl=False)
            return
        with open(output_file, "w", encoding="utf-8", newline="\n", opener=new_for_its_owner) as script:
            script.write(text)
        if output.json:
            output.json_line({"script": str(output_file), "dialect": dialect})
        output.status(f"wrote {output_file}")


# The commands for dbt: `sqlanon dbt install`.


dbt = typer.Typer(cls=Commands, no_args_is_help=True, help="Models of dbt that are releases, and tests of dbt.")


@dbt.callback()
def _projects() -> None:
    """Makes `install` a subcommand: with a single command, the parser would drop its name."""


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
