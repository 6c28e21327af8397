"""Groups the rows of a source within strata, and computes the groups' means.

A stratum consists of the rows with equal labels in the quasi-identifiers that are not aggregated, and with NULL in the
same columns. Groups are made within a stratum, so all rows of a group have equal labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.numbers import counted
from sqlanon.errors import DataError, PrivacyViolation
from sqlanon.methods.microaggregation.mdav import Numbers, Rows, halved, mdav
from sqlanon.methods.microaggregation.optimal import optimal
from sqlanon.methods.shared.task import Task
from sqlanon.sources.requirement_columns import require_listed
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    by_bytes,
    cast,
    identical,
    is_not_null,
    is_null,
    or_zero,
)
from sqlanon.sql.build.names import alias, column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, published_value, stored_labels
from sqlanon.sql.release.recode import label_name

_STRATUM, _ROW, _NUMBER, _REGION = "stratum", "row", "number", "region"
_RESPONDENT = "respondent"


@dataclass(frozen=True)
class Plan:
    """The task: groups of at least `k` rows by the quasi-identifiers `aggregated`.

    `strata` are the other quasi-identifiers. If `optimal` is true, the groups are the best groups of a single column;
    otherwise MDAV makes them, within blocks of at most `block` rows. If `standardized` is true, each column is scaled
    to variance 1.
    """

    k: int
    aggregated: tuple[BoundAttribute, ...]
    strata: tuple[BoundAttribute, ...]
    optimal: bool
    standardized: bool
    block: int | None
    median: bool = False


@dataclass(frozen=True)
class Groups:
    """The tables of groups, their number and sizes, the number of strata, and the loss, SSE / SST.

    `regions` has for each group (`region`) the labels and means of its rows, and its `class`: the first group with
    equal labels and means. `row_regions` has the group of each row of the source.
    """

    regions: str
    row_regions: str
    rows: int
    count: int
    smallest: int
    largest: int
    strata: int
    loss: float
    by_respondent: bool = False


def value_name(index: int) -> str:
    """Returns the name of the column with the numbers of the aggregated column at this index."""
    return f"value_{index}"


def grouped(task: Task, plan: Plan) -> Groups:
    """Groups all rows. Raises DataError for numbers that are not finite.

    Raises PrivacyViolation if a stratum has fewer than k rows.
    """
    rows = task.temp.table("rows", _numbered(task, plan))
    _require_finite(task, plan, rows)
    _require_respondents(task, rows)
    values, missing, strata, people = _read(task, plan, rows)
    scaled, exponents = _scaled(values, plan.standardized)
    weights = _weights(scaled, missing, plan.standardized)
    groups = _within_strata(task, plan, scaled, missing, strata, weights, people)
    sizes = np.bincount(groups)
    means = _medians(scaled, groups, sizes) if plan.median else _means(scaled, groups, sizes)
    loss = _loss(scaled, missing, weights, means[:, groups]) if len(groups) else 0.0
    published = np.ldexp(means, exponents[:, None])
    row_regions = _uploaded(task, {_NUMBER: np.arange(len(groups)), _REGION: groups})
    of_rows = select(column(_ROW, "row"), column(_REGION, "numbered"), of=relation(rows, as_="row"))
    on = column(_NUMBER, "row").eq(column(_NUMBER, "numbered"))
    row_regions = task.temp.table(
        "row_regions", extend(of_rows, joins=[inner_join(relation(row_regions, as_="numbered"), on)])
    )
    return Groups(
        regions=task.temp.table("regions", _regions(task, plan, rows, row_regions, published, len(sizes))),
        row_regions=row_regions,
        rows=len(groups),
        count=len(sizes),
        smallest=int(sizes.min(initial=len(groups))),
        largest=int(sizes.max(initial=0)),
        strata=len(np.unique(strata)),
        loss=loss,
        by_respondent=people is not None and len(np.unique(people)) < len(people),
    )


def _means(scaled: Numbers, groups: Rows, sizes: Rows) -> Numbers:
    """The mean of each column in each group, in one row for each column."""
    return np.array([np.bincount(groups, column) / np.maximum(sizes, 1) for column in scaled])


def _medians(scaled: Numbers, groups: Rows, sizes: Rows) -> Numbers:
    """The median of each column in each group: the middle value, or the mean of the two middle ones."""
    starts = np.cumsum(sizes) - sizes
    medians = np.zeros((len(scaled), len(sizes)))
    for index, numbers in enumerate(scaled):
        ordered = numbers[np.lexsort((numbers, groups))]
        if len(ordered):
            medians[index] = (ordered[starts + (sizes - 1) // 2] + ordered[starts + sizes // 2]) / 2
    return medians


# Reading rows: numbers as DOUBLE, and labels of the other columns.


def _numbered(task: Task, plan: Plan) -> exp.Select:
    """SELECT of row, number, stratum, label_i of each other quasi-identifier, value_i: a row for each source row.

    `number` counts the rows from 0 in their order, without the gaps that deleted rows leave in `row`.
    """
    tables = {"source": relation(task.policy.relation)}
    query = filled_select("""SELECT source.rowid AS "{row}" FROM source""", tables=tables, names={"row": _ROW})
    keys: list[exp.Expr] = []
    for bound in plan.strata:
        index = task.policy.quasi_identifiers.index(bound)
        label = _label(task, query, index, bound)
        extend(query, alias(label, label_name(index)))
        keys.append(by_bytes(label) if bound.published_type == "VARCHAR" or bound.min_level else label.copy())
    for index, bound in enumerate(plan.aggregated):
        names = {"column": bound.column, "value": value_name(index)}
        extend(query, filled('CAST({source.column} AS DOUBLE) AS "{value}"', names=names))
        keys.append(filled("{source.column} IS NULL", names=names))
    if (entity := task.policy.entity) is not None:
        respondent = """
            CASE WHEN {source.entity} IS NOT NULL
              THEN CAST(dense_rank() OVER (ORDER BY {source.entity} ASC NULLS LAST) AS BIGINT) END AS "{respondent}"
        """
        names = {"entity": entity.column, "respondent": _RESPONDENT}
        extend(query, filled(respondent, names=names))
    stratum = 'dense_rank() OVER (ORDER BY $keys ASC NULLS LAST) - 1 AS "{stratum}"'
    number = 'row_number() OVER (ORDER BY source.rowid ASC NULLS LAST) - 1 AS "{number}"'
    numbers = [filled(stratum, names={"stratum": _STRATUM}, keys=keys), filled(number, names={"number": _NUMBER})]
    return extend(query, *numbers)


def _label(task: Task, query: exp.Select, index: int, bound: BoundAttribute) -> exp.Expr:
    """Returns the SQL of a column's label at its MIN LEVEL, for a column that is not aggregated; joins the labels to
    the query.

    Raises DataError if the column's hierarchy lacks values.
    """
    value = published_value(bound, "source")
    if bound.min_level == 0:
        return value
    if bound.min_level == bound.height:
        return literal("*")
    values = occurring_values(bound, task.policy.relation)
    table = task.temp.table("labels", generalized(bound, values, stored_labels(bound), counted=False))
    if bound.stored:
        require_listed(task.engine, bound, table, relation(("anon", "hierarchy_value")))
    name = f"labels_{index}"
    extend(query, joins=[left_join(relation(table, as_=name), identical(value, column("value", name)))])
    return column(level_name(bound.min_level), name)


def _require_finite(task: Task, plan: Plan, rows: str) -> None:
    """Raises DataError, with their count, for numbers that are infinite or NaN and have no mean."""
    for index, bound in enumerate(plan.aggregated):
        infinite = exp.not_(f.call("isfinite", column(value_name(index))))
        query = select(f.count(), of=relation(rows), where=[is_not_null(column(value_name(index))), infinite])
        ((number,),) = task.engine.rows(query)
        if number:
            raise DataError(
                f"{bound.column} is infinite or not a number in {counted(int(number), 'row')}, and has no mean",
                hint="leave these rows out, or make them NULL, in a query: ON (SELECT ...)",
            )


def _require_respondents(task: Task, rows: str) -> None:
    """Raises DataError, with their count, for rows without a respondent, because they could belong to anybody."""
    if (entity := task.policy.entity) is None:
        return
    ((number,),) = task.engine.rows(select(f.count(), of=relation(rows), where=[is_null(column(_RESPONDENT))]))
    if number:
        raise DataError(
            f"{counted(int(number), 'row')} {'has' if number == 1 else 'have'} no {entity.column}, and METHOD "
            "microaggregation groups respondents",
            hint="leave these rows out in a query: ON (SELECT ...)",
        )


def _read(task: Task, plan: Plan, rows: str) -> tuple[Numbers, Any, Rows, Rows | None]:
    """Reads the numbers to aggregate: an array with a row for each column (0 for NULL), whether they are NULL, and the
    strata.

    The last part has the respondent of each row, as a number; it is None if there is no ENTITY.
    """
    names = [value_name(index) for index in range(len(plan.aggregated))]
    outputs = [alias(or_zero(column(name)), name) for name in names]
    nulls = [alias(is_null(column(name)), f"{name}_null") for name in names]
    people_column = [column(_RESPONDENT)] if task.policy.entity is not None else []
    query = select(
        column(_STRATUM), *people_column, *outputs, *nulls, of=relation(rows), order_by=[ascending(column(_NUMBER))]
    )
    read = task.engine.arrays(query)
    values = np.array([np.asarray(read[name], dtype=np.float64) for name in names])
    missing = np.array([np.asarray(read[f"{name}_null"], dtype=bool) for name in names])
    people = np.asarray(read[_RESPONDENT], dtype=np.int64) if task.policy.entity is not None else None
    return values, missing, np.asarray(read[_STRATUM], dtype=np.int64), people


# Scaling numbers for comparison.


def _scaled(values: Numbers, standardized: bool) -> tuple[Numbers, Any]:
    """Divides the values by powers of two so that none exceeds 1; returns them and the exponents.

    The division is exact, and squares and sums of the quotients stay finite. Columns that are not standardized share
    one exponent.
    """
    exponents = np.frexp(np.abs(values).max(axis=1, initial=0.0))[1]
    if not standardized:
        exponents = np.full_like(exponents, exponents.max(initial=0))
    return np.ldexp(values, -exponents[:, None]), exponents


def _weights(scaled: Numbers, missing: Any, standardized: bool) -> Numbers:
    """The factor of each column's squares: 1 / population variance, or 1 if the values are equal or not
    standardized.
    """
    weights = np.ones(len(scaled))
    for index, (numbers, nulls) in enumerate(zip(scaled, missing, strict=True)):
        known = numbers[~nulls]
        if standardized and len(known) and known.min() < known.max():
            weights[index] = 1 / np.var(known - known.min())
    return weights


def _loss(scaled: Numbers, missing: Any, weights: Numbers, means: Numbers) -> float:
    """SSE / SST: the squared distances from the groups' means over the squared distances from the overall mean; 0 if
    all rows are equal.
    """
    within = total = 0.0
    for numbers, nulls, weight, of_groups in zip(scaled, missing, weights, means, strict=True):
        known = numbers[~nulls]
        if len(known) and known.min() < known.max():
            within += weight * float(((known - of_groups[~nulls]) ** 2).sum())
            total += weight * float(((known - known.mean()) ** 2).sum())
    return within / total if total else 0.0


# Groups within strata.


def _within_strata(
    task: Task, plan: Plan, scaled: Numbers, missing: Any, strata: Rows, weights: Numbers, people: Rows | None
) -> Rows:
    """Returns the group number of each row; groups are made within each stratum, of respondents if `people` numbers
    them.

    Raises PrivacyViolation if a stratum has fewer than k respondents, or rows without an ENTITY.
    """
    groups = np.zeros(len(strata), dtype=np.int64)
    parts = list(_parts(strata))
    points = [_points(part, people) for part in parts]
    _require_enough(task, plan, parts, [int(of_part.max(initial=-1)) + 1 for of_part in points])
    number = done = 0
    for part, of_rows in zip(parts, points, strict=True):
        known = np.flatnonzero(~missing[:, part[0]])
        sizes = np.bincount(of_rows)
        values = np.array([np.bincount(of_rows, column) / sizes for column in scaled[np.ix_(known, part)]])
        values = values.reshape(len(known), len(sizes))
        of_part = _groups(values, weights[known], plan, _reporter(task, done, len(strata)))[of_rows]
        groups[part] = of_part + number
        number += int(of_part.max()) + 1
        done += len(part)
    return groups


def _points(part: Rows, people: Rows | None) -> Rows:
    """Returns the number of the respondent of each row of a stratum, from 0 in the order of their first rows.

    Without an ENTITY (`people` is None), each row has its own number.
    """
    if people is None:
        return np.arange(len(part), dtype=np.int64)
    _, first, of_rows = np.unique(people[part], return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[np.argsort(first, kind="stable")] = np.arange(len(first))
    return numbers[of_rows.reshape(len(part))]


def _parts(strata: Rows) -> Iterator[Rows]:
    """The row numbers of each stratum, in ascending order."""
    order = np.argsort(strata, kind="stable")
    ends = np.flatnonzero(np.diff(strata[order])) + 1
    return (part for part in np.split(order, ends) if len(part))


def _groups(values: Numbers, weights: Numbers, plan: Plan, progress: Callable[[int], None] | None) -> Rows:
    """Returns the group number of each row of one stratum, which has no NULL in these columns.

    `values` has a row for each column, and `weights` the weight of each column.
    """
    rows = values.shape[1]
    if not len(values) or rows < 2 * plan.k:
        return np.zeros(rows, dtype=np.int64)
    # Differences from the least value have all digits that the numbers have.
    values = values - values.min(axis=1)[:, None]
    if plan.optimal:
        return optimal(values[0], plan.k)
    groups = np.zeros(rows, dtype=np.int64)
    number = 0
    for block in halved(values, weights, plan.block or rows):
        of_block = mdav(values[:, block], weights, plan.k, progress)
        groups[block] = of_block + number
        number += int(of_block.max()) + 1
    return groups


def _require_enough(task: Task, plan: Plan, parts: Sequence[Rows], people: Sequence[int]) -> None:
    """Raises PrivacyViolation if a stratum has fewer than k respondents; `people` has the number of respondents by
    stratum.
    """
    small = [len(part) for part, number in zip(parts, people, strict=True) if number < plan.k]
    if not small:
        return
    rows = sum(map(len, parts))
    unit = "row" if task.policy.entity is None else "respondent"
    if len(parts) == 1:
        raise PrivacyViolation(
            f"{task.name}: groups of {plan.k} {unit}s cannot be made of {counted(people[0], unit)}; nothing was "
            "published",
            hint="require a smaller k",
        )
    names = ", ".join(bound.column for bound in plan.strata)
    by = f"the same {names} and NULL in the same columns" if names else "NULL in the same columns"
    raise PrivacyViolation(
        f"{task.name}: groups of {plan.k} {unit}s are made of rows with {by}, and {sum(small)} of {rows} rows have "
        f"fewer than {plan.k} of these; nothing was published",
        hint="write MIN LEVEL for the columns that are not aggregated, or leave rows or NULLs out in a query: "
        "ON (SELECT ...)",
    )


def _reporter(task: Task, done: int, rows: int) -> Callable[[int], None] | None:
    """Returns a function that reports the number of rows in groups to the observer; None if there is no observer."""
    watching = task.watching
    if watching is None:
        return None

    def report(left: int) -> None:
        watching("solve", max(rows - left, done), rows, f"{left} rows without a group")

    return report


# Tables of groups.


def _uploaded(task: Task, columns: dict[str, Rows]) -> str:
    """Makes a temporary table of columns of whole numbers; returns its name."""
    outputs = [
        alias(f.unnest(cast(parameter(number), "BIGINT[]")), name) for number, name in enumerate(columns, start=1)
    ]
    values = [numbers.tolist() for numbers in columns.values()]
    return task.temp.table("numbers", select(*outputs), values)


def _regions(task: Task, plan: Plan, rows: str, row_regions: str, means: Numbers, count: int) -> exp.Query:
    """SELECT of region, label_0, ..., class: the labels and means of each group."""
    names = {"region": _REGION, "row": _ROW, "values": [value_name(index) for index in range(len(means))]}
    text = """
        SELECT unnest(CAST($1 AS BIGINT[])) AS "{region}", unnest(CAST($means AS DOUBLE[])) AS "{values}"
    """
    lists = filled_query(text, names=names, means=[parameter(2 + index) for index in range(len(means))])
    numbers = [list(range(count)), *(column_means.tolist() for column_means in means)]
    table = task.temp.table("means", lists, numbers)
    labels: list[exp.Expr] = []
    for index, bound in enumerate(task.policy.quasi_identifiers):
        if bound in plan.strata:
            labels.append(filled("any_value({row.label})", names={"label": label_name(index)}))
        else:
            # If one row of a group has NULL, all rows of the group have it.
            text = "CASE WHEN count({row.value}) > 0 THEN any_value({mean.value}) END"
            labels.append(filled(text, names={"value": value_name(plan.aggregated.index(bound))}))
    names["labels"] = [label_name(index) for index in range(len(labels))]
    tables = {"means": table, "row_regions": row_regions, "rows": rows}
    return query_file("microaggregation", "regions", tables=tables, names=names, labels=labels)
