"""Cuts the spans of labels at the constants of a query into pieces, on which each comparison has one truth value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.axes import Axis, Number
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.prefix_ranges import digits_between, prefix_length
from sqlanon.estimates.labels.spans import MOMENTS, no_moments, unit_weight
from sqlanon.estimates.query.parse import refused
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    big,
    case,
    cast,
    if_,
    infix,
    integer,
    is_not_null,
    is_null,
    joined,
    or_,
    paren,
    real,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, select, subquery
from sqlanon.sql.build.steps import Step
from sqlanon.sql.classes.rows import class_label

_VARCHAR = exp.DataType.build("VARCHAR")
# The types that a date or a timestamp may be compared with: with a time zone the result depends on the session.
_MOMENTS = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "VARCHAR", '"NULL"')
# The types that a timestamp with time zone may be compared with: others are read in the session's time zone.
_INSTANTS = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "VARCHAR", '"NULL"')


def piece_steps(
    temp: TempTables,
    generalized: Generalized,
    axis: Axis,
    constants: Sequence[exp.Expr],
    keys: Sequence[tuple[exp.Table, str]],
) -> list[Step]:
    """Returns the steps `cut` and `piece`, which read the step `span`.

    The query compares values with the `constants` and joins them with the `keys` (relation, column). Raises PolicyError
    for a constant that has no point on the axis.
    """
    engine = temp.engine
    _require_comparable(engine, generalized, axis, constants, keys)
    cut = temp.table("cut", _cuts(axis, constants, keys))
    no_point = is_null(column("at"))
    if engine.rows(select(f.count(), of=relation(cut), where=[no_point]))[0][0]:
        _refuse(engine, generalized, axis, constants)
    at = select(column("at"), of=relation(cut))
    return [("cut", at), ("piece", fixed("piece"))]


def pieces(generalized: Generalized, axis: Axis) -> exp.Query:
    """Returns the leaves, one row for each piece of the step `piece`."""
    scale = 10.0**axis.scale
    moments: list[exp.Expr] = []
    for name in MOMENTS:
        unit = real(scale * scale if name == "square" else scale)
        scaled = axis.scale and name in ("mean", "square")
        moments.append(alias(column(name) / unit, name) if scaled else column(name))
    query = select(column("label"), alias(axis.back(column("at")), "value"), column("weight"), *moments)
    extend(query, of=subquery(fixed(f"{axis.kind}_leaf"), "leaf"))
    if "mask" in generalized.forms and axis.kind == "text" and not generalized.marginal:
        return union_all([query, _digit_leaves()])
    if axis.kind == "text" and (length := prefix_length(generalized)) is not None:
        digits = select(column("label"), column("value"), alias(unit_weight(), "weight"), *no_moments())
        digits = extend(digits, of=subquery(digits_between(length), "digits"))
        return union_all([query, digits])
    return query


def _require_comparable(
    engine: Engine,
    generalized: Generalized,
    axis: Axis,
    constants: Sequence[exp.Expr],
    keys: Sequence[tuple[exp.Table, str]],
) -> None:
    """Raises PolicyError for a comparison that may not follow the axis: of text with another type, or of exact with
    inexact numbers.
    """
    named = [alias(constant, f"constant_{index}") for index, constant in enumerate(constants)]
    kinds = [kind for _, kind in engine.columns(select(*named))] if named else []
    for table, key in keys:
        kinds += [kind for _, kind in engine.columns(select(alias(column(key), "key"), of=table))]
    for kind in kinds:
        if axis.kind == "text" and kind not in ("VARCHAR", '"NULL"'):
            raise PolicyError(f"{generalized.column} is text, and is compared with a {kind}", hint="write it in quotes")
        if axis.kind == "integer" and axis.numeric and kind in ("DOUBLE", "FLOAT"):
            raise PolicyError(
                f"{generalized.column} holds exact numbers, and is compared with a {kind}, which may be rounded",
                hint="write the number without an exponent, or cast it to DECIMAL",
            )
        if axis.beyond and axis.kind == "integer" and kind not in (_INSTANTS if axis.zoned else _MOMENTS):
            raise PolicyError(
                f"{generalized.column} is a {generalized.bound.type}, and is compared with a {kind}",
                hint=f"write a date or a moment {'with' if axis.zoned else 'without'} a time zone, in quotes",
            )


def _cuts(axis: Axis, constants: Sequence[exp.Expr], keys: Sequence[tuple[exp.Table, str]]) -> exp.Query:
    """Returns the points of the axis around each constant and each key; NULL for a constant or key that has no point on
    the axis.
    """
    texts: list[exp.Query] = []
    if constants:
        listed = f.unnest(exp.Array(expressions=[_text(constant) for constant in constants]))
        texts.append(select(alias(listed, "text"), distinct=True))
    texts += [select(alias(_text(column(key)), "text"), of=table) for table, key in keys]
    if not texts:
        return select(alias(axis.end(axis.low), "at"), of=subquery(select(literal(1)), "single_row"))
    distinct_texts = union_all(texts, distinct=True)
    edges = [
        select(alias(edge, "at"), of=subquery(distinct_texts, "constant"), where=[is_not_null(column("text"))])
        for edge in (axis.down(column("text")), axis.up(column("text")))
    ]
    return union_all([edges[0], edges[1]], distinct=True)


def _refuse(engine: Engine, generalized: Generalized, axis: Axis, constants: Sequence[exp.Expr]) -> None:
    """Raises the error for the first constant without a point on the axis, or for the keys if each constant has a
    point.
    """
    for constant in constants:
        text = _text(constant)
        lost = or_(*(_null(edge(text)) for edge in (axis.down, axis.up)))
        known = exp.not_(_null(text))
        if engine.rows(select(and_(known, lost)))[0][0]:
            raise refused(
                constant, f"{generalized.column} is compared with it, and it is no value of {generalized.bound.type}"
            )
    raise PolicyError(f"{generalized.column} is joined with something that is no value of {generalized.bound.type}")


def _digit_leaves() -> exp.Select:
    """Returns leaves: the texts of digits below each mask of digits, equally likely; other texts below the mask have
    weight 0.
    """
    stars = f.call("length", column("mask")) - f.call("length", column("low"))
    most = infix(f.power(literal(10), paren(stars)), "-", 1)
    ends = [big(end) for end in (literal(0), paren(most))]
    series = f.unnest(exp.GenerateSeries(start=ends[0], end=ends[1]))
    wide = integer(paren(stars))
    rows = select(column("label"), column("low"), alias(wide, "stars"), alias(series, "number"))
    rows = extend(rows, of=relation("span"), where=[column("known"), is_not_null(column("mask"))])
    text = as_text(column("number"))
    padded = f.call("lpad", text, column("stars"), "0")
    whole = joined(column("low"), padded)
    query = select(column("label"), alias(whole, "value"), alias(unit_weight(), "weight"), *no_moments())
    return extend(query, of=subquery(rows, "digits"))


def _text(tree: exp.Expr) -> exp.Expr:
    """Converts a constant to a text; NULL if it fails, because the error belongs to the part that contains it."""
    return as_text(f.try_(paren(tree)))


def _null(tree: exp.Expr) -> exp.Expr:
    return is_null(tree)


# Values below a label that cannot be listed, for a query that distinguishes every value.
#
# Below `*` any value of the type is possible. So each condition on such a value is taken to be true, false and NULL in
# turn; the group of the value is unknown.


# The column that is true for signatures of known values.
LISTED = "listed"
# The most conditions on one column, each of which may be true, false or NULL for such a value.
_MOST_CONDITIONS = 6


def unlisted_rows(table: str, parts: Sequence[str], groups: Collection[str], numbers: Sequence[int]) -> exp.Select:
    """Returns label, weight, `listed`, the parts and the moments of the arguments for the labels of a table (label,
    weight).

    Each label has a row for each combination of true, false and NULL in its conditions, which are all parts but
    `groups`. Raises PolicyError for too many conditions.
    """
    conditions = [name for name in parts if name not in groups]
    if len(conditions) > _MOST_CONDITIONS:
        raise PolicyError(
            f"the query asks {len(conditions)} conditions of a column of which not every value is known",
            hint=f"ask at most {_MOST_CONDITIONS} of them",
        )
    truths = [exp.true(), exp.false(), cast(exp.null(), "BOOLEAN")]
    ways = [
        class_label({"way": literal(0)} | {name: truth.copy() for name, truth in zip(conditions, chosen, strict=True)})
        for chosen in product(truths, repeat=len(conditions))
    ]
    combinations = select(alias(f.unnest(exp.Array(expressions=ways)), "way"))
    rows = select(column("label", "unlisted"), column("weight", "unlisted"), alias(exp.false(), LISTED))
    for name in parts:
        truth = f.call("struct_extract", column("way", "way"), literal(name))
        extend(rows, alias(exp.null() if name in groups else truth, name))
    extend(rows, *(alias(exp.null(), f"{moment}_{number}") for number in numbers for moment in MOMENTS))
    return extend(rows, of=relation(table, as_="unlisted"), joins=[cross_join(subquery(combinations, "way"))])


# For leaves that a query treats alike: their share of the leaves below the label, and the moments of their values.


_DOUBLE = exp.DataType.build("DOUBLE")


def share() -> exp.Expr:
    """Returns the share of a leaf among the leaves below its label; 1 for an only leaf, whatever its weight."""

    def over(tree: exp.Expr) -> exp.Window:
        return window(tree, partition_by=[column("label")])

    only = over(f.count()).eq(1)
    known = over(f.count()).eq(over(f.count(column("weight"))))
    whole = f.nullif(over(f.sum(column("weight"))), 0)
    part = column("weight") / whole
    return case((only, unit_weight()), (known, part))


def below_label() -> list[exp.Alias]:
    """Returns the number of signatures and the total weight of the leaves below a label."""
    counts = {"signatures": f.count(), "total": f.sum(column("weight"))}
    return [alias(window(count, partition_by=[column("label")]), name) for name, count in counts.items()]


def value_moments(value: exp.Expr, kind: Number) -> list[exp.Expr]:
    """Returns the moments of one value: mean and square as DOUBLE, both ends as numbers of parts."""
    real = kind.real(value)
    return [real, real * real, kind.parts(value), kind.parts(value)]


def leaf_moments(argument: exp.Expr, number: int, name: str, pieces: bool, kind: Number) -> list[exp.Alias]:
    """Returns the moments of an argument on each leaf: the moments of its piece, or of the value itself."""
    of_pieces: list[exp.Expr] = [column(moment, name) for moment in MOMENTS]
    moments = of_pieces if pieces else value_moments(argument, kind)
    return [alias(tree, f"{moment}_{number}") for tree, moment in zip(moments, MOMENTS, strict=True)]


def moments_of(number: int, kind: Number) -> list[exp.Alias]:
    """Returns the moments of the leaves of one signature, computed from the moments of its pieces."""
    mean, square, least, greatest = (column(f"{moment}_{number}") for moment in MOMENTS)

    def weighed(of: exp.Expr) -> exp.Expr:
        total = f.nullif(f.sum(column("weight")), 0)
        return f.sum(column("weight") * of) / total

    def end(function: type[exp.Expr], of: exp.Expr) -> exp.Expr:
        all_known = f.count().eq(f.count(of))
        return if_(all_known, function(this=of.copy()))

    def mixed(of: exp.Expr, alone: exp.Expr) -> exp.Expr:
        """Returns the mean over the pieces, or the value if there is only one; NULL if a weight is unknown."""
        return case((single, alone), (known, weighed(of)))

    low, high = end(exp.Min, least), end(exp.Max, greatest)
    single = low.eq(high)
    known = f.count().eq(f.count(column("weight")))
    alone = kind.real_of_parts(paren(low))
    moments = (
        mixed(mean, alone),
        mixed(square, paren(alone) * paren(alone)),
        low,
        high,
    )
    return [alias(tree, f"{moment}_{number}") for tree, moment in zip(moments, MOMENTS, strict=True)]
