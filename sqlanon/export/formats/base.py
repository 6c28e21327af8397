"""The protocol of an export format: a module of this package, named after the format."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from pathlib import Path
from typing import Protocol

from sqlglot import exp

from sqlanon.engines.base import Column, Engine
from sqlanon.engines.duckdb import DuckDBEngine, logs_beside, open_database
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.plugins import incomplete, installed, names, plugin
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, entry
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.queries import select, subquery

# The key under which a Parquet file's metadata holds the certificate.
CERTIFICATE_KEY = "sqlanon_certificate"


def files_in(folder: Path) -> list[Path]:
    """Lists the files in a folder and in the folders within it, in the order of their paths."""
    return sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


@dataclass(frozen=True)
class CsvFields:
    """The separators of a CSV file: the character between two fields, and the character around a field that contains
    one of the two or a line break.
    """

    delimiter: str = ","
    quote: str = '"'

    @property
    def why_not(self) -> tuple[str, str] | None:
        """Returns the option with an invalid character, and the rule that it breaks; None if both are valid."""
        for option, character in (("delimiter", self.delimiter), ("quote", self.quote)):
            is_sign = len(character) == 1 and character.isascii() and not character.isalnum()
            if not is_sign or not (character.isprintable() or character == "\t") or character in (" ", "\\"):
                return option, "has to be one character of ASCII, and no letter, digit, space or backslash"
        return ("quote", "has to be another character than DELIMITER") if self.delimiter == self.quote else None


COMMAS = CsvFields()


@dataclass(frozen=True)
class ExportFile:
    """A file that an export writes and then reads back.

    `table` is the release's own name, and `columns` are the names and types of the file's columns; the types are those
    of the snapshot, unless the format lacks a type. If `partition` is given, the path is a folder; `partition` has the
    columns whose values name the files, and is empty if no values do. `csv` has the separators of a CSV file.
    """

    path: Path
    table: str
    columns: tuple[Column, ...]
    partition: tuple[str, ...] | None = None
    csv: CsvFields = COMMAS

    @property
    def paths(self) -> list[Path]:
        """The file itself, or the files in the folder of a partition, in the order of their paths."""
        return [self.path] if self.partition is None else files_in(self.path)


class Format(Protocol):
    """The functions that every format module has."""

    SUFFIXES: tuple[str, ...]
    CARRIES_CERTIFICATE: bool

    def require(self, file: ExportFile) -> None:
        """Raises UserError for a name or a path that the format cannot hold."""

    def published_type(self, column_type: str) -> str:
        """Returns the type of such a column in the file: the same type, or VARCHAR if the format lacks it."""

    def write(self, engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
        """Writes the rows in their order, and the certificate if the format has a place for it."""

    def reopen(self, files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
        """Returns a separate connection that can read these files and neither open nor write anything else.

        Raises UserError for more files than a connection can read, and PrivacyViolation for a file that is not an
        export.
        """

    def read(self, file: ExportFile) -> exp.Query:
        """Returns the rows of the file, on a connection of `reopen`, with the names and types of `columns`."""

    def header(self, file: ExportFile) -> Sequence[str] | None:
        """Returns the names of the file's columns if they are read by position; None if they are read by name."""

    def carried(self, path: Path) -> Sequence[str]:
        """Returns the certificates in any file of this format, whether sqlanon wrote it or not; empty if there is no
        certificate.

        Raises EngineError or UserError if the file cannot be read in this format, and PrivacyViolation if it holds more
        than the certificate states.
        """

    def certificate(self, engine: Engine, file: ExportFile) -> Sequence[str]:
        """Returns the certificates inside the file: one, or none if the format has no place for it."""


def export_format(name: str) -> Format:
    """Returns the format of this name.

    Raises UserError, with the names of all formats, for an unknown name and for a format of another package that lacks
    a part.
    """
    module = plugin("sqlanon.export.formats", name)
    parts = (*get_annotations(Format), *(part for part in vars(Format) if not part.startswith("_")))
    if lacking := [part for part in parts if not hasattr(module, part)]:
        raise incomplete("formats", name, f"has no {', '.join(lacking)}")
    return typing.cast(Format, module)


def suffixes() -> dict[str, str]:
    """Returns the format of each suffix by which a path names a file instead of a folder."""
    return _by_suffix()[0]


def skipped_formats() -> tuple[str, ...]:
    """Describes in words the problem of each format of another package that cannot be used."""
    return _by_suffix()[1]


