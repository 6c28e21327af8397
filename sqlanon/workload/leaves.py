"""The leaves below each label of a generalized column, or pieces of them on which a query's condition is the same.

Every leaf below a label is taken to be equally likely (the uniform assumption of Xiao and
Tao, Anatomy: simple and effective privacy preservation, 2006), or as likely as the user's
table of the column's values says. label, value, weight, mean,
square, least and greatest: `value` stands for all leaves of a piece, `weight` says how
many they are, NULL where nobody knows, the others what their numbers come to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, PolicyError
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import Step
from sqlanon.sqlgen.terms import union_all
from sqlanon.workload.axes import Axis, axis_of
from sqlanon.workload.listed import MOMENTS, listed_leaves, no_moments, nulls, one, tree_steps
from sqlanon.workload.published import Generalized
from sqlanon.workload.spans import fixed, spans

__all__ = ["MARGINAL", "MARGINAL_WEIGHT", "MOST_LEAVES", "Asked", "leaves"]

MOST_LEAVES = 100_000
# The columns of a table of how frequent values are.
MARGINAL, MARGINAL_WEIGHT = "value", "weight"

_LISTED = ("listed", "listed_range")
_DOUBLE = exp.DataType.build("DOUBLE")
_HUGEINT = exp.DataType.build("HUGEINT", dialect="duckdb")

Keep = Callable[[str, exp.Query], str]


@dataclass(frozen=True)
class Asked:
    """What a query asks of one generalized column.

    `labels` is the relation of its labels (label, shown). `constants` are what its values
    are compared with, `keys` (relation, column) what they are joined with. If `each`,
    every value has to be a leaf of its own; `why` is the part of the query that needs it.
    """

    labels: exp.Query
    constants: Sequence[exp.Expr]
    keys: Sequence[tuple[exp.Table, str]]
    each: bool
    why: str = ""


def leaves(engine: Engine, given: Generalized, asked: Asked, keep: Keep) -> tuple[str, bool]:
    """The table of the leaves, and whether each value is a leaf of its own.

    Raises PolicyError where the query needs more than is known of the values, DataError
    where the release shows a label that its hierarchy does not have.
    """
    if not given.bound.type:
        raise PolicyError(
            f"{given.column}: the release does not say of which type its values are", hint="create it again"
        )
    if given.marginal:
        # Each of its values is then a piece of its own.
        asked = replace(asked, keys=[*asked.keys, (relation(given.marginal), MARGINAL)])
    shown = keep("shown", asked.labels)
    steps: list[Step] = [("shown", exp.select(exp.Star()).from_(relation(shown)))]
    if any(form in _LISTED for form in given.forms):
        table, each = keep("leaf", _with(listed_leaves(given), [*steps, *tree_steps(given)])), True
    else:
        axis = axis_of(given.bound.type)
        if axis is None:
            raise PolicyError(
                f"{given.column}: what is below its labels is not known for the type {given.bound.type}",
                hint="leave it out of the query",
            )
        span = keep("span", _with(_spans(given, axis), steps))
        each = asked.each
        if each:
            _require_few(engine, given, asked, axis, span)
        steps.append(("span", exp.select(exp.Star()).from_(relation(span))))
        found = (
            (_single_leaves(axis) if axis.kind == "integer" else _point_leaves(axis))
            if each
            else _piece_leaves(engine, given, asked, axis, steps, keep)
        )
        table = keep("leaf", _with(_and_null(found, given, axis), steps))
    _require_all(engine, given, shown, table)
    return (keep("weighed", _weighed(table, given.marginal)) if given.marginal else table), each


def _with(query: exp.Query, steps: Sequence[Step]) -> exp.Query:
    for name, step in steps:
        query = query.with_(exp.to_identifier(name, quoted=True), as_=step.copy(), copy=False)
    return query


def _spans(given: Generalized, axis: Axis) -> exp.Query:
    every = [spans(form, axis) for form in given.forms]
    return exp.select(exp.Star()).distinct().from_(union_all(every).subquery("every"))


def _require_few(engine: Engine, given: Generalized, asked: Asked, axis: Axis, span: str) -> None:
    """Every leaf can be listed, and there are not too many."""
    hint = "compare it with constants by =, <, >, BETWEEN, IN and LIKE 'prefix%', or leave it out"
    unlisted: exp.Expr = exp.Not(this=column("known"))
    if axis.kind != "integer":
        unlisted = exp.or_(unlisted, exp.NEQ(this=column("low"), expression=column("high")))
    number = exp.Sum(this=_count()) if axis.kind == "integer" else exp.Count(this=exp.Star())
    counted = exp.select(exp.func("count_if", unlisted), exp.Coalesce(this=number, expressions=[literal(0)]))
    unknown, count = engine.rows(counted.from_(relation(span)))[0]
    if unknown:
        raise PolicyError(f"{asked.why}: the values below the labels of {given.column} are not known", hint=hint)
    if int(count) > MOST_LEAVES:
        raise PolicyError(
            f"{asked.why}: there are more than {MOST_LEAVES} values below the labels of {given.column}", hint=hint
        )


def _count() -> exp.Expr:
    last = exp.Add(this=column("high"), expression=column("high_side"))
    first = exp.Add(this=column("low"), expression=column("low_side"))
    return exp.Sub(this=exp.Paren(this=last), expression=exp.Paren(this=first))


def _single_leaves(axis: Axis) -> exp.Select:
    """Every whole number of a span."""
    first = exp.Add(this=column("low"), expression=column("low_side"))
    last = exp.Sub(this=exp.Add(this=column("high"), expression=column("high_side")), expression=literal(1))
    ends = [exp.Cast(this=exp.Paren(this=end), to=exp.DataType.build("BIGINT")) for end in (first, last)]
    series = exp.Explode(this=exp.GenerateSeries(start=ends[0], end=ends[1]))
    at = exp.select(column("label"), alias(series, "at")).from_(relation("span"))
    number = exp.Cast(this=column("at"), to=_HUGEINT.copy())
    single = exp.select(column("label"), alias(axis.back(number), "value"), alias(one(), "weight"))
    return single.select(*no_moments()).from_(at.subquery("single"))


def _point_leaves(axis: Axis) -> exp.Select:
    """The values of spans that are one value each."""
    single = exp.select(column("label"), alias(axis.back(column("low")), "value"), alias(one(), "weight"))
    return single.select(*no_moments()).from_(relation("span"))


def _piece_leaves(
    engine: Engine, given: Generalized, asked: Asked, axis: Axis, steps: list[Step], keep: Keep
) -> exp.Query:
    _require_comparable(engine, given, asked, axis)
    cut = keep("cut", _cuts(asked, axis))
    missing = exp.select(exp.Count(this=exp.Star())).from_(relation(cut))
    if engine.rows(missing.where(exp.Is(this=column("at"), expression=exp.Null())))[0][0]:
        raise PolicyError(f"{given.column} is compared with something that is no value of {given.bound.type}")
    steps.append(("cut", exp.select(column("at")).from_(relation(cut))))
    steps.append(("piece", fixed("piece")))
    scale = 10.0**axis.scale
    moments: list[exp.Expr] = []
    for name in MOMENTS:
        unit = exp.Cast(this=exp.Literal.string(repr(scale * scale if name == "square" else scale)), to=_DOUBLE.copy())
        moments.append(alias(exp.Div(this=column(name), expression=unit) if axis.scale else column(name), name))
    query = exp.select(column("label"), alias(axis.back(column("at")), "value"), column("weight"), *moments)
    query = query.from_(fixed(f"{axis.kind}_leaf").subquery("leaf"))
    if "mask" in given.forms and axis.kind == "text" and not given.marginal:
        return exp.union(query, _digit_leaves(), distinct=False, copy=False)
    return query


def _require_comparable(engine: Engine, given: Generalized, asked: Asked, axis: Axis) -> None:
    """What values are compared with keeps them in their order: text with text, and whole numbers with exact ones."""
    every = [alias(one.copy(), f"constant_{place}") for place, one in enumerate(asked.constants)]
    kinds = [kind for _, kind in engine.columns(exp.select(*every))] if every else []
    for table, key in asked.keys:
        kinds += [kind for _, kind in engine.columns(exp.select(alias(column(key), "key")).from_(table.copy()))]
    for kind in kinds:
        if axis.kind == "text" and kind not in ("VARCHAR", '"NULL"'):
            raise PolicyError(f"{given.column} is text, and is compared with a {kind}", hint="write it in quotes")
        if axis.kind == "integer" and axis.numeric and kind in ("DOUBLE", "FLOAT"):
            raise PolicyError(
                f"{given.column} holds exact numbers, and is compared with a {kind}, which may be rounded",
                hint="write the number without an exponent, or cast it to DECIMAL",
            )


def _digit_leaves() -> exp.Select:
    """The texts of digits below masks of digits: they carry the weight, and the pieces around them what is possible."""
    stars = exp.Sub(
        this=exp.Anonymous(this="length", expressions=[column("mask")]),
        expression=exp.Anonymous(this="length", expressions=[column("low")]),
    )
    most = exp.Sub(this=exp.Pow(this=literal(10), expression=exp.Paren(this=stars.copy())), expression=literal(1))
    ends = [exp.Cast(this=end, to=exp.DataType.build("BIGINT")) for end in (literal(0), exp.Paren(this=most))]
    series = exp.Explode(this=exp.GenerateSeries(start=ends[0], end=ends[1]))
    wide = exp.Cast(this=exp.Paren(this=stars), to=exp.DataType.build("INTEGER"))
    rows = exp.select(column("label"), column("low"), alias(wide, "stars"), alias(series, "number"))
    rows = rows.from_(relation("span")).where(
        column("known"), exp.Not(this=exp.Is(this=column("mask"), expression=exp.Null()))
    )
    text = exp.Cast(this=column("number"), to=exp.DataType.build("VARCHAR"))
    padded = exp.Anonymous(this="lpad", expressions=[text, column("stars"), literal("0")])
    whole = exp.DPipe(this=column("low"), expression=padded, safe=False)
    query = exp.select(column("label"), alias(whole, "value"), alias(one(), "weight"), *no_moments())
    return query.from_(rows.subquery("digits"))


def _weighed(table: str, marginal: str) -> exp.Select:
    """The leaves, each as likely as the marginal says; what it does not name is possible and never counted on."""
    none = exp.Cast(this=literal(0), to=_DOUBLE.copy())
    weight = exp.Coalesce(this=column(MARGINAL_WEIGHT, "marginal"), expressions=[none])
    counted = exp.GT(this=weight.copy(), expression=literal(0))
    # Of pieces that weigh nothing these may be too large to be multiplied by it.
    moments = [
        alias(exp.Case(ifs=[exp.If(this=counted.copy(), true=column(name, "leaf"))]), name)
        if name in ("mean", "square")
        else column(name, "leaf")
        for name in MOMENTS
    ]
    query = exp.select(column("label", "leaf"), column("value", "leaf"), alias(weight, "weight"), *moments)
    same = exp.NullSafeEQ(this=column("value", "leaf"), expression=column(MARGINAL, "marginal"))
    joined = relation(marginal, as_="marginal")
    return query.from_(relation(table, as_="leaf")).join(joined, on=same, join_type="LEFT", copy=False)


def _cuts(asked: Asked, axis: Axis) -> exp.Query:
    """The places of the axis around every constant and every key, NULL for one that has no place there."""
    texts: list[exp.Query] = []
    if asked.constants:
        listed = exp.Explode(this=exp.Array(expressions=[_text(constant) for constant in asked.constants]))
        texts.append(exp.select(alias(listed, "text")).distinct())
    texts += [exp.select(alias(_text(column(key)), "text")).from_(table) for table, key in asked.keys]
    if not texts:
        return exp.select(alias(axis.end(axis.low), "at")).from_(exp.select(literal(1)).subquery("one"))
    every = union_all(texts, distinct=True)
    places = [
        exp.select(alias(place, "at"))
        .from_(every.copy().subquery("constant"))
        .where(exp.Not(this=exp.Is(this=column("text"), expression=exp.Null())))
        for place in (axis.down(column("text")), axis.up(column("text")))
    ]
    return exp.union(places[0], places[1], distinct=True, copy=False)


def _text(tree: exp.Expr) -> exp.Expr:
    return exp.Cast(this=exp.Paren(this=tree.copy()), to=exp.DataType.build("VARCHAR"))


def _and_null(found: exp.Query, given: Generalized, axis: Axis) -> exp.Query:
    """The leaves with NULL where it may be. A label that is NULL stands for NULL alone."""
    return exp.union(found, nulls(given, axis), distinct=False, copy=False)


def _require_all(engine: Engine, given: Generalized, shown: str, table: str) -> None:
    same = exp.NullSafeEQ(this=column("label", "shown"), expression=column("label", "leaf"))
    query = exp.select(exp.Count(this=exp.Star())).from_(relation(shown, as_="shown"))
    query = query.join(relation(table, as_="leaf"), on=same, join_type="ANTI")
    if engine.rows(query)[0][0]:
        raise DataError(
            f"the release shows labels of {given.column} below which there is no value that an estimate can compare",
            hint="if it was changed since it was made, create it again; else leave the column out of the query",
        )
