"""Releases that a reader may join with others."""

from __future__ import annotations

from sqlanon.catalog import releases
from sqlanon.catalog.digests import require_own_rows
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, types_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.inputs.joins.side import Side
from sqlanon.inputs.source import own_object, qualified
from sqlanon.releases.content import has_checked_rows
from sqlanon.releases.objects import require_own_columns
from sqlanon.sqlgen.build.names import relation

__all__ = ["joined_release", "side_of", "types_of_columns"]


def side_of(engine: Engine, release: Release, scratch: Scratch) -> Side:
    """A release as a side of a join.

    Raises PolicyError for one of several tables, and as `require_own_columns` does.
    """
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


def joined_release(engine: Engine, policy: Policy) -> Release:
    """The release that a policy joins, by its name now, whose rows are those that were checked when it was made.

    Raises PolicyError where there is none, or a live view, CatalogError where its rows in the catalog were changed, and
    as `require_own_columns` does.
    """
    assert policy.joined is not None
    release = releases.find(engine, qualified(engine, policy.joined.release))
    if release is None:
        raise PolicyError(
            f"{policy}: there is no release {policy.joined.release}, with which its releases may be joined",
            hint="make it first, or a policy that joins another",
        )
    require_own_rows(engine, release)
    if release.kind != "table":
        raise PolicyError(
            f"{policy}: {release.name} is a live view, and what a join with it tells changes with its source",
            hint="join a snapshot, CREATE ANONYMIZED TABLE",
        )
    require_own_columns(engine, release)
    if not has_checked_rows(engine, release):
        raise PrivacyViolation(
            f"{policy}: {release.name} does not have the rows any more that were checked when it was made",
            hint="create it again",
        )
    return release


def types_of_columns(release: Release) -> dict[str, str]:
    """The types of the source's columns behind those of a release, by the folded names of these."""
    types = {fold(name): kind for name, kind in types_of(release).items()}
    names = {fold(a.name): fold(a.source or a.name) for a in release.attributes}
    return {name: types[source] for name, source in names.items() if source in types}
