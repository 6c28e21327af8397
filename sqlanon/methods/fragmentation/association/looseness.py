"""Measures the looseness of a published association from its tables alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.methods.fragmentation.association import grid_proof as sql
from sqlanon.methods.fragmentation.association.associate import covered
from sqlanon.methods.fragmentation.association.block_grids import Grid
from sqlanon.methods.fragmentation.association.grid_proof import GridProof, PublishedAssociation, are_grids
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column
from sqlanon.sql.build.queries import select, subquery


@dataclass(frozen=True)
class PairLooseness:
    """The looseness of a fragment's groups for a constraint's values in the `other` fragment.

    Fragments are given by index. Three numbers count violations: `alike_in_group` groups of the fragment with equal
    rows, `repeated` pairs of groups, and `alike_in_linked` groups that are linked to equal rows of the other fragment.
    `k` is the least number of different tuples to which a group is linked; None if there are no groups.
    """

    constraint: tuple[str, ...]
    fragment: int
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
    """The looseness of each ordered pair of fragments across which a constraint lies.

    By fragment, `sizes` has the number of rows of its smallest group, and `unmatched` the number of its groups whose
    numbers of rows in the fragment and in the association differ.
    """

    pairs: tuple[PairLooseness, ...]
    sizes: tuple[int | None, ...]
    unmatched: tuple[int, ...]

    @property
    def k(self) -> int | None:
        """The least k of all pairs; None if there are no groups, or if no constraint lies across fragments."""
        return min((pair.k for pair in self.pairs if pair.k is not None), default=None)

    @property
    def heterogeneous(self) -> bool:
        """Whether the tables fit together, and each pair has the three kinds of heterogeneity: of groups (no equal rows
        in a group), of associations (no pair of groups linked twice), and deep (no equal rows among those linked to a
        group).
        """
        return not any(self.unmatched) and all(pair.heterogeneous for pair in self.pairs)


def looseness(
    engine: Engine,
    published: PublishedAssociation,
    constraints: Sequence[Sequence[str]],
    laid: Grid | None = None,
    proven: GridProof = are_grids,
) -> Looseness:
    """Measures each pair of fragments under each constraint whose attributes are all published.

    A constraint within one fragment has no pair; `minimal_fragmentation.require_correct` refuses it. If `proven` shows
    that the tables are grids like `laid`, each table is read once. Otherwise pairs are compared, with the same result.
    """
    fragments = [fragment.attributes for fragment in published.fragments]
    sets = covered(fragments, constraints)
    across = [
        (tuple(constraint), fragment, other, parts)
        for constraint, parts in sets
        for fragment, other in permutations(sorted(parts), 2)
    ]
    if laid is not None and proven(engine, published, _parts(sets, len(fragments)), laid):
        sizes = [laid.size(index) for index in range(len(fragments))]
        pairs = [
            PairLooseness(constraint, fragment, other, 0, 0, 0, sizes[fragment] * sizes[other])
            for constraint, fragment, other, _ in across
        ]
        return Looseness(tuple(pairs), tuple(sizes), (0,) * len(fragments))
    return Looseness(
        pairs=tuple(_pair(engine, published, *pair) for pair in across),
        sizes=tuple(_number(engine, sql.smallest_group(fragment)) for fragment in published.fragments),
        unmatched=tuple(_count(engine, sql.unmatched(published, number)) for number in range(len(fragments))),
    )


def _parts(sets: Sequence[tuple[Sequence[str], dict[int, tuple[str, ...]]]], fragments: int) -> list[list[list[str]]]:
    """Returns, for each fragment, the sets of columns in which the rows of a block have to differ.

    A set that contains another set is left out, because rows that differ in the smaller set differ in the larger one.
    """
    by_fragment: list[list[list[str]]] = []
    for index in range(fragments):
        all_parts = {frozenset(parts[index]) for _, parts in sets if index in parts and len(parts) > 1}
        by_fragment.append(sorted(sorted(part) for part in all_parts if not any(other < part for other in all_parts)))
    return by_fragment


def _pair(
    engine: Engine,
    published: PublishedAssociation,
    constraint: tuple[str, ...],
    fragment: int,
    other: int,
    parts: dict[int, tuple[str, ...]],
) -> PairLooseness:
    values = sql.linked_values(published, fragment, other, parts[other])
    least = select(f.min(column("tuples")), of=subquery(values, "values"))
    return PairLooseness(
        constraint=constraint,
        fragment=fragment,
        other=other,
        alike_in_group=_count(engine, sql.alike_in_group(published.fragments[fragment], parts[fragment])),
        repeated=_count(engine, sql.repeated_pairs(published, fragment, other)),
        alike_in_linked=_count(engine, sql.alike_in_linked(published, fragment, other, parts[other])),
        k=_number(engine, least),
    )


def _count(engine: Engine, query: exp.Query) -> int:
    return int(engine.rows(select(f.count(), of=subquery(query, "groups")))[0][0])


def _number(engine: Engine, query: exp.Query) -> int | None:
    number = engine.rows(query)[0][0]
    return None if number is None else int(number)
