"""In a notebook: magics that run statements, and what they answer as HTML."""

from __future__ import annotations

from typing import Any


def load(shell: Any) -> None:
    """Makes the magics known to a shell of IPython's, and displays what PROFILE proposes, also by connection.sql()."""
    from sqlanon.clients.notebook.magics import SqlanonMagics
    from sqlanon.clients.notebook.result import proposal_html

    shell.register_magics(SqlanonMagics)
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type_by_name("duckdb._relation", "DuckDBPyRelation", proposal_html)
