"""The data that a command names: files that DuckDB reads, a table of a DuckDB file, or standard input."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from sqlanon.assets import read
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.engines.translated import translated
from sqlanon.errors import SqlanonError, UserError
from sqlanon.syntax.texts import name_text, string_text, typed_name

# The table that the rows of the data are read into.
SOURCE = "source"
_COUNT = "SELECT count(*) FROM source"
_STDIN, _STDIN_PATH = "-", "/dev/stdin"
_HEAD = 4096
# The readers of DuckDB by kind of file.
_READERS = {"csv": "read_csv", "parquet": "read_parquet", "json": "read_json", "excel": "read_xlsx"}
_SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".psv", ".dat"), "csv"),
    **dict.fromkeys((".parquet", ".parq", ".pq"), "parquet"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".xlsx",), "excel"),
}
_COMPRESSED = (".gz", ".zst")
# Files of statistics packages, by suffix: the function of pandas that reads them.
_STATISTICAL = {".dta": "read_stata", ".sav": "read_spss", ".sas7bdat": "read_sas", ".xpt": "read_sas"}
_PACKAGES = {"read_stata": "Stata", "read_spss": "SPSS", "read_sas": "SAS"}
# The endings of paths that DuckDB reads without the name of a reader.
_PLAIN = re.compile(r"\.(?:csv|tsv|parquet|json|jsonl|ndjson|xlsx)(?:\.(?:gz|zst))?$")
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_GLOB = re.compile(r"[*?[]")
_NO_WORD = re.compile(r"\W+")
# A file of an export is named after the release: file systems allow 255 bytes.
_LONGEST = 60
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class DataFile:
    """The data that a command names.

    `called` is how messages name them, `name` a word for what is made of them, `kind` one of 'csv', 'parquet', 'json',
    'excel' and 'table'. `paths` are the files, or patterns of files, `table` the table of a DuckDB file. `options` are
    those of the reader of a CSV file, and `typed` the words of a command line that ask for them. `read_from` are the
    paths to read, where they are others than those to write.
    """

    called: str
    name: str
    kind: str
    paths: tuple[str, ...]
    table: str = ""
    options: tuple[tuple[str, str], ...] = ()
    typed: tuple[str, ...] = ()
    read_from: tuple[str, ...] = field(default=(), repr=False)

    def statements(self, table: str = SOURCE) -> tuple[str, ...]:
        """The SQL that reads the data into a new table."""
        return self._statements(table, self.paths)

    def load(self, connection: Any) -> DataFile:
        """Reads the data into the table SOURCE of a DuckDB connection.

        Returns the data with the options by which they could be read. Raises UserError where they cannot, or where
        there are no rows.
        """
        data = self
        try:
            data._run(connection)
        except Exception as error:
            data = self._with_all_rows_looked_at(connection, error)
        if not connection.execute(_COUNT).fetchone()[0]:
            raise UserError(f"{self.called} has no rows", hint="name a file with a header and at least one row")
        return data

    def _statements(self, table: str, paths: Sequence[str]) -> tuple[str, ...]:
        made = f"CREATE TABLE {typed_name(table)} AS FROM"
        if self.kind != "table":
            return (f"{made} {self._reader(paths)}",)
        return (
            f"ATTACH {string_text(paths[0])} AS attached (READ_ONLY)",
            f"{made} attached.{self.table}",
            "DETACH attached",
        )

    def _reader(self, paths: Sequence[str]) -> str:
        texts = [string_text(path) for path in paths]
        if len(texts) == 1 and not self.options and _PLAIN.search(paths[0]):
            return texts[0]
        listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        options = "".join(f", {name} => {value}" for name, value in self.options)
        return f"{_READERS[self.kind]}({listed}{options})"

    def _run(self, connection: Any) -> None:
        for statement in self._statements(SOURCE, self.read_from or self.paths):
            connection.execute(statement)

    def _with_all_rows_looked_at(self, connection: Any, error: Exception) -> DataFile:
        """Reads a CSV file once more, its types told by all of its rows. Raises UserError where that fails, too."""
        with suppress(Exception):
            connection.execute("DETACH attached")
        if self.kind == "csv" and type(error).__name__ in ("ConversionException", "InvalidInputException"):
            data = replace(self, options=(*self.options, ("sample_size", "-1")))
            with suppress(Exception):
                data._run(connection)
                return data
        raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> SqlanonError:
        """The error for data that DuckDB cannot read, without the values that DuckDB quotes."""
        if isinstance(error, SqlanonError):
            return error
        if type(error).__module__ not in ("duckdb", "_duckdb"):
            raise error
        if self.kind == "csv" and (reason := _not_utf8(self.read_from or self.paths)):
            return UserError(f"{self.called} is {reason}", hint="name its encoding: --encoding latin-1, or utf-16")
        known = translated(error)  # type: ignore[arg-type]
        kinds = {"csv": "a CSV file", "parquet": "a Parquet file", "json": "a JSON file", "excel": "an Excel sheet"}
        what = kinds.get(self.kind)
        if what is None:
            return known
        return UserError(
            f"{self.called} cannot be read as {what}",
            hint=known.hint or f"{_one_sentence(known.message)}; {_READERS[self.kind]}(...) in SQL has more options",
        )


def _one_sentence(message: str) -> str:
    return message.strip().partition("\n")[0].rstrip(".:; ")


@contextmanager
def data_of(
    texts: Sequence[str], nulls: Sequence[str] = (), encoding: str | None = None, decimal: str | None = None
) -> Iterator[DataFile]:
    """The data that the arguments of a command name; standard input is kept in a file until the end.

    `nulls` are texts of a CSV file that mean a missing value, `encoding` is that of its text, and `decimal` the decimal
    separator of its numbers. Raises UserError for files that there are not, or that are no data, and for options of CSV
    files where it is none.
    """
    with ExitStack() as stack:
        data = _from_stdin(_unnamed_file(stack)) if list(texts) == [_STDIN] else _named(texts)
        yield with_options(data, nulls, encoding, decimal)


def _unnamed_file(stack: ExitStack) -> Path:
    """The path of an empty file that is gone at the end, also of a program that is killed, where the system allows it.

    A file without a name is read by its number.
    """
    file = stack.enter_context(TemporaryFile(prefix="sqlanon-"))  # noqa: SIM115 - the stack closes it
    numbered = Path(f"/proc/self/fd/{file.fileno()}")
    return numbered if numbered.exists() else Path(stack.enter_context(TemporaryDirectory(prefix="sqlanon-")), "stdin")


def with_options(
    data: DataFile, nulls: Sequence[str] = (), encoding: str | None = None, decimal: str | None = None
) -> DataFile:
    """The data with options of CSV files beside those that it has. Raises UserError where it is no CSV file."""
    options, typed = list(data.options), list(data.typed)
    if nulls:
        # The empty field stays a missing value.
        markers = ", ".join(map(string_text, dict.fromkeys(("", *nulls))))
        options.append(("nullstr", f"[{markers}]"))
        typed += [word for text in nulls for word in ("--null", text)]
    if encoding is not None:
        options.append(("encoding", string_text(encoding)))
        typed += ["--encoding", encoding]
    if decimal is not None:
        if decimal not in (".", ","):
            raise UserError(f"--decimal {decimal} is no decimal separator", hint="write --decimal ,")
        options.append(("decimal_separator", string_text(decimal)))
        typed += ["--decimal", decimal]
    if options and data.kind != "csv":
        raise UserError(
            f"--null, --encoding and --decimal are for CSV files, and {data.called} is none", hint="leave them out"
        )
    return replace(data, options=tuple(options), typed=tuple(typed))


def _from_stdin(path: Path) -> DataFile:
    if sys.stdin.isatty():
        raise UserError("standard input is a terminal, and no data", hint="cat patients.csv | sqlanon anonymize - ...")
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    kind = _kind(str(path), "standard input")
    if kind == "table":
        raise UserError("standard input is a DuckDB file, which is read by its name", hint="sqlanon profile FILE:TABLE")
    return DataFile("standard input", "anonymized", kind, (_STDIN_PATH,), read_from=(str(path),))


def _named(texts: Sequence[str]) -> DataFile:
    if _STDIN in texts:
        raise UserError("- is standard input, and is read alone", hint="name files, or - alone")
    if len(texts) == 1 and not os.path.lexists(texts[0]) and (table := _table_of(texts[0])):
        return table
    files = [_file(text) for text in texts]
    kinds = sorted({kind for _, kind in files})
    if len(kinds) > 1:
        raise UserError(f"the files are of several kinds, {' and '.join(kinds)}", hint="name files of one kind")
    called = texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more"
    return DataFile(called, _name(texts), kinds[0], tuple(path for path, _ in files))


def _name(texts: Sequence[str]) -> str:
    """A word for what is made of files: the part that their names begin with."""
    stems = [re.split(r"[/\\]", text)[-1].lstrip(".").split(".")[0] for text in texts]
    letters = zip(*(_GLOB.split(stem)[0] for stem in stems), strict=False)
    common = "".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, letters))
    words = _NO_WORD.sub("_", common or stems[0]).strip("_")[:_LONGEST].strip("_")
    return words if words and fold(words) != SOURCE else "anonymized"


def _file(text: str) -> tuple[str, str]:
    """The path of a file, or a pattern of several, as DuckDB takes it, and its kind."""
    if _URL.match(text):
        return text, _kind_by_name(text) or "csv"
    try:
        if Path(text).is_dir():
            raise UserError(f"{text} is a folder", hint=f"name its files, in quotes: '{text.rstrip('/')}/*.csv'")
        if os.path.lexists(text):
            # Signs of a pattern stand for themselves in the name of a file that is there.
            return _GLOB.sub(lambda sign: f"[{sign[0]}]", text), _kind(text, text)
        matches = sorted(str(path) for path in _matching(text)) if _GLOB.search(text) else []
    except (OSError, ValueError) as error:
        raise UserError(f"{text!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not matches:
        raise _no_file(text)
    return text, _kind(matches[0], matches[0])


def _matching(pattern: str) -> Iterator[Path]:
    path = Path(pattern)
    anchor = Path(path.anchor) if path.anchor else Path()
    yield from anchor.glob(str(path.relative_to(path.anchor) if path.anchor else path))


def _no_file(text: str) -> UserError:
    path = Path(text)
    if _GLOB.search(text):
        return UserError(f"no file fits {text}", hint=f"ls {path.parent}/ lists the files that there are")
    with suppress(OSError):
        names = [other.name for other in path.parent.iterdir() if other.is_file()]
        if near := nearest(path.name, names):
            return UserError(f"there is no file {text}", hint=near)
    hint = "a path begins in the folder in which sqlanon runs"
    if text.isidentifier():
        hint += f"; if {text} is a column, columns are listed with commas and no blanks: --known age,sex"
    return UserError(f"there is no file {text}", hint=hint)


def _kind(path: str, called: str) -> str:
    """The kind of a file by its first bytes, else by its name. Raises UserError for what DuckDB does not read."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise UserError(f"{called} cannot be read: {error.strerror}", hint="is it yours to read?") from None
    if not head:
        raise UserError(f"{called} is empty", hint="name a file with a header and at least one row")
    if head[8:12] == b"DUCK":
        raise UserError(
            f"{called} is a DuckDB file with tables", hint=f"name one of them: {called}:{_first_table(path) or 'TABLE'}"
        )
    if head.startswith(b"SQLite format 3\0"):
        raise UserError(
            f"{called} is a SQLite file", hint=f"sqlanon import {called} TABLE --database clinic.duckdb copies a table"
        )
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "excel"
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise UserError(f"{called} is an old Excel file", hint="save it as .xlsx, or as CSV")
    if reader := _STATISTICAL.get(Path(path).suffix.lower()):
        hint = f"save it as CSV or Parquet, or in Python: sqlanon.anonymize(pandas.{reader}({Path(path).name!r}), ...)"
        raise UserError(f"{called} is a file of {_PACKAGES[reader]}", hint=hint)
    by_name = _kind_by_name(path)
    if by_name in ("parquet", "excel"):
        raise UserError(
            f"{called} is no {by_name.capitalize()} file", hint="rename it after what it is, as in data.csv"
        )
    if by_name is None and b"\0" in head and not head.startswith(_UTF_16):
        raise UserError(f"{called} is no data file", hint="name a CSV, Parquet, JSON or Excel file")
    return by_name or ("json" if head.lstrip()[:1] in (b"{", b"[") else "csv")


