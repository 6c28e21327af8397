"""The small parts that SQL trees are put together from."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqlgen.build.names import column, literal

__all__ = [
    "added",
    "big",
    "digest",
    "huge",
    "integer",
    "joined",
    "or_zero",
    "paren",
    "real",
    "same",
    "total",
    "union_all",
    "up_to_here",
]


def big(tree: exp.Expr) -> exp.Expr:
    """As BIGINT."""
    return exp.Cast(this=tree, to=exp.DataType.build("BIGINT"))


def huge(tree: exp.Expr) -> exp.Expr:
    """As HUGEINT."""
    return exp.Cast(this=tree, to=exp.DataType.build("HUGEINT", dialect="duckdb"))


def integer(tree: exp.Expr) -> exp.Expr:
    """As INTEGER."""
    return exp.Cast(this=tree, to=exp.DataType.build("INTEGER"))


def real(number: float) -> exp.Expr:
    """A number as DOUBLE, to its last digit."""
    return exp.Cast(this=exp.Literal.number(repr(number)), to=exp.DataType.build("DOUBLE"))


def paren(tree: exp.Expr) -> exp.Paren:
    return exp.Paren(this=tree)


def or_zero(tree: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=tree, expressions=[literal(0)])


def total(part: exp.Expr) -> exp.Expr:
    """The sum over a group, as BIGINT."""
    return big(exp.Sum(this=part))


def added(parts: Sequence[exp.Expr]) -> exp.Expr:
    """One or more parts, added up."""
    query = parts[0]
    for part in parts[1:]:
        query = exp.Add(this=query, expression=part)
    return query


def same(name: str, one: str, other: str) -> exp.Expr:
    """Whether two relations have the same in a column."""
    return exp.EQ(this=column(name, one), expression=column(name, other))


def digest(values: Sequence[exp.Expr]) -> exp.Expr:
    """64 bits of a tuple of values: equal tuples have equal ones."""
    return exp.Anonymous(this="hash", expressions=list(values))


def joined(*parts: exp.Expr) -> exp.Expr:
    """One or more texts, one behind the other."""
    text = parts[0]
    for part in parts[1:]:
        text = exp.DPipe(this=text, expression=part, safe=False)
    return text


def union_all(queries: Sequence[exp.Query], *, distinct: bool = False) -> exp.Query:
    """The rows of one or more queries, each once if `distinct`."""
    every = queries[0]
    for other in queries[1:]:
        every = exp.union(every, other, distinct=distinct, copy=False)
    return every


def up_to_here() -> exp.WindowSpec:
    """The frame of a running sum: the rows up to this one."""
    return exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
