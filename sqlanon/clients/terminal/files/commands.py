"""The commands that read a data file: `sqlanon profile` and `sqlanon anonymize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.clients.terminal.exit_codes import answering
from sqlanon.clients.terminal.options import AsJson, Quiet, Verbose

# The exit code that a shell reports for a program that Ctrl-C ended.
_INTERRUPTED = 130
# The defaults of policies, K_BY_DEFAULT and L_BY_DEFAULT, repeated because help and completion do not import them.
_K, _L = 5, 2
# The formats of an export to files. Formats of plug-ins are left out: help and completion import no plug-in.
_FORMATS = ("csv", "parquet", "duckdb", "arrow", "sqlite")

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, Parquet, JSON or Excel; FILE.duckdb:TABLE; a pattern in quotes; - reads standard input.",
    ),
]
Nulls = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TEXT", help="A text of a CSV file that means a missing value; may be repeated."),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="The encoding of a CSV file, such as latin-1.")
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar="CHARACTER", help="The decimal separator of a CSV file, where it is a comma."),
]
Replace = Annotated[bool, typer.Option("--replace", metavar="", help="Replace the earlier files there.")]


def _formats(incomplete: str) -> list[str]:
    """Returns the formats that begin with the typed text."""
    return [name for name in _FORMATS if name.startswith(incomplete)]


def profile(
    files: Files,
    script: Annotated[
        Path | None,
        typer.Option("--output", "--script", "-o", metavar="FILE", help="Write a script to edit, too; - prints it."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="A codebook: CSV with a column's name and label on each line."),
    ] = None,
    nulls: Nulls = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    replaces: Replace = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Describe a data file and the people at risk in it, and propose a script to begin with.

    The file stays as it is, and no value of it is printed. PROFILE reads names and values; what it proposes is for you
    to judge.
    """
    from sqlanon.clients.terminal.presentation.output import Output

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        from sqlanon.clients.terminal.files.named_data import data_of
        from sqlanon.clients.terminal.files.publish import profile as profiled

        with data_of(files, nulls or (), encoding, decimal) as data:
            profiled(files, data, output, script, replaces=replaces, labels=labels)


def anonymize(
    files: Files,
    known: Annotated[
        list[str] | None,
        typer.Option("--known", metavar="COLUMNS", help="Columns that others may know of a person, as in age,sex,zip."),
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option("--secret", metavar="COLUMNS", help="Columns that nobody should learn; '' if there are none."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where the release and its certificate go; or a file."),
    ] = None,
    k: Annotated[
        int, typer.Option("--k", "-k", metavar="NUMBER", help="The least number of rows that look alike.")
    ] = _K,
    values: Annotated[
        int,
        typer.Option(
            "--l",
            "-l",
            metavar="NUMBER",
            help="The least number of values of each secret among rows that look alike.",
        ),
    ] = _L,
    entity: Annotated[
        str | None,
        typer.Option("--entity", metavar="COLUMN", help="The number of a person who has several rows; not published."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="COLUMNS", help="Columns that are not published, whatever PROFILE proposes."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="COLUMNS", help="Columns to publish though they look like identifiers."),
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", metavar="METHOD", help="As behind METHOD; by default the best that fits.")
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            autocompletion=_formats,
            help=f"{', '.join(_FORMATS)}; else as the data.",
        ),
    ] = None,
    nulls: Nulls = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    with_report: Annotated[bool, typer.Option("--report", metavar="", help="Write its report beside it, too.")] = False,
    script: Annotated[
        Path | None, typer.Option("--script", metavar="FILE", help="Write the SQL that ran; - prints it.")
    ] = None,
    replaces: Replace = False,
    is_dry: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Print the summary, and write no file.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Publish a data file in which nobody can be found, and summarize the result.

    Columns that are neither known nor secret are not published. Without --known or --secret a terminal asks.

    Exit code 1 if the requirements cannot be met.
    """
    from sqlanon.clients.terminal.presentation.output import Output

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        from sqlanon.clients.api.text_arguments import method_argument
        from sqlanon.clients.terminal.files.named_data import data_of
        from sqlanon.clients.terminal.files.publish import anonymize as anonymized
        from sqlanon.clients.terminal.files.request import Wanted, listed

        wanted = Wanted(
            listed(known),
            listed(secret),
            listed(drop) or (),
            listed(allow) or (),
            entity,
            k,
            values,
            method_argument(method) if method is not None else None,
            format_,
            target,
            replaces,
            with_report,
        )
        try:
            with data_of(files, nulls or (), encoding, decimal) as data:
                anonymized(files, data, wanted, output, script, is_dry=is_dry)
        except typer.Abort:
            # The user typed Ctrl-C or Ctrl-D in place of an answer.
            typer.echo("\nno answer: nothing was written", err=True)
            raise typer.Exit(_INTERRUPTED) from None
