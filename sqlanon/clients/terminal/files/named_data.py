"""The data that a command names: files that DuckDB reads, a table of a DuckDB file, or standard input."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from sqlanon.clients.frames.data_files import (
    GLOB,
    SOURCE,
    DataFile,
    is_database,
    kind_by_name,
    kind_of,
    tables_of,
)
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.engines.translated import file_like
from sqlanon.errors import UserError
from sqlanon.syntax.texts import name_text

_STDIN, _STDIN_PATH = "-", "/dev/stdin"
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_NO_WORD = re.compile(r"\W+")
# A file of an export has the release's name, and file systems allow 255 bytes.
_LONGEST = 60


@contextmanager
def data_of(
    texts: Sequence[str], nulls: Sequence[str] = (), encoding: str | None = None, decimal: str | None = None
) -> Iterator[DataFile]:
    """Yields the data that a command's arguments name; standard input is kept in a file until the end.

    `nulls` are texts of a CSV file that mean a missing value, `encoding` is the encoding of its text, and `decimal` the
    decimal separator of its numbers. Raises UserError for missing files, for files without data, and for options of CSV
    files if the file is not a CSV file.
    """
    with ExitStack() as stack:
        data = _from_stdin(_unnamed_file(stack)) if list(texts) == [_STDIN] else _data_file(texts)
        yield data.with_options(nulls, encoding, decimal)


def _unnamed_file(stack: ExitStack) -> Path:
    """Returns the path of an empty file that the system removes at the end, even, if possible, when the program is
    killed.

    A file without a name is read by its descriptor's number.
    """
    file = stack.enter_context(TemporaryFile(prefix="sqlanon-"))  # noqa: SIM115 - the stack closes it
    numbered = Path(f"/proc/self/fd/{file.fileno()}")
    return numbered if numbered.exists() else Path(stack.enter_context(TemporaryDirectory(prefix="sqlanon-")), "stdin")


def _from_stdin(path: Path) -> DataFile:
    if sys.stdin.isatty():
        raise UserError("standard input is a terminal, not data", hint="cat patients.csv | sqlanon anonymize - ...")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    kind = kind_of(str(path), "standard input")
    if kind == "table":
        raise UserError(
            "standard input is a DuckDB file, which can only be read by its path", hint="sqlanon profile FILE:TABLE"
        )
    return DataFile("standard input", "anonymized", kind, (_STDIN_PATH,), read_from=(str(path),))


def _data_file(texts: Sequence[str]) -> DataFile:
    if _STDIN in texts:
        raise UserError("- is standard input, which cannot be combined with files", hint="name files, or - alone")
    if len(texts) == 1 and not os.path.lexists(texts[0]) and (table := _table_of(texts[0])):
        return table
    files = [_file(text) for text in texts]
    kinds = sorted({kind for _, kind in files})
    if len(kinds) > 1:
        raise UserError(f"the files are of several kinds, {' and '.join(kinds)}", hint="name files of one kind")
    called = texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more"
    return DataFile(called, _name(texts), kinds[0], tuple(path for path, _ in files))


def _name(texts: Sequence[str]) -> str:
    """Returns a name for objects made from files: the common beginning of the files' names."""
    stems = [re.split(r"[/\\]", text)[-1].lstrip(".").split(".")[0] for text in texts]
    letters = zip(*(GLOB.split(stem)[0] for stem in stems), strict=False)
    common = "".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, letters))
    words = _NO_WORD.sub("_", common or stems[0]).strip("_")[:_LONGEST].strip("_")
    return words if words and fold(words) != SOURCE else "anonymized"


def _file(text: str) -> tuple[str, str]:
    """Returns the path of a file, or a pattern of several files, as DuckDB reads it, and the files' kind."""
    if _URL.match(text):
        return text, kind_by_name(text) or "csv"
    try:
        if Path(text).is_dir():
            raise UserError(f"{text} is a folder", hint=f"name its files, in quotes: '{text.rstrip('/')}/*.csv'")
        if os.path.lexists(text):
            # In the name of an existing file, the characters of patterns are escaped.
            return GLOB.sub(lambda sign: f"[{sign[0]}]", text), kind_of(text, text)
        matches = sorted(str(path) for path in _matching(text)) if GLOB.search(text) else []
    except (OSError, ValueError) as error:
        raise UserError(f"{text!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not matches:
        raise _no_file(text)
    return text, kind_of(matches[0], matches[0])


def _matching(pattern: str) -> Iterator[Path]:
    path = Path(pattern)
    anchor = Path(path.anchor) if path.anchor else Path()
    yield from anchor.glob(str(path.relative_to(path.anchor) if path.anchor else path))


def _no_file(text: str) -> UserError:
    path = Path(text)
    if GLOB.search(text):
        return UserError(f"no file fits {text}", hint=f"ls {path.parent}/ lists the existing files")
    if near := file_like(path):
        return UserError(f"there is no file {text}", hint=f"did you mean {near}?")
    hint = "a path begins in the folder in which sqlanon runs"
    if text.isidentifier():
        hint += f"; if {text} is a column, columns are listed with commas and no blanks: --known age,sex"
    return UserError(f"there is no file {text}", hint=hint)


def _table_of(text: str) -> DataFile | None:
    """Returns the table that FILE:TABLE names; None if FILE is not a DuckDB file. Raises UserError for an unknown
    table.
    """
    for colon in (match.start() for match in re.finditer(":", text)):
        path, name = text[:colon], text[colon + 1 :]
        if not Path(path).is_file() or not is_database(path):
            continue
        tables = tables_of(path)
        spellings = {f"{schema}.{table}": (schema, table) for schema, table in tables}
        spellings |= {table: (schema, table) for schema, table in reversed(tables)}
        known = {fold(spelling): names for spelling, names in spellings.items()}
        if fold(name) not in known:
            listed = ", ".join(table for _, table in tables[:8]) or "nothing"
            raise UserError(f"{path} has no table {name}", hint=nearest(name, list(spellings)) or f"it has {listed}")
        quoted = ".".join(map(name_text, known[fold(name)]))
        return DataFile(text, _name([known[fold(name)][1]]), "table", (path,), quoted)
    return None
