"""Signals that end a run: Ctrl-C, the end of a job, the end of a terminal.

Each becomes an exception, so that what was begun is undone, as after any error. While DuckDB computes, Python
does not look at signals for up to a minute; then another thread tells DuckDB to stop.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from types import FrameType
from typing import Any, NoReturn

__all__ = ["Stopped", "interrupting", "stop_of", "stopping"]

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}


class Stopped(KeyboardInterrupt):
    """A signal has come; `exit_code` is what a shell reports for a program that it ended.

    Ctrl-C asks for the end of what runs, the others, which have `ends`, for that of the program.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        self.ends = number != signal.SIGINT
        self.word = _WORDS[signal.Signals(number).name]
        self.exit_code = 128 + number
        super().__init__(self.word)


# What came last: DuckDB raises another error in place of the exception of a signal that it has seen itself. The
# exception is not kept, for its traceback would keep the connection.
_last: int = signal.SIGINT


def stop_of(error: BaseException) -> Stopped | None:
    """The signal that an error stands for; None if it stands for none."""
    if isinstance(error, Stopped):
        return error
    if isinstance(error, KeyboardInterrupt):
        return Stopped()
    return Stopped(_last) if isinstance(error, RuntimeError) and "interrupted" in str(error) else None


@contextmanager
def stopping() -> Iterator[None]:
    """Has the signals raise Stopped, except those that whoever started the program wants to be ignored."""
    former = {}
    for name in _WORDS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            former[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    global _last
    _last = number
    raise Stopped(number)


@contextmanager
def interrupting(connection: Any) -> Iterator[None]:
    """While this lasts, a signal also stops what the connection computes."""
    told, tell = socket.socketpair()
    tell.setblocking(False)
    former = signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    watch = Thread(target=_watch, args=(told, connection), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(former)
        tell.close()
        watch.join()
        told.close()


def _watch(told: socket.socket, connection: Any) -> None:
    numbers = {getattr(signal, name, None) for name in _WORDS}
    # Nothing is read once the other end is closed.
    while came := told.recv(1):
        if came[0] in numbers:
            with suppress(Exception):
                connection.interrupt()
