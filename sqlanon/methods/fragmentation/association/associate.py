"""Loose associations: which rows of the fragments a release shows together, as groups only.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations (2010) and Loose associations to increase utility in data publishing (2015).
The rows of each fragment are put into groups, and the association says, a row for each
row of the source, which group of each fragment it is in. Three properties make it k-loose
with k = k_1 k_2 for groups of k_1 and k_2 rows: the rows of a group differ (group
heterogeneity), no two rows have the same pair of groups (association heterogeneity), and
all rows of the groups that a group is linked to differ (deep heterogeneity); to differ
means, in the values that a constraint has in the fragment.

It is a promise against who knows a respondent's values in one fragment and looks for
those in another. Who knows the values in two of three fragments is not in the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.methods.fragmentation.association import block_grids, tuple_keys
from sqlanon.methods.fragmentation.association.deal_rows import Wanted, deal
from sqlanon.methods.fragmentation.association.left_out import Keys, most_alike
from sqlanon.methods.fragmentation.minimal_fragmentation import require_correct
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation


@dataclass(frozen=True)
class Grouping:
    """How the rows of fragments are to be grouped: in groups of at least `sizes` rows, a size for each fragment, such
    that the heterogeneities hold for each of the `constraints`.
    """

    fragments: Sequence[Sequence[str]]
    constraints: Sequence[Sequence[str]]
    sizes: Sequence[int]

    near: Sequence[str] = ()
    """Attributes of one fragment: rows of a group are near each other in these."""

    k: int | None = None
    """Not more than one in k of the rows left out have the same values of a constraint; None for the sizes' product."""

    most: int | None = None
    """No row is put into a group where more rows than this have to be left out; None for any number."""


@dataclass(frozen=True)
class Association:
    """Each row's group in every fragment, in a temporary table that says which is which and is never published.

    It is `groups`: row, group_0, ... `placed` rows have groups. The other `left_out` rows have
    none and are in no fragment either: a row outside the groups could be linked because it is.
    At most `alike` of them have the same values of a constraint in a fragment. `k` is the least
    product of the sizes of two fragments' groups that a constraint lies across; None if there
    is no such constraint. `keys` are the values in which rows have to differ, and `parts` the
    attributes of each: none where all rows do differ. A block has `size` rows. As far as each
    key by itself tells, `least` rows have to be left out; None if no block can be filled.
    """

    groups: str
    placed: int
    left_out: int
    alike: int
    k: int | None
    keys: Keys
    parts: tuple[tuple[str, ...], ...]
    size: int
    least: int | None


def covered(
    fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]]
) -> list[tuple[Sequence[str], dict[int, tuple[str, ...]]]]:
    """The constraints whose attributes are all published, each with its attributes in every fragment that has any."""
    published_constraints: list[tuple[Sequence[str], dict[int, tuple[str, ...]]]] = []
    published = {fold(name) for fragment in fragments for name in fragment}
    for constraint in constraints:
        names = set(map(fold, constraint))
        if names <= published:
            parts = {i: tuple(name for name in fragment if fold(name) in names) for i, fragment in enumerate(fragments)}
            published_constraints.append((constraint, {i: part for i, part in parts.items() if part}))
    return published_constraints


