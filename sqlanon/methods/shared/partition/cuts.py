"""Mondrian's cuts, for all regions at once (LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity).

The points carry a label; a few labels together are a region. One attempt cuts each open
region in one attribute: `sides` puts every point below, at or above the median, `parts`
counts them, and `children` puts the parts together to the two halves of the cut that is
nearest to the median. Whether both halves satisfy the requirements is for the models'
own texts to say: see `allowable_cuts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.shared.partition.choose_dimension import Turns
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import (
    ascending,
    big,
    if_,
    infix,
    integer,
    is_null,
    order_by,
    paren,
    same,
    total,
    window,
)
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.release.region_rows import high_name, low_name

__all__ = ["Cuts"]

# A point lies below the cut value, at it or above it; where equal points are divided, none is at it.
_PARTS = 3


@dataclass(frozen=True)
class Cuts(Turns):
    """The statements that cut each region in the attribute that was chosen for it."""

    def sides(self, points: str, regions: str, medians: str) -> exp.Select:
        """The points of the next round: the label is _PARTS times the region and the part that a point lies in.

        `medians` is a table with the region and its median.
        """
        query, value = self.points_of(points, regions)
        query.join(relation(medians, as_="middle"), on=same("region", "attempt", "middle"), copy=False)
        side = exp.Sign(this=paren(value - column("median", "middle")))
        return query.select(*self._labelled(side + 1), copy=False)

    def _labelled(self, part: exp.Expr) -> list[exp.Expr]:
        label = integer(paren(infix(paren(column("region", "attempt") * _PARTS), "+", part)))
        return [alias(label, "label"), *(column(name, "point") for name in self.points.stored)]

    def even_sides(self, points: str, regions: str) -> exp.Select:
        """The points of the next round where equal ones may be divided: half of a region's rows are below."""
        query, value = self.points_of(points, regions)
        ranks = [self.points.rank(index, "point") for index in self.attributes]
        order = [value, *ranks, column("draw", "point")]
        ordered = order_by(*(ascending(part) for part in order))
        group = [column("region", "attempt")]
        number = window(f.row_number(), partition_by=group, order=ordered)
        rows = window(f.count(), partition_by=[g.copy() for g in group])
        part = if_(infix(number, "<=", rows // 2), 0, 2)
        return query.select(*self._labelled(part), copy=False)

    def parts(self, points: str) -> exp.Select:
        """label, rows and spans of the points that have a label."""
        query = exp.select(column("label"), alias(self._rows(), "rows"), *self._spans(of_points=True))
        return query.from_(relation(points)).group_by(column("label"))

    def children(self, parts: str, *, forced: bool) -> exp.Select:
        """region, side, labels, rows and spans of the halves; side 0 is the lower one.

        Points at the cut value go to the half that makes the two differ least in rows, of
        two such cuts the one with the smaller lower half; if `forced`, always to the lower.
        """
        first_upper: exp.Expr = literal(2)
        query = exp.select().from_(relation(parts, as_="part"), copy=False)
        region = _region_of("part")
        if not forced:
            on = region.eq(column("region", "nearest"))
            query.join(self._nearest(parts).subquery("nearest"), on=on, copy=False)
            first_upper = column("first_upper", "nearest")
        side = big(if_(infix(_part("part"), "<", first_upper), 0, 1))
        query.select(
            alias(region, "region"),
            alias(side, "side"),
            alias(exp.ArrayAgg(this=column("label", "part")), "labels"),
            alias(total(column("rows", "part")), "rows"),
            *self._spans(of_points=False),
            copy=False,
        )
        return query.group_by(region.copy(), side.copy(), copy=False)

    def _nearest(self, parts: str) -> exp.Select:
        """region and first_upper: the first part that belongs to the upper half of the cut nearest to the median.

        Fewer than half of the rows lie below the median, and half or more at it or below: so the two cuts beside
        it leave the same difference between the halves where as many rows lie above as below.
        """
        region = _region_of("part")
        sums = exp.select(alias(region, "region")).from_(relation(parts, as_="part")).group_by(region.copy())
        for index, name in ((0, "below"), (2, "above")):
            rows = if_(infix(_part("part"), "=", index), column("rows", "part"), 0)
            sums.select(alias(total(rows), name), copy=False)
        below, above = column("below"), column("above")
        first = if_(exp.or_(below.eq(0), above > below), 2, 1)
        return exp.select(column("region"), alias(first, "first_upper")).from_(sums.subquery("sums"), copy=False)

    def next_regions(self, regions: str, children: str, failing: str) -> exp.Select:
        """The regions after an attempt: both halves of those that were cut, and the others with the attribute tried."""
        failed = exp.select(column("region")).from_(relation(failing))
        cut = exp.select(column("labels"), column("rows"), alias(big(literal(0)), "tried"), *self._bounds())
        cut.from_(relation(children), copy=False)
        cut.where(exp.not_(column("region").isin(query=failed)), copy=False)
        first = paren(column("region") * _PARTS)
        labels = exp.Array(expressions=[integer(paren(first + part)) for part in range(_PARTS)])
        tried = infix(column("tried"), "|", paren(infix(big(literal(1)), "<<", column("dim"))))
        whole = exp.select(alias(labels, "labels"), column("rows"), alias(tried, "tried"), *self._bounds())
        whole.from_(relation(regions), copy=False)
        whole.where(column("region").isin(query=failed.copy()), copy=False)
        both = exp.union(cut, whole, distinct=False, copy=False)
        number = window(f.row_number()) - 1
        return exp.select(alias(big(number), "region"), exp.Star()).from_(both.subquery("both"), copy=False)

    def no_regions(self) -> exp.Select:
        """The columns of `done`, without a row."""
        spans = [alias(integer(literal(0)), name(index)) for index in self.attributes for name in (low_name, high_name)]
        query = exp.select(alias(big(literal(0)), "region"), alias(big(literal(0)), "rows"), *spans)
        return query.where(exp.false(), copy=False)

    def no_points(self, points: str) -> exp.Select:
        """The columns of `done_points`, without a row."""
        ranks = [alias(self.points.rank(index, "point"), rank_of(index)) for index in self.attributes]
        query = exp.select(alias(big(literal(0)), "region"), *ranks, *self.points.carried("point"))
        if self.points.row:
            query.select(column("row", "point"), copy=False)
        return query.from_(relation(points, as_="point"), copy=False).where(exp.false(), copy=False)

    def done(self, regions: str, first: exp.Expr) -> exp.Select:
        """The regions that are not cut any more: region, counted from `first`, rows and spans."""
        number = alias(column("region") + first, "region")
        query = exp.select(number, column("rows"), *self._bounds()).from_(relation(regions))
        return query.where(is_null(column("dim")), copy=False)

    def done_points(self, points: str, regions: str, first: exp.Expr) -> exp.Select:
        """The points of the regions in `done`: region, ranks, what they carry, n, and the number of their row."""
        named = [column("region"), alias(f.unnest(column("labels")), "label")]
        labels = exp.select(*named).from_(relation(regions)).where(is_null(column("dim")))
        number = alias(column("region", "done") + first, "region")
        ranks = [alias(self.points.rank(index, "point"), rank_of(index)) for index in self.attributes]
        query = exp.select(number, *ranks, *self.points.carried("point")).from_(relation(points, as_="point"))
        if self.points.row:
            query.select(column("row", "point"), copy=False)
        return query.join(labels.subquery("done"), on=same("label", "point", "done"), copy=False)


def _region_of(parts: str) -> exp.Expr:
    """The region of a part, from its label."""
    return big(column("label", parts) // _PARTS)


def _part(parts: str) -> exp.Expr:
    """Which part of its region it is: 0 below the cut value, 1 at it, 2 above."""
    return column("label", parts) % _PARTS
