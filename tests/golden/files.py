"""The files of the steps: a header, which says what to look for, an empty line and the SQL.

A relation that several of them contain is a file in `relations/`, which is its SQL alone.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from tests.golden.layout import Line, flat, laid_out, tree
from tests.golden.relations import cut, expanded, references

__all__ = ["HERE", "UPDATE", "differences", "statements", "update"]

HERE = Path(__file__).parent
UPDATE = "python -m tests.golden --update"

_RELATIONS = "relations/"
_HEADER = re.compile(r"-- Look for: \S.*(?:\n-- \S.*){0,2}")
_NEW = "-- Look for:"

# The statements of each step, by the path of its file.
Made = Mapping[str, Sequence[list[Line]]]


def update(made: Made, here: Path = HERE) -> list[str]:
    """Writes what each step runs now below the header that its file has, and removes files of no step or relation.

    Returns the files that still need a header.
    """
    bodies = _bodies(made, here)
    headers = {_numberless(path): _parts(here / path)[0] for path in _files(here)}
    for path in _files(here) - bodies.keys():
        (here / path).unlink()
    for path, body in bodies.items():
        (here / path).parent.mkdir(parents=True, exist_ok=True)
        header = "" if path.startswith(_RELATIONS) else f"{headers.get(_numberless(path), _NEW)}\n\n"
        (here / path).write_text(f"{header}{body}", encoding="utf-8")
    return [path for path in made if not _HEADER.fullmatch(_parts(here / path)[0])]


def differences(made: Made, here: Path = HERE) -> list[str]:
    """What is not as the files say, each in words or as a diff: nothing if all of them are right."""
    bodies = _bodies(made, here)
    files = _files(here)
    found = [f"{path}: nothing makes this file any more" for path in sorted(files - bodies.keys())]
    for path, body in bodies.items():
        if path not in files:
            found.append(f"{path}: this has no file")
            continue
        header, golden = _parts(here / path)
        if not path.startswith(_RELATIONS) and not _HEADER.fullmatch(header):
            found.append(f"{path}: its first one to three lines are to say what to look for: -- Look for: ...")
        if golden != body:
            before, now = (text.splitlines(keepends=True) for text in (golden, body))
            diff = "".join(difflib.unified_diff(before, now, f"tests/golden/{path}", "now"))
            found.append(diff + _readers(path, bodies))
    return found


def statements(here: Path = HERE) -> dict[str, str]:
    """Reads the SQL of each step's file, with references replaced by relations."""
    known = _known(here)
    paths = sorted(path for path in _files(here) if not path.startswith(_RELATIONS))
    return {path: expanded(_parts(here / path)[1], known) for path in paths}


def _bodies(made: Made, here: Path) -> dict[str, str]:
    """Returns what each file is to hold below its header, the files of the steps first."""
    known = _known(here)
    steps, relations = cut(made, {name: expanded(text, known) for name, text in known.items()})
    return {path: _body(texts) for path, texts in steps.items()} | {
        f"{_RELATIONS}{name}.sql": "\n".join(laid_out(lines)) + "\n" for name, lines in sorted(relations.items())
    }


def _body(trees: Sequence[list[Line]]) -> str:
    """Joins the statements, with an empty line beside each that takes several lines."""
    texts = ["\n".join(laid_out(statement)) for statement in trees]
    gaps = ["\n" if "\n" in text + following else "" for text, following in pairwise(texts)]
    return "".join(f"{text};\n{gap}" for text, gap in zip(texts, [*gaps, ""], strict=True))


def _readers(path: str, bodies: Mapping[str, str]) -> str:
    """Names the files that refer to a relation; nothing for another file."""
    name = path.removeprefix(_RELATIONS).removesuffix(".sql")
    readers = [reader for reader, body in bodies.items() if path.startswith(_RELATIONS) and name in references(body)]
    return f"{path} is read by {', '.join(readers)}\n" if readers else ""


def _known(here: Path) -> dict[str, str]:
    """Reads the relations that have a file: by name, the SQL in one line."""
    paths = [path for path in _files(here) if path.startswith(_RELATIONS)]
    return {
        path.removeprefix(_RELATIONS).removesuffix(".sql"): flat(
            tree((here / path).read_text(encoding="utf-8").rstrip())
        )
        for path in paths
    }


def _files(here: Path) -> set[str]:
    return {path.relative_to(here).as_posix() for path in here.rglob("*.sql")}


def _numberless(path: str) -> str:
    return re.sub(r"/[0-9]+-", "/", path)


def _parts(path: Path) -> tuple[str, str]:
    """The header and the SQL; a relation has none."""
    text = path.read_text(encoding="utf-8")
    if path.parent.name == _RELATIONS.rstrip("/"):
        return "", text
    header, _, body = text.partition("\n\n")
    return header, body
