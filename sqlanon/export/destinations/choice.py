"""Which place the path of an EXPORT means."""

from __future__ import annotations

from sqlanon.domain.release import Release
from sqlanon.errors import UserError, about
from sqlanon.export.atomic import file_errors
from sqlanon.export.destinations.base import Destination
from sqlanon.export.destinations.files import FileDestination
from sqlanon.export.formats.base import export_format
from sqlanon.export.layout import format_of, layout_of
from sqlanon.syntax.statements import ExportRelease

__all__ = ["destination_of", "require_format"]


def require_format(statement: ExportRelease) -> None:
    """Raises UserError for a format that there is not, or that has no partitions where some are asked for."""
    with about("format"):
        kind = export_format(_format(statement))
    if statement.partition and not getattr(kind, "CAN_PARTITION", False):
        with about("partition"):
            raise UserError(f"the format {_format(statement)} has no partitions", hint="write FORMAT parquet")


def _format(statement: ExportRelease) -> str:
    return statement.format or format_of(statement.path)


def destination_of(statement: ExportRelease, release: Release) -> Destination:
    """The place that a statement names for a release. Raises UserError for a path that cannot be one."""
    format_ = _format(statement)
    with about("path"), file_errors(statement.path):
        layout = layout_of(
            statement.path,
            format_,
            *(made.name.name for made in release.published),
            partition=statement.partition,
            has_dictionary=statement.dictionary,
        )
    return FileDestination(format_, export_format(format_), layout, statement.replace)
