"""The commands that move rows: `sqlanon export` and `sqlanon import`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon.clients.terminal.databases import connected, existing
from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.options import AsJson, Quiet, ReadOnly, Verbose

_Database = Annotated[str, typer.Option("--database", "-d", metavar="FILE", help="The DuckDB file.")]

# The formats of sqlanon itself. Formats of plug-ins are left out: help and completion import no plug-in.
FORMATS = ("parquet", "csv", "duckdb", "arrow", "sqlite", "postgres")


def _formats(incomplete: str) -> list[str]:
    """Returns the formats that begin with the typed text."""
    return [name for name in FORMATS if name.startswith(incomplete)]


def export(
    name: Annotated[str, typer.Argument(metavar="RELEASE", help="The release, a snapshot; schema.name works too.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="Where the files go, or the URL of a database.")],
    database: _Database,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            autocompletion=_formats,
            help=f"{', '.join(FORMATS)}; else what the path says.",
        ),
    ] = None,
    partition: Annotated[
        list[str] | None,
        typer.Option("--partition-by", metavar="COLUMN", help="Files for each of its values; may be repeated."),
    ] = None,
    dictionary: Annotated[
        bool, typer.Option("--dictionary", metavar="", help="Write what each column is beside it, too.")
    ] = False,
    as_text: Annotated[
        bool, typer.Option("--text", metavar="", help="Write quasi-identifiers as text, whatever their levels.")
    ] = False,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", metavar="CHARACTER", help="Between the fields of CSV, such as ';'.")
    ] = None,
    quote: Annotated[
        str | None, typer.Option("--quote", metavar="CHARACTER", help='Around fields of CSV, in place of ".')
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", metavar="", help="Replace an earlier export.")] = False,
    with_report: Annotated[bool, typer.Option("--report", metavar="", help="Write its report beside it, too.")] = False,
    sign_key: Annotated[
        str | None,
        typer.Option("--sign-key", metavar="VARIABLE", help="Sign with the key in this environment variable."),
    ] = None,
    read_only: ReadOnly = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write a release and its certificate to files, or a schema of PostgreSQL, that hold nothing else.

    With --read-only the database does not record the export, and later releases do not warn of it.
    """
    from sqlanon.clients.terminal.command_arguments import release_name
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.clients.terminal.scripts import ScriptRun
    from sqlanon.statements.releases.export_release import ExportRelease

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        _require_release(name, path)
        statement = ExportRelease(
            release_name(name),
            path,
            format_,
            replace,
            with_report,
            sign_key,
            tuple(partition or ()),
            dictionary,
            as_text,
            delimiter,
            quote,
        ).sql()
        with connected(existing(database), read_only=read_only) as connection:
            runner = ScriptRun(connection, output)
            runner.run(statement, "sqlanon export", is_script=False)
        raise typer.Exit(runner.exit_code)


def _require_release(name: str, path: str) -> None:
    """Raises UserError if the path of an export is given in place of the release."""
    from sqlanon.errors import UserError

    if name.endswith("/") or "://" in name:
        raise UserError(
            f"{name} is a path, but the first argument must be a release",
            hint=f"write sqlanon export {path} {name}",
        )


def import_table(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="The URL of a PostgreSQL database, or a SQLite file."),
    ],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table there; schema.name works too.")],
    database: _Database,
    into: Annotated[
        str | None, typer.Option("--into", metavar="NAME", help="The new table; by default it has the same name.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", metavar="", help="Replace a table of that name.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Copy a table of PostgreSQL or SQLite into a table here, for a policy to be on it.

    The password comes from PGPASSWORD, PGSERVICE or ~/.pgpass.
    """
    from sqlanon.clients.terminal.command_arguments import release_name
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.domain.values import QualifiedName
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.sources.imports import imported

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        remote = release_name(table)
        here = release_name(into) if into else QualifiedName((remote.name,))
        with connected(database) as connection:
            count = imported(DuckDBEngine(connection.duckdb), source, remote, here, replace=replace)
        if as_json:
            output.json_line({"database": database, "table": str(here), "rows": count})
        output.status(f"imported {count:,} rows into the table {here} of {database}")
