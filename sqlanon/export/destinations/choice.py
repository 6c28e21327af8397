"""Which place the path of an EXPORT means."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.domain.release import Release
from sqlanon.domain.requests import ExportRequest
from sqlanon.engines.postgres_url import is_database_url, schema_url
from sqlanon.errors import UserError, about
from sqlanon.export.atomic import file_errors
from sqlanon.export.destinations.base import Destination
from sqlanon.export.destinations.files import FileDestination
from sqlanon.export.destinations.postgres import PostgresDestination
from sqlanon.export.formats.base import COMMAS, CsvFields, export_format
from sqlanon.export.layout import format_of, layout_of

POSTGRES = "postgres"
_LAKES = ("ducklake", "iceberg", "delta")
_LAKE_PATHS = tuple(f"{lake}:" for lake in _LAKES)
_WORDS = {"partition": "PARTITION_BY"}
_CSV = "csv"


def require_format(request: ExportRequest) -> None:
    """Raises UserError for a format that there is not, or that has no partitions where some are asked for."""
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
    """Raises UserError for characters that no CSV file can have between or around its fields, and for other formats."""
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
    """How the fields of a CSV file are told apart."""
    given_fields = {"delimiter": request.delimiter, "quote": request.quote}
    return replace(COMMAS, **{name: character for name, character in given_fields.items() if character is not None})


def _require_database_options(request: ExportRequest) -> None:
    """Raises UserError for what belongs to files alone."""
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
    """The place that a statement names for a release, whose rows may be in many files already.

    Raises UserError for a path that cannot be one.
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
