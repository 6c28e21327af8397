"""Estimates from a release, by enumerating every combination of leaves of every released row.

A cell is a list of leaves, each a (value, weight): a weight of None means that the value's probability is unknown, a
weight of 0 that the value is possible but not expected. A query is a condition, a group and an argument, each a
function of a row of values; a condition returns True, False or None.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, sqrt
from typing import Any

__all__ = ["Figures", "estimates"]

Cell = Sequence[tuple[Any, float | None]]
Row = Mapping[str, Cell]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Figures:
    """An estimate with its standard error and its bounds; None for an unknown figure."""

    value: float | None
    spread: float | None
    low: float | None
    high: float | None


@dataclass
class _Part:
    """The contribution of one row to a group."""

    certain: bool
    p: float | None
    first: float | None
    second: float | None
    least: float | None
    greatest: float | None


def _worlds(row: Row, alike: Callable[[Values], Hashable]) -> list[tuple[Values, float | None]]:
    """Returns every combination of leaves with its share; a column whose leaves make no difference has one leaf."""
    cells = {column: _shares(leaves) for column, leaves in row.items()}
    for column in row:
        others = [name for name in row if name != column]
        if all(
            len({alike({**fixed, column: value}) for value, _ in cells[column]}) == 1
            for fixed in (_values(others, chosen) for chosen in product(*(cells[name] for name in others)))
        ):
            cells[column] = [(cells[column][0][0], 1.0)]
    found = []
    for chosen in product(*cells.values()):
        share: float | None = 1.0
        for _, one in chosen:
            share = None if share is None or one is None else share * one
        found.append((_values(list(cells), chosen), share))
    return found


def _shares(leaves: Cell) -> list[tuple[Any, float | None]]:
    whole = None if any(weight is None for _, weight in leaves) else sum(weight for _, weight in leaves if weight)
    return [(value, None if not whole else (weight or 0) / whole) for value, weight in leaves]


def _values(columns: Sequence[str], chosen: Sequence[tuple[Any, float | None]]) -> dict[str, Any]:
    return dict(zip(columns, (value for value, _ in chosen), strict=True))


def _parts(
    rows: Sequence[Row],
    where: Callable[[Values], bool | None],
    group: Callable[[Values], Hashable],
    argument: Callable[[Values], float | None] | None,
) -> dict[Hashable, list[_Part]]:
    found: dict[Hashable, list[_Part]] = {}
    for row in rows:
        worlds = _worlds(row, lambda v: (where(v), group(v), argument(v) if argument else 0))
        groups = {group(values) for values, _ in worlds if where(values) is True}
        for key in groups:
            holds = [
                (1.0 if argument is None else argument(values), share)
                for values, share in worlds
                if where(values) is True and group(values) == key and (argument is None or argument(values) is not None)
            ]
            numbers = [float(number) for number, _ in holds if number is not None]
            certain = len(holds) == len(worlds)
            unknown = any(share is None for _, share in worlds)
            part = _Part(certain, None, None, None, min(numbers, default=None), max(numbers, default=None))
            if not holds:
                part = _Part(False, 0.0, 0.0, 0.0, None, None)
            elif certain and part.least == part.greatest:
                assert part.least is not None
                part.p, part.first, part.second = 1.0, part.least, part.least**2
            elif certain or not unknown:
                part.p = 1.0 if certain else sum(share or 0 for _, share in holds)
                if not unknown:
                    part.first = sum((share or 0) * float(number or 0) for number, share in holds)
                    part.second = sum((share or 0) * float(number or 0) ** 2 for number, share in holds)
            found.setdefault(key, []).append(part)
    return found


def _total(numbers: Sequence[float | None]) -> float | None:
    return (
        None if any(number is None for number in numbers) else sum(number for number in numbers if number is not None)
    )


def _count(parts: Sequence[_Part], withheld: int | None) -> Figures:
    possible = [part for part in parts if part.least is not None]
    p = _total([part.p for part in parts])
    spread = _total([None if part.p is None else part.p * (1 - part.p) for part in parts])
    high = None if withheld is None else len(possible) + withheld
    return Figures(p, None if spread is None else sqrt(max(spread, 0)), sum(p.certain for p in parts), high)


def _ends(parts: Sequence[_Part], unbounded: bool) -> list[tuple[_Part, float, float]]:
    """Returns the rows that may count, each with its least and its greatest possible value."""
    known = []
    for part in parts:
        if part.least is None or part.greatest is None:
            continue
        low, high = (-inf, inf) if unbounded else (part.least, part.greatest)
        known.append((part, low, high))
    return known


def _known(number: float) -> float | None:
    return None if abs(number) > 1e15 else number


def _sum(parts: Sequence[_Part], withheld: int | None) -> Figures:
    rows = _ends(parts, withheld != 0)
    if not any(True for _ in rows):
        return Figures(None, None, None, None)
    value = _total([part.first for part in parts])
    spread = _total(
        [None if part.first is None or part.second is None else part.second - part.first**2 for part in parts]
    )
    low = sum(low if part.certain else min(low, 0) for part, low, _ in rows)
    high = sum(high if part.certain else max(high, 0) for part, _, high in rows)
    return Figures(value, None if spread is None else sqrt(max(spread, 0)), _known(low), _known(high))


def _average(parts: Sequence[_Part], withheld: int | None) -> Figures:
    rows = _ends(parts, withheld != 0)
    if not rows:
        return Figures(None, None, None, None)
    value = spread = None
    hits, total = _total([part.p for part in parts]), _total([part.first for part in parts])
    if hits and total is not None:
        value = total / hits
        spread = sum(
            (part.second or 0)
            - (part.first or 0) ** 2
            - 2 * value * (part.first or 0) * (1 - (part.p or 0))
            + value**2 * (part.p or 0) * (1 - (part.p or 0))
            for part in parts
        )
        spread = sqrt(max(spread, 0)) / hits
    return Figures(value, spread, _known(_least_mean(rows, 1)), _known(-_least_mean(rows, -1)))


def _least_mean(rows: Sequence[tuple[_Part, float, float]], sign: int) -> float:
    """Returns the least mean over all choices of rows with every certain row and any number of the others."""
    value = {id(part): (low if sign > 0 else -high) for part, low, high in rows}
    sure = [value[id(part)] for part, _, _ in rows if part.certain]
    others = sorted(value[id(part)] for part, _, _ in rows if not part.certain)
    means = []
    for taken in range(len(others) + 1):
        if chosen := sure + others[:taken]:
            means.append(sum(chosen) / len(chosen))
    return min(means)


def _least(parts: Sequence[_Part], withheld: int | None, sign: int) -> Figures:
    """Returns the figures of MIN; with the sign -1 those of MAX, computed as MIN of the negated values."""
    rows = [
        (part, sign * (low if sign > 0 else high), sign * (high if sign > 0 else low))
        for part, low, high in _ends(parts, False)
    ]
    certain = [high for part, _, high in rows if part.certain]
    low = None if withheld != 0 else min((low for _, low, _ in rows), default=None)
    high = min(certain) if certain else max((high for _, _, high in rows), default=None) if withheld == 0 else None
    value = None
    if all(part.p is not None and part.first is not None for part in parts):
        expected = [(part.p, sign * (part.first or 0) / part.p) for part in parts if part.p]
        # Rounding may move 0.5 up or down.
        likely = [number for p, number in expected if p >= 0.5 - 1e-12] or [number for _, number in expected]
        value = min(likely, default=None)
    figures = [None if one is None else sign * one for one in (value, low, high)]
    low_high = figures[1:] if sign > 0 else figures[:0:-1]
    return Figures(figures[0], None, *(_known(one) if one is not None else None for one in low_high))


def estimates(
    rows: Sequence[Row],
    function: str,
    where: Callable[[Values], bool | None],
    group: Callable[[Values], Hashable],
    argument: Callable[[Values], float | None] | None,
    withheld: int | None,
    *,
    grouped: bool,
) -> dict[Hashable, Figures]:
    """Returns the figures of each group that a row may be in; without grouping, the figures of the only group."""
    found = _parts(rows, where, group, argument)
    if not grouped:
        found.setdefault(group({}), [])
    of: dict[str, Callable[[Sequence[_Part]], Figures]] = {
        "count": lambda parts: _count(parts, withheld),
        "sum": lambda parts: _sum(parts, withheld),
        "avg": lambda parts: _average(parts, withheld),
        "min": lambda parts: _least(parts, withheld, 1),
        "max": lambda parts: _least(parts, withheld, -1),
    }
    return {key: of[function](parts) for key, parts in found.items()}
