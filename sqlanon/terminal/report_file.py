"""The file of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError

__all__ = ["write_policy", "write_report"]


def write_report(connection: Any, name: QualifiedName, path: Path, database: str) -> None:
    """Writes the report of a release in the place of a file of this name; what was there stays where it fails.

    Raises what `report_page` raises, and UserError for a path that cannot be written, or that is the database.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.report.page import report_page
    from sqlanon.report.page_file import write_page

    if path.exists() and path.samefile(database):
        raise UserError(f"{path} is the database", hint="write -o report.html")
    write_page(path, report_page(DuckDBEngine(connection.duckdb), name))


def write_policy(connection: Any, name: str, path: Path, database: str) -> None:
    """Writes the page of a policy in the place of a file of this name; what was there stays where it fails.

    Raises what `policy_page` raises, and UserError for a path that cannot be written, or that is the database.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.report.page_file import write_page
    from sqlanon.report.policy_page import policy_page

    if path.exists() and path.samefile(database):
        raise UserError(f"{path} is the database", hint="write -o policy.html")
    write_page(path, policy_page(DuckDBEngine(connection.duckdb), name))
