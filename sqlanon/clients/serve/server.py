"""The server of Arrow Flight SQL: passes statements through the gate, and streams the answers of workers."""

from __future__ import annotations

import functools
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.flight as flight

from sqlanon.clients.serve import metadata, wire
from sqlanon.clients.serve.audit import Audit
from sqlanon.clients.serve.authentication import READER, Authentication, Handshakes
from sqlanon.clients.serve.estimates import NO_BUDGET
from sqlanon.clients.serve.gate import admit, admit_under_budget
from sqlanon.clients.serve.handles import Entry, Handles
from sqlanon.clients.serve.readers import Budgets, Reader, Readers
from sqlanon.clients.serve.refused import NOT_ADMITTED, Busy, Forbidden, Refused
from sqlanon.clients.serve.rooms import Room, Rooms
from sqlanon.clients.serve.workers import Lease, Pool, RowStream, Stopped

# A driver fetches at once; a prepared statement lives as long as its connection.
_TICKET_SECONDS, _PREPARED_SECONDS = 600.0, 8 * 3600.0
_MOST_ANSWERS = 8
_BATCH_ROWS = 10_000
_MOST_VALUE_BYTES = 64 * 1024
_LONGEST_ERROR = 300
_UNSUPPORTED = "this door answers queries alone"
# The statuses of errors. None of pyarrow's classes without a traceback is an invalid argument, so that a mistake in a
# statement has FlightServerError, which clients show as an unknown one.
# Other limits have it, too: a client of pyarrow takes a cancelled answer for Ctrl-C, and ends.
_OF_OUTCOMES = {
    "time": flight.FlightTimedOutError,
    "broken": flight.FlightInternalError,
}
_OF_REFUSALS = ((Forbidden, flight.FlightUnauthorizedError), (Busy, flight.FlightUnavailableError))

_Result = TypeVar("_Result")


def _guarded(method: Callable[..., _Result]) -> Callable[..., _Result]:
    """Wraps a method of the server, so that a client gets at most one line and never a traceback."""

    @functools.wraps(method)
    def guarded(server: Door, context: Any, *arguments: Any) -> _Result:
        try:
            return method(server, context, *arguments)
        except BaseException as error:
            raise server.client_error(error) from None

    return guarded


