"""Notebooks: magics that run statements, and their answers as HTML."""

from __future__ import annotations

from typing import Any


def load(shell: Any) -> None:
    """Registers the magics with an IPython shell, and shows answers of PROFILE, also from connection.sql(), as HTML."""
    from sqlanon.clients.notebook.magics import SqlanonMagics
    from sqlanon.clients.notebook.result import proposal_html

    shell.register_magics(SqlanonMagics)
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type_by_name("duckdb._relation", "DuckDBPyRelation", proposal_html)
