"""Small pieces of SQL trees that the builders share. Every piece copies its operands."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

__all__ = [
    "add",
    "at_least",
    "below",
    "cast",
    "choose",
    "divide",
    "equals",
    "floor_divide",
    "function",
    "join_text",
    "less",
    "number",
    "plus",
    "product",
    "ratio",
    "remainder",
    "subtract",
    "text",
    "times",
    "try_cast",
    "zero_padded",
]

Branch = tuple[exp.Expr, exp.Expr]


def number(value: int) -> exp.Expr:
    """An integer literal; DuckDB reads up to 2**127 - 1 exactly."""
    return exp.Literal.number(value)


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _operand(tree: exp.Expr) -> exp.Expr:
    """A copy that can stand beside any operator."""
    bare = isinstance(tree, exp.Column | exp.Literal | exp.Func | exp.Paren)
    return tree.copy() if bare else exp.Paren(this=tree.copy())


def plus(left: exp.Expr, right: int) -> exp.Expr:
    """A number plus a constant, as the reader would write it."""
    if right == 0:
        return left.copy()
    kind = exp.Sub if right < 0 else exp.Add
    return kind(this=_operand(left), expression=number(abs(right)))


def add(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=_operand(left), expression=_operand(right))


def subtract(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=_operand(left), expression=_operand(right))


def product(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Mul(this=_operand(left), expression=_operand(right))


def times(left: exp.Expr, right: int) -> exp.Expr:
    return left.copy() if right == 1 else product(left, number(right))


def divide(left: exp.Expr, right: int) -> exp.Expr:
    """Integer division, toward zero as engines do it."""
    return left.copy() if right == 1 else exp.IntDiv(this=_operand(left), expression=number(right))


def remainder(left: exp.Expr, right: int) -> exp.Expr:
    """What `divide` leaves, with the sign of the dividend."""
    return exp.Mod(this=_operand(left), expression=number(right))


def ratio(left: exp.Expr, right: int) -> exp.Expr:
    """Floating-point division; `right` is never 0."""
    return exp.Div(this=_operand(left), expression=number(right), typed=False, safe=False)


def floor_divide(left: exp.Expr, right: int) -> exp.Expr:
    """Integer division toward minus infinity. It cannot overflow."""
    if right == 1:
        return left.copy()
    negative = below(remainder(left, right), 0)
    return subtract(divide(left, right), choose([(negative, number(1))], number(0)))


def equals(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.EQ(this=_operand(left), expression=_operand(right))


def less(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.LT(this=_operand(left), expression=_operand(right))


def below(left: exp.Expr, right: int) -> exp.Expr:
    return less(left, number(right))


def at_least(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.GTE(this=_operand(left), expression=_operand(right))


def cast(tree: exp.Expr, to: str) -> exp.Expr:
    return exp.Cast(this=tree.copy(), to=exp.DataType.build(to, dialect="duckdb"))


def try_cast(tree: exp.Expr, to: str) -> exp.Expr:
    """NULL where the value does not fit, since an error inside a view prints the value."""
    return exp.TryCast(this=tree.copy(), to=exp.DataType.build(to, dialect="duckdb"))


def function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call that every engine spells the same, or that only DuckDB has."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def choose(branches: Sequence[Branch], otherwise: exp.Expr) -> exp.Expr:
    """CASE WHEN ... ELSE ... END, or just the last part if there is no branch."""
    if not branches:
        return otherwise.copy()
    case = exp.Case(default=otherwise.copy())
    for condition, result in branches:
        case.append("ifs", exp.If(this=condition.copy(), true=result.copy()))
    return case


def join_text(*parts: exp.Expr) -> exp.Expr:
    """The parts one after the other; NULL if one of them is."""
    joined = _operand(parts[0])
    for part in parts[1:]:
        joined = exp.DPipe(this=joined, expression=_operand(part))
    return joined


def zero_padded(tree: exp.Expr, width: int) -> exp.Expr:
    """A non-negative integer in at least `width` digits (lpad would cut the longer ones)."""
    digits = cast(tree, "VARCHAR")
    missing = subtract(number(width), exp.Length(this=digits.copy()))
    return join_text(exp.Repeat(this=text("0"), times=missing), digits)
