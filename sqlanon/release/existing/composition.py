"""Finds other releases about the same people, which together reveal more than each alone.

Ganta, Kasiviswanathan and Smith: Composition attacks and auxiliary information in data privacy, 2008. Each release
keeps its promises, but a reader of two releases may intersect the values that each leaves possible. Users are warned;
no release is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sqlanon.assets import read
from sqlanon.catalog import exports, policies
from sqlanon.catalog import series as series_catalog
from sqlanon.catalog.exports import KnownReleases
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import KnownRelease, Release, SourceRead
from sqlanon.domain.series import Series
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import current_database
from sqlanon.errors import EngineError, SqlanonError, UserError
from sqlanon.sources.catalog_entries import find_source, source_entry
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql
from sqlanon.syntax.script import after_as

# The names of a release's sources. Other releases about the same people are recognized by them.


# Parses a query with DuckDB's parser; returns an empty object for a query that DuckDB cannot serialize.
_PARSED = "SELECT json_serialize_sql(?)"


def sources_of(engine: Engine, policy: Policy) -> tuple[SourceRead, ...]:
    """Returns the tables that a policy's source and related tables read, also through views, and these relations
    themselves.

    For a table of a release, the sources of the release are included. A relation of this database is identified by its
    schema and its name, a file by its name in the query, and a query by its hash.
    """
    sources: set[SourceRead] = set()
    for source in policy.sources:
        for name in _names(engine, source):
            full = find_source(engine, name)
            sources.add(_without_database(engine, full[1]) if full else name)
    sources |= exports.made_from(
        engine, [source_read for source_read in sources if isinstance(source_read, QualifiedName)]
    )
    queries = (source.query for source in policy.sources if source.query)
    sources |= {hashlib.sha256(query.strip().encode()).hexdigest() for query in queries}
    # Each object that was made with a live view belongs to one release.
    return tuple(sorted((source_read for source_read in sources if not _of_catalog(source_read)), key=str))


def _of_catalog(source: SourceRead) -> bool:
    if not isinstance(source, QualifiedName) or len(source.parts) != 2:
        return False
    return source.parts[0] == "anon" or source.name.startswith("__sqlanon_")


def _without_database(engine: Engine, full: QualifiedName) -> QualifiedName:
    """Returns a relation's name without its database if that is this database, which may be opened under
    another name.
    """
    database = current_database(engine)
    return QualifiedName(full.parts[1:]) if full.parts[0] == database else full


def _names(engine: Engine, source: Source) -> Iterator[QualifiedName]:
    if source.name:
        relation_found = source_entry(engine, source)
        yield relation_found[1] if relation_found else source.name
        if relation_found is None or relation_found[0] == "table":
            return
        text = to_sql(select(exp.Star(), of=relation(relation_found[1])))
    else:
        text = str(source.query)
    yield from _files(engine, text)
    # A query whose relations cannot be found is compared by its text only.
    with suppress(UserError, EngineError):
        read_too = engine.reads(text)
        yield from (reading.name for reading in read_too)
        yield from _files_of_views(engine, {reading.name for reading in read_too if reading.kind == "view"})


def _files_of_views(engine: Engine, views: set[QualifiedName]) -> Iterator[QualifiedName]:
    for _, *parts, text in engine.rows(read("sql", "statements", "relations.sql")) if views else ():
        if text and QualifiedName(tuple(parts)) in views:
            yield from _files(engine, after_as(text))


def _files(engine: Engine, text: str) -> Iterator[QualifiedName]:
    """Yields the files that a query's table functions read: the first argument of each, a text or a list of texts."""
    try:
        parsed = json.loads(engine.rows(_PARSED, [text])[0][0])
    except RecursionError:
        return
    for node in _objects(parsed):
        if node.get("type") == "TABLE_FUNCTION":
            constants = _objects(node.get("function", {}).get("arguments", [])[:1])
            yield from (
                QualifiedName((str(constant["text"]),)) for constant in constants if constant.get("kind") == "STRING"
            )


def _objects(part: Any) -> Iterator[dict[str, Any]]:
    """Yields every object in a JSON value, at any depth."""
    pending = [part]
    while pending:
        inner = pending.pop()
        if isinstance(inner, dict):
            yield inner
            pending += inner.values()
        elif isinstance(inner, list):
            pending += inner


_SHOWN = 10
_KINDS = {"table": "", "view": "live"}
_CURRENT_SCHEMA = "SELECT system.main.current_schema()"


def others_of(engine: Engine, release: Release) -> list[KnownRelease]:
    """Returns the other existing or dropped releases that were made from the sources of this release.

    Releases are left out if a series has requirements on them and this release together.
    """
    return others_among(engine, release, exports.known(engine, but=release.release_id))


