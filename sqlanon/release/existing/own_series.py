"""The series of a release, by what the release says and by what the ledger says."""

from __future__ import annotations

from sqlanon.catalog.series import exists, series_of
from sqlanon.catalog.snapshot import series_name_of
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError
from sqlanon.release.existing.original_statement import statement_again


def own_series(engine: Engine, release: Release) -> str | None:
    """The name of the series that a release belongs to; None if it was made in none.

    Raises CatalogError where the release says that it was made in a series and the ledger does not have it there: made
    anew outside of it, it would keep nothing of what the series requires.
    """
    by_ledger, by_release = series_of(engine, release.release_id), series_name_of(release)
    if by_release is None or (by_ledger is not None and same_name(by_ledger, by_release)):
        return by_ledger
    again = statement_again(release, or_replace=True, series=by_release if exists(engine, by_release) else None)
    raise CatalogError(
        f"release {release.name} was made in the series {by_release}, whose ledger does not have it; nothing was done",
        hint="put back what was changed in the schema anon; if the series was dropped, "
        f"{again} makes the release anew, and nothing is promised of it and those before together",
    )
