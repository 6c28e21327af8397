"""REFRESH ANONYMIZED TABLE: a snapshot made anew from what its source is now."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.releases.original_statement import create_again
from sqlanon.releases.own_series import own_series
from sqlanon.syntax.statements import CreateRelease, RefreshRelease

__all__ = ["refreshed"]


def refreshed(engine: Engine, release: Release, statement: RefreshRelease) -> CreateRelease:
    """The statement that replaces a release by one of the same policy, method and series.

    The policy is the one that the catalog has now. Raises UserError for a live view, which is as its source is;
    CatalogError where the series of the release does not know of it.
    """
    if release.kind == "view":
        raise UserError(
            f"{release.name} is a live view, which shows its source as it is",
            hint="only a snapshot can be refreshed",
            part=("release",),
        )
    again = create_again(release, or_replace=True)
    return replace(again, series=own_series(engine, release), levels_from=statement.levels_from)
