"""Reads labels of ranges along a hierarchy of prefixes, such as PREFIXES (4, 3) of postal codes.

Values that are as long as each other, and begin alike as far as the last level below `*` shows, are below one node of
that level. There the order along the hierarchy is that of the values: the values below any node are neighbors in that
order, and siblings are put in the order of their least values. So a range whose ends are such values has the values
between them, and none of another length. Of other ranges the order depends on values that nobody knows.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.axes import Axis, span
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.spans import STAR, everything, is_meant, is_one_value, ways_of_label
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    big,
    cast,
    if_,
    infix,
    integer,
    is_not_null,
    not_,
    paren,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.hierarchies.base import builder, functional

# As many values of digits as four stars hide are listed between two ends, as below a mask.
_MOST_DIGITS = 9_999
# Of so many digits numbers fit BIGINT.
_MOST_LENGTH = 18


def prefix_length(generalized: Generalized) -> int | None:
    """The number of characters that the level below `*` shows, for a column with ranges along prefixes; else None."""
    hierarchy = generalized.bound.hierarchy
    if hierarchy is None or "tree_range" not in generalized.forms or generalized.marginal is not None:
        return None
    if builder(hierarchy.kind).STORED or functional(hierarchy.kind).READ_AS != "mask":
        return None
    return min(int(str(length)) for length in hierarchy.arguments)


def prefix_ranges(axis: Axis, length: int) -> exp.Query:
    """The spans of ranges along prefixes: from end to end below one node of the last level, else as `_tree_range`.

    Of texts that are digits the values between are listed by `digits_between`; other texts there are possible and not
    counted on, and so is a value that reads as a range.
    """
    rows = exp.select(exp.Star(), alias(_is_below_one_node(length), "below")).from_(fixed("range").subquery("range"))
    low, high = (axis.down(column(end)) for end in ("low", "high"))
    ends = (alias(low, "low"), alias(high, "high"))
    digits = alias(_are_few_digits(), "digits")
    labels = exp.select(column("label"), *ends, column("below"), digits, column("with_null"))
    fits = labels.from_(rows.subquery("ranges")).where(is_not_null(low.copy()), is_not_null(high.copy()))
    values = window(exp.func("count_if", is_one_value()), partition_by=[column("label")])
    listed = window(f.call("bool_or", exp.and_(column("below"), column("digits"))), partition_by=[column("label")])
    numbered = exp.select(exp.Star(), alias(ways_of_label(), "ways"), alias(values, "values"), alias(listed, "listed"))
    numbered = numbered.from_(fits.subquery("fitting"))
    possible = cast(exp.null(), "BOOLEAN")
    meant = if_(column("listed"), possible, is_meant(column("ways"), column("values")))
    single = span(column("low"), column("high"), (0, 1), known=meant)
    single = single.from_(numbered.copy().subquery("single")).where(is_one_value())
    known: exp.Expr = exp.true() if axis.kind == "integer" else if_(column("digits"), possible.copy(), exp.false())
    between = span(column("low"), column("high"), (0, 1), known=known, mask=_mask_of_ends(axis))
    is_range = not_(is_one_value())
    between = between.from_(numbered.copy().subquery("between")).where(is_range, column("below"))
    others = exp.select(column("label")).from_(numbered.subquery("other"))
    others = others.where(is_range.copy(), not_(column("below")))
    return union_all([single, between, everything(axis, others.subquery("everything"))])


def _is_below_one_node(length: int) -> exp.Expr:
    """Whether the texts `low` and `high` have one length and one beginning, and `low` comes first."""
    low, high = column("low"), column("high")
    alike = f.left(low.copy(), literal(length)).eq(f.left(high.copy(), literal(length)))
    return exp.and_(f.length(low.copy()).eq(f.length(high.copy())), alike, low < high)


def _are_few_digits() -> exp.Expr:
    """Whether the texts `low` and `high` are numbers with few others between them."""
    low, high = column("low"), column("high")
    digits = (f.call("regexp_full_match", end.copy(), literal("[0-9]+")) for end in (low, high))
    short = infix(f.length(high.copy()), "<=", literal(_MOST_LENGTH))
    number = [try_cast(end.copy(), "BIGINT") for end in (low, high)]
    few = infix(paren(number[1] - number[0]), "<=", literal(_MOST_DIGITS))
    return f.coalesce(exp.and_(*digits, short, few), exp.false())


def _mask_of_ends(axis: Axis) -> exp.Expr | None:
    """A mask of texts as long as the end `high`."""
    return f.call("repeat", literal(STAR), integer(f.length(column("high")))) if axis.kind == "text" else None


def digits_between(length: int) -> exp.Query:
    """label and value: the texts of digits from end to end of ranges along prefixes, each once."""
    rows = exp.select(column("label"), column("low"), column("high")).from_(fixed("range").subquery("range"))
    rows = rows.where(_is_below_one_node(length), _are_few_digits())
    ends = (big(column(end)) for end in ("low", "high"))
    series = f.unnest(exp.GenerateSeries(**dict(zip(("start", "end"), ends, strict=True))))
    each = exp.select(column("label"), column("low"), alias(series, "number")).from_(rows.subquery("ended"))
    whole = f.call("lpad", as_text(column("number")), integer(f.length(column("low"))), literal("0"))
    return exp.select(column("label"), alias(whole, "value")).from_(each.subquery("numbers"))
