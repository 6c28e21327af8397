"""A published release as the catalog remembers it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.values import QualifiedName, Value

# What a release was made from: a relation or a file by its full name, or the SHA-256 of a query's text.
SourceRead = QualifiedName | str


def level_range(levels: Collection[int]) -> str:
    """The lowest and the highest of some levels, as `0-3`; the level alone where they are one."""
    low, high = min(levels), max(levels)
    return str(low) if low == high else f"{low}-{high}"


@dataclass(frozen=True)
class ReleaseAttribute:
    """A published attribute with the level of its hierarchy that the release shows.

    `level` counts from 0, the value itself, to `height`, where the value is `*`; both
    are None where nothing is generalized. Of a local recoding `level` is that of the first round, and `rounds` has the
    levels of all rounds, ascending; it is empty for any other release. `fragment` is the one that has the column, in a
    release of several, and `source` the source's column behind it where that has another name. `reading` says what its
    values say of the source's rows.
    """

    name: str
    role: Role
    hierarchy: str | None = None
    level: int | None = None
    height: int | None = None
    weight: Decimal = Decimal(1)
    fragment: str | None = None
    source: str | None = None
    reading: Reading = field(kw_only=True)
    rounds: tuple[int, ...] = ()

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that rows have in the column, ascending; empty where nothing is generalized."""
        return self.rounds or (() if self.level is None else (self.level,))


@dataclass(frozen=True)
class ReleaseObject:
    """A table or view that belongs to a release and is dropped with it.

    `fragment` names it among the tables that are published together, as the release; it
    is None for a release of one object, and for what only stands beside one. `digest` is
    that of the rows of a table beside a live view, None for anything else.
    """

    kind: str
    name: QualifiedName
    fragment: str | None = None
    digest: str | None = None


@dataclass(frozen=True)
class Release:
    """One release: what was published, under which policy, and at what loss.

    `name` is (schema, object) and `kind` 'view' or 'table'. `policy_json` holds the
    whole policy, its hierarchies and the method as they were, so that the release can
    be checked after the policy was replaced. `source_rows`, `released_rows` and
    `suppressed_rows` count the source at the time of release; a live view shows more
    or fewer rows as its source changes. `loss` is the granularity loss, `nodes` the size of the
    lattice, `nodes_checked` how many of its nodes had their classes counted and
    `nodes_pruned` how many were ruled out without, None for a method without one.
    `loss_name` is the loss that was minimized, `loss_bound` a loss below which no node
    of the lattice can come, and `proven_optimal` whether the release reaches the least
    there is. `content_fingerprint` identifies a snapshot's rows and
    is None for a live view. `created_at` is UTC without a time zone. `sources` is what it
    was made from.

    A release of several tables has none of its own name: each stands under it and the name
    of its `fragment`, as `name_fragment`.
    """

    release_id: str
    name: QualifiedName
    kind: str
    policy: str
    policy_fingerprint: str
    policy_json: str
    method: str
    method_arguments: tuple[tuple[str, Value], ...]
    source_rows: int
    released_rows: int
    suppressed_rows: int
    loss: float
    loss_name: str
    nodes: int | None
    nodes_checked: int | None
    content_fingerprint: str | None
    engine_version: str
    sqlanon_version: str
    created_at: datetime
    sources: tuple[SourceRead, ...]
    attributes: tuple[ReleaseAttribute, ...] = ()
    objects: tuple[ReleaseObject, ...] = ()
    nodes_pruned: int | None = None
    proven_optimal: bool | None = None
    loss_bound: float | None = None

    @property
    def published(self) -> tuple[ReleaseObject, ...]:
        """What the release shows: the object of its name, or its several tables, in the order of its columns."""
        names = list(dict.fromkeys(attribute.fragment for attribute in self.attributes))
        order = {fragment: index for index, fragment in enumerate(names)}
        tables = [made for made in self.objects if made.fragment is not None]
        tables.sort(key=lambda made: order.get(made.fragment, len(order)))
        return tuple(tables) or (ReleaseObject(self.kind, self.name),)

    @property
    def levels(self) -> str:
        """The level of each quasi-identifier out of its height, such as `age 2/4, sex 0/1`; empty without levels.

        Where rows have several, the lowest and the highest: `age 0-3/4`.
        """
        quasi = (a for a in self.attributes if a.role is Role.QUASI_IDENTIFIER and a.levels)
        return ", ".join(f"{a.name} {level_range(a.levels)}/{a.height}" for a in quasi)

    @property
    def is_locally_recoded(self) -> bool:
        """Whether its rows were recoded in rounds, each of which has levels of its own."""
        return any(attribute.rounds for attribute in self.attributes)

    def attributes_of(self, fragment: str | None) -> tuple[ReleaseAttribute, ...]:
        """The columns of one of the published objects."""
        return tuple(attribute for attribute in self.attributes if attribute.fragment == fragment)


@dataclass(frozen=True)
class KnownRelease:
    """A release whose rows somebody may have: it stands, it was exported, or a series has it in its ledger.

    `sources` is what it was made from, None if that is not known. `exported_at` is when it was exported for the
    last time, None if it was not, or if nobody wrote down when and it does not stand. `series` is that which it was
    made in, None if in none.
    """

    release_id: str | None
    name: QualifiedName
    kind: str
    method: str | None
    sources: tuple[SourceRead, ...] | None
    stands: bool
    exported_at: datetime | None = None
    series: str | None = None
