"""CALENDAR (unit, ...): dates and timestamps by hour, day, month, quarter, year, decade and century, or by week.

1950-06-02 13:30 has the labels `1950-06-02 13h`, `1950-06-02`, `1950-06`, `1950-Q2`, `1950`, `195*`, `19**`, and
`1950-W22` (ISO 8601) by week. A star means any digit, as in a PREFIXES mask: `19**` means 1900 to 1999, so decades nest
in it. Years are the proleptic Gregorian years of DuckDB, with at least four digits; year 0 is 1 BC, and years before it
are negative.

With the options `low` and `high`, all days before `low` have the label `below` at each level, and all days from `high`
on have the label `above`. Both ends are the first day of a unit of the finest level. A coarser unit that an end cuts
keeps its label, which then means the rest of the unit. The word `ends` before the units is a first level that shows the
values between the ends; in this case the ends may be any day.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, is_not_null, is_null, not_
from sqlanon.sql.hierarchies._ends import OPTIONS, day_of, end_labels, options_of, require_first_day, taken
from sqlanon.sql.hierarchies._trees import (
    add,
    at_least,
    below,
    cast,
    choose,
    divide,
    equals,
    floor_divide,
    function,
    join_text,
    less,
    number,
    plus,
    remainder,
    subtract,
    text,
    try_cast,
    zero_padded,
)
from sqlanon.sql.hierarchies.base import OpenEnd, refused

STORED = False
KEEPS_ORDER = True
READ_AS = "period"

_UNITS = ("HOUR", "DAY", "MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY")
_TYPES = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_MASKED = {"DECADE": 1, "CENTURY": 2}
# The first level, where only the ends have labels.
_ENDS = "ENDS"
# Texts of labels of periods, of other labels, or of values.
_PERIOD = re.compile(
    r"\s*(-?[0-9*]+(-[QW]?[0-9]+)*( [0-9]+h| [0-9:.]+)?( \(BC\))?|-?infinity|out of range)\s*", re.IGNORECASE
)


class _Ends(NamedTuple):
    """The first day between the ends, the first day after them, and the labels of the days outside."""

    low: date | None
    high: date | None
    below: str
    above: str


def validate(definition: HierarchyDefinition) -> None:
    """Raises PolicyError unless the units are known, begin with the finest, and each nests in the next.

    Also raises it unless each end is the first day of a unit of the finest level.
    """
    if definition.query is not None:
        raise refused(definition, "CALENDAR reads no query", "write CALENDAR (MONTH, YEAR)")
    units = _units(definition)
    ends = _ends(definition)
    if not units and not _shows_values(definition):
        raise refused(definition, "CALENDAR needs at least one unit", "write CALENDAR (MONTH, YEAR)")
    if _shows_values(definition) and ends.low is None and ends.high is None:
        raise refused(definition, "ends needs an open end", "add low => DATE '1937-01-01' or high => ..., or write DAY")
    for finer, coarser in pairwise(units):
        if not _nests(finer, coarser):
            raise refused(
                definition,
                f"levels {finer} and {coarser} do not nest",
                f"give each of {', '.join(_UNITS)} at most once, in this order; WEEK only last, after HOUR or DAY",
            )
    for name, day in (("low", ends.low), ("high", ends.high)):
        if day is not None and not _shows_values(definition):
            require_first_day(definition, name, day, units[0])
    if ends.low is not None and ends.high is not None and ends.low >= ends.high:
        raise refused(definition, f"low {ends.low} is not before high {ends.high}", "give low the earlier date")


def _ends(definition: HierarchyDefinition) -> _Ends:
    options = options_of(definition, OPTIONS, "CALENDAR")
    labels = end_labels(definition, options)
    for name, label in labels.items():
        if _PERIOD.fullmatch(label):
            raise taken(definition, name, label)
    low, high = (day_of(definition, name, options[name]) if name in options else None for name in ("low", "high"))
    return _Ends(low, high, labels.get("below", f"before {low}"), labels.get("above", f"{high} or later"))


def open_ends(definition: HierarchyDefinition) -> tuple[OpenEnd, ...]:
    """Returns the labels of the days before `low` and from `high` on."""
    ends = _ends(definition)
    low = [OpenEnd(ends.below, high=str(ends.low))] if ends.low else []
    return (*low, *([OpenEnd(ends.above, low=str(ends.high))] if ends.high else []))


def values_at(definition: HierarchyDefinition) -> int | None:
    """Returns 1 with `ends`, else None."""
    return 1 if _shows_values(definition) else None


def _shows_values(definition: HierarchyDefinition) -> bool:
    return bool(definition.arguments) and _name_of(definition.arguments[0]) == _ENDS


def height(definition: HierarchyDefinition) -> int:
    """Returns the number of levels above the values, including `*`."""
    return len(definition.arguments) + 1


def accepts(column_type: str) -> bool:
    """Whether the type is DATE or TIMESTAMP of any precision, but not WITH TIME ZONE, because its day depends on the
    session.
    """
    return column_type in _TYPES


def labels(definition: HierarchyDefinition, value: exp.Expr, column_type: str) -> tuple[exp.Expr, ...]:
    """Returns the period of the value at levels 1 to height - 1, or the value at the level `ends`; NULL for NULL.

    `infinity` and `-infinity` have their own labels, and so do timestamps that only a TIMESTAMP_S or TIMESTAMP_MS can
    represent. Raises PolicyError if the type is not accepted.
    """
    validate(definition)
    if not accepts(column_type):
        raise refused(
            definition,
            f"CALENDAR takes no column of type {column_type}",
            "it takes DATE and TIMESTAMP columns; give a TIMESTAMP WITH TIME ZONE its zone in a view, "
            "as in (column AT TIME ZONE 'UTC')",
        )
    units = _units(definition)
    if column_type == "DATE" and "HOUR" in units:
        raise refused(definition, "a DATE has no HOUR", "leave HOUR out")
    ends = _ends(definition)
    first = (_ENDS,) if _shows_values(definition) else ()
    return tuple(_label(value.copy(), column_type, unit, ends) for unit in (*first, *units))


def _label(value: exp.Expr, column_type: str, unit: str, ends: _Ends) -> exp.Expr:
    """Returns the label at the level of a unit, or of `ends`."""
    # A cast to TIMESTAMP is NULL where it does not fit; comparing the value itself would raise an error there.
    whole = value if column_type in ("DATE", "TIMESTAMP") else try_cast(value, "TIMESTAMP")
    kind = "DATE" if column_type == "DATE" else "TIMESTAMP"
    branches = [(equals(whole, cast(text(name), kind)), text(name)) for name in ("infinity", "-infinity")]
    if column_type in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        missing = is_null(whole)
        present = is_not_null(value)
        branches.insert(0, (and_(missing, present), text("out of range")))
    timestamp = _timestamp(value) if column_type == "TIMESTAMP_NS" else whole
    if ends.low is not None:
        branches.append((less(timestamp, cast(text(str(ends.low)), kind)), text(ends.below)))
    if ends.high is not None:
        branches.append((at_least(timestamp, cast(text(str(ends.high)), kind)), text(ends.above)))
    return choose(branches, cast(value.copy(), "VARCHAR") if unit == _ENDS else _period(timestamp, unit))


def _timestamp(value: exp.Expr) -> exp.Expr:
    """Rounds a TIMESTAMP_NS down to microseconds; a cast would round toward 1970, perhaps to another day."""
    nanoseconds = function("epoch_ns", value)
    return function("make_timestamp", floor_divide(nanoseconds, 1000))


def _period(timestamp: exp.Expr, unit: str) -> exp.Expr:
    if unit == "WEEK":
        return _week(timestamp)
    year = _year_text(_part("YEAR", timestamp), _MASKED.get(unit, 0))
    if unit in ("YEAR", *_MASKED):
        return year
    if unit == "QUARTER":
        return join_text(year, text("-Q"), cast(_part("QUARTER", timestamp), "VARCHAR"))
    month = join_text(year, text("-"), zero_padded(_part("MONTH", timestamp), 2))
    if unit == "MONTH":
        return month
    day = join_text(month, text("-"), zero_padded(_part("DAY", timestamp), 2))
    return day if unit == "DAY" else join_text(day, text(" "), zero_padded(_part("HOUR", timestamp), 2), text("h"))


def _year_text(year: exp.Expr, masked: int = 0) -> exp.Expr:
    """Returns a year with its last digits masked."""
    sign = choose([(below(year, 0), text("-"))], text(""))
    digits = zero_padded(divide(f.abs(year), 10**masked), 4 - masked)
    return join_text(sign, digits, text("*" * masked)) if masked else join_text(sign, digits)


def _week(timestamp: exp.Expr) -> exp.Expr:
    """Returns the ISO 8601 year and week, which are those of the week's Thursday.

    They are computed from the day of the year and the day of the week, because DuckDB's own functions raise an error in
    the first year of DATE, even if only the column's statistics contain this year.
    """
    year = _part("YEAR", timestamp)
    thursday = plus(subtract(_part("DOY", timestamp), _part("ISODOW", timestamp)), 4)
    before, after = below(thursday, 1), less(_days_in(year), thursday)
    iso_year = choose([(before, plus(year, -1)), (after, plus(year, 1))], year)
    day = choose(
        [
            (before, add(thursday, _days_in(plus(year, -1)))),
            (after, subtract(thursday, _days_in(year))),
        ],
        thursday,
    )
    return join_text(_year_text(iso_year), text("-W"), zero_padded(divide(plus(day, 6), 7), 2))


def _days_in(year: exp.Expr) -> exp.Expr:
    fourth, hundredth, four_hundredth = (equals(remainder(year, period), number(0)) for period in (4, 100, 400))
    common = and_(hundredth, not_(four_hundredth))
    leap = and_(fourth, exp.not_(common))
    return choose([(leap, number(366))], number(365))


def _part(name: str, timestamp: exp.Expr) -> exp.Expr:
    return exp.Extract(this=exp.var(name), expression=timestamp.copy())


def _nests(finer: str, coarser: str) -> bool:
    if coarser == "WEEK":
        return finer in ("HOUR", "DAY")
    return finer != "WEEK" and _UNITS.index(finer) < _UNITS.index(coarser)


def _units(definition: HierarchyDefinition) -> tuple[str, ...]:
    """Returns the units from the finest on, without the word `ends`."""
    units = definition.arguments[1:] if _shows_values(definition) else definition.arguments
    return tuple(_unit(definition, argument) for argument in units)


def _name_of(argument: Value) -> str:
    return str(argument).upper() if isinstance(argument, str | QualifiedName) else ""


def _unit(definition: HierarchyDefinition, argument: Value) -> str:
    name = _name_of(argument)
    if name not in (*_UNITS, "WEEK"):
        raise refused(definition, f"{argument} is not a unit", f"there are: {', '.join(_UNITS)} and WEEK")
    return name