def others_among(engine: Engine, release: Release, known: KnownReleases) -> list[KnownRelease]:
    """Returns the result of `others_of`, searched in a list of known releases."""
    others = [other for other in known.releases if other.series not in known.required]
    return _sharing(engine, others, release.sources) if others else []


def others_than(
    engine: Engine, name: QualifiedName, sources: Iterable[SourceRead], series: Series | None = None
) -> list[KnownRelease]:
    """Returns the other releases from these sources, for a release that is not made yet.

    The replaced release is included if somebody may have it: if it was exported or granted, or is in the ledger of a
    series.
    """
    schema = name.parts[-2] if len(name.parts) > 1 else str(engine.rows(_CURRENT_SCHEMA)[0][0])
    target = _key(QualifiedName((schema, name.name)))
    mine = series.name if series is not None and series.requirements else None
    others = [
        release
        for release in exports.known(engine).releases
        if _key(release.name) != target or _may_be_held(release) or not release.stands
    ]
    others = [other for other in others if other.series is None or other.series != mine]
    return _sharing(engine, others, sources)


def _may_be_held(release: KnownRelease) -> bool:
    """Whether somebody outside may have the rows of a release."""
    return bool(release.exported_at or release.granted_at or release.series)


def _sharing(engine: Engine, others: Sequence[KnownRelease], sources: Iterable[SourceRead]) -> list[KnownRelease]:
    """Returns the releases that share one of these sources, and the releases with unknown sources."""
    keys = {_key(source) for source in sources}
    candidates = (replace(other, sources=_sources(engine, other)) for other in others)
    return [other for other in candidates if other.sources is None or keys & set(map(_key, other.sources))]


def _sources(engine: Engine, release: KnownRelease) -> tuple[SourceRead, ...] | None:
    if release.sources is not None:
        return release.sources
    try:
        if not release.stands and release.series is not None and release.exported_at is None:
            # A ledger names no sources, so the sources of the series' policy are used: they rarely change.
            return sources_of(engine, policies.load(engine, series_catalog.load(engine, release.series).policy))
    except SqlanonError:
        # The rows of the series were changed, or its source or its policy is gone.
        pass
    return None


def _key(source: SourceRead) -> tuple[str, ...]:
    return tuple(map(fold, source.parts)) if isinstance(source, QualifiedName) else (source,)


def warning(others: Sequence[KnownRelease]) -> str | None:
    """Returns the warning that other releases were made from the same source; None if there are no other releases."""
    if not others:
        return None
    alike: dict[tuple[tuple[str, ...], bool], list[KnownRelease]] = {}
    for release in others:
        alike.setdefault((_key(release.name), release.stands), []).append(release)
    named = [_describe(several) for several in alike.values()]
    if len(named) > _SHOWN:
        named[_SHOWN:] = [f"{len(named) - _SHOWN} more"]
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    series = list(dict.fromkeys(release.series for release in others if release.series is not None))
    advice = f": IN SERIES {' or '.join(series)} REQUIRE checks releases together" if series else ""
    return (
        f"not the only release about these people: {listed} {'are' if len(named) > 1 else 'is'} made from the same "
        f"source; together they may tell what each alone does not{advice}"
    )


def _describe(releases_of_name: Sequence[KnownRelease]) -> str:
    """Describes the releases of one name: at most one of them exists, the others were exported or granted, or are in a
    ledger.
    """
    last_release = releases_of_name[-1]
    about = [
        f"{len(releases_of_name)} of this name" if len(releases_of_name) > 1 else "",
        _given_away(releases_of_name),
        "" if last_release.stands else "gone since",
        _KINDS.get(last_release.kind, "a stream"),
        "" if last_release.series is None else f"in the series {last_release.series}",
        "its source is not known" if any(release.sources is None for release in releases_of_name) else "",
    ]
    details = ", ".join(filter(None, about))
    return str(last_release.name) + (f" ({details})" if details else "")


def _given_away(releases_of_name: Sequence[KnownRelease]) -> str:
    """Describes when a release of the name was last exported and granted; empty if no release was given away and the
    last release exists or is in a series.
    """
    exported = max((each.exported_at for each in releases_of_name if each.exported_at), default=None)
    granted = max((each.granted_at for each in releases_of_name if each.granted_at), default=None)
    if exported or granted:
        timestamps = (("exported", exported), ("granted", granted))
        return ", ".join(f"{what} {timestamp:%Y-%m-%d}" for what, timestamp in timestamps if timestamp)
    last_release = releases_of_name[-1]
    return "" if last_release.stands or last_release.series else "given away"