class Door(flight.FlightServerBase):  # type: ignore[misc]
    """A server that answers SELECTs of its readers, and ESTIMATEs under `budgets` if the door has a source.

    `report` is called with a line about a defect.
    """

    def __init__(
        self,
        location: str,
        *,
        readers: Readers,
        rooms: Rooms,
        pool: Pool,
        audit: Audit,
        budgets: Budgets | None = None,
        report: Callable[[str], None] = lambda text: None,
        **tls: Any,
    ) -> None:
        self._rooms = rooms
        self._pool = pool
        self._audit = audit
        self._budgets = budgets
        self._report = report
        self._tickets = Handles(_TICKET_SECONDS)
        self._prepared = Handles(_PREPARED_SECONDS)
        self._lock = threading.Lock()
        self._answers: Counter[str] = Counter()
        authentication = Authentication(readers, audit)
        super().__init__(location, auth_handler=Handshakes(), middleware={READER: authentication}, **tls)
        authentication.port = self.port

    @_guarded
    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        """Admits a statement, and returns the ticket to its answer."""
        reader, command = _reader(context), wire.command(_command(descriptor))
        if metadata.schema_of(command) is not None:
            return _info(metadata.schema_of(command), descriptor, descriptor.command)
        if command.name == "CommandStatementQuery":
            entry = self._admit(reader, self._statement(command), _peer(context))
        elif command.name == "CommandPreparedStatementQuery":
            entry = replace(self._prepared.get(reader.name, command.content(1)), since=time.monotonic())
        else:
            raise Forbidden(_UNSUPPORTED)
        ticket = wire.any_of("TicketStatementQuery", (1, self._tickets.add(entry)))
        return _info(None, descriptor, ticket)

    @_guarded
    def do_get(self, context: Any, ticket: Any) -> Any:
        """Returns the rows behind a ticket, which is valid for only one answer."""
        reader, command = _reader(context), wire.command(ticket.ticket)
        if metadata.schema_of(command) is not None:
            return flight.RecordBatchStream(metadata.answer(command, self._rooms.room(reader.grants)))
        if command.name != "TicketStatementQuery":
            raise Forbidden(_UNSUPPORTED)
        return self._answer(reader, self._tickets.pop(reader.name, command.content(1)), context)

    @_guarded
    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Binds the parameters of a prepared statement; any other upload is refused."""
        who, command = _reader(context), wire.command(_command(descriptor))
        if command.name != "CommandPreparedStatementQuery":
            raise Forbidden(_UNSUPPORTED)
        handle = command.content(1)
        entry = self._prepared.get(who.name, handle)
        values = _values(reader, entry.parameters)
        self._prepared.put(who.name, handle, replace(entry, values=values))
        writer.write(pa.py_buffer(wire.encoded((1, handle or b""))))

    @_guarded
    def do_action(self, context: Any, action: Any) -> list[Any]:
        """Prepares a statement or forgets a prepared statement; any other action is refused."""
        reader = _reader(context)
        wire.require_short(action.body.size)
        body = action.body.to_pybytes()
        if action.type == "CreatePreparedStatement":
            entry = self._admit(reader, self._statement(wire.command(body)), _peer(context))
            schema, count = self._planned(reader, entry, _peer(context))
            names = entry.admitted.parameters or tuple(str(number + 1) for number in range(count))
            handle = self._prepared.add(replace(entry, parameters=names))
            # DuckDB tells no types before there are values. JDBC sends values of these types alone, and DuckDB reads a
            # text as the value of another type.
            bound = pa.schema([pa.field(name, pa.utf8()) for name in names])
            parts = [(1, handle), (2, schema.serialize().to_pybytes()), (3, bound.serialize().to_pybytes())]
            return [flight.Result(pa.py_buffer(wire.any_of("ActionCreatePreparedStatementResult", *parts)))]
        if action.type == "ClosePreparedStatement":
            with suppress(Refused):
                self._prepared.pop(reader.name, wire.command(body).content(1))
            return []
        raise Forbidden(_UNSUPPORTED)

    @_guarded
    def do_exchange(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Refuses every exchange."""
        raise Forbidden(_UNSUPPORTED)

    @_guarded
    def list_flights(self, context: Any, criteria: bytes) -> Iterator[Any]:
        """Refuses every list of flights."""
        raise Forbidden(_UNSUPPORTED)

    @_guarded
    def list_actions(self, context: Any) -> list[Any]:
        """Lists the two actions."""
        return [("CreatePreparedStatement", "prepares a SELECT"), ("ClosePreparedStatement", "forgets it")]

    def client_error(self, error: BaseException) -> Exception:
        """Returns an error as a client may see it: one line of a known kind, or a fixed text."""
        if isinstance(error, flight.FlightError):
            known: Exception = error
            return known
        kind, text = flight.FlightInternalError, "the door failed; its operator may find out why"
        if isinstance(error, Refused):
            text = error.message
            kind = next((kind for of, kind in _OF_REFUSALS if isinstance(error, of)), flight.FlightServerError)
        elif isinstance(error, Stopped):
            text = str(error)
            kind = _OF_OUTCOMES.get(error.outcome, flight.FlightServerError)
        else:
            self._report(f"unexpected {type(error).__name__} while a request was answered")
        refusal: Exception = kind(_line(text))
        return refusal

    def _statement(self, command: wire.Command) -> str:
        """Returns the statement of a command. Raises Forbidden for a statement in a transaction, because there are no
        transactions.
        """
        statement = command.text(1)
        if statement is None or command.content(2) is not None:
            raise Forbidden(_UNSUPPORTED)
        return statement

    def _admit(self, reader: Reader, statement: str, peer: str) -> Entry:
        """Passes a statement through the gate. Raises Refused, after the audit log has a line about it."""
        with self._refusals(reader, statement, peer):
            if (under_budget := admit_under_budget(statement)) is not None:
                self._of_budget().require(reader, under_budget)
                return Entry(reader.name, statement, under_budget)
            room = self._rooms.room(reader.grants)
            columns = {name: [column for column, _ in table.columns] for name, table in room.tables.items()}
            admitted = admit(statement, columns, room.releases)
            read = {name: room.tables[name].columns for name in admitted.reads}
            return Entry(reader.name, statement, admitted, read)

    @contextmanager
    def _refusals(self, reader: Reader, statement: str, peer: str) -> Iterator[None]:
        """Writes a line into the audit log about an error of its block, and raises the error again."""
        try:
            yield
        except Exception as error:
            self._audit.write("refused", reader=reader.name, peer=peer, statement=statement, reason=_line(str(error)))
            raise

    def _of_budget(self) -> Budgets:
        if self._budgets is None:
            raise Forbidden(NO_BUDGET)
        return self._budgets

    def _planned(self, reader: Reader, entry: Entry, peer: str) -> tuple[pa.Schema, int]:
        if entry.admitted.question is not None:
            with self._refusals(reader, entry.statement, peer):
                return self._of_budget().schema(reader, entry.admitted, self._pool.limits), 0
        with self._rooms.use(reader.grants) as room:
            lease = self._lease(room, reader, entry)
        return lease.schema(entry.admitted)

    def _lease(self, room: Room, reader: Reader, entry: Entry) -> Lease:
        """Returns a worker that has the room open.

        Raises Refused for a grant that was revoked after the admission, and for a relation with other columns.
        """
        for name, columns in entry.columns.items():
            if name not in room.tables:
                raise Forbidden("a relation of the statement is no longer granted to you")
            if room.tables[name].columns != columns:
                raise Refused(f"{name} was made again with other columns or types: prepare the statement again")
        return self._pool.lease(room.path, reader.name)

    def _answer(self, reader: Reader, entry: Entry, context: Any) -> Any:
        """Runs a statement and returns its rows as a stream; the audit log gets a line for its beginning
        and its end.
        """
        self._count(reader.name, 1)
        begun, number = time.monotonic(), secrets.token_hex(8)
        log = functools.partial(self._audit.write, query=number, reader=reader.name)
        started = functools.partial(log, "started", peer=_peer(context), statement=entry.statement)
        rows: RowStream | _TableRows
        try:
            if (question := entry.admitted.question) is not None:
                started(budget=question.budget, epsilon=question.epsilon)
                rows = _TableRows(self._of_budget().answer(reader, entry.admitted, self._pool.limits))
            else:
                with self._rooms.use(reader.grants) as room:
                    started(room=room.version, made=room.made.isoformat(timespec="seconds"))
                    if entry.parameters and entry.values is None:
                        raise Refused(f"{_parameters(entry.parameters)}; no value was sent")
                    lease = self._lease(room, reader, entry)
                rows = lease.rows(entry.admitted, entry.values)
        except BaseException as error:
            self._count(reader.name, -1)
            outcome = error.outcome if isinstance(error, Stopped) else "refused"
            log("ended", outcome=outcome, reason=_line(str(error)), seconds=round(time.monotonic() - begun, 3))
            raise

        def ended(outcome: str) -> None:
            self._count(reader.name, -1)
            seconds = round(time.monotonic() - begun, 3)
            log("ended", outcome=outcome, rows=rows.rows, bytes=rows.bytes, seconds=seconds)

        return flight.GeneratorStream(rows.schema, _Answer(rows, ended, self.client_error))

    def _count(self, reader: str, change: int) -> None:
        with self._lock:
            if change > 0 and self._answers[reader] >= _MOST_ANSWERS:
                raise Busy(f"{_MOST_ANSWERS} answers are open already: read or close them first")
            self._answers[reader] += change


