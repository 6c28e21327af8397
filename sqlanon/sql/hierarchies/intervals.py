"""INTERVALS (w1, w2, ...): half-open intervals, wider from level to level.

22 under INTERVALS (5, 10) has the labels [20,25) and [20,30). Intervals start at multiples of the width, counted from
the option `low` if it is given, else from 0. Values below `low` are in (-inf,low), values from the option `high` on are
in [high,inf), and an interval that contains `high` ends there. Values of wide types whose bounds would not fit (beyond
15 digits for floats) are in the same open ends, which then begin at whole intervals of the coarsest level. The options
`below` and `above` replace the labels of the open ends at `low` and `high`. The word `ends` before the widths is a
first level that shows the values between the ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import Value
from sqlanon.sql.build import functions as f
from sqlanon.sql.hierarchies._ends import OPTIONS, end_labels, options_of, taken
from sqlanon.sql.hierarchies._trees import (
    DIGITS,
    Units,
    cast,
    choose,
    counted,
    divide,
    is_numeric,
    join_text,
    plus,
    product,
    text,
    times,
    try_cast,
)
from sqlanon.sql.hierarchies.base import OpenEnd, refused

STORED = False
KEEPS_ORDER = True
READ_AS = "interval"

# The first level, where only the ends have labels.
_ENDS = "ENDS"
# Texts that are an interval's label.
_INTERVAL = re.compile(r"\s*[\[(].*,.*[\])]\s*", re.DOTALL)


@dataclass(frozen=True)
class _Grid:
    """The definition's numbers as whole units of 10**-scale; `digits` is the number of decimals at each level.

    `first_digits` is the number of decimals at the level that shows values, None if no level shows values.
    """

    scale: int
    widths: tuple[int, ...]
    digits: tuple[int, ...]
    low: int | None
    high: int | None
    labels: Mapping[str, str]
    first_digits: int | None

    @property
    def origin(self) -> int:
        """The number from which intervals are counted."""
        return self.low or 0

    def low_label(self, low: int, digits: int) -> exp.Expr:
        """Returns the label of the values below `low`."""
        words = self.labels.get("below") if low == self.low else None
        return text(words or f"(-inf,{plain_text(low, self.scale, digits)})")

    def high_label(self, high: int, digits: int) -> exp.Expr:
        """Returns the label of the values from `high` on."""
        words = self.labels.get("above") if high == self.high else None
        return text(words or f"[{plain_text(high, self.scale, digits)},inf)")


def validate(definition: HierarchyDefinition) -> None:
    """Raises PolicyError unless widths are positive, each width is a multiple of the one before, and low is below
    high.
    """
    if definition.query is not None:
        raise refused(definition, "INTERVALS reads no query", "write INTERVALS (5, 10, 20)")
    _grid(definition)


def height(definition: HierarchyDefinition) -> int:
    """Returns the number of levels above the values, including `*`."""
    return len(definition.arguments) + 1


def accepts(column_type: str) -> bool:
    """Whether the type is an integer, DECIMAL, FLOAT or DOUBLE."""
    return is_numeric(column_type)


def labels(definition: HierarchyDefinition, value: exp.Expr, column_type: str) -> tuple[exp.Expr, ...]:
    """Returns the interval of the value at levels 1 to height - 1, or the value at the level `ends`; NULL for NULL.

    NaN, Infinity and -Infinity have their own labels. Raises PolicyError if the type is not accepted.
    """
    grid = _grid(definition)
    if not accepts(column_type):
        raise refused(
            definition,
            f"INTERVALS takes no column of type {column_type}",
            "it takes integer, DECIMAL, FLOAT and DOUBLE columns; for dates use CALENDAR",
        )
    units = counted(value.copy(), column_type, grid.scale)
    first = [] if grid.first_digits is None else [_value_between_ends(grid, units, value, grid.first_digits)]
    return (*first, *(_label(grid, units, level) for level in range(len(grid.widths))))


def open_ends(definition: HierarchyDefinition) -> tuple[OpenEnd, ...]:
    """Returns the open ends that have the user's labels; other ends are labeled as intervals."""
    options = options_of(definition, OPTIONS, "INTERVALS")
    labels = _labels_of_ends(definition, options)
    at = {name: f"{number:f}" for name, number in _numbers(definition, options).items()}
    below = [OpenEnd(labels["below"], high=at["low"])] if "below" in labels else []
    return (*below, *([OpenEnd(labels["above"], low=at["high"])] if "above" in labels else []))


