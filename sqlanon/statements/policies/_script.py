"""The statements that PROFILE proposes as one script, with comments, and the file that it is written to."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sqlanon.errors import UserError, about

# Lines of comments are as wide as a terminal is at least.
_COMMENT_WIDTH = 76
# What a statement's reason says of all of them.
_EDIT = "edit it, then run it"
# The first line of a file, by which a script that may be replaced is known.
_HEAD = "-- Proposed by sqlanon: "


def script_lines(rows: Sequence[Sequence[object]]) -> list[str]:
    """The statements among the rows of a profile, each behind the remarks on it, which are comments."""
    return [line for row in rows if row[0] in ("statement", "release") for line in _lines(row)]


def _lines(row: Sequence[object]) -> Iterator[str]:
    *_, text, why = row
    for reason in str(why).split("; "):
        if reason != _EDIT:
            yield from textwrap.wrap(reason, _COMMENT_WIDTH, initial_indent="-- ", subsequent_indent="-- ")
    if text is not None:
        yield f"{text};"


def write_script(path: str, rows: Sequence[Sequence[object]], *, replace: bool) -> None:
    """Writes the script of a profile to a file.

    Raises UserError where there is a file, unless it is such a script and may be replaced, and where it cannot be
    written; what was there stays.
    """
    with about("path"):
        target = Path(path)
        _require_free(target, path, replace=replace)
        text = "\n".join((f"{_HEAD}edit it, then run it with sqlanon run {target.name}", *script_lines(rows), ""))
        try:
            _write(target, text)
        except OSError as error:
            raise UserError(
                f"{path} cannot be written: {error.strerror or error}",
                hint="a path begins in the folder in which sqlanon runs, and its folder has to be there",
            ) from None


def _require_free(target: Path, path: str, *, replace: bool) -> None:
    if not path or target.is_dir():
        raise UserError(f"{path or 'an empty text'} is no name of a file", hint="name a file, as in 'patients.sql'")
    if not os.path.lexists(target):
        return
    if not _is_script(target):
        raise UserError(f"{path} is there, and is no script of PROFILE", hint="choose another name, or move it away")
    if not replace:
        raise UserError(
            f"{path} is there", hint="it is an earlier script: choose another name, or replace it with (REPLACE true)"
        )


def _is_script(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            return file.read(len(_HEAD)) == _HEAD.encode()
    except OSError:
        return False


def _write(target: Path, text: str) -> None:
    """Writes a file beside the target, which takes its name once it is complete."""
    descriptor, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
