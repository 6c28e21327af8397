"""What is published of Mondrian's regions, and where a row belongs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.methods.shared.partition.choice import Partition
from sqlanon.methods.shared.partition.choose_dimension import Turns
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.sqlgen.build.expressions import joined, paren, real
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.cells import leaves_name, rank_name
from sqlanon.sqlgen.cells.labels import generalized, level_name, listed_values
from sqlanon.sqlgen.cells.value_ranks import first_name, is_numeric
from sqlanon.sqlgen.release.region_rows import box_name, high_name, label_name, low_name

__all__ = ["labels_of_levels", "region_labels", "region_loss", "region_map"]

# As many rows as BIGINT counts, each the greatest DOUBLE, add up to less than 2 ** _SCALE times it.
_SCALE = 64

_VARCHAR = exp.DataType.build("VARCHAR")
_DOUBLE = exp.DataType.build("DOUBLE")


def _rank_is(table: str, rank: exp.Expr) -> exp.Expr:
    return exp.EQ(this=column(rank_name(0), table), expression=rank)


def region_loss(policy: BoundPolicy, cuts: Turns, regions: str, of_ancestors: bool) -> exp.Select:
    """One figure: the mean over the rows and, weighted, the attributes, of how much of its domain a region covers."""
    query = exp.select().from_(relation(regions, as_="region"))
    costs: list[exp.Expr] = []
    for index, bound in enumerate(policy.quasi_identifiers):
        for end, name in (("first", low_name), ("last", high_name)):
            on = _rank_is(f"{end}_{index}", column(name(index), "region"))
            query.join(relation(cuts.ranked[index], as_=f"{end}_{index}"), on=on, copy=False)
        cost: exp.Expr = exp.Div(
            this=paren(
                exp.Sub(this=column("position", f"last_{index}"), expression=column("position", f"first_{index}"))
            ),
            expression=real(cuts.domains[index]),
        )
        if of_ancestors and bound.hierarchy is not None:
            cost = _leaves_cost(index, bound, cuts.ranked[index])
        weighted = exp.Mul(this=real(cuts.weights[index]), expression=paren(cost))
        costs.append(
            exp.Mul(this=exp.Cast(this=column("rows", "region"), to=_DOUBLE.copy()), expression=paren(weighted))
        )
    total = costs[0]
    for cost in costs[1:]:
        total = exp.Add(this=total, expression=cost)
    rows = exp.Sum(this=exp.Cast(this=column("rows", "region"), to=_DOUBLE.copy()))
    every = exp.Mul(this=rows, expression=real(sum(cuts.weights)))
    return query.select(exp.Div(this=exp.Sum(this=total), expression=paren(every)), copy=False)


def _leaves_cost(index: int, bound: BoundAttribute, ranked: str) -> exp.Expr:
    """(leaves below the lowest common ancestor - 1) / (leaves - 1)."""
    leaves = exp.select(exp.Sum(this=column("leaf"))).from_(relation(ranked)).subquery()
    others = exp.Sub(this=leaves, expression=literal(1))
    cases = [exp.If(this=_same_rank(index), true=literal(0))]
    for level in range(1, bound.height):
        below = exp.Sub(this=column(leaves_name(level), f"first_{index}"), expression=literal(1))
        cases.append(exp.If(this=_same_first(index, level), true=below))
    own = exp.Cast(this=exp.Case(ifs=cases, default=others.copy()), to=_DOUBLE.copy())
    return exp.Coalesce(
        this=exp.Div(this=own, expression=exp.Nullif(this=paren(others), expression=literal(0))),
        expressions=[literal(0)],
    )


def _same_rank(index: int) -> exp.Expr:
    return exp.EQ(this=column(rank_name(0), f"first_{index}"), expression=column(rank_name(0), f"last_{index}"))


def _same_first(index: int, level: int) -> exp.Expr:
    name = first_name(level)
    return exp.EQ(this=column(name, f"first_{index}"), expression=column(name, f"last_{index}"))


def labels_of_levels(bound: BoundAttribute, ranked: str) -> exp.Select:
    """value, level_1, ...: the labels of an attribute's values."""
    values = exp.select(column("value")).from_(relation(ranked))
    listed = listed_values(bound, relation(("anon", "hierarchy_value"))) if bound.stored else None
    return generalized(bound, values, listed, counted=False)


