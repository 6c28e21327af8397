"""Other releases about the same people: together with them a release tells more than alone.

Ganta, Kasiviswanathan and Smith: Composition attacks and auxiliary information in data privacy, 2008. Each release
keeps what it promises, but a reader of two may intersect what each leaves possible. Users are warned, and nothing is
refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlanon.catalog import exports, policies
from sqlanon.catalog import series as series_catalog
from sqlanon.catalog.exports import KnownReleases
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import KnownRelease, Release, SourceRead
from sqlanon.domain.series import Series
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.release.existing.lineage import sources_of

_SHOWN = 10
_KINDS = {"table": "", "view": "live"}
_CURRENT_SCHEMA = "SELECT system.main.current_schema()"


def others_of(engine: Engine, release: Release) -> list[KnownRelease]:
    """Returns the other releases, standing or gone, that were made from the sources of this release.

    Releases of a series that requires something of this release and of them together are left out.
    """
    return others_among(engine, release, exports.known(engine, but=release.release_id))


def others_among(engine: Engine, release: Release, known: KnownReleases) -> list[KnownRelease]:
    """As `others_of`, where the releases beside this one are known already."""
    others = [other for other in known.releases if other.series not in known.required]
    return _sharing(engine, others, release.sources) if others else []


def others_than(
    engine: Engine, name: QualifiedName, sources: Iterable[SourceRead], series: Series | None = None
) -> list[KnownRelease]:
    """Returns the other releases from these sources, for a new release, as `others_of` does once it is made.

    The release that it replaces counts if somebody has it: if it was exported, or is in the ledger of a series.
    """
    schema = name.parts[-2] if len(name.parts) > 1 else str(engine.rows(_CURRENT_SCHEMA)[0][0])
    target = _key(QualifiedName((schema, name.name)))
    mine = series.name if series is not None and series.requirements else None
    others = [
        release
        for release in exports.known(engine).releases
        if _key(release.name) != target or release.exported_at or release.series or not release.stands
    ]
    others = [other for other in others if other.series is None or other.series != mine]
    return _sharing(engine, others, sources)


def _sharing(engine: Engine, others: Sequence[KnownRelease], sources: Iterable[SourceRead]) -> list[KnownRelease]:
    """Returns the releases that share one of these sources, and those whose sources nobody knows."""
    keys = {_key(source) for source in sources}
    candidates = (replace(other, sources=_sources(engine, other)) for other in others)
    return [other for other in candidates if other.sources is None or keys & set(map(_key, other.sources))]


def _sources(engine: Engine, release: KnownRelease) -> tuple[SourceRead, ...] | None:
    if release.sources is not None:
        return release.sources
    try:
        if not release.stands and release.series is not None and release.exported_at is None:
            # A ledger names no sources. They are those of the series' policy, whose source is rarely another.
            return sources_of(engine, policies.load(engine, series_catalog.load(engine, release.series).policy))
    except SqlanonError:
        # The rows of the series were changed, or its source or its policy is gone.
        pass
    return None


def _key(source: SourceRead) -> tuple[str, ...]:
    return tuple(map(fold, source.parts)) if isinstance(source, QualifiedName) else (source,)


def warning(others: Sequence[KnownRelease]) -> str | None:
    """The warning that a release is not the only one from its source; None if there are no others."""
    if not others:
        return None
    alike: dict[tuple[tuple[str, ...], bool], list[KnownRelease]] = {}
    for release in others:
        alike.setdefault((_key(release.name), release.stands), []).append(release)
    named = [_named(several) for several in alike.values()]
    if len(named) > _SHOWN:
        named[_SHOWN:] = [f"{len(named) - _SHOWN} more"]
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    series = list(dict.fromkeys(release.series for release in others if release.series is not None))
    advice = f": IN SERIES {' or '.join(series)} REQUIRE checks releases together" if series else ""
    return (
        f"not the only release about these people: {listed} {'are' if len(named) > 1 else 'is'} made from the same "
        f"source; together they may tell what each alone does not{advice}"
    )


def _named(releases_of_name: Sequence[KnownRelease]) -> str:
    """Names releases of one name, of which at most one stands. Others were exported, or are in a ledger."""
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
    """When one was exported for the last time; empty where none was, and the last one stands or is in a series."""
    exported = next((each.exported_at for each in reversed(releases_of_name) if each.exported_at), None)
    if exported:
        return f"exported {exported:%Y-%m-%d}"
    last_release = releases_of_name[-1]
    return "" if last_release.stands or last_release.series else "given away"
