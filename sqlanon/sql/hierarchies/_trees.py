"""Small SQL trees that the builders share.

Each function uses an operand that is not in a tree yet, and copies an operand that is part of another tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.build import expressions
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, joined, paren
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.queries import subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.hierarchies.base import Check, refused

Branch = tuple[exp.Expr, exp.Expr]


def number(value: int) -> exp.Expr:
    """Returns an integer literal; DuckDB reads up to 2**127 - 1 exactly."""
    return exp.Literal.number(value)


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _part(tree: exp.Expr) -> exp.Expr:
    """Returns the tree itself, or a copy if it is part of another tree."""
    return tree if tree.parent is None else tree.copy()


def _operand(tree: exp.Expr) -> exp.Expr:
    """Puts an operator expression in parentheses, so it can be an operand."""
    bare = isinstance(tree, exp.Column | exp.Literal | exp.Func | exp.Paren)
    return _part(tree) if bare else paren(_part(tree))


def plus(left: exp.Expr, right: int) -> exp.Expr:
    """Returns a number plus a constant; a negative constant is subtracted."""
    if right == 0:
        return _part(left)
    kind = exp.Sub if right < 0 else exp.Add
    return kind(this=_operand(left), expression=number(abs(right)))


def add(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return infix(_operand(left), "+", _operand(right))


def subtract(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return infix(_operand(left), "-", _operand(right))


def product(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return infix(_operand(left), "*", _operand(right))


def times(left: exp.Expr, right: int) -> exp.Expr:
    return _part(left) if right == 1 else product(left, number(right))


def divide(left: exp.Expr, right: int) -> exp.Expr:
    """Returns the integer quotient, rounded toward zero as in engines."""
    return _part(left) if right == 1 else infix(_operand(left), "//", right)


def remainder(left: exp.Expr, right: int) -> exp.Expr:
    """Returns the remainder of `divide`, with the sign of the dividend."""
    return infix(_operand(left), "%", right)


def ratio(left: exp.Expr, right: int) -> exp.Expr:
    """Returns the floating-point quotient; `right` is never 0."""
    return infix(_operand(left), "/", right)


def floor_divide(left: exp.Expr, right: int) -> exp.Expr:
    """Returns the integer quotient, rounded toward minus infinity. It cannot overflow."""
    if right == 1:
        return _part(left)
    negative = below(remainder(left, right), 0)
    return subtract(divide(left, right), choose([(negative, number(1))], number(0)))


def equals(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return infix(_operand(left), "=", _operand(right))


def less(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return infix(_operand(left), "<", _operand(right))


def below(left: exp.Expr, right: int) -> exp.Expr:
    return less(left, number(right))


def at_least(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return infix(_operand(left), ">=", _operand(right))


def cast(tree: exp.Expr, to: str) -> exp.Expr:
    return expressions.cast(_part(tree), to)


def try_cast(tree: exp.Expr, to: str) -> exp.Expr:
    """Casts a value; returns NULL for a value that does not fit, because an error inside a view would print it."""
    return expressions.try_cast(_part(tree), to)


def function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Calls a function that has the same name on all engines, or that exists only on DuckDB."""
    return f.call(name, *(_part(argument) for argument in arguments))


def choose(branches: Sequence[Branch], otherwise: exp.Expr) -> exp.Expr:
    """Returns CASE WHEN ... ELSE ... END, or just `otherwise` if there is no branch."""
    if not branches:
        return _part(otherwise)
    return expressions.case(
        *((_part(condition), _part(value)) for condition, value in branches), otherwise=_part(otherwise)
    )


def join_text(*parts: exp.Expr) -> exp.Expr:
    """Concatenates texts; NULL if any part is NULL."""
    return joined(*map(_operand, parts))


def zero_padded(tree: exp.Expr, width: int) -> exp.Expr:
    """Returns a non-negative integer with at least `width` digits; lpad would cut longer numbers."""
    digits = cast(tree, "VARCHAR")
    missing = subtract(number(width), f.length(_part(digits)))
    return join_text(f.repeat(text("0"), missing), digits)


# SELECTs over the rows of the user's query, for the two builders of stored hierarchies.


def select(*columns: exp.Expr) -> exp.Select:
    return exp.Select(expressions=[tree.copy() for tree in columns])


def text_column(name: str) -> exp.Expr:
    """Returns a column as text, the form in which the catalog stores values and labels."""
    return cast(column(name), "VARCHAR")