class _TableRows:
    """The rows of a table, which is complete, in batches of a length that drivers take."""

    def __init__(self, table: pa.Table) -> None:
        self._batches = table.to_batches(max_chunksize=_BATCH_ROWS)
        self.schema: pa.Schema = table.schema
        self.rows: int = table.num_rows
        self.bytes: int = table.nbytes

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._batches)

    def close(self) -> None:
        """Does nothing, because no process is still answering."""


class _Answer:
    """The stream of the batches of an answer.

    It ends once: at the last batch, at an error, or when the client is gone.
    """

    def __init__(
        self,
        rows: RowStream | _TableRows,
        ended: Callable[[str], None],
        client_error: Callable[[BaseException], Exception],
    ) -> None:
        self._rows = rows
        self._batches = iter(rows)
        self._ended: Callable[[str], None] | None = ended
        self._client_error = client_error

    def __iter__(self) -> _Answer:
        return self

    def __next__(self) -> pa.Table:
        try:
            # Of a table the dictionaries are sent, too. A stream of batches would show a traceback at an error.
            return pa.Table.from_batches([next(self._batches)])
        except StopIteration:
            self._end("done")
            raise
        except BaseException as error:
            self._end(error.outcome if isinstance(error, Stopped) else "broken")
            raise self._client_error(error) from None

    def __del__(self) -> None:
        self._end("left")

    def _end(self, outcome: str) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            self._rows.close()
            with suppress(OSError):
                ended(outcome)


