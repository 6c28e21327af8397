"""Creates the leaves below each label of a generalized column, for estimates of queries on the release.

A leaf is a value, or a piece of an axis on which each comparison of the query has one truth value. The leaves below a
label are assumed to be equally likely (the uniform assumption of Xiao and Tao, Anatomy: simple and effective privacy
preservation, 2006), or as likely as in the user's table of the column's values. A leaf is a row of label, value,
weight, mean, square, least and greatest: `value` represents all values of a piece, `weight` is their number, NULL if it
is unknown, and the other columns are the moments of these values as numbers.

If no table lists the values below `*`, the few rows that show `*` are assumed to have the values of the other rows,
equally often (decision 23). Only estimates assume this: any other value remains possible, with weight 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError
from sqlanon.estimates.axes import Axis, axis_of
from sqlanon.estimates.labels.marginals import MARGINAL, also_marginal, weighed
from sqlanon.estimates.labels.pieces import piece_steps, pieces
from sqlanon.estimates.labels.prefix_ranges import prefix_length, prefix_ranges
from sqlanon.estimates.labels.spans import (
    listed_leaves,
    no_moments,
    nulls,
    on_axis,
    open_spans,
    spans,
    tree_steps,
    within_ends,
)
from sqlanon.estimates.release_model import Generalized
from sqlanon.sql.build.expressions import real, try_cast, union_all
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, query_file
from sqlanon.sql.build.steps import Step
from sqlanon.sql.hierarchies.base import OpenEnd, open_ends

# The most values below the labels of a column that are listed one by one.
MOST_LEAVES = 100_000

_CUT_BY_ENDS = ("interval", "period", "mask")
_LISTED = ("listed", "listed_range")
# Types without an axis whose values all have different texts.
_WRITTEN = (
    *("UHUGEINT", "BIGNUM", "BLOB", "BIT", "UUID", "JSON", "INTERVAL"),
    *("TIME", "TIME_NS", "TIME WITH TIME ZONE"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
)
_HINT = "compare it with constants by =, <, >, BETWEEN, IN and LIKE 'prefix%', or leave it out"


@dataclass(frozen=True)
class ColumnUse:
    """The use of one generalized column in a query: the labels, and the constants and keys with which values are
    compared.

    If `each` is true, every value below a label is needed, and `why` names the part of the query that needs it. At most
    `most` values are listed.
    """

    # label, shown (its text) and n (how many rows show it) for each label of the column.
    labels: exp.Query
    # The constants that values of the column are compared with.
    constants: Sequence[exp.Expr]
    # The tables that values of the column are joined with, and their columns.
    keys: Sequence[tuple[exp.Table, str]]
    # Whether each value has to be a leaf of its own.
    each: bool
    # The part of the query that needs each value.
    why: str = ""
    # The most values below the labels that are listed one by one.
    most: int = MOST_LEAVES
    # The table of the distinct values that may be leaves, beside NULL; None if all values below a label may be.
    values: str | None = None
    # A column of this table: values below a label that are equal in it are one leaf, with their number as weight.
    alike: str | None = None


@dataclass(frozen=True)
class Leaves:
    """The table of the leaves below the labels of a column.

    `each` is true if each leaf is one value. `unlisted` is the table (label, weight) of the labels below which further
    values are possible that cannot be listed.
    """

    table: str
    # Whether each value is a leaf of its own.
    each: bool
    # The table (label, weight) of the labels below which further values are possible that cannot be listed.
    unlisted: str | None = None


def leaves(temp: TempTables, generalized: Generalized, use: ColumnUse) -> Leaves:
    """Creates the leaves below the labels of a column.

    Raises PolicyError if the query needs more than is known about the values, DataError if the release shows a label
    that its hierarchy does not have.
    """
    if not generalized.bound.type:
        raise PolicyError(
            f"{generalized.column}: the release does not say of which type its values are", hint="create it again"
        )
    labels = temp.table("labels", use.labels)
    if any(form in _LISTED for form in generalized.forms):
        table = temp.table("leaf", _with(listed_leaves(generalized), [_labels_step(labels), *tree_steps(generalized)]))
        _require_all(temp.engine, generalized, labels, table)
        return Leaves(_by_marginal(generalized, table, temp), each=True)
    axis = axis_of(generalized.bound.type)
    if reason := unread(generalized):
        raise reason
    each = use.each or axis is None or axis.listed
    if axis is None:
        table = temp.table("leaf", _with(_written_leaves(generalized), [_labels_step(labels)]))
    else:
        table = _leaves_on_axis(temp, generalized, use, axis, labels, each)
    if "star" not in generalized.forms or (axis is not None and axis.listed):
        _require_all(temp.engine, generalized, labels, table)
        return Leaves(_by_marginal(generalized, table, temp), each)
    _require_all(temp.engine, generalized, labels, table, starred=True)
    return _starred_leaves(temp, generalized, use, table, labels, each)


def _leaves_on_axis(
    temp: TempTables, generalized: Generalized, use: ColumnUse, axis: Axis, labels: str, each: bool
) -> str:
    """Creates the leaves for a type whose values lie on an axis: each value if `each`, else pieces of the axis."""
    ends = open_ends(generalized.bound.hierarchy)
    label_steps = _of_open_ends(labels, ends) or [_labels_step(labels)]
    span = temp.table("span", _with(_spans(generalized, axis, ends, listed=each), label_steps))
    steps: list[Step] = [_labels_step(labels), ("span", select(exp.Star(), of=relation(span)))]
    if each:
        _require_few(temp.engine, generalized, use, axis, span)
        rows: exp.Query = every_number(axis) if axis.kind == "integer" else single_values(axis)
    elif use.values is not None:
        rows = values_in_spans(axis, use.values, use.alike)
    else:
        # Each value of a marginal is then a piece of its own.
        keys = [*use.keys, (relation(generalized.marginal), MARGINAL)] if generalized.marginal else use.keys
        steps += piece_steps(temp, generalized, axis, use.constants, keys)
        rows = pieces(generalized, axis)
    return temp.table("leaf", _with(_and_null(rows, generalized, axis), steps))


def _starred_leaves(
    temp: TempTables, generalized: Generalized, use: ColumnUse, table: str, labels: str, each: bool
) -> Leaves:
    """Returns the leaves; rows with `*`, whose leaves no table lists, are assumed to be like the other rows."""
    engine, starred = temp.engine, _starred(labels)
    any_starred = _any_rows(engine, starred)
    unlisted = each and any_starred
    known = any_starred and bool(engine.rows(others_are_known(table, labels, starred))[0][0])
    if unlisted and use.each and not known and not generalized.marginal:
        raise PolicyError(f"{use.why}: the values below the labels of {generalized.column} are not known", hint=_HINT)
    if generalized.marginal:
        table = temp.table("leaf", also_marginal(table, generalized.marginal, starred)) if unlisted else table
        table = _by_marginal(generalized, table, temp)
    elif known:
        table = temp.table("spread", spread(table, labels, starred))
    if not unlisted:
        return Leaves(table, each)
    weight = 0 if known or generalized.marginal else None
    text = "SELECT label, CAST($weight AS DOUBLE) AS weight FROM starred"
    rows = filled_query(text, tables={"starred": starred}, weight=weight)
    return Leaves(table, each, temp.table("unlisted", rows))


def _starred(labels: str) -> exp.Query:
    return filled_query("SELECT label FROM labels WHERE shown = '*'", tables={"labels": labels})


def _any_rows(engine: Engine, rows: exp.Query) -> bool:
    return bool(engine.rows(filled_query("SELECT count(*) FROM some_row", tables={"some_row": rows}))[0][0])


def _by_marginal(generalized: Generalized, table: str, temp: TempTables) -> str:
    return temp.table("weighed", weighed(table, generalized.marginal)) if generalized.marginal else table


def _labels_step(labels: str) -> Step:
    return ("shown", filled_query("SELECT * FROM labels", tables={"labels": labels}))


def _with(query: exp.Query, steps: Sequence[Step]) -> exp.Query:
    for name, step in steps:
        query = query.with_(exp.to_identifier(name, quoted=True), as_=step, copy=False)
    return query


def _of_open_ends(labels: str, ends: Sequence[OpenEnd]) -> list[Step]:
    """Returns the steps `ended`, the labels of open ends, and `shown`, all others; none if the hierarchy has no open
    ends.
    """
    if not ends:
        return []
    tables, names = {"labels": labels}, {"ends": [literal(end.label) for end in ends]}
    ended = "SELECT * FROM labels WHERE shown IN ({ends})"
    others = "SELECT * FROM labels WHERE NOT coalesce(shown IN ({ends}), false)"
    return [
        ("ended", filled_query(ended, tables=tables, names=names)),
        ("shown", filled_query(others, tables=tables, names=names)),
    ]


def _spans(generalized: Generalized, axis: Axis, ends: Sequence[OpenEnd], *, listed: bool) -> exp.Query:
    """Returns the spans of all labels; with `listed`, without the spans of `*`, whose values cannot be listed."""
    forms = [form for form in generalized.forms if not (listed and form == "star" and not axis.listed)]
    length = prefix_length(generalized)
    parts = {
        form: spans(form, axis) if form != "tree_range" or length is None else prefix_ranges(axis, length)
        for form in forms
    }
    if cut := [parts.pop(form) for form in forms if ends and form in _CUT_BY_ENDS]:
        parts["cut"] = within_ends(union_all(cut), ends, axis)
    if ends:
        parts["end"] = open_spans(ends, axis)
    all_spans = union_all(list(parts.values())) if parts else _no_spans(axis)
    if axis.kind == "integer":
        # A label may reach beyond the values of the type.
        return on_axis(axis, "spans_of_type", {"all_spans": all_spans})
    return filled_query("SELECT DISTINCT * FROM all_spans", tables={"all_spans": all_spans})


def _no_spans(axis: Axis) -> exp.Query:
    return filled_query("SELECT * FROM span WHERE false", tables={"span": spans("star", axis)})


def _written_leaves(generalized: Generalized) -> exp.Query:
    """Returns the leaves for a type without an axis. These are the labels that are values themselves."""
    written = filled_query(
        "SELECT label, value, 1.0::DOUBLE AS weight, {moments} "
        "FROM (SELECT label, $value AS value FROM shown) AS written WHERE value IS NOT NULL AND $are_values",
        names={"moments": no_moments()},
        value=try_cast(column("shown"), generalized.bound.type),
        are_values="value" in generalized.forms,
    )
    return _and_null(written, generalized, None)


def unread(generalized: Generalized) -> PolicyError | None:
    """Returns the error for a query about a column whose labels cannot be read; None if they can be read."""
    kind, forms = generalized.bound.type, set(generalized.forms)
    if not kind or forms & set(_LISTED):
        return None
    if kind == "FLOAT":
        # A FLOAT between the decimal ends of two intervals may be in either.
        is_read = "interval" not in forms
    else:
        is_read = axis_of(kind) is not None or (
            forms <= {"value", "star"} and ("value" not in forms or kind in _WRITTEN)
        )
    if is_read:
        return None
    return PolicyError(
        f"{generalized.column}: what is below its labels is not known for the type {generalized.bound.type}",
        hint="leave it out of the query",
    )


def _require_few(engine: Engine, generalized: Generalized, use: ColumnUse, axis: Axis, span: str) -> None:
    """Raises PolicyError if a leaf cannot be listed, or if there are more than `use.most` leaves."""
    ((unknown, count),) = engine.rows(
        filled_query(
            "SELECT count_if(NOT known), coalesce(sum($size), 0) FROM span"
            if axis.kind == "integer"
            else "SELECT count_if(NOT known OR low <> high), coalesce(count(*), 0) FROM span",
            tables={"span": span},
            size=size_of_span(),
        )
    )
    if unknown:
        raise PolicyError(f"{use.why}: the values below the labels of {generalized.column} are not known", hint=_HINT)
    if count > use.most:
        raise PolicyError(
            f"{use.why}: there are more than {use.most} values below the labels of {generalized.column}", hint=_HINT
        )


def _and_null(rows: exp.Query, generalized: Generalized, axis: Axis | None) -> exp.Query:
    """Returns the leaves `rows`, with NULL as a further leaf of each label that may represent it.

    The label NULL represents only NULL.
    """
    return union_all([rows, nulls(generalized, axis)])


def _require_all(engine: Engine, generalized: Generalized, labels: str, table: str, *, starred: bool = False) -> None:
    """Raises DataError for a label without a leaf; with `starred`, the label `*` needs none."""
    query = filled_query(
        "SELECT count(*) FROM shown ANTI JOIN leaf ON shown.label IS NOT DISTINCT FROM leaf.label "
        "WHERE $all OR coalesce(shown.shown <> '*', true)",
        tables={"shown": labels, "leaf": table},
        all=not starred,
    )
    if engine.rows(query)[0][0]:
        raise DataError(
            f"the release shows labels of {generalized.column} below which there is no value that an estimate can "
            "compare",
            hint="if it was changed since it was made, create it again; else leave the column out of the query",
        )


def size_of_span() -> exp.Expr:
    """Counts the whole numbers in a span, as DOUBLE, because a type of 128 bits cannot count all of its own numbers."""
    return filled("coalesce(TRY(CAST((high + high_side) - (low + low_side) AS DOUBLE)), $endless)", endless=real(1e39))


def every_number(axis: Axis) -> exp.Query:
    """Returns each whole number of the spans as a leaf: label, value, weight and the moments."""
    return filled_query(
        "SELECT label, value_at(low + low_side + CAST(step AS HUGEINT)) AS value, 1.0::DOUBLE AS weight, {moments} "
        "FROM (SELECT label, low, low_side, unnest(generate_series(0, CAST($size - 1 AS BIGINT))) AS step FROM span) "
        "AS single",
        names={"moments": no_moments()},
        calls=axis.calls,
        size=size_of_span(),
    )


def single_values(axis: Axis) -> exp.Query:
    """Returns the value of each span, all of which hold one value, as a leaf: label, value, weight and the moments.

    A value that is merely possible (`known` is NULL) has weight 0.
    """
    return filled_query(
        "SELECT label, value_at(low) AS value, "
        "CASE WHEN known IS NULL THEN 0.0::DOUBLE ELSE 1.0::DOUBLE END AS weight, {moments} FROM span",
        names={"moments": no_moments()},
        calls=axis.calls,
    )


def values_in_spans(axis: Axis, values: str, alike: str | None = None) -> exp.Query:
    """Returns label, value, weight and moments: the distinct values of a table that lie in the spans.

    `alike` is a column of the table: the least of the values with equal `alike` represents all of them, with their
    number as weight.
    """
    return query_file(
        "estimates",
        "values_in_spans",
        tables={"value": values},
        names={
            "alike": [alike] if alike else [],
            "groups": [column("label", "span"), column(alike, "point")] if alike else [],
        },
        calls=axis.calls,
        at=filled("min(point.at)" if alike else "point.at"),
        weight=filled("CAST(count(*) AS DOUBLE)" if alike else "1.0::DOUBLE"),
    )


# One row in this number may show `*`.
_ROWS_PER_STAR = 20


def others_are_known(leaves: str, labels: str, starred: exp.Query) -> exp.Query:
    """Whether at least 19 of 20 rows have labels whose leaves have known weights.

    `labels` has each label and n, the number of rows that show it; `leaves` has the leaves of these labels. The weights
    of `starred` labels are unknown.
    """
    tables: dict[str, Relation] = {"labels": labels, "known": _known(leaves, starred)}
    return query_file("estimates", "others_are_known", tables=tables, rows_per_star=_ROWS_PER_STAR)


def spread(leaves: str, labels: str, starred: exp.Query) -> exp.Query:
    """Returns the leaves. Below `starred` labels they are the values of the other rows, with the same frequencies as
    there.

    `labels` has each label and n, the number of rows that show it. The leaves that starred labels had before get weight
    0.
    """
    tables: dict[str, Relation] = {"leaves": leaves, "labels": labels, "starred": starred}
    return query_file("estimates", "spread", tables=tables | {"known": _known(leaves, starred)})


def _known(leaves: str, starred: exp.Query) -> exp.Query:
    """Returns label and total, the sum of the weights, of each label that is not starred and whose leaves all have a
    weight.
    """
    tables: dict[str, Relation] = {"leaves": leaves, "starred": starred}
    return query_file("estimates", "weighed_labels", tables=tables)
