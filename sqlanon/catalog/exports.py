"""The releases whose rows somebody may have, standing, exported or in a series, with what they were made from.

A row of `anon.release_export` stays when its release is dropped or replaced. Users may write such rows themselves, of
what they gave away in another way, and delete those of files that never left.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import BadJson
from sqlanon.catalog._source_text import read_sources, write_sources
from sqlanon.catalog.digests import digests
from sqlanon.catalog.series import of_releases
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import KnownRelease, Release, SourceRead
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import rows_once
from sqlanon.sqlgen.build.sql_files import sql_file

__all__ = ["forget", "known", "made_from", "record"]

_STANDING = ("release_id", "schema_name", "object_name", "kind", "method", "sources", "digest")
_EXPORTED = ("release_id", "schema_name", "object_name", "method", "sources", "exported_at")


def record(engine: Engine, release: Release, sources: tuple[SourceRead, ...] | None, format_: str) -> datetime:
    """Remembers an export; returns the moment, by which `forget` finds it."""
    moment = datetime.now(UTC).replace(tzinfo=None)
    schema, name = release.name.parts
    row: dict[str, object] = {"release_id": release.release_id, "schema_name": schema, "object_name": name}
    row |= {"method": release.method, "sources": write_sources(sources), "format": format_, "exported_at": moment}
    _rows.insert(engine, "release_export", [row])
    return moment


def forget(engine: Engine, release: Release, moment: datetime) -> None:
    """Takes back what `record` wrote, of files that did not come into being."""
    engine.run(sql_file("catalog", "queries", "forget_export"), [release.release_id, moment])


def known(engine: Engine, but: str | None = None) -> list[KnownRelease]:
    """Returns the releases that stand, the oldest first, and then those that are gone; `but` one release.

    A release that is gone is known if it was exported, or if the ledger of a series has it.
    """
    if not migrations.ready(engine):
        return []
    rows = _rows.read(engine, "release", _STANDING, order=("created_at",))
    standing_ids = {row["release_id"] for row in rows}
    rows = [row for row in rows if row["release_id"] != but]
    exported = _rows.read(engine, "release_export", _EXPORTED, order=("exported_at",))
    sealed = digests(engine, [row["release_id"] for row in rows]) if rows else {}
    last = {row["release_id"]: row["exported_at"] for row in exported}
    in_series = {each.release_id: each for each in of_releases(engine)}
    for row in (*rows, *exported):
        found_series = in_series.get(row["release_id"])
        row["series"] = found_series.series if found_series else None
    standing_releases = [
        _known(row, stands=True, exported=last.get(row["release_id"]), trusted=sealed.get(row["release_id"]))
        for row in rows
    ]
    # Of several exports of one release the last speaks for all; rows written by hand may have no release.
    gone = {
        row["release_id"] or index: row for index, row in enumerate(exported) if row["release_id"] not in standing_ids
    }
    return [
        *standing_releases,
        *_streams(engine),
        *(_known(row, stands=False, exported=row["exported_at"]) for row in gone.values()),
        *(
            KnownRelease(each.release_id, each.name, "table", None, None, stands=False, series=each.series)
            for each in in_series.values()
            if each.release_id not in {*standing_ids, *gone, but}
        ),
    ]


def _streams(engine: Engine) -> list[KnownRelease]:
    """The streams: each has published what its table has."""
    return [
        KnownRelease(None, QualifiedName((schema, name)), "stream", "stream", _sources(sources), stands=True)
        for schema, name, sources in rows_once(engine, sql_file("streams", "sources"))
    ]


def _known(row: dict[str, Any], *, stands: bool, exported: datetime | None, trusted: str | None = None) -> KnownRelease:
    return KnownRelease(
        release_id=row["release_id"],
        name=QualifiedName((row["schema_name"], row["object_name"])),
        kind=row.get("kind", "table"),
        method=row["method"],
        sources=_sources(row["sources"]) if not stands or row["digest"] == trusted else None,
        stands=stands,
        exported_at=exported,
        series=row["series"],
    )


def _sources(text: str | None) -> tuple[SourceRead, ...] | None:
    """What a release was made from, by its row; None if that cannot be read."""
    try:
        return read_sources(text)
    except BadJson:
        return None


def made_from(engine: Engine, names: Collection[QualifiedName]) -> set[SourceRead]:
    """The sources of the releases to which tables and views of these names belong."""
    if not migrations.ready(engine):
        return set()
    wanted = set(map(_folded, names))
    objects = _rows.read(engine, "release_object", ("release_id", "schema_name", "object_name"))
    releases = {r["release_id"] for r in objects if (fold(r["schema_name"]), fold(r["object_name"])) in wanted}
    made = [stream for stream in _streams(engine) if _folded(stream.name) in wanted]
    if releases:
        made += [release for release in known(engine) if release.release_id in releases]
    return {source for release in made for source in release.sources or ()}


def _folded(name: QualifiedName) -> tuple[str, ...]:
    return tuple(map(fold, name.parts))
