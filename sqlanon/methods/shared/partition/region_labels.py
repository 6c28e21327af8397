"""Makes the labels that are published for Mondrian's regions, and maps rows to regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.methods.shared.spans import high_name as high_of
from sqlanon.methods.shared.spans import low_name as low_of
from sqlanon.methods.shared.spans import null_name as null_of
from sqlanon.sql.build.expressions import (
    as_text,
    case,
    identical,
    real,
    same,
)
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, left_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file, reading
from sqlanon.sql.cells.cells import leaves_name, rank_name
from sqlanon.sql.cells.labels import generalized, level_name, stored_labels
from sqlanon.sql.cells.value_ranks import RankedSummary, by_value, first_name, is_numeric
from sqlanon.sql.release.recode import box_name, high_name, label_name, low_name

# The choice of cutting: a region for every row.


@dataclass(frozen=True)
class Partition:
    """Multidimensional recoding: every row is in a region, and every region meets the requirements.

    `regions` and `points` are the temporary tables of `recursion.Partitioned`, `ranked` the tables of each attribute's
    values in their order, and `summaries` those of these values. There are `count` regions, of `smallest` to `largest`
    rows, after `attempts` rounds of cutting all open ones. `loss` is the release's loss by the measure `loss_name`. No
    row is suppressed.
    """

    regions: str
    points: str
    ranked: tuple[str, ...]
    summaries: tuple[RankedSummary, ...]
    count: int
    smallest: int
    largest: int
    attempts: int
    loss: Fraction
    rows: int
    strict: bool
    publish: str
    bounds: bool
    suppressed: int = 0
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """Returns None, because the method does not search."""
        return


# Types of timestamps without a time zone.
_WITHOUT_ZONE = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
# As many rows as BIGINT counts, each the greatest DOUBLE, add up to less than 2 ** _SCALE times it.
_SCALE = 64


def region_loss(engine: Engine, policy: BoundPolicy, partition: Partition) -> Fraction:
    """The granularity loss of regions: the mean over the rows and, by their weights, the attributes.

    A label costs (n - 1) / (N - 1), where n of the attribute's N values are below it, or between the ends of its range
    if these ends are published, too. A centroid costs as much as the range of its region. The loss is 0 if there are no
    rows or no quasi-identifiers.
    """
    quasi = policy.quasi_identifiers
    if not quasi or not partition.count:
        return Fraction()
    rows, *below = map(int, engine.rows(_values_below(policy, partition))[0])
    others = [summary.leaves - 1 for summary in partition.summaries]
    weights = [Fraction(bound.attribute.weight) for bound in quasi]
    costs = (weight * cost / max(n, 1) for weight, cost, n in zip(weights, below, others, strict=True))
    return sum(costs, Fraction()) / (rows * sum(weights))


def _values_below(policy: BoundPolicy, partition: Partition) -> exp.Select:
    """SELECT of one row: the rows, then for each attribute the sum over rows of (n - 1)."""
    query = _of_regions(partition, ["CAST(sum(region.rows) AS HUGEINT)"])
    below: list[exp.Expr] = []
    for index, (bound, ranked) in enumerate(zip(policy.quasi_identifiers, partition.ranked, strict=True)):
        null = partition.summaries[index].null
        with_null = filled("CASE WHEN {known.name} THEN 1 ELSE 0 END", names={"name": f"with_null_{index}"})
        others = _in_range(index, bound, null, with_null if null is not None else None)
        if partition.publish == "ancestor" and bound.hierarchy is not None:
            for end, rank in (("first", low_name), ("last", high_name)):
                _join_ranked(query, partition, index, end, column(rank(index), "region"))
            below_node = [column(leaves_name(level), f"first_{index}") - 1 for level in range(1, bound.height)]
            at_top = filled("CAST($others AS HUGEINT)", others=partition.summaries[index].leaves - 1)
            others = _of_ancestor(index, bound, below_node, at_top)
            if partition.bounds and by_value(bound):
                # The ends reveal more than the label, except for NULL, which may be below `*`.
                nulls = _of_ranked("(SELECT count(*) FROM ranked WHERE value IS NULL)", ranked)
                others = _in_range(index, bound, null, _of_ancestor(index, bound, [0] * len(below_node), nulls))
        below.append(filled("CAST(coalesce(sum(region.rows * $others), 0) AS HUGEINT)", others=others))
    return extend(query, *below)


def _in_range(index: int, bound: BoundAttribute, null: int | None, with_null: exp.Expr | None) -> exp.Expr:
    """The number of values in a range minus one: the values between its ends, and NULL if the region has NULL.

    `null` is the rank of NULL, and `with_null` 1 if the region has it; both are None if no value is NULL.
    """
    names = {"least": f"least_{index}", "most": f"most_{index}"}
    if with_null is None:
        return filled("coalesce({known.most} - {known.least}, 0)", names=names)
    if by_value(bound) or null is None:
        return filled("coalesce({known.most} - {known.least} + $with_null, 0)", names=names, with_null=with_null)
    # Along a hierarchy NULL may have a place between two values.
    text = """
        coalesce({known.most} - {known.least} + $with_null
          - CASE WHEN $null > {known.least} AND $null < {known.most} THEN 1 ELSE 0 END, 0)
    """
    return filled(text, names=names, with_null=with_null, null=null)


def _of_ancestor(index: int, bound: BoundAttribute, of_levels: Sequence[object], at_top: exp.Expr) -> exp.Case:
    """The SQL of a CASE by the level of the lowest common ancestor of a region's values.

    It returns 0 for a single value, `of_levels[i]` for an ancestor at level i + 1, and `at_top` for the top.
    """
    ends = f"first_{index}", f"last_{index}"
    levels = range(1, bound.height)
    of_nodes = [(same(first_name(level), *ends), each) for level, each in zip(levels, of_levels, strict=True)]
    return case((same(rank_name(0), *ends), 0), *of_nodes, otherwise=at_top)


def labels_of_levels(bound: BoundAttribute, ranked: str) -> exp.Select:
    """SELECT of value, level_1, ...: the labels of an attribute's values."""
    values = select(column("value"), of=relation(ranked))
    listed = stored_labels(bound)
    return generalized(bound, values, listed, counted=False)


