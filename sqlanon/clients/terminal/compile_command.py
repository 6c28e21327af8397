"""The command that writes scripts for other warehouses: `sqlanon compile`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.clients.terminal.databases import connected, existing
from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.options import AsJson, Quiet, Verbose


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

    It may hold values of the source: those that hierarchies list, or the ends of regions. So only its owner may read a
    new file. Nothing is written to the database.
    """
    from sqlanon.clients.terminal.command_arguments import release_name
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.clients.terminal.report_file import new_for_its_owner, require_other_file
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
