"""The pandas and polars frames that anonymize() returns: each also knows its release."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlanon.clients.frames.release import FrameRelease, known_release, register, release_of

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    import pandas

    from sqlanon.domain.summary import Summary
    from sqlanon.export.report.markup import Page


class Anonymized:
    """Methods of a data frame that anonymize() returned; frames derived from it do not have them.

    A method hides a column of the same name, which `frame["report"]` still reads.
    """

    def report(self, path: str | PathLike[str] | None = None) -> Page:
        """Returns the release's report as a page that a notebook displays, and writes it to `path`, if given.

        The report is for the owner of the data. Raises UserError if the extra `report` is not installed.
        """
        return release_of(self).report(path)

    def export(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        replace: bool = False,
    ) -> Path:
        """Writes the release and its certificate to new files, like EXPORT; returns the certificate's path."""
        return release_of(self).export(path, format=format, replace=replace)

    @property
    def summary(self) -> Summary:
        """Returns the release in eight lines: `str(released.summary)` is text, `released.summary.json()` has values."""
        return release_of(self).summary

    @property
    def script(self) -> str:
        """Returns the statements that make such a release; for a data frame they read a table or variable `data`."""
        return release_of(self).script

    @property
    def remarks(self) -> tuple[str, ...]:
        """Returns the sentences that were PrivacyRemark warnings when the release was made."""
        return release_of(self).remarks

    @property
    def _plain(self) -> Any:
        raise NotImplementedError

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickles only the rows, as the library's own class of frames, because the report is for the owner of the
        data.
        """
        return copy.copy, (self._plain,)

    def _repr_html_(self) -> str | None:
        """Returns the first rows as HTML, below a line about the release."""
        rows: str | None = self._plain._repr_html_()
        release = known_release(self)
        return f"{release._repr_html_()}\n{rows}" if release and rows else rows


if TYPE_CHECKING:
    # For type checkers only; the class itself is made when pandas is imported.
    class AnonymizedDataFrame(Anonymized, pandas.DataFrame):
        """A pandas DataFrame with the methods of `Anonymized`."""


def pandas_result(frame: Any, release: FrameRelease) -> Any:
    """Returns the rows of a release as a pandas DataFrame with the methods of `Anonymized`."""
    return register(_pandas_class()(frame), release)


def polars_result(frame: Any, release: FrameRelease, *, lazy: bool = False) -> Any:
    """Returns a release's rows, a polars DataFrame, as a DataFrame or LazyFrame with the methods of `Anonymized`."""
    eager, deferred = _polars_classes()
    return register((deferred if lazy else eager)(frame), release)


@lru_cache(maxsize=1)
def _pandas_class() -> type[Any]:
    import pandas as pd

    class AnonymizedDataFrame(Anonymized, pd.DataFrame):
        """A pandas DataFrame that anonymize() made, with `report()`, `export()`, `summary`, `script` and `remarks`.

        A frame that pandas derives from it is a plain DataFrame.
        """

        __qualname__ = "AnonymizedDataFrame"

        @property
        def _constructor(self) -> type[pd.DataFrame]:
            return pd.DataFrame

        @property
        def _plain(self) -> pd.DataFrame:
            return pd.DataFrame(self)

    return AnonymizedDataFrame


@lru_cache(maxsize=1)
def _polars_classes() -> tuple[type[Any], type[Any]]:
    import polars as pl

    class AnonymizedDataFrame(Anonymized, pl.DataFrame):  # type: ignore[misc]
        """A polars DataFrame that anonymize() made, with `report()`, `export()`, `summary`, `script` and `remarks`."""

        __qualname__ = "AnonymizedDataFrame"

        @property
        def _plain(self) -> Any:
            return pl.DataFrame(self)

    class AnonymizedLazyFrame(Anonymized, pl.LazyFrame):  # type: ignore[misc]
        """A polars LazyFrame that anonymize() made, with `report()`, `export()`, `summary`, `script` and `remarks`."""

        __qualname__ = "AnonymizedLazyFrame"

        @property
        def _plain(self) -> Any:
            return self.collect().lazy()

    return AnonymizedDataFrame, AnonymizedLazyFrame
