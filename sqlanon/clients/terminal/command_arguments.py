"""Arguments of commands: scripts, names of releases, variables, and files of reports."""

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

# Arguments typed on a command line: scripts, names of releases, variables.


# The byte order marks of UTF-16; in ASCII text without a mark, every second byte is zero.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# The suffixes of data files, and the longest path that file systems allow.
_DATA = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".xlsx", ".csv.gz")
_LONGEST_PATH = 4096
_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")


def read_script(script: str) -> tuple[str, str]:
    """Returns a script's name in messages and its text; `-` is standard input.

    Raises UserError for a file that cannot be read, that is not UTF-8, or that is a database.
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
        raise UserError(f"{name} is a DuckDB database, not a script", hint=f"name it with --database {name}")
    if read[:2] in _UTF_16 or b"\0" in read[:2]:
        hint = "save it as UTF-8 in your editor; in PowerShell, > writes UTF-16: use Set-Content -Encoding utf8"
        raise UserError(f"the script {name} is UTF-16 text, not UTF-8", hint=hint)
    try:
        return name, read.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = read.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8 in your editor, which knows the encoding that it has now"
        raise UserError(f"the script {name} is not UTF-8 text: its line {line} is not", hint=hint) from None


def _near_script(script: str) -> str | None:
    """Returns a script with a similar name in the folder of a missing script. Returns None if no name is similar."""
    with suppress(OSError, ValueError):
        path = Path(script)
        names = [other.name for other in path.parent.iterdir() if other.suffix.lower() == ".sql"]
        return nearest(path.name if path.suffix else f"{path.name}.sql", names)
    return None


def _require_script(script: str) -> None:
    """Raises UserError, with a hint, for SQL in place of a script's name, and for a data file."""
    if script.lower().endswith(_DATA):
        raise UserError(
            f"{script} is a data file, not a script",
            hint=f"sqlanon profile {script} describes it; sqlanon anonymize {script} publishes it",
        )
    if re.search(r"\s", script) and not script.lower().endswith(".sql") and not Path(script[:_LONGEST_PATH]).exists():
        raise UserError(
            "the argument must be the path of a script, but it looks like SQL",
            hint="save it to a file, or pipe it in: echo '...;' | sqlanon run -",
        )


def set_variables(connection: Any, settings: Sequence[str]) -> None:
    """Sets variables of the session from texts NAME=VALUE; numbers stay numbers. Raises UserError for other texts."""
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"--set {setting} is not of the form NAME=VALUE", hint="write --set k=5")
        connection.duckdb.execute(f"SET VARIABLE {name} = ?", [_typed(value)])


def _typed(value: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def release_name(text: str) -> QualifiedName:
    """Reads a release's name as typed on a command line: `release`, `schema.release`, or with quotes as in SQL.

    Any other text is the name itself, so that unusual names need no quotes within the shell's quotes.
    """
    if not _DOTTED.fullmatch(text):
        return QualifiedName((text,))
    parts = _PART.findall(text)
    return QualifiedName(tuple(part[1:-1].replace('""', '"') if part[0] == '"' else part for part in parts))


# The file of a report.


# Suffixes of a database's own files. Its write-ahead log has all commits since the last checkpoint.
_BESIDE = ("", ".wal", ".tmp")


def write_report(connection: Any, name: QualifiedName, path: Path, database: str) -> None:
    """Writes the report of a release to a file, and replaces an existing file only if all goes well.

    Raises the errors of `report_page`, and UserError for a path that cannot be written or is the database.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.export.report.page import report_page
    from sqlanon.export.report.page_file import write_page

    require_other_file(path, database, "report.html")
    write_page(path, report_page(DuckDBEngine(connection.duckdb), name))


def write_policy(connection: Any, name: str, path: Path, database: str) -> None:
    """Writes the page of a policy to a file, and replaces an existing file only if all goes well.

    Raises the errors of `policy_page`, and UserError for a path that cannot be written or is the database.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.export.report.page_file import write_page
    from sqlanon.export.report.policy_page import policy_page

    require_other_file(path, database, "policy.html")
    write_page(path, policy_page(DuckDBEngine(connection.duckdb), name))


def new_for_its_owner(path: str, flags: int) -> int:
    """Opens a file as the `opener` of `open` does; only the owner may read a new file, and an existing file keeps its
    mode.
    """
    return os.open(path, flags, 0o600)


def require_other_file(path: Path, database: str, example: str) -> None:
    """Raises UserError if the path is the database or one of DuckDB's files beside it, by any name."""
    for suffix in _BESIDE:
        taken = Path(f"{Path(database).resolve()}{suffix}")
        if path.resolve() == taken or (path.exists() and taken.exists() and path.samefile(taken)):
            raise UserError(f"{path} is the database or one of its files", hint=f"write -o {example}")
