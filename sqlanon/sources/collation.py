"""Text has to be compared byte by byte: a collation would count values as one that a release shows apart."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import EngineError, PolicyError
from sqlanon.sql.build.expressions import paren
from sqlanon.sql.build.names import column, literal, relation

# DuckDB does not say which collation a column has, but refuses to compare it with another one:
# only a column without any can be compared with both.
_PROBES = ("nocase", "noaccent")


def require_binary_text(engine: Engine, name: QualifiedName, columns: Sequence[Column], called: str) -> None:
    """Raises PolicyError if a text column has a collation of its own.

    Under a collation such as NOCASE a class of 'a' and 'A' counts as one of two rows,
    and is two of one row for a reader of the release without it.
    """
    text = [part for part, kind in columns if kind == "VARCHAR"]
    if not text:
        return
    comparisons: list[exp.Expr] = []
    for part in text:
        for collation in _PROBES:
            other = exp.Collate(this=literal("a"), expression=exp.to_identifier(collation))
            comparisons.append(column(part).eq(paren(other)))
    try:
        engine.columns(exp.select(*comparisons).from_(relation(name)))
    except EngineError:
        raise PolicyError(
            f"a text column of {called} has a collation, under which classes would look larger than they are "
            f"(one of {', '.join(text)})",
            hint="read it without: ON (SELECT decode(encode(name)) AS name, ...)",
        ) from None
