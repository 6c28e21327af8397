"""The messages of Arrow Flight SQL, which are encoded and decoded by this module: fields of Protocol Buffers, which are
read within bounds.

Flight SQL wraps a command in google.protobuf.Any, whose type_url names the message. The field numbers are those of
FlightSql.proto (https://arrow.apache.org/docs/format/FlightSql.html). Of each message only the fields that a door reads
are listed; other fields are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from sqlanon.clients.serve.refused import Refused

# A message may be a little longer than the longest statement that the gate admits.
MOST_BYTES = 80 * 1024
_MOST_FIELDS = 128
_TYPES = "type.googleapis.com/arrow.flight.protocol.sql."
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
_MOST_VARINT = 10

Fields = list[tuple[int, int | bytes]]
_Value = TypeVar("_Value", int, bytes)


@dataclass(frozen=True)
class Command:
    """A command of Flight SQL: the name of its message, without the package, and its fields."""

    name: str
    fields: Fields

    def text(self, number: int) -> str | None:
        """Returns a field of text; None if it is absent. Raises Refused if it is not UTF-8."""
        value = self.content(number)
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError:
            raise malformed() from None

    def content(self, number: int) -> bytes | None:
        """Returns a field of bytes; None if it is absent. The last value counts, as in every reader of the format."""
        return _last(self.fields, number, bytes)

    def is_set(self, number: int) -> bool:
        """Whether a boolean field is true; an absent field is false."""
        return bool(_last(self.fields, number, int))

    def numbers(self, number: int) -> list[int]:
        """Returns the values of a repeated integer field, packed or not."""
        values: list[int] = []
        for field, value in self.fields:
            if field == number:
                values += [value] if isinstance(value, int) else _packed(value)
        return values

    def texts(self, number: int) -> list[str]:
        """Returns the values of a repeated text field. Raises Refused if a value is not UTF-8."""
        try:
            return [value.decode() for field, value in self.fields if field == number and isinstance(value, bytes)]
        except UnicodeDecodeError:
            raise malformed() from None


def malformed() -> Refused:
    return Refused("the request is not a message of Arrow Flight SQL")


def command(message: bytes) -> Command:
    """Reads a command from its Any message.

    Raises Refused for a message that is too long, malformed or of another package.
    """
    outer = fields(message)
    name, content = _last(outer, 1, bytes), _last(outer, 2, bytes)
    prefix = _TYPES.encode()
    if name is None or not name.startswith(prefix) or not name.removeprefix(prefix).isalnum():
        raise malformed()
    return Command(name.removeprefix(prefix).decode("ascii", "replace"), fields(content or b""))


def fields(message: bytes) -> Fields:
    """Reads the fields of a message, in their order. Raises Refused for a message that is too long or malformed."""
    require_short(len(message))
    read: Fields = []
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if number == 0 or len(read) >= _MOST_FIELDS:
            raise malformed()
        value: int | bytes
        if kind == _VARINT:
            value, at = _varint(message, at)
        else:
            if kind == _BYTES:
                length, at = _varint(message, at)
            elif kind in _WIDTHS:
                length = _WIDTHS[kind]
            else:
                raise malformed()
            if length > len(message) - at:
                raise malformed()
            value = message[at : at + length]
            at += length
        read.append((number, value))
    return read


def require_short(size: int) -> None:
    """Raises Refused for a message that is longer than any valid message of a reader."""
    if size > MOST_BYTES:
        raise Refused(f"a request has at most {MOST_BYTES // 1024} KiB")


def any_of(name: str, *parts: tuple[int, int | bytes]) -> bytes:
    """Encodes a message of Flight SQL in an Any."""
    return encoded((1, (_TYPES + name).encode()), (2, encoded(*parts)))


def encoded(*parts: tuple[int, int | bytes]) -> bytes:
    """Encodes fields, each a number with an integer or bytes."""
    message = bytearray()
    for number, value in parts:
        if isinstance(value, int):
            message += _written(number << 3 | _VARINT) + _written(value)
        else:
            message += _written(number << 3 | _BYTES) + _written(len(value)) + value
    return bytes(message)


def _last(listed: Fields, number: int, kind: type[_Value]) -> _Value | None:
    value: _Value | None = None
    for field, content in listed:
        if field == number:
            if not isinstance(content, kind):
                raise malformed()
            value = content
    return value


def _packed(content: bytes) -> Iterator[int]:
    at = 0
    while at < len(content):
        value, at = _varint(content, at)
        yield value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Reads an integer of at most 64 bits; returns it with the position after it."""
    value = 0
    for index in range(_MOST_VARINT):
        if at + index >= len(message):
            break
        byte = message[at + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            if value >= 1 << 64:
                break
            return value, at + index + 1
    raise malformed()


def _written(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
