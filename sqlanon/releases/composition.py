"""Other releases about the same people: together with them a release tells more than alone.

Ganta, Kasiviswanathan and Smith: Composition attacks and auxiliary information in data privacy, 2008. Each release
keeps what it promises, and whoever has two may intersect what they leave possible. It is said, and never refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlanon.catalog import exports, releases
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
    return sources_of(engine, policy_of(release).source) if release.sources is None else release.sources


def others_of(engine: Engine, release: Release) -> list[KnownRelease]:
    """The other releases, standing or exported, that were made from what this one was made from."""
    every = exports.known(engine, but=release.release_id)
    return _sharing(engine, every, sources_read(engine, release)) if every else []


def others_than(engine: Engine, name: QualifiedName, sources: Iterable[SourceRead]) -> list[KnownRelease]:
    """The other releases from these sources, for one not made yet; what it would replace counts if it was exported."""
    schema = name.parts[-2] if len(name.parts) > 1 else str(engine.rows(_CURRENT_SCHEMA)[0][0])
    target = _key(QualifiedName((schema, name.name)))
    every = [one for one in exports.known(engine) if _key(one.name) != target or one.exported_at or not one.stands]
    return _sharing(engine, every, sources)


def _sharing(engine: Engine, every: Sequence[KnownRelease], sources: Iterable[SourceRead]) -> list[KnownRelease]:
    """Those that share a source, and those of which it is not known."""
    own = {_key(one) for one in sources}
    found = (replace(one, sources=_sources(engine, one)) for one in every)
    return [one for one in found if one.sources is None or own & set(map(_key, one.sources))]


def _sources(engine: Engine, one: KnownRelease) -> tuple[SourceRead, ...] | None:
    if one.sources is not None or not one.stands:
        return one.sources
    try:
        return sources_read(engine, releases.load(engine, one.name))
    except SqlanonError:
        # Its rows were changed, or its source is gone.
        return None


def _key(source: SourceRead) -> tuple[str, ...]:
    return tuple(map(fold, source.parts)) if isinstance(source, QualifiedName) else (source,)


def warning(others: Sequence[KnownRelease]) -> str | None:
    """What to say of a release that is not the only one; None if it is."""
    if not others:
        return None
    alike: dict[tuple[tuple[str, ...], bool], list[KnownRelease]] = {}
    for one in others:
        alike.setdefault((_key(one.name), one.stands), []).append(one)
    named = [_named(several) for several in alike.values()]
    if len(named) > _SHOWN:
        named[_SHOWN:] = [f"{len(named) - _SHOWN} more"]
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    return (
        f"not the only release about these people: {listed} {'are' if len(named) > 1 else 'is'} made from the same "
        "source; together they may tell what each alone does not"
    )


def _named(several: Sequence[KnownRelease]) -> str:
    """Releases of one name, of which at most one stands. What is gone is known because it was exported."""
    one = several[-1]
    about = [f"{len(several)} of this name"] if len(several) > 1 else []
    if one.exported_at or not one.stands:
        about.append(f"exported {one.exported_at:%Y-%m-%d}" if one.exported_at else "given away")
    if not one.stands:
        about.append("gone since")
    if one.kind == "view":
        about.append("live")
    if any(one.sources is None for one in several):
        about.append("its source is not known")
    return str(one.name) + (f" ({', '.join(about)})" if about else "")