def _reader(context: Any) -> Reader:
    authenticated = context.get_middleware(READER)
    if authenticated is None:
        raise flight.FlightUnauthenticatedError(NOT_ADMITTED)
    reader: Reader = authenticated.reader
    return reader


def _peer(context: Any) -> str:
    return str(context.peer())[:100]


def _command(descriptor: Any) -> bytes:
    if descriptor.descriptor_type != flight.DescriptorType.CMD:
        raise wire.malformed()
    command: bytes = descriptor.command
    return command


def _info(schema: pa.Schema | None, descriptor: Any, ticket: bytes) -> Any:
    return flight.FlightInfo(schema, descriptor, [flight.FlightEndpoint(ticket, [])], -1, -1)


def _values(reader: Any, names: Sequence[str]) -> bytes:
    """Returns the parameters that a client sends, as one row in Arrow IPC, in the order of these names.

    A client sends them in this order, or by their names. Raises Refused for anything else.
    """
    if len(reader.schema) != len(names):
        raise Refused(f"{_parameters(names)}; {len(reader.schema)} were sent")
    row = None
    while True:
        try:
            batch = reader.read_chunk().data
        except StopIteration:
            break
        if batch is None or batch.num_rows == 0:
            continue
        if row is not None or batch.num_rows > 1 or batch.nbytes > _MOST_VALUE_BYTES:
            raise Refused("a statement takes one row of parameters, of 64 KiB at most")
        row = batch
    if row is None:
        raise Refused(f"{_parameters(names)}; no value was sent")
    try:
        row.validate(full=True)
    except pa.ArrowInvalid:
        raise Refused("the parameters are not valid") from None
    if sorted(row.schema.names) == sorted(names):
        row = row.select(list(names))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, row.schema) as writer:
        writer.write_batch(row)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _parameters(names: Sequence[str]) -> str:
    listed = ", ".join(f"${name}" for name in names)[:100]
    count = "1 parameter" if len(names) == 1 else f"{len(names)} parameters"
    return f"the statement has {count}: {listed}" if names else "the statement has no parameters"


def _line(text: str) -> str:
    """Returns the first line of a message without punctuation at its end, because clients put it before their own
    words.
    """
    lines = text.strip().splitlines()
    return lines[0][:_LONGEST_ERROR].rstrip(" .,:;!") if lines else "the request is refused"
