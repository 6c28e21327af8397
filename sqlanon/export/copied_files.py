"""The files of a release on Spark as those of its export, copied as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlanon.domain.release import Release
from sqlanon.domain.requests import ExportRequest
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.layout import format_of
from sqlanon.releases.content import has_fingerprint

__all__ = ["copy_files", "require_copyable"]


def require_copyable(request: ExportRequest) -> None:
    """Raises UserError for what an export of files as they are cannot be."""
    format_ = request.format or format_of(request.path)
    if format_ != "parquet":
        raise UserError(
            f"a release on Spark is exported as the Parquet files that it is, and not as {format_}",
            hint="export it as parquet, and write another format of that: COPY (FROM 'out/*/*.parquet') TO 'out.csv'",
            part=("format",),
        )
    if request.report:
        raise UserError(
            "the report of a release reads its rows in DuckDB, and these are on Spark",
            hint="leave REPORT out",
        )
    if request.partition:
        raise UserError("the files of a release on Spark are copied as they are", hint="leave PARTITION_BY out")
    if request.text:
        raise UserError("the files of a release on Spark are copied as they are", hint="leave TEXT out")


def copy_files(engine: Engine, release: Release, folders: Sequence[Path]) -> None:
    """Copies the files of a release, which was just checked, to new folders, one for each of its tables.

    Raises PrivacyViolation where its rows are others after that: then nobody can say which were copied.
    """
    names: list[list[str]] = []
    for made, folder in zip(release.published, folders, strict=True):
        folder.mkdir()
        names.append(engine.copy_files(made.name, folder, "part-{:05}.parquet".format))
    published = [made.name for made in release.published]
    if not all(names) or not has_fingerprint(engine, published, release.content_fingerprint):
        raise PrivacyViolation(
            f"{release.name} does not have the rows any more that were checked when it was made; nothing was exported",
            hint="create it again",
        )
