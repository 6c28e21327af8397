"""Finds the files under `sql/` and `udfs/`, in the wheel or in the repository."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from sqlanon.errors import InternalError


def folder(kind: str) -> Traversable:
    """Returns the folder `sql` or `udfs`.

    The wheel contains them as `sqlanon/_sql` and `sqlanon/_udfs`; in a checkout they are next to the package. Raises
    InternalError if the folder is missing.
    """
    packaged = files("sqlanon") / f"_{kind}"
    if packaged.is_dir():
        return packaged
    beside = Path(__file__).resolve().parent.parent / kind
    if beside.is_dir():
        return beside
    raise InternalError(f"the folder {kind} is missing from this installation", hint="reinstall sqlanon")


def _child(kind: str, parts: tuple[str, ...]) -> Traversable:
    index = folder(kind)
    for part in parts:
        index = index / part
    return index


@cache
def read(kind: str, *parts: str) -> str:
    """Returns the text of one file, such as read("sql", "models", "k_anonymity.sql").

    Raises InternalError if it is missing.
    """
    index = _child(kind, parts)
    if not index.is_file():
        raise InternalError(f"the file {'/'.join((kind, *parts))} is missing from this installation")
    return index.read_text(encoding="utf-8")


@cache
def listing(kind: str, *parts: str) -> tuple[str, ...]:
    """Returns the file names in one folder, sorted; empty if there is no such folder."""
    index = _child(kind, parts)
    if not index.is_dir():
        return ()
    return tuple(sorted(child.name for child in index.iterdir() if child.is_file()))
