"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Database = Annotated[str, typer.Option("--database", "-d", metavar="FILE", help="The DuckDB file; created if missing.")]
SameFile = Annotated[
    str | None, typer.Option("--database", "-d", metavar="FILE", help="The same, as the other commands call it.")
]
# A flag takes no value: an empty metavar keeps its type out of the help.
AsJson = Annotated[
    bool, typer.Option("--json", metavar="", help="One JSON object a line; errors as JSON on standard error.")
]
ReadOnly = Annotated[
    bool,
    typer.Option(
        "--read-only",
        metavar="",
        help="Open the file for reading only: others can read it meanwhile, and nothing is written.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.")]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        metavar="",
        show_default=False,
        help="Show the SQL of each stage; -vv also tracebacks.",
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=0, metavar="ROWS", help="Rows shown of a result; 0 for all of them.")
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="NAME", help="Where rows are: duckdb, or spark, in a Spark session of this process."
    ),
]
SummaryRows = Annotated[
    int | None,
    typer.Option(
        "--summary-rows",
        metavar="ROWS",
        help="With --engine spark, the most rows of a summary that is collected into DuckDB; 5,000,000 by default.",
    ),
]
Releases = Annotated[
    str | None,
    typer.Option("--releases", metavar="FOLDER", help="With --engine spark, the folder for the Parquet files."),
]
