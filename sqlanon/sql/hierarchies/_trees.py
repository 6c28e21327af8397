"""Small pieces of SQL trees that the builders share.

A piece takes an operand that is nowhere yet, and copies one that is part of another piece.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sql.build import expressions
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, joined, paren

Branch = tuple[exp.Expr, exp.Expr]


def number(value: int) -> exp.Expr:
    """An integer literal; DuckDB reads up to 2**127 - 1 exactly."""
    return exp.Literal.number(value)


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _part(tree: exp.Expr) -> exp.Expr:
    """The tree, or a copy of one that stands in another tree."""
    return tree if tree.parent is None else tree.copy()


def _operand(tree: exp.Expr) -> exp.Expr:
    """The tree as it can stand beside any operator."""
    bare = isinstance(tree, exp.Column | exp.Literal | exp.Func | exp.Paren)
    return _part(tree) if bare else paren(_part(tree))


def plus(left: exp.Expr, right: int) -> exp.Expr:
    """A number plus a constant, as the reader would write it."""
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
    """Integer division, toward zero as engines do it."""
    return _part(left) if right == 1 else infix(_operand(left), "//", right)


def remainder(left: exp.Expr, right: int) -> exp.Expr:
    """What `divide` leaves, with the sign of the dividend."""
    return infix(_operand(left), "%", right)


def ratio(left: exp.Expr, right: int) -> exp.Expr:
    """Floating-point division; `right` is never 0."""
    return infix(_operand(left), "/", right)


def floor_divide(left: exp.Expr, right: int) -> exp.Expr:
    """Integer division toward minus infinity. It cannot overflow."""
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
    """The value as this type, NULL where it does not fit, since an error inside a view prints the value."""
    return expressions.try_cast(_part(tree), to)


def function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call that every engine spells the same, or that only DuckDB has."""
    return f.call(name, *(_part(argument) for argument in arguments))


def choose(branches: Sequence[Branch], otherwise: exp.Expr) -> exp.Expr:
    """CASE WHEN ... ELSE ... END, or just `otherwise` if there is no branch."""
    if not branches:
        return _part(otherwise)
    return expressions.case(
        *((_part(condition), _part(value)) for condition, value in branches), otherwise=_part(otherwise)
    )


def join_text(*parts: exp.Expr) -> exp.Expr:
    """The parts one after the other; NULL if one of them is."""
    return joined(*map(_operand, parts))


def zero_padded(tree: exp.Expr, width: int) -> exp.Expr:
    """A non-negative integer in at least `width` digits (lpad would cut the longer ones)."""
    digits = cast(tree, "VARCHAR")
    missing = subtract(number(width), f.length(_part(digits)))
    return join_text(f.repeat(text("0"), missing), digits)
