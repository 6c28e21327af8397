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
from sqlanon.estimates.axes import Axis
from sqlanon.estimates.fixed_sql import Tables, fixed
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build.expressions import as_text, cast, try_cast, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import filled, filled_query, query_file
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
    queries: list[exp.Query] = []
    if "star" in forms:
        queries.append(filled_query("SELECT label, 0.0::DOUBLE AS weight FROM shown WHERE shown = '*'"))
    if "any" in forms:
        queries.append(filled_query("SELECT label, 0.0::DOUBLE AS weight FROM shown WHERE shown IS NOT NULL"))
    if set(forms) & {"range", "tree_range", "listed_range"}:
        is_real = axis is not None and axis.kind == "real"
        queries.append(
            filled_query(
                "SELECT label, CASE WHEN NOT $real OR low = high THEN 1.0::DOUBLE ELSE 0.0::DOUBLE END AS weight "
                "FROM range WHERE with_null AND $fits",
                tables={"range": fixed("range")},
                real=is_real,
                fits=_fits(axis),
            )
        )
    if not queries:
        return None
    text = "SELECT label, max(weight) AS weight FROM nulls GROUP BY label"
    return filled_query(text, tables={"nulls": union_all(queries)})


def _fits(axis: Axis | None) -> exp.Expr:
    """Whether the ends of a range are values of the column's type."""
    if axis is None:
        return exp.true()
    return filled("point_down(low) IS NOT NULL AND point_down(high) IS NOT NULL", calls=axis.calls)


def on_axis(axis: Axis, name: str, tables: Tables, **values: object) -> exp.Query:
    """Returns the query of a file under sql/estimates, with the SQL of the axis in place of calls such as point_of.

    `values` fill the holes of the file.
    """
    return query_file("estimates", name, tables=tables, names=None, calls=axis.calls, **values)


def _value(axis: Axis) -> exp.Query:
    values = filled_query("SELECT label, point_of(typed(shown)) AS at FROM shown", calls=axis.calls)
    return fixed("points", {"point": values})


def _interval(axis: Axis) -> exp.Query:
    intervals = on_axis(axis, "interval_spans", {"interval": fixed("interval")})
    # NaN and the infinite values have labels of their own.
    names = ("NaN", "Infinity", "-Infinity")
    return union_all([intervals, _labelled(axis, names)]) if axis.kind == "real" else intervals


def _period(axis: Axis) -> exp.Query:
    kind = "DATE" if axis.unit_of == "day" else "TIMESTAMP"
    periods = filled_query(
        "SELECT label, point_of(at_unit(low)) AS low, 0 AS low_side, point_of(at_unit(high)) AS high, 0 AS high_side, "
        "true AS known, false AS open_low, false AS open_high, CAST(NULL AS VARCHAR) AS mask FROM period",
        tables={"period": fixed("period")},
        calls=axis.calls | {"at_unit": lambda end: cast(end, kind)},
    )
    return union_all([periods, _labelled(axis, ("infinity", "-infinity"))])


def _labelled(axis: Axis, names: Sequence[str]) -> exp.Query:
    """SELECT of the spans of the values in `names`, such as NaN, each of which is its own label."""
    text = "SELECT label, point_down(shown) AS at FROM shown WHERE shown IN ({names})"
    values = filled_query(text, names={"names": [literal(name) for name in names]}, calls=axis.calls)
    return fixed("points", {"point": values})


def _mask(axis: Axis) -> exp.Query:
    return starred(axis, fixed("mask"))


def starred(axis: Axis, masks: exp.Query) -> exp.Query:
    """Returns the spans of labels that end in stars, from `masks` with label, mask, prefix and stars."""
    return on_axis(axis, "text_mask_spans" if axis.kind == "text" else "number_mask_spans", {"mask": masks})


