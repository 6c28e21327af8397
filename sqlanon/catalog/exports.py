"""Known releases, whose rows a reader may have: they exist, were exported or granted, or are in a series.

A row of `anon.release_export` stays when its release is dropped or replaced. Users may add rows for data that they gave
away in another way, and delete the rows of files that were never given away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import BadJson, read_sources, write_sources
from sqlanon.catalog.releases import digests, keep_digest
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import KnownRelease, Release, SourceRead
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import rows_once
from sqlanon.sql.build.sql_files import sql_file


class _KnownRow(NamedTuple):
    """A row of known_releases.sql: a release, and the table that records it."""

    moment: datetime | None
    series: str | None
    number: int
    recorded_in: Literal["standing", "exported", "granted", "in series"]
    release_id: str | None
    schema_name: str
    object_name: str
    kind: str
    method: str | None
    sources: str | None
    digest: str | None
    requires: bool | None


@dataclass(frozen=True)
class _ObjectRow:
    release_id: str
    schema_name: str
    object_name: str


def record(engine: Engine, release: Release, format_: str) -> datetime:
    """Records an export and returns its timestamp. `forget` finds the export by this timestamp."""
    moment = datetime.now(UTC).replace(tzinfo=None)
    schema, name = release.name.parts
    row: dict[str, object] = {"release_id": release.release_id, "schema_name": schema, "object_name": name}
    row |= {"method": release.method, "sources": write_sources(release.sources)}
    row |= {"format": format_, "exported_at": moment}
    _rows.insert(engine, "release_export", [row])
    return moment


def forget(engine: Engine, release: Release, moment: datetime) -> None:
    """Deletes the record of an export whose files were not written."""
    engine.run(sql_file("catalog", "queries", "forget_export"), [release.release_id, moment])


@dataclass(frozen=True)
class KnownReleases:
    """The releases whose rows a reader may have, without the release for which they are looked up.

    `required` are the names of the series with requirements that contain that release.
    """

    releases: list[KnownRelease]
    required: frozenset[str]


def known(engine: Engine, but: str | None = None) -> KnownReleases:
    """Returns the existing releases, from the oldest on, then the dropped releases; the release `but` is left out.

    A dropped release is known if it was exported or granted, or if the ledger of a series has it.
    """
    if not migrations.ready(engine):
        return KnownReleases([], frozenset())
    rows = _rows_of_all(engine)
    others = [release_id for release_id in _standing_ids(rows) if release_id != but]
    return _known_releases(engine, rows, but, digests(engine, others) if others else {})


def seal_beside(engine: Engine, release_id: str) -> KnownReleases:
    """Seals a release like `seal`, and returns the other releases like `known`.

    One query computes the digests of all releases.
    """
    rows = _rows_of_all(engine)
    sealed = digests(engine, [*dict.fromkeys([release_id, *_standing_ids(rows)])])
    keep_digest(engine, release_id, sealed[release_id])
    return _known_releases(engine, rows, release_id, sealed)


def _rows_of_all(engine: Engine) -> list[_KnownRow]:
    """Reads the rows of the catalog that record releases; `recorded_in` is the table of a row."""
    rows = engine.rows(sql_file("catalog", "queries", "known_releases"))
    return [_KnownRow(*row) for row in _rows.in_order(rows, 3)]


def _standing_ids(rows: Sequence[_KnownRow]) -> list[str]:
    return [row.release_id for row in rows if row.recorded_in == "standing" and row.release_id is not None]


def _known_releases(
    engine: Engine, rows: Sequence[_KnownRow], but: str | None, sealed: Mapping[str, str]
) -> KnownReleases:
    """Builds the known releases from these rows; `sealed` has the digests of the existing releases."""
    series = {row.release_id: row.series for row in rows if row.recorded_in == "in series"}
    releases = [*_standing_releases(rows, series, but, sealed), *_streams(engine), *_gone_releases(rows, series, but)]
    required = (row.series for row in rows if row.recorded_in == "in series" and row.release_id == but and row.requires)
    return KnownReleases(releases, frozenset(map(str, required)))


_Series = Mapping[str | None, str | None]


def _standing_releases(
    rows: Sequence[_KnownRow], series: _Series, but: str | None, sealed: Mapping[str, str]
) -> Iterator[KnownRelease]:
    """Yields the existing releases, with the times of their last export and their last grant."""
    exported, granted = _last(rows, "exported"), _last(rows, "granted")
    for row in rows:
        if row.recorded_in == "standing" and row.release_id != but:
            # A release whose catalog rows were changed is not trusted about its sources.
            is_sealed = row.digest == sealed.get(row.release_id or "")
            yield KnownRelease(
                row.release_id,
                _name(row),
                row.kind,
                row.method,
                _sources(row.sources) if is_sealed else None,
                stands=True,
                exported_at=exported.get(row.release_id),
                series=series.get(row.release_id),
                granted_at=granted.get(row.release_id),
            )


def _last(rows: Sequence[_KnownRow], recorded_in: str) -> dict[str | None, datetime | None]:
    """Returns the time of the last row of each release that a table records."""
    return {row.release_id: row.moment for row in rows if row.recorded_in == recorded_in}


def _gone_releases(rows: Sequence[_KnownRow], series: _Series, but: str | None) -> Iterator[KnownRelease]:
    """Yields the dropped releases: first the exported and granted releases, then those that only a series records."""
    standing_ids = set(_standing_ids(rows))
    # The last of several rows of one release represents all; rows written by hand may have no release.
    gone = {
        row.release_id or str(index): row
        for index, row in enumerate(rows)
        if row.recorded_in in ("exported", "granted") and row.release_id not in standing_ids
    }
    known_ids = {*standing_ids, *gone, but}
    in_series = {
        row.release_id: row for row in rows if row.recorded_in == "in series" and row.release_id not in known_ids
    }
    exported, granted = _last(rows, "exported"), _last(rows, "granted")
    for row in (*gone.values(), *in_series.values()):
        yield KnownRelease(
            row.release_id,
            _name(row),
            row.kind,
            row.method,
            _sources(row.sources),
            stands=False,
            exported_at=exported.get(row.release_id) if row.recorded_in == "granted" else row.moment,
            series=series.get(row.release_id),
            granted_at=granted.get(row.release_id),
        )


def _name(row: _KnownRow) -> QualifiedName:
    return QualifiedName((row.schema_name, row.object_name))


def _streams(engine: Engine) -> list[KnownRelease]:
    """Returns the streams as known releases, because the rows of their tables are published."""
    return [
        KnownRelease(None, QualifiedName((schema, name)), "stream", "stream", _sources(sources), stands=True)
        for _, _, schema, name, sources in _rows.in_order(rows_once(engine, sql_file("streams", "sources")), 2)
    ]


def _sources(text: str | None) -> tuple[SourceRead, ...] | None:
    """Reads the sources of a release from its row; None if they are unknown or unreadable."""
    try:
        return None if text is None else read_sources(text)
    except BadJson:
        return None


def made_from(engine: Engine, names: Collection[QualifiedName]) -> set[SourceRead]:
    """Returns the sources of the releases to which the tables and views with these names belong."""
    if not migrations.ready(engine):
        return set()
    wanted = set(map(_folded, names))
    objects = _rows.read(engine, "release_object", _ObjectRow)
    releases = {row.release_id for row in objects if (fold(row.schema_name), fold(row.object_name)) in wanted}
    made = [stream for stream in _streams(engine) if _folded(stream.name) in wanted]
    if releases:
        made += [release for release in known(engine).releases if release.release_id in releases]
    return {source for release in made for source in release.sources or ()}


def _folded(name: QualifiedName) -> tuple[str, ...]:
    return tuple(map(fold, name.parts))