def region_labels(policy: BoundPolicy, partition: Partition, levels: Sequence[str | None]) -> exp.Query:
    """SELECT of the published regions: region, class, and for each attribute its label and the ends of its range.

    The ends are values and ranks other than NULL; with_null_i is true if NULL is among the values. Regions with equal
    labels are one class, which has the number of the first of them. `levels` has the table of `labels_of_levels` of
    each attribute whose ancestors are published.
    """
    query = _of_regions(partition, ["region.region"])
    keys: list[str] = []
    for index, bound in enumerate(policy.quasi_identifiers):
        for name in ("least", "most"):
            _join_ranked(query, partition, index, f"{name}_of", column(f"{name}_{index}", "known"), "LEFT")
        label = _label(query, partition, index, bound, levels[index])
        bounds = [box_name(index, end) for end in ("low", "high")]
        extend(
            query,
            alias(label, label_name(index)),
            alias(column("value", f"least_of_{index}"), bounds[0]),
            alias(column("value", f"most_of_{index}"), bounds[1]),
            column(f"with_null_{index}", "known"),
            alias(column(f"least_{index}", "known"), low_name(index)),
            alias(column(f"most_{index}", "known"), high_name(index)),
        )
        keys += [label_name(index), *(bounds if partition.bounds else [])]
    text = "SELECT *, min(region) OVER (PARTITION BY {keys}) AS class FROM labelled"
    return filled_query(text, tables={"labelled": query}, names={"keys": keys})


def _of_regions(partition: Partition, columns: Sequence[str]) -> exp.Select:
    """SELECT of these columns of the regions, joined with the least and the greatest rank of each region, NULL's rank
    left out.
    """
    return filled_select(
        "SELECT $columns FROM regions AS region JOIN known ON region.region = known.region",
        tables={"regions": partition.regions, "known": _known(partition)},
        columns=[filled(text) for text in columns],
    )


