"""CREATE and DROP SERIES."""

from __future__ import annotations

from sqlanon.domain.policy import Requirement
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._head import created, dropped, object_name
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._policy import requirements
from sqlanon.syntax._reader import Reader
from sqlanon.syntax.statements import CreateSeries, DropSeries

__all__ = ["create", "drop"]


def create(reader: Reader, position: Position) -> CreateSeries:
    """CREATE SERIES [IF NOT EXISTS] name ON POLICY policy KEY 'variable' [REQUIRE requirements]."""
    token = reader.peek()
    or_replace, if_not_exists = created(reader, "SERIES")
    if or_replace:
        hint = "it would forget who was in which release: DROP SERIES does so, CREATE SERIES begins another"
        raise reader.refused("a series is not replaced", hint=hint, token=token)
    name = object_name(reader, "series")
    reader.expect("ON", "POLICY")
    reader.mark("policy")
    policy = reader.name("the name of the policy")
    reader.expect("KEY")
    reader.mark("key")
    variable = _values.string(reader, "the environment variable that has the key, as in 'SERIES_KEY'")
    required: tuple[Requirement, ...] = () if reader.peek().kind is Kind.END else requirements(reader)
    reader.end()
    return CreateSeries(name, policy, variable, required, if_not_exists, position=position)


def drop(reader: Reader, position: Position) -> DropSeries:
    """DROP SERIES [IF EXISTS] name."""
    if_exists = dropped(reader, "SERIES")
    name = object_name(reader, "series")
    reader.end()
    return DropSeries(name, if_exists, position=position)
