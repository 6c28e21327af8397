"""Allow-list of functions and operators in estimated queries; anything else is refused."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.estimates.query.parse import refused
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import if_, is_null, or_
from sqlanon.sql.build.names import literal
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import sql_file

# Values, comparisons, logic and arithmetic, and deterministic functions of one row.
_KNOWN: tuple[type[exp.Expr], ...] = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.DataType, exp.DataTypeParam, exp.Interval),
    *(exp.Var, exp.Paren, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.Escape),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Cast, exp.TryCast),
    *(exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Greatest, exp.Least),
    *(exp.Lower, exp.Upper, exp.Length, exp.Left, exp.Right, exp.Substring, exp.Trim, exp.StartsWith, exp.EndsWith),
    *(exp.Extract, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.TimestampTrunc, exp.DateTrunc),
)
_COMPARES = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_COMPARISONS = (*_COMPARES, exp.Between, exp.In, exp.Like)
_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren)
_WILDCARDS = "%_"


def require_known(tree: exp.Expr) -> None:
    """Raises PolicyError, which names the node, for a function or operator that is not on the allow-list."""
    for node in tree.walk():
        if type(node) not in _KNOWN:
            raise refused(node, "cannot be estimated", "compare columns with constants, or compute less")


def is_ordered(tree: exp.Expr, relation: str) -> bool:
    """Whether a condition consists of comparisons of this relation's leaf with constants, in the order of values.

    The truth of such a condition does not change between two neighboring constants. LIKE is allowed if its pattern is a
    prefix: texts with a common prefix are consecutive.
    """
    if isinstance(tree, exp.Cast) and isinstance(tree.this, exp.Paren) and tree.to.is_type("boolean"):
        return is_ordered(tree.this, relation)
    if isinstance(tree, _LOGIC):
        parts = [part for part in (tree.args.get("this"), tree.args.get("expression")) if part is not None]
        return all(is_ordered(part, relation) for part in parts)
    return not _reads(tree, relation) or _compares_leaf(tree)


def _compares_leaf(tree: exp.Expr) -> bool:
    """Whether a node compares a leaf with NULL, or by order with an expression that reads no column."""
    if isinstance(tree, exp.Is):
        return _is_leaf(tree.this) and isinstance(tree.expression, exp.Null)
    if isinstance(tree, exp.Between):
        return _is_leaf(tree.this) and not any(_reads_any(tree.args[end]) for end in ("low", "high"))
    if isinstance(tree, exp.In):
        plain = not any(tree.args.get(name) for name in ("query", "unnest", "field"))
        return plain and _is_leaf(tree.this) and not any(map(_reads_any, tree.expressions))
    if isinstance(tree, exp.Like):
        return _is_leaf(tree.this) and like_prefix(tree) is not None
    if isinstance(tree, _COMPARES):
        sides = (tree.left, tree.right)
        return any(_is_leaf(a) and not _reads_any(b) for a, b in (sides, sides[::-1]))
    return False


def like_prefix(tree: exp.Like) -> str | None:
    """Returns the prefix of LIKE 'prefix%'; None for any other pattern."""
    pattern = tree.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string and pattern.this.endswith("%")):
        return None
    prefix = str(pattern.this[:-1])
    return prefix if prefix and not set(prefix) & set(_WILDCARDS) else None


def _reads(tree: exp.Expr, relation: str) -> bool:
    return any(part.table == relation for part in tree.find_all(exp.Column))


def _reads_any(tree: exp.Expr) -> bool:
    return tree.find(exp.Column) is not None


def _is_leaf(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Column) or (isinstance(tree, exp.Paren) and _is_leaf(tree.this))


def constants_of(tree: exp.Expr, relation: str) -> list[exp.Expr]:
    """Returns the expressions with which a condition that `is_ordered` compares a relation's leaves."""
    compared = (node for node in tree.walk() if isinstance(node, _COMPARISONS) and _reads(node, relation))
    return [constant for node in compared for constant in _compared_with(node)]


def _compared_with(node: exp.Expr) -> list[exp.Expr]:
    """Returns the operands with which a comparison compares a leaf."""
    if isinstance(node, exp.Between):
        return [node.args["low"], node.args["high"]]
    if isinstance(node, exp.In):
        return list(node.expressions)
    if isinstance(node, exp.Like):
        prefix = like_prefix(node) or ""
        return [exp.Literal.string(end) for end in (prefix, behind(prefix)) if end is not None]
    assert isinstance(node, exp.Binary)
    return [side for side in (node.left, node.right) if not _reads_any(side)]


def behind(prefix: str) -> str | None:
    """Returns the smallest text that is greater than all texts with this prefix; None if there is no such text."""
    while prefix:
        last = ord(prefix[-1]) + 1
        # Code points from D800 to DFFF are not characters.
        last = 0xE000 if last == 0xD800 else last
        if last <= 0x10FFFF:
            return prefix[:-1] + chr(last)
        prefix = prefix[:-1]
    return None