def range_ends(axis: Axis, *, any_order: bool) -> exp.Query:
    """Returns label, low, high, low_text, high_text and meant: the readings of ranges whose ends have points."""
    return on_axis(axis, "range_ends", {"range": fixed("range")}, any_order=any_order)


def _range(axis: Axis) -> exp.Query:
    known = column("meant") if axis.kind == "text" else _known(axis)
    return fixed("range_spans", {"ends": range_ends(axis, any_order=False)}, known=known)


def _tree_range(axis: Axis) -> exp.Query:
    """Returns the spans of ranges in an unknown order. A range with two ends may represent any value."""
    text = "SELECT label, low, high, meant, false AS below, false AS known FROM ends"
    readings = filled_query(text, tables={"ends": range_ends(axis, any_order=True)})
    return tree_ranges(axis, readings, exp.null())


def tree_ranges(axis: Axis, readings: exp.Query, mask: exp.Expr) -> exp.Query:
    """Returns the spans of the readings of ranges in the order of a tree; a range of two different ends that is not
    below one node may represent any value.
    """
    others = filled_query("SELECT label FROM reading WHERE NOT low = high AND NOT below", tables={"reading": readings})
    return union_all([fixed("tree_range_spans", {"reading": readings}, mask=mask), _everything(axis, others)])


def _bounds(axis: Axis) -> exp.Query:
    known = filled("low = high") if axis.kind == "text" else _known(axis)
    ends = filled_query(
        "SELECT label, point_of(struct_extract(label, 'low')) AS low, point_of(struct_extract(label, 'high')) AS high "
        "FROM shown",
        calls=axis.calls,
    )
    return fixed("range_spans", {"ends": ends}, known=known)


def _everything(axis: Axis, labels: exp.Query) -> exp.Query:
    """Returns the spans of all values of the type, for the given labels."""
    whole = on_axis(axis, "whole_spans", {"everything": labels}, listed=axis.listed)
    return union_all([whole, fixed("beyond_spans", {"everything": labels})]) if axis.kind == "real" else whole


def _star(axis: Axis) -> exp.Query:
    return _everything(axis, filled_query("SELECT label FROM shown WHERE shown = '*'"))


def _any(axis: Axis) -> exp.Query:
    return _everything(axis, filled_query("SELECT label FROM shown WHERE shown IS NOT NULL"))


def _known(axis: Axis) -> exp.Expr:
    """Whether the values between two ends are equally likely, because they can be counted, or because there is only
    one.
    """
    if axis.kind == "real":
        return filled("isfinite(low) AND isfinite(high) OR low = high")
    if not axis.beyond:
        return exp.true()
    text = "NOT (low IN (first_point(), last_point()) OR high IN (first_point(), last_point())) OR low = high"
    return filled(text, calls=axis.calls)


def open_spans(ends: Sequence[OpenEnd], axis: Axis) -> exp.Query:
    """Returns the spans of the labels of open ends, which are in the relation "ended"."""
    return union_all([_open_span(end, axis) for end in ends])


def _open_span(end: OpenEnd, axis: Axis) -> exp.Query:
    return filled_query(
        "SELECT label, $low AS low, 0 AS low_side, $high AS high, $high_side AS high_side, false AS known, "
        "$open_low AS open_low, $open_high AS open_high, CAST(NULL AS VARCHAR) AS mask FROM ended WHERE shown = $label",
        low=axis.end(axis.low) if end.low is None else axis.up(literal(end.low)),
        high=axis.end(axis.high) if end.high is None else axis.up(literal(end.high)),
        high_side=1 if end.high is None else 0,
        open_low=end.low is None,
        open_high=end.high is None,
        label=end.label,
    )


_CLIPPED_BELOW = """
    SELECT * REPLACE (
        CASE WHEN low < $at AND $at < high THEN $at ELSE low END AS low,
        CASE WHEN low < $at AND $at < high THEN 0 ELSE low_side END AS low_side
    )
    FROM uncut
"""
_CLIPPED_ABOVE = """
    SELECT * REPLACE (
        CASE WHEN low < $at AND $at < high THEN $at ELSE high END AS high,
        CASE WHEN low < $at AND $at < high THEN 0 ELSE high_side END AS high_side
    )
    FROM uncut
"""


