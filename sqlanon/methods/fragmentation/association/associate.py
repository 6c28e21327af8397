"""Loose associations: a release links the rows of its fragments as groups only.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose associations (2010) and Loose
associations to increase utility in data publishing (2015).

The rows of each fragment are put into groups. The association has a row for each row of the source, with its group in
each fragment. Three properties make it k-loose with k = k_1 k_2 for groups of k_1 and k_2 rows: the rows of a group
differ (group heterogeneity), no two rows have the same pair of groups (association heterogeneity), and all rows of the
groups that a group is linked to differ (deep heterogeneity). Two rows differ if their values of a constraint's
attributes in the fragment do.

The promise holds against an attacker who knows a respondent's values in one fragment and looks for the values in
another fragment. The definition does not cover an attacker who knows the values in two of three fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import ceil

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.fragmentation.association import block_grids
from sqlanon.methods.fragmentation.association.block_grids import (
    draws,
    grid,
    key_name,
    value_name,
)
from sqlanon.methods.fragmentation.association.block_search import Wanted, deal
from sqlanon.methods.fragmentation.association.left_out import Keys, most_alike
from sqlanon.methods.fragmentation.minimal_fragmentation import require_correct
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import added
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_query, query_file

# Queries for the rows of a loose association: the values in which they differ, and the rows near each other.


# The maximum number of bits of a column on a curve through several columns.
_MOST_BITS = 20
# The bits of all near columns together: with more columns than bits, the last ones have none.
MOST_NEAR = 62


def numbered(table: exp.Table, values: Sequence[exp.Expr], near: Sequence[exp.Expr]) -> exp.Query:
    """SELECT of row, value_0, ..., near_0, ...: the rows of a stored table with their row numbers.

    `values` and `near` are expressions over the table, which is called source.
    """
    columns = [*map(value_name, range(len(values))), *map(_near_name, range(len(near)))]
    text = """SELECT source.rowid AS row, $values AS "{columns}" FROM source"""
    return filled_query(text, tables={"source": table}, names={"columns": columns}, values=[*values, *near])


def repeated(rows: exp.Query, key: Sequence[int]) -> exp.Query:
    """SELECT of (digest, number): the tuples of values at the indexes `key` that occur in several rows, numbered from
    1.

    NULL is a value. Tuples with the same digest count as equal, so different rows may be kept apart needlessly, but
    equal rows are never put together.
    """
    text = """
        SELECT digest, row_number() OVER () AS number
        FROM (SELECT hash({values}) AS digest FROM counted_row GROUP BY 1 HAVING count(*) > 1) AS counted
    """
    return filled_query(text, tables={"counted_row": rows}, names={"values": [*map(value_name, key)]})


def spread(rows: exp.Query, index: int, near: int) -> exp.Query:
    """SELECT of value, bits: the values of near column `index` of `near`, each with its share of a row's position on a
    curve; see sql/association/spread.sql.
    """
    bits = range(min(_MOST_BITS, MOST_NEAR // near))
    parts = [filled("((step // $divisor) % 2) * $place", divisor=2**b, place=2 ** (b * near + index)) for b in bits]
    names = {"near": _near_name(index)}
    bits_of = added(parts)
    return query_file("association", "spread", tables={"rows": rows}, names=names, steps=2 ** len(bits), bits=bits_of)


def keyed(rows: exp.Query, keys: Sequence[tuple[Sequence[int], str]], near: Sequence[str], draw: str) -> exp.Query:
    """SELECT of row, draw, position, key_0, ...: for each key a number that is equal for rows with equal values in the
    key.

    A key consists of the indexes of its values and the table of its `repeated` tuples, whose numbers are positive. A
    row that no other row equals has a negative number. `near` has the tables of `spread`. `position` orders rows along
    a curve, on which neighbors are similar in all near columns; it is 0 if there are no near columns.
    """
    near_names = [*map(_near_name, range(len(near)))]
    parts = [column("bits", name) for name in near_names]
    of = [key_name(index) for index in range(len(keys))]
    alone = filled("-1 - rows.row")
    numbers = [filled('coalesce("{of}".number, $alone)', names={"of": name}, alone=alone) for name in of]
    digests = [filled("hash({rows.values})", names={"values": [*map(value_name, key)]}) for key, _ in keys]
    return query_file(
        "association",
        "keyed_rows",
        tables={"rows": rows},
        names={
            **{"near": near, "near_names": near_names},
            **{"tables": [table for _, table in keys], "of": of, "keys": of or [key_name(0)]},
        },
        draw=draws(draw),
        position=added(parts) if parts else 0,
        numbers=numbers or [alone],
        digests=digests,
    )


def _near_name(index: int) -> str:
    return f"near_{index}"


@dataclass(frozen=True)
class Grouping:
    """The requested groups: `sizes` has the least number of rows of a group in each fragment, and heterogeneity must
    hold for each of `constraints`.
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
    """Each row's group in each fragment, in a temporary table that is never published.

    That table is `groups`: row, group_0, ... `placed` rows have groups. The other `left_out` rows are in no fragment,
    because rows without a group could be recognized in each of them and linked. At most `alike` of the rows left out
    have the same values of a constraint in a fragment. `k` is the least product of the group sizes of two fragments
    with attributes of one constraint; None if no constraint has attributes in two fragments. `keys` are the values in
    which rows have to differ, and `parts` has the attributes of each key; it is empty if all rows differ. A block has
    `size` rows. `least` is a lower bound of the rows left out, taken from each key by itself; None if no block can be
    filled.
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
    """The constraints whose attributes are all published, each with its attributes in every fragment that has some."""
    published_constraints: list[tuple[Sequence[str], dict[int, tuple[str, ...]]]] = []
    published = {fold(name) for fragment in fragments for name in fragment}
    for constraint in constraints:
        names = set(map(fold, constraint))
        if names <= published:
            parts = {i: tuple(name for name in fragment if fold(name) in names) for i, fragment in enumerate(fragments)}
            published_constraints.append((constraint, {i: part for i, part in parts.items() if part}))
    return published_constraints


def associate(engine: Engine, rows: exp.Query, grouping: Grouping, draw: str, temp: TempTables) -> Association:
    """Puts rows into groups as a `Grouping` requests.

    The rows left out are a class, too: at most one in `k` of them has the same values of a constraint in a fragment. No
    row is in a group if that is impossible, or if more than `most` rows would be left out.

    `rows` returns the columns of `numbered`, the same each time: row, value_0, ... for the attributes of the fragments
    in order, and near_0, ... for the attributes of `near`, as values or as numbers that order them, such as ranks. The
    near columns must depend on one fragment only: if they depended on two, a block's rows would reveal how the two
    fragments are linked. If `near` is given, more rows may be left out, at most one in a hundred if there is one key.

    `draw` names the function that returns random bits.

    Raises PolicyError for fragments that a constraint does not allow, and for sizes that would publish an association
    unchanged.
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
        table = temp.table("repeated", repeated(rows, indexes))
        # A key in which no two rows are alike requires nothing; if there is no other, all rows differ.
        if _rows_of(engine, table):
            alike.append((indexes, table))
            parts.append(key)
    used = min(len(near), MOST_NEAR)
    close = [temp.table("spread", spread(rows, number, used)) for number in range(used)]
    keyed_rows = temp.table("keyed", keyed(rows, alike, close, draw))
    laid = block_grids.grid(sizes, first)
    keys = Keys.of(engine, keyed_rows, max(len(alike), 1), temp)
    blocks = deal(keys, Wanted(laid.rows, k, grouping.most), draw, temp, near=bool(near))
    cells = temp.table("cells", block_grids.located(blocks.placed, draw, near=bool(near)))
    if near:
        cells = temp.table("cells", block_grids.exchanged(cells, laid.size(first), draw))
    numbers = temp.table("numbers", block_grids.block_numbers(cells, laid.rows, draw))
    for number in range(len(fragments) - 1):
        numbers = temp.table("numbers", block_grids.renumbered(numbers, number, draw))
    groups = temp.table("groups", block_grids.grouped(cells, numbers, laid, first))
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
    return int(engine.rows(select(f.count(), of=relation(table)))[0][0])