# Checks that DuckDB can evaluate each part of a query, because its own error would not name the part that fails.
#
# A part that fails for a value is NULL there. A query has an answer only if the source does not have that value, or if
# the part does not matter in its rows; then NULL is as good as true or false.


# A part of the query as it was written, and the expression that it is bound to.
Part = tuple[exp.Expr, exp.Expr]


def tried(part: exp.Expr) -> exp.Expr:
    """Wraps a part in TRY: it is NULL for a row for which it fails."""
    return f.try_(_by_itself(part))


# Types whose comparison with a whole number of at most 18 digits casts neither side to a narrower type.
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_date(text: str) -> bool:
    """Whether a text is a date of the calendar as year, month and day."""
    with suppress(ValueError):
        return _DATE.fullmatch(text) is not None and datetime.date.fromisoformat(text).year > 0
    return False


def never_fails(tree: exp.Expr, kinds: Mapping[tuple[str, str], str]) -> bool:
    """Whether a condition cannot fail for any row: it compares columns with constants that need no cast of a value.

    `kinds` are the types of the columns, by relation and name.
    """
    if isinstance(tree, exp.Cast):
        return bool(tree.to.is_type("boolean")) and isinstance(tree.this, exp.Paren) and never_fails(tree.this, kinds)
    if isinstance(tree, _LOGIC):
        parts = [part for part in (tree.args.get("this"), tree.args.get("expression")) if part is not None]
        return all(never_fails(part, kinds) for part in parts)
    if isinstance(tree, exp.Is):
        return isinstance(tree.this, exp.Column) and isinstance(tree.expression, exp.Null)
    if not isinstance(tree, (*_COMPARES, exp.Between, exp.In)) or not isinstance(tree.this, exp.Column):
        return False
    if isinstance(tree, exp.In) and any(tree.args.get(name) for name in ("query", "unnest", "field")):
        return False
    kind = kinds.get((tree.this.table, tree.this.name), "")
    constants = [tree.expression] if isinstance(tree, _COMPARES) else _compared_with(tree)
    return all(_is_comparable(constant, kind) for constant in constants)


def _is_comparable(constant: exp.Expr, kind: str) -> bool:
    """Whether a constant is a literal that is compared with values of a type as they are."""
    if isinstance(constant, exp.Neg):
        return not constant.this.is_string and _is_comparable(constant.this, kind)
    if not isinstance(constant, exp.Literal):
        return False
    if constant.is_string:
        return kind == "VARCHAR" or (kind == "DATE" and is_date(constant.this))
    return kind in _WHOLE and _WHOLE_NUMBER.fullmatch(constant.this) is not None


def _by_itself(part: exp.Expr) -> exp.Expr:
    """Wraps a part in CASE, so that DuckDB evaluates it inside TRY even if another expression shares it."""
    first_column = part.find(exp.Column)
    if first_column is None or part is first_column:
        return part.copy()
    null = is_null(first_column)
    always = or_(null, exp.not_(null))
    return if_(always, part)


def require_bindable(engine: Engine, rows: exp.Select, parts: Iterable[Part]) -> None:
    """Raises PolicyError, which names the part, for a part that DuckDB cannot bind, such as a function of another type.

    `rows` is a SELECT without columns FROM the relations that the parts read.
    """
    all_parts = list(parts)
    if not all_parts or _message(engine, rows, [part for _, part in all_parts]) is None:
        return
    for written, part in all_parts:
        if (message := _message(engine, rows, [part])) is not None:
            raise refused(written, f"DuckDB: {message}")


def require_evaluable(engine: Engine, rows: exp.Select, parts: Sequence[Part], *, only_if_all: bool = False) -> None:
    """Raises PolicyError with the first part that fails for some row, or, with `only_if_all`, for all rows."""
    if not parts:
        return
    row_count: exp.Expr = f.count()
    counts: list[exp.Expr] = []
    for _, part in parts:
        # TRY is NULL where the part fails, and a list with NULL in it where the part is NULL.
        failed = is_null(f.try_(exp.Array(expressions=[_by_itself(part)])))
        counts.append(exp.func("count_if", failed))
    least = f.greatest(row_count, 1, ignore_nulls=True) if only_if_all else literal(1)
    failing = rows.copy().select(*((failures >= least) for failures in counts))
    for (written, _), fails in zip(parts, engine.rows(failing)[0], strict=True):
        if fails:
            raise refused(
                written,
                "cannot be evaluated for the values that occur",
                "write TRY_CAST, or compute with a wider type: CAST(age AS BIGINT) * 1000",
            )


def _message(engine: Engine, rows: exp.Select, parts: Sequence[exp.Expr]) -> str | None:
    query = rows.copy().select(*(part.copy() for part in parts))
    ((message,),) = engine.rows(sql_file("estimates", "bind"), [to_sql(query)])
    return None if message is None else str(message).splitlines()[0]
