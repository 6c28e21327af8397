"""Ends a command: flushes its output and sets its exit code."""

from __future__ import annotations

import os
import sys
from codecs import lookup
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from sqlanon.clients.terminal.presentation.output import Output


# The exit code that a shell reports for a program that SIGPIPE ended.
_PIPE_CLOSED = 141


def open_streams() -> None:
    """Opens standard streams that are closed, and lets output streams with the encoding ASCII take any text.

    After this, a closed standard input is empty, messages are lost, and printing a result fails as on a full disk.
    """
    for stream in (sys.stdout, sys.stderr):
        # The encoding is ASCII with LC_ALL=C, but names and values may have other letters.
        if isinstance(stream, TextIOWrapper) and lookup(stream.encoding).name == "ascii":
            stream.reconfigure(encoding="utf-8")
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # A result that is printed to a stream opened for reading fails when it is flushed.
            descriptor = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            setattr(sys, name, open(descriptor, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


def require_arguments(arguments: Sequence[str]) -> None:
    """Exits with code 2 if an argument has letters that are not in the session's encoding."""
    encoding = sys.getfilesystemencoding()
    if encoding != "utf-8" and any("\udc80" <= letter <= "\udcff" for each in arguments for letter in each):
        print(
            f"error: the encoding of this session is {encoding}, which lacks a letter of an argument", file=sys.stderr
        )
        print("  hint: set PYTHONUTF8=1, or a locale of UTF-8 such as LC_ALL=C.UTF-8", file=sys.stderr)
        raise SystemExit(2)


@contextmanager
def answering(output: Output) -> Iterator[None]:
    """Converts an error to a message and to the exit code of its kind."""
    from sqlanon.clients.terminal.signals import stopping

    code = 0
    try:
        with stopping(), _reported(output):
            yield
    except typer.Exit as end:
        code = end.exit_code
    raise typer.Exit(_written_out(output, code))


@contextmanager
def _reported(output: Output) -> Iterator[None]:
    from sqlanon.clients.terminal.scripts import report
    from sqlanon.clients.terminal.signals import stop_of

    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        raise typer.Exit(_PIPE_CLOSED) from None
    except (Exception, KeyboardInterrupt) as error:
        stop = stop_of(error)
        if stop is None:
            raise typer.Exit(report(output, error)) from None
        # The terminal may be closed.
        with suppress(OSError):
            output.status(stop.word)
        raise typer.Exit(stop.exit_code) from None


def _written_out(output: Output, code: int) -> int:
    """Flushes standard output and error. Returns `code`, or, if it is 0 and flushing fails, the exit code of the
    failure.
    """
    from sqlanon.clients.terminal.scripts import report

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            # Nothing more can be printed to the stream, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            code = code or (_PIPE_CLOSED if isinstance(error, BrokenPipeError) else report(output, error))
    return code
