"""Releases that a reader may join with others: the sides of a join, and its requirements."""

from __future__ import annotations

from sqlanon.catalog import releases
from sqlanon.catalog.releases import require_own_rows
from sqlanon.catalog.snapshot import hierarchies_of, joined_with, policy_of, types_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Measurement, Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.release.existing.objects import has_checked_rows, require_own_columns
from sqlanon.sources.joins import Join, Side, bind_joined, of_join, owners, require_same_hierarchy
from sqlanon.sources.source import own_object, qualified
from sqlanon.sql.build.names import relation


def side_of(engine: Engine, release: Release, temp: TempTables) -> Side:
    """Returns a release as a side of a join.

    Raises PolicyError for a release of several tables, and the errors of `require_own_columns`.
    """
    require_own_columns(engine, release)
    if any(made.fragment is not None for made in release.published):
        raise PolicyError(f"{release.name} has several tables, and none of them shows a whole row", part=("release",))
    return Side(
        engine=engine,
        temp=temp,
        name=release.name,
        rows=relation(own_object(engine, release.name)),
        policy=policy_of(release),
        hierarchies=hierarchies_of(release),
        columns={fold(attribute.name): attribute for attribute in release.attributes},
        recoded=frozenset(fold(a.name) for a in release.attributes if len(a.rounds) > 1),
    )


def joined_release(engine: Engine, policy: Policy) -> Release:
    """Returns the current release that a policy joins by name, with the rows that were checked when it was made.

    Raises PolicyError for a missing release and for a live view, CatalogError if its rows in the catalog were changed,
    PrivacyViolation if its own rows were changed, and the errors of `require_own_columns`.
    """
    assert policy.joined is not None
    release = releases.find(engine, qualified(engine, policy.joined.release))
    if release is None:
        raise PolicyError(
            f"{policy}: there is no release {policy.joined.release}, which the policy joins",
            hint="make that release first, or a policy that joins another release",
        )
    require_own_rows(engine, release)
    if release.kind != "table":
        raise PolicyError(
            f"{policy}: {release.name} is a live view, and a join with it changes with its source",
            hint="join a snapshot, CREATE ANONYMIZED TABLE",
        )
    require_own_columns(engine, release)
    if not has_checked_rows(engine, release):
        raise PrivacyViolation(
            f"{policy}: {release.name} no longer has the rows that were checked when it was made",
            hint="create it again",
        )
    return release


def of_recorded(engine: Engine, release: Release) -> Release:
    """Returns the other release with which the join of `release` was measured when `release` was made.

    Raises PrivacyViolation if another release now has that name, and the errors of `joined_release`.
    """
    other = joined_release(engine, policy_of(release))
    if other.release_id != joined_with(release):
        raise PrivacyViolation(
            f"{other.name} was replaced after {release.name} was made and checked in a join with it",
            hint=f"create {release.name} again: this checks it in a join with the current release",
        )
    return other


def joined_measurements(engine: Engine, release: Release) -> tuple[Measurement, ...]:
    """Measures the policy's requirements on a release's join with another release from the current rows of both.

    Returns an empty tuple without such requirements. Raises the errors of `of_recorded`, and PolicyError if labels
    cannot be compared.
    """
    policy = policy_of(release)
    if policy.joined is None:
        return ()
    other = of_recorded(engine, release)
    with TempTables(engine) as temp:
        sides = [side_of(engine, each, temp) for each in (release, other)]
        second, first = sides
        tops: dict[str, int] = {}
        for name in map(fold, policy.joined.columns):
            for side in sides:
                side.require_comparable(name)
            if second.level(name) != first.level(name) and not (second.is_hidden(name) or first.is_hidden(name)):
                require_same_hierarchy(engine, sides, name)
            tops[name] = second.columns[name].height or 1
        requirements = bind_joined(of_join(policy))
        owner_lists = tuple(owners(r, (second.name, first.name), (second.columns, first.columns)) for r in requirements)
        join = Join(first, tops, requirements, owner_lists)
        return join.measured({name: second.level(name) for name in tops}, second.counted)


def types_of_columns(release: Release) -> dict[str, str]:
    """Returns the type of the source's column behind each column of a release, by the folded name of the release's
    column.
    """
    types = {fold(name): kind for name, kind in types_of(release).items()}
    names = {fold(a.name): fold(a.source or a.name) for a in release.attributes}
    return {name: types[source] for name, source in names.items() if source in types}
