"""Messages of Flight SQL: bytes written by others are read, and no bytes do more than to be refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.clients.serve import wire
from sqlanon.clients.serve.metadata import is_like
from sqlanon.clients.serve.refused import Refused
from tests.oracles.like import like

# Encoded by hand from https://protobuf.dev/programming-guides/encoding/: its examples, and a command of Flight SQL.
EXAMPLES = {
    b"\x08\x96\x01": [(1, 150)],
    b"\x12\x07testing": [(2, b"testing")],
    b"\x1a\x03\x08\x96\x01": [(3, b"\x08\x96\x01")],
    b"\x08\x96\x01\x12\x02hi": [(1, 150), (2, b"hi")],
}
NUMBERS = st.integers(1, (1 << 29) - 1)
VALUES = st.one_of(st.integers(0, (1 << 64) - 1), st.binary(max_size=50))


@pytest.mark.parametrize(("message", "expected"), EXAMPLES.items())
def test_examples_of_the_format(message: bytes, expected: wire.Fields) -> None:
    assert wire.fields(message) == expected
    assert wire.encoded(*expected) == message


def test_fixed_widths_are_skipped() -> None:
    assert wire.fields(b"\x09" + b"\1" * 8 + b"\x0d" + b"\2" * 4 + b"\x10\x01")[-1] == (2, 1)


def test_a_command_as_a_driver_sends_it() -> None:
    url = b"type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"
    message = b"\x0a" + bytes([len(url)]) + url + b"\x12\x0a\x0a\x08SELECT 1"
    command = wire.command(message)
    assert (command.name, command.text(1), command.content(2)) == ("CommandStatementQuery", "SELECT 1", None)
    assert wire.any_of("CommandStatementQuery", (1, b"SELECT 1")) == message


def test_packed_and_repeated_numbers() -> None:
    command = wire.command(wire.any_of("CommandGetSqlInfo", (1, 3), (1, b"\x04\x96\x01"), (1, 5)))
    assert command.numbers(1) == [3, 4, 150, 5]


@given(st.lists(st.tuples(NUMBERS, VALUES), max_size=20))
def test_what_is_written_is_read(parts: wire.Fields) -> None:
    assert wire.fields(wire.encoded(*parts)) == parts


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(message: bytes) -> None:
    for read in (wire.fields, wire.command):
        with suppress(Refused):
            read(message)


@given(st.lists(st.tuples(NUMBERS, VALUES), max_size=5), st.data())
def test_a_message_that_is_cut_short_has_no_other_fields(parts: wire.Fields, data: st.DataObject) -> None:
    message = wire.encoded(*parts)
    cut = message[: data.draw(st.integers(0, len(message)))]
    with suppress(Refused):
        assert wire.fields(cut) == parts[: len(wire.fields(cut))]


@given(st.text("ab%_", max_size=12), st.text("ab", max_size=12))
def test_patterns_are_those_of_sql(pattern: str, text: str) -> None:
    assert is_like(text, pattern) == like(text, pattern)


def test_a_pattern_of_many_signs_takes_no_longer() -> None:
    assert not is_like("a" * 2000, "%a" * 1000 + "b")
