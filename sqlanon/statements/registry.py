"""Finds all statements by searching the folders of their subjects."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from sqlanon.statements.base import Statement

_OPTIONAL = re.compile(r"\[([^\[\]]*)\] ?")


# A module of a subject's folder has the statement of the same name, `CreatePolicy` in `create_policy.py`, and
# begins with the first keyword of the statement. One that begins with an underscore has code that statements import as
# they run.
_MODULES = sorted(path for path in Path(__file__).parent.glob("*/*.py") if not path.stem.startswith("_"))


@cache
def statements() -> tuple[type[Statement], ...]:
    """Returns the classes of all statements, in the order of their folders and modules."""
    return tuple(map(_statement_of, _MODULES))


@cache
def statements_beginning(keyword: str) -> tuple[type[Statement], ...]:
    """Returns the statements that begin with a keyword. Other statements are not imported, because most scripts have
    only statements of DuckDB.
    """
    return tuple(_statement_of(path) for path in _MODULES if _first_keyword(path) == keyword)


def _first_keyword(path: Path) -> str:
    return path.stem.partition("_")[0].upper()


def _statement_of(path: Path) -> type[Statement]:
    """Imports the statement of a module.

    Raises AttributeError for a module without a class of its name, and TypeError for a statement that does not begin
    with the first word of this name.
    """
    name = "".join(part.capitalize() for part in path.stem.split("_"))
    cls: type[Statement] = getattr(import_module(f"{__package__}.{path.parent.name}.{path.stem}"), name)
    if any(opening.split()[0] != _first_keyword(path) for opening in (*cls.OPENINGS, *cls.OPENINGS_BEFORE_NAME)):
        raise TypeError(f"the statement {name} does not begin with {_first_keyword(path)}, as its module does")
    return cls


def label_of(opening: str) -> str:
    """Returns the opening without its optional keywords: the statement's name in errors."""
    while (shorter := _OPTIONAL.sub("", opening)) != opening:
        opening = shorter
    return opening


def spellings_of(opening: str) -> set[tuple[str, ...]]:
    """Returns the opening with and without each of its optional keywords, as tuples of words."""
    optional = _OPTIONAL.search(opening)
    if optional is None:
        return {tuple(opening.split())}
    before, after = opening[: optional.start()], opening[optional.end() :]
    return spellings_of(before + after) | spellings_of(f"{before}{optional[1]} {after}")


def keywords() -> tuple[str, ...]:
    """Returns the keywords that begin statements, for completion in a shell."""
    return tuple(label_of(opening) + kind for cls in statements() for opening in cls.OPENINGS for kind in cls.KINDS)
