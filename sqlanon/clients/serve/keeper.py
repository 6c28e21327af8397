"""The door's side of a database: its readers, the rooms with their granted releases, and answers under budgets.

The file is opened by processes of `keeper_main`, for as long as each needs, and for writing only if a budget pays for
an answer; the door itself looks only at the file's size and time. A grant, a revocation or a new token counts from the
first request after the process that wrote it has closed the database, because nobody can look into a file that another
process has open for writing.
"""

from __future__ import annotations

import base64
import hmac
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from pathlib import Path
from typing import Any

import pyarrow as pa

from sqlanon.clients.serve.children import Children, Ended, LastingChild
from sqlanon.clients.serve.estimates import Question, not_granted
from sqlanon.clients.serve.gate import Admitted
from sqlanon.clients.serve.readers import Reader
from sqlanon.clients.serve.refused import Busy, Refused
from sqlanon.clients.serve.rooms import RoomTables
from sqlanon.clients.serve.workers import Limits, Stopped
from sqlanon.domain.identifiers import fold
from sqlanon.domain.tokens import NO_DIGEST, token_digest
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import CatalogError, EngineError, InUseError, PrivacyViolation, SqlanonError, UserError

_MODULE = "sqlanon.clients.serve.keeper_main"
_LOG = ".wal"
# After so many seconds the file is tried again: if another process has it, and if it cannot be read.
_ATTEMPT_SECONDS = 0.2
_PAUSE_SECONDS = 1.0
# The seconds for which a process that makes a room waits for another process that writes.
_PATIENCE = 5.0
# A release that has failed its check is tried again after this time, or once the file has changed.
_CLOSED_SECONDS = 60.0
# A process that answers a reader starts within this time, and writes an answer of at most so many bytes.
_STARTING_SECONDS = 60.0
_MOST_BYTES = 16 << 20
_LONGEST = 300
_THREADS = max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True)
class Granted(QualifiedName):
    """The full name of a granted release, and its id: another release of the same name is another grant."""

    release_id: str = ""


@dataclass(frozen=True)
class KnownReader:
    """A reader of the catalog. `expires` is the end of the last day of the token, in UTC; None means never.

    `budgets` are the names of the granted budgets.
    """

    name: str
    grants: frozenset[QualifiedName]
    expires: datetime | None
    budgets: frozenset[str]
    token_sha256: str = field(repr=False)


@dataclass(frozen=True)
class _Look:
    """The result of reading the catalog: the readers by their folded names.

    `state` is the state of the file before it was read. `is_whole` is true if the granted releases change only when the
    file changes.
    """

    state: str
    readers: Mapping[str, KnownReader]
    is_whole: bool

    @property
    def releases(self) -> frozenset[QualifiedName]:
        return frozenset(granted for reader in self.readers.values() for granted in reader.grants)

    @property
    def budgets(self) -> frozenset[str]:
        return frozenset(budget for reader in self.readers.values() for budget in reader.budgets)


