"""Data files that DuckDB reads: their kinds, their readers, and the options of CSV files."""

from __future__ import annotations

import os
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlanon.assets import read
from sqlanon.clients.frames.stata import read_stata
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.duckdb import open_database
from sqlanon.engines.translated import translated
from sqlanon.errors import SqlanonError, UserError
from sqlanon.syntax.texts import name_text, string_text, typed_name

# The name of the table that a file's rows are read into.
SOURCE = "source"
_COUNT = "SELECT count(*) FROM source"
_HEAD = 4096
# DuckDB's readers by kind of file.
_READERS = {"csv": "read_csv", "parquet": "read_parquet", "json": "read_json", "excel": "read_xlsx"}
_SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".psv", ".dat"), "csv"),
    **dict.fromkeys((".parquet", ".parq", ".pq"), "parquet"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".xlsx",), "excel"),
    **dict.fromkeys((".dta",), "stata"),
}
# The kind of files that pandas reads; a script reads its rows from a Parquet file.
STATA = "stata"
_COMPRESSED = (".gz", ".zst")
# The pandas function that reads a file of a statistics package, by suffix.
_STATISTICAL = {".sav": "read_spss", ".sas7bdat": "read_sas", ".xpt": "read_sas"}
_PACKAGES = {"read_spss": "SPSS", "read_sas": "SAS"}
# The suffixes of paths that DuckDB reads without the name of a reader.
_PLAIN = re.compile(r"\.(?:csv|tsv|parquet|json|jsonl|ndjson|xlsx)(?:\.(?:gz|zst))?$")
# The characters that make a path a pattern.
GLOB = re.compile(r"[*?[]")
# The options for CSV files on the command line and in anonymize().
CSV_OPTIONS = ("null", "encoding", "decimal")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# The encodings of DuckDB's reader, and ASCII, a part of UTF-8 and Latin-1. It reads only little-endian UTF-16.
_ASCII, _UTF_8, _LATIN_1, _UTF_16_NAME = "ascii", "utf-8", "latin-1", "utf-16"
# The number of bytes that are decoded at a time.
_CHUNK = 1 << 20
# Bytes without a letter in Latin-1: they occur in windows-1252, which DuckDB does not read, and in UTF-16.
_NO_LATIN_1 = re.compile(rb"[\x00\x80-\x9f]")
# Text that seems to have none of these encodings.
_OTHER = "another"
_KINDS_OF_TEXT = {
    _LATIN_1: "not UTF-8 text",
    _UTF_16_NAME: "UTF-16 text",
    _OTHER: "text in an encoding that is neither UTF-8 nor Latin-1",
}
_COMPRESSED_HEADS = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True)
class DataFile:
    """Data that a command names: files, or a table of a DuckDB file.

    `called` is the data's name in messages, `name` a word for the objects made from them. `kind` is 'csv', 'parquet',
    'json', 'excel', 'stata' or 'table'. `paths` are the files, or patterns of files, and `table` the table of a DuckDB
    file. `options` are the options of a CSV file's reader, and `typed` the same options as words of a command line.
    `read_from` are the paths from which data are read, if they differ from the paths in a script. `option_form` formats
    an option and its value in errors. `remarks` are sentences about reading the data.
    """

    called: str
    name: str
    kind: str
    paths: tuple[str, ...]
    table: str = ""
    options: tuple[tuple[str, str], ...] = ()
    typed: tuple[str, ...] = ()
    read_from: tuple[str, ...] = field(default=(), repr=False)
    option_form: str = "--{} {}"
    remarks: tuple[str, ...] = ()

    @property
    def reader(self) -> str:
        """Returns the call of DuckDB's reader, as after FROM; or only the path if DuckDB chooses the reader by it."""
        return self._reader(self.paths)

    def option(self, name: str, value: str) -> str:
        """Formats an option and its value as the user writes it."""
        return self.option_form.format(name, value)

    def with_options(
        self, nulls: Sequence[str] = (), encoding: str | None = None, decimal: str | None = None
    ) -> DataFile:
        """Returns the data with further options for a CSV file. Raises UserError if the data are not a CSV file.

        `nulls` are texts that mean a missing value, `encoding` is the encoding of the file's text, and `decimal` is the
        decimal separator of its numbers.
        """
        options, typed = list(self.options), list(self.typed)
        if nulls:
            # An empty field still means a missing value.
            markers = ", ".join(map(string_text, dict.fromkeys(("", *nulls))))
            options.append(("nullstr", f"[{markers}]"))
            typed += [word for text in nulls for word in ("--null", text)]
        if encoding is not None:
            options.append(("encoding", string_text(encoding)))
            typed += ["--encoding", encoding]
        if decimal is not None:
            if decimal not in (".", ","):
                raise UserError(
                    f"{self.option('decimal', decimal)} is not a decimal separator",
                    hint=f"write {self.option('decimal', ',')}",
                )
            options.append(("decimal_separator", string_text(decimal)))
            typed += ["--decimal", decimal]
        if options and self.kind != "csv":
            null, *others = (self.option_form.partition("{}")[0] + name for name in CSV_OPTIONS)
            raise UserError(
                f"{null}, {' and '.join(others)} are for CSV files, and {self.called} is none",
                hint="leave them out",
            )
        return replace(self, options=tuple(options), typed=tuple(typed))

    def statements(self, table: str = SOURCE) -> tuple[str, ...]:
        """Returns the SQL statements that read the data into a new table."""
        return self._statements(table, self.paths)

    def load(self, connection: Any) -> DataFile:
        """Reads the data into the table SOURCE of a DuckDB connection.

        Returns the data with the options that were needed to read them. Raises UserError if the data cannot be read or
        have no rows.
        """
        try:
            data = self._run(connection)
        except Exception as error:
            data = self.in_its_encoding()
            if data is not self:
                return data.load(connection)
            data = self._with_all_rows_looked_at(connection, error)
        if not connection.execute(_COUNT).fetchone()[0]:
            raise UserError(f"{self.called} has no rows", hint="name a file with a header and at least one row")
        return data

    def _statements(self, table: str, paths: Sequence[str]) -> tuple[str, ...]:
        made = f"CREATE TABLE {typed_name(table)} AS FROM"
        if self.kind == STATA:
            path = _unescaped(paths[0])
            parquet = str(Path(path).with_suffix(".parquet"))
            convert = f"import pandas; pandas.read_stata({path!r}).to_parquet({parquet!r})"
            return (f"-- pandas reads files of Stata; once, in Python: {convert}\n{made} {string_text(parquet)}",)
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

    def _run(self, connection: Any) -> DataFile:
        if self.kind == STATA:
            return self._run_with_pandas(connection)
        for statement in self._statements(SOURCE, self.read_from or self.paths):
            connection.execute(statement)
        return self

    def _run_with_pandas(self, connection: Any) -> DataFile:
        """Creates the table of a Stata file; labels of columns become comments, which PROFILE reads."""
        if len(self.paths) > 1 or GLOB.search(path := _unescaped(self.paths[0])):
            raise UserError(f"{self.called} is more than one file of Stata", hint="name one file")
        frame, labels, remarks = read_stata(path)
        connection.register("read_frame", frame)
        connection.execute(f"CREATE TABLE {typed_name(SOURCE)} AS FROM read_frame")
        connection.unregister("read_frame")
        for name, label in labels.items():
            connection.execute(f"COMMENT ON COLUMN {typed_name(SOURCE)}.{name_text(name)} IS {string_text(label)}")
        return replace(self, remarks=(*self.remarks, *remarks))

    def _with_all_rows_looked_at(self, connection: Any, error: Exception) -> DataFile:
        """Reads a CSV file again, with column types inferred from all rows. Raises UserError if that fails, too."""
        with suppress(Exception):
            connection.execute("DETACH attached")
        if self.kind == "csv" and type(error).__name__ in ("ConversionException", "InvalidInputException"):
            data = replace(self, options=(*self.options, ("sample_size", "-1")))
            with suppress(Exception):
                return data._run(connection)
        raise self._unreadable(error) from error

    def booleans(self, engine: Engine, columns: Sequence[Column]) -> list[str]:
        """Returns sentences about Boolean columns of a CSV file with other words than true and false, such as T and F.

        `columns` are the (name, type) of the columns to examine. The first rows of the file are read again, as text.
        """
        names = [name for name, kind in columns if kind == "BOOLEAN"]
        if self.kind != "csv" or not names:
            return []
        types = ", ".join(f"{string_text(name)}: 'VARCHAR'" for name in names)
        as_text = replace(self, options=(*self.options, ("types", f"{{{types}}}")))
        query = f"FROM {as_text._reader(self.read_from or self.paths)} LIMIT {_HEAD}"
        try:
            read_columns, rows = engine.columns(query), engine.rows(query)
        except SqlanonError:
            return []
        values = dict(zip((name for name, _ in read_columns), zip(*rows, strict=True), strict=True)) if rows else {}
        sentences = []
        for name in names:
            texts = [text for text in dict.fromkeys(values.get(name, ())) if isinstance(text, str)]
            if others := [text for text in texts if text.strip().casefold() not in ("true", "false")]:
                sentences.append(f"{name} is read as true and false, in place of {' and '.join(others[:2])}")
        return sentences

    def in_its_encoding(self) -> DataFile:
        """Returns the CSV file with the option for Latin-1 or UTF-16, if its text is in that encoding.

        Returns the data unchanged if an encoding was named, or if the bytes are UTF-8 or show no encoding.
        """
        if self.kind != "csv" or "encoding" in dict(self.options):
            return self
        kinds = {_encoding(path) for path in self.read_from or self.paths} - {_ASCII}
        if kinds not in ({_LATIN_1}, {_UTF_16_NAME}):
            return self
        encoding = _LATIN_1 if _LATIN_1 in kinds else _UTF_16_NAME
        remark = f"{self.called} is {_KINDS_OF_TEXT[encoding]}, and is read as {encoding}"
        if encoding == _LATIN_1:
            remark += ": where letters are wrong, save it as UTF-8"
        return replace(self.with_options(encoding=encoding), remarks=(remark,))

    def no_utf8(self) -> UserError | None:
        """Returns an error for a CSV file with an encoding other than UTF-8 that was not named or that DuckDB does not
        read.
        """
        if self.kind != "csv":
            return None
        kinds = [_encoding(path) for path in self.read_from or self.paths]
        others = [kind for kind in kinds if kind in _KINDS_OF_TEXT]
        if not others or ("encoding" in dict(self.options) and others[0] != _OTHER):
            return None
        hint = f"name its encoding: {self.option('encoding', _LATIN_1)}, or {_UTF_16_NAME}"
        if others[0] == _OTHER:
            hint = "save it as UTF-8; if it is from Windows: iconv -f windows-1252 -t utf-8 OLD.csv > NEW.csv"
        return UserError(f"{self.called} is {_KINDS_OF_TEXT[others[0]]}", hint=hint)

    def _unreadable(self, error: Exception) -> SqlanonError:
        """Returns the error for data that DuckDB cannot read, without the values that DuckDB quotes."""
        if isinstance(error, SqlanonError):
            return error
        if type(error).__module__ not in ("duckdb", "_duckdb"):
            raise error
        if unreadable := self.no_utf8():
            return unreadable
        known = translated(error)  # type: ignore[arg-type]
        kinds = {"csv": "a CSV file", "parquet": "a Parquet file", "json": "a JSON file", "excel": "an Excel sheet"}
        what = kinds.get(self.kind)
        if what is None:
            return known
        return UserError(
            f"{self.called} cannot be read as {what}",
            hint=known.hint or f"{_one_sentence(known.message)}; {_READERS[self.kind]}(...) in SQL has more options",
        )


