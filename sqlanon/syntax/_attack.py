"""ATTACK: what an adversary learns from a release, an export or any table."""

from __future__ import annotations

from typing import Any

from sqlanon.domain.values import Value
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._head import skip_kind
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._reader import Reader
from sqlanon.syntax._release import sensitive_columns
from sqlanon.syntax._source import source
from sqlanon.syntax.statements import Attack

__all__ = ["attack"]


def attack(reader: Reader, position: Position) -> Attack:
    """ATTACK release | 'path of an export' | source (quasi-identifiers) [SENSITIVE columns] WITH attack(arguments)."""
    reader.expect("ATTACK")
    skip_kind(reader)
    target = _target(reader)
    sensitive = sensitive_columns(reader)
    if not reader.sees("WITH"):
        words = (("USING", '","') if sensitive else ("SENSITIVE",)) + ("WITH",)
        raise reader.expected(" or ".join(words), among=words)
    reader.expect("WITH")
    name, arguments = _call(reader)
    reader.end()
    hierarchies = tuple((column, hierarchy) for column, hierarchy in sensitive if hierarchy is not None)
    columns = tuple(column for column, _ in sensitive)
    return Attack(name, arguments, sensitive=columns, hierarchies=hierarchies, **target, position=position)


def _call(reader: Reader) -> tuple[str, tuple[tuple[str, Value], ...]]:
    """The attack with its arguments; that by order has a reserved word for its name, and no arguments."""
    if not reader.sees("ORDER"):
        return _values.call(reader, "an attack", "homogeneity(confidence => 0.5)", "attack")
    reader.mark("attack", "order")
    reader.expect("ORDER")
    if reader.accept_symbol("("):
        reader.expect_symbol(")")
    return "order", ()


def _target(reader: Reader) -> dict[str, Any]:
    """The release, the path of an export, or the source with its quasi-identifiers, under the names of the fields."""
    reader.mark("release")
    reader.mark("source")
    if reader.peek().kind is Kind.STRING and not reader.sees_symbol("(", ahead=1):
        reader.mark("path")
        return {"file": _values.string(reader, "a path")}
    attacked = source(reader)
    if attacked.name and not reader.sees_symbol("("):
        reader.about(str(attacked.name))
        return {"release": attacked.name}
    columns: list[str] = []
    reader.listed(lambda: columns.append(reader.named("a column", "column")))
    return {"source": attacked, "quasi_identifiers": tuple(columns)}
