"""Where a cut tells most about a target attribute (LeFevre et al. 2006, Workload-Aware Anonymization)."""

from __future__ import annotations

from math import log

from sqlglot import exp

from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    cast,
    descending,
    huge,
    if_,
    infix,
    integer,
    is_not_null,
    order_by,
    paren,
    real,
    same,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.release.region_rows import high_name, low_name

# n log2 n is a whole number of 2 ** -20: sums of it do not depend on the order of the rows.
GAIN_BITS = 20


def gains(cuts: Cuts, points: str, regions: str) -> exp.Query:
    """region, dim, median, gain, width: for each region and attribute the cut of the greatest gain, if there is one.

    `median` is the greatest value of the lower half. Of equal gains it is the cut whose halves
    differ least in rows, then the one with the smaller lower half. Both halves have
    the `least` rows that the requirements need.
    """
    wide = cuts.with_widths(relation(regions))
    counted = union_all([_counted(cuts, points, wide, index) for index in cuts.attributes])
    group = ["region", "dim"]
    so_far = _over(f.sum(column("n")), [*group, "target"], ["value"])
    whole = _over(f.sum(column("n")), [*group, "target"])
    values = exp.select(exp.Star(), alias(so_far, "below"), alias(whole, "whole")).from_(counted.subquery("counted"))
    below, n = column("below"), column("n")
    above = paren(column("whole") - below)
    before = paren(below - n)
    after = paren(above + n)
    added = infix(infix(_n_log_n(below) - _n_log_n(before), "+", _n_log_n(above)), "-", _n_log_n(after))
    by_value = (
        exp.select(
            *(column(name) for name in (*group, "value")),
            alias(f.max(column("width")), "width"),
            alias(f.sum(added), "added"),
            alias(f.sum(column("n")), "n"),
        )
        .from_(values.subquery("by_target"), copy=False)
        .group_by(*(column(name) for name in (*group, "value")), copy=False)
    )
    running = exp.select(
        *(column(name) for name in (*group, "value", "width")),
        alias(_over(f.sum(column("added")), group, ["value"]), "information"),
        alias(_over(f.sum(column("n")), group, ["value"]), "lower"),
        alias(_over(f.sum(column("n")), group), "rows"),
    ).from_(by_value.subquery("by_value"))
    upper = paren(column("rows") - column("lower"))
    gain = column("information") - _n_log_n(column("lower")) - _n_log_n(upper.copy())
    apart = f.abs(upper - column("lower"))
    possible = (
        exp.select(
            *(column(name) for name in (*group, "value", "width", "lower")),
            alias(huge(gain), "gain"),
            alias(apart, "apart"),
        )
        .from_(running.subquery("running"), copy=False)
        .where(column("lower") >= cuts.least, upper >= cuts.least, copy=False)
    )
    order = [_descending("gain"), _ascending("apart"), _ascending("lower")]
    number = window(f.row_number(), partition_by=[column(name) for name in group], order=order_by(*order))
    ranked = exp.select(exp.Star(), alias(number, "rank")).from_(possible.subquery("possible"), copy=False)
    named = [column("region"), column("dim"), alias(column("value"), "median"), column("gain"), column("width")]
    best = column("rank").eq(1)
    return exp.select(*named).from_(ranked.subquery("ranked"), copy=False).where(best, copy=False)


def most_telling(cuts: Cuts, regions: str, gained: str) -> exp.Select:
    """The regions with `dim`, the attribute in which each is cut, and the median (and level).

    It is the attribute of the greatest gain, of equal ones the widest, then the first. `gained` is a table of `gains`.
    """
    order = [_descending("gain"), _descending("width"), _ascending("dim")]
    number = window(f.row_number(), partition_by=[column("region")], order=order_by(*order))
    ranked = exp.select(exp.Star(), alias(number, "rank")).from_(relation(gained))
    on = exp.and_(same("region", "region", "ranked"), column("rank", "ranked").eq(1))
    turn = exp.select(*cuts.region_columns("region"), column("dim", "ranked"), column("median", "ranked"))
    turn.from_(relation(regions, as_="region"), copy=False)
    return cuts.with_level_of_cut(turn.join(ranked.subquery("ranked"), on=on, join_type="LEFT", copy=False))


def _counted(cuts: Cuts, points: str, wide: exp.Select, index: int) -> exp.Select:
    """region, dim, width, value, target, n: each region's rows by their value in one attribute and their target."""
    dim = integer(literal(index))
    bounds = [column(name(index)) for name in (low_name, high_name)]
    turn = exp.select(
        column("region"), alias(f.unnest(column("labels")), "label"), alias(column(f"width_{index}"), "width")
    )
    turn.select(*bounds, copy=False).from_(wide.copy().subquery("wide"), copy=False)
    turn.where(is_not_null(column(f"width_{index}")), copy=False)
    query = exp.select().from_(relation(points, as_="point"))
    on = same("label", "point", "turn")
    value = cuts.points.rank(index, "point")
    if cuts.ancestors is not None and cuts.heights[index] > 1:
        query.join(cuts.with_level(turn, index).subquery("turn"), on=on, copy=False)
        value = cuts.respecting(query, dim, column("level", "turn"), value)
    else:
        query.join(turn.subquery("turn"), on=on, copy=False)
    group = [column("region", "turn"), column("width", "turn"), value, cuts.points.target_code("point")]
    names = ["region", "width", "value", "target"]
    return query.select(
        *(alias(tree, name) for tree, name in zip(group, names, strict=True)),
        alias(dim.copy(), "dim"),
        alias(f.sum(cuts.points.n("point")), "n"),
        copy=False,
    ).group_by(*(tree.copy() for tree in group), copy=False)


def _n_log_n(number: exp.Expr) -> exp.Expr:
    """n log2 n in units of 2 ** -GAIN_BITS, 0 for n = 0."""
    n = cast(paren(number.copy()), "DOUBLE")
    logarithm = infix(n, "*", f.ln(n.copy()) / real(log(2)))
    scaled = f.round(logarithm * real(float(1 << GAIN_BITS)))
    return if_(paren(number.copy()) > 0, huge(scaled), huge(literal(0)))


def _over(aggregate: exp.Expr, partition: list[str], order: list[str] | None = None) -> exp.Window:
    ordered = order_by(*(_ascending(name) for name in order)) if order else None
    return window(aggregate, partition_by=[column(name) for name in partition], order=ordered)


def _ascending(name: str) -> exp.Ordered:
    return ascending(column(name))


def _descending(name: str) -> exp.Ordered:
    return descending(column(name))
