"""The rows that count: at most so many of a respondent, each with its group and its value as a whole number.

Each step computes a row from rows of the same respondent alone. So whatever one respondent adds to a figure is bounded
by the rows that are left of theirs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.estimates.noisy.options import MOST_UNITS, NoiseOptions, in_units
from sqlanon.estimates.noisy.query import SOURCE, NoisyQuery
from sqlanon.estimates.query.functions import tried
from sqlanon.estimates.query.parse import refused
from sqlanon.sources.protected import ENTITY, ProtectedRows, bounded
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    cast,
    huge,
    identical,
    if_,
    infix,
    is_not_null,
    try_cast,
)
from sqlanon.sql.build.names import alias, column, literal, relation

_INTEGERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s?(\d+)\)")
_FLOATS = ("FLOAT", "DOUBLE")

GROUP, VALUE = "g", "x"


def key(index: int) -> str:
    """The name of a key of a group among the columns of the rows."""
    return f"k{index}"


@dataclass(frozen=True)
class Units:
    """The values of a figure as whole numbers: in units of the last of `decimals`, from `low` to `high` of these."""

    type: str
    decimals: int
    low: int
    high: int

    def value(self, tree: exp.Expr) -> exp.Expr:
        """The value of an expression in units, never outside of low and high; NULL where it has none."""
        ends = [literal(Decimal(end).scaleb(-self.decimals)) for end in (self.low, self.high)]
        if self.type in _FLOATS:
            # To DuckDB NaN is greater than all numbers.
            ends = [cast(end, "DOUBLE") for end in ends]
            tree = if_(f.call("isfinite", tree.copy()), tree)
        else:
            kind = f"DECIMAL(38, {self.decimals})"
            tree, ends = try_cast(tree, kind), [cast(end, kind) for end in ends]
        unit = cast(literal(10**self.decimals), "DECIMAL(18, 0)")
        within = try_cast(_within(tree, *ends), f"DECIMAL(18, {self.decimals})")
        return _within(try_cast(infix(within, "*", unit), "BIGINT"), literal(self.low), literal(self.high))


def _within(value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """The value, or the end that is nearer; NULL where it is NULL, which least and greatest of DuckDB leave out."""
    within = f.least(f.greatest(value, low, ignore_nulls=True), high, ignore_nulls=True)
    return if_(is_not_null(value.copy()), within)


def units_of(engine: Engine, rows: ProtectedRows, argument: exp.Expr, options: NoiseOptions) -> Units:
    """The units of a figure's values, by the type of its argument; no row is read.

    Raises PolicyError for a type that is no number, and for ends with more decimals than the values have.
    """
    typed = exp.select(alias(tried(argument), VALUE)).from_(relation(rows.table, SOURCE))
    ((_, kind),) = engine.columns(typed)
    exact = _DECIMAL.fullmatch(kind)
    if kind in _FLOATS:
        if options.decimals is None:
            raise refused(
                argument,
                f"is of type {kind}, and noise is added to whole numbers of a unit alone",
                "say how many decimals count: decimals => 2",
            )
        decimals = options.decimals
    elif _INTEGERS.fullmatch(kind) or exact:
        decimals = int(exact[1]) if exact else 0
        if options.decimals not in (None, decimals):
            raise PolicyError(
                f"the values have {decimals} decimals by their type, {kind}",
                hint="leave decimals out, or cast them: avg(CAST(x AS DECIMAL(18, 2)))",
                part=("argument", "decimals"),
            )
        if decimals > 9:
            raise refused(argument, f"is of type {kind}, and at most 9 decimals count", "cast it to DECIMAL(18, 2)")
    else:
        raise refused(argument, f"is of type {kind}, and no number", "ask for count(*)")
    if options.candidates:
        ends = [in_units(options.candidates[index], decimals, "candidates") for index in (0, -1)]
    else:
        low, high = options.low, options.high
        assert low is not None
        assert high is not None
        ends = [in_units(low, decimals, "low"), in_units(high, decimals, "high")]
        if ends[0] >= ends[1]:
            raise PolicyError("low has to be below high", part=("argument", "low"))
    return Units(kind, decimals, *ends)


def counting_rows(
    query: NoisyQuery, rows: ProtectedRows, units: Units | None, options: NoiseOptions, salt: str, bins: str | None
) -> exp.Select:
    """The rows of the source that count, each with its group `g`, or its keys where they are to be found, and value.

    `bins` is the table of public keys, None where there are no groups or the groups are to be found.
    """
    in_rows = replace(units, low=-MOST_UNITS, high=MOST_UNITS) if units and options.bounds_totals else units
    grouped = _grouped(_read(query, rows, in_rows), query, bins)
    of_group = [GROUP] if bins or not query.groups else [key(index) for index in range(len(query.groups))]
    if query.figure.kind == "respondents":
        grouped = exp.select(*map(column, (ENTITY, *of_group))).distinct().from_(grouped.subquery("row"))
    if units and options.bounds_totals:
        grouped = _totals(grouped, units)
        # The same groups of a respondent count, whatever is summed.
        return bounded(grouped, [GROUP], options.rows, salt, [VALUE]) if query.groups else grouped
    if rows.entity is None or (query.figure.kind == "respondents" and not query.groups):
        return grouped
    values = [*of_group, *([VALUE] if units else [])]
    return bounded(grouped, values, options.rows, salt)


def _read(query: NoisyQuery, rows: ProtectedRows, units: Units | None) -> exp.Select:
    """A row for each row of the source that the condition leaves, with its respondent, its keys and its value.

    An expression that fails for a row is NULL, because an error would tell that there is such a row.
    """
    outputs = [] if rows.entity is None else [alias(column(rows.entity, SOURCE), ENTITY)]
    outputs += [alias(tried(tree), key(index)) for index, (_, tree) in enumerate(query.groups)]
    argument = query.figure.argument
    if argument is not None:
        value = tried(argument)
        outputs.append(alias(units.value(value) if units else value, VALUE))
    read = exp.select(*(outputs or [alias(literal(1), ENTITY)])).from_(relation(rows.table, SOURCE))
    if query.condition is not None:
        read = read.where(tried(query.condition))
    # Rows of nobody are in no bound.
    if rows.entity is not None:
        read = read.where(is_not_null(column(rows.entity, SOURCE)))
    if argument is None:
        return read
    return exp.select(exp.Star()).from_(read.subquery("row")).where(is_not_null(column(VALUE)))


def _grouped(read: exp.Select, query: NoisyQuery, bins: str | None) -> exp.Select:
    """The rows with the number of their group; those of no public key are left out."""
    if not query.groups:
        return exp.select(exp.Star(), alias(literal(0), GROUP)).from_(read.subquery("row"))
    if bins is None:
        return read
    same = exp.and_(*(identical(column(key(i), "row"), column(key(i), "bin")) for i in range(len(query.groups))))
    outputs = exp.Column(this=exp.Star(), table=exp.to_identifier("row", quoted=True)), column(GROUP, "bin")
    return exp.select(*outputs).from_(read.subquery("row")).join(relation(bins, "bin"), on=same)


def _totals(rows: exp.Select, units: Units) -> exp.Select:
    """The total of each respondent in each group, never outside of low and high."""
    total = _within(f.sum(huge(column(VALUE))), literal(units.low), literal(units.high))
    names = [column(name) for name in (ENTITY, GROUP)]
    totals = exp.select(*names, alias(cast(total, "BIGINT"), VALUE)).from_(rows.subquery("row"))
    return totals.group_by(*(name.copy() for name in names))


def figures_of_bins(rows: exp.Select, units: Units | None, bins: str | None, *, centered: bool) -> exp.Select:
    """Returns for each bin, in its order, the number of rows and the sum of their values, 0 for a bin without rows.

    `centered` values are twice the value less both ends, so that they lie around 0.
    """
    values = huge(column(VALUE)) if units else literal(0)
    if units and centered:
        values = infix(infix(values, "*", literal(2)), "-", literal(units.low + units.high))
    sums = f.call("coalesce", f.sum(values), literal(0))
    counted = exp.select(column(GROUP), alias(f.count(), "n"), alias(sums, "s")).from_(rows.subquery("counted"))
    counted = counted.group_by(column(GROUP))
    groups = relation(bins, "bin") if bins else exp.select(alias(literal(0), GROUP)).subquery("bin")
    on = column(GROUP, "bin").eq(column(GROUP, "figure"))
    outputs = [f.call("coalesce", column(name, "figure"), literal(0)) for name in ("n", "s")]
    query = exp.select(*outputs).from_(groups).join(counted.subquery("figure"), on=on, join_type="left")
    return query.order_by(ascending(column(GROUP, "bin")))


def values_of_bins(rows: exp.Select) -> exp.Select:
    """The group and the value of each row."""
    return exp.select(column(GROUP), column(VALUE)).from_(rows.subquery("counted"))
