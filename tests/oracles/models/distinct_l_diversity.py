"""Distinct l-diversity (Machanavajjhala et al. 2006; Li et al. 2007): every class holds at least l values."""

from __future__ import annotations

from tests.oracles.models.support import Class, Table


def _values(table: Table, of: Class) -> int:
    return len({table.values[place] for place in table.classes[of]})


def violating(table: Table, l: int) -> set[Class]:  # noqa: E741 - the paper's name
    return {of for of in table.classes if _values(table, of) < l}


def achieved(table: Table, l: int) -> int | None:  # noqa: E741
    return min((_values(table, of) for of in table.classes), default=None)
