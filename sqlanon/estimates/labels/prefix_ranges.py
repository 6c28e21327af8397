"""Reads labels of ranges along a hierarchy of prefixes, such as PREFIXES (4, 3) of postal codes.

Two values of equal length that have the same prefix at the last level below `*` are below one node of that level. Below
this node the order along the hierarchy equals the order of the values, because the values below any node are neighbors
in it, and siblings are sorted by their least values. So a range between two such values contains exactly the values of
this length between them. The order of other ranges depends on unknown values.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.axes import Axis, span
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.spans import STAR, everything, is_meant, is_one_value, ways_of_label
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
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
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.hierarchies.base import builder, functional

# At most this many texts of digits are listed between two ends: four stars of a mask hide as many.
_MOST_DIGITS = 9_999
# Numbers of at most this many digits fit BIGINT.
_MOST_LENGTH = 18


def prefix_length(generalized: Generalized) -> int | None:
    """Returns the number of characters that the last level below `*` shows; None unless a column has ranges along
    prefixes.
    """
    hierarchy = generalized.bound.hierarchy
    if hierarchy is None or "tree_range" not in generalized.forms or generalized.marginal is not None:
        return None
    if builder(hierarchy.kind).STORED or functional(hierarchy.kind).READ_AS != "mask":
        return None
    return min(int(str(length)) for length in hierarchy.arguments)


def prefix_ranges(axis: Axis, length: int) -> exp.Query:
    """Returns the spans of ranges along prefixes: from end to end below one node of the last level, and otherwise as
    `_tree_range` returns them.

    Between ends of digits, `digits_between` lists the values; other texts there, and a value that reads as a range, are
    possible and have weight 0.
    """
    rows = select(exp.Star(), alias(_is_below_one_node(length), "below"), of=subquery(fixed("range"), "range"))
    low, high = (axis.down(column(end)) for end in ("low", "high"))
    ends = (alias(low, "low"), alias(high, "high"))
    digits = alias(_are_few_digits(), "digits")
    labels = select(column("label"), *ends, column("below"), digits, column("with_null"))
    fits = extend(labels, of=subquery(rows, "ranges"), where=[is_not_null(low), is_not_null(high)])
    values = window(exp.func("count_if", is_one_value()), partition_by=[column("label")])
    listed = window(f.call("bool_or", and_(column("below"), column("digits"))), partition_by=[column("label")])
    numbered = select(exp.Star(), alias(ways_of_label(), "ways"), alias(values, "values"), alias(listed, "listed"))
    numbered = extend(numbered, of=subquery(fits, "fitting"))
    possible = cast(exp.null(), "BOOLEAN")
    meant = if_(column("listed"), possible, is_meant(column("ways"), column("values")))
    single = span(column("low"), column("high"), (0, 1), known=meant)
    single = single.from_(subquery(numbered, "single")).where(is_one_value())
    known: exp.Expr = exp.true() if axis.kind == "integer" else if_(column("digits"), possible, exp.false())
    between = span(column("low"), column("high"), (0, 1), known=known, mask=_mask_of_ends(axis))
    is_range = not_(is_one_value())
    between = between.from_(subquery(numbered, "between")).where(is_range, column("below"))
    others = select(column("label"), of=subquery(numbered, "other"), where=[is_range, not_(column("below"))])
    return union_all([single, between, everything(axis, subquery(others, "everything"))])


def _is_below_one_node(length: int) -> exp.Expr:
    """Whether the texts `low` and `high` have equal lengths and equal prefixes, and `low` sorts before `high`."""
    low, high = column("low"), column("high")
    alike = f.left(low, literal(length)).eq(f.left(high, literal(length)))
    return and_(f.length(low).eq(f.length(high)), alike, low < high)


def _are_few_digits() -> exp.Expr:
    """Whether the texts `low` and `high` are whole numbers with at most 9,999 between them."""
    low, high = column("low"), column("high")
    digits = (f.call("regexp_full_match", end, literal("[0-9]+")) for end in (low, high))
    short = infix(f.length(high), "<=", literal(_MOST_LENGTH))
    number = [try_cast(end, "BIGINT") for end in (low, high)]
    few = infix(paren(number[1] - number[0]), "<=", literal(_MOST_DIGITS))
    return f.coalesce(and_(*digits, short, few), exp.false())


def _mask_of_ends(axis: Axis) -> exp.Expr | None:
    """Returns a mask of stars as long as the end `high`; None unless the type is text."""
    return f.call("repeat", literal(STAR), integer(f.length(column("high")))) if axis.kind == "text" else None


def digits_between(length: int) -> exp.Query:
    """Returns label and value: each text of digits between the ends of a range along prefixes."""
    rows = select(column("label"), column("low"), column("high"), of=subquery(fixed("range"), "range"))
    rows = extend(rows, where=[_is_below_one_node(length), _are_few_digits()])
    ends = (big(column(end)) for end in ("low", "high"))
    series = f.unnest(exp.GenerateSeries(**dict(zip(("start", "end"), ends, strict=True))))
    each = select(column("label"), column("low"), alias(series, "number"), of=subquery(rows, "ended"))
    whole = f.call("lpad", as_text(column("number")), integer(f.length(column("low"))), literal("0"))
    return select(column("label"), alias(whole, "value"), of=subquery(each, "numbers"))
