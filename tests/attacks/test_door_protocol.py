"""Attempts on the protocol of `sqlanon serve`: wrong tokens, others' tickets, malformed and forbidden messages.

The right way is first shown to work. A reader sees one line at most of any error, and never a traceback or a path.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from sqlanon.clients.serve import wire
from tests.support.door.doors import TOKEN, FlightClient, OpenedDoor, main_table, opened_door, room_file

SECRET = "canary 4711"
COMMANDS = (
    "CommandStatementUpdate CommandPreparedStatementUpdate CommandStatementIngest CommandStatementSubstraitPlan "
    "CommandGetNothing CommandStatementQuery TicketStatementQuery ActionBeginTransactionRequest"
).split()
ACTIONS = (
    "BeginTransaction EndTransaction BeginSavepoint EndSavepoint CancelQuery CancelFlightInfo RenewFlightEndpoint "
    "SetSessionOptions GetSessionOptions CloseSession CreatePreparedSubstraitPlan Shutdown"
).split()
# Messages that are no command: cut short, endless, with lengths beyond the end, of other packages, or not UTF-8.
MALFORMED = (
    b"",
    b"\x00",
    b"\xff" * 64,
    b"\x0a\xff\xff\xff\xff\x0f",
    b"\x0a\x05abc",
    b"\x0b\x0c",
    wire.encoded((1, b"type.googleapis.com/google.protobuf.Empty"), (2, b"")),
    wire.encoded((1, 7), (2, b"")),
    wire.any_of("CommandStatementQuery", (1, b"\xff\xfe")),
    wire.any_of("CommandStatementQuery", (1, 5)),
    wire.any_of("CommandStatementQuery"),
    wire.any_of("CommandStatementQuery", (1, b"SELECT 1"), (2, b"transaction")),
    wire.encoded((1, b"type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"), (2, b"\x0a\x7f")),
    wire.any_of("CommandStatementQuery", *[(9, b"x")] * 1000),
    wire.any_of("CommandStatementQuery", (1, b"SELECT " + b"1" * 200_000)),
)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedDoor]:
    folder = tmp_path_factory.mktemp("door")
    file = room_file(
        folder / "releases.duckdb",
        "CREATE TABLE released AS SELECT i AS age, 'flu' AS disease FROM range(100) t(i)",
        f"CREATE TABLE others AS SELECT '{SECRET}' AS text",
    )
    with opened_door(folder, file) as opened:
        for name in ("ana", "ben"):
            opened.readers[name] = replace(opened.readers[name], grants=frozenset({main_table("released")}))
        yield opened


def refused(call: Callable[[], object]) -> str:
    """Returns the text of the error that a call ends with, after it was checked for what no client may see."""
    with pytest.raises((pa.ArrowException, OSError)) as caught:
        call()
    text = str(caught.value)
    assert "Traceback" not in text
    assert "sqlanon/" not in text
    assert str(os.getcwd()) not in text
    assert SECRET not in text
    return text


def info(client: FlightClient, command: bytes) -> Any:
    return client.connected.get_flight_info(flight.FlightDescriptor.for_command(command), client.options)


def action(client: FlightClient, kind: str, body: bytes) -> list[Any]:
    return list(client.connected.do_action(flight.Action(kind, body), client.options))


def put(client: FlightClient, command: bytes, rows: pa.Table) -> None:
    descriptor = flight.FlightDescriptor.for_command(command)
    writer, reader = client.connected.do_put(descriptor, rows.schema, client.options)
    writer.write_table(rows)
    writer.done_writing()
    reader.read()
    writer.close()


def test_the_right_way(door: OpenedDoor) -> None:
    client = door.client()
    assert client.fetch(client.ticket("SELECT count(*), max(disease) FROM released")).to_pylist() == [
        {"count_star()": 100, "max(disease)": "flu"}
    ]
    assert door.rows("SHOW TABLES") == [("released",)]


@pytest.mark.parametrize(
    ("name", "token"),
    [("ana", ""), ("ana", "Right"), ("ana", "right "), ("Ana", TOKEN), ("ana", "x" * 3000), ("eve", TOKEN), ("", "")],
)
def test_wrong_tokens(door: OpenedDoor, name: str, token: str) -> None:
    assert "the name or the token is wrong" in refused(lambda: door.client(name, token))
    # At most one line a second is written.
    assert all(line["peers"] == ["127.0.0.1"] for line in door.lines("denied"))
    assert door.lines("denied")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Basic",
        b"Basic !!!",
        b"Bearer right",
        b"Digest " + base64.b64encode(b"ana:right"),
        b"Basic " + base64.b64encode(b"ana"),
        b"Basic " + base64.b64encode(b":right"),
        b"Basic " + base64.b64encode(b"\xff:\xff"),
        b"Basic " + base64.b64encode(b"ana:right") * 200,
    ],
)
def test_wrong_headers(door: OpenedDoor, header: bytes) -> None:
    connected = flight.connect(door.uri)
    options = flight.FlightCallOptions(headers=[(b"authorization", header)])
    assert "the name or the token is wrong" in refused(
        lambda: connected.get_flight_info(flight.FlightDescriptor.for_command(b""), options)
    )


def test_every_method_needs_a_token(door: OpenedDoor) -> None:
    connected = flight.connect(door.uri)
    asked = flight.FlightDescriptor.for_command(wire.any_of("CommandGetTables"))
    schema = pa.schema([("a", pa.int32())])
    for call in (
        lambda: connected.get_flight_info(asked),
        lambda: connected.get_schema(asked),
        lambda: connected.do_get(flight.Ticket(asked.command)).read_all(),
        lambda: connected.do_put(asked, schema)[1].read(),
        lambda: list(connected.do_action(flight.Action("CreatePreparedStatement", b""))),
        lambda: list(connected.list_flights()),
        lambda: list(connected.list_actions()),
        lambda: connected.do_exchange(asked)[1].read_all(),
    ):
        assert "the name or the token is wrong" in refused(call)


def test_a_token_that_is_taken_away_ends_at_once(door: OpenedDoor) -> None:
    client = door.client()
    ticket = client.ticket("FROM released")
    ana = door.readers.pop("ana")
    try:
        assert "the name or the token is wrong" in refused(lambda: client.fetch(ticket))
    finally:
        door.readers["ana"] = ana
    assert client.fetch(ticket).num_rows == 100


def test_a_grant_that_is_taken_away_ends_at_once(door: OpenedDoor) -> None:
    client, ana = door.client(), door.readers["ana"]
    ticket = client.ticket("FROM released")
    handle = prepared(client, "FROM released")
    for grants in (frozenset[Any](), frozenset({main_table("others")})):
        door.readers["ana"] = replace(ana, grants=grants)
        try:
            for call in (lambda: client.ticket("FROM released"), lambda: client.fetch(prepared_ticket(client, handle))):
                assert refused(call)
        finally:
            door.readers["ana"] = ana
    assert client.fetch(ticket).num_rows == client.fetch(prepared_ticket(client, handle)).num_rows == 100


def prepared(client: FlightClient, statement: str) -> bytes:
    [result] = action(client, "CreatePreparedStatement", wire.any_of("X", (1, statement.encode())))
    handle = wire.command(result.body.to_pybytes()).content(1)
    assert handle
    return handle


def prepared_ticket(client: FlightClient, handle: bytes) -> Any:
    return info(client, wire.any_of("CommandPreparedStatementQuery", (1, handle))).endpoints[0].ticket


def test_tickets_are_used_once_and_by_their_reader(door: OpenedDoor) -> None:
    ana, ben = door.client("ana"), door.client("ben")
    ticket = ana.ticket("FROM released")
    assert "unknown" in refused(lambda: ben.fetch(ticket))
    assert ana.fetch(ticket).num_rows == 100
    assert "unknown" in refused(lambda: ana.fetch(ticket))
    handle = prepared(ana, "FROM released")
    assert "unknown" in refused(lambda: prepared_ticket(ben, handle))
    assert action(ben, "ClosePreparedStatement", wire.any_of("X", (1, handle))) == []
    assert ana.fetch(prepared_ticket(ana, handle)).num_rows == 100
    assert action(ana, "ClosePreparedStatement", wire.any_of("X", (1, handle))) == []
    assert "unknown" in refused(lambda: prepared_ticket(ana, handle))


@pytest.mark.parametrize("guess", [b"", b"\x00" * 16, bytes(range(16)), b"../../etc/passwd"])
def test_guessed_tickets(door: OpenedDoor, guess: bytes) -> None:
    client = door.client()
    assert "unknown" in refused(lambda: client.fetch(flight.Ticket(wire.any_of("TicketStatementQuery", (1, guess)))))


def test_a_reader_has_64_open_statements_and_another_keeps_theirs(door: OpenedDoor) -> None:
    ana, ben = door.client("ana"), door.client("ben")
    kept, lost = ben.ticket("FROM released"), ana.ticket("FROM released")
    for _ in range(64):
        last = ana.ticket("FROM released")
    assert "unknown" in refused(lambda: ana.fetch(lost))
    assert ana.fetch(last).num_rows == ben.fetch(kept).num_rows == 100


@pytest.mark.parametrize("message", MALFORMED)
def test_malformed_messages(door: OpenedDoor, message: bytes) -> None:
    client = door.client()
    descriptor = flight.FlightDescriptor.for_command(message)
    for call in (
        lambda: info(client, message),
        lambda: client.connected.get_schema(descriptor, client.options),
        lambda: client.fetch(flight.Ticket(message)),
        lambda: put(client, message, pa.table({"a": [1]})),
        lambda: action(client, "CreatePreparedStatement", message),
    ):
        refused(call)
    assert client.fetch(client.ticket("FROM released")).num_rows == 100


def test_filters_that_are_not_text(door: OpenedDoor) -> None:
    client = door.client()
    message = wire.any_of("CommandGetTables", (3, b"\xff"))
    assert "not a message" in refused(lambda: client.fetch(flight.Ticket(message)))


@pytest.mark.parametrize("name", COMMANDS)
def test_other_commands_are_refused(door: OpenedDoor, name: str) -> None:
    client = door.client()
    command = wire.any_of(name, (1, b"DELETE FROM released" if name != "TicketStatementQuery" else b"x"))
    refused(lambda: info(client, command))
    refused(lambda: put(client, command, pa.table({"a": [1]})))


@pytest.mark.parametrize("kind", ACTIONS)
def test_other_actions_are_refused(door: OpenedDoor, kind: str) -> None:
    client = door.client()
    assert "answers queries alone" in refused(lambda: action(client, kind, b""))


def test_other_methods_are_refused(door: OpenedDoor) -> None:
    client = door.client()
    descriptor = flight.FlightDescriptor.for_path("released")
    refused(lambda: list(client.connected.list_flights(b"", client.options)))
    refused(lambda: client.connected.do_exchange(descriptor, client.options)[1].read_all())
    refused(lambda: client.connected.get_flight_info(descriptor, client.options))
    refused(lambda: client.connected.do_put(descriptor, pa.schema([]), client.options)[1].read())


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"a": pa.array([], pa.int32())}),
        pa.table({"a": [1, 2]}),
        pa.table({"a": [1], "b": [2]}),
        pa.table({}),
        pa.table({"a": ["x" * 100_000]}),
    ],
    ids=["none", "two rows", "two columns", "no column", "too long"],
)
def test_parameters_that_do_not_fit(door: OpenedDoor, rows: pa.Table) -> None:
    client = door.client()
    handle = prepared(client, "SELECT * FROM released WHERE age = ?")
    refused(lambda: put(client, wire.any_of("CommandPreparedStatementQuery", (1, handle)), rows))


def test_a_table_that_is_not_granted_is_like_one_that_does_not_exist(door: OpenedDoor) -> None:
    client = door.client()
    texts = {
        refused(lambda name=name: client.ticket(f"FROM {name}")).replace(name, "NAME") for name in ("others", "nobody")
    }  # type: ignore[misc]
    assert len(texts) == 1
    schema = client.fetch(info(client, wire.any_of("CommandGetTables")).endpoints[0].ticket)
    assert schema.column("table_name").to_pylist() == ["released"]


def test_an_expired_reader_is_nobody(door: OpenedDoor, tmp_path: Path) -> None:
    from sqlanon.clients.serve.readers_file import ReadersFile, add_reader

    file = tmp_path / "readers.toml"
    today = datetime.now(UTC).date()
    tokens = {name: add_reader(file, name, ["released"], today) for name in ("old", "new")}
    # A day passes for one of the two.
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(today.isoformat(), (today - timedelta(1)).isoformat(), 1), encoding="utf-8")
    readers = ReadersFile(file)
    assert readers.authenticate("old", tokens["old"]) is None
    assert readers.authenticate("new", tokens["new"]) is not None
    assert readers.authenticate("new", tokens["old"]) is None


def test_a_peer_without_a_token_writes_a_line_a_second_at_most(door: OpenedDoor) -> None:
    before, begun = len(door.lines("denied")), time.monotonic()
    connected = flight.connect(door.uri)
    for _ in range(50):
        refused(lambda: connected.get_flight_info(flight.FlightDescriptor.for_command(b"")))
    lines = door.lines("denied")[before:]
    assert len(lines) <= 2 + time.monotonic() - begun


def test_the_audit_has_no_token(door: OpenedDoor) -> None:
    refused(lambda: door.client("ana", "wrong-token-of-ana"))
    refused(lambda: door.client("sqlanon_typed_into_the_wrong_field", "x"))
    text = door.log.read_text(encoding="utf-8")
    assert door.lines("denied")
    assert "wrong-token-of-ana" not in text
    assert "sqlanon_typed" not in text
    assert TOKEN not in text.replace("the right", "")
