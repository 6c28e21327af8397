"""Selects the rows that count in an answer with noise: at most a fixed number for each respondent.

Each row has its group, and its value as a whole number. Each step computes a row from rows of the same respondent
alone. So one respondent's contribution to a figure is bounded by the number of rows that are kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.estimates.noisy.bins import GROUP, Bins, key
from sqlanon.estimates.noisy.options import MOST_UNITS, NoiseOptions, in_units
from sqlanon.estimates.noisy.query import SOURCE, NoisyQuery
from sqlanon.estimates.query.functions import tried
from sqlanon.estimates.query.parse import refused
from sqlanon.sources.protected import ENTITY, Contributions, ProtectedRows
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, cast, huge, identical, if_, infix, is_not_null, try_cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery

_INTEGERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s?(\d+)\)")
_FLOATS = ("FLOAT", "DOUBLE")
# All numbers of these types have at most 64 bits.
_SMALL_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")

VALUE = "x"
_READ = "v"


@dataclass(frozen=True)
class Units:
    """Converts a figure's values to whole numbers: units of the last of `decimals` decimals, from `low` to `high`."""

    type: str
    decimals: int
    low: int
    high: int

    def read(self, tree: exp.Expr) -> exp.Expr:
        """Casts an expression to the number type that `within` takes; NULL for a value that is not a number."""
        if self.type in _FLOATS:
            # To DuckDB NaN is greater than all numbers.
            return if_(f.call("isfinite", tree), tree)
        return try_cast(tree, self._kind)

    def within(self, value: exp.Expr) -> exp.Expr:
        """Converts a value that is not NULL to units, clamped to low and high."""
        ends = [literal(Decimal(end).scaleb(-self.decimals)) for end in (self.low, self.high)]
        inside = _within(value, *(cast(end, self._kind) for end in ends))
        if not self._is_whole:
            # Of more than 18 digits, or DuckDB computes the product in 64 bits, and fails for some values.
            unit = cast(literal(10**self.decimals), "DECIMAL(19, 0)")
            inside = infix(try_cast(inside, f"DECIMAL(18, {self.decimals})"), "*", unit)
        return _within(try_cast(inside, "BIGINT"), literal(self.low), literal(self.high))

    @property
    def _is_whole(self) -> bool:
        return _INTEGERS.fullmatch(self.type) is not None

    @property
    def _kind(self) -> str:
        """The type in which values are compared with low and high; numbers of any column type fit into it."""
        if self._is_whole:
            return "BIGINT" if self.type in _SMALL_INTEGERS else "HUGEINT"
        return "DOUBLE" if self.type in _FLOATS else f"DECIMAL(38, {self.decimals})"


def _within(value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """Clamps a value to low and high; NULL becomes `low`, because DuckDB's least and greatest ignore NULL."""
    return f.least(f.greatest(value, low, ignore_nulls=True), high, ignore_nulls=True)


def types_of(engine: Engine, rows: ProtectedRows, parts: Sequence[exp.Expr]) -> list[str]:
    """Returns the types of expressions over the table's columns; reads no row."""
    columns = dict(rows.columns)
    types = [columns[part.name] if isinstance(part, exp.Column) else None for part in parts]
    others = [alias(tried(part), key(i)) for i, part in enumerate(parts) if types[i] is None]
    described = iter(engine.columns(select(*others, of=relation(rows.table, SOURCE))) if others else ())
    return [kind or next(described)[1] for kind in types]


def units_of(kind: str, argument: exp.Expr, options: NoiseOptions) -> Units:
    """Returns the units for a figure whose argument has this type.

    Raises PolicyError for a type that is not numeric, and for ends with more decimals than the values have.
    """
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
    query: NoisyQuery, rows: ProtectedRows, units: Units | None, options: NoiseOptions, salt: str, bins: Bins | None
) -> Contributions:
    """Returns the rows that count, each with its value and its group `g`, or its keys if the groups are found in the
    rows.

    `bins` are the groups of public keys; None if the query has no groups, or if the groups are found in the rows.
    """
    in_rows = replace(units, low=-MOST_UNITS, high=MOST_UNITS) if units and options.bounds_totals else units
    grouped = _grouped(_read(query, rows, in_rows), query, bins)
    of_group = [GROUP] if bins or not query.groups else [key(index) for index in range(len(query.groups))]
    if query.figure.kind == "respondents":
        grouped = select(*map(column, (ENTITY, *of_group)), distinct=True, of=_subquery(grouped))
    if units and options.bounds_totals:
        grouped = _totals(grouped, units)
        # The same groups of a respondent count, whatever is summed.
        carried = (VALUE,)
        return Contributions(grouped, options.rows, salt, (GROUP,), carried) if query.groups else Contributions(grouped)
    if rows.entity is None or (query.figure.kind == "respondents" and not query.groups):
        return Contributions(grouped)
    values = (*of_group, *((VALUE,) if units else ()))
    return Contributions(grouped, options.rows, salt, values)