class Keeper:
    """The readers of a database, the source of their rooms, and the answers that budgets pay for."""

    def __init__(self, database: Path, children: Children, report: Callable[[str], None] = lambda text: None) -> None:
        self._database = database.resolve()
        self._children = children
        self._report = report
        # Releases that have failed a check, with the state of the file then and the time until which they are closed.
        self._closed: dict[QualifiedName, tuple[str, float]] = {}
        self._reported: dict[QualifiedName, str] = {}
        self._lock = threading.Lock()
        self._looks = LastingChild(children, _MODULE)
        # Another process, which readers' statements may end.
        self._answers = LastingChild(children, _MODULE)
        self._look: _Look | None = None
        # The error of the last attempt to look, and the time of the next one.
        self._failed: tuple[SqlanonError, float] | None = None
        # Answers under budgets have the file one after the other, and each reader has one of them at most.
        self._turn = threading.Lock()
        self._asking: set[str] = set()
        self._free_at = 0.0
        # The seconds for which the last answer had the file, if its process has reported them.
        self._seconds_open: float | None = None

    def authenticate(self, name: str, token: str) -> KnownReader | None:
        """Returns the reader with this name and token; None for another name or token, and after the expiry.

        It first looks into the catalog if the file has changed. While another process has the file open for writing,
        the last look counts. Raises SqlanonError if the catalog cannot be read; in this case nobody is admitted.
        """
        reader = self._looked().readers.get(fold(name))
        is_right = hmac.compare_digest(token_digest(token), NO_DIGEST if reader is None else reader.token_sha256)
        if reader is None or not is_right:
            return None
        return reader if reader.expires is None or datetime.now(UTC) < reader.expires else None

    def releases(self) -> frozenset[QualifiedName]:
        """Returns the releases that are granted to anybody now, without those that have just failed a check. Raises
        InUseError if another process goes on writing.
        """
        look, now = self._current(), time.monotonic()
        closed = {each for each, (state, until) in self._closed.items() if state == look.state and now < until}
        return look.releases - closed

    def budgets(self) -> frozenset[str]:
        """Returns the names of the budgets that are granted to anybody now. Raises the errors of `releases`."""
        return self._current().budgets

    def _current(self) -> _Look:
        until = time.monotonic() + _PATIENCE
        while True:
            with self._lock:
                state, look = self._state(), self._look
                if look is not None and look.state == state:
                    return look
                error = self._error_of_look(state)
                if error is None:
                    assert self._look is not None
                    return self._look
            if not isinstance(error, InUseError) or time.monotonic() > until:
                raise error
            # Without the lock, so that those who are let in by the last look do not wait.
            time.sleep(_ATTEMPT_SECONDS)

    def version(self) -> str:
        """Returns a text that changes when the file does; the text is new each time if releases read other files,
        too.
        """
        look = self._look
        state = self._state()
        return state if look is None or look.is_whole else f"{state} {secrets.token_hex(8)}"

    def fill(self, path: Path, grants: frozenset[QualifiedName]) -> Mapping[QualifiedName, RoomTables]:
        """Writes a room with these releases. Raises InUseError while another process writes, and UserError or
        PrivacyViolation if one of the releases is no longer the granted release, or fails its check.
        """
        granted = [each for each in grants if isinstance(each, Granted)]
        listed = [[each.release_id, *each.parts] for each in sorted(granted, key=str)]
        request: dict[str, Any] = {"do": "fill", "database": str(self._database), "patience": _PATIENCE}
        request |= {"room": str(path), "releases": listed}
        try:
            tables = self._children.ask(_MODULE, request)["tables"]
        except InUseError:
            raise
        except (CatalogError, EngineError, PrivacyViolation, UserError):
            if len(granted) > 1 and self._close_failing(path, granted, request):
                raise InUseError("a release has failed its check", hint="try again, without it") from None
            raise
        for each in granted:
            self._reported.pop(each, None)
        return {each: tuple(QualifiedName(tuple(parts)) for parts in tables[each.release_id]) for each in granted}

    def require(self, reader: Reader, admitted: Admitted) -> None:
        """Raises Refused if the reader has no grant on the statement's budget, according to the last reading of the
        catalog.
        """
        question = _question(admitted)
        if not isinstance(reader, KnownReader) or fold(question.budget) not in map(fold, reader.budgets):
            raise not_granted(question.budget)

    def schema(self, reader: Reader, admitted: Admitted, limits: Limits) -> pa.Schema:
        """Returns the schema of an answer under a budget. Nothing is spent, and the file is opened for reading only.

        Raises Refused for a statement that would not be answered, and Stopped for a statement beyond the limits.
        """
        with self._in_turn(reader, limits.seconds):
            return self._answer_of(reader, admitted, limits, is_plan=True).schema

    def answer(self, reader: Reader, admitted: Admitted, limits: Limits) -> pa.Table:
        """Returns an answer under a budget. Its cost is in the ledger before a row is read.

        Raises Refused if nothing was spent, and Stopped if the cost is spent, or may be.
        """
        with self._in_turn(reader, limits.seconds):
            return self._answer_of(reader, admitted, limits, is_plan=False)

    @contextmanager
    def _in_turn(self, reader: Reader, seconds: float) -> Iterator[None]:
        """Waits until the answers to other readers are complete, and runs the block. After the block other programs can
        open the file for as long as the block had it open.

        Raises Busy if these answers take too long, or if an answer for the same reader is being computed.
        """
        with self._lock:
            if reader.name in self._asking:
                raise Busy("wait for your other answer under a budget; nothing was spent")
            self._asking.add(reader.name)
        try:
            if not self._turn.acquire(timeout=seconds):
                raise Busy("other answers under budgets are being computed: try again; nothing was spent")
            try:
                time.sleep(max(0.0, min(self._free_at - time.monotonic(), seconds)))
                begun, self._seconds_open = time.monotonic(), None
                try:
                    yield
                finally:
                    ended = time.monotonic()
                    self._free_at = ended + (ended - begun if self._seconds_open is None else self._seconds_open)
            finally:
                self._turn.release()
        finally:
            with self._lock:
                self._asking.discard(reader.name)

    def _answer_of(self, reader: Reader, admitted: Admitted, limits: Limits, *, is_plan: bool) -> pa.Table:
        """Returns the answer of a process that opens the file. If only a plan is wanted, the answer has no rows."""
        self.require(reader, admitted)
        assert isinstance(reader, KnownReader)
        request: dict[str, Any] = {"do": "ask", "database": str(self._database), "patience": _PATIENCE}
        request |= {"reader": reader.name, "token_sha256": reader.token_sha256, "statement": admitted.sql}
        request |= {"plan": is_plan, "seconds": limits.seconds, "memory": limits.memory, "threads": _THREADS}
        request |= {"rows": limits.rows, "bytes": min(limits.bytes, _MOST_BYTES)}
        cost = "nothing was spent" if is_plan else "its cost may be spent"
        try:
            answer = self._answers.ask(request, limits.seconds + _PATIENCE + _STARTING_SECONDS)
        except InUseError:
            self._seconds_open = 0.0
            raise Busy("the database is in use: try again; nothing was spent") from None
        except Ended as ended:
            if ended.signal == signal.SIGALRM:
                raise Stopped("time", f"the answer took longer than it may; {cost}") from None
            raise Stopped("killed", f"the answer ended its process, perhaps for want of memory; {cost}") from None
        except SqlanonError:
            raise Stopped("broken", f"the answer failed; {cost}") from None
        self._seconds_open = float(answer.get("seconds_open", 0.0))
        if (reason := answer.get("refused")) is not None:
            raise Refused(_with(str(reason), "nothing was spent"))
        if (reason := answer.get("spent")) is not None:
            raise Stopped("broken", _with(str(reason), "its cost is spent"))
        return _table_in(str(answer.get("answer", "")), cost)

    def _close_failing(self, path: Path, granted: Sequence[QualifiedName], request: Mapping[str, Any]) -> bool:
        """Copies each release by itself, and stops serving the releases that fail, so that the other releases are still
        served.

        Returns whether some releases fail and other releases do not.
        """
        state, closed = self._state(), {}
        for each in granted:
            assert isinstance(each, Granted)
            try:
                self._children.ask(_MODULE, {**request, "releases": [[each.release_id, *each.parts]]})
            except InUseError:
                raise
            except (CatalogError, EngineError, PrivacyViolation, UserError) as error:
                closed[each] = error.message
            finally:
                for file in path.parent.glob(f"{path.name}*"):
                    file.unlink()
        if not closed or len(closed) == len(granted):
            return False
        for each, message in closed.items():
            self._closed[each] = state, time.monotonic() + _CLOSED_SECONDS
            if self._reported.get(each) != message:
                self._reported[each] = message
                self._report(f"{each} is no longer served: {message}")
        return True

    def _looked(self) -> _Look:
        """Returns the present readers of the catalog, or those last read while another process has the file."""
        with self._lock:
            state, look = self._state(), self._look
            if look is not None and look.state == state:
                return look
            error = self._error_of_look(state)
            if error is None:
                assert self._look is not None
                return self._look
            if isinstance(error, InUseError) and look is not None:
                return look
            raise error

    def _error_of_look(self, state: str) -> SqlanonError | None:
        """Reads the catalog; returns the error if this fails, and also for a short time after it has failed."""
        if self._failed is not None and time.monotonic() < self._failed[1]:
            # A peer without a token can ask for a look.
            return self._failed[0]
        try:
            self._look = _read(state, self._looks.ask({"do": "look", "database": str(self._database)}))
            self._failed = None
        except SqlanonError as error:
            pause = _ATTEMPT_SECONDS
            if not isinstance(error, InUseError):
                # What cannot be read grants nothing.
                self._look, pause = None, _PAUSE_SECONDS
            self._failed = error, time.monotonic() + pause
            return error
        return None

    def _state(self) -> str:
        """Returns the identity, the size and the time of the file and of its log. Raises UserError if there is no
        file.
        """
        statuses = []
        for file in (self._database, self._database.with_name(self._database.name + _LOG)):
            with suppress(FileNotFoundError):
                statuses.append(file.stat())
        if not self._database.is_file():
            raise UserError(f"the database {self._database} no longer exists")
        return " ".join(f"{each.st_dev}.{each.st_ino}.{each.st_size}.{each.st_mtime_ns}" for each in statuses)


