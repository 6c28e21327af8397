"""Makes the labels that are published for Mondrian's regions, and maps rows to regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.methods.shared.spans import high_name as high_of
from sqlanon.methods.shared.spans import low_name as low_of
from sqlanon.methods.shared.spans import null_name as null_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    and_,
    as_text,
    case,
    cast,
    huge,
    identical,
    if_,
    infix,
    is_null,
    joined,
    or_zero,
    paren,
    real,
    same,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.cells.cells import leaves_name, rank_name
from sqlanon.sql.cells.labels import generalized, level_name, stored_labels
from sqlanon.sql.cells.value_ranks import by_value, first_name, is_numeric
from sqlanon.sql.release.recode import box_name, high_name, label_name, low_name

# The choice of cutting: a region for every row.


@dataclass(frozen=True)
class Partition:
    """Multidimensional recoding: every row is in a region, and every region meets the requirements.

    `regions` and `points` are the temporary tables of `recursion.Partitioned`, `ranked` the tables of each attribute's
    values in their order. There are `count` regions, of `smallest` to `largest` rows, after `attempts` rounds of
    cutting all open ones. `loss` is the release's loss by the measure `loss_name`. No row is suppressed.
    """

    regions: str
    points: str
    ranked: tuple[str, ...]
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


def _rank_is(table: str, rank: exp.Expr) -> exp.Expr:
    return column(rank_name(0), table).eq(rank)


def region_loss(engine: Engine, policy: BoundPolicy, partition: Partition) -> Fraction:
    """The granularity loss of regions: the mean over the rows and, by their weights, the attributes.

    A label costs (n - 1) / (N - 1), where n of the attribute's N values are below it, or between the ends of its range
    if these ends are published, too. A centroid costs as much as the range of its region. The loss is 0 if there are no
    rows or no quasi-identifiers.
    """
    quasi = policy.quasi_identifiers
    if not quasi or not partition.count:
        return Fraction()
    rows, *numbers = map(int, engine.rows(_values_below(policy, partition))[0])
    others, below = numbers[: len(quasi)], numbers[len(quasi) :]
    weights = [Fraction(bound.attribute.weight) for bound in quasi]
    costs = (weight * cost / max(n, 1) for weight, cost, n in zip(weights, below, others, strict=True))
    return sum(costs, Fraction()) / (rows * sum(weights))


def _values_below(policy: BoundPolicy, partition: Partition) -> exp.Select:
    """SELECT of one row: the rows, then for each attribute its values minus one, then for each the sum over rows of (n
    - 1).
    """
    query = select(huge(f.sum(column("rows", "region"))), of=relation(partition.regions, as_="region"))
    extend(query, joins=[inner_join(subquery(_known(partition), "known"), same("region", "region", "known"))])
    below: list[exp.Expr] = []
    for index, (bound, ranked) in enumerate(zip(policy.quasi_identifiers, partition.ranked, strict=True)):
        extend(query, subquery(select(f.sum(column("leaf")) - 1, of=relation(ranked))))
        with_null: exp.Expr = if_(column(f"with_null_{index}", "known"), 1, 0)
        others = _in_range(index, bound, ranked, with_null)
        if partition.publish == "ancestor" and bound.hierarchy is not None:
            for end, rank in (("first", low_name), ("last", high_name)):
                _join_ranked(query, partition, index, end, column(rank(index), "region"))
            others = _below_ancestor(index, bound, ranked)
            if partition.bounds and by_value(bound):
                # The ends reveal more than the label, except for NULL, which may be below `*`.
                nulls = subquery(select(f.count(), of=relation(ranked), where=[is_null(column("value"))]))
                others = _in_range(index, bound, ranked, _of_ancestor(index, bound, lambda _: literal(0), nulls))
        below.append(huge(or_zero(f.sum(column("rows", "region") * others))))
    return extend(query, *below)


def _in_range(index: int, bound: BoundAttribute, ranked: str, with_null: exp.Expr) -> exp.Expr:
    """The number of values in a range minus one: the values between its ends, and NULL if the region has NULL."""
    least, most = (column(f"{end}_{index}", "known") for end in ("least", "most"))
    others: exp.Expr = most - least + with_null
    if not by_value(bound):
        # Along a hierarchy NULL may have a place between two values.
        null = f.coalesce(subquery(_null_rank(ranked)), -1)
        others -= if_(and_(null > least, null < most), 1, 0)
    return or_zero(others)


def _below_ancestor(index: int, bound: BoundAttribute, ranked: str) -> exp.Expr:
    """The number of leaves below the lowest common ancestor minus one."""
    leaves = subquery(select(f.sum(column("leaf")), of=relation(ranked)))
    return _of_ancestor(index, bound, lambda level: column(leaves_name(level), f"first_{index}") - 1, leaves - 1)


def _of_ancestor(index: int, bound: BoundAttribute, inner: Callable[[int], exp.Expr], at_top: exp.Expr) -> exp.Case:
    """The SQL of a CASE by the lowest common ancestor of a region's values: 0 for a single value, `inner` of the
    ancestor's level, or at the top `at_top`.
    """
    first, last = f"first_{index}", f"last_{index}"
    return case(
        (same(rank_name(0), first, last), 0),
        *((same(first_name(level), first, last), inner(level)) for level in range(1, bound.height)),
        otherwise=at_top,
    )


def _null_rank(ranked: str) -> exp.Select:
    return select(f.max(column(rank_name(0))), of=relation(ranked), where=[is_null(column("value"))])


def labels_of_levels(bound: BoundAttribute, ranked: str) -> exp.Select:
    """SELECT of value, level_1, ...: the labels of an attribute's values."""
    values = select(column("value"), of=relation(ranked))
    listed = stored_labels(bound)
    return generalized(bound, values, listed, counted=False)


