"""Writes the JSON Schema of certificates: `python -m tools.certificate_schema --write`.

The types come from `sqlanon/export/certificate_format.py`, which also writes and reads certificates.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from sqlanon.export.certificate_format import certificate_schema

FILE = Path(__file__).resolve().parents[1] / "docs" / "certificate.schema.json"


def text() -> str:
    """Returns the text of the schema file."""
    return json.dumps(certificate_schema(), indent=2) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the file, or with --check compares it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the file")
    what.add_argument("--check", action="store_true", help="fail where it is not as it would be written")
    if parser.parse_args(arguments).write:
        FILE.write_text(text(), encoding="utf-8")
        return 0
    if FILE.read_text(encoding="utf-8") == text():
        return 0
    print("docs/certificate.schema.json is not up to date: python -m tools.certificate_schema --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