def promised(
    fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]], sizes: Sequence[int]
) -> int | None:
    """The k that groups of these sizes guarantee; None if no constraint has attributes in two fragments.

    Raises PolicyError for sizes that would publish an association unchanged.
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
            "groups of one row on both sides publish the association unprotected", hint="ask for groups of two or more"
        )
    return k


def _near_fragment(fragments: Sequence[Sequence[str]], near: Sequence[str]) -> int:
    """The index of the fragment that has the `near` attributes, 0 if `near` is empty.

    Raises PolicyError if several fragments have them.
    """
    names = set(map(fold, near))
    touched = [index for index, fragment in enumerate(fragments) if names & set(map(fold, fragment))]
    if len(touched) > 1:
        raise PolicyError(
            f"near names attributes of several fragments: {', '.join(near)}",
            hint="name attributes of one fragment: blocks would reveal which rows of the fragments belong together",
        )
    return touched[0] if touched else 0


def keys_of(fragments: Sequence[Sequence[str]], constraints: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The sets of attributes (keys) in which no two rows of a block may have the same values.

    They are the constraints' attributes in each fragment, without sets that contain another set: rows that differ in
    fewer attributes differ in more. Raises PolicyError for fragments that a constraint does not allow.
    """
    across = covered(fragments, constraints)
    require_correct(fragments, [name for fragment in fragments for name in fragment], [names for names, _ in across])
    parts = [part for _, parts in across for part in parts.values()]
    distinct = sorted({frozenset(part) for part in parts}, key=lambda part: (len(part), sorted(part)))
    minimal = [part for i, part in enumerate(distinct) if not any(other <= part for other in distinct[:i])]
    return [tuple(sorted(part)) for part in minimal]


# The errors for an association that cannot be published, with hints.


# The number of smaller k that are tried, from the largest k that each key by itself allows.
_MAX_TRIED_K = 256

# A share of rows has two decimals, or as many more as are needed for it to be at most a fifth too great.
_DIGITS = range(2, 10)
_TOO_GREAT = Fraction(6, 5)

