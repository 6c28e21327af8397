"""Scripts, releases and files of reports as command lines name them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlanon.domain.identifiers import nearest
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError

# What is typed on a command line: scripts, names of releases, variables.


# The marks at the beginning of a text in UTF-16; without one, half of the bytes of what is written in ASCII are zero.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# The endings of files that hold data, and the length of a path that file systems allow.
_DATA = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".xlsx", ".csv.gz")
_LONGEST_PATH = 4096
_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")


def read_script(script: str) -> tuple[str, str]:
    """The name of a script in messages and its text; `-` is standard input.

    Raises UserError when it cannot be read, is not UTF-8 or is no script but a database.
    """
    name = "<stdin>" if script == "-" else script
    if script != "-":
        _require_script(script)
    try:
        read = sys.stdin.buffer.read() if script == "-" else Path(script).read_bytes()
    except (OSError, ValueError) as error:
        raise UserError(
            f"the script {name} cannot be read: {getattr(error, 'strerror', None) or error}", hint=_near_script(script)
        ) from None
    if read[8:12] == b"DUCK":
        raise UserError(f"{name} is a DuckDB database and no script", hint=f"name it with --database {name}")
    if read[:2] in _UTF_16 or b"\0" in read[:2]:
        hint = "save it as UTF-8 in your editor; in PowerShell, > writes UTF-16: use Set-Content -Encoding utf8"
        raise UserError(f"the script {name} is UTF-16 text, and not UTF-8", hint=hint)
    try:
        return name, read.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = read.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8 in your editor, which knows the encoding that it has now"
        raise UserError(f"the script {name} is not UTF-8 text: its line {line} is not", hint=hint) from None


def _near_script(script: str) -> str | None:
    """The script beside a path that there is not, if one has nearly its name."""
    with suppress(OSError, ValueError):
        path = Path(script)
        names = [other.name for other in path.parent.iterdir() if other.suffix.lower() == ".sql"]
        return nearest(path.name if path.suffix else f"{path.name}.sql", names)
    return None


def _require_script(script: str) -> None:
    """Raises UserError, with what was meant, for SQL in the place of a file's name, and for a file of data."""
    if script.lower().endswith(_DATA):
        raise UserError(
            f"{script} is a file of data, and no script",
            hint=f"sqlanon profile {script} says what is in it; sqlanon anonymize {script} publishes it",
        )
    if re.search(r"\s", script) and not script.lower().endswith(".sql") and not Path(script[:_LONGEST_PATH]).exists():
        raise UserError(
            "a script is named by its file, and this is none: it looks like SQL",
            hint="save it to a file, or pipe it in: echo '...;' | sqlanon run -",
        )


def set_variables(connection: Any, settings: Sequence[str]) -> None:
    """Sets variables of the session from NAME=VALUE; a value that is a number is one. Raises UserError for others."""
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"--set {setting} is no NAME=VALUE", hint="write --set k=5")
        connection.duckdb.execute(f"SET VARIABLE {name} = ?", [_typed(value)])


def _typed(value: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def release_name(text: str) -> QualifiedName:
    """A name as typed on a command line: `release`, `schema.release`, or with quotes as in SQL.

    Anything else is taken for the name itself, so that hostile names need no second kind of quotes.
    """
    if not _DOTTED.fullmatch(text):
        return QualifiedName((text,))
    parts = _PART.findall(text)
    return QualifiedName(tuple(part[1:-1].replace('""', '"') if part[0] == '"' else part for part in parts))


# The file of a report.


# What DuckDB writes beside a database: a log that is replaced holds all that was committed since the last checkpoint.
_BESIDE = ("", ".wal", ".tmp")


def write_report(connection: Any, name: QualifiedName, path: Path, database: str) -> None:
    """Writes the report of a release in the place of a file of this name; what was there stays where it fails.

    Raises what `report_page` raises, and UserError for a path that cannot be written, or that is the database.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.export.report.page import report_page
    from sqlanon.export.report.page_file import write_page

    require_other_file(path, database, "report.html")
    write_page(path, report_page(DuckDBEngine(connection.duckdb), name))


def write_policy(connection: Any, name: str, path: Path, database: str) -> None:
    """Writes the page of a policy in the place of a file of this name; what was there stays where it fails.

    Raises what `policy_page` raises, and UserError for a path that cannot be written, or that is the database.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.export.report.page_file import write_page
    from sqlanon.export.report.policy_page import policy_page

    require_other_file(path, database, "policy.html")
    write_page(path, policy_page(DuckDBEngine(connection.duckdb), name))


def new_for_its_owner(path: str, flags: int) -> int:
    """An opener for `open`: only its owner may read a file that is new, and one that is there keeps its mode."""
    return os.open(path, flags, 0o600)


def require_other_file(path: Path, database: str, example: str) -> None:
    """Raises UserError for the database and the files that DuckDB writes beside it, by whatever name."""
    for suffix in _BESIDE:
        taken = Path(f"{Path(database).resolve()}{suffix}")
        if path.resolve() == taken or (path.exists() and taken.exists() and path.samefile(taken)):
            raise UserError(f"{path} is the database, or a file of it", hint=f"write -o {example}")