def region_labels(policy: BoundPolicy, found: Partition, levels: Sequence[str | None]) -> exp.Select:
    """The regions as they are published: region, class, and for each attribute its label and the ends of its range.

    The ends are given as values and as ranks, NULL left out: with_null_i says whether it is among the values.
    Regions that show the same are one class, named by the first of them. `levels` has
    the table of `labels_of_levels` of each attribute whose ancestors are shown.
    """
    query = exp.select(column("region", "region")).from_(relation(found.regions, as_="region"))
    query.join(
        _known(found).subquery("known"),
        on=exp.EQ(this=column("region", "region"), expression=column("region", "known")),
        copy=False,
    )
    keys: list[exp.Expr] = []
    for index, bound in enumerate(policy.quasi_identifiers):
        for name in ("least", "most"):
            _join_ranked(query, found, index, f"{name}_of", column(f"{name}_{index}", "known"), "LEFT")
        label = _label(query, found, index, bound, levels[index])
        query.select(alias(label, label_name(index)), copy=False)
        query.select(alias(column("value", f"least_of_{index}"), box_name(index, "low")), copy=False)
        query.select(alias(column("value", f"most_of_{index}"), box_name(index, "high")), copy=False)
        query.select(column(f"with_null_{index}", "known"), copy=False)
        query.select(alias(column(f"least_{index}", "known"), low_name(index)), copy=False)
        query.select(alias(column(f"most_{index}", "known"), high_name(index)), copy=False)
        keys.append(column(label_name(index)))
        if found.bounds:
            keys += [column(box_name(index, end)) for end in ("low", "high")]
    first = exp.Window(this=exp.Min(this=column("region")), partition_by=[key.copy() for key in keys] or None)
    return exp.select(exp.Star(), alias(first, "class")).from_(query.subquery("shown"), copy=False)


def _known(found: Partition) -> exp.Select:
    """For each region and attribute the least and the greatest rank but NULL's, and whether it has NULL."""
    query = exp.select(column("region", "point")).from_(relation(found.points, as_="point"))
    for index, ranked in enumerate(found.ranked):
        null = exp.select(exp.Max(this=column(rank_name(0)))).from_(relation(ranked))
        null.where(exp.Is(this=column("value"), expression=exp.Null()), copy=False)
        rank = column(rank_of(index), "point")
        is_null = exp.EQ(this=rank.copy(), expression=exp.Coalesce(this=null.subquery(), expressions=[literal(-1)]))
        known = exp.Case(ifs=[exp.If(this=exp.Not(this=paren(is_null)), true=rank)])
        query.select(
            alias(exp.Min(this=known), f"least_{index}"),
            alias(exp.Max(this=known.copy()), f"most_{index}"),
            alias(exp.LogicalOr(this=is_null.copy()), f"with_null_{index}"),
            copy=False,
        )
    return query.group_by(column("region", "point"), copy=False)


def _label(query: exp.Select, found: Partition, index: int, bound: BoundAttribute, levels: str | None) -> exp.Expr:
    if found.publish == "centroid":
        return _middle(index, bound) if found.bounds else _centroid(query, found, index, bound)
    if found.publish == "ancestor" and levels is not None:
        for end, rank in (("low_of", low_name), ("high_of", high_name)):
            _join_ranked(query, found, index, end, column(rank(index), "region"))
        return _ancestor(query, index, bound, levels)
    return _range(index)


def _join_ranked(query: exp.Select, found: Partition, index: int, end: str, rank: exp.Expr, kind: str = "") -> None:
    """Joins the value of an attribute at a rank, as `end`."""
    name = f"{end}_{index}"
    query.join(relation(found.ranked[index], as_=name), on=_rank_is(name, rank), join_type=kind, copy=False)


def _text(tree: exp.Expr) -> exp.Expr:
    return exp.Cast(this=tree, to=_VARCHAR.copy())


def _range(index: int) -> exp.Expr:
    """The value, or [least, greatest], in their order; ` or NULL` behind it where NULL is among the values."""
    least, most = (column("value", f"{name}_{index}") for name in ("least_of", "most_of"))
    ranks = [column(rank_name(0), f"{name}_{index}") for name in ("least_of", "most_of")]
    between = joined(
        exp.Literal.string("["), _text(least.copy()), exp.Literal.string(", "), _text(most), exp.Literal.string("]")
    )
    same = exp.EQ(this=ranks[0], expression=ranks[1])
    shown = exp.Case(ifs=[exp.If(this=same, true=_text(least))], default=between)
    with_null = joined(paren(shown.copy()), exp.Literal.string(" or NULL"))
    return exp.Case(ifs=[exp.If(this=column(f"with_null_{index}", "known"), true=with_null)], default=shown)


def _ancestor(query: exp.Select, index: int, bound: BoundAttribute, levels: str) -> exp.Expr:
    """The value, or the label of the lowest node that has all values of the region below it; `*` at the top."""
    name = f"levels_{index}"
    on = exp.NullSafeEQ(this=column("value", f"low_of_{index}"), expression=column("value", name))
    query.join(relation(levels, as_=name), on=on, join_type="LEFT", copy=False)
    ends = [f"{end}_{index}" for end in ("low_of", "high_of")]
    same = exp.EQ(this=column(rank_name(0), ends[0]), expression=column(rank_name(0), ends[1]))
    cases = [exp.If(this=same, true=_text(column("value", ends[0])))]
    for level in range(1, bound.height):
        first = exp.EQ(this=column(first_name(level), ends[0]), expression=column(first_name(level), ends[1]))
        cases.append(exp.If(this=first, true=_text(column(level_name(level), name))))
    return exp.Case(ifs=cases, default=exp.Literal.string("*"))


