"""What the shell remembers of what was typed: statements, but none that may hold a secret."""

from __future__ import annotations

import os
import re
from pathlib import Path

from prompt_toolkit.history import FileHistory

from sqlanon.errors import without_passwords

# Words of statements and connection strings beside which DuckDB and its extensions read a secret.
_SECRET = re.compile(
    r"secret|passw|passphrase|pwd|token|credential|authorization|bearer|signature|\bsig=|connection_?string"
    r"|encryption|parquet_key|(?:access|account|api|private)_?key|\bset\s+variable\b",
    re.IGNORECASE,
)


def may_hold_secret(text: str) -> bool:
    """Whether a statement has a word that stands beside secrets, or a URL that may have a password or a token in it.

    The name of an environment variable, as in `SIGN KEY 'RELEASE_KEY'`, is no secret.
    """
    return _SECRET.search(text) is not None or without_passwords(text) != text


class StatementHistory(FileHistory):
    """A file of statements. One that may hold a secret is neither written to it nor offered again."""

    def append_string(self, string: str) -> None:
        """Remembers a statement, unless it may hold a secret."""
        if not may_hold_secret(string):
            super().append_string(string)


def history_file() -> Path | None:
    """The history file below XDG_STATE_HOME, readable by its owner only; None if it cannot be made."""
    state = os.environ.get("XDG_STATE_HOME", "")
    try:
        base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
        path = base / "sqlanon" / "history"
        path.parent.mkdir(parents=True, exist_ok=True)
        # What is typed may hold data: nobody else reads it.
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except (OSError, RuntimeError):
        return None
    return path
