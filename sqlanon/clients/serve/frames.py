"""Frames between the front and a worker: a kind, a length and content, sent over a pair of sockets.

Requests and short answers are JSON; parameters and rows are Arrow IPC. Nothing is pickled, so that a frame that was
made by a broken worker cannot run code in the front.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

_HEADER = struct.Struct("<cQ")
# The kinds: a request or short answer, rows in Arrow IPC, the end of an answer, and an error.
ASK, ROWS, END, ERROR = b"a", b"r", b"e", b"x"
# A batch is cut before it gets as long, so a longer frame is not of a worker that works.
MOST_BYTES = 1 << 30
_MOST_JSON = 16 << 20
# The most buffers of one system call.
_GATHERED = 512


class BrokenFrame(Exception):
    """Raised if the process at the other end has closed the connection, or sent something other than a frame."""


def send(connection: socket.socket, kind: bytes, *parts: bytes | memoryview) -> None:
    """Sends a frame whose content is in parts. Raises BrokenFrame if the other side is gone."""
    buffers = [memoryview(part).cast("B") for part in parts]
    buffers.insert(0, memoryview(_HEADER.pack(kind, sum(map(len, buffers)))))
    try:
        while buffers:
            sent = connection.sendmsg(buffers[:_GATHERED])
            while buffers and sent >= len(buffers[0]):
                sent -= len(buffers.pop(0))
            if sent:
                buffers[0] = buffers[0][sent:]
    except OSError:
        raise BrokenFrame("the other side is gone") from None


def send_json(connection: socket.socket, kind: bytes, content: dict[str, Any]) -> None:
    send(connection, kind, json.dumps(content).encode())


def header(connection: socket.socket) -> tuple[bytes, int]:
    """Receives the kind of the next frame and its length. Raises BrokenFrame at the end of the connection."""
    content = bytearray(_HEADER.size)
    receive(connection, memoryview(content))
    kind: bytes
    length: int
    kind, length = _HEADER.unpack(content)
    if kind not in (ASK, ROWS, END, ERROR) or length > (MOST_BYTES if kind == ROWS else _MOST_JSON):
        raise BrokenFrame("a frame has an unknown kind or is too long")
    return kind, length


def receive(connection: socket.socket, target: memoryview) -> None:
    """Fills a buffer. Raises BrokenFrame if the connection ends before it is full."""
    at = 0
    while at < len(target):
        try:
            got = connection.recv_into(target[at:])
        except OSError:
            got = 0
        if not got:
            raise BrokenFrame("the other side is gone")
        at += got


def receive_json(connection: socket.socket, length: int) -> dict[str, Any]:
    """Receives the content of a frame of JSON. Raises BrokenFrame if it is not an object."""
    content = bytearray(length)
    receive(connection, memoryview(content))
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BrokenFrame("a frame of JSON has no object")
    return value