def values_at(definition: HierarchyDefinition) -> int | None:
    """Returns 1 with `ends`, else None."""
    return 1 if _shows_values(definition) else None


def _shows_values(definition: HierarchyDefinition) -> bool:
    first = definition.arguments[0] if definition.arguments else None
    return isinstance(first, str) and first.upper() == _ENDS


def _value_between_ends(grid: _Grid, units: Units, value: exp.Expr, digits: int) -> exp.Expr:
    """Returns the value as text, or the label of an open end for a value beyond it."""
    branches = [(condition, text(name)) for condition, name in units.special]
    if grid.low is not None:
        branches.append((units.below(grid.low), grid.low_label(grid.low, digits)))
    if grid.high is not None:
        branches.append((units.at_least(grid.high), grid.high_label(grid.high, digits)))
    return choose(branches, cast(value.copy(), "VARCHAR"))


def first_level(definition: HierarchyDefinition) -> int:
    """Returns the first level of intervals: 2 if the word `ends` is written, because level 1 then shows values, else
    1.
    """
    return 1 if _grid(definition).first_digits is None else 2


def ends_of_intervals(definition: HierarchyDefinition, level: int, most: int) -> list[tuple[Decimal, Decimal]] | None:
    """Returns the bounds of each interval of a level between low and high: its smallest value and the smallest value of
    the next interval.

    The last interval ends at high. Returns None unless the definition has both low and high; returns only the first
    `most` + 1 intervals if there are more than `most`.
    """
    grid = _grid(definition)
    if grid.low is None or grid.high is None:
        return None
    width = grid.widths[level - first_level(definition)]
    starts = range(grid.low, grid.high, width)[: most + 1]
    ends = ((start, min(start + width, grid.high)) for start in starts)
    return [(Decimal(low).scaleb(-grid.scale), Decimal(high).scaleb(-grid.scale)) for low, high in ends]


def _label(grid: _Grid, units: Units, level: int) -> exp.Expr:
    low, high = _ends(grid, units)
    digits = grid.digits[level]
    branches = [(condition, text(name)) for condition, name in units.special]
    if units.beneath or units.least < low:
        branches.append((units.below(low), grid.low_label(low, digits)))
    if units.beyond or units.most >= high:
        branches.append((units.at_least(high), grid.high_label(high, digits)))
    return choose(branches, _interval(grid, units, level))


