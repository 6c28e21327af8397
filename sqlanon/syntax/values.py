"""Reads literals and named arguments, as in `t => 0.3`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal

from sqlanon.domain.values import UNNAMED, QualifiedName, Scalar, Value, plain_number, written
from sqlanon.errors import StatementError
from sqlanon.syntax.lexer import Kind, either, shortened
from sqlanon.syntax.reader import Reader

# A meaningful number has no larger exponent.
_MOST_ZEROS = 400
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_FRACTION = "write a decimal, which is compared exactly: two thirds are at most 0.667, and at least 0.666"


def value(reader: Reader) -> Value:
    """Reads a number, a string, true, false, a name, a placeholder, EACH 2, or a list such as `(2, 2)` or `(zip LEVEL
    2)`.
    """
    if reader.sees_placeholder():
        return reader.placed(1)[1]
    if reader.sees("EACH") and reader.peek(1).kind is Kind.NUMBER:
        reader.expect("EACH")
        return f"each {reader.take().text}"
    if not reader.sees_symbol("("):
        return scalar(reader)
    values: list[Scalar] = []
    reader.listed(lambda: values.append(_leveled(reader)))
    return tuple(values)


def _leveled(reader: Reader) -> Scalar:
    """Reads a scalar, or a column at a level, as in `zip LEVEL 2`, which is returned as a text."""
    item = scalar(reader)
    if isinstance(item, QualifiedName) and reader.accept("LEVEL"):
        return f"{item} LEVEL {integer(reader, 'a level')}"
    return item


def scalar(reader: Reader) -> Scalar:
    """Reads a number, a string, true, false, a name, or a placeholder for such a value."""
    token = reader.peek()
    if reader.sees_placeholder():
        _, placed = reader.placed(1)
        if isinstance(placed, tuple):
            raise reader.expected("one value", token=token, actual=written(placed))
        return placed
    if token.kind is Kind.STRING:
        return string(reader, "a string")
    if token.kind is Kind.NUMBER or reader.sees_symbol("-"):
        return number(reader)
    for word in ("TRUE", "FALSE"):
        if reader.accept(word):
            return word == "TRUE"
    if (interval := _interval(reader)) is not None:
        return interval
    if token.kind in (Kind.WORD, Kind.QUOTED):
        return reader.qualified_name("a value")
    raise reader.expected("a value, which is a number, a 'string', true, false or a name")


def _interval(reader: Reader) -> str | None:
    """Reads INTERVAL '10 minutes' or INTERVAL 10 MINUTES and returns its text; None if the next token is not
    INTERVAL.
    """
    if not reader.sees("INTERVAL") or reader.peek(1).kind not in (Kind.STRING, Kind.NUMBER):
        return None
    reader.expect("INTERVAL")
    if reader.peek().kind is Kind.STRING:
        return string(reader, "a time in quotes, as in INTERVAL '10 minutes'")
    length = reader.take().text
    return f"{length} {reader.name('a unit of time, as in INTERVAL 10 MINUTES').lower()}"


def string(reader: Reader, what: str) -> str:
    """Reads a string in single quotes or in dollar quotes, or a placeholder for a string."""
    token = reader.peek()
    if reader.sees_placeholder():
        _, placed = reader.placed("text")
        if not isinstance(placed, str):
            raise reader.expected(what, token=token, actual=written(placed), hint="pass a text")
        return placed
    if token.kind is not Kind.STRING:
        raise reader.expected(what)
    if token.text.startswith("'"):
        return reader.take().text[1:-1].replace("''", "'")
    if token.text.startswith("$"):
        tag = token.text[: token.text.index("$", 1) + 1]
        return reader.take().text[len(tag) : -len(tag)]
    raise reader.expected(what, hint="write the string as 'text', without an E and without escapes")


def day(reader: Reader, part: str, *instead: str) -> date:
    """Reads DATE '2027-06-30', or DATE and a placeholder for such a text; records it as a part of the statement.

    Raises StatementError for a text that is not a date. `instead` are keywords that could come next as well.
    """
    if not reader.accept("DATE"):
        quoted = reader.peek().kind is Kind.STRING
        hint = f"write DATE before it: DATE {shortened(reader.peek().text)}" if quoted else None
        raise reader.expected(either("DATE", *instead), among=("DATE", *instead), hint=hint)
    reader.mark(part)
    token, what = reader.peek(), "a date in quotes, as in DATE '2027-06-30'"
    if reader.sees_placeholder():
        placed: Value = reader.placed("2027-06-30")[1]
    else:
        placed = string(reader, what)
    if isinstance(placed, str) and _DAY.fullmatch(placed):
        try:
            return date.fromisoformat(placed)
        except ValueError:
            pass
    raise reader.expected(what, token=token, actual=written(placed))


def number(reader: Reader) -> int | Decimal:
    """Reads a signed number. Returns an int if it is whole, in any form, and otherwise a Decimal. 5 % is 0.05."""
    if reader.sees_placeholder():
        return _placed_number(reader)
    sign = "-" if reader.accept_symbol("-") else ""
    token, behind = reader.peek(), reader.peek(1)
    if token.kind is not Kind.NUMBER:
        raise reader.expected("a number")
    if behind.start == token.end and behind.kind in (Kind.WORD, Kind.NUMBER):
        raise _no_number(reader, token.text + behind.text)
    text = sign + token.text.replace("_", "")
    try:
        whole = token.text[-1].isdigit() and not set(text) & set(".eE")
        converted = int(text) if whole else plain_number(_bounded(Decimal(text)))
    except (ValueError, ArithmeticError):
        raise _no_number(reader, token.text) from None
    reader.take()
    if reader.sees_symbol("/") and reader.peek(1).kind is Kind.NUMBER:
        # The user has to choose the rounding: in some models a greater threshold is stricter, in others weaker.
        raise reader.expected("a number", actual="a fraction", hint=_FRACTION)
    return plain_number(Decimal(converted).scaleb(-2)) if reader.accept_symbol("%") else converted


def _placed_number(reader: Reader) -> int | Decimal:
    token = reader.peek()
    _, placed = reader.placed(1)
    if isinstance(placed, bool) or not isinstance(placed, int | Decimal):
        raise reader.expected("a number", token=token, actual=written(placed))
    return placed


def _bounded(number: Decimal) -> Decimal:
    """Returns the number. Raises OverflowError, an ArithmeticError, if its zeros would fill the memory."""
    if abs(number.adjusted()) > _MOST_ZEROS:
        raise OverflowError
    return number


def _no_number(reader: Reader, text: str) -> StatementError:
    return reader.expected("a number, such as 5, 0.5 or 1e-3", actual=shortened(text))


def integer(reader: Reader, what: str) -> int:
    token = reader.peek()
    is_number = token.kind is Kind.NUMBER or reader.sees_symbol("-") or reader.sees_placeholder()
    value = number(reader) if is_number else None
    if not isinstance(value, int):
        raise reader.expected(what, token=token)
    return value


def sees_named(reader: Reader) -> bool:
    """Whether `name =>` comes next, or `name :=`, DuckDB's older form."""
    return reader.peek().kind in (Kind.WORD, Kind.QUOTED) and (
        reader.sees_symbol("=>", ahead=1) or (reader.sees_symbol(":", ahead=1) and reader.sees_symbol("=", ahead=2))
    )


