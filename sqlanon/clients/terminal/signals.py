"""Signals that end a run: Ctrl-C, the end of a job, the end of a terminal.

Each signal becomes an exception, so that unfinished work is undone, as after any error. While DuckDB computes, Python
may not look at signals for up to a minute; so another thread tells DuckDB to stop.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from types import FrameType
from typing import Any, NoReturn

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}


class Stopped(KeyboardInterrupt):
    """Raised when a signal arrives. `exit_code` is the code that a shell reports for a program that the signal ended.

    Ctrl-C ends the current statement; the other signals, for which `ends` is true, end the program.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        self.ends = number != signal.SIGINT
        self.word = _WORDS[signal.Signals(number).name]
        self.exit_code = 128 + number
        super().__init__(self.word)


# The last signal. If DuckDB itself has noticed the signal, it raises another error in place of this exception. The
# exception itself is not stored, because its traceback would keep the connection open.
_last_signal: int = signal.SIGINT


def stop_of(error: BaseException) -> Stopped | None:
    """Returns the signal that caused an error, as Stopped; None if no signal did."""
    if isinstance(error, Stopped):
        return error
    if isinstance(error, KeyboardInterrupt):
        return Stopped()
    return Stopped(_last_signal) if isinstance(error, RuntimeError) and "interrupted" in str(error) else None


@contextmanager
def stopping() -> Iterator[None]:
    """Within this context, signals raise Stopped, except those that the program was started to ignore."""
    previous = {}
    for name in _WORDS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            previous[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    global _last_signal
    _last_signal = number
    raise Stopped(number)


@contextmanager
def interrupting(connection: Any) -> Iterator[None]:
    """Within this context, a signal also interrupts the query that the connection runs."""
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    previous = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    watch = Thread(target=_watch, args=(receiver, connection), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        sender.close()
        watch.join()
        receiver.close()


def _watch(receiver: socket.socket, connection: Any) -> None:
    """Interrupts the connection at each signal, until the other end of the socket is closed."""
    numbers = {getattr(signal, name, None) for name in _WORDS}
    while data := receiver.recv(1):
        if data[0] in numbers:
            with suppress(Exception):
                connection.interrupt()