def _unescaped(path: str) -> str:
    """Returns the path with brackets around single characters removed: [*] is the character *, not a pattern."""
    return re.sub(r"\[(.)\]", r"\1", path)


def _one_sentence(message: str) -> str:
    return message.strip().partition("\n")[0].rstrip(".:; ")


def kind_of(path: str, called: str) -> str:
    """Returns a file's kind by its first bytes, or else by its name. Raises UserError if DuckDB cannot read it."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise UserError(
            f"{called} cannot be read: {error.strerror}", hint="check that you have permission to read it"
        ) from None
    if not head:
        raise UserError(f"{called} is empty", hint="name a file with a header and at least one row")
    if head[8:12] == b"DUCK":
        raise UserError(
            f"{called} is a DuckDB file with tables", hint=f"name one of them: {called}:{first_table(path) or 'TABLE'}"
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
    by_name = kind_by_name(path)
    if by_name in ("parquet", "excel"):
        raise UserError(
            f"{called} is not a file in the format {by_name.capitalize()}",
            hint="give it the suffix of its format, as in data.csv",
        )
    if by_name is None and b"\0" in head and not head.startswith(_UTF_16):
        raise UserError(f"{called} is not a data file", hint="name a CSV, Parquet, JSON or Excel file")
    return by_name or ("json" if head.lstrip()[:1] in (b"{", b"[") else "csv")


def kind_by_name(path: str) -> str | None:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def is_database(path: str) -> bool:
    """Whether a file is a DuckDB database."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(12)[8:] == b"DUCK"
    return False


