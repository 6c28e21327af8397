"""The levels of an earlier release, which another one keeps: LEVELS FROM RELEASE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from sqlanon.catalog import releases
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.release import Release, level_range
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, PrivacyViolation, about
from sqlanon.sources.source import qualified

_HINT = "leave out LEVELS FROM RELEASE, and levels are searched for"


def release_with_levels(engine: Engine, name: QualifiedName | None) -> Release | None:
    """The release whose levels are kept, None without a name; it is read before OR REPLACE takes it away.

    Raises UserError if there is none, CatalogError if its rows in the catalog were changed.
    """
    if name is None:
        return None
    with about("levels"):
        return releases.load(engine, qualified(engine, name))


def with_levels(policy: Policy, release: Release, hierarchies: Mapping[str, StoredHierarchy]) -> Policy:
    """The policy with each quasi-identifier at its level in a release, and no other.

    `hierarchies` are those of the policy by their folded names. Raises PolicyError for a quasi-identifier whose level
    the release does not state, which its rows show at several levels, or which has a hierarchy of another name or
    height now.
    """
    known = {fold(a.source or a.name): a for a in release.attributes if a.level is not None}

    def at_level(attribute: Attribute) -> Attribute:
        if attribute.role is not Role.QUASI_IDENTIFIER:
            return attribute
        former = known.get(fold(attribute.name))
        if former is None:
            raise _refused(release, f"it does not state a level of {attribute.name}")
        if len(former.levels) > 1:
            shown_levels = f"{level_range(former.levels)} of {former.height}"
            raise _refused(
                release, f"its rows are at several levels of {attribute.name}, {shown_levels} (local recoding)"
            )
        # Without a hierarchy there are the value and '*'.
        height = hierarchies[fold(attribute.hierarchy)].height if attribute.hierarchy else 1
        if fold(attribute.hierarchy or "") != fold(former.hierarchy or "") or height != former.height:
            raise _refused(release, f"the hierarchy of {attribute.name} is another now")
        return replace(attribute, min_level=former.level, max_level=former.level)

    related = (replace(table, attributes=tuple(map(at_level, table.attributes))) for table in policy.related)
    return replace(policy, attributes=tuple(map(at_level, policy.attributes)), related=tuple(related))


def _refused(release: Release, why: str) -> PolicyError:
    return PolicyError(
        f"the levels of {release.name} cannot be kept: {why}",
        hint=_HINT,
        part=("levels",),
    )


@contextmanager
def about_levels(release: Release | None) -> Iterator[None]:
    """Says of a requirement that is not met that it would be by other levels, where those of a release are kept."""
    try:
        yield
    except PrivacyViolation as error:
        if release is not None:
            error.hint = _HINT
        raise
