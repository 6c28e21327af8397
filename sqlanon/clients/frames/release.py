"""The release behind a data frame that anonymize() returned: its script, remarks, summary, report and export."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import finalize

from sqlanon.assess.workloads.summary import summary_of
from sqlanon.domain.summary import Summary
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine, rest, wake
from sqlanon.engines.python_variables import registered_frames
from sqlanon.errors import SqlanonError, UserError
from sqlanon.export.report.markup import Markup, Page, in_notebook, paragraph, table, text
from sqlanon.release.existing.loaded import load_release
from sqlanon.release.existing.restored_columns import forget_column
from sqlanon.release.pipeline.kept_method import error_in_words
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.run import run_statement

RELEASE = QualifiedName(("anonymized",))
_GONE = "the data that were given are gone: keep them in a variable until the summary is read"
_Frame = TypeVar("_Frame")

# The releases of existing data frames, by the frame's id. An Arrow Table cannot have further attributes.
_RELEASES: dict[int, FrameRelease] = {}


# Options of EXPORT in hints, and the arguments that replace them.
_ARGUMENTS = (
    (re.compile(r"\(REPLACE true\)(?:, on the command line with --replace)?"), "replace=True"),
    (re.compile(r"\(?\bFORMAT (\w+)\)?"), r'format="\1"'),
)


def _as_arguments(hint: str) -> str:
    """Returns a hint of EXPORT in which arguments of `export()` replace the options of the statement."""
    for option, argument in _ARGUMENTS:
        hint = option.sub(argument, hint)
    return hint


class FrameRelease:
    """A release that anonymize() made. It exists as long as the returned data frame.

    It has the released rows in a database in memory, and no rows of the original data.

    - `script`: the statements that make such a release again.
    - `remarks`: the sentences that were warnings when the release was made.
    - `unpublished`: the columns of the data that were not listed.

    >>> import pandas
    >>> from sqlanon import anonymize, release_of
    >>> release = release_of(anonymize(pandas.DataFrame({"age": [31, 32, 33, 34] * 3, "id": range(12)}), known="age"))
    >>> release.unpublished
    ('id',)
    """

    def __init__(
        self,
        connection: Any,
        script: str,
        remarks: Sequence[str],
        unpublished: Sequence[str],
        positions: str | None,
        frames: Callable[[], Mapping[str, Any] | None],
    ) -> None:
        """Keeps an open connection.

        `frames` returns the data frames that were read, or None once the caller has released them.
        """
        self.script = script
        self.remarks = tuple(remarks)
        self.unpublished = tuple(unpublished)
        self._connection = connection
        self._positions = positions
        self._frames = frames
        self._lock = Lock()
        self._summary: Summary | None = None

    @property
    def summary(self) -> Summary:
        """Returns eight lines: rows, requirements, method, columns, error of counts, surest guess, limits, files.

        The error of counts compares with the original data, so that it is unknown once the caller has released these.
        """
        if self._summary is None:
            frames = self._frames()
            with self._at_work() as engine, registered_frames(self._connection, frames or {}):
                summary = summary_of(engine, RELEASE, unpublished=self.unpublished, remarks=self.remarks)
                error = self._error_of_choice(engine) if frames is None else None
            if frames is None and summary.count_error is not None:
                reason = _GONE if error is None else f"{_GONE}; {error_in_words(error)}, as the methods were compared"
                summary = replace(summary, count_error=replace(summary.count_error, reason=reason))
            self._summary = summary
        return self._summary

    def _error_of_choice(self, engine: DuckDBEngine) -> float | None:
        """Returns the error of counts that was measured when the method was chosen; None if the caller named the
        method.
        """
        comparison = load_release(engine, RELEASE).comparison
        chosen = (each for each in comparison.contenders if each.why is not None) if comparison else iter(())
        return next((each.error for each in chosen), None)

    def report(self, path: str | PathLike[str] | None = None) -> Page:
        """Returns the release's report as a page that a notebook displays, and writes it to `path`, if given.

        The report is for the owner of the data. It compares with the original data as long as the caller keeps them.
        Raises UserError if the extra `report` is not installed, and for a path that cannot be written.
        """
        from sqlanon.export.report.page import report_page
        from sqlanon.export.report.page_file import write_page

        frames = self._frames()
        with self._at_work() as engine, registered_frames(self._connection, frames or {}):
            page = report_page(engine, RELEASE)
        if path is not None:
            write_page(Path(fspath(path)), page)
        return Page("Report of the anonymized data", page)

    def export(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        replace: bool = False,
    ) -> Path:
        """Writes the release and its certificate to new files, like EXPORT; returns the certificate's path.

        The default of `format` is the format of the path's suffix, or Parquet in a folder. `replace` allows files of a
        former export to be replaced. Raises UserError for an unknown format, for existing files, and for a path that
        cannot be written.
        """
        statement = ExportRelease(RELEASE, fspath(path), format=format, replace=replace)
        frames = self._frames()
        with self._at_work() as engine, registered_frames(self._connection, frames or {}):
            try:
                answer = run_statement(engine, statement)
            except SqlanonError as error:
                # The user did not write the statement, so its position means nothing.
                error.position = error.excerpt = None
                error.hint = error.hint and _as_arguments(error.hint)
                raise
        certificate = [name for name, _ in answer.columns].index("certificate")
        return Path(answer.rows[0][certificate])

    def close(self) -> None:
        """Closes the database in memory and frees the released rows."""
        self._connection.close()

    def __repr__(self) -> str:
        return str(self.summary)

    def _repr_html_(self) -> str:
        lines = [(name, Markup("<br>".join(map(text, parts)))) for name, parts in self.summary.parts]
        rows = lines if self.summary.files else lines[:-1]
        return in_notebook(table("Summary of the release", ["", ""], rows), *map(paragraph, self.remarks))

    @contextmanager
    def _at_work(self) -> Iterator[DuckDBEngine]:
        """Yields the engine of the release's database, with DuckDB's threads running, to one caller at a time."""
        with self._lock:
            wake(self._connection)
            try:
                engine = DuckDBEngine(self._connection)
                if self._positions is not None:
                    forget_column(engine, RELEASE, self._positions)
                    self._positions = None
                yield engine
            finally:
                rest(self._connection)


def register(frame: _Frame, release: FrameRelease) -> _Frame:
    """Records the release of a data frame for as long as the frame exists; returns the frame."""
    key = id(frame)
    _RELEASES[key] = release
    finalize(frame, _forget, key).atexit = False
    return frame


def _forget(key: int) -> None:
    _RELEASES.pop(key).close()


def known_release(frame: object) -> FrameRelease | None:
    """Returns the release of a data frame that anonymize() returned; None for any other frame."""
    return _RELEASES.get(id(frame))


def release_of(frame: object) -> FrameRelease:
    """Returns the release of a data frame that anonymize() returned: of pandas or polars, or an Arrow Table.

    Raises UserError for any other object, including a frame that was derived from a returned frame.

    >>> import pyarrow
    >>> from sqlanon import anonymize
    >>> released = anonymize(pyarrow.table({"age": [31, 32, 33, 34] * 3}), known="age")
    >>> print(release_of(released).script.splitlines()[-1])
    CREATE ANONYMIZED TABLE "anonymized" AS POLICY "data" METHOD mondrian();
    """
    release = known_release(frame)
    if release is None:
        raise UserError(
            f"this {type(frame).__name__} was not returned by anonymize()",
            hint="use the data frame that anonymize() returned: data frames derived from it are not linked to the "
            "release",
        )
    return release
