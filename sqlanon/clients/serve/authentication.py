"""Finds the reader of each request by the name and the token in the request's headers.

A driver sends name and token as Basic, and gets the same text back as its Bearer, so the door keeps no sessions.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.flight as flight

from sqlanon.clients.serve.audit import Audit
from sqlanon.clients.serve.readers import Reader, Readers
from sqlanon.clients.serve.readers_file import NAME
from sqlanon.clients.serve.refused import NOT_ADMITTED
from sqlanon.domain import tokens

# The name of the middleware, by which a request finds its reader.
READER = "reader"
_SCHEMES = ("basic", "bearer")
_LONGEST = 4096
# The number of an open connection in /proc/net/tcp.
_ESTABLISHED = "01"
_MOST_PEERS = 20


class Authentication(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Finds the reader of each request, before any method runs."""

    def __init__(self, readers: Readers, audit: Audit) -> None:
        super().__init__()
        self._readers = readers
        self._audit = audit
        self._lock = threading.Lock()
        # The port at which the server listens, once it does.
        self.port = 0
        self._denials, self._next_line = 0, 0.0

    def _denied(self, name: str) -> None:
        """Records refused requests in the audit log, at most one line a second, so that a client without a token cannot
        fill the disk.
        """
        with self._lock:
            self._denials += 1
            now = time.monotonic()
            if now < self._next_line:
                return
            count, self._denials, self._next_line = self._denials, 0, now + 1
        # Nothing tells a middleware the peer of its request.
        peers = connected_peers(self.port) or None
        known = name if name and NAME.fullmatch(name) and not name.startswith(tokens.PREFIX) else None
        self._audit.write("denied", reader=known, count=count, peers=peers)

    def start_call(self, info: Any, headers: dict[str, list[str]]) -> Authenticated:
        """Returns the middleware with the reader. Raises FlightUnauthenticatedError with one text for all reasons."""
        name, reader, text = None, None, ""
        try:
            name, token, text = _credentials(headers)
            reader = self._readers.authenticate(name, token) if name else None
            if reader is None:
                self._denied(name)
        except Exception:  # Whatever happens, nobody is let in, and a peer learns nothing.
            reader = None
        if reader is None:
            raise flight.FlightUnauthenticatedError(NOT_ADMITTED)
        if info.method == flight.FlightMethod.GET_SCHEMA:
            # pyarrow sends a traceback with any error of this method, so that it must not run.
            raise flight.FlightServerError("prepare the statement: its schema comes with it")
        return Authenticated(reader, text if info.method == flight.FlightMethod.HANDSHAKE else None)


def connected_peers(port: int) -> list[str]:
    """Returns the addresses that have a connection to a port of this machine, at most 20 of them, by Linux's tables of
    connections.
    """
    peers = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/self/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
                _, local, remote, state, *_ = line.split()
                if state == _ESTABLISHED and int(local.rpartition(":")[2], 16) == port:
                    peers.add(_address(remote.partition(":")[0]))
    return sorted(peers)[:_MOST_PEERS]


def _address(digits: str) -> str:
    """Returns the text of a network address from its hexadecimal digits; each 32 bits of it are in the machine's byte
    order.
    """
    words = [int(digits[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(digits), 8)]
    address = ipaddress.ip_address(b"".join(words))
    return str(getattr(address, "ipv4_mapped", None) or address)


class Authenticated(flight.ServerMiddleware):  # type: ignore[misc]
    """The reader of a request."""

    def __init__(self, reader: Reader, bearer: str | None) -> None:
        super().__init__()
        self.reader = reader
        self._bearer = bearer

    def sending_headers(self) -> dict[str, str]:
        return {} if self._bearer is None else {"authorization": f"Bearer {self._bearer}"}


class Handshakes(flight.ServerAuthHandler):  # type: ignore[misc]
    """Lets drivers shake hands; only the headers of a request count."""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        """Reads nothing; the headers of a request have the token."""

    def is_valid(self, token: bytes) -> str:
        return ""


def _credentials(headers: dict[str, list[str]]) -> tuple[str, str, str]:
    """Returns the name, the token and the text in which a header has both; these are empty if there is no such
    header.
    """
    values = [value for name, listed in headers.items() if name.lower() == "authorization" for value in listed]
    if len(values) != 1 or len(values[0]) > _LONGEST:
        return "", "", ""
    scheme, _, text = values[0].partition(" ")
    # Drivers written in Go leave the padding out.
    padded = text.strip().rstrip("=") + "=" * (-len(text.strip().rstrip("=")) % 4)
    try:
        name, colon, token = base64.b64decode(padded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return "", "", ""
    if scheme.lower() not in _SCHEMES or not colon or not name or not token:
        return "", "", ""
    return name, token, text.strip()