def _of_ranked(text: str, ranked: str, **values: Any) -> exp.Expr:
    """Returns the tree of an expression that reads the table of an attribute's ranked values."""
    return reading(filled(text, **values), {"ranked": ranked})


def _known(partition: Partition) -> exp.Query:
    """SELECT of a row for each region, with each attribute's least and greatest rank except NULL's, and whether it has
    NULL; see sql/partition/ranks_of_regions.sql. Without NULL, these are the spans of the regions.
    """
    attributes = range(len(partition.ranked))
    nulls = [summary.null for summary in partition.summaries]
    of_each = ("least", "most", "with_null")
    names: dict[str, list[str]] = {each: [f"{each}_{index}" for index in attributes] for each in of_each}
    if all(null is None for null in nulls):
        names |= {"low": [low_name(index) for index in attributes], "high": [high_name(index) for index in attributes]}
        text = """
            SELECT region, {low} AS "{least}", {high} AS "{most}", FALSE AS "{with_null}" FROM regions
        """
        return filled_query(text, tables={"regions": partition.regions}, names=names)
    names["rank"] = [rank_of(index) for index in attributes]
    ranks = [-1 if null is None else null for null in nulls]
    return query_file("partition", "ranks_of_regions", tables={"points": partition.points}, names=names, nulls=ranks)


def region_spans(partition: Partition) -> exp.Select:
    """SELECT of the regions as spans, as `methods.shared.spans` defines them."""
    query = _of_regions(partition, ["region.rows AS n"])
    for index in range(len(partition.ranked)):
        names = {"least": f"least_{index}", "most": f"most_{index}", "with_null": f"with_null_{index}"}
        names |= {"low": low_of(index), "high": high_of(index), "null": null_of(index)}
        extend(
            query,
            filled('coalesce({known.least}, 1) AS "{low}"', names=names),
            filled('coalesce({known.most}, 0) AS "{high}"', names=names),
            filled('CASE WHEN {known.with_null} THEN 1 ELSE 0 END AS "{null}"', names=names),
        )
    return query


def _label(query: exp.Select, partition: Partition, index: int, bound: BoundAttribute, levels: str | None) -> exp.Expr:
    if partition.publish == "centroid":
        return _middle(index, bound) if partition.bounds else _centroid(query, partition, index, bound)
    if partition.publish == "ancestor" and levels is not None:
        for end, rank in (("low_of", low_name), ("high_of", high_name)):
            _join_ranked(query, partition, index, end, column(rank(index), "region"))
        return _ancestor(query, index, bound, partition.ranked[index], levels)
    return _range(index, bound, partition)


def _join_ranked(query: exp.Select, partition: Partition, index: int, end: str, rank: exp.Expr, kind: str = "") -> None:
    """Joins to the query, under the name `end`, the row of an attribute's ranked values with the rank `rank`."""
    name = f"{end}_{index}"
    on = column(rank_name(0), name).eq(rank)
    query.join(relation(partition.ranked[index], as_=name), on=on, join_type=kind, copy=False)


def _range(index: int, bound: BoundAttribute, partition: Partition) -> exp.Expr:
    """The SQL of a region's label as a range: the value, or [least, greatest].

    ` or NULL` follows if NULL is among the values.
    """
    least, most = f"least_of_{index}", f"most_of_{index}"
    low, high = (_end(column("value", end), bound, partition.ranked[index]) for end in (least, most))
    names = {"with_null": f"with_null_{index}"}
    text = "CASE WHEN $low_rank = $high_rank THEN $low ELSE '[' || $low || ', ' || $high || ']' END"
    low_rank, high_rank = column(rank_name(0), least), column(rank_name(0), most)
    label = filled(text, low_rank=low_rank, high_rank=high_rank, low=low, high=high)
    if partition.summaries[index].null is None:
        return label
    with_null = "CASE WHEN {known.with_null} THEN ($label) || ' or NULL' ELSE $label END"
    return filled(with_null, names=names, label=label)


