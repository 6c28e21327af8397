"""Reads the labels of a generalized column as spans of values on its axis; a span may hold a single value.

Each function returns label, low, low_side, high, high_side, known, open_low, open_high and mask, from the relation
"shown" (label, shown). A span begins and ends at a point of the axis, on a side of the point: 0 before it, 1 after it.
`known` is true if all values of the span are equally likely, and NULL if they are possible with weight 0. `open_low`
and `open_high` are true if the span has no end on that side. `mask` is the label whose form the texts of the span have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.estimates.axes import Axis, span
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    as_text,
    cast,
    identical,
    if_,
    infix,
    integer,
    is_not_null,
    is_null,
    joined,
    not_,
    or_,
    paren,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, inner_join, select, subquery
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import rank_name, tree
from sqlanon.sql.cells.labels import level_name, listed_values
from sqlanon.sql.cells.value_ranks import ranked
from sqlanon.sql.hierarchies.base import OpenEnd

# The label that may represent any value.
STAR = "*"


def spans(form: str, axis: Axis) -> exp.Query:
    """Returns the spans of the labels that are read in one form."""
    return _FORMS[form](axis)


def null_labels(forms: tuple[str, ...], axis: Axis | None) -> exp.Query | None:
    """Returns label and weight of the labels that may represent NULL, apart from the label NULL.

    For a range that ends in "or NULL", NULL is one more leaf, with weight 1; on the real line, where the leaves of a
    range cannot be counted, it has weight 0. Below `*` NULL is possible, with weight 0.
    """
    nothing = cast(literal(0), "DOUBLE")
    queries: list[exp.Query] = []
    if "star" in forms:
        queries.append(select(column("label"), alias(nothing, "weight"), of=relation("shown"), where=[_is_star()]))
    if "any" in forms:
        labels = select(column("label"), alias(nothing, "weight"), of=relation("shown"))
        queries.append(extend(labels, where=[_not_null(column("shown"))]))
    if set(forms) & {"range", "tree_range", "listed_range"}:
        weight: exp.Expr = cast(literal(1), "DOUBLE")
        if axis and axis.kind == "real":
            weight = if_(column("low").eq(column("high")), weight, nothing)
        ranges = select(column("label"), alias(weight, "weight"), of=subquery(fixed("range"), "range"))
        queries.append(extend(ranges, where=[column("with_null"), _fits(axis)]))
    if not queries:
        return None
    most = alias(f.max(column("weight")), "weight")
    return select(column("label"), most, of=subquery(union_all(queries), "nulls"), group_by=[column("label")])


def _fits(axis: Axis | None) -> exp.Expr:
    """Whether the ends of a range are values of the column's type."""
    if axis is None:
        return exp.true()
    return and_(*(_not_null(axis.down(column(end))) for end in ("low", "high")))


def _value(axis: Axis) -> exp.Query:
    typed = try_cast(column("shown"), axis.type)
    rows = select(column("label"), alias(axis.of(typed), "at"), of=relation("shown"))
    whole = span(column("at"), column("at"), (0, 1)).from_(subquery(rows, "value"))
    return whole.where(_not_null(column("at")))


def _interval(axis: Axis) -> exp.Query:
    low, high = _or_end(axis, "low"), _or_end(axis, "high")
    known = and_(_not_null(column("low")), _not_null(column("high")))
    endless = _null(column("high"))
    # An interval without an end contains the greatest value of the type.
    side = if_(endless, 1, 0)
    query = span(low, high, (0, side), known=known, open_low=_null(column("low")), open_high=endless)
    intervals = query.from_(subquery(fixed("interval"), "interval"))
    if axis.kind != "real":
        return intervals
    # NaN and the infinite values have labels of their own.
    points = _labelled(axis, ("NaN", "Infinity", "-Infinity"))
    return union_all([intervals, points])


def _or_end(axis: Axis, end: str) -> exp.Expr:
    bound = axis.low if end == "low" else axis.high
    return if_(_null(column(end)), axis.end(bound), axis.up(column(end)))