def within_ends(all_spans: exp.Query, ends: Sequence[OpenEnd], axis: Axis) -> exp.Query:
    """Clips spans at the open ends: a decade from 1930 begins at 1937 if an open end ends there."""
    for end in ends:
        text = end.high if end.low is None else end.low
        if text is not None:
            clipped = _CLIPPED_BELOW if end.low is None else _CLIPPED_ABOVE
            all_spans = filled_query(clipped, tables={"uncut": all_spans}, at=axis.up(literal(text)))
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


# The leaves that a stored hierarchy lists below each label, and NULL for labels that may represent it.


MOMENTS = ("mean", "square", "least", "greatest")


def nulls(generalized: Generalized, axis: Axis | None) -> exp.Query:
    """Returns NULL as a leaf of each label that may represent it, and of the label NULL."""
    text = filled("struct_extract(label, 'low')" if "bounds" in generalized.forms else "shown")
    rows = filled_query("SELECT label, 1.0::DOUBLE AS weight FROM shown WHERE $text IS NULL", text=text)
    others = null_labels(generalized.nulls or generalized.forms, axis)
    labels = rows if others is None else union_all([rows, others])
    return fixed("null_leaves", {"null_label": labels}, nothing=cast(exp.null(), generalized.bound.type))


def listed_leaves(generalized: Generalized) -> exp.Query:
    """Returns the values that a stored hierarchy lists below each label, as leaves."""
    return filled_query(
        "SELECT label, value, max(weight) AS weight, {moments} FROM listed_leaf GROUP BY label, value",
        tables={"listed_leaf": _listed(generalized)},
        names={"moments": no_moments()},
    )


_LISTED_BELOW = "SELECT shown.label, listed.value, CAST($weight AS DOUBLE) AS weight FROM shown JOIN listed ON $below"


def _listed(generalized: Generalized) -> exp.Query:
    any_value = "any" in generalized.forms
    below = [
        filled("shown.shown IS NOT DISTINCT FROM $label", label=_level_label(generalized.bound, level))
        for level in generalized.levels
    ]
    if any_value:
        below.append(filled("shown.shown IS NOT NULL"))
    queries = [filled_query(_LISTED_BELOW, weight=None if any_value else 1, below=condition) for condition in below]
    if "listed_range" in generalized.forms:
        typed = {"typed": lambda text: try_cast(text, generalized.bound.type)}
        tables = {"range": fixed("range")}
        queries.append(
            query_file("estimates", "listed_range", tables=tables, names={"rank": rank_name(0)}, calls=typed)
        )
    of_null = filled_query("SELECT label, value, weight FROM nulls", tables={"nulls": nulls(generalized, None)})
    return union_all([*queries, of_null])


def _level_label(bound: BoundAttribute, level: int) -> exp.Expr:
    if level == bound.height:
        return literal(STAR)
    if level == 0:
        return as_text(column("value", "listed"))
    return column(level_name(level), "listed")


def tree_steps(generalized: Generalized) -> list[Step]:
    """Returns the step `listed`, the values of a stored hierarchy with their labels, or with their ranks for ranges."""
    rows = relation(("anon", "hierarchy_value"))
    if "listed_range" not in generalized.forms:
        return [("listed", listed_values(generalized.bound, rows))]
    typed = cast(exp.null(), generalized.bound.type)
    nothing = filled_query("SELECT {column} WHERE false", names={"column": [alias(typed, generalized.column)]})
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
    text = "SELECT CAST(NULL AS DOUBLE) AS mean, CAST(NULL AS DOUBLE) AS square, NULL AS least, NULL AS greatest"
    return filled_query(text).selects