@cache
def _by_suffix() -> tuple[dict[str, str], tuple[str, ...]]:
    """Returns the suffixes with their formats, and a sentence for each skipped plug-in, because a broken plug-in does
    not end an export.
    """
    known: dict[str, str] = {}
    skipped: list[str] = []
    for name in installed("formats"):
        try:
            known |= dict.fromkeys(export_format(name).SUFFIXES, name)
        except UserError as error:
            skipped.append(f"{error.message}; it was skipped")
        except TypeError:
            skipped.append(f"{incomplete('formats', name, 'has no list of SUFFIXES').message}; it was skipped")
    for name in names("sqlanon.export.formats"):
        known |= dict.fromkeys(export_format(name).SUFFIXES, name)
    return known, tuple(skipped)


# COPY to a file, and a connection that can read this file only.


def option(name: str, value: exp.Expr) -> exp.CopyParameter:
    return exp.CopyParameter(this=exp.var(name), expression=value)


def copy(rows: exp.Query, options: Sequence[exp.CopyParameter]) -> exp.Copy:
    """Builds COPY (rows) TO a file, which is the statement's first parameter."""
    return exp.Copy(this=subquery(rows), kind=False, files=[exp.Placeholder()], params=list(options))


def table_function(name: str, first: exp.Expr, options: Mapping[str, exp.Expr]) -> exp.Table:
    named = [entry(key, value) for key, value in options.items()]
    return exp.Table(this=f.call(name, first, *named))


def reading(file: ExportFile, source: exp.Table) -> exp.Select:
    """Builds the query of the file's columns in the types that `file` states for them."""
    typed = (alias(cast(column(name), kind), name) for name, kind in file.columns)
    return select(*typed, of=source)


def copied_to_memory(
    files: Sequence[ExportFile], config: Mapping[str, str], copy_file: Callable[[Engine, ExportFile], None]
) -> Engine:
    """Returns a database in memory with the table that `copy_file` creates from each file; this database cannot open
    anything.
    """
    engine = DuckDBEngine(open_database(":memory:", config=dict(config)))
    try:
        for file in files:
            copy_file(engine, file)
        seal(engine)
    except BaseException:
        engine.connection.close()
        raise
    return engine


def first_column(engine: Engine, rows: exp.Query, names: Sequence[str], test: str) -> str | None:
    """Returns the first of these columns for which a function, such as isnan, is true in a row; None if there is no
    such column.
    """
    if not names:
        return None
    outputs = [alias(f.coalesce(f.bool_or(f.call(test, column(name))), exp.false()), name) for name in names]
    answers = engine.rows(select(*outputs, of=subquery(rows, "published")))[0]
    return next((name for name, is_found in zip(names, answers, strict=True) if is_found), None)


def reopen(files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
    """Returns an empty database that may read these files and nothing else."""
    engine = DuckDBEngine(open_database(":memory:", config=dict(config)))
    engine.run("SET allowed_paths = ?", [[str(path) for file in files for path in file.paths]])
    seal(engine)
    return engine


def seal(engine: Engine) -> None:
    """Locks the connection, so that it can neither open a further file nor load an extension."""
    engine.run("SET enable_external_access = false")
    engine.run("SET lock_configuration = true")


def require_no_log(path: Path, endings: Sequence[str]) -> None:
    """Raises PrivacyViolation for a database with a log beside it.

    Opening the database would apply the log, and show rows that are not in the file.
    """
    for log in logs_beside(path, endings):
        raise PrivacyViolation(
            f"{log.name} is a log beside {path.name}: opening the database would apply the changes in the log",
            hint="get the export from the publisher again, or remove the log",
        )


def holds_more(path: Path) -> PrivacyViolation:
    """Returns the error for a database that holds anything besides an export."""
    return PrivacyViolation(
        f"{path.name} contains more than the release and its certificate",
        hint="get the file from the publisher again",
    )


def require_stated(path: Path, certificates: Sequence[str], table: str, columns: Sequence[str]) -> None:
    """Raises PrivacyViolation unless there is one certificate, and it states these columns of the database's table."""
    with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        (text,) = certificates
        stated = json.loads(text)
        tables = stated.get("tables") or [{"name": stated["release"], "columns": stated["columns"]}]
        if (table, list(columns)) in [(part["name"], [c["name"] for c in part["columns"]]) for part in tables]:
            return
    raise holds_more(path)
