"""Mondrian's cuts, for all regions at once (LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity).

A region has one or more labels of points, the least and the greatest rank of its rows in each attribute, and the
attribute `dim` in which it is cut next (choose_dimension in the paper), which is NULL if the region is not cut any
further. Its median is the middle value.

One attempt cuts each open region in one attribute: `sides` puts every point below, at or above the median, `parts`
counts them, and `children` combines the parts into the two halves of the cut nearest to the median. `allowable_cuts`
checks that both halves satisfy the requirements, by the models' own texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.shared.partition.points import Points, rank_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    ascending,
    big,
    case,
    cast,
    if_,
    infix,
    integer,
    is_not_null,
    is_null,
    order_by,
    paren,
    real,
    same,
    total,
    window,
)
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import key_name, rank_name
from sqlanon.sql.classes.rows import SqlRequirement
from sqlanon.sql.release.recode import high_name, low_name

# A point lies below the cut value, at it or above it; if equal points are divided, none is at it.
_PARTS = 3


def _all_columns(of: str) -> exp.Column:
    """All columns of a relation."""
    return exp.Column(this=exp.Star(), table=identifier(of))


def _entry(numbers: Sequence[exp.Expr], index: exp.Expr) -> exp.Expr:
    """The number at an index, from 0; DuckDB plans a list faster than as many comparisons."""
    return f.call("list_extract", exp.Array(expressions=list(numbers)), index + 1)


@dataclass(frozen=True)
class Cuts:
    """The queries that choose an attribute for each region and cut the region in it.

    For each attribute, `ranked` has the table of its ranked values, `domains` the distance from the first to the last
    position (1 for a single position), `weights` its weight in the policy, and `plain` whether its positions equal its
    ranks up to an offset. `counts` has the number of its values if they have no distance and are counted, else None.
    With fewer than `least` rows, a half violates a requirement. `fixed_relations` are the normal relations that are the
    same for all regions. With `ancestors`, a table of `value_ranks.ancestors`, cuts fall between the children of a node
    of the hierarchy; `heights` are the heights of the hierarchies.
    """

    ranked: Sequence[str]
    domains: Sequence[float]
    counts: Sequence[int | None]
    weights: Sequence[float]
    plain: Sequence[bool]
    points: Points
    requirements: Sequence[SqlRequirement]
    fixed_relations: Sequence[Step]
    least: int
    heights: Sequence[int] = ()
    ancestors: str | None = None

    @property
    def attributes(self) -> range:
        return range(len(self.ranked))

    def _spans(self, *, of_points: bool) -> list[exp.Expr]:
        """The least and the greatest rank of a group in each attribute, from points or from the spans of parts."""
        spans: list[exp.Expr] = []
        for index in self.attributes:
            for name, function in ((low_name(index), exp.Min), (high_name(index), exp.Max)):
                end = self.points.span(index, function) if of_points else function(this=column(name))
                spans.append(alias(end, name))
        return spans

    def _rows(self) -> exp.Expr:
        """The number of rows that the points of a group represent."""
        return f.count() if self.points.single else total(self.points.n())

    def _bounds(self, of: str | None = None) -> list[exp.Expr]:
        return [column(name(index), of) for index in self.attributes for name in (low_name, high_name)]

    def root(self, points: str) -> exp.Select:
        """SELECT of the region of all points: region, labels, rows, tried, and its spans; it returns no row if there
        are no points.
        """
        labels = exp.Array(expressions=[integer(literal(0))])
        query = select(
            alias(big(literal(0)), "region"),
            alias(labels, "labels"),
            alias(self._rows(), "rows"),
            alias(big(literal(0)), "tried"),
            *self._spans(of_points=True),
        )
        return extend(query, of=relation(points), having=f.count() > 0)

    def with_widths(self, regions: exp.Expr) -> exp.Select:
        """SELECT of the regions with a width_i for each attribute, which is NULL if the region cannot be cut in it or
        has been tried.
        """
        query = select(_all_columns("region"), of=exp.alias_(regions, "region", table=True))
        large = column("rows", "region") >= 2 * self.least
        for index in self.attributes:
            low, high = (column(name(index), "region") for name in (low_name, high_name))
            width = self.share(query, index, low, high)
            untried = paren(infix(column("tried", "region"), "&", 1 << index)).eq(0)
            extend(query, alias(if_(and_(large, high > low, untried), width), f"width_{index}"))
        return query

    def share(
        self, query: exp.Select, index: int, low: exp.Expr, high: exp.Expr, condition: exp.Expr | None = None
    ) -> exp.Expr:
        """The weighted share of an attribute's domain from the rank `low` to the rank `high`.

        For values with a distance, it is the distance between the two ranks divided by the length of the whole domain,
        otherwise the number of values between them divided by the number of all values. If ranks do not give the
        distance, the positions are joined to the query, on `condition` if given.
        """
        count = self.counts[index]
        span: exp.Expr
        if count is not None:
            span = cast(paren(paren(high - low) + 1), "DOUBLE")
        elif self.plain[index]:
            span = cast(paren(high - low), "DOUBLE")
        else:
            for name, bound in (("first", low), ("last", high)):
                on = infix(column(rank_name(0), f"{name}_{index}"), "=", bound)
                extend(
                    query,
                    joins=[
                        (left_join if condition else inner_join)(
                            relation(self.ranked[index], as_=f"{name}_{index}"),
                            and_(condition, on) if condition else on,
                        )
                    ],
                )
            span = paren(column("position", f"last_{index}") - column("position", f"first_{index}"))
        whole = self.domains[index] if count is None else float(count)
        return real(self.weights[index]) * paren(span / real(whole))

    def widest(self, regions: exp.Query) -> exp.Select:
        """SELECT of the regions with `dim`, the attribute in which each region is widest (and `level` for cuts by a
        tree).
        """
        greatest = exp.Greatest(
            this=column("width_0"),
            expressions=[column(f"width_{p}") for p in self.attributes if p],
            ignore_nulls=True,
        )
        most = select(exp.Star(), alias(greatest, "widest"), of=subquery(self.with_widths(subquery(regions)), "width"))
        dim = case(*((column(f"width_{index}").eq(column("widest")), index) for index in self.attributes))
        return self.with_level_of_cut(
            select(*self.region_columns(), alias(integer(dim), "dim"), of=subquery(most, "most"))
        )

    def region_columns(self, of: str | None = None) -> list[exp.Expr]:
        """The columns of a region except `dim`."""
        return [*(column(name, of) for name in ("region", "labels", "rows", "tried")), *self._bounds(of)]

    def with_level_of_cut(self, regions: exp.Select) -> exp.Select:
        """Adds the level of the tree that a cut in `dim` respects; returns the regions unchanged if cuts fall
        anywhere.
        """
        if self.ancestors is None:
            return regions
        dim = column("dim", "turn")
        level = alias(self._level(self._spanned("turn", dim), dim), "level")
        return select(_all_columns("turn"), level, of=subquery(regions, "turn"))

    def attempts(self, regions: str) -> exp.Select:
        """SELECT of a row for each label of the regions that are cut, with the attribute's bits in the key (and
        `level`).
        """
        label = alias(f.unnest(column("labels", "turn")), "label")
        query = select(label, column("region", "turn"), *self.field_of("turn"))
        if self.ancestors is not None:
            extend(query, column("dim", "turn"), column("level", "turn"))
        return extend(query, of=relation(regions, as_="turn"), where=[is_not_null(column("dim", "turn"))])

    def field_of(self, of: str) -> list[exp.Expr]:
        """The bits of the key with the attribute that is cut: shift, mask, and for keys of several words the word."""
        fields = [self.points.field(index) for index in self.attributes]
        parts = {
            "shift": [field.shift for field in fields],
            "mask": [(1 << field.bits) - 1 for field in fields],
        }
        if self.points.layout.words > 1:
            parts["word"] = [field.word for field in fields]
        return [
            alias(_entry(list(map(big, map(literal, numbers))), column("dim", of)), name)
            for name, numbers in parts.items()
        ]

    def _spanned(self, of: str, dim: exp.Expr) -> list[exp.Expr]:
        """The least and the greatest rank of a region in the attribute `dim`."""
        return [
            case(*((dim.eq(index), column(name(index), of)) for index in self.attributes))
            for name in (low_name, high_name)
        ]

    def _level(self, bounds: Sequence[exp.Expr], dim: exp.Expr) -> exp.Expr:
        """The level below the lowest common ancestor of two values of the attribute `dim`; 0 is the level of values."""
        assert self.ancestors is not None
        common = select(
            f.min(column("level", "lower")),
            of=relation(self.ancestors, as_="lower"),
            joins=[
                inner_join(
                    relation(self.ancestors, as_="upper"),
                    and_(*(same(name, "lower", "upper") for name in ("dim", "level", "first"))),
                )
            ],
            where=[
                column("dim", "lower").eq(dim),
                column("rank", "lower").eq(bounds[0]),
                column("rank", "upper").eq(bounds[1]),
            ],
        )
        top = case(*((dim.eq(index), self.heights[index]) for index in self.attributes))
        return integer(paren(f.coalesce(subquery(common), top) - 1))

    def value_of(self, query: exp.Select) -> exp.Expr:
        """A point's rank in the attribute that is cut, or, if cuts respect the tree, the first rank of its ancestor."""
        keys = [column(key_name(word), "point") for word in range(self.points.layout.words)]
        word_of_cut = column("word", "attempt")
        key = case(*((word_of_cut.eq(word), key) for word, key in enumerate(keys))) if len(keys) > 1 else keys[0]
        shifted = paren(infix(key, ">>", column("shift", "attempt")))
        rank = integer(paren(infix(shifted, "&", column("mask", "attempt"))))
        if self.ancestors is None:
            return rank
        return self.respecting(query, column("dim", "attempt"), column("level", "attempt"), rank)

    def respecting(self, query: exp.Select, dim: exp.Expr, level: exp.Expr, rank: exp.Expr) -> exp.Expr:
        """The first rank below a point's ancestor at a level; the rank itself at level 0. Joins the ancestors."""
        assert self.ancestors is not None
        on = and_(
            column("dim", "ancestor").eq(dim),
            column("level", "ancestor").eq(level),
            column("rank", "ancestor").eq(rank),
        )
        extend(query, joins=[left_join(relation(self.ancestors, as_="ancestor"), on)])
        return f.coalesce(column("first", "ancestor"), rank)

    def with_level(self, turn: exp.Select, index: int) -> exp.Select:
        """SELECT of the regions in `turn`, each with the level that a cut in attribute `index` respects."""
        level = self._level([column(name(index), "turn") for name in (low_name, high_name)], literal(index))
        return select(_all_columns("turn"), alias(level, "level"), of=subquery(turn, "turn"))

    def points_of(self, points: str, regions: str) -> tuple[exp.Select, exp.Expr]:
        """Returns the query of the points of the regions that are cut, joined to their attempt, and the expression of
        the value by which they are cut.
        """
        query = select(
            of=relation(points, as_="point"),
            joins=[inner_join(subquery(self.attempts(regions), "attempt"), same("label", "point", "attempt"))],
        )
        return query, self.value_of(query)

    def medians(self, points: str, regions: str) -> exp.Query:
        """SELECT of region, median: the value at which half of a region's rows are reached."""
        query, value = self.points_of(points, regions)
        region = column("region", "attempt")
        if self.points.single:
            median = f.call("quantile_disc", value, exp.Literal.number("0.5"))
            return extend(query, region, alias(median, "median"), group_by=[region])
        counted = extend(query, region, alias(value, "value"), alias(total(column("n", "point")), "n"))
        extend(counted, group_by=[region, value])
        return query_file("partition", "medians", tables={"counted": counted})

    def sides(self, points: str, regions: str, medians: str) -> exp.Select:
        """SELECT of the points of the next round; the label is _PARTS times the region plus the point's part.

        `medians` is a table of regions with their medians.
        """
        query, value = self.points_of(points, regions)
        extend(query, joins=[inner_join(relation(medians, as_="middle"), same("region", "attempt", "middle"))])
        side = exp.Sign(this=paren(value - column("median", "middle")))
        return extend(query, *self._labelled(side + 1))

    def _labelled(self, part: exp.Expr) -> list[exp.Expr]:
        label = integer(paren(infix(paren(column("region", "attempt") * _PARTS), "+", part)))
        return [alias(label, "label"), *(column(name, "point") for name in self.points.stored)]

    def even_sides(self, points: str, regions: str) -> exp.Select:
        """SELECT of the points of the next round if equal points may be divided: half of a region's rows are below."""
        query, value = self.points_of(points, regions)
        ranks = [self.points.rank(index, "point") for index in self.attributes]
        order = [value, *ranks, column("draw", "point")]
        ordered = order_by(*(ascending(part) for part in order))
        group = [column("region", "attempt")]
        number = window(f.row_number(), partition_by=group, order=ordered)
        rows = window(f.count(), partition_by=[g.copy() for g in group])
        part = if_(infix(number, "<=", rows // 2), 0, 2)
        return extend(query, *self._labelled(part))

    def parts(self, points: str) -> exp.Select:
        """SELECT of label, rows and spans of the points with each label."""
        query = select(column("label"), alias(self._rows(), "rows"), *self._spans(of_points=True))
        return extend(query, of=relation(points), group_by=[column("label")])

    def children(self, parts: str, *, forced: bool) -> exp.Select:
        """SELECT of region, side, labels, rows and spans of the halves; side 0 is the lower one.

        Points at the cut value go to the half that makes the two differ least in rows, and of two such cuts, the cut
        with the smaller lower half is taken; if `forced`, they always go to the lower half.
        """
        first_upper: exp.Expr = literal(2)
        query = select(of=relation(parts, as_="part"))
        region = _region_of("part")
        if not forced:
            on = region.eq(column("region", "nearest"))
            extend(query, joins=[inner_join(subquery(self._nearest(parts), "nearest"), on)])
            first_upper = column("first_upper", "nearest")
        side = big(if_(infix(_part("part"), "<", first_upper), 0, 1))
        extend(
            query,
            alias(region, "region"),
            alias(side, "side"),
            alias(exp.ArrayAgg(this=column("label", "part")), "labels"),
            alias(total(column("rows", "part")), "rows"),
            *self._spans(of_points=False),
        )
        return extend(query, group_by=[region, side])

    def _nearest(self, parts: str) -> exp.Query:
        """SELECT of region, first_upper: the first part that belongs to the upper half of the cut nearest to the
        median.

        Fewer than half of the rows are below the median, and at least half at or below it. So the two cuts next to it
        leave the same difference between the halves if as many rows are above the median as below.
        """
        return query_file("partition", "nearest", tables={"parts": parts})

    def next_regions(self, regions: str, children: str, failing: str) -> exp.Query:
        """SELECT of the regions after an attempt: both halves of the regions that were cut, and the other regions with
        the attribute marked as tried.
        """
        tables = {"regions": regions, "children": children, "failing": failing}
        names = {"bounds": [name(index) for index in self.attributes for name in (low_name, high_name)]}
        return query_file("partition", "next_regions", tables=tables, names=names)

    def no_regions(self) -> exp.Select:
        """SELECT of the columns of `done` that returns no rows."""
        spans = [alias(integer(literal(0)), name(index)) for index in self.attributes for name in (low_name, high_name)]
        return select(alias(big(literal(0)), "region"), alias(big(literal(0)), "rows"), *spans, where=[exp.false()])

    def no_points(self, points: str) -> exp.Select:
        """SELECT of the columns of `done_points` that returns no rows."""
        ranks = [alias(self.points.rank(index, "point"), rank_of(index)) for index in self.attributes]
        query = select(alias(big(literal(0)), "region"), *ranks, *self.points.carried("point"))
        if self.points.row:
            extend(query, column("row", "point"))
        return extend(query, of=relation(points, as_="point"), where=[exp.false()])

    def done(self, regions: str, first: exp.Expr) -> exp.Select:
        """SELECT of the regions that are no longer cut: region, counted from `first`, rows and spans."""
        number = alias(column("region") + first, "region")
        return select(number, column("rows"), *self._bounds(), of=relation(regions), where=[is_null(column("dim"))])

    def done_points(self, points: str, regions: str, first: exp.Expr) -> exp.Select:
        """SELECT of region, ranks, carried columns, n and row number of each point in the regions `done`."""
        named = [column("region"), alias(f.unnest(column("labels")), "label")]
        labels = select(*named, of=relation(regions), where=[is_null(column("dim"))])
        number = alias(column("region", "done") + first, "region")
        ranks = [alias(self.points.rank(index, "point"), rank_of(index)) for index in self.attributes]
        query = select(number, *ranks, *self.points.carried("point"), of=relation(points, as_="point"))
        if self.points.row:
            extend(query, column("row", "point"))
        return extend(query, joins=[inner_join(subquery(labels, "done"), same("label", "point", "done"))])


def _region_of(parts: str) -> exp.Expr:
    """The region of a part, from its label."""
    return big(column("label", parts) // _PARTS)


def _part(parts: str) -> exp.Expr:
    """Returns the part of its region in which a point lies: 0 below the cut value, 1 at it, 2 above."""
    return column("label", parts) % _PARTS
