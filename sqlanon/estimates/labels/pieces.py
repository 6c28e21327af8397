"""Cuts the spans of labels at the constants of a query into pieces, on which each comparison has one truth value."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.estimates.axes import Axis
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.listed_leaves import MOMENTS, no_moments, unit_weight
from sqlanon.estimates.query.parse import refused
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    big,
    infix,
    integer,
    is_not_null,
    is_null,
    joined,
    paren,
    real,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import Step

_VARCHAR = exp.DataType.build("VARCHAR")
# The types that a day or a moment may be compared with: a time zone would make the result depend on the session.
_MOMENTS = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "VARCHAR", '"NULL"')


def piece_steps(
    scratch: Scratch,
    generalized: Generalized,
    axis: Axis,
    constants: Sequence[exp.Expr],
    keys: Sequence[tuple[exp.Table, str]],
) -> list[Step]:
    """The steps `cut` and `piece`, which read the step `span`.

    Values are compared with the `constants` and joined with the `keys` (relation, column). Raises PolicyError for a
    constant that lies nowhere on the axis.
    """
    engine = scratch.engine
    _require_comparable(engine, generalized, axis, constants, keys)
    cut = scratch.table("cut", _cuts(axis, constants, keys))
    no_point = is_null(column("at"))
    if engine.rows(exp.select(f.count()).from_(relation(cut)).where(no_point))[0][0]:
        _refuse(engine, generalized, axis, constants)
    at = exp.select(column("at")).from_(relation(cut))
    return [("cut", at), ("piece", fixed("piece"))]


def pieces(generalized: Generalized, axis: Axis) -> exp.Query:
    """The leaves: a row for each piece, from the step `piece`."""
    scale = 10.0**axis.scale
    moments: list[exp.Expr] = []
    for name in MOMENTS:
        unit = real(scale * scale if name == "square" else scale)
        scaled = axis.scale and name in ("mean", "square")
        moments.append(alias(column(name) / unit, name) if scaled else column(name))
    query = exp.select(column("label"), alias(axis.back(column("at")), "value"), column("weight"), *moments)
    query.from_(fixed(f"{axis.kind}_leaf").subquery("leaf", copy=False), copy=False)
    if "mask" in generalized.forms and axis.kind == "text" and not generalized.marginal:
        return exp.union(query, _digit_leaves(), distinct=False, copy=False)
    return query


def _require_comparable(
    engine: Engine,
    generalized: Generalized,
    axis: Axis,
    constants: Sequence[exp.Expr],
    keys: Sequence[tuple[exp.Table, str]],
) -> None:
    """Raises PolicyError where a comparison would not follow the axis: text needs text, exact numbers exact ones."""
    named = [alias(constant.copy(), f"constant_{index}") for index, constant in enumerate(constants)]
    kinds = [kind for _, kind in engine.columns(exp.select(*named))] if named else []
    for table, key in keys:
        kinds += [kind for _, kind in engine.columns(exp.select(alias(column(key), "key")).from_(table.copy()))]
    for kind in kinds:
        if axis.kind == "text" and kind not in ("VARCHAR", '"NULL"'):
            raise PolicyError(f"{generalized.column} is text, and is compared with a {kind}", hint="write it in quotes")
        if axis.kind == "integer" and axis.numeric and kind in ("DOUBLE", "FLOAT"):
            raise PolicyError(
                f"{generalized.column} holds exact numbers, and is compared with a {kind}, which may be rounded",
                hint="write the number without an exponent, or cast it to DECIMAL",
            )
        if axis.beyond and axis.kind == "integer" and kind not in _MOMENTS:
            raise PolicyError(
                f"{generalized.column} is a {generalized.bound.type}, and is compared with a {kind}",
                hint="write a date or a moment without a time zone, in quotes",
            )


def _cuts(axis: Axis, constants: Sequence[exp.Expr], keys: Sequence[tuple[exp.Table, str]]) -> exp.Query:
    """The points of the axis around every constant and every key; NULL for one that lies nowhere on the axis."""
    texts: list[exp.Query] = []
    if constants:
        listed = f.unnest(exp.Array(expressions=[_text(constant) for constant in constants]))
        texts.append(exp.select(alias(listed, "text")).distinct())
    texts += [exp.select(alias(_text(column(key)), "text")).from_(table) for table, key in keys]
    if not texts:
        return exp.select(alias(axis.end(axis.low), "at")).from_(exp.select(literal(1)).subquery("single_row"))
    distinct_texts = union_all(texts, distinct=True)
    edges = [
        exp.select(alias(edge, "at"))
        .from_(distinct_texts.copy().subquery("constant"))
        .where(is_not_null(column("text")))
        for edge in (axis.down(column("text")), axis.up(column("text")))
    ]
    return exp.union(edges[0], edges[1], distinct=True, copy=False)


def _refuse(engine: Engine, generalized: Generalized, axis: Axis, constants: Sequence[exp.Expr]) -> None:
    """Raises the error for the first constant that has no point on the axis, or else for the keys."""
    for constant in constants:
        text = _text(constant)
        lost = exp.or_(*(_null(edge(text)) for edge in (axis.down, axis.up)))
        known = exp.not_(_null(text))
        if engine.rows(exp.select(exp.and_(known, lost)))[0][0]:
            raise refused(
                constant, f"{generalized.column} is compared with it, and it is no value of {generalized.bound.type}"
            )
    raise PolicyError(f"{generalized.column} is joined with something that is no value of {generalized.bound.type}")


def _digit_leaves() -> exp.Select:
    """The texts of digits below masks of digits, equally likely; pieces of other texts there weigh nothing."""
    stars = f.call("length", column("mask")) - f.call("length", column("low"))
    most = infix(f.power(literal(10), paren(stars.copy())), "-", 1)
    ends = [big(end) for end in (literal(0), paren(most))]
    series = f.unnest(exp.GenerateSeries(start=ends[0], end=ends[1]))
    wide = integer(paren(stars))
    rows = exp.select(column("label"), column("low"), alias(wide, "stars"), alias(series, "number"))
    rows = rows.from_(relation("span")).where(column("known"), is_not_null(column("mask")))
    text = as_text(column("number"))
    padded = f.call("lpad", text, column("stars"), "0")
    whole = joined(column("low"), padded)
    query = exp.select(column("label"), alias(whole, "value"), alias(unit_weight(), "weight"), *no_moments())
    return query.from_(rows.subquery("digits"))


def _text(tree: exp.Expr) -> exp.Expr:
    """A constant as a text; NULL where it cannot be computed, which is an error of the part that contains it."""
    return as_text(f.try_(paren(tree.copy())))


def _null(tree: exp.Expr) -> exp.Expr:
    return is_null(tree)
