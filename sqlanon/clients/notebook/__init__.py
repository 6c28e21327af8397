"""In a notebook: magics that run statements, and what they answer as HTML."""

from __future__ import annotations

from typing import Any


def load(shell: Any) -> None:
    """Makes the magics known to a shell of IPython's."""
    from sqlanon.clients.notebook.magics import SqlanonMagics

    shell.register_magics(SqlanonMagics)
