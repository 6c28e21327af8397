"""The file of a report."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError

__all__ = ["write_report"]


def write_report(connection: Any, name: QualifiedName, path: Path, database: str) -> None:
    """Writes the report of a release in the place of a file of this name; what was there stays where it fails.

    Raises what `report_page` raises, and UserError for a path that cannot be written, or that is the database.
    """
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.report.page import report_page

    if path.exists() and path.samefile(database):
        raise UserError(f"{path} is the database", hint="write -o report.html")
    page = report_page(DuckDBEngine(connection.duckdb), name)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        aside.write_text(page, encoding="utf-8")
        os.replace(aside, path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror}") from None
