"""The files of a release on Spark as those of its export, copied as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.layout import Layout
from sqlanon.releases.content import has_fingerprint
from sqlanon.syntax.statements import ExportRelease

__all__ = ["copied", "pattern_of", "require_copyable"]


def require_copyable(statement: ExportRelease, layout: Layout, format_: str) -> None:
    """Raises UserError for what an export of files as they are cannot be."""
    if format_ != "parquet":
        raise UserError(
            f"a release on Spark is exported as the Parquet files that it is, and not as {format_}",
            hint="export it as parquet, and write another format of that: COPY (FROM 'out/*.parquet') TO 'out.csv'",
            part=("format",),
        )
    if not layout.is_folder:
        raise UserError(
            f"{statement.path} names one file, and a release on Spark has several",
            hint="name a folder, such as 'out/'",
            part=("path",),
        )
    if statement.report:
        raise UserError(
            "the report of a release reads its rows in DuckDB, and these are on Spark",
            hint="leave REPORT out",
        )


def pattern_of(layout: Layout) -> str:
    """The name of all files of a release at once."""
    return f"{_stem(layout)}-*.parquet"


def _stem(layout: Layout) -> str:
    return Path(layout.data).stem


def copied(engine: Engine, release: Release, layout: Layout, folder: Path) -> Layout:
    """Copies the files of a release, which was just checked, to a folder; returns the layout that names them.

    Raises PrivacyViolation where its rows are others after that: then nobody can say which were copied.
    """
    stem = _stem(layout)
    (made,) = release.published
    names = engine.copy_files(made.name, folder, lambda number: f"{stem}-{number:05}.parquet")
    if not names or not has_fingerprint(engine, [made.name], release.content_fingerprint):
        raise PrivacyViolation(
            f"{release.name} does not have the rows any more that were checked when it was made; nothing was exported",
            hint="create it again",
        )
    return replace(layout, data=names[0], others=tuple(names[1:]))
