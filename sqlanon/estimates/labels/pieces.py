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
from sqlanon.estimates.labels.spans import MOMENTS, no_moments
from sqlanon.estimates.query.parse import refused
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, paren, real, union_all
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_query
from sqlanon.sql.build.steps import Step
from sqlanon.sql.classes.rows import class_label

_VARCHAR = exp.DataType.build("VARCHAR")
# The types that a date or a timestamp may be compared with: with a time zone the result depends on the session.
_TIMESTAMPS = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "VARCHAR", '"NULL"')
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
    if engine.rows(filled_query("SELECT count(*) FROM cut WHERE at IS NULL", tables={"cut": cut}))[0][0]:
        _refuse(engine, generalized, axis, constants)
    return [("cut", filled_query("SELECT at FROM cut", tables={"cut": cut})), ("piece", fixed("piece"))]


_LEAVES = "SELECT label, value_at(at) AS value, weight, mean, square, least, greatest FROM leaf"
_SCALED_LEAVES = """
    SELECT label, value_at(at) AS value, weight, mean / $scale AS mean, square / $square AS square, least, greatest
    FROM leaf
"""


def pieces(generalized: Generalized, axis: Axis) -> exp.Query:
    """Returns the leaves, one row for each piece of the step `piece`."""
    scale = 10.0**axis.scale
    query = filled_query(
        _SCALED_LEAVES if axis.scale else _LEAVES,
        tables={"leaf": fixed(f"{axis.kind}_leaf")},
        calls=axis.calls,
        scale=real(scale),
        square=real(scale * scale),
    )
    if "mask" in generalized.forms and axis.kind == "text" and not generalized.marginal:
        return union_all([query, fixed("digit_leaves")])
    if axis.kind == "text" and (length := prefix_length(generalized)) is not None:
        text = "SELECT label, value, 1.0::DOUBLE AS weight, {moments} FROM digits"
        digits = filled_query(text, tables={"digits": digits_between(length)}, names={"moments": no_moments()})
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
        if axis.beyond and axis.kind == "integer" and kind not in (_INSTANTS if axis.zoned else _TIMESTAMPS):
            raise PolicyError(
                f"{generalized.column} is a {generalized.bound.type}, and is compared with a {kind}",
                hint=f"write a date or a timestamp {'with' if axis.zoned else 'without'} a time zone, in quotes",
            )


def _cuts(axis: Axis, constants: Sequence[exp.Expr], keys: Sequence[tuple[exp.Table, str]]) -> exp.Query:
    """SELECT of the points of the axis at which spans are cut: around each constant and each key.

    It is NULL for a constant or key without a point on the axis.
    """
    texts: list[exp.Query] = []
    if constants:
        listed = [_text(constant) for constant in constants]
        texts.append(filled_query("SELECT DISTINCT unnest([{texts}]) AS text", names={"texts": listed}))
    texts += [
        filled_query("SELECT $text AS text FROM key", tables={"key": table}, text=_text(column(key)))
        for table, key in keys
    ]
    if not texts:
        return filled_query("SELECT first_point() AS at", calls=axis.calls)
    return filled_query(
        "SELECT point_down(text) AS at FROM constant WHERE text IS NOT NULL "
        "UNION SELECT point_up(text) AS at FROM constant WHERE text IS NOT NULL",
        tables={"constant": union_all(texts, distinct=True)},
        calls=axis.calls,
    )


def _refuse(engine: Engine, generalized: Generalized, axis: Axis, constants: Sequence[exp.Expr]) -> None:
    """Raises the error for the first constant without a point on the axis, or for the keys if each constant has a
    point.
    """
    for constant in constants:
        text = "SELECT $text IS NOT NULL AND (point_down($text) IS NULL OR point_up($text) IS NULL)"
        if engine.rows(filled_query(text, calls=axis.calls, text=_text(constant)))[0][0]:
            raise refused(
                constant, f"{generalized.column} is compared with it, and it is no value of {generalized.bound.type}"
            )
    raise PolicyError(f"{generalized.column} is joined with something that is no value of {generalized.bound.type}")


def _text(tree: exp.Expr) -> exp.Expr:
    """Converts a constant to a text; NULL if it fails, because the error belongs to the part that contains it."""
    return as_text(f.try_(paren(tree)))


# Values below a label that cannot be listed, for a query that distinguishes every value.
#
# Below `*` any value of the type is possible. So each condition on such a value is taken to be true, false and NULL in
# turn; the group of the value is unknown.


# The column that is true for signatures of known values.
LISTED = "listed"
# The most conditions on one column, each of which may be true, false or NULL for such a value.
_MOST_CONDITIONS = 6