def is_null(tree: exp.Expr) -> exp.Expr:
    return expressions.is_null(tree.copy())


def quoted(tree: exp.Expr) -> exp.Expr:
    """Returns a name for a message: in quotes, so that an empty name is visible, and NULL for NULL."""
    return choose([(is_null(tree), text("NULL"))], join_text(text("'"), tree, text("'")))


def union_all(parts: Sequence[exp.Select]) -> exp.Select:
    """Returns the rows of all parts as one SELECT."""
    if len(parts) == 1:
        return parts[0]
    names = [column(tree.alias) for tree in parts[0].expressions]
    return select(*names).from_(subquery(expressions.union_all(parts), "part"))


def long_rows(parts: Sequence[exp.Select]) -> exp.Select:
    """Returns rows (value VARCHAR, level INTEGER, label VARCHAR) from parts with these columns."""
    level = alias(cast(column("level"), "INTEGER"), "level")
    return select(column("value"), level, column("label")).from_(subquery(union_all(parts), "long"))


def no_rows(definition: HierarchyDefinition, rows: exp.Expr) -> Check:
    """Returns the check that the query returns rows, because a hierarchy without values covers nothing."""
    row = select(number(1)).from_(rows.copy())
    return Check(
        "no_rows",
        select(alias(text(definition.name), "name")).where(expressions.not_(expressions.exists(row))),
        f"hierarchy {definition.name}: its query returns no rows",
        "check the query by running it alone",
    )


def unique_values(name: str, above: str) -> str:
    """Returns the hint for a value with two parents (Springfield in two states), with the query's column names."""
    joined = f"{to_sql(column(name))} || ', ' || {to_sql(column(above))}"
    return f"only one may be above a value: make the values unique, with {joined}, in the hierarchy and in the source"


def needs_query(definition: HierarchyDefinition, kind: str, hint: str) -> None:
    """Raises PolicyError unless the definition has a query and no other argument."""
    if definition.arguments or definition.options:
        raise refused(definition, f"{kind} takes a query and nothing else", hint)
    if not (definition.query or "").strip():
        raise refused(definition, f"{kind} needs a query", hint)


# The numeric column types of DuckDB, and their values counted in whole units.
#
# An interval's bounds are multiples of one decimal unit (0.01 for widths 0.25 and 1).
# Rounded down to whole units a number of any type is an integer, and from there on
# intervals are integer arithmetic: exact, and nested because the widths are.


INTEGERS: dict[str, tuple[int, int]] = {
    f"{sign}{name}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64), ("HUGEINT", 128))
    for sign in ("", "U")
}
_FLOATS = ("FLOAT", "DOUBLE")

# Different decimals of at most 15 digits are different doubles, so up to this number
# comparing doubles is comparing the decimals that DuckDB prints for them.
DIGITS = 15

# The distance from 0 up to which intervals are computed: twice as much and one interval still fit the type.
_REACH = {"DOUBLE": 10**DIGITS, "BIGINT": 4 * 10**18, "HUGEINT": 10**37}


@dataclass(frozen=True)
class Units:
    """A column's value in whole units, rounded down.

    `count` is this integer; it is correct between `least` and `most`. `below(n)` and `at_least(n)` compare the value
    with n, and are correct for every n. `beneath` and `beyond` tell whether the type has values below `least` or above
    `most`. `special` has the conditions for infinite values and NaN, with their labels.
    """

    count: exp.Expr
    least: int
    most: int
    beneath: bool
    beyond: bool
    below: Callable[[int], exp.Expr]
    at_least: Callable[[int], exp.Expr]
    special: tuple[tuple[exp.Expr, str], ...] = ()


def is_numeric(column_type: str) -> bool:
    """Whether a column of this type has intervals. BIGNUM has none, because DuckDB lacks exact arithmetic for it."""
    return column_type in INTEGERS or column_type in _FLOATS or _decimal(column_type) is not None


def counted(value: exp.Expr, column_type: str, scale: int) -> Units:
    """Returns the number of units of 10**-scale in a value of a numeric column."""
    if column_type in _FLOATS:
        return _floating(value, column_type, scale)
    decimal = _decimal(column_type)
    if decimal is None:
        least, most = (end * 10**scale for end in INTEGERS[column_type])
        working = _working(most, scaled=scale > 0)
        return _exact(_integer(value, column_type, scale, working), least, most, working)
    precision, digits = decimal
    most = 10 ** (precision - digits + scale)
    working = _working(most, scaled=scale > 0)
    return _exact(_fixed(value, precision, digits, scale, working), -most, most, working)


