"""CREATE and EXPLAIN ANONYMIZED as texts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.values import QualifiedName
from sqlanon.syntax._call_texts import call_text
from sqlanon.syntax._texts import name_text, qualified_text
from sqlanon.syntax.statements import CreateRelease, MethodCall

__all__ = ["levels_text", "release_text", "sets_text"]


def release_text(statement: CreateRelease) -> str:
    """What stands behind CREATE, OR REPLACE or EXPLAIN."""
    condition = "IF NOT EXISTS " if statement.if_not_exists else ""
    head = f"ANONYMIZED {statement.kind.upper()} {condition}{qualified_text(statement.name)}"
    method = f" METHOD {call_text(statement.method)}" if statement.method.name else ""
    levels = levels_text(statement.levels_from)
    series = f" IN SERIES {name_text(statement.series)}" if statement.series is not None else ""
    return f"{head} AS POLICY {name_text(statement.policy)}{method}{_sets_of(statement.method)}{levels}{series}"


def levels_text(release: QualifiedName | None) -> str:
    return f" LEVELS FROM RELEASE {qualified_text(release)}" if release is not None else ""


def _sets_of(method: MethodCall) -> str:
    """FRAGMENTS or COLUMNS with what stands behind it, after a blank; nothing if there is neither."""
    if method.each_apart:
        return " COLUMNS EACH"
    named = sets_text("FRAGMENTS", method.sets) or sets_text("COLUMNS", method.columns)
    return f" {named}" if named else ""


def sets_text(keyword: str, sets: Sequence[Sequence[str]]) -> str:
    """CONFIDENTIAL, VISIBLE, FRAGMENTS or COLUMNS with its sets of attributes; nothing if there are none."""
    return f"{keyword} " + ", ".join(f"({', '.join(map(name_text, columns))})" for columns in sets) if sets else ""
