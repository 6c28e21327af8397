"""Calls of SQL functions, each under its name in SQL: `from sqlanon.sql.build import functions as f`.

Arguments are trees, or plain numbers, texts and truths, which become literals. A tree that has a parent is copied.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from sqlanon.sql.build.names import arguments, free, free_all, identifier


def repeat(text: exp.Expr, times: exp.Expr) -> exp.Repeat:
    """Returns the text repeated this number of times."""
    first, second = arguments(text, times)
    return exp.Repeat(this=first, times=second)


def call(name: str, *values: Any) -> exp.Anonymous:
    """Calls a function by its name as written, whether sqlglot knows it or not."""
    return exp.Anonymous(this=name, expressions=arguments(*values))


def built_in(name: str, *values: Any) -> exp.Dot:
    """Calls DuckDB's own function by its full name, which no macro can replace."""
    return exp.Dot.build([identifier("system"), identifier("main"), call(name, *values)])


def count(value: exp.Expr | None = None) -> exp.Count:
    """Counts rows, or the rows in which a value is not NULL."""
    return exp.Count(this=exp.Star() if value is None else free(value))


def count_distinct(*values: exp.Expr) -> exp.Count:
    """Counts the distinct values other than NULL."""
    return exp.Count(this=exp.Distinct(expressions=free_all(values)))


def sum(value: exp.Expr) -> exp.Sum:
    return exp.Sum(this=free(value))


def min(value: exp.Expr) -> exp.Min:
    return exp.Min(this=free(value))


def max(value: exp.Expr) -> exp.Max:
    return exp.Max(this=free(value))


def any_value(value: exp.Expr) -> exp.AnyValue:
    return exp.AnyValue(this=free(value))


def approx_count_distinct(value: exp.Expr) -> exp.ApproxDistinct:
    """Estimates the number of distinct values other than NULL."""
    return exp.ApproxDistinct(this=free(value))


def bit_or(bits: exp.Expr) -> exp.BitwiseOrAgg:
    """Aggregates bits by OR."""
    return exp.BitwiseOrAgg(this=free(bits))


def bool_and(condition: exp.Expr) -> exp.LogicalAnd:
    return exp.LogicalAnd(this=free(condition))


def bool_or(condition: exp.Expr) -> exp.LogicalOr:
    return exp.LogicalOr(this=free(condition))


def row_number() -> exp.RowNumber:
    return exp.RowNumber()


def dense_rank() -> exp.DenseRank:
    return exp.DenseRank()


def abs(value: exp.Expr) -> exp.Abs:
    return exp.Abs(this=free(value))


def floor(value: exp.Expr) -> exp.Floor:
    return exp.Floor(this=free(value))


def length(text: exp.Expr) -> exp.Length:
    return exp.Length(this=free(text))


def list_(value: exp.Expr) -> exp.ArrayAgg:
    """Collects a group's values in a list."""
    return exp.ArrayAgg(this=free(value))


def lower(text: exp.Expr) -> exp.Lower:
    return exp.Lower(this=free(text))


def ln(value: exp.Expr) -> exp.Ln:
    return exp.Ln(this=free(value))


def round(value: exp.Expr) -> exp.Round:
    return exp.Round(this=free(value))


def left(text: exp.Expr, length: Any) -> exp.Left:
    first, second = arguments(text, length)
    return exp.Left(this=first, expression=second)


def right(text: exp.Expr, length: Any) -> exp.Right:
    first, second = arguments(text, length)
    return exp.Right(this=first, expression=second)


def coalesce(value: exp.Expr, *others: Any) -> exp.Coalesce:
    """Returns the first of the values that is not NULL."""
    first, *rest = arguments(value, *others)
    return exp.Coalesce(this=first, expressions=rest)


def nullif(value: exp.Expr, other: Any) -> exp.Nullif:
    """Returns the value, or NULL if it equals the other value."""
    first, second = arguments(value, other)
    return exp.Nullif(this=first, expression=second)


def least(value: exp.Expr, *others: Any, ignore_nulls: bool = False) -> exp.Least:
    """Returns the smallest value; NULL if any value is NULL, unless `ignore_nulls`."""
    first, *rest = arguments(value, *others)
    return exp.Least(this=first, expressions=rest, ignore_nulls=ignore_nulls)


def greatest(value: exp.Expr, *others: Any, ignore_nulls: bool = False) -> exp.Greatest:
    """Returns the largest value; NULL if any value is NULL, unless `ignore_nulls`."""
    first, *rest = arguments(value, *others)
    return exp.Greatest(this=first, expressions=rest, ignore_nulls=ignore_nulls)


def try_(value: exp.Expr) -> exp.Try:
    """Returns TRY(value): NULL if the computation of the value fails."""
    return exp.Try(this=free(value))


def unnest(values: exp.Expr) -> exp.Explode:
    """Expands a list into rows."""
    return exp.Explode(this=free(values))