def _read(query: NoisyQuery, rows: ProtectedRows, units: Units | None) -> exp.Select:
    """Returns respondent, keys and value of each row of the source that satisfies the query's condition.

    An expression that fails for a row is NULL, because an error would reveal that there is such a row.
    """
    names = [] if rows.entity is None else [ENTITY]
    outputs = [] if rows.entity is None else [alias(column(rows.entity, SOURCE), ENTITY)]
    names += [key(index) for index in range(len(query.groups))]
    outputs += [alias(tried(tree), key(index)) for index, (_, tree) in enumerate(query.groups)]
    argument = query.figure.argument
    if argument is not None:
        value = tried(argument)
        outputs.append(alias(units.read(value) if units else value, _READ))
    read = select(*(outputs or [alias(literal(1), ENTITY)]), of=relation(rows.table, SOURCE))
    if query.condition is not None:
        read = extend(read, where=[tried(query.condition)])
    # Rows without a respondent are within no bound.
    if rows.entity is not None:
        read = extend(read, where=[is_not_null(column(rows.entity, SOURCE))])
    if argument is None:
        return read
    values = [alias(units.within(column(_READ)), VALUE)] if units else []
    shown_columns = [*map(column, names), *values] or [alias(literal(1), ENTITY)]
    return select(*shown_columns, of=_subquery(read), where=[is_not_null(column(_READ))])


def _subquery(rows: exp.Select) -> exp.Subquery:
    return subquery(rows, "row")


def _grouped(read: exp.Select, query: NoisyQuery, bins: Bins | None) -> exp.Select:
    """Returns the rows with the number of their group; rows without a public key are left out."""
    if not query.groups:
        return extend(read, alias(literal(0), GROUP))
    if bins is None:
        return read
    same = and_(*(identical(column(key(i), "row"), column(key(i), "bin")) for i in range(len(query.groups))))
    outputs = exp.Column(this=exp.Star(), table=exp.to_identifier("row", quoted=True)), column(GROUP, "bin")
    return select(*outputs, of=_subquery(read), joins=[inner_join(bins.relation("bin"), same)])


def _totals(rows: exp.Select, units: Units) -> exp.Select:
    """Returns each respondent's total in each group, clamped to low and high."""
    total = _within(f.sum(huge(column(VALUE))), literal(units.low), literal(units.high))
    names = [column(name) for name in (ENTITY, GROUP)]
    return select(*names, alias(cast(total, "BIGINT"), VALUE), of=_subquery(rows), group_by=names)


def figures_of_bins(rows: exp.Select, units: Units | None, *, centered: bool) -> exp.Select:
    """Returns the number of each bin that has rows, the number of these rows, and the sum of their values.

    Centered values are twice the value minus both ends, so they lie around 0.
    """
    values = column(VALUE) if units else literal(0)
    if units and centered:
        values = infix(infix(column(VALUE), "*", literal(2)), "-", literal(units.low + units.high))
    return select(column(GROUP), f.count(), f.sum(huge(values)), of=_subquery(rows), group_by=[column(GROUP)])


def values_of_bins(rows: exp.Select) -> exp.Select:
    """Returns the group and the value of each row."""
    return select(column(GROUP), column(VALUE), of=_subquery(rows))
