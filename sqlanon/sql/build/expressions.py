"""The expressions that SQL trees are built from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import arguments, column, free, free_all, identifier, literal

_Relation = TypeVar("_Relation", bound=exp.Table | exp.Subquery)

_OPERATORS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "//": exp.IntDiv,
    "%": exp.Mod,
    "&": exp.BitwiseAnd,
    "|": exp.BitwiseOr,
    "<<": exp.BitwiseLeftShift,
    ">>": exp.BitwiseRightShift,
}


def infix(left: exp.Expr, operator: str, right: Any) -> exp.Binary:
    """Joins two operands by an operator, without parentheses.

    The operators of sqlglot, such as `a + b`, always copy their operands, and put an operand that is an operation in
    parentheses.
    """
    first, second = arguments(left, right)
    return _OPERATORS[operator](this=first, expression=second)


def identical(left: exp.Expr, right: exp.Expr) -> exp.NullSafeEQ:
    """Whether two values are equal or both NULL: IS NOT DISTINCT FROM."""
    first, second = arguments(left, right)
    return exp.NullSafeEQ(this=first, expression=second)


def different(left: exp.Expr, right: exp.Expr) -> exp.NullSafeNEQ:
    """Whether two values differ, or one of them is NULL: IS DISTINCT FROM."""
    first, second = arguments(left, right)
    return exp.NullSafeNEQ(this=first, expression=second)


def is_null(value: exp.Expr) -> exp.Is:
    return exp.Is(this=free(value), expression=exp.Null())


def is_not_null(value: exp.Expr) -> exp.Not:
    return not_(is_null(value))


def not_(condition: exp.Expr) -> exp.Not:
    """Negates a condition; the caller puts an AND or OR in parentheses."""
    return exp.Not(this=free(condition))


def and_(*conditions: exp.Expr | None) -> exp.Condition:
    """Joins one or more conditions by AND, with each AND or OR among them in parentheses; None is skipped."""
    return exp.and_(*free_all(each for each in conditions if each is not None), copy=False)


def or_(*conditions: exp.Expr | None) -> exp.Condition:
    """Joins one or more conditions by OR, with each AND or OR among them in parentheses; None is skipped."""
    return exp.or_(*free_all(each for each in conditions if each is not None), copy=False)


def exists(query: exp.Query) -> exp.Exists:
    """Whether a query has a row."""
    return exp.Exists(this=free(query))


def if_(condition: exp.Expr, value: Any, otherwise: Any = None) -> exp.Case:
    """Returns CASE WHEN condition THEN value ELSE otherwise END; the result of ELSE is NULL by default."""
    return case((condition, value), otherwise=otherwise)


def case(*branches: tuple[exp.Expr, Any], otherwise: Any = None) -> exp.Case:
    """Returns CASE with several branches (condition, value); the result of ELSE is NULL by default."""
    parts = arguments(*(part for branch in branches for part in branch), otherwise)
    ifs = [exp.If(this=condition, true=value) for condition, value in zip(parts[:-1:2], parts[1::2], strict=True)]
    return exp.Case(ifs=ifs, default=None if otherwise is None else parts[-1])


def data_type(kind: str | exp.DataType) -> exp.DataType:
    """Returns a new tree of a DuckDB type."""
    if not isinstance(kind, str):
        return free(kind)
    known = _data_type(kind)
    # Most types are a name alone, and making one takes a third of the time of a copy.
    return (
        exp.DataType(**known.args)
        if isinstance(known.this, exp.DataType.Type) and not known.expressions
        else known.copy()
    )


@lru_cache(maxsize=256)
def _data_type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect="duckdb")


def cast(value: exp.Expr, kind: str | exp.DataType) -> exp.Cast:
    """Casts a value to a DuckDB type."""
    return exp.Cast(this=free(value), to=data_type(kind))


def try_cast(value: exp.Expr, kind: str | exp.DataType) -> exp.TryCast:
    """Casts a value to a DuckDB type; NULL for a value that does not fit."""
    return exp.TryCast(this=free(value), to=data_type(kind))


def as_text(value: exp.Expr) -> exp.Cast:
    """Casts a value to VARCHAR."""
    return exp.Cast(this=free(value), to=data_type("VARCHAR"))


def window(
    function: exp.Expr,
    partition_by: Sequence[exp.Expr] | None = None,
    order: exp.Order | None = None,
    frame: exp.WindowSpec | None = None,
) -> exp.Window:
    """Returns a function OVER (PARTITION BY ... ORDER BY ... frame)."""
    return exp.Window(
        this=free(function),
        partition_by=free_all(partition_by) if partition_by else None,
        order=None if order is None else free(order),
        spec=None if frame is None else free(frame),
    )


def filtered(aggregate: exp.Expr, condition: exp.Expr) -> exp.Filter:
    """Returns an aggregate with FILTER (WHERE condition)."""
    return exp.Filter(this=free(aggregate), expression=exp.Where(this=free(condition)))


def order_by(*keys: exp.Expr) -> exp.Order:
    return exp.Order(expressions=free_all(keys))


def ascending(value: exp.Expr) -> exp.Ordered:
    """Returns an ascending sort key with NULLs last."""
    return exp.Ordered(this=free(value), nulls_first=False)


def descending(value: exp.Expr) -> exp.Ordered:
    """Returns a descending sort key with NULLs last."""
    return exp.Ordered(this=free(value), desc=True, nulls_first=False)


def big(tree: exp.Expr) -> exp.Expr:
    """Casts a value to BIGINT."""
    return exp.Cast(this=free(tree), to=data_type("BIGINT"))


def huge(tree: exp.Expr) -> exp.Expr:
    """Casts a value to HUGEINT."""
    return exp.Cast(this=free(tree), to=data_type("HUGEINT"))


def numbered(values: Sequence[exp.Expr]) -> exp.Expr:
    """Returns dense_rank() - 1 over some values, which gives equal combinations the same number; NULL is a value."""
    order = [part for value in values for part in (ascending(is_null(value)), ascending(value))]
    return big(window(f.dense_rank(), order=order_by(*order)) - literal(1))


def in_utc(name: str, kind: str, of: str | None = None) -> exp.Expr:
    """Returns a column; a TIMESTAMP WITH TIME ZONE is converted to UTC, so that the session's time zone has no
    effect.
    """
    return f.call("timezone", "UTC", column(name, of)) if kind == "TIMESTAMP WITH TIME ZONE" else column(name, of)


def integer(tree: exp.Expr) -> exp.Expr:
    """Casts a value to INTEGER."""
    return exp.Cast(this=free(tree), to=data_type("INTEGER"))


def real(number: float) -> exp.Expr:
    """Returns a float as a DOUBLE literal with all its digits."""
    return exp.Cast(this=exp.Literal.number(repr(number)), to=data_type("DOUBLE"))


def paren(tree: exp.Expr) -> exp.Paren:
    return exp.Paren(this=free(tree))


def or_zero(tree: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=free(tree), expressions=[literal(0)])


def total(part: exp.Expr) -> exp.Expr:
    """Returns sum(part) as BIGINT."""
    return big(exp.Sum(this=free(part)))


def added(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Returns the sum of one or more expressions."""
    summed, *rest = free_all(parts)
    for part in rest:
        summed = exp.Add(this=summed, expression=part)
    return summed