def region_labels(policy: BoundPolicy, partition: Partition, levels: Sequence[str | None]) -> exp.Select:
    """SELECT of the published regions: region, class, and for each attribute its label and the ends of its range.

    The ends are values and ranks other than NULL; with_null_i is true if NULL is among the values. Regions with equal
    labels are one class, which has the number of the first of them. `levels` has the table of `labels_of_levels` of
    each attribute whose ancestors are published.
    """
    query = select(column("region", "region"), of=relation(partition.regions, as_="region"))
    extend(query, joins=[inner_join(subquery(_known(partition), "known"), same("region", "region", "known"))])
    keys: list[exp.Expr] = []
    for index, bound in enumerate(policy.quasi_identifiers):
        for name in ("least", "most"):
            _join_ranked(query, partition, index, f"{name}_of", column(f"{name}_{index}", "known"), "LEFT")
        label = _label(query, partition, index, bound, levels[index])
        extend(query, alias(label, label_name(index)))
        extend(query, alias(column("value", f"least_of_{index}"), box_name(index, "low")))
        extend(query, alias(column("value", f"most_of_{index}"), box_name(index, "high")))
        extend(query, column(f"with_null_{index}", "known"), alias(column(f"least_{index}", "known"), low_name(index)))
        extend(query, alias(column(f"most_{index}", "known"), high_name(index)))
        keys.append(column(label_name(index)))
        if partition.bounds:
            keys += [column(box_name(index, end)) for end in ("low", "high")]
    first = window(f.min(column("region")), partition_by=[key.copy() for key in keys] or None)
    return select(exp.Star(), alias(first, "class"), of=subquery(query, "labelled"))


def _known(partition: Partition) -> exp.Select:
    """SELECT of a row for each region, with each attribute's least and greatest rank (NULL has no rank), and whether
    the region has NULL.
    """
    query = select(column("region", "point"), of=relation(partition.points, as_="point"))
    # Each rank is looked up once, because planning a subquery takes as long as reading many points.
    ranks = enumerate(partition.ranked)
    nulls = select(*(alias(f.coalesce(subquery(_null_rank(ranked)), -1), f"null_{i}") for i, ranked in ranks))
    extend(query, joins=[cross_join(subquery(nulls, "nulls"))])
    for index in range(len(partition.ranked)):
        rank = column(rank_of(index), "point")
        at_null = rank.eq(column(f"null_{index}", "nulls"))
        known = if_(exp.not_(paren(at_null)), rank)
        extend(
            query,
            alias(f.min(known), f"least_{index}"),
            alias(f.max(known), f"most_{index}"),
            alias(f.bool_or(at_null), f"with_null_{index}"),
        )
    return extend(query, group_by=[column("region", "point")])


def region_spans(partition: Partition) -> exp.Select:
    """SELECT of the regions as spans, as `methods.shared.spans` defines them."""
    query = select(alias(column("rows", "region"), "n"), of=relation(partition.regions, as_="region"))
    extend(query, joins=[inner_join(subquery(_known(partition), "known"), same("region", "region", "known"))])
    for index in range(len(partition.ranked)):
        least, most = (column(f"{end}_{index}", "known") for end in ("least", "most"))
        with_null = if_(column(f"with_null_{index}", "known"), 1, 0)
        extend(
            query,
            alias(f.coalesce(least, 1), low_of(index)),
            alias(f.coalesce(most, 0), high_of(index)),
            alias(with_null, null_of(index)),
        )
    return query


def _label(query: exp.Select, partition: Partition, index: int, bound: BoundAttribute, levels: str | None) -> exp.Expr:
    if partition.publish == "centroid":
        return _middle(index, bound) if partition.bounds else _centroid(query, partition, index, bound)
    if partition.publish == "ancestor" and levels is not None:
        for end, rank in (("low_of", low_name), ("high_of", high_name)):
            _join_ranked(query, partition, index, end, column(rank(index), "region"))
        return _ancestor(query, index, bound, partition.ranked[index], levels)
    return _range(index, bound, partition.ranked[index])


