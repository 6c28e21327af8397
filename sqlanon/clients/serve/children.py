"""Processes that open the sources of a room, so that the front never does: one JSON request in, one answer out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
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


class Children:
    """Starts child processes and ends those that still run when the door closes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_closed = False

    def ask(self, module: str, request: dict[str, Any]) -> dict[str, Any]:
        """Runs `python -m module` with a request and returns its answer. Raises the error that it reports.

        The child's standard input stays open until it ends: its end tells the child that the front is gone.
        """
        with self._lock:
            if self._is_closed:
                raise UserError("the door is closing")
            child = subprocess.Popen(
                [sys.executable, "-I", "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._running.add(child)
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            with suppress(BrokenPipeError):
                child.stdin.write(json.dumps(request).encode() + b"\n")
                child.stdin.flush()
            text = child.stdout.read()
            child.wait()
        finally:
            self._end(child)
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise InternalError("a process that makes rooms ended without an answer")
        if (error := answer.get("error")) is not None:
            raise _ERRORS.get(error["kind"], InternalError)(error["message"], hint=error["hint"])
        return answer

    def close(self) -> None:
        """Ends all children, and starts no further ones."""
        with self._lock:
            self._is_closed = True
            running = list(self._running)
        for child in running:
            child.kill()

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        with suppress(OSError):
            child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with self._lock:
            self._running.discard(child)


def answer_once(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Reads the request of the front, prints the answer, or the error without its cause, and ends with the front."""
    request = json.loads(sys.stdin.buffer.readline(_LONGEST_REQUEST))
    threading.Thread(target=_end_with_front, daemon=True).start()
    try:
        result = answer(request)
    except SqlanonError as error:
        result = {"error": {"kind": type(error).__name__, "message": error.message, "hint": error.hint}}
    except Exception as error:  # A defect: its text may hold values.
        result = {"error": {"kind": "InternalError", "message": f"unexpected {type(error).__name__}", "hint": None}}
    sys.stdout.write(json.dumps(result))
    sys.stdout.flush()
    # The thread still waits for the front.
    os._exit(0)


def _end_with_front() -> None:
    sys.stdin.buffer.read(1)
    os._exit(1)
