"""A table of ranges, as (alpha_i, beta_i)-closeness reads it: how large a share of a class each value may have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PolicyError
from sqlanon.sources.catalog_entries import find_entry, find_relation, require_nothing_temporary
from sqlanon.sources.collation import require_binary_text
from sqlanon.sources.column_types import without_enums
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, is_not_null, is_null, try_cast
from sqlanon.sql.build.names import alias, column, literal, relation

_COLUMNS = ("value", "low", "high")
_HINT = "its columns are value, low and high: CREATE TABLE ranges (value VARCHAR, low DOUBLE, high DOUBLE)"
# Types of which the text of a value tells exactly which number is meant.
_EXACT = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|DECIMAL\(.*\)")
# A column that holds nothing but NULL may have the type "NULL", quotes included.
_TEXT = ("VARCHAR", '"NULL"')
_MAX_VALUES_SHOWN = 10


def bind_ranges(
    engine: Engine, name: QualifiedName, attribute: BoundAttribute, scratch: Scratch, called: str
) -> QualifiedName:
    """A temporary table with the ranges of one sensitive column: value in its published type, low and high as DOUBLE.

    NULL is a value; as a bound it means that there is none. Raises PolicyError, naming
    the values, unless every value is one of the column's type and stands once, every
    bound is a number from 0 to 1, and no low is above its high.
    """
    what = f"{called}: the ranges {name}"
    relation_of_ranges = (find_entry(engine, name) if len(name.parts) > 1 else None) or find_relation(engine, name)
    if relation_of_ranges is None:
        raise PolicyError(f"{what}: there is no such table or view", hint=_HINT)
    require_nothing_temporary(engine, relation_of_ranges)
    rows = relation(relation_of_ranges[1])
    try:
        columns = engine.columns(exp.select(exp.Star()).from_(rows))
        value, low, high = _columns(columns, what)
        require_binary_text(engine, relation_of_ranges[1], [value, low, high], called=str(name))
        # Read once: a view may answer differently each time.
        table = relation(scratch.table("range", _read(value, low[0], high[0], attribute.published_type, rows)))
    except EngineError as error:
        raise PolicyError(f"{what} cannot be read: {error.message}", hint=_HINT) from None
    _require(engine, table, attribute, what)
    bare = exp.select(*map(column, _COLUMNS)).from_(table)
    return QualifiedName(("temp", "main", scratch.table("ranges", bare)))


def _columns(columns: Sequence[Column], what: str) -> tuple[Column, Column, Column]:
    """The columns value, low and high by their names, or three in that order by whatever names."""
    named = {fold(name): (name, kind) for name, kind in columns}
    if all(name in named for name in _COLUMNS):
        value, low, high = (named[name] for name in _COLUMNS)
        return value, low, high
    misplaced = any(
        fold(column_name) in _COLUMNS and fold(column_name) != name
        for (column_name, _), name in zip(columns, _COLUMNS, strict=False)
    )
    if len(columns) != len(_COLUMNS) or misplaced:
        raise PolicyError(f"{what}: its columns are {', '.join(name for name, _ in columns)}", hint=_HINT)
    return columns[0], columns[1], columns[2]


def _read(value: Column, low: str, high: str, kind: str, rows: exp.Table) -> exp.Select:
    """value, low and high in the types that they need, with flags for what could not be cast."""
    typed = try_cast(column(value[0]), kind)
    return exp.select(
        alias(cast(column(value[0]), "VARCHAR"), "text"),
        alias(typed, "value"),
        alias(_fits(column(value[0]), without_enums(value[1]), typed.copy(), kind), "fits"),
        alias(_number(low), "low"),
        alias(_number(high), "high"),
        alias(exp.and_(_bound(low), _bound(high)), "bounded"),
    ).from_(rows)


def _fits(value: exp.Expr, column_type: str, typed: exp.Expr, kind: str) -> exp.Expr:
    """Whether the value is NULL or one of the type: a cast rounds 1.5 to 2, which is another value."""
    same: exp.Expr
    if column_type not in _TEXT:
        same = try_cast(typed, column_type).eq(value)
    elif _EXACT.fullmatch(kind):
        same = try_cast(typed, "DOUBLE").eq(try_cast(value, "DOUBLE"))
    else:
        same = is_not_null(typed)
    return exp.or_(is_null(value), f.coalesce(same, False))


def _number(name: str) -> exp.Expr:
    return try_cast(column(name), "DOUBLE")


def _bound(name: str) -> exp.Expr:
    """Whether the bound is NULL or from 0 to 1; NaN is not."""
    inside = _number(name).between(0, 1)
    return exp.or_(is_null(column(name)), f.coalesce(inside, False))


def _require(engine: Engine, table: exp.Table, attribute: BoundAttribute, what: str) -> None:
    rows = exp.select(column("text")).from_(table)
    if not engine.rows(rows.limit(1)):
        raise PolicyError(f"{what}: it lists no value, so nothing would be required", hint=_HINT)
    checks = (
        (
            rows.where(exp.not_(column("fits"))),
            f"values that are none of {attribute.column}'s type {attribute.published_type}",
            "write each value as the column has it",
        ),
        (
            rows.where(exp.not_(column("bounded"))),
            "values whose low or high is no number from 0 to 1",
            "a bound is a share of a class, such as 0.25, or NULL for none",
        ),
        (
            rows.where(column("low") > column("high")),
            "values whose low is above their high",
            "no class could satisfy them: exchange the two",
        ),
        (_repeated(table), "values that stand more than once", "keep one row a value"),
    )
    for offending, problem, hint in checks:
        if values := _named(engine, offending):
            raise PolicyError(f"{what}: {problem}: {values}", hint=hint)


def _repeated(table: exp.Table) -> exp.Select:
    """The values that stand more than once, in one of their texts: 1 and 01 are one number."""
    text = alias(f.min(column("text")), "text")
    twice = f.count() > 1
    return exp.select(text).from_(table).group_by(column("value")).having(twice)


def _named(engine: Engine, values: exp.Select) -> str:
    """The first few values and how many there are; empty if there is none."""
    count = int(engine.rows(exp.select(f.count()).from_(values.copy().subquery("offending")))[0][0])
    examples = engine.rows(values.order_by(literal(1)).limit(_MAX_VALUES_SHOWN)) if count else []
    texts = ", ".join("NULL" if text is None else repr(text) for (text,) in examples)
    return texts + (f" and {count - _MAX_VALUES_SHOWN} more ({count} in all)" if count > _MAX_VALUES_SHOWN else "")