def _period(axis: Axis) -> exp.Query:
    moment = exp.DataType.build("DATE" if axis.unit_of == "day" else "TIMESTAMP")
    low, high = (axis.of(cast(column(end), moment)) for end in ("low", "high"))
    periods = extend(span(low, high, (0, 0)), of=subquery(fixed("period"), "period"))
    return union_all([periods, _labelled(axis, ("infinity", "-infinity"))])


def _labelled(axis: Axis, names: Sequence[str]) -> exp.Select:
    """Returns the spans of the values in `names`, each of which is its own label."""
    is_named = column("shown").isin(*(literal(name) for name in names))
    rows = select(column("label"), alias(axis.down(column("shown")), "at"), of=relation("shown"))
    labelled = subquery(extend(rows, where=[is_named]), "labelled")
    return extend(span(column("at"), column("at"), (0, 1)), of=labelled)


def _mask(axis: Axis) -> exp.Query:
    return starred(axis, subquery(fixed("mask"), "mask"))


def _range(axis: Axis) -> exp.Query:
    low, high = (axis.down(column(end)) for end in ("low", "high"))
    ends = (alias(low, "low"), alias(high, "high"))
    rows = select(column("label"), *ends, column("with_null"), of=subquery(fixed("range"), "range"))
    known = _known(axis)
    if axis.kind == "text":
        ways, values = ways_of_label(), window(exp.func("count_if", is_one_value()), partition_by=[column("label")])
        known = is_meant(ways, values)
    ordered = column("low") <= column("high")
    query = span(column("low"), column("high"), (0, 1), known=known).from_(subquery(rows, "range"))
    return query.where(_not_null(column("low")), _not_null(column("high")), ordered)


def _tree_range(axis: Axis) -> exp.Query:
    """Returns the spans of ranges in an unknown order. A range with two ends may represent any value."""
    low, high = (axis.down(column(end)) for end in ("low", "high"))
    ends = (alias(low, "low"), alias(high, "high"))
    rows = select(column("label"), *ends, column("with_null"), of=subquery(fixed("range"), "range"))
    fits = extend(rows, where=[_not_null(low.copy()), _not_null(high.copy())])
    values = window(exp.func("count_if", is_one_value()), partition_by=[column("label")])
    numbered = select(exp.Star(), alias(ways_of_label(), "ways"), alias(values, "values"), of=subquery(fits, "fitting"))
    single = span(column("low"), column("high"), (0, 1), known=is_meant(column("ways"), column("values")))
    single = single.from_(subquery(numbered, "single")).where(is_one_value())
    others = select(column("label"), of=subquery(numbered, "other"), where=[not_(is_one_value())])
    other = everything(axis, subquery(others, "everything"))
    return union_all([single, other])


def ways_of_label() -> exp.Expr:
    """Counts the readings of a range's label; a text may itself hold brackets and commas, and end in "or NULL"."""
    return window(f.count(), partition_by=[column("label")])


def is_one_value() -> exp.Expr:
    return column("low").eq(column("high"))


def is_meant(ways: exp.Expr, values: exp.Expr) -> exp.Expr:
    """Whether a reading of a range of texts is the meaning of its label; NULL if it is merely possible.

    The label has `ways` readings, and `values` of them are a single value. A label with one reading is certain. A label
    with two, the value "x or NULL" and the value x or NULL, is assumed to mean the latter, as in a hierarchy that lists
    the values.
    """
    whole = and_(infix(ways, "=", 2), infix(values, "=", 2))
    null_or_not = if_(column("with_null"), exp.true(), cast(exp.null(), "BOOLEAN"))
    return if_(whole, null_or_not, and_(is_one_value(), infix(ways, "=", 1)))