# Returns the group sizes to try for a k; the sizes that k alone means come first.
Shapes = Callable[[int], Sequence[Sequence[int]]]


def refusal(
    made: Association, k: int | None, most: int, suppression: Decimal, shapes: Shapes, *, near: bool
) -> PrivacyViolation:
    """The error for an association that has no rows in groups, or leaves out more than `most` rows.

    `k` is the required looseness; `shapes` returns the sizes that groups may have for a k.
    """
    rows, smaller = made.keys.rows, list(_smaller(made, k, most, shapes))
    if made.least is None:
        why, ways = f"no association as loose as that is possible: {_impossible(made, k)}", smaller
    elif made.least <= most and not made.placed:
        why = (
            "no association as loose as that was found: too many rows are alike in several sets of columns that are "
            "CONFIDENTIAL"
        )
        ways = ["ask for a smaller k or smaller groups"]
    else:
        left = made.left_out if made.placed else made.least
        alike = "" if k is None else f", of which not more than one in {k} may have the same CONFIDENTIAL values"
        why = (
            f"loose: {left} of {rows} rows {'would' if made.placed else 'have to'} be left out{alike}, and "
            f"suppression => {suppression} allows {most}"
        )
        ways = [f"allow suppression => {_share(left, rows)}", *smaller]
        ways += ["leave near out"] if near and made.placed else []
    ways.append("use METHOD fragments, which links nothing and leaves no row out")
    return PrivacyViolation(f"{why}; nothing was published", hint=", or ".join(ways))


def _impossible(made: Association, k: int | None) -> str:
    """The reason why no association is possible: either a single key prevents it, or the remaining rows do."""
    rows = made.keys.rows
    if rows < made.size:
        return f"linked groups hold {made.size} rows, and there are {rows}"
    alike = [(part, *made.keys.most_alike(index)) for index, part in enumerate(made.parts)]
    part, _, values = min(alike, key=lambda figures: figures[2], default=((), 0, rows))
    if values < made.size:
        return (
            f"it takes {made.size} rows that all differ in what is CONFIDENTIAL, as many as linked groups hold, and "
            f"{_listed(part)} has {values} different values"
        )
    part, most, _ = max(alike, key=lambda figures: figures[1], default=((), 0, rows))
    if k is not None and most * k > rows:
        return (
            f"{most} of {rows} rows are alike in {_listed(part)}, and k => {k} allows {rows // k}, because not more "
            f"than one in {k} of the rows left out may be alike either"
        )
    return "the rows that are left over would be too much alike to be left out"


def _listed(part: Sequence[str]) -> str:
    return f"({', '.join(part)})"


def _smaller(made: Association, k: int | None, most: int, shapes: Shapes) -> Iterator[str]:
    """Yields the hint for the largest possible k, with the number of rows that it leaves out."""
    if k is None:
        return
    rows = made.keys.rows
    possible = list(_possible(made, k, shapes))
    within = [possibility for possibility in possible if possibility.rows <= most]
    # If k itself is possible, a smaller k helps only if it leaves out few enough rows.
    for best in (within or (possible if made.least is None else []))[:1]:
        share = f" and suppression => {_share(best.rows, rows)}" if best.rows > most else ""
        # If rows are equal in several keys, each key may allow a k that all together do not.
        tells = f"the largest that works, which leaves out {best.rows}"
        if len(made.parts) > 1:
            tells = f"the largest that may work, which leaves out {best.rows} or more, by chance"
        yield f"ask for k => {best.k}{best.groups}{share}, {tells}"


@dataclass(frozen=True)
class _Possible:
    """A k that each single key allows, the text of its groups ("" if k implies them), and the number of rows left
    out.
    """

    k: int
    groups: str
    rows: int


def _possible(made: Association, k: int, shapes: Shapes) -> Iterator[_Possible]:
    """The pairs of k and groups that each single key allows, from the required k downwards."""
    rows, alike = made.keys.rows, [made.keys.most_alike(index) for index in range(len(made.keys.counts))]
    largest = min(k, *(rows // most for most, _ in alike), *(values for _, values in alike))
    for smaller in range(largest, max(1, largest - _MAX_TRIED_K), -1):
        for index, sizes in enumerate(shapes(smaller)):
            size = grid(sizes).rows
            if (smaller < k or size < made.size) and (blocks := _blocks(made, size, smaller)):
                groups = f", groups => ({', '.join(map(str, sizes))})" if index else ""
                yield _Possible(smaller, groups, rows - blocks * size)


def _blocks(made: Association, size: int, k: int) -> int:
    return made.keys.most_blocks(size, k, made.keys.possible(size))


def _share(part: int, whole: int) -> str:
    """Formats part / whole as a decimal, rounded up to two digits, or to more until it is at most a fifth too great."""
    exact = Fraction(part, whole)
    for digits in _DIGITS:
        share = Fraction(ceil(exact * 10**digits), 10**digits)
        if share <= exact * _TOO_GREAT:
            break
    return f"{float(share):.{digits}f}".rstrip("0").rstrip(".")
