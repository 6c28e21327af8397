"""Reads labels of ranges along a hierarchy of prefixes, such as PREFIXES (4, 3) of postal codes.

Two values of equal length that have the same prefix at the last level below `*` are below one node of that level. Below
this node the order along the hierarchy equals the order of the values, because the values below any node are neighbors
in it, and siblings are sorted by their least values. So a range between two such values contains exactly the values of
this length between them. The order of other ranges depends on unknown values.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.axes import Axis
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.spans import range_ends, tree_ranges
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build.sql_files import filled, query_file
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
    """Returns the spans of ranges along prefixes: from end to end below one node of the last level, else as
    `tree_ranges`.

    Between ends of digits, `digits_between` lists the values; other texts there, and a value that reads as a range, are
    possible and have weight 0.
    """
    readings = query_file(
        "estimates",
        "prefix_ranges",
        tables={"ends": range_ends(axis, any_order=True)},
        calls={"few_digits": _few_digits},
        length=length,
        counted=axis.kind == "integer",
    )
    mask = filled("repeat('*', CAST(length(high) AS INTEGER))") if axis.kind == "text" else exp.null()
    return tree_ranges(axis, readings, mask)


def _few_digits(low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """Whether two texts are whole numbers with at most 9,999 between them."""
    return filled(
        "coalesce(regexp_full_match($low, '[0-9]+') AND regexp_full_match($high, '[0-9]+') "
        "AND length($high) <= $longest AND TRY_CAST($high AS BIGINT) - TRY_CAST($low AS BIGINT) <= $most, false)",
        low=low,
        high=high,
        longest=_MOST_LENGTH,
        most=_MOST_DIGITS,
    )


def digits_between(length: int) -> exp.Query:
    """Returns label and value: each text of digits between the ends of a range along prefixes."""
    tables, calls = {"range": fixed("range")}, {"few_digits": _few_digits}
    return query_file("estimates", "digits_between", tables=tables, calls=calls, length=length)