def unlisted_rows(table: str, parts: Sequence[str], groups: Collection[str], numbers: Sequence[int]) -> exp.Query:
    """SELECT of label, weight, `listed`, the parts and the moments, for labels below which values cannot be listed.

    `table` has label and weight. Each label has a row for each combination of true, false and NULL in its conditions,
    which are all parts but `groups`. Raises PolicyError for too many conditions.
    """
    conditions = [name for name in parts if name not in groups]
    if len(conditions) > _MOST_CONDITIONS:
        raise PolicyError(
            f"the query has {len(conditions)} conditions on a column whose values are not all known",
            hint=f"ask at most {_MOST_CONDITIONS} of them",
        )
    truths = [exp.true(), exp.false(), cast(exp.null(), "BOOLEAN")]
    ways = [
        class_label({"way": literal(0)} | {name: truth.copy() for name, truth in zip(conditions, chosen, strict=True)})
        for chosen in product(truths, repeat=len(conditions))
    ]
    parts_of_way = [
        alias(exp.null() if name in groups else f.call("struct_extract", column("way", "way"), name), name)
        for name in parts
    ]
    moments: list[str | exp.Expr] = [
        alias(exp.null(), f"{moment}_{number}") for number in numbers for moment in MOMENTS
    ]
    return filled_query(
        "SELECT unlisted.label, unlisted.weight, false AS listed, {parts}, {moments} "
        "FROM unlisted CROSS JOIN (SELECT unnest([{ways}]) AS way) AS way",
        tables={"unlisted": table},
        names={"parts": parts_of_way, "moments": moments, "ways": ways},
    )


# For leaves that a query treats alike: their share of the leaves below the label, and the moments of their values.


def share() -> exp.Expr:
    """Returns the share of a leaf among the leaves below its label; 1 for an only leaf, whatever its weight."""
    return filled(
        "CASE WHEN count(*) OVER (PARTITION BY label) = 1 THEN 1.0::DOUBLE "
        "WHEN count(*) OVER (PARTITION BY label) = count(weight) OVER (PARTITION BY label) "
        "THEN weight / nullif(sum(weight) OVER (PARTITION BY label), 0) END"
    )


def below_label() -> list[exp.Expr]:
    """Returns two expressions: the number of signatures and the total weight of the leaves below a label."""
    text = "SELECT count(*) OVER (PARTITION BY label) AS signatures, sum(weight) OVER (PARTITION BY label) AS total"
    return filled_query(text).selects


def value_moments(value: exp.Expr, kind: Number) -> list[exp.Expr]:
    """Returns the moments of one value: mean and square as DOUBLE, both ends as numbers of parts."""
    real = kind.real(value)
    return [real, real * real, kind.parts(value), kind.parts(value)]


def leaf_moments(argument: exp.Expr, number: int, name: str, pieces: bool, kind: Number) -> list[exp.Alias]:
    """Returns the moments of an argument on each leaf: those of the leaf's piece, or of the value itself."""
    of_pieces: list[exp.Expr] = [column(moment, name) for moment in MOMENTS]
    moments = of_pieces if pieces else value_moments(argument, kind)
    return [alias(tree, f"{moment}_{number}") for tree, moment in zip(moments, MOMENTS, strict=True)]


_MOMENTS_OF_PIECES = """
    SELECT
        CASE
            WHEN known(min({least})) = known(max({greatest})) THEN real_of(known(min({least})))
            WHEN count(*) = count(weight) THEN sum(weight * {mean}) / nullif(sum(weight), 0)
        END,
        CASE
            WHEN known(min({least})) = known(max({greatest}))
            THEN real_of(known(min({least}))) * real_of(known(min({least})))
            WHEN count(*) = count(weight) THEN sum(weight * {square}) / nullif(sum(weight), 0)
        END,
        known(min({least})),
        known(max({greatest}))
"""


def moments_of(number: int, kind: Number) -> list[exp.Alias]:
    """Returns the moments of the leaves of one signature, computed from the moments of its pieces.

    The mean and the square are those of the pieces, or of the value if there is only one; NULL if a weight is unknown.
    The ends are NULL if one of a piece is.
    """

    def known(end: exp.Expr) -> exp.Expr:
        return filled("CASE WHEN count(*) = count($value) THEN $end END", value=end.this, end=end)

    names = {moment: f"{moment}_{number}" for moment in MOMENTS}
    calls = {"known": known, "real_of": lambda parts: paren(kind.real_of_parts(paren(parts)))}
    moments = filled_query(_MOMENTS_OF_PIECES, names=names, calls=calls).selects
    return [alias(tree.pop(), names[moment]) for tree, moment in zip(list(moments), MOMENTS, strict=True)]