def tables_of(path: str) -> list[tuple[str, str]]:
    """Returns the (schema, name) of the tables and views of a DuckDB file, with the main schema first."""
    with closing(open_database(path, read_only=True)) as connection:
        rows = connection.execute(read("sql", "statements", "tables_of_file.sql")).fetchall()
        return [(str(schema), str(table)) for schema, table in rows]


def first_table(path: str) -> str | None:
    with suppress(Exception):
        return next((table for _, table in tables_of(path)), None)
    return None


def _encoding(path: str) -> str | None:
    """Returns the encoding of a text file: 'ascii', 'utf-8', 'latin-1', 'utf-16', or _OTHER for any other.

    A text is Latin-1 if no line beyond ASCII is UTF-8, and if every byte of these lines is a letter or sign of Latin-1.
    Returns None for a path that does not name a single file, and for a compressed file.
    """
    if not os.path.isfile(_unescaped(path)):
        return None
    with suppress(OSError), open(_unescaped(path), "rb") as file:
        head = file.read(4)
        if head.startswith(_COMPRESSED_HEADS):
            return None
        if head[:2] in _UTF_16:
            return _UTF_16_NAME if head.startswith(_UTF_16[0]) else _OTHER
        chunks = partial(iter, partial(file.read, _CHUNK), b"")
        file.seek(0)
        if all(chunk.isascii() for chunk in chunks()):
            return _ASCII
        file.seek(0)
        if _is_utf8(chunks()):
            return _UTF_8
        file.seek(0)
        kinds = {
            _UTF_8 if _is_utf8([line]) else _OTHER if _NO_LATIN_1.search(line) else _LATIN_1
            for line in file
            if not line.isascii()
        }
        return kinds.pop() if len(kinds) == 1 else _OTHER
    return None


def _is_utf8(chunks: Iterable[bytes]) -> bool:
    decoder = getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks:
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def require_excel(engine: Engine, data: DataFile) -> None:
    """Raises UserError for an Excel file if DuckDB's extension for Excel is not installed."""
    if data.kind != "excel":
        return
    query = "SELECT installed OR loaded FROM duckdb_extensions() WHERE extension_name = 'excel'"
    if [tuple(row) for row in engine.rows(query)] != [(True,)]:
        raise UserError(
            f"{data.called} is an Excel file, and DuckDB's extension for it is not installed",
            hint="with a network, once: echo 'INSTALL excel' | sqlanon run -; or save the sheet as CSV",
        )
