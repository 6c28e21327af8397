"""Other releases about the same people: together with them a release tells more than alone.

Ganta, Kasiviswanathan and Smith: Composition attacks and auxiliary information in data privacy, 2008. Each release
keeps what it promises, but a reader of two may intersect what each leaves possible. Users are warned, and nothing is
refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlanon.catalog import exports, releases
from sqlanon.catalog.series import of_releases
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import KnownRelease, Release, SourceRead
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.releases.lineage import sources_of

__all__ = ["others_of", "others_than", "sources_read", "warning"]

_SHOWN = 10
_CURRENT_SCHEMA = "SELECT current_schema()"


def sources_read(engine: Engine, release: Release) -> tuple[SourceRead, ...]:
    """What a release was made from; if that was not recorded yet, what its policy reads now."""
    return sources_of(engine, policy_of(release)) if release.sources is None else release.sources


def others_of(engine: Engine, release: Release) -> list[KnownRelease]:
    """The other releases, standing or exported, that were made from what this one was made from.

    Those are left out that are in one series with it, where the series requires something of all of them.
    """
    known = exports.known(engine, but=release.release_id)
    if any(other.series for other in known):
        together = _together(engine, release.release_id)
        known = [other for other in known if other.release_id not in together]
    return _sharing(engine, known, sources_read(engine, release)) if known else []


def _together(engine: Engine, release_id: str) -> set[str]:
    """The releases with which a release keeps what a series requires of all."""
    required = [(made, series) for made, series, requires in of_releases(engine) if requires]
    mine = {series for made, series in required if made == release_id}
    return {made for made, series in required if series in mine}


def others_than(engine: Engine, name: QualifiedName, sources: Iterable[SourceRead]) -> list[KnownRelease]:
    """The other releases from these sources, for a new one; the release that it replaces counts if it was exported."""
    schema = name.parts[-2] if len(name.parts) > 1 else str(engine.rows(_CURRENT_SCHEMA)[0][0])
    target = _key(QualifiedName((schema, name.name)))
    others = [
        release
        for release in exports.known(engine)
        if _key(release.name) != target or release.exported_at or not release.stands
    ]
    return _sharing(engine, others, sources)


def _sharing(engine: Engine, others: Sequence[KnownRelease], sources: Iterable[SourceRead]) -> list[KnownRelease]:
    """The others that share a source with these, and those whose sources nobody knows."""
    keys = {_key(source) for source in sources}
    candidates = (replace(other, sources=_sources(engine, other)) for other in others)
    return [other for other in candidates if other.sources is None or keys & set(map(_key, other.sources))]


def _sources(engine: Engine, release: KnownRelease) -> tuple[SourceRead, ...] | None:
    if release.sources is not None or not release.stands:
        return release.sources
    try:
        return sources_read(engine, releases.load(engine, release.name))
    except SqlanonError:
        # Its rows were changed, or its source is gone.
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
    """Releases of one name, of which at most one stands. What is gone is known because it was exported."""
    last_release = releases_of_name[-1]
    about = [f"{len(releases_of_name)} of this name"] if len(releases_of_name) > 1 else []
    if last_release.exported_at or not last_release.stands:
        about.append(f"exported {last_release.exported_at:%Y-%m-%d}" if last_release.exported_at else "given away")
    if not last_release.stands:
        about.append("gone since")
    if last_release.kind != "table":
        about.append("live" if last_release.kind == "view" else "a stream")
    if last_release.series is not None:
        about.append(f"in the series {last_release.series}")
    if any(release.sources is None for release in releases_of_name):
        about.append("its source is not known")
    return str(last_release.name) + (f" ({', '.join(about)})" if about else "")
