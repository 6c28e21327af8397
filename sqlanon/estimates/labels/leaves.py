"""The leaves below each label of a generalized column, or pieces of them on which a query's condition is the same.

Every leaf below a label is taken to be equally likely (the uniform assumption of Xiao and
Tao, Anatomy: simple and effective privacy preservation, 2006), or as likely as the user's
table of the column's values says. Leaves are rows of label, value, weight, mean, square, least
and greatest: `value` stands for all values of a piece, `weight` says how many they are, NULL where
nobody knows, and the others are the moments of these values as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import DataError, PolicyError
from sqlanon.estimates.axes import Axis, axis_of
from sqlanon.estimates.labels.listed_leaves import listed_leaves, no_moments, nulls, tree_steps, unit_weight
from sqlanon.estimates.labels.marginals import MARGINAL, also_marginal, weighed
from sqlanon.estimates.labels.pieces import piece_steps, pieces
from sqlanon.estimates.labels.span_values import every_number, single_values, size_of_span, values_in_spans
from sqlanon.estimates.labels.spans import STAR, spans
from sqlanon.estimates.labels.suppressed_values import others_are_known, spread
from sqlanon.estimates.release_model import Generalized
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import (
    cast,
    identical,
    if_,
    is_not_null,
    or_zero,
    real,
    try_cast,
    union_all,
)
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.queries import anti_join
from sqlanon.sqlgen.build.steps import Step

__all__ = ["MOST_LEAVES", "ColumnUse", "Leaves", "leaves"]

# The most values below the labels of a column that are listed one by one.
MOST_LEAVES = 100_000

_LISTED = ("listed", "listed_range")
# Types without an axis, of which no two values have the same text.
_WRITTEN = (
    *("UHUGEINT", "BIGNUM", "BLOB", "BIT", "UUID", "JSON", "INTERVAL"),
    *("TIME", "TIME_NS", "TIME WITH TIME ZONE"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
)
_HINT = "compare it with constants by =, <, >, BETWEEN, IN and LIKE 'prefix%', or leave it out"
_DOUBLE = exp.DataType.build("DOUBLE")


@dataclass(frozen=True)
class ColumnUse:
    """How a query uses one generalized column."""

    # label, shown (its text) and n (how many rows show it) for each label of the column.
    labels: exp.Query
    # The constants that values of the column are compared with.
    constants: Sequence[exp.Expr]
    # The tables that values of the column are joined with, and their columns.
    keys: Sequence[tuple[exp.Table, str]]
    # Whether each value has to be a leaf of its own.
    each: bool
    # The part of the query that needs each value.
    why: str = ""
    # The most values below the labels that are listed one by one.
    most: int = MOST_LEAVES
    # The table of value, with each once: the only ones that are leaves, beside NULL; None for all below a label.
    values: str | None = None
    # A column of that table: of the values below a label that have the same there, one is a leaf that weighs as many.
    alike: str | None = None


@dataclass(frozen=True)
class Leaves:
    """The leaves below the labels of a column."""

    table: str
    # Whether each value is a leaf of its own.
    each: bool
    # The table of label and weight of the labels below which there may be other values, which nobody can list.
    unlisted: str | None = None


def leaves(scratch: Scratch, generalized: Generalized, use: ColumnUse) -> Leaves:
    """The leaves below the labels of a column.

    Raises PolicyError where the query needs more than is known of the values, DataError
    where the release shows a label that its hierarchy does not have.
    """
    if not generalized.bound.type:
        raise PolicyError(
            f"{generalized.column}: the release does not say of which type its values are", hint="create it again"
        )
    labels = scratch.table("labels", use.labels)
    if any(form in _LISTED for form in generalized.forms):
        table = scratch.table(
            "leaf", _with(listed_leaves(generalized), [_labels_step(labels), *tree_steps(generalized)])
        )
        _require_all(scratch.engine, generalized, labels, table)
        return Leaves(_by_marginal(generalized, table, scratch), each=True)
    axis = axis_of(generalized.bound.type)
    if generalized.bound.type == "FLOAT" and "interval" in generalized.forms:
        # A FLOAT between the decimal ends of two intervals may be in either.
        raise _unknown_type(generalized)
    each = use.each or axis is None or axis.listed
    if axis is None:
        table = scratch.table("leaf", _with(_written_leaves(generalized), [_labels_step(labels)]))
    else:
        table = _leaves_on_axis(scratch, generalized, use, axis, labels, each)
    if "star" not in generalized.forms or (axis is not None and axis.listed):
        _require_all(scratch.engine, generalized, labels, table)
        return Leaves(_by_marginal(generalized, table, scratch), each)
    _require_all(scratch.engine, generalized, labels, table, starred=_starred(labels))
    return _starred_leaves(scratch, generalized, use, table, labels, each)


def _leaves_on_axis(
    scratch: Scratch, generalized: Generalized, use: ColumnUse, axis: Axis, labels: str, each: bool
) -> str:
    """The leaves of a type whose values lie on an axis: values if `each`, else pieces of it."""
    span = scratch.table("span", _with(_spans(generalized, axis, listed=each), [_labels_step(labels)]))
    steps: list[Step] = [_labels_step(labels), ("span", exp.select(exp.Star()).from_(relation(span)))]
    if each:
        _require_few(scratch.engine, generalized, use, axis, span)
        rows: exp.Query = every_number(axis) if axis.kind == "integer" else single_values(axis)
    elif use.values is not None:
        rows = values_in_spans(axis, use.values, use.alike)
    else:
        # Each value of a marginal is then a piece of its own.
        keys = [*use.keys, (relation(generalized.marginal), MARGINAL)] if generalized.marginal else use.keys
        steps += piece_steps(scratch, generalized, axis, use.constants, keys)
        rows = pieces(generalized, axis)
    return scratch.table("leaf", _with(_and_null(rows, generalized, axis), steps))


def _starred_leaves(
    scratch: Scratch, generalized: Generalized, use: ColumnUse, table: str, labels: str, each: bool
) -> Leaves:
    """The leaves, those below `*` included, which nothing lists: rows that show `*` are taken to be like the others."""
    engine, starred = scratch.engine, _starred(labels)
    any_starred = _any_rows(engine, starred)
    unlisted = each and any_starred
    known = any_starred and bool(engine.rows(others_are_known(table, labels, starred))[0][0])
    if unlisted and use.each and not known and not generalized.marginal:
        raise PolicyError(f"{use.why}: the values below the labels of {generalized.column} are not known", hint=_HINT)
    if generalized.marginal:
        table = scratch.table("leaf", also_marginal(table, generalized.marginal, starred)) if unlisted else table
        table = _by_marginal(generalized, table, scratch)
    elif known:
        table = scratch.table("spread", spread(table, labels, starred))
    if not unlisted:
        return Leaves(table, each)
    weight = real(0.0) if known or generalized.marginal else cast(exp.null(), "DOUBLE")
    rows = exp.select(column("label"), alias(weight, "weight")).from_(starred.copy().subquery("starred"))
    return Leaves(table, each, scratch.table("unlisted", rows))


def _starred(labels: str) -> exp.Select:
    return exp.select(column("label")).from_(relation(labels)).where(_is_star())


def _any_rows(engine: Engine, rows: exp.Query) -> bool:
    count = exp.select(f.count()).from_(rows.copy().subquery("some"))
    return bool(engine.rows(count)[0][0])


def _by_marginal(generalized: Generalized, table: str, scratch: Scratch) -> str:
    return scratch.table("weighed", weighed(table, generalized.marginal)) if generalized.marginal else table


def _labels_step(labels: str) -> Step:
    return ("shown", exp.select(exp.Star()).from_(relation(labels)))


def _is_star() -> exp.Expr:
    return column("shown").eq(literal(STAR))


def _with(query: exp.Query, steps: Sequence[Step]) -> exp.Query:
    for name, step in steps:
        query = query.with_(exp.to_identifier(name, quoted=True), as_=step, copy=False)
    return query


def _spans(generalized: Generalized, axis: Axis, *, listed: bool) -> exp.Query:
    """The spans of all labels; with `listed`, without those of `*`, whose values nobody can list."""
    forms = [form for form in generalized.forms if not (listed and form == "star" and not axis.listed)]
    all_spans = union_all([spans(form, axis) for form in forms]) if forms else _no_spans(axis)
    rows = exp.select(exp.Star()).distinct(copy=False).from_(all_spans.subquery("all_spans", copy=False), copy=False)
    if axis.kind != "integer":
        return rows
    # A label may reach beyond the values of the type.
    ends = {"low": axis.end(axis.low), "high": axis.end(axis.high)}
    before = column("low") < ends["low"]
    behind = column("high") > ends["high"]
    clipped = {
        "low": if_(before, ends["low"].copy(), column("low")),
        "low_side": if_(before.copy(), 0, column("low_side")),
        "high": if_(behind, ends["high"].copy(), column("high")),
        "high_side": if_(behind.copy(), 1, column("high_side")),
    }
    same = ("label", *clipped, "known", "open_low", "open_high", "mask")
    query = exp.select(*(alias(clipped[name], name) if name in clipped else column(name) for name in same))
    query.from_(rows.subquery("span", copy=False), copy=False)
    return query.where(
        column("low") <= ends["high"],
        column("high") >= ends["low"],
        copy=False,
    )


def _no_spans(axis: Axis) -> exp.Query:
    return exp.select(exp.Star()).from_(spans("star", axis).subquery("none")).where(exp.false())


def _written_leaves(generalized: Generalized) -> exp.Query:
    """The values that are labels themselves, for a type without an axis."""
    kind = generalized.bound.type
    if set(generalized.forms) - {"value", "star"} or ("value" in generalized.forms and kind not in _WRITTEN):
        raise _unknown_type(generalized)
    value = try_cast(column("shown"), kind)
    rows = exp.select(column("label"), alias(value, "value")).from_(relation("shown"))
    rows = exp.select(column("label"), column("value"), alias(unit_weight(), "weight"), *no_moments()).from_(
        rows.subquery("written")
    )
    written = rows.where(is_not_null(column("value")))
    return _and_null(written if "value" in generalized.forms else written.where(exp.false()), generalized, None)


def _unknown_type(generalized: Generalized) -> PolicyError:
    return PolicyError(
        f"{generalized.column}: what is below its labels is not known for the type {generalized.bound.type}",
        hint="leave it out of the query",
    )


def _require_few(engine: Engine, generalized: Generalized, use: ColumnUse, axis: Axis, span: str) -> None:
    """Raises PolicyError where a leaf cannot be listed, or where there are too many of them."""
    unlisted: exp.Expr = exp.not_(column("known"))
    if axis.kind != "integer":
        unlisted = exp.or_(unlisted, column("low").neq(column("high")))
    number = f.sum(size_of_span()) if axis.kind == "integer" else f.count()
    counted = exp.select(exp.func("count_if", unlisted), or_zero(number))
    unknown, count = engine.rows(counted.from_(relation(span)))[0]
    if unknown:
        raise PolicyError(f"{use.why}: the values below the labels of {generalized.column} are not known", hint=_HINT)
    if count > use.most:
        raise PolicyError(
            f"{use.why}: there are more than {use.most} values below the labels of {generalized.column}", hint=_HINT
        )


def _and_null(rows: exp.Query, generalized: Generalized, axis: Axis | None) -> exp.Query:
    """The leaves, and NULL below the labels that may stand for it; the label NULL stands for nothing else."""
    return exp.union(rows, nulls(generalized, axis), distinct=False, copy=False)


def _require_all(
    engine: Engine, generalized: Generalized, labels: str, table: str, starred: exp.Query | None = None
) -> None:
    """Raises DataError for a label that has no leaf and is not `starred`."""
    same = identical(column("label", "shown"), column("label", "leaf"))
    query = exp.select(f.count()).from_(relation(labels, as_="shown"))
    query = query.join(anti_join(relation(table, as_="leaf"), same), copy=False)
    if starred is not None:
        other = column("shown", "shown").neq(literal(STAR))
        query = query.where(f.coalesce(other, exp.true()))
    if engine.rows(query)[0][0]:
        raise DataError(
            f"the release shows labels of {generalized.column} below which there is no value that an estimate can "
            "compare",
            hint="if it was changed since it was made, create it again; else leave the column out of the query",
        )
