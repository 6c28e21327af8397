"""The protocol of an export's destination: files of a folder, or tables of a schema."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from sqlanon.domain.release import Release
from sqlanon.domain.requests import ExportRequest
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url, schema_url
from sqlanon.errors import UserError, about
from sqlanon.export.atomic import file_errors
from sqlanon.export.certificate_format import Certificate
from sqlanon.export.destinations.files import FileDestination
from sqlanon.export.destinations.postgres import PostgresDestination
from sqlanon.export.formats.base import COMMAS, CsvFields, ExportFile, Format, export_format
from sqlanon.export.layout import format_of, layout_of


class Staged(Protocol):
    """An export that is complete but not visible yet; it is deleted unless it is put in its place.

    `kind` is the format of its data files. `paths` are the paths of the data, one for each table; the path of a table
    in a database is its name. `spill` is a folder for temporary files while the data are read.
    """

    @property
    def kind(self) -> Format: ...

    @property
    def paths(self) -> Sequence[Path]: ...

    @property
    def spill(self) -> Path: ...

    def with_digests(self, files: Sequence[ExportFile], certificate: Certificate) -> Certificate:
        """Returns the certificate with the digests of the data."""
        ...

    def certify(self, certificate: Certificate, signer: str | None) -> None:
        """Writes the certificate as JSON and as Markdown; `signer` is the fingerprint of the signing key."""
        ...

    def put(self) -> None:
        """Makes the export visible in one step, in place of the earlier export."""
        ...


class Destination(Protocol):
    """Base of destinations: the format of an export, the path of its certificate, and the partition columns."""

    @property
    def format(self) -> str: ...

    @property
    def certificate(self) -> str: ...

    @property
    def partition(self) -> tuple[str, ...] | None: ...

    def former(self) -> Certificate | None:
        """Returns the certificate of the earlier export at this place; None if there is no export of the same
        format.
        """
        ...

    def path_of(self, table: int) -> str:
        """Returns the path of a table's data by the table's number, as the user would write it."""
        ...

    def errors(self) -> AbstractContextManager[None]:
        """Converts errors of the destination: to UserError if the user's input is the cause, otherwise to
        EngineError.
        """
        ...

    def staged(self, engine: Engine) -> AbstractContextManager[Staged]:
        """Yields an export that is written aside.

        Raises UserError if the place holds anything but an earlier export, or an export that is not to be replaced.
        """
        ...


# The destination by the path of an EXPORT.


POSTGRES = "postgres"
_LAKES = ("ducklake", "iceberg", "delta")
_LAKE_PATHS = tuple(f"{lake}:" for lake in _LAKES)
_WORDS = {"partition": "PARTITION_BY"}
_CSV = "csv"


def require_format(request: ExportRequest) -> None:
    """Raises UserError for an unknown format, and for a partition in a format without partitions."""
    if is_database_url(request.path):
        _require_database_options(request)
        return
    with about("format"):
        if request.format == POSTGRES:
            raise UserError(
                "FORMAT postgres writes to a database, and the path names a file",
                hint="write EXPORT ... TO 'postgresql://host/database?schema=name'",
            )
        if request.format in _LAKES or request.path.lower().startswith(_LAKE_PATHS):
            raise UserError(
                "DuckLake, Iceberg and Delta need extensions of DuckDB that have to be downloaded; EXPORT uses none",
                hint="write FORMAT parquet, whose files they take over; for Delta without PARTITION_BY",
            )
        kind = export_format(_format(request))
    if request.partition and not getattr(kind, "CAN_PARTITION", False):
        with about("partition"):
            raise UserError(f"the format {_format(request)} has no partitions", hint="write FORMAT parquet")
    _require_csv_fields(request)


def _require_csv_fields(request: ExportRequest) -> None:
    """Raises UserError for characters that cannot separate or quote the fields of a CSV file, and for other formats."""
    for option in ("delimiter", "quote"):
        if getattr(request, option) is not None and _format(request) != _CSV:
            with about(option):
                raise UserError(
                    f"{option.upper()} is for CSV, and the format is {_format(request)}", hint="write FORMAT csv"
                )
    if why := csv_fields(request).why_not:
        with about(why[0]):
            raise UserError(f"{why[0].upper()} {why[1]}", hint="write DELIMITER ';'")


def csv_fields(request: ExportRequest) -> CsvFields:
    """Returns the separator and the quotes of a CSV file."""
    given_fields = {"delimiter": request.delimiter, "quote": request.quote}
    return replace(COMMAS, **{name: character for name, character in given_fields.items() if character is not None})


def _require_database_options(request: ExportRequest) -> None:
    """Raises UserError for options that only files have."""
    if request.format not in (None, POSTGRES):
        with about("format"):
            raise UserError(
                f"the path names a PostgreSQL database, and the format is {request.format}",
                hint="write (FORMAT postgres), or name a folder",
            )
    unfit = {name: getattr(request, name) for name in ("partition", "report", "dictionary", "delimiter", "quote")}
    for option, value in unfit.items():
        if value:
            hint = "comments on the columns say what they are" if option == "dictionary" else "leave it out"
            with about(option):
                raise UserError(f"{_WORDS.get(option, option.upper())} is for files, and this is a schema", hint=hint)


def _format(request: ExportRequest) -> str:
    return request.format or format_of(request.path)


def destination_of(request: ExportRequest, release: Release, *, as_files: bool) -> Destination:
    """Returns the destination that a statement names for a release.

    Raises UserError for an invalid path.
    """
    if is_database_url(request.path):
        with about("path"):
            url = schema_url(request.path, release.name.name)
        return PostgresDestination(url, tuple(made.name.name for made in release.published), request.replace)
    format_ = _format(request)
    with about("path"), file_errors(request.path):
        layout = layout_of(
            request.path,
            format_,
            *(made.name.name for made in release.published),
            partition=() if as_files else request.partition or None,
            has_dictionary=request.dictionary,
        )
    return FileDestination(format_, export_format(format_), layout, request.replace)