def _end(value: exp.Expr, bound: BoundAttribute, ranked: str) -> exp.Expr:
    """The SQL of an end of a range as text. A timestamp is written as its date if all timestamps are midnights in the
    table `ranked`, which has the attribute's values.
    """
    if bound.type not in _WITHOUT_ZONE:
        return as_text(value)
    text = """
        CASE WHEN (SELECT bool_or(value <> CAST(CAST(value AS DATE) AS TIMESTAMP)) FROM ranked)
        THEN CAST($end AS VARCHAR) ELSE CAST(CAST($end AS DATE) AS VARCHAR) END
    """
    return _of_ranked(text, ranked, end=value)


def _ancestor(query: exp.Select, index: int, bound: BoundAttribute, ranked: str, levels: str) -> exp.Expr:
    """The SQL of a region's label as an ancestor: the value, or the lowest node above all values; `*` at the top."""
    name = f"levels_{index}"
    on = identical(column("value", f"low_of_{index}"), column("value", name))
    extend(query, joins=[left_join(relation(levels, as_=name), on)])
    low, high = f"low_of_{index}", f"high_of_{index}"
    return case(
        (same(rank_name(0), low, high), _end(column("value", low), bound, ranked)),
        *(
            (same(first_name(level), low, high), as_text(column(level_name(level), name)))
            for level in range(1, bound.height)
        ),
        otherwise="*",
    )


def _middle(index: int, bound: BoundAttribute) -> exp.Expr:
    """The SQL of the mean of a region's two bounds, which reveals no more than the bounds.

    The mean of the rows would reveal more: with three values, the mean and the ends determine the third. The middle
    value, which is the value of a row, would reveal more, too.
    """
    low, high = (column("value", f"{name}_{index}") for name in ("least_of", "most_of"))
    if not _is_number(bound):
        return low
    # Halves, because the sum of two numbers may be none of the type.
    text = "CAST($low AS DOUBLE) / CAST(2.0 AS DOUBLE) + CAST($high AS DOUBLE) / CAST(2.0 AS DOUBLE)"
    return filled(text, low=low, high=high)


def _is_number(bound: BoundAttribute) -> bool:
    """Whether values have a mean; dates and timestamps have a distance, but no mean."""
    return is_numeric(bound) and not bound.published_type.startswith(("DATE", "TIMESTAMP"))


def _centroid(query: exp.Select, partition: Partition, index: int, bound: BoundAttribute) -> exp.Expr:
    """The SQL of a region's centroid: the mean of numbers, or for other types the value of the middle row.

    NULL counts only if all values are NULL.
    """
    tables = {"points": partition.points, "ranked": partition.ranked[index]}
    names = {"rank": rank_of(index), "of_value": rank_name(0)}
    if _is_number(bound):
        scale_down, scale_up = real(2.0**-_SCALE), real(2.0**_SCALE)
        middle = query_file("partition", "mean_of_numbers", tables=tables, names=names, down=scale_down, up=scale_up)
    else:
        middle = query_file("partition", "middle_value", tables=tables, names=names)
    name = f"middle_{index}"
    extend(query, joins=[left_join(subquery(middle, name), same("region", "region", name))])
    return column("middle", name)


def region_map(policy: BoundPolicy, partition: Partition) -> exp.Query:
    """SELECT of each source row's region.

    If equal rows are in one region, it has value_0, ..., region: a row for each combination of values that occurs.
    Otherwise it has row, region: a row for each row of the source.
    """
    if not partition.strict:
        return filled_query("SELECT row, region FROM points", tables={"points": partition.points})
    ranks = [rank_of(index) for index in range(len(policy.quasi_identifiers))]
    text = "SELECT point.region FROM (SELECT DISTINCT region, {ranks} FROM points) AS point"
    query = filled_select(text, tables={"points": partition.points}, names={"ranks": ranks})
    for index, rank in enumerate(ranks):
        extend(query, alias(column("value", f"of_{index}"), f"value_{index}"))
        _join_ranked(query, partition, index, "of", column(rank, "point"))
    return query
