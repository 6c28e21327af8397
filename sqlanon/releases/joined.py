"""Releases that a reader may join with others."""

from __future__ import annotations

from sqlanon.catalog import releases
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.inputs.joins.side import Side
from sqlanon.inputs.source import own_object
from sqlanon.releases.objects import require_own_columns
from sqlanon.sqlgen.build.names import relation

__all__ = ["side_of"]


def side_of(engine: Engine, release: Release, scratch: Scratch) -> Side:
    """A release as a side of a join. Raises PolicyError for one of several tables, and as `require_own_columns` does."""
    require_own_columns(engine, release)
    if any(made.fragment is not None for made in release.published):
        raise PolicyError(f"{release.name} has several tables, of which none shows all of a row", part=("release",))
    rounds = releases.rounds(engine, release)
    return Side(
        engine=engine,
        scratch=scratch,
        name=release.name,
        rows=relation(own_object(engine, release.name)),
        policy=policy_of(release),
        hierarchies=hierarchies_of(release),
        columns={fold(attribute.name): attribute for attribute in release.attributes},
        recoded=frozenset(name for name, levels in rounds.items() if len(levels) > 1),
    )
