"""Child processes of the door that open the sources of rooms, so that the front, the process that readers reach, never
opens them. A child gets a JSON request and returns an answer.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlanon.errors import (
    CatalogError,
    EngineError,
    InternalError,
    InUseError,
    PrivacyViolation,
    SqlanonError,
    UserError,
)

_ERRORS = {kind.__name__: kind for kind in (CatalogError, EngineError, InUseError, PrivacyViolation, UserError)}
_LONGEST_REQUEST = 1 << 20
# The argument of a child that answers each request, not one.
_EACH = "--each"
_ENDING_SECONDS = 1.0


class Ended(InternalError):
    """The error for a child process that ended without an answer; it has the number of the signal that killed the
    process, if one did.
    """

    def __init__(self, signal: int | None) -> None:
        super().__init__("a process that opens the source ended without an answer")
        self.signal = signal


class Children:
    """Starts child processes and ends those that still run when the door closes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_closed = False

    def ask(self, module: str, request: dict[str, Any]) -> dict[str, Any]:
        """Runs `python -m module` with a request and returns its answer. Raises the error that the process reports.

        The child's standard input stays open until it ends: the end of this input tells the child that the front is
        gone.
        """
        child = self.start(module)
        try:
            _send(child, request)
            assert child.stdout is not None
            text = child.stdout.read()
            child.wait()
        finally:
            self.end(child)
        return _answer_in(text)

    def start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts `python -m module` with pipes. Raises UserError once the door closes."""
        with self._lock:
            if self._is_closed:
                raise UserError("the door is closing")
            child = subprocess.Popen(
                [sys.executable, "-I", "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._running.add(child)
            return child

    def close(self) -> None:
        """Ends all children, and starts no further ones."""
        with self._lock:
            self._is_closed = True
            running = list(self._running)
        for child in running:
            child.kill()

    def end(self, child: subprocess.Popen[bytes]) -> None:
        """Kills a child process and closes its pipes."""
        with suppress(OSError):
            child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with self._lock:
            self._running.discard(child)


class LastingChild:
    """A child process that answers one request after another.

    The first request starts it, and so does the first request after it has ended.
    """

    def __init__(self, children: Children, module: str) -> None:
        self._children = children
        self._module = module
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """Sends a request and returns its answer. Raises the error that the child reports.

        The child is killed after so many seconds. Raises Ended if it ends before its answer is complete.
        """
        with self._lock:
            if self._child is not None and self._child.poll() is not None:
                # It has ended since its last answer.
                self._children.end(self._child)
                self._child = None
            child = self._child = self._child or self._children.start(self._module, _EACH)
            timer = None if seconds is None else threading.Timer(seconds, child.kill)
            try:
                if timer is not None:
                    timer.start()
                _send(child, request)
                assert child.stdout is not None
                text = child.stdout.readline()
            finally:
                if timer is not None:
                    timer.cancel()
            if not text.endswith(b"\n"):
                self._child = None
                with suppress(subprocess.TimeoutExpired):
                    # It has closed its output, and is about to end.
                    child.wait(_ENDING_SECONDS)
                self._children.end(child)
                raise Ended(-child.returncode if child.returncode < 0 else None)
        return _answer_in(text)


def _send(child: subprocess.Popen[bytes], request: dict[str, Any]) -> None:
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        child.stdin.write(json.dumps(request).encode() + b"\n")
        child.stdin.flush()


def _answer_in(text: bytes) -> dict[str, Any]:
    """Returns the answer of a child. Raises the error that it reports, and InternalError without an answer."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise InternalError("a process that makes rooms ended without an answer")
    if (error := error_in(answer)) is not None:
        raise error
    return answer


def error_in(answer: dict[str, Any]) -> SqlanonError | None:
    """Returns the error in an answer of a child process, or in a part of the answer; None if there is no error."""
    error = answer.get("error")
    return None if error is None else _ERRORS.get(error["kind"], InternalError)(error["message"], hint=error["hint"])


def answer_front(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers the requests of the front: one request, or each request until the front closes the pipe, as the front has
    asked.
    """
    if sys.argv[1:] != [_EACH]:
        answer_once(answer)
    while line := sys.stdin.buffer.readline(_LONGEST_REQUEST):
        sys.stdout.write(json.dumps(result(answer, json.loads(line))) + "\n")
        sys.stdout.flush()


def answer_once(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Reads one request of the front, prints the answer or the error (without its cause), and ends when the
    front does.
    """
    # The limit of the front, which the child has inherited, is not for copies.
    unlimited = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (unlimited, unlimited))
    request = json.loads(sys.stdin.buffer.readline(_LONGEST_REQUEST))
    threading.Thread(target=_end_with_front, daemon=True).start()
    sys.stdout.write(json.dumps(result(answer, request)))
    sys.stdout.flush()
    # The thread still waits for the front.
    os._exit(0)


@contextmanager
def new_room(file: Path) -> Iterator[None]:
    """Lets the block write a room that only its owner may read; no file of it is left after an error."""
    os.umask(0o077)
    try:
        yield
    except BaseException:
        for each in file.parent.glob(f"{file.name}*"):
            with suppress(OSError):
                each.unlink()
        raise


def result(answer: Callable[[dict[str, Any]], dict[str, Any]], request: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer to a request, or the error in the form that `error_in` reads."""
    try:
        return answer(request)
    except SqlanonError as error:
        return {"error": {"kind": type(error).__name__, "message": error.message, "hint": error.hint}}
    except Exception as error:  # A defect: its text may hold values.
        return {"error": {"kind": "InternalError", "message": f"unexpected {type(error).__name__}", "hint": None}}


def _end_with_front() -> None:
    sys.stdin.buffer.read(1)
    os._exit(1)