def named(reader: Reader, into: dict[str, Value], *part: str, read: Callable[[Reader], Value] = value) -> None:
    """Reads `name => value` into a part's arguments. Raises StatementError for a name, in lower case, that the
    arguments have already.
    """
    token = reader.peek()
    if token.kind is Kind.WORD:
        # Before => a reserved word is a name as well.
        reader.mark(*part, token.text)
        name = reader.take().text.lower()
    else:
        name = reader.named("the name of an argument", *part).lower()
    if name in into:
        raise reader.refused(f"{name} is given twice", hint=f"keep one {name} => ...", token=token)
    if not (reader.accept_symbol(":") and reader.accept_symbol("=")):
        reader.expect_symbol("=>")
    into[name] = read(reader)


def call(reader: Reader, what: str, example: str, part: str) -> tuple[str, tuple[tuple[str, Value], ...]]:
    """Reads `name(argument => value, ...)`; returns the name in lower case and the arguments. Parentheses are optional.

    The first argument may lack a name; then it is called `UNNAMED`, and gets its name when the statement runs. `part`
    is the first word of the part's path in errors.
    """
    token = reader.peek()
    name = reader.named(what, part).lower()
    if reader.sees_symbol("-") and reader.peek().start == token.end:
        hint = f"write {token.text}_{reader.peek(1).text}, with _" if reader.peek(1).kind is Kind.WORD else None
        raise reader.expected(what, token=reader.peek(), hint=hint)
    arguments: dict[str, Value] = {}

    def argument() -> None:
        if not arguments and not sees_named(reader) and not reader.sees_symbol("=", ahead=1):
            reader.mark(part, name, UNNAMED)
            arguments[UNNAMED] = value(reader)
            return
        if not sees_named(reader):
            if reader.sees_symbol("=", ahead=1):
                hint = f"write {shortened(reader.peek().text)} => ..., as in {example}"
                raise reader.expected("=>", token=reader.peek(1), hint=hint)
            raise reader.expected(f"name => value in {name}(...)", hint=f"arguments are named, as in {example}")
        named(reader, arguments, part, name)

    if reader.sees_symbol("("):
        reader.listed(argument, empty=True)
    return name, tuple(arguments.items())
