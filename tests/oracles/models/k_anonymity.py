"""k-anonymity (Samarati 2001): every class holds at least k respondents."""

from __future__ import annotations

from tests.oracles.models.support import Class, Table


def violating(table: Table, k: int) -> set[Class]:
    return {of for of in table.classes if table.respondents(of) < k}


def achieved(table: Table, k: int) -> int | None:
    return min(map(table.respondents, table.classes), default=None)