def _bounds(axis: Axis) -> exp.Query:
    ends = [axis.of(f.call("struct_extract", column("label"), literal(end))) for end in ("low", "high")]
    rows = select(column("label"), *(alias(e, n) for e, n in zip(ends, ("low", "high"), strict=True)))
    known = _known(axis)
    if axis.kind == "text":
        known = column("low").eq(column("high"))
    query = span(column("low"), column("high"), (0, 1), known=known)
    query = query.from_(subquery(extend(rows, of=relation("shown")), "bounds"))
    return query.where(_not_null(column("low")), _not_null(column("high")))


def everything(axis: Axis, rows: exp.Expr) -> exp.Query:
    """Returns the spans of all values of the type, for the labels of the given rows."""
    low, high = axis.end(axis.low), axis.end(axis.high)
    open_ = exp.false() if axis.listed else exp.true()
    known = exp.true() if axis.listed else exp.false()
    all_values: exp.Query = span(low, high, (0, 1), known=known, open_low=open_, open_high=open_.copy()).from_(rows)
    if axis.kind == "real":
        for value in axis.beyond:
            at = axis.end(value)
            point = span(at, at.copy(), (0, 1), known=exp.false(), open_low=exp.true(), open_high=exp.true())
            all_values = union_all([all_values, point.from_(rows.copy())])
    return all_values


def _star(axis: Axis) -> exp.Query:
    return everything(axis, _labels_where(_is_star()))


def _any(axis: Axis) -> exp.Query:
    return everything(axis, _labels_where(_not_null(column("shown"))))


def _labels_where(condition: exp.Expr) -> exp.Subquery:
    return subquery(select(column("label"), of=relation("shown"), where=[condition]), "everything")


def _is_star() -> exp.Expr:
    return column("shown").eq(literal(STAR))


def _null(tree: exp.Expr) -> exp.Expr:
    return is_null(tree)


def _not_null(tree: exp.Expr) -> exp.Expr:
    return exp.not_(_null(tree))


def _known(axis: Axis) -> exp.Expr:
    """Whether the values between two ends are equally likely, because they can be counted, or because there is only
    one.
    """
    if axis.kind == "real":
        ends = (f.call("isfinite", column(end)) for end in ("low", "high"))
        return or_(and_(*ends), column("low").eq(column("high")))
    if not axis.beyond:
        return exp.true()
    endless = [column(end).isin(*(axis.end(value) for value in axis.beyond)) for end in ("low", "high")]
    return or_(not_(or_(*endless)), column("low").eq(column("high")))


def open_spans(ends: Sequence[OpenEnd], axis: Axis) -> exp.Query:
    """Returns the spans of the labels of open ends, which are in the relation "ended"."""
    return union_all([_open_span(end, axis) for end in ends])


def _open_span(end: OpenEnd, axis: Axis) -> exp.Query:
    low = axis.end(axis.low) if end.low is None else axis.up(literal(end.low))
    high = axis.end(axis.high) if end.high is None else axis.up(literal(end.high))
    query = span(
        low,
        high,
        (0, 1 if end.high is None else 0),
        known=exp.false(),
        open_low=exp.true() if end.low is None else exp.false(),
        open_high=exp.true() if end.high is None else exp.false(),
    )
    return query.from_(relation("ended")).where(column("shown").eq(literal(end.label)))


def within_ends(all_spans: exp.Query, ends: Sequence[OpenEnd], axis: Axis) -> exp.Query:
    """Clips spans at the open ends: a decade from 1930 begins at 1937 if an open end ends there."""
    for end in ends:
        text = end.high if end.low is None else end.low
        if text is None:
            continue
        at = axis.up(literal(text))
        is_cut = and_(column("low") < at, at < column("high"))
        part = "low" if end.low is None else "high"
        cut = {part: at.copy(), f"{part}_side": literal(0)}
        names = ("label", "low", "low_side", "high", "high_side", "known", "open_low", "open_high", "mask")
        outputs = [alias(if_(is_cut, cut[name], column(name)), name) if name in cut else column(name) for name in names]
        all_spans = select(*outputs, of=subquery(all_spans, "uncut"))
    return all_spans