def _decimal(column_type: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"DECIMAL\((\d+), ?(\d+)\)", column_type)
    return (int(match.group(1)), int(match.group(2))) if match else None


def _working(most: int, *, scaled: bool) -> str:
    """Returns the integer type of the count, which must have room for the scaled value."""
    return "BIGINT" if most <= (_REACH["BIGINT"] if scaled else 2**63) else "HUGEINT"


def _exact(count: exp.Expr, least: int, most: int, working: str) -> Units:
    reach = _REACH[working]
    return Units(
        count=count,
        least=max(least, -reach),
        most=min(most, reach),
        beneath=least < -reach,
        beyond=most > reach,
        below=lambda units: less(count, number(units)),
        at_least=lambda units: at_least(count, number(units)),
    )


def _integer(value: exp.Expr, column_type: str, scale: int, working: str) -> exp.Expr:
    if column_type == "UHUGEINT":
        # The upper half of UHUGEINT fits no HUGEINT. It is out of range, so it may count as the greatest HUGEINT.
        most = 2**127 - 1
        over = at_least(value, cast(text(str(most)), column_type))
        whole = choose([(over, number(most))], try_cast(value, working))
    else:
        whole = cast(value, working)
    return _scaled(whole, scale) if column_type.endswith("HUGEINT") else times(whole, 10**scale)


def _scaled(whole: exp.Expr, scale: int) -> exp.Expr:
    """Returns a HUGEINT times 10**scale; a number that would overflow becomes a number just out of range."""
    if scale == 0:
        return whole
    most = _REACH["HUGEINT"] // 10**scale + 1
    ends = [(at_least(whole, number(most)), number(most)), (below(whole, -most), number(-most))]
    return times(choose(ends, whole), 10**scale)


def _fixed(value: exp.Expr, precision: int, digits: int, scale: int, working: str) -> exp.Expr:
    """Returns the number of units of 10**-scale in a value of type DECIMAL(precision, digits), rounded down."""
    if scale == 0:
        return try_cast(f.floor(value), working)
    if precision + scale <= 38:
        # DuckDB makes the product of two narrow decimals no wider than 18 digits, and raises an error beyond.
        power = cast(number(10**scale), f"DECIMAL({scale + 1 if precision + scale < 18 else 38},0)")
        return try_cast(f.floor(product(value, power)), working)
    # No wider DECIMAL exists for the product. The text has all digits of the scale: without its point it is the number
    # of units.
    point_less = function("replace", cast(value, "VARCHAR"), text("."), text(""))
    whole = try_cast(point_less, "HUGEINT")
    return floor_divide(whole, 10 ** (digits - scale)) if digits >= scale else _scaled(whole, scale - digits)


def _floating(value: exp.Expr, column_type: str, scale: int) -> Units:
    """Returns the number of units of 10**-scale in a floating-point value, read as its shortest decimal: 0.3, not
    0.29999.

    A product with 10**scale is off by less than half a unit, so the count is the nearest whole number or the number
    before it. A comparison with the double nearest to that number decides.
    """
    double = value if column_type == "DOUBLE" else try_cast(cast(value, "VARCHAR"), "DOUBLE")

    def bound(units: exp.Expr) -> exp.Expr:
        return ratio(cast(units, "DOUBLE"), 10**scale) if scale else cast(units, "DOUBLE")

    if scale:
        nearest = try_cast(f.round(times(double, 10**scale)), "BIGINT")
        count = subtract(nearest, choose([(less(double, bound(nearest)), number(1))], number(0)))
    else:
        count = try_cast(f.floor(double), "BIGINT")
    infinite = [(equals(double, cast(text(name), "DOUBLE")), name) for name in ("Infinity", "-Infinity")]
    reach = _REACH["DOUBLE"]
    return Units(
        count=count,
        least=-reach,
        most=reach,
        beneath=True,
        beyond=True,
        below=lambda units: less(double, bound(number(units))),
        at_least=lambda units: at_least(double, bound(number(units))),
        special=((exp.IsNan(this=double.copy()), "NaN"), *infinite),
    )