def _join_ranked(query: exp.Select, partition: Partition, index: int, end: str, rank: exp.Expr, kind: str = "") -> None:
    """Joins the row of an attribute's value at a rank to the query, under the name `end`."""
    name = f"{end}_{index}"
    query.join(relation(partition.ranked[index], as_=name), on=_rank_is(name, rank), join_type=kind, copy=False)


def _range(index: int, bound: BoundAttribute, ranked: str) -> exp.Expr:
    """The value, or [least, greatest]; followed by ` or NULL` if NULL is among the values."""
    least, most = f"least_of_{index}", f"most_of_{index}"
    low, high = (_end(column("value", end), bound, ranked) for end in (least, most))
    ends = joined(exp.Literal.string("["), low, exp.Literal.string(", "), high, exp.Literal.string("]"))
    label = if_(same(rank_name(0), least, most), low, ends)
    with_null = joined(paren(label), exp.Literal.string(" or NULL"))
    return if_(column(f"with_null_{index}", "known"), with_null, label)


def _end(value: exp.Expr, bound: BoundAttribute, ranked: str) -> exp.Expr:
    """A value as text: a timestamp as its date if all timestamps of the attribute are midnights."""
    if bound.type not in _WITHOUT_ZONE:
        return as_text(value)
    each = column("value")
    in_a_day = select(f.bool_or(infix(each, "<>", cast(cast(each, "DATE"), "TIMESTAMP"))))
    return if_(subquery(extend(in_a_day, of=relation(ranked))), as_text(value), as_text(cast(value, "DATE")))


def _ancestor(query: exp.Select, index: int, bound: BoundAttribute, ranked: str, levels: str) -> exp.Expr:
    """The value, or the label of the lowest node above all values of the region; `*` at the top."""
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
    """The mean of the two bounds, which reveals no more than the bounds.

    The mean of the rows would reveal more: with three values, the mean and the ends determine the third. The middle
    value, which is the value of a row, would reveal more, too.
    """
    low, high = (column("value", f"{name}_{index}") for name in ("least_of", "most_of"))
    if not _is_number(bound):
        return low
    # Halves, because the sum of two numbers may be none of the type.
    return added([cast(end, "DOUBLE") / real(2.0) for end in (low, high)])


def _is_number(bound: BoundAttribute) -> bool:
    """Whether values have a mean; dates and timestamps have a distance, but no mean."""
    return is_numeric(bound) and not bound.published_type.startswith(("DATE", "TIMESTAMP"))


def _centroid(query: exp.Select, partition: Partition, index: int, bound: BoundAttribute) -> exp.Expr:
    """The mean of numbers, or for other types the value of the middle row; NULL counts only if all values are NULL."""
    tables = {"points": partition.points, "ranked": partition.ranked[index]}
    names = {"rank": [rank_of(index)], "of_value": [rank_name(0)]}
    if _is_number(bound):
        mean = _mean(cast(column("value", "valued"), "DOUBLE"), column("n", "point"))
        middle = query_file("partition", "mean_of_numbers", tables=tables, names=names, mean=mean)
    else:
        middle = query_file("partition", "middle_value", tables=tables, names=names)
    name = f"middle_{index}"
    extend(query, joins=[left_join(subquery(middle, name), same("region", "region", name))])
    return column("middle", name)


def _mean(number: exp.Expr, count: exp.Expr) -> exp.Expr:
    """The mean of numbers that occur `count` times each; if their sum exceeds a DOUBLE, they are scaled down first."""

    def mean(value: exp.Expr) -> exp.Expr:
        return f.sum(value * count) / f.sum(count)

    plain = mean(number)
    scaled = mean(paren(number * real(2.0**-_SCALE))) * real(2.0**_SCALE)
    finite = f.call("isfinite", plain)
    return if_(finite, plain, scaled)


def region_map(policy: BoundPolicy, partition: Partition) -> exp.Select:
    """SELECT of each source row's region.

    If equal rows are in one region, it has value_0, ..., region: a row for each combination of values that occurs.
    Otherwise it has row, region: a row for each row of the source.
    """
    if not partition.strict:
        return select(column("row"), column("region"), of=relation(partition.points))
    names = [rank_of(index) for index in range(len(policy.quasi_identifiers))]
    each = select(column("region"), *(column(name) for name in names), of=relation(partition.points), distinct=True)
    query = select(column("region", "point"), of=subquery(each, "point"))
    for index, ranked in enumerate(partition.ranked):
        of = f"of_{index}"
        extend(query, alias(column("value", of), f"value_{index}"))
        extend(query, joins=[inner_join(relation(ranked, as_=of), _rank_is(of, column(names[index], "point")))])
    return query
