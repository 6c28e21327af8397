"""Where a cut tells most about a target attribute (LeFevre et al. 2006, Workload-Aware Anonymization)."""

from __future__ import annotations

from math import log

from sqlglot import exp

from sqlanon.methods.shared.partition.choose_dimension import Turns
from sqlanon.sqlgen.build.expressions import paren, real, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.release.region_rows import high_name, low_name

__all__ = ["GAIN_BITS", "gains", "most_telling"]

# n log2 n is a whole number of 2 ** -20: sums of it do not depend on the order of the rows.
GAIN_BITS = 20

_HUGEINT = exp.DataType.build("HUGEINT", dialect="duckdb")
_INTEGER = exp.DataType.build("INTEGER")
_DOUBLE = exp.DataType.build("DOUBLE")


def gains(cuts: Turns, points: str, regions: str) -> exp.Query:
    """region, dim, median, gain, width: for each region and attribute the cut that tells most, if there is one.

    `median` is the greatest value of the lower half. Of equal gains the cut whose halves
    differ least in rows, then the one with the smaller lower half. Both halves have
    the `least` rows that the requirements need.
    """
    wide = cuts.open_regions(regions)
    every = union_all([_counted(cuts, points, wide, index) for index in cuts.attributes])
    group = ["region", "dim"]
    so_far = _over(exp.Sum(this=column("n")), [*group, "target"], ["value"])
    whole = _over(exp.Sum(this=column("n")), [*group, "target"])
    values = exp.select(exp.Star(), alias(so_far, "below"), alias(whole, "whole")).from_(every.subquery("counted"))
    below, n = column("below"), column("n")
    above = paren(exp.Sub(this=column("whole"), expression=below.copy()))
    before = paren(exp.Sub(this=below.copy(), expression=n))
    after = paren(exp.Add(this=above.copy(), expression=n.copy()))
    more = exp.Sub(
        this=exp.Add(this=exp.Sub(this=_n_log_n(below), expression=_n_log_n(before)), expression=_n_log_n(above)),
        expression=_n_log_n(after),
    )
    by_value = (
        exp.select(
            *(column(name) for name in (*group, "value")),
            alias(exp.Max(this=column("width")), "width"),
            alias(exp.Sum(this=more), "more"),
            alias(exp.Sum(this=column("n")), "n"),
        )
        .from_(values.subquery("by_target"), copy=False)
        .group_by(*(column(name) for name in (*group, "value")), copy=False)
    )
    running = exp.select(
        *(column(name) for name in (*group, "value", "width")),
        alias(_over(exp.Sum(this=column("more")), group, ["value"]), "told"),
        alias(_over(exp.Sum(this=column("n")), group, ["value"]), "lower"),
        alias(_over(exp.Sum(this=column("n")), group), "every"),
    ).from_(by_value.subquery("by_value"))
    upper = paren(exp.Sub(this=column("every"), expression=column("lower")))
    gain = exp.Sub(
        this=exp.Sub(this=column("told"), expression=_n_log_n(column("lower"))), expression=_n_log_n(upper.copy())
    )
    apart = exp.Abs(this=exp.Sub(this=upper.copy(), expression=column("lower")))
    possible = (
        exp.select(
            *(column(name) for name in (*group, "value", "width", "lower")),
            alias(exp.Cast(this=gain, to=_HUGEINT.copy()), "gain"),
            alias(apart, "apart"),
        )
        .from_(running.subquery("running"), copy=False)
        .where(
            exp.GTE(this=column("lower"), expression=literal(cuts.least)),
            exp.GTE(this=upper, expression=literal(cuts.least)),
            copy=False,
        )
    )
    order = [_descending("gain"), _ascending("apart"), _ascending("lower")]
    number = exp.Window(
        this=exp.RowNumber(),
        partition_by=[column(name) for name in group],
        order=exp.Order(expressions=order),
    )
    best = exp.select(exp.Star(), alias(number, "place")).from_(possible.subquery("possible"), copy=False)
    named = [column("region"), column("dim"), alias(column("value"), "median"), column("gain"), column("width")]
    first = exp.EQ(this=column("place"), expression=literal(1))
    return exp.select(*named).from_(best.subquery("best"), copy=False).where(first, copy=False)


