"""The files of the steps: a header, which says what to look for, an empty line and the SQL."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

__all__ = ["HERE", "UPDATE", "differences", "update"]

HERE = Path(__file__).parent
UPDATE = "python -m tests.golden --update"

_HEADER = re.compile(r"-- Look for: \S.*(?:\n-- \S.*){0,2}")
_NEW = "-- Look for:"


def update(made: dict[str, str], here: Path = HERE) -> list[str]:
    """Writes what each step runs now below the header that its file has, and removes files of no step.

    Returns the files that still need a header.
    """
    headers = {_numberless(path): _parts(here / path)[0] for path in _files(here)}
    for path in _files(here) - made.keys():
        (here / path).unlink()
    for path, body in made.items():
        (here / path).parent.mkdir(parents=True, exist_ok=True)
        (here / path).write_text(f"{headers.get(_numberless(path), _NEW)}\n\n{body}", encoding="utf-8")
    return [path for path in made if not _HEADER.fullmatch(_parts(here / path)[0])]


def differences(made: dict[str, str], here: Path = HERE) -> list[str]:
    """What is not as the files say, each in words or as a diff: nothing if all of them are right."""
    files = _files(here)
    found = [f"{path}: no step makes this file any more" for path in sorted(files - made.keys())]
    for path, body in made.items():
        if path not in files:
            found.append(f"{path}: this step has no file")
            continue
        header, golden = _parts(here / path)
        if not _HEADER.fullmatch(header):
            found.append(f"{path}: its first one to three lines are to say what to look for: -- Look for: ...")
        if golden != body:
            before, now = (text.splitlines(keepends=True) for text in (golden, body))
            found.append("".join(difflib.unified_diff(before, now, f"tests/golden/{path}", "now")))
    return found


def _files(here: Path) -> set[str]:
    return {path.relative_to(here).as_posix() for path in here.glob("*/*/*.sql")}


def _numberless(path: str) -> str:
    return re.sub(r"/[0-9]+-", "/", path)


def _parts(path: Path) -> tuple[str, str]:
    header, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    return header, body
