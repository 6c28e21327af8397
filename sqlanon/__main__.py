"""The command line, `sqlanon` or `python -m sqlanon`, if its packages are installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "prompt_toolkit")


def main() -> None:
    """Runs the command line. If a package is missing, prints the command that installs it and exits with code 2."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        print(f"error: the command line needs {', '.join(missing)}", file=sys.stderr)
        print("  hint: pip install 'sqlanon[cli]'", file=sys.stderr)
        raise SystemExit(2)
    from sqlanon.clients.terminal.cli import main as run

    run()


if __name__ == "__main__":
    main()
