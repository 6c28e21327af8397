"""What a published loose association comes to, recomputed from its tables alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.methods.fragmentation.association import looseness_sql as sql
from sqlanon.methods.fragmentation.association.associate import covered
from sqlanon.methods.fragmentation.association.block_grids import Grid
from sqlanon.methods.fragmentation.association.grid_proof import are_grids
from sqlanon.methods.fragmentation.association.looseness_sql import PublishedAssociation
from sqlanon.sqlgen.build import functions as f

__all__ = ["Looseness", "PairLooseness", "looseness"]


@dataclass(frozen=True)
class PairLooseness:
    """What holds of the groups of fragment `one` and the values of a constraint in fragment `other`.

    `alike_in_group` groups of the one hold rows that are alike, `repeated` pairs of
    groups stand more than once in the association, and `alike_in_linked` groups of the
    one are linked to rows of the other that are alike. `k` is the least number of
    different tuples in the groups that a group is linked to; None without any group.
    """

    constraint: tuple[str, ...]
    one: int
    other: int
    alike_in_group: int
    repeated: int
    alike_in_linked: int
    k: int | None

    @property
    def heterogeneous(self) -> bool:
        return not (self.alike_in_group or self.repeated or self.alike_in_linked)


@dataclass(frozen=True)
class Looseness:
    """Every pair of fragments that a constraint lies across, each way round.

    `sizes` are the rows of the smallest group of each fragment, `unmatched` the groups of
    each that have other numbers of rows in the fragment than in the association.
    """

    pairs: tuple[PairLooseness, ...]
    sizes: tuple[int | None, ...]
    unmatched: tuple[int, ...]

    @property
    def k(self) -> int | None:
        """The least of the pairs' k; None where nothing is published, or no constraint lies across fragments."""
        return min((pair.k for pair in self.pairs if pair.k is not None), default=None)

    @property
    def heterogeneous(self) -> bool:
        """Whether the tables fit together, and group, association and deep heterogeneity hold for every pair."""
        return not any(self.unmatched) and all(pair.heterogeneous for pair in self.pairs)


def looseness(
    engine: Engine,
    published: PublishedAssociation,
    constraints: Sequence[Sequence[str]],
    laid: Grid | None = None,
) -> Looseness:
    """Looks at each pair of fragments under each constraint whose attributes are all published.

    A constraint within one fragment has no pair: that is for `minimal_fragmentation.require_correct` to find.
    `laid` is the grid that blocks are expected to be: tables that are such grids are looked at once, on DuckDB only.
    All others are looked at pair by pair, with the same result.
    """
    fragments = [fragment.attributes for fragment in published.fragments]
    sets = covered(fragments, constraints)
    asked = [
        (tuple(constraint), one, other, parts)
        for constraint, parts in sets
        for one, other in permutations(sorted(parts), 2)
    ]
    if laid is not None and are_grids(engine, published, _parts(sets, len(fragments)), laid):
        sizes = [laid.size(index) for index in range(len(fragments))]
        pairs = [
            PairLooseness(constraint, one, other, 0, 0, 0, sizes[one] * sizes[other])
            for constraint, one, other, _ in asked
        ]
        return Looseness(tuple(pairs), tuple(sizes), (0,) * len(fragments))
    return Looseness(
        pairs=tuple(_pair(engine, published, *one) for one in asked),
        sizes=tuple(_number(engine, sql.smallest_group(fragment)) for fragment in published.fragments),
        unmatched=tuple(_count(engine, sql.unmatched(published, number)) for number in range(len(fragments))),
    )


def _parts(sets: Sequence[tuple[Sequence[str], dict[int, tuple[str, ...]]]], fragments: int) -> list[list[list[str]]]:
    """What the rows of each fragment have to differ in; a part that contains another adds nothing to it."""
    found: list[list[list[str]]] = []
    for index in range(fragments):
        every = {frozenset(parts[index]) for _, parts in sets if index in parts and len(parts) > 1}
        found.append(sorted(sorted(part) for part in every if not any(other < part for other in every)))
    return found


def _pair(
    engine: Engine,
    published: PublishedAssociation,
    constraint: tuple[str, ...],
    one: int,
    other: int,
    parts: dict[int, tuple[str, ...]],
) -> PairLooseness:
    values = sql.linked_values(published, one, other, parts[other])
    least = exp.select(f.min(exp.column("tuples", quoted=True))).from_(values.subquery("found"))
    return PairLooseness(
        constraint=constraint,
        one=one,
        other=other,
        alike_in_group=_count(engine, sql.alike_in_group(published.fragments[one], parts[one])),
        repeated=_count(engine, sql.repeated_pairs(published, one, other)),
        alike_in_linked=_count(engine, sql.alike_in_linked(published, one, other, parts[other])),
        k=_number(engine, least),
    )


def _count(engine: Engine, query: exp.Select) -> int:
    found = exp.select(f.count()).from_(query.subquery("found"))
    return int(engine.rows(found)[0][0])


def _number(engine: Engine, query: exp.Select) -> int | None:
    found = engine.rows(query)[0][0]
    return None if found is None else int(found)