def associate(engine: Engine, rows: exp.Select, grouping: Grouping, draw: str, scratch: Scratch) -> Association:
    """Groups of rows as a `Grouping` asks for them.

    The rows left out are a class, too: not more than one in its `k` have the same values of a constraint in a
    fragment. No row is in a group where that cannot be, nor where more than `most` rows have to be left out for it.

    `rows` gives row, value_0, ... for the attributes of the fragments, one after the other, and near_0, ... for
    those of `near`, as `tuple_keys.numbered` does, the same each time: the attributes, or numbers that order their
    values, such as ranks along a hierarchy. These columns must depend on one fragment alone; if they depended on two,
    the rows of a block would tell something of how the two go together. With `near` more rows may be left
    out: where one key decides, at most one in a hundred more.

    `draw` names a function that gives random bits for each row.

    Raises PolicyError for fragments that a constraint does not allow, and for sizes that
    would publish an association as it is.
    """
    fragments, constraints, sizes, near = grouping.fragments, grouping.constraints, grouping.sizes, grouping.near
    columns = [name for fragment in fragments for name in fragment]
    all_keys = keys_of(fragments, constraints)
    promise = promised(fragments, constraints, sizes)
    k = grouping.k if grouping.k is not None and promise is not None else promise
    first = _near_fragment(fragments, near)
    index = {name: number for number, name in enumerate(columns)}
    parts: list[tuple[str, ...]] = []
    alike: list[tuple[list[int], str]] = []
    for key in all_keys:
        indexes = [index[name] for name in key]
        repeated = scratch.table("repeated", tuple_keys.repeated(rows, indexes))
        # A key in which no two rows are alike requires nothing; if there is no other, all rows differ.
        if _rows_of(engine, repeated):
            alike.append((indexes, repeated))
            parts.append(key)
    used = min(len(near), tuple_keys.MOST_NEAR)
    close = [scratch.table("spread", tuple_keys.spread(rows, number, used)) for number in range(used)]
    keyed = scratch.table("keyed", tuple_keys.keyed(rows, alike, close, draw))
    laid = block_grids.grid(sizes, first)
    keys = Keys.of(engine, keyed, max(len(alike), 1), scratch)
    blocks = deal(keys, Wanted(laid.rows, k, grouping.most), draw, scratch, near=bool(near))
    cells = scratch.table("cells", block_grids.located(blocks.placed, draw, near=bool(near)))
    if near:
        cells = scratch.table("cells", block_grids.exchanged(cells, laid.size(first), draw))
    numbers = scratch.table("numbers", block_grids.block_numbers(cells, laid.rows, draw))
    for number in range(len(fragments) - 1):
        numbers = scratch.table("numbers", block_grids.renumbered(numbers, number, draw))
    groups = scratch.table("groups", block_grids.grouped(cells, numbers, laid, first))
    placed_rows = _rows_of(engine, groups)
    return Association(
        groups=groups,
        placed=placed_rows,
        left_out=keys.rows - placed_rows,
        alike=most_alike(keys, blocks.left),
        k=promise,
        keys=keys,
        parts=tuple(parts),
        size=laid.rows,
        least=blocks.least,
    )


def _rows_of(engine: Engine, table: str) -> int:
    return int(engine.rows(exp.select(f.count()).from_(relation(table)))[0][0])


def promised(
    fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]], sizes: Sequence[int]
) -> int | None:
    """The k that groups of these sizes come to; None if no constraint lies across two fragments.

    Raises PolicyError for sizes that would publish an association as it is.
    """
    if len(fragments) < 2 or len(sizes) != len(fragments):
        raise PolicyError(
            f"a loose association needs two fragments or more and a size for each, not {len(fragments)} fragments "
            f"and {len(sizes)} sizes"
        )
    if any(size < 1 for size in sizes):
        raise PolicyError(f"a group has at least one row, not {min(sizes)}")
    pairs = {pair for _, parts in covered(fragments, constraints) for pair in combinations(sorted(parts), 2)}
    k = min((sizes[first] * sizes[second] for first, second in pairs), default=None)
    if k == 1:
        raise PolicyError(
            "groups of one row on both sides publish the association as it is", hint="ask for groups of two or more"
        )
    return k


def _near_fragment(fragments: Sequence[Sequence[str]], near: Sequence[str]) -> int:
    """The fragment whose groups are to be alike; the first where nothing says."""
    names = set(map(fold, near))
    touched = [index for index, fragment in enumerate(fragments) if names & set(map(fold, fragment))]
    if len(touched) > 1:
        raise PolicyError(
            f"near names attributes of several fragments: {', '.join(near)}",
            hint="name attributes of one fragment: blocks would tell how the fragments go together",
        )
    return touched[0] if touched else 0


def keys_of(fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The sets of attributes in each of which rows of a block have to differ.

    They are what constraints have in a fragment, without those that contain another: rows that differ in fewer
    attributes differ in more. Raises PolicyError for fragments that a constraint does not allow.
    """
    across = covered(fragments, constraints)
    require_correct(fragments, [name for fragment in fragments for name in fragment], [names for names, _ in across])
    parts = [part for _, parts in across for part in parts.values()]
    distinct = sorted({frozenset(part) for part in parts}, key=lambda part: (len(part), sorted(part)))
    minimal = [part for i, part in enumerate(distinct) if not any(other <= part for other in distinct[:i])]
    return [tuple(sorted(part)) for part in minimal]
