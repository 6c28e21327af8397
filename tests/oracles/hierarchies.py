"""Generalization hierarchies, naively: labels by exact arithmetic on one value, and membership by reading a label.

Nothing here is shared with the builders: bounds are fractions, dates are counted in
days, trees are walked node by node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

Number = int | Decimal | Fraction
Bounds = tuple[Fraction | None, Fraction | None]


def interval(value: Number, width: Number, low: Number | None = None, high: Number | None = None) -> Bounds:
    """Returns the bounds of the half-open interval that contains the value; None for an open end."""
    exact, step, origin = Fraction(value), Fraction(width), Fraction(low or 0)
    if low is not None and exact < low:
        return (None, Fraction(low))
    if high is not None and exact >= high:
        return (Fraction(high), None)
    start = origin + step * ((exact - origin) // step)
    end = start + step
    return (start, min(end, Fraction(high)) if high is not None else end)


def bounds(label: str) -> Bounds:
    """Parses the bounds from the label of an interval."""
    low, high = re.fullmatch(r"[\[(](-?[\d.]+|-inf),(-?[\d.]+|inf)\)", label).groups()
    assert (low == "-inf") == label.startswith("(")
    return (None if low == "-inf" else Fraction(low), None if high == "inf" else Fraction(high))


def in_interval(value: Number, label: str) -> bool:
    low, high = bounds(label)
    return (low is None or low <= Fraction(value)) and (high is None or Fraction(value) < high)


def beyond(value: Any, low: Any, high: Any, below: str, above: str) -> str | None:
    """Returns the label of the open end that contains the value; None between the ends. A missing end is None."""
    if low is not None and value < low:
        return below
    return above if high is not None and value >= high else None


def rounded(value: Number, base: Number) -> Fraction:
    """Returns the nearest multiple of the base; the greater of two equally near ones."""
    return Fraction(base) * ((Fraction(value) / Fraction(base) + Fraction(1, 2)) // 1)


def prefix(value: str, length: int) -> str:
    """Returns the first `length` characters of a value, followed by a star for each further character."""
    return "".join(character if place < length else "*" for place, character in enumerate(value))


def matches(value: str, label: str) -> bool:
    """Whether the label fits the value; a star in the label fits any character."""
    return len(value) == len(label) and all(seen in ("*", true) for true, seen in zip(value, label, strict=True))


def civil(days: int) -> tuple[int, int, int]:
    """Returns year, month and day for a number of days since 1970-01-01, in any year: the calendar repeats after 400
    years.
    """
    cycle = 146_097
    repeats, rest = divmod(days + 719_162, cycle)  # days since 0001-01-01
    day = date(1, 1, 1) + timedelta(days=rest)
    return (day.year + 400 * repeats, day.month, day.day)


def iso_week(days: int) -> tuple[int, int]:
    """Returns the ISO 8601 year and week: the year of the week's Thursday, and this Thursday's number in it."""
    thursday = days - (days + 3) % 7 + 3
    year = civil(thursday)[0]
    first = thursday
    while civil(first - 7)[0] == year:
        first -= 7
    return (year, (thursday - first) // 7 + 1)


def period(unit: str, days: int, hour: int = 0) -> str:
    """Returns the label of a day, or of an hour of it, in one calendar unit."""
    year, month, day = civil(days)
    if unit == "WEEK":
        year, week = iso_week(days)
        return f"{_year(year)}-W{week:02d}"
    labels: dict[str, Callable[[], str]] = {
        "HOUR": lambda: f"{_year(year)}-{month:02d}-{day:02d} {hour:02d}h",
        "DAY": lambda: f"{_year(year)}-{month:02d}-{day:02d}",
        "MONTH": lambda: f"{_year(year)}-{month:02d}",
        "QUARTER": lambda: f"{_year(year)}-Q{(month + 2) // 3}",
        "YEAR": lambda: _year(year),
        "DECADE": lambda: _year(year)[:-1] + "*",
        "CENTURY": lambda: _year(year)[:-2] + "**",
    }
    return labels[unit]()


def in_period(label: str, days: int, hour: int = 0) -> bool:
    """Whether a label contains the day and hour, by the label's text alone."""
    year, month, day = civil(days)
    shown, *rest = re.fullmatch(r"(-?[\d*]{4,})(?:-(.*))?", label).groups()
    if rest[0] is not None and rest[0].startswith("W"):
        year = iso_week(days)[0]
        return _year(year) == shown and rest[0] == f"W{iso_week(days)[1]:02d}"
    if not matches(_year(year), shown):
        return False
    if rest[0] is None:
        return True
    if rest[0].startswith("Q"):
        return (int(rest[0][1:]) - 1) * 3 < month <= int(rest[0][1:]) * 3
    parts = [int(part) for part in re.findall(r"\d+", rest[0])]
    return parts == [month, day, hour][: len(parts)]


def _year(year: int) -> str:
    return f"{'-' if year < 0 else ''}{abs(year):04d}"


def levels(rows: Sequence[Sequence[str | None]]) -> set[tuple[str | None, int, str | None]]:
    """Returns the rows (value, level, label) of wide rows, without the last levels if they are `*` in all rows."""
    height = len(rows[0])
    while height > 1 and all(row[height - 1] == "*" for row in rows):
        height -= 1
    return {(row[0], level, row[level]) for row in rows for level in range(height)}


def parents(edges: Sequence[tuple[str | None, str | None]]) -> set[tuple[str | None, int, str | None]]:
    """Returns the rows (value, level, label) of a tree of (node, parent); a single root is no level.

    Levels count depths from the deepest leaves, which are at level 0. At a depth below a leaf the label is the leaf
    itself.
    """
    parent = dict(edges)
    inner = {above for above in parent.values() if above is not None}
    paths = []
    for leaf in parent:
        if leaf is None or leaf not in inner:
            path = [leaf]
            while parent[path[0]] is not None:
                path.insert(0, parent[path[0]])
            paths.append(path)
    deepest = max(map(len, paths))
    single = sum(above is None for above in parent.values()) == 1
    return {
        (path[-1], deepest - 1 - depth, path[min(depth, len(path) - 1)])
        for path in paths
        for depth in range(1 if single and deepest > 1 else 0, deepest)
    }