def _middle(index: int, bound: BoundAttribute) -> exp.Expr:
    """The centroid of the two bounds, which says no more than they do.

    That of the rows would: of three values the mean and the ends give away the third, and a value in the middle is one.
    """
    low, high = (column("value", f"{name}_{index}") for name in ("least_of", "most_of"))
    if not _is_number(bound):
        return low
    # Halves, for the sum of two numbers may be none.
    halves = [exp.Div(this=exp.Cast(this=end, to=_DOUBLE.copy()), expression=real(2.0)) for end in (low, high)]
    return exp.Add(this=halves[0], expression=halves[1])


def _is_number(bound: BoundAttribute) -> bool:
    """Whether values have a mean; dates have a distance, but none."""
    return is_numeric(bound) and not bound.published_type.startswith(("DATE", "TIMESTAMP"))


def _centroid(query: exp.Select, found: Partition, index: int, bound: BoundAttribute) -> exp.Expr:
    """The mean of numbers; of anything else the value of the row in the middle. NULL counts only where all are NULL."""
    ranked, name = relation(found.ranked[index], as_="valued"), f"middle_{index}"
    on_rank = _rank_is("valued", column(rank_of(index), "point"))
    known = exp.Not(this=exp.Is(this=column("value", "valued"), expression=exp.Null()))
    rows = exp.select(column("region", "point")).from_(relation(found.points, as_="point"))
    rows.join(ranked, on=exp.and_(on_rank, known), copy=False)
    if _is_number(bound):
        number = exp.Cast(this=column("value", "valued"), to=_DOUBLE.copy())
        rows.select(alias(_mean(number, column("n", "point")), "middle"), copy=False)
        rows.group_by(column("region", "point"), copy=False)
        middle: exp.Query = rows
    else:
        rank = column(rank_of(index), "point")
        order = exp.Order(expressions=[exp.Ordered(this=rank.copy(), nulls_first=False)])
        group = [column("region", "point")]
        reached = exp.Window(this=exp.Sum(this=column("n", "point")), partition_by=group, order=order)
        every = exp.Window(this=exp.Sum(this=column("n", "point")), partition_by=[g.copy() for g in group])
        rows.select(
            alias(rank, "rank"),
            alias(column("value", "valued"), "value"),
            alias(reached, "reached"),
            alias(every, "every"),
            copy=False,
        )
        half = exp.GTE(this=exp.Mul(this=literal(2), expression=column("reached")), expression=column("every"))
        least = exp.ArgMin(this=column("value"), expression=column("rank"))
        middle = exp.select(column("region"), alias(least, "middle")).from_(rows.subquery("running"), copy=False)
        middle.where(half, copy=False).group_by(column("region"), copy=False)
    on = exp.EQ(this=column("region", "region"), expression=column("region", name))
    query.join(middle.subquery(name), on=on, join_type="LEFT", copy=False)
    return column("middle", name)


def _mean(number: exp.Expr, count: exp.Expr) -> exp.Expr:
    """The mean of numbers that occur `count` times each. Where their sum is too large for a DOUBLE, of small parts."""

    def over(value: exp.Expr) -> exp.Expr:
        total = exp.Sum(this=exp.Mul(this=value, expression=count.copy()))
        return exp.Div(this=total, expression=exp.Sum(this=count.copy()))

    plain = over(number)
    small = over(paren(exp.Mul(this=number.copy(), expression=real(2.0**-_SCALE))))
    scaled = exp.Mul(this=paren(small), expression=real(2.0**_SCALE))
    finite = exp.Anonymous(this="isfinite", expressions=[plain.copy()])
    return exp.Case(ifs=[exp.If(this=finite, true=plain)], default=scaled)


def region_map(policy: BoundPolicy, found: Partition) -> exp.Select:
    """Where the source's rows belong: value_0, ..., region, a row a combination of values that occurs.

    Where equal rows may be in several regions, a row a row of the source: row and region.
    """
    if not found.strict:
        return exp.select(column("row"), column("region")).from_(relation(found.points))
    names = [rank_of(index) for index in range(len(policy.quasi_identifiers))]
    each = exp.select(column("region"), *(column(name) for name in names)).distinct(copy=False)
    each = each.from_(relation(found.points))
    query = exp.select(column("region", "point")).from_(each.subquery("point"), copy=False)
    for index, ranked in enumerate(found.ranked):
        of = f"of_{index}"
        query.select(alias(column("value", of), f"value_{index}"), copy=False)
        query.join(relation(ranked, as_=of), on=_rank_is(of, column(names[index], "point")), copy=False)
    return query