def _question(admitted: Admitted) -> Question:
    if admitted.question is None:
        raise Refused("write ESTIMATE ... UNDER BUDGET")
    return admitted.question


def _with(text: str, cost: str) -> str:
    """Returns the text if its first 300 characters contain `cost`, the words about the spent cost; otherwise its
    beginning and `cost`, in at most 300 characters.
    """
    return text if cost in text[:_LONGEST] else f"{text[: _LONGEST - len(cost) - 2]}; {cost}"


def _table_in(text: str, cost: str) -> pa.Table:
    """Reads the answer of a process, which may be broken, as Arrow IPC in base 64."""
    try:
        table = pa.ipc.open_stream(base64.b64decode(text)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        raise Stopped("broken", f"the answer cannot be read; {cost}") from None
    return table


def _read(state: str, answer: Mapping[str, Any]) -> _Look:
    """Returns the result of reading the catalog that a child process has reported."""
    readers = [
        KnownReader(
            each["name"],
            frozenset(Granted((schema, name), release_id) for release_id, schema, name in each["releases"]),
            _end_of(each["expires_on"]),
            frozenset(each["budgets"]),
            each["token_sha256"],
        )
        for each in answer["readers"]
    ]
    return _Look(state, {fold(reader.name): reader for reader in readers}, bool(answer["is_whole"]))


def _end_of(day: str | None) -> datetime | None:
    if day is None or date.fromisoformat(day) == date.max:
        return None
    return datetime.combine(date.fromisoformat(day) + timedelta(days=1), time_of_day.min, UTC)
