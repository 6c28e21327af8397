"""CREATE and DROP ANONYMIZED STREAM, and ADVANCE."""

from __future__ import annotations

from typing import NoReturn

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._calls import MethodCall
from sqlanon.syntax._head import created, dropped
from sqlanon.syntax._lexer import Kind, keyword_of
from sqlanon.syntax._reader import Reader
from sqlanon.syntax.statements import Advance, CreateStream, DropStream

__all__ = ["advance", "create", "drop", "explain", "refresh"]

_METHOD_EXAMPLE = "stream(k => 5, delay => 1000)"


def create(reader: Reader, position: Position) -> CreateStream:
    """CREATE ANONYMIZED STREAM [IF NOT EXISTS] name AS POLICY policy ORDER BY column
    METHOD stream(k => number, delay => number | INTERVAL 'time' [, reuse => true|false]).
    """
    token = reader.peek()
    or_replace, if_not_exists = created(reader, "ANONYMIZED", "STREAM")
    if or_replace:
        hint = "it would forget what waits: DROP ANONYMIZED STREAM does so, CREATE ANONYMIZED STREAM begins another"
        raise reader.refused("a stream is not replaced", hint=hint, token=token)
    name = _name(reader)
    reader.expect("AS", "POLICY")
    reader.mark("policy")
    policy = reader.name("the name of the policy")
    reader.expect("ORDER", "BY")
    column = reader.named("the column that says when a row arrived", "order")
    if reader.sees("DESC") or reader.sees("ASC"):
        hint = f"rows arrive from the least {column} on: leave {reader.peek().text} out"
        raise reader.refused("a stream has one order", hint=hint, token=reader.peek())
    reader.expect("METHOD")
    method = MethodCall(*_values.call(reader, "a method", _METHOD_EXAMPLE, "method"))
    reader.end()
    return CreateStream(name, policy, column, method, if_not_exists, position=position)


def drop(reader: Reader, position: Position) -> DropStream:
    """DROP ANONYMIZED STREAM [IF EXISTS] name."""
    if_exists = dropped(reader, "ANONYMIZED", "STREAM")
    name = _name(reader)
    reader.end()
    return DropStream(name, if_exists, position=position)


def advance(reader: Reader, position: Position) -> Advance:
    """ADVANCE [STREAM] name [TO END | TO 'moment']."""
    reader.expect("ADVANCE")
    if reader.sees("ANONYMIZED") and keyword_of(reader.peek(1)) == "STREAM":
        reader.take()
    if reader.sees("STREAM") and reader.peek(1).kind in (Kind.WORD, Kind.QUOTED) and keyword_of(reader.peek(1)) != "TO":
        reader.take()
    name = _name(reader)
    if not reader.accept("TO"):
        reader.end("TO END", "TO 'moment'")
        return Advance(name, position=position)
    if reader.accept("END"):
        reader.end()
        return Advance(name, to_end=True, position=position)
    reader.mark("until")
    if reader.sees("DATE") or reader.sees("TIMESTAMP") or reader.sees("TIMESTAMPTZ"):
        reader.take()
    until = _values.string(reader, "END or a moment in quotes, as in '2024-12-31 23:59:00'")
    reader.end()
    return Advance(name, until=until, position=position)


def explain(reader: Reader, position: Position) -> NoReturn:
    """Raises StatementError: there is nothing to explain of a stream."""
    hint = "CREATE ANONYMIZED STREAM publishes nothing yet; EXPLAIN ANONYMIZED TABLE looks at all rows at once"
    raise reader.refused("a stream cannot be explained: its rows have not arrived", hint=hint, token=reader.peek())


def refresh(reader: Reader, position: Position) -> NoReturn:
    """Raises StatementError: a stream goes on, and is not made anew."""
    hint = "ADVANCE name publishes what is due of a stream"
    raise reader.refused("a stream is not made anew", hint=hint, token=reader.peek())


def _name(reader: Reader) -> QualifiedName:
    reader.mark("stream")
    name = reader.qualified_name("the name of the stream")
    reader.about(str(name))
    return name
