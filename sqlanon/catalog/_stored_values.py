"""The rows of `anon.hierarchy_value`, written by a statement or by hand: are they a hierarchy?"""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.sql.build.sql_files import sql_file


@dataclass(frozen=True)
class Summary:
    """What the stored values of one hierarchy come to: their SHA-256, how many rows, and the height they imply."""

    digest: str
    rows: int
    height: int


@dataclass(frozen=True)
class _Check:
    """A query under sql/catalog/checks that returns offending names, and what to say about them."""

    file: str
    problem: str
    hint: str
    needs_height: bool = False


# In this order, so that each may rely on those before it.
_CHECKS = (
    _Check(
        "name_spelled_otherwise",
        "the name of the hierarchy is spelled in another way",
        "spell the name as in anon.hierarchy",
    ),
    _Check(
        "level_outside",
        "labels stand at levels that the hierarchy does not have",
        "level 0 is the value itself; the top level, '*', is not stored",
        needs_height=True,
    ),
    _Check("label_missing", "labels are NULL", "give every value a label at every level"),
    _Check("label_ambiguous", "values have several labels at one level", "keep one row a value and level"),
    _Check("label_not_value", "labels at level 0 differ from their value", "at level 0 write the value as label"),
    _Check(
        "level_missing",
        "values have no label at some level",
        "give every value a label at every level from 0 to the one below the top",
        needs_height=True,
    ),
    _Check(
        "levels_not_nested",
        "labels lie in two labels of the next level",
        "two values that share a label must share the labels of all higher levels",
    ),
)


def summary(engine: Engine, name: str) -> Summary:
    """Reads the stored values of one hierarchy once."""
    digest, rows, height = engine.rows(sql_file("catalog", "queries", "hierarchy_digest"), [name])[0]
    return Summary(digest, rows, height)


def require_hierarchy(engine: Engine, name: str, height: int) -> None:
    """Raises PolicyError, naming values and labels, unless the stored rows are a hierarchy of this height.

    That is: each value has one label at each level from 0 to height - 1, its own text
    at level 0, and each level is a partition that contains the one before.
    """
    for check in _CHECKS:
        parameters: list[object] = [name, height] if check.needs_height else [name]
        offending = engine.rows(sql_file("catalog", "checks", check.file), parameters)
        if offending:
            raise PolicyError(f"hierarchy {name}: {check.problem}: {_examples(offending)}", hint=check.hint)


def _examples(offending: list[tuple[str, int]]) -> str:
    """The offending names, the first ten, and how many more there are."""
    rest = offending[0][1] - len(offending)
    return ", ".join(name for name, _ in offending) + (f" and {rest} more" if rest else "")