def _ends(grid: _Grid, units: Units) -> tuple[int, int]:
    """Returns the ends of the open ranges: low and high, or else the ends of the coarsest intervals that can be
    computed.
    """
    coarsest = grid.widths[-1]
    low, high = grid.low, grid.high
    if low is None:
        low = -(-units.least // coarsest * coarsest) if units.beneath else units.least
    if high is None:
        high = grid.origin + (units.most - grid.origin) // coarsest * coarsest if units.beyond else units.most + 1
    return low, high


def _interval(grid: _Grid, units: Units, level: int) -> exp.Expr:
    """Returns the interval's text.

    Intervals are counted from an interval below all values, because engines differ in the quotients of negative
    numbers, but agree on all others.
    """
    width, digits = grid.widths[level], grid.digits[level]
    foot = _foot(grid, units)
    unit = 10 ** (grid.scale - digits)
    before = times(divide(plus(units.count, -foot), width), width // unit)
    start, end = plus(before, foot // unit), plus(before, (foot + width) // unit)
    if grid.high is not None and (grid.high - grid.origin) % width:
        # With `ignore_nulls` sqlglot adds no CASE; for a missing value the start is NULL, too.
        end = f.least(end, grid.high // unit, ignore_nulls=True)
    return join_text(text("["), decimal_text(start, digits), text(","), decimal_text(end, digits), text(")"))


def _foot(grid: _Grid, units: Units) -> int:
    """Returns a number at which intervals of all levels begin, at or below each computed value."""
    if grid.low is not None:
        return grid.low
    coarsest = grid.widths[-1]
    return min(0, units.least // coarsest * coarsest)


def decimal_text(count: exp.Expr, digits: int) -> exp.Expr:
    """Returns a number of units of 10**-digits as text, with that many decimals."""
    if digits == 0:
        return cast(count, "VARCHAR")
    unit = cast(text(plain_text(1, digits, digits)), f"DECIMAL({digits},{digits})")
    return cast(product(try_cast(count, "DECIMAL(38,0)"), unit), "VARCHAR")


def plain_text(units: int, scale: int, digits: int) -> str:
    """Returns the text of the constant `units` of 10**-scale, with at least `digits` decimals."""
    whole, part = divmod(abs(units), 10**scale)
    fraction = f"{part:0{scale}d}".rstrip("0").ljust(digits, "0") if scale else ""
    return ("-" if units < 0 else "") + str(whole) + ("." + fraction if fraction else "")


def _grid(definition: HierarchyDefinition) -> _Grid:
    shows_values = _shows_values(definition)
    widths = [exact_number(definition, argument, "width") for argument in definition.arguments[shows_values:]]
    if not widths and not shows_values:
        raise refused(definition, "INTERVALS needs at least one width", "write INTERVALS (5, 10, 20)")
    options = options_of(definition, OPTIONS, "INTERVALS")
    labels = _labels_of_ends(definition, options)
    ends = _numbers(definition, options)
    if shows_values and not ends:
        raise refused(definition, "ENDS is the level of the values between low and high", "add high => 90, or low")
    scale = max(decimals(part) for part in [*widths, *ends.values()])
    whole = {part: int(part.scaleb(scale)) for part in [*widths, *ends.values()]}
    if any(abs(units) > 10**DIGITS for units in whole.values()):
        raise refused(definition, f"its numbers have more than {DIGITS} digits together", "use rounder numbers")
    _require_order(definition, ends)
    _nest(definition, [(width, whole[width]) for width in widths])
    return _Grid(
        scale=scale,
        widths=tuple(whole[width] for width in widths),
        digits=tuple(max(decimals(part) for part in [width, *ends.values()]) for width in widths),
        low=whole[ends["low"]] if "low" in ends else None,
        high=whole[ends["high"]] if "high" in ends else None,
        labels=labels,
        first_digits=max(map(decimals, ends.values())) if shows_values else None,
    )


def _numbers(definition: HierarchyDefinition, options: Mapping[str, Value]) -> dict[str, Decimal]:
    """Returns the numbers `low` and `high` that are given, each by its name."""
    return {name: exact_number(definition, options[name], name) for name in ("low", "high") if name in options}


def _labels_of_ends(definition: HierarchyDefinition, options: Mapping[str, Value]) -> dict[str, str]:
    """Returns the labels of the open ends. Raises PolicyError for a label that could be a number or an interval."""
    labels = end_labels(definition, options)
    for name, label in labels.items():
        if _INTERVAL.fullmatch(label) or _is_number(label):
            raise taken(definition, name, label)
    return labels


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


def _require_order(definition: HierarchyDefinition, ends: Mapping[str, Decimal]) -> None:
    if len(ends) == 2 and ends["low"] >= ends["high"]:
        low, high = ends["low"], ends["high"]
        raise refused(definition, f"low {low} is not below high {high}", "give low the smaller number")


def _nest(definition: HierarchyDefinition, widths: Sequence[tuple[Decimal, int]]) -> None:
    for width, _ in widths:
        if width <= 0:
            raise refused(definition, f"width {width} is not above 0", "give each level a positive width")
    for (finer, fine), (coarser, coarse) in pairwise(widths):
        if coarse <= fine or coarse % fine:
            raise refused(
                definition,
                f"levels of widths {finer} and {coarser} do not nest",
                "each width must be a multiple of the one before, and larger",
            )


def exact_number(definition: HierarchyDefinition, value: object, what: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
        raise refused(definition, f"{what} {value} is not a number", "write it in digits, such as 5 or 0.25")
    exact = Decimal(value)
    if abs(exact) > 10**DIGITS or decimals(exact) > DIGITS:
        raise refused(definition, f"{what} {value} has more than {DIGITS} digits", "use a rounder number")
    return exact


def decimals(number: Decimal) -> int:
    """Counts the decimals of a number, without trailing zeros."""
    _, digits, exponent = number.as_tuple()
    trailing = len(digits) - len("".join(map(str, digits)).rstrip("0"))
    return max(0, -int(exponent) - trailing) if any(digits) else 0