def most_telling(cuts: Turns, regions: str, gained: str) -> exp.Select:
    """label, region, dim, median (and level): each region's labels with the attribute that is its turn.

    That of the greatest gain, of equal ones the widest, then the first. `gained` is a table of `gains`.
    """
    order = [_descending("gain"), _descending("width"), _ascending("dim")]
    number = exp.Window(this=exp.RowNumber(), partition_by=[column("region")], order=exp.Order(expressions=order))
    ranked = exp.select(exp.Star(), alias(number, "place")).from_(relation(gained))
    first = exp.EQ(this=column("place", "told"), expression=literal(1))
    same = exp.EQ(this=column("region", "region"), expression=column("region", "told"))
    bounds = [column(name(index), "region") for index in cuts.attributes for name in (low_name, high_name)]
    turn = (
        exp.select(column("region", "region"), column("labels", "region"), *bounds)
        .select(column("dim", "told"), column("median", "told"), copy=False)
        .from_(relation(regions, as_="region"), copy=False)
        .join(ranked.subquery("told"), on=exp.and_(same, first), copy=False)
    )
    return cuts.attempts(turn, ["median"])


def _counted(cuts: Turns, points: str, wide: exp.Select, index: int) -> exp.Select:
    """region, dim, width, value, target, n: each region's rows by their value in one attribute and their target."""
    dim = exp.Cast(this=literal(index), to=_INTEGER.copy())
    bounds = [column(name(index)) for name in (low_name, high_name)]
    here = exp.select(
        column("region"), alias(exp.Explode(this=column("labels")), "label"), alias(column(f"width_{index}"), "width")
    )
    here.select(*bounds, copy=False).from_(wide.copy().subquery("wide"), copy=False)
    here.where(exp.Not(this=exp.Is(this=column(f"width_{index}"), expression=exp.Null())), copy=False)
    query = exp.select().from_(relation(points, as_="point"))
    same = exp.EQ(this=column("label", "point"), expression=column("label", "turn"))
    value = cuts.points.rank(index, "point")
    if cuts.ancestors is not None and cuts.heights[index] > 1:
        query.join(cuts.with_level(here, index).subquery("turn"), on=same, copy=False)
        value = cuts.respecting(query, dim, column("level", "turn"), value)
    else:
        query.join(here.subquery("turn"), on=same, copy=False)
    group = [column("region", "turn"), column("width", "turn"), value, cuts.points.told("point")]
    names = ["region", "width", "value", "target"]
    return query.select(
        *(alias(tree, name) for tree, name in zip(group, names, strict=True)),
        alias(dim.copy(), "dim"),
        alias(exp.Sum(this=cuts.points.n("point")), "n"),
        copy=False,
    ).group_by(*(tree.copy() for tree in group), copy=False)


def _n_log_n(number: exp.Expr) -> exp.Expr:
    """n log2 n in units of 2 ** -GAIN_BITS, 0 for n = 0."""
    n = exp.Cast(this=paren(number.copy()), to=_DOUBLE.copy())
    logarithm = exp.Mul(this=n, expression=exp.Div(this=exp.Ln(this=n.copy()), expression=real(log(2))))
    scaled = exp.Round(this=exp.Mul(this=logarithm, expression=real(float(1 << GAIN_BITS))))
    some = exp.GT(this=paren(number.copy()), expression=literal(0))
    whole = exp.Cast(this=scaled, to=_HUGEINT.copy())
    return exp.Case(ifs=[exp.If(this=some, true=whole)], default=exp.Cast(this=literal(0), to=_HUGEINT.copy()))


def _over(aggregate: exp.Expr, partition: list[str], order: list[str] | None = None) -> exp.Window:
    ordered = exp.Order(expressions=[_ascending(name) for name in order]) if order else None
    return exp.Window(this=aggregate, partition_by=[column(name) for name in partition], order=ordered)


def _ascending(name: str) -> exp.Ordered:
    return exp.Ordered(this=column(name), nulls_first=False)


def _descending(name: str) -> exp.Ordered:
    return exp.Ordered(this=column(name), desc=True, nulls_first=False)