_FORMS: dict[str, Callable[[Axis], exp.Query]] = {
    "value": _value,
    "interval": _interval,
    "period": _period,
    "mask": _mask,
    "range": _range,
    "tree_range": _tree_range,
    "bounds": _bounds,
    "star": _star,
    "any": _any,
}


def starred(axis: Axis, masks: exp.Subquery) -> exp.Query:
    """Returns the spans of labels that end in stars, from `masks` with label, mask, prefix and stars."""
    if axis.kind == "text":
        rows = select(exp.Star(), alias(_behind(column("prefix")), "behind"), of=masks)
        single = column("stars").eq(0)
        whole = span(column("prefix"), column("prefix"), (0, 1)).from_(subquery(rows, "whole")).where(single)
        high = f.coalesce(column("behind"), axis.end(axis.high))
        known = _of_digits()
        other = span(column("prefix"), high, (0, 0), known=known, mask=column("mask"))
        masked = other.from_(subquery(rows, "masked")).where(exp.not_(single))
        return union_all([whole, masked])
    return _of_numbers(axis, masks)


def _of_numbers(axis: Axis, masks: exp.Subquery) -> exp.Query:
    """Returns the spans of the whole numbers that have these digits, followed by one digit for each star."""
    zeros, nines = (_repeated(digit, column("stars")) for digit in "09")
    ends = [axis.of(_integer(joined(column("prefix"), part))) for part in (zeros, nines)]
    minus = column("prefix").eq("-")
    # Below "-" and stars no number begins with 0.
    others = column("stars") - 1
    least = _integer(joined(exp.Literal.string("-1"), _repeated("0", others)))
    first = if_(minus, axis.of(least), ends[0])
    low = f.least(first, ends[1], ignore_nulls=True)
    high = f.greatest(first, ends[1], ignore_nulls=True)
    rows = select(column("label"), alias(low, "low"), alias(high, "high"), of=masks)
    query = span(column("low"), column("high"), (0, 1)).from_(subquery(rows, "masked"))
    return query.where(*(is_not_null(column(end)) for end in ("low", "high")))


def _repeated(digit: str, times: exp.Expr) -> exp.Expr:
    return f.call("repeat", literal(digit), _as_integer(times))


def _as_integer(tree: exp.Expr) -> exp.Expr:
    return integer(tree)


def _integer(tree: exp.Expr) -> exp.Expr:
    return try_cast(paren(tree), "HUGEINT")


def _of_digits() -> exp.Expr:
    """Whether a mask has only digits and one to four stars. Its values are assumed to have digits in place of the
    stars.
    """
    return column("mask").rlike("^[0-9]+[*]{1,4}$")


def _behind(prefix: exp.Expr) -> exp.Expr:
    """Returns the least text that sorts after all texts with the prefix; NULL if there is none."""
    last = f.call("unicode", f.right(prefix, 1))
    raised = last + 1
    # Code points from D800 to DFFF are not characters.
    valid = if_(infix(raised, "=", 0xD800), 0xE000, raised)
    length = f.call("length", prefix)
    most = _as_integer(length - 1)
    text = joined(f.left(prefix, most), f.call("chr", _as_integer(valid)))
    no_last = or_(prefix.eq(""), last.eq(0x10FFFF))
    return if_(exp.not_(paren(no_last)), text)


# The leaves that a stored hierarchy lists below each label, and NULL for labels that may represent it.


MOMENTS = ("mean", "square", "least", "greatest")
_DOUBLE = exp.DataType.build("DOUBLE")


def nulls(generalized: Generalized, axis: Axis | None) -> exp.Query:
    """Returns NULL as a leaf of each label that may represent it, and of the label NULL."""
    is_null = column("shown").is_(exp.null())
    if "bounds" in generalized.forms:
        ends = f.call("struct_extract", column("label"), "low")
        is_null = ends.is_(exp.null())
    rows: exp.Query = select(column("label"), alias(unit_weight(), "weight"), of=relation("shown"), where=[is_null])
    if (others := null_labels(generalized.nulls or generalized.forms, axis)) is not None:
        rows = union_all([rows, others])
    none = cast(exp.null(), generalized.bound.type)
    most = alias(f.max(column("weight")), "weight")
    outputs = [column("label"), alias(none, "value"), most, *no_moments()]
    return select(*outputs, of=subquery(rows, "null_label"), group_by=[column("label")])


