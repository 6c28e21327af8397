"""Handles of statements: random names that a reader gets for an admitted statement, and that nobody else can use."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlanon.clients.serve.gate import Admitted
from sqlanon.clients.serve.refused import Refused
from sqlanon.domain.values import QualifiedName

_MOST_OF_A_READER = 64


@dataclass(frozen=True)
class Entry:
    """An admitted statement of a reader: its text as the reader wrote it, its parameters, and the schema of
    its answer.
    """

    reader: str
    statement: str
    admitted: Admitted
    columns: Mapping[QualifiedName, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    values: bytes | None = None
    parameters: tuple[str, ...] = ()
    since: float = field(default_factory=time.monotonic)


class Handles:
    """The statements of all readers that are younger than `seconds`: for each reader at most the 64 newest."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._entries: dict[str, OrderedDict[bytes, Entry]] = {}

    def add(self, entry: Entry) -> bytes:
        handle = secrets.token_bytes(16)
        with self._lock:
            entries = self._of(entry.reader)
            entries[handle] = entry
            while len(entries) > _MOST_OF_A_READER:
                entries.popitem(last=False)
        return handle

    def get(self, reader: str, handle: bytes | None) -> Entry:
        """Returns a statement of this reader. Raises Refused for any other handle."""
        with self._lock:
            entry = self._of(reader).get(handle or b"")
        return _present(entry)

    def put(self, reader: str, handle: bytes | None, entry: Entry) -> None:
        """Replaces a statement, which keeps its handle. Raises Refused if the reader has no statement with it."""
        with self._lock:
            entries = self._of(reader)
            _present(entries.get(handle or b""))
            entries[handle or b""] = entry

    def pop(self, reader: str, handle: bytes | None) -> Entry:
        """Removes a statement of this reader and returns it. Raises Refused for any other handle."""
        with self._lock:
            entry = self._of(reader).pop(handle or b"", None)
        return _present(entry)

    def _of(self, reader: str) -> OrderedDict[bytes, Entry]:
        entries = self._entries.setdefault(reader, OrderedDict())
        oldest = time.monotonic() - self._seconds
        while entries and next(iter(entries.values())).since < oldest:
            entries.popitem(last=False)
        return entries


def _present(entry: Entry | None) -> Entry:
    if entry is None:
        raise Refused("the statement is unknown, or was read already")
    return entry