def same(name: str, first: str, second: str) -> exp.Expr:
    """Returns first.name = second.name."""
    return exp.EQ(this=column(name, first), expression=column(name, second))


def digest(values: Sequence[exp.Expr]) -> exp.Expr:
    """Returns a 64-bit digest of a tuple of values; equal tuples have equal digests."""
    return exp.Anonymous(this="hash", expressions=free_all(values))


def joined(*parts: exp.Expr) -> exp.Expr:
    """Concatenates one or more texts."""
    text, *rest = free_all(parts)
    for part in rest:
        text = exp.DPipe(this=text, expression=part, safe=False)
    return text


def entry(name: str, value: exp.Expr) -> exp.PropertyEQ:
    """Returns name := value, for a struct or the arguments of a call."""
    return exp.PropertyEQ(this=identifier(name), expression=free(value))


def named(table: _Relation, name: str) -> _Relation:
    """Returns a table or subquery under a name. A table is copied, because the caller may use it under another name."""
    relation = table.copy() if isinstance(table, exp.Table) else free(table)
    relation.set("alias", exp.TableAlias(this=identifier(name)))
    return relation


def row_alias(name: str, columns: Sequence[str]) -> exp.TableAlias:
    """Returns an alias for a relation and its columns, name(column, ...)."""
    return exp.TableAlias(this=identifier(name), columns=[identifier(column_name) for column_name in columns])


