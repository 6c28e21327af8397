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
from sqlanon.sql.build.expressions import cast, huge, if_, infix, try_cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import Names, filled, filled_query, filled_select

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
        text = 'SELECT DISTINCT {names} FROM "row"'
        grouped = filled_select(text, tables={"row": grouped}, names={"names": [ENTITY, *of_group]})
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
    argument = query.figure.argument
    values = {key(index): tried(tree) for index, (_, tree) in enumerate(query.groups)}
    if rows.entity is not None:
        values = {ENTITY: column(rows.entity, SOURCE), **values}
    names = [*values]
    if argument is not None:
        values[_READ] = units.read(tried(argument)) if units else tried(argument)
    # Rows without a respondent are within no bound.
    read = filled_select(
        'SELECT $values AS "{names}" FROM "{source}" AS source WHERE $condition AND NOT {source.entity} IS NULL',
        names={
            **{"source": relation(rows.table), "entity": [] if rows.entity is None else [rows.entity]},
            "names": [*values] or [ENTITY],
        },
        values=[*values.values()] or [1],
        condition=[] if query.condition is None else [tried(query.condition)],
    )
    if argument is None:
        return read
    outputs = [column(name) for name in names] + ([alias(units.within(column(_READ)), VALUE)] if units else [])
    text = 'SELECT {outputs} FROM "row" WHERE NOT v IS NULL'
    return filled_select(text, tables={"row": read}, names={"outputs": outputs or [alias(literal(1), ENTITY)]})


def _grouped(read: exp.Select, query: NoisyQuery, bins: Bins | None) -> exp.Select:
    """Returns the rows with the number of their group; rows without a public key are left out."""
    if not query.groups:
        return extend(read, alias(literal(0), GROUP))
    if bins is None:
        return read
    text = 'SELECT "row".*, bin.g FROM "row" JOIN "{bins}" ON {row.keys} IS NOT DISTINCT FROM {bin.keys}'
    names: Names = {"bins": bins.relation("bin"), "keys": [key(index) for index in range(len(query.groups))]}
    return filled_select(text, tables={"row": read}, names=names)


def _totals(rows: exp.Select, units: Units) -> exp.Select:
    """Returns each respondent's total in each group, clamped to low and high."""
    total = _within(f.sum(huge(column(VALUE))), literal(units.low), literal(units.high))
    text = 'SELECT {keys}, CAST($total AS BIGINT) AS x FROM "row" GROUP BY {keys}'
    return filled_select(text, tables={"row": rows}, names={"keys": [ENTITY, GROUP]}, total=total)


def figures_of_bins(rows: exp.Select, units: Units | None, *, centered: bool) -> exp.Query:
    """Returns the number of each bin that has rows, the number of these rows, and the sum of their values.

    Centered values are twice the value minus both ends, so they lie around 0.
    """
    text = 'SELECT g, count(*), sum(CAST($value AS HUGEINT)) FROM "row" GROUP BY g'
    value = "x * 2 - $ends" if centered else "x"
    ends = units.low + units.high if units else 0
    return filled_query(text, tables={"row": rows}, value=filled(value, ends=ends) if units else 0)


def values_of_bins(rows: exp.Select) -> exp.Query:
    """Returns the group and the value of each row."""
    return filled_query('SELECT g, x FROM "row"', tables={"row": rows})
