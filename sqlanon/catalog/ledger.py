"""Verifies that the ledger of a series has the rows that were written with its releases."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.catalog._json import arguments_to_json, dumps
from sqlanon.domain.identifiers import fold
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError
from sqlanon.sql.build.expressions import and_
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.sql_files import sql_file

_LEAST_POSITION = -(2**63)


def required(series: Series) -> list[tuple[str, str]]:
    """Returns the requirements of a series as the catalog stores them: models with their arguments."""
    return [(each.model, dumps(arguments_to_json(each.arguments))) for each in series.requirements]


def head_digest(series: Series) -> str:
    """Returns a digest of the subject and the requirements of a series, without the policy's name, which may change."""
    head = [series.series_id, fold(series.name), series.entity, series.entity_type, series.key_check]
    return _sha256([*head, list(map(list, series.attributes)), list(map(list, required(series)))])


def ledger_digest(engine: Engine, series: Series, position: int, former: str) -> str:
    """Computes the digest of a release's ledger rows and of `former`, the digest of the releases before it.

    The digest is the same in every version of the engine.
    """
    [(digest,)] = engine.rows(sql_file("ledger", "digest"), [series.series_id, position, former])
    return str(digest)


def require_ledger(engine: Engine, series: Series) -> None:
    """Raises CatalogError unless the ledger has the rows that were written with the series and with each release."""
    former = head_digest(series)
    beyond = engine.rows(sql_file("ledger", "beyond"), [series.series_id, len(series.releases)])
    for position, release in enumerate(series.releases, start=1):
        if release.position != position:
            break
        former = ledger_digest(engine, series, position, former)
        if release.digest != former:
            break
    else:
        if former == series.digest and beyond == [(0,)]:
            return
    raise CatalogError(
        f"{series}: the rows of its ledger were changed after its releases were made, so the releases cannot be "
        "compared; nothing was done",
        hint="undo the change, or restore the rows from a backup",
    )


def unchanged(engine: Engine, series: Series) -> Series:
    """Verifies the ledger by checksums, which depend on the version of the engine, and returns the series.

    If checksums differ, the digests decide, and the series is returned without checksums. Raises the errors of
    `require_ledger`.
    """
    positions = [release.position for release in series.releases]
    latest = series.releases[-1].digest if series.releases else head_digest(series)
    known = {release.position: release.checksum for release in series.releases}
    if (
        positions == list(range(1, len(positions) + 1))
        and latest == series.digest
        and _checksums(engine, series, _LEAST_POSITION) == known
    ):
        return series
    require_ledger(engine, series)
    return replace(series, releases=tuple(replace(release, checksum=None) for release in series.releases))


def _checksums(engine: Engine, series: Series, first: int) -> dict[int, str]:
    """Returns a checksum of the ledger's rows for each release, from a position on.

    The checksum includes the requirements of the series and the digests of the releases. Rows of no release have their
    own checksum.
    """
    of_rows = dict(engine.rows(sql_file("ledger", "checksum"), [series.series_id, first]))
    later = [release for release in series.releases if release.position >= first]
    digests = {release.position: release.digest for release in later}
    head = head_digest(series)
    positions = {*digests, *of_rows}
    return {position: _sha256([head, digests.get(position), of_rows.get(position)]) for position in positions}


def renew_checksums(engine: Engine, series: Series) -> None:
    """Writes checksums for the releases of a series, from the first release without a checksum on."""
    first = min(release.position for release in series.releases if release.checksum is None)
    of_release = and_(*(column(key).eq(exp.Placeholder()) for key in ("series_id", "position")))
    query = exp.update(relation(("anon", "series_release")), {"checksum": exp.Placeholder()}, where=of_release)
    for position, checksum in _checksums(engine, series, first).items():
        engine.run(query, [checksum, series.series_id, position])


def _sha256(parts: Sequence[object]) -> str:
    return hashlib.sha256(dumps(list(parts)).encode()).hexdigest()
