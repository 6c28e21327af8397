"""`python -m sqlanon` is the command line."""

from __future__ import annotations

from sqlanon.terminal.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
