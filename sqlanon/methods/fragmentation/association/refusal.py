"""Why a loose association cannot be published, and what would do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from sqlanon.errors import PrivacyViolation
from sqlanon.methods.fragmentation.association.associate import Association
from sqlanon.methods.fragmentation.association.block_grids import grid

# How many smaller k are tried, from the largest on that each key by itself could have.
_MAX_TRIED_K = 256

# A share of rows has two digits behind the point, or as many as it takes to be at most a fifth too great.
_DIGITS = range(2, 10)
_TOO_GREAT = Fraction(6, 5)

# The sizes that groups may have for a k, first those that it means where no groups are named.
Shapes = Callable[[int], Sequence[Sequence[int]]]


def refusal(
    made: Association, k: int | None, most: int, suppression: Decimal, shapes: Shapes, *, near: bool
) -> PrivacyViolation:
    """The error for rows of which none could be placed, or of which more are left out than the `most` that may be.

    `k` is what was required; `shapes` gives the sizes that the groups may have for it, and for any smaller one.
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
        alike = "" if k is None else f", of which not more than one in {k} may be alike in what is CONFIDENTIAL"
        why = (
            f"loose: {left} of {rows} rows {'would' if made.placed else 'have to'} be left out{alike}, and "
            f"suppression => {suppression} allows {most}"
        )
        ways = [f"allow suppression => {_share(left, rows)}", *smaller]
        ways += ["leave near out"] if near and made.placed else []
    ways.append("use METHOD fragments, which links nothing and leaves no row out")
    return PrivacyViolation(f"{why}; nothing was published", hint=", or ".join(ways))


def _impossible(made: Association, k: int | None) -> str:
    """Why there is no such association: because of one key by itself, or of the rows that are left over."""
    rows = made.keys.rows
    if rows < made.size:
        return f"linked groups hold {made.size} rows, and there are {rows}"
    alike = [(part, *made.keys.most_alike(index)) for index, part in enumerate(made.parts)]
    part, _, values = min(alike, key=lambda figures: figures[2], default=((), 0, rows))
    if values < made.size:
        return (
            f"it takes {made.size} rows that all differ in what is CONFIDENTIAL, as many as linked groups hold, and "
            f"{_named(part)} has {values} different values"
        )
    part, most, _ = max(alike, key=lambda figures: figures[1], default=((), 0, rows))
    if k is not None and most * k > rows:
        return (
            f"{most} of {rows} rows are alike in {_named(part)}, and k => {k} allows {rows // k}, because not more "
            f"than one in {k} of the rows left out may be alike either"
        )
    return "the rows that are left over would be too much alike to be left out"


def _named(part: Sequence[str]) -> str:
    return f"({', '.join(part)})"


def _smaller(made: Association, k: int | None, most: int, shapes: Shapes) -> Iterator[str]:
    """The largest k that is possible, and how many rows it leaves out."""
    if k is None:
        return
    rows = made.keys.rows
    possible = list(_possible(made, k, shapes))
    within = [possibility for possibility in possible if possibility.rows <= most]
    # Where k itself is possible, a smaller one helps only if it leaves out few enough rows.
    for best in (within or (possible if made.least is None else []))[:1]:
        share = f" and suppression => {_share(best.rows, rows)}" if best.rows > most else ""
        # Where rows are alike in several keys, each of them may allow what all together do not.
        tells = f"the largest that works, which leaves out {best.rows}"
        if len(made.parts) > 1:
            tells = f"the largest that may work, which leaves out {best.rows} or more, by chance"
        yield f"ask for k => {best.k}{best.groups}{share}, {tells}"


@dataclass(frozen=True)
class _Possible:
    """A k that each key by itself allows, the groups unless k alone means them, and the rows left out."""

    k: int
    groups: str
    rows: int


def _possible(made: Association, k: int, shapes: Shapes) -> Iterator[_Possible]:
    """The looseness that can be had, from k down to smaller ones, the largest first."""
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
    """A share that allows for `part` of `whole` rows, with few digits."""
    exact = Fraction(part, whole)
    for digits in _DIGITS:
        share = Fraction(ceil(exact * 10**digits), 10**digits)
        if share <= exact * _TOO_GREAT:
            break
    return f"{float(share):.{digits}f}".rstrip("0").rstrip(".")
