"""CREATE HIERARCHY AUTO: chooses the kind and the levels of a hierarchy that fit a column's values."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from sqlanon.assess.profiling.sample import sizes
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.summary import CODE_OF_PLACE
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    cast,
    filtered,
    infix,
    try_cast,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import filled, query_file
from sqlanon.sql.hierarchies.base import functional

# The hint for values for which no hierarchy is found.
WRITTEN = "write one yourself, AS LEVELS (SELECT value, level_1, ...)"

_STEPS = (Decimal(1), Decimal(2), Decimal(5))
_MOST_LEVELS = 4
# Widths with more digits make intervals that nobody can read.
_EXPONENTS = range(-6, 13)
_DAYS_OF_YEAR = 366
# The numbers of kept digits, of the 32 of a UUID. Each kept digit divides random ones into 16 groups; if the first
# digits are a time (RFC 9562, version 7), eight keep a minute and four keep seven weeks.
_DIGITS_OF_UUID = (8, 4, 2, 1)


@dataclass(frozen=True)
class Proposal:
    """A kind of hierarchy with its arguments; or, if `groups` is not empty, the numbers of groups from level 1 on."""

    kind: str
    arguments: tuple[Value, ...] = ()
    groups: tuple[int, ...] = ()


def propose(engine: Engine, table: QualifiedName, name: str, column_type: str) -> Proposal:
    """Chooses the hierarchy for a column by its type, the range of its values, and their frequencies.

    Dates and timestamps get units of a calendar. Numbers get intervals of round widths, unless one interval would have
    most rows. UUIDs and codes of the same length with digits get prefixes. All other values are sorted and divided into
    groups of similar frequency.

    Raises PolicyError for a column with too few values for a hierarchy, or whose values have no order.
    """
    values = column(name)
    counts = select(f.count_distinct(values), f.count(values), of=relation(table))
    ((distinct, rows),) = engine.rows(counts)
    if distinct <= sizes().few_values:
        raise PolicyError(
            f"the column {name} has too few values for a hierarchy",
            hint="leave USING out: they are kept, or suppressed",
        )
    if functional("calendar").accepts(column_type):
        return Proposal("calendar", _units(engine, table, name, column_type))
    if functional("prefixes").accepts(column_type) and (lengths := _lengths(engine, table, name, column_type)):
        return Proposal("prefixes", lengths)
    if functional("intervals").accepts(column_type):
        widths = _widths(engine, table, name, column_type, rows)
        return Proposal("intervals", widths) if widths else Proposal("levels", groups=_groups(distinct))
    if column_type != "VARCHAR" and not column_type.startswith("ENUM("):
        raise PolicyError(
            f"the column {name} of type {column_type} has no order in which its values could be put together",
            hint=instead(column_type, name),
        )
    return Proposal("levels", groups=_groups(distinct))


def instead(column_type: str, name: str) -> str:
    """Returns advice for a column whose values have no order."""
    if column_type == "TIMESTAMP WITH TIME ZONE":
        in_utc = f"{to_sql(column(name))} AT TIME ZONE 'UTC'"
        return f"its day depends on who asks; a view, or the policy's query, with {in_utc} in its place has a calendar"
    return WRITTEN


def definition(
    name: str, proposal: Proposal, table: QualifiedName, of_column: str, column_type: str
) -> HierarchyDefinition:
    """Returns the definition of the proposed hierarchy under a name; groups become a query of the table."""
    if not proposal.groups:
        return HierarchyDefinition(name, proposal.kind, proposal.arguments)
    is_number = functional("intervals").accepts(column_type)
    return HierarchyDefinition(
        name, proposal.kind, query=to_sql(_grouped(table, of_column, proposal.groups, is_number=is_number))
    )


def _units(engine: Engine, table: QualifiedName, name: str, column_type: str) -> tuple[Value, ...]:
    """Returns the units of a calendar: HOUR and DAY for timestamps within two days; otherwise up to DECADE or CENTURY
    for long periods.
    """
    timestamp = try_cast(column(name), "TIMESTAMP")
    finite = f.call("isfinite", timestamp)
    days = f.call(
        "date_diff",
        literal("day"),
        filtered(f.min(timestamp), finite),
        filtered(f.max(timestamp), finite),
    )
    ((span,),) = engine.rows(select(days, of=relation(table)))
    span = span or 0
    if column_type != "DATE" and span <= 1:
        return ("HOUR", "DAY")
    units: tuple[str, ...] = ("MONTH", "YEAR") if column_type == "DATE" else ("DAY", "MONTH", "YEAR")
    units += ("DECADE",) if span > 15 * _DAYS_OF_YEAR else ()
    return (*units, "CENTURY") if span > 150 * _DAYS_OF_YEAR else units


def _lengths(engine: Engine, table: QualifiedName, name: str, column_type: str) -> tuple[Value, ...]:
    """Returns the numbers of leading characters to keep; empty if the values are not codes."""
    if column_type == "UUID":
        return _DIGITS_OF_UUID
    is_text = column_type == "VARCHAR"
    # Codes of places are written from the largest area to the smallest: 94141, and EC1A 1BB.
    is_of_place = CODE_OF_PLACE.search(name) is not None
    if not (is_text or is_of_place):
        return ()
    text = as_text(column(name))
    has_digit = f.call("regexp_matches", text, literal("[0-9]"))
    length = f.length(text)
    figures = select(f.min(length), f.max(length), f.bool_and(has_digit), of=relation(table))
    ((least, most, digits),) = engine.rows(figures)
    is_code = is_of_place or (digits and least == most)
    if not is_code or most < 3:
        return ()
    lengths = range(1, most) if most <= _MOST_LEVELS + 1 else (most // 4, most // 2, most * 3 // 4)
    return tuple(sorted(set(lengths), reverse=True))


def _widths(engine: Engine, table: QualifiedName, name: str, column_type: str, rows: int) -> tuple[Value, ...]:
    """Returns round widths of intervals, each twice the previous width; empty if one interval would have most rows.

    The widths fit the middle 98 % of the rows, so that a few very large numbers do not widen all intervals.
    """
    number = try_cast(column(name), "DOUBLE")
    is_finite = f.call("isfinite", number)
    ends = [filtered(f.call("quantile_cont", number, literal(share)), is_finite) for share in (0.01, 0.99)]
    ((low, high),) = engine.rows(select(*ends, of=relation(table)))
    if low is None or not high > low:
        return ()
    whole = "INT" in column_type
    width = _round_width((Decimal(high) - Decimal(low)) / sizes().intervals, 2 if whole else 0)
    if width is None:
        return ()
    interval = f.floor(infix(number, "/", cast(literal(str(width)), "DOUBLE")))
    intervals = select(alias(f.count(), "n"), of=relation(table), where=[is_finite], group_by=[interval])
    ((most,),) = engine.rows(select(f.max(column("n")), of=subquery(intervals, "interval")))
    if most > sizes().crowded * rows:
        return ()
    widths = [width * 2**level for level in range(_MOST_LEVELS)]
    narrow = [width for width in widths if width < Decimal(high) - Decimal(low)] or widths[:1]
    return tuple(int(width) if width == width.to_integral_value() else width.normalize() for width in narrow)


def _round_width(least: Decimal, smallest: int) -> Decimal | None:
    """Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least both bounds; None if all
    such numbers are smaller.
    """
    candidates = (step.scaleb(exponent) for exponent in _EXPONENTS for step in _STEPS)
    return next((width for width in candidates if width >= least and width >= smallest), None)


def _groups(values: int) -> tuple[int, ...]:
    """Returns numbers of groups by level, each a quarter of the previous number; at level 1, a group has two or more
    values on average.
    """
    most = min(sizes().groups, 2 ** ((values // 2).bit_length() - 1))
    numbers = [most]
    while numbers[-1] >= 8:
        numbers.append(numbers[-1] // 4)
    return tuple(numbers)


def _grouped(table: QualifiedName, name: str, groups: tuple[int, ...], *, is_number: bool) -> exp.Query:
    """SELECT of value, level_1, level_2, ...: each value, and at each level the first and the last value of its
    group.
    """
    text = as_text(column(name))
    names = [f"g{i}" for i in range(len(groups))]
    return query_file(
        "profiles",
        "grouped_values",
        tables={"source": relation(table)},
        names={"column": name, "groups": names, "levels": [f"level_{i + 1}" for i in range(len(groups))]},
        # 0.0 and -0.0 are equal and have two texts; the greater one is 0.0.
        value=f.max(text) if is_number else text,
        sorted=column(name) if is_number else text,
        keys=[*([] if is_number else [text]), column(name)],
        counts=list(groups),
        labels=[_label(group, is_number=is_number) for group in names],
    )


_LABEL = """
    CASE
        WHEN first_of({group}) = last_of({group}) THEN value
        ELSE $begin || first_of({group}) || $between || last_of({group}) || $end
    END
"""
_FIRST = "first_value(value) OVER (PARTITION BY $group ORDER BY sorted ASC NULLS LAST, value ASC NULLS LAST)"
_LAST = "first_value(value) OVER (PARTITION BY $group ORDER BY sorted DESC NULLS LAST, value DESC NULLS LAST)"


def _label(group: str, *, is_number: bool) -> exp.Expr:
    calls = {"first_of": lambda tree: filled(_FIRST, group=tree), "last_of": lambda tree: filled(_LAST, group=tree)}
    begin, between, end = ("[", ",", "]") if is_number else ("", " to ", "")
    return filled(_LABEL, names={"group": group}, calls=calls, begin=begin, between=between, end=end)