def _kind_by_name(path: str) -> str | None:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _table_of(text: str) -> DataFile | None:
    """The table that FILE:TABLE names; None where no DuckDB file is before a colon. Raises UserError for no table."""
    for colon in (match.start() for match in re.finditer(":", text)):
        path, name = text[:colon], text[colon + 1 :]
        if not Path(path).is_file() or not _is_database(path):
            continue
        tables = _tables(path)
        spellings = {f"{schema}.{table}": (schema, table) for schema, table in tables}
        spellings |= {table: (schema, table) for schema, table in reversed(tables)}
        known = {fold(spelling): names for spelling, names in spellings.items()}
        if fold(name) not in known:
            listed = ", ".join(table for _, table in tables[:8]) or "nothing"
            raise UserError(f"{path} has no table {name}", hint=nearest(name, list(spellings)) or f"it has {listed}")
        quoted = ".".join(map(name_text, known[fold(name)]))
        return DataFile(text, _name([known[fold(name)][1]]), "table", (path,), quoted)
    return None


def _is_database(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(12)[8:] == b"DUCK"
    return False


def _tables(path: str) -> list[tuple[str, str]]:
    """The (schema, name) of the tables and views of a DuckDB file, those of its main schema first."""
    from sqlanon.clients.terminal.databases import connected

    with connected(path, read_only=True) as connection:
        return [
            (str(schema), str(table))
            for schema, table in connection.duckdb.execute(read("sql", "statements", "tables_of_file.sql")).fetchall()
        ]


def _first_table(path: str) -> str | None:
    with suppress(Exception):
        return next((table for _, table in _tables(path)), None)
    return None


def require_excel(connection: Any, data: DataFile) -> None:
    """Raises UserError for an Excel file where DuckDB's extension for it is not installed."""
    if data.kind != "excel":
        return
    query = "SELECT installed OR loaded FROM duckdb_extensions() WHERE extension_name = 'excel'"
    if connection.execute(query).fetchone() != (True,):
        raise UserError(
            f"{data.called} is an Excel file, and DuckDB's extension for it is not installed",
            hint="with a network, once: echo 'INSTALL excel' | sqlanon run -; or save the sheet as CSV",
        )


def _not_utf8(paths: Sequence[str]) -> str | None:
    """What the text of a file is, where it is not UTF-8; None where it is, or where a path names no single file."""
    for path in paths:
        with suppress(OSError), open(re.sub(r"\[(.)\]", r"\1", path), "rb") as file:
            if file.read(2) in _UTF_16:
                return "UTF-16 text"
            file.seek(0)
            for line in file:
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    return "not UTF-8 text"
    return None
