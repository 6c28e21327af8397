"""What the catalog records of a release, as estimates, figures and attacks read its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.catalog import hierarchies as stored_hierarchies
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, types_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Release, ReleaseObject
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.release.existing.estimable import Recorded, RecordedColumn, RecordedTable
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import relation
from sqlanon.sql.hierarchies.base import builder

# The levels that the labels of a quasi-identifier may be at, by its folded name; None where any may occur.
Levels = Mapping[str, tuple[int, ...] | None]


def recorded(engine: Engine, release: Release, columns: Collection[str] = ()) -> Recorded:
    """What the catalog records of a release.

    Raises PolicyError where one of these columns, by their folded names, has labels of a stored hierarchy that is not
    any more the one that the release was made with.
    """
    policy, hierarchies = policy_of(release), hierarchies_of(release)
    stored = [h for h in hierarchies if builder(h.definition.kind).STORED]
    levels: Levels = {fold(a.name): a.levels or None for a in release.attributes if a.role is Role.QUASI_IDENTIFIER}
    used = {fold(a.hierarchy) for a in policy.quasi_identifiers if a.hierarchy and fold(a.name) in columns}
    for hierarchy in stored:
        if fold(hierarchy.definition.name) in used and _shows_labels(policy, hierarchy, levels):
            require_same_hierarchy(engine, release, hierarchy)
    return _recorded(engine, release, policy, hierarchies, levels)


def _recorded(
    engine: Engine, release: Release, policy: Policy, hierarchies: Sequence[StoredHierarchy], levels: Levels
) -> Recorded:
    return Recorded(
        name=str(release.name),
        policy=policy,
        tables=[_table(engine, release, made, levels) for made in release.published],
        types={fold(name): kind for name, kind in types_of(release).items()},
        hierarchies={fold(h.definition.name): (h.definition, h.height) for h in hierarchies},
        stored=frozenset(fold(h.definition.name) for h in hierarchies if builder(h.definition.kind).STORED),
        # What a live view withholds changes with its source, and nobody sees how much that is.
        withheld=release.suppressed_rows if release.kind == "table" else None,
    )


def _table(engine: Engine, release: Release, made: ReleaseObject, levels: Levels) -> RecordedTable:
    """A published table, and how its columns are read."""
    columns = [
        RecordedColumn(
            attribute.name, attribute.reading, attribute.source or attribute.name, levels.get(fold(attribute.name))
        )
        for attribute in release.attributes_of(made.fragment)
    ]
    return RecordedTable(columns, exp.select(exp.Star()).from_(relation(own_object(engine, made.name))))


def _shows_labels(policy: Policy, hierarchy: StoredHierarchy, levels: Levels) -> bool:
    """Whether a column with this hierarchy is shown at another level than its values."""
    named = [
        a for a in policy.quasi_identifiers if a.hierarchy and fold(a.hierarchy) == fold(hierarchy.definition.name)
    ]
    return any(levels.get(fold(attribute.name)) != (0,) for attribute in named)


def require_same_hierarchy(engine: Engine, release: Release, hierarchy: StoredHierarchy) -> None:
    """The hierarchy in the catalog lists what it listed when the release was made."""
    name = hierarchy.definition.name
    again = f"create {release.name} again, or the hierarchy as it was"
    try:
        now = stored_hierarchies.load(engine, name, hierarchy.digest)
    except PolicyError:
        raise PolicyError(f"the hierarchy {name} of the release {release.name} is gone", hint=again) from None
    if now.digest != hierarchy.digest:
        raise PolicyError(f"the hierarchy {name} is not any more what {release.name} was made with", hint=again)
