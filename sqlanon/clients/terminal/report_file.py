"""The file of a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError

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
