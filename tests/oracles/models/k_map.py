"""k-map (Sweeney 2001): every row of the release may come from at least k rows of the public table."""

from __future__ import annotations

from collections.abc import Hashable

from tests.oracles.models.support import Class, Table


def candidates(table: Table) -> dict[Class, int]:
    """Returns for the class of each released row the number of rows of the public table with the same labels."""
    public: list[Hashable] = [of for of, n in (table.public or {}).items() for _ in range(n)]
    return {of: sum(other == of for other in public) for of, rows in table.classes.items() if rows}


def violating(table: Table, k: int) -> set[Class]:
    return {of for of, n in candidates(table).items() if n < k}


def achieved(table: Table, k: int) -> int | None:
    return min(candidates(table).values(), default=None)