def listed_leaves(generalized: Generalized) -> exp.Query:
    """Returns the values that a stored hierarchy lists below each label, as leaves."""
    return select(
        column("label"),
        column("value"),
        alias(f.max(column("weight")), "weight"),
        *no_moments(),
        of=subquery(_listed(generalized), "listed_leaf"),
        group_by=[column("label"), column("value")],
    )


def _listed(generalized: Generalized) -> exp.Query:
    listed = relation("listed")
    weighed: exp.Expr = exp.null() if "any" in generalized.forms else literal(1)
    weight = cast(weighed, "DOUBLE")
    queries: list[exp.Query] = []
    for level in generalized.levels:
        label = _level_label(generalized.bound, level)
        same = identical(column("shown", "shown"), label)
        outputs = [column("label", "shown"), column("value", "listed"), alias(weight, "weight")]
        queries.append(select(*outputs, of=relation("shown"), joins=[inner_join(listed, same)]))
    if "any" in generalized.forms:
        outputs = [column("label", "shown"), column("value", "listed"), alias(weight, "weight")]
        pairs = [cross_join(listed)]
        queries.append(
            select(*outputs, of=relation("shown"), joins=pairs, where=[is_not_null(column("shown", "shown"))])
        )
    if "listed_range" in generalized.forms:
        queries.append(_listed_range(generalized))
    names = (column(name) for name in ("label", "value", "weight"))
    queries.append(select(*names, of=subquery(nulls(generalized, None), "nulls")))
    return union_all(queries)


def _level_label(bound: BoundAttribute, level: int) -> exp.Expr:
    if level == bound.height:
        return literal(STAR)
    if level == 0:
        return as_text(column("value", "listed"))
    return column(level_name(level), "listed")


def _listed_range(generalized: Generalized) -> exp.Select:
    """Returns the listed values between the ends of a range, in the order of the hierarchy."""
    query = select(
        column("label", "range"),
        column("value", "listed"),
        alias(unit_weight(), "weight"),
        of=subquery(fixed("range"), "range"),
    )
    for end in ("low", "high"):
        typed = try_cast(column(end, "range"), generalized.bound.type)
        query = extend(query, joins=[inner_join(relation("listed", as_=end), typed.eq(column("value", end)))])
    between = column(rank_name(0), "listed").between(column(rank_name(0), "low"), column(rank_name(0), "high"))
    known = is_not_null(column("value", "listed"))
    return extend(query, joins=[inner_join(relation("listed"), and_(between, known))])


def tree_steps(generalized: Generalized) -> list[Step]:
    """Returns the step `listed`, the values of a stored hierarchy with their labels, or with their ranks for ranges."""
    rows = relation(("anon", "hierarchy_value"))
    if "listed_range" not in generalized.forms:
        return [("listed", listed_values(generalized.bound, rows))]
    typed = cast(exp.null(), generalized.bound.type)
    nothing = select(alias(typed, generalized.column), where=[exp.false()])
    return [
        ("nothing", nothing),
        ("tree", tree(generalized.bound, relation("nothing"), rows)),
        ("listed", ranked(generalized.bound, "tree")),
    ]


def unit_weight() -> exp.Expr:
    """Returns 1 as DOUBLE: the weight of a leaf that is one value, or the probability of a certain event."""
    return cast(literal(1), "DOUBLE")


def no_moments() -> list[exp.Expr]:
    """Returns the moments of a leaf with one value: NULL, because a query's argument is evaluated on the value itself.

    The ends take their types from the other queries of a UNION.
    """
    nothing = cast(exp.null(), "DOUBLE")
    return [alias(nothing if name in ("mean", "square") else exp.null(), name) for name in MOMENTS]
