"""The values of the spans of labels one by one, where a query has to tell each value apart."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.axes import Axis
from sqlanon.estimates.labels.listed_leaves import no_moments, unit_weight
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, big, cast, huge, if_, is_not_null, is_null, paren, real
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.queries import inner_join, select

__all__ = ["every_number", "single_values", "size_of_span", "values_in_spans"]


def size_of_span() -> exp.Expr:
    """The number of whole numbers in a span, as DOUBLE: a type of 128 bits has more of them than it can count."""
    last = column("high") + column("high_side")
    first = column("low") + column("low_side")
    exact = paren(last) - paren(first)
    count = f.try_(cast(paren(exact), "DOUBLE"))
    return f.coalesce(count, real(1e39))


def every_number(axis: Axis) -> exp.Select:
    """Every whole number of the spans, each a leaf: label, value, weight and the moments."""
    number = big(size_of_span() - 1)
    series = f.unnest(exp.GenerateSeries(start=literal(0), end=number))
    at = exp.select(column("label"), column("low"), column("low_side"), alias(series, "step")).from_(relation("span"))
    position = column("low") + column("low_side") + huge(column("step"))
    single = exp.select(column("label"), alias(axis.back(paren(position)), "value"), alias(unit_weight(), "weight"))
    return single.select(*no_moments()).from_(at.subquery("single"))


def single_values(axis: Axis) -> exp.Select:
    """The values of spans that hold one value each, as leaves: label, value, weight and the moments.

    What is possible and not counted on weighs nothing.
    """
    weight = if_(is_null(column("known")), real(0.0), unit_weight())
    single = exp.select(column("label"), alias(axis.back(column("low")), "value"), alias(weight, "weight"))
    return single.select(*no_moments()).from_(relation("span"))


def values_in_spans(axis: Axis, values: str, alike: str | None = None) -> exp.Select:
    """The values of a table, in which each stands once, that lie in the spans: label, value, weight and the moments.

    With `alike`, a column of the table, the first of those that have the same there weighs as many as they are.
    """
    at, text = column("at", "point"), axis.down(as_text(column("value")))
    outputs = [alias(text, "at"), *([alias(column(alike), "alike")] if alike else [])]
    points = select(*outputs, of=relation(values), where=[is_not_null(column("value"))])
    behind_low = exp.or_(at > column("low", "span"), column("low_side", "span").eq(0))
    before_high = exp.or_(at < column("high", "span"), column("high_side", "span").eq(1))
    mask = column("mask", "span")
    as_long = exp.or_(is_null(mask), f.call("length", as_text(at)).eq(f.call("length", mask.copy())))
    within = exp.and_(at >= column("low", "span"), at <= column("high", "span"))
    value, weight = (f.min(at), cast(f.count(), "DOUBLE")) if alike else (at, unit_weight())
    return select(
        column("label", "span"),
        alias(axis.back(value), "value"),
        alias(weight, "weight"),
        *no_moments(),
        of=relation("span"),
        joins=[inner_join(points.subquery("point", copy=False), within)],
        where=[behind_low, before_high, as_long],
        group_by=[column("label", "span"), column("alike", "point")] if alike else [],
    )