def into(table: exp.Table, columns: Sequence[str]) -> exp.Schema:
    """Returns the target of an INSERT: a table and its columns."""
    return exp.Schema(this=free(table), expressions=[identifier(name) for name in columns])


def insert(target: exp.Table | exp.Schema, rows: exp.Query | exp.Values) -> exp.Insert:
    """Returns INSERT INTO a table, or some of its columns, with a query's rows."""
    return exp.Insert(this=free(target), expression=free(rows))


def _without_steps(query: exp.Query) -> exp.Query:
    """Returns a query of equal rows that has no WITH of its own."""
    if not query.ctes:
        return query
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=named(exp.Subquery(this=query), "part")))


def union_all(queries: Iterable[exp.Query], *, distinct: bool = False) -> exp.Query:
    """Returns the rows of one or more queries; if `distinct`, each different row once."""
    first, *others = free_all(queries)
    if not others:
        return first
    # WITH belongs to a whole UNION, unless it is that of the first SELECT.
    rows = _without_steps(first) if isinstance(first, exp.SetOperation) else first
    others = [_without_steps(query) for query in others]
    for other in others:
        rows = exp.union(rows, other, distinct=distinct, copy=False)
    return rows


def whole_partition() -> exp.WindowSpec:
    """Returns the frame of all rows of a partition, for a window with an order."""
    return exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="UNBOUNDED", end_side="FOLLOWING")


def up_to_here() -> exp.WindowSpec:
    """Returns the frame of a running sum: all rows up to the current one."""
    return exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")


# Text compared byte by byte, whatever collation a session or a column has.
#
# A comparison takes the collation of its operands, and an explicit COLLATE overrides the
# collation of a column or a session. So it is written once, where a text is read: all
# expressions of the text inherit it. Published text has none, because tables made
# from it, and comparisons with it, would inherit it, too.


_FIELD = "text"
_BINARY, _ROW, _EXTRACT = "binary", "row", "struct_extract"


def by_bytes(value: exp.Expr) -> exp.Expr:
    """Casts a value to text with the binary collation."""
    text = as_text(value)
    return exp.Collate(this=text, expression=identifier(_BINARY))


def without_collation(text: exp.Expr) -> exp.Expr:
    """Returns the text without a collation, like its type; a plain cast would keep the collation of the text."""
    row = f.call(_ROW, text)
    kind = exp.DataType.build(f"STRUCT({_FIELD} VARCHAR)", dialect="duckdb")
    return f.call(_EXTRACT, exp.Cast(this=row, to=kind), exp.Literal.string(_FIELD))


def text_by_bytes(tree: exp.Expr) -> exp.Expr | None:
    """Returns the argument of `by_bytes`; None for another tree."""
    is_binary = isinstance(tree, exp.Collate) and tree.expression.name == _BINARY
    return tree.this if is_binary else None


def text_without_collation(tree: exp.Expr) -> exp.Expr | None:
    """Returns the argument of `without_collation`; None for another tree."""
    if not (isinstance(tree, exp.Anonymous) and tree.name == _EXTRACT and isinstance(tree.expressions[0], exp.Cast)):
        return None
    row = tree.expressions[0].this
    is_own = isinstance(row, exp.Anonymous) and row.name == _ROW and tree.expressions[1].name == _FIELD
    return row.expressions[0] if is_own else None
