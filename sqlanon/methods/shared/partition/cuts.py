"""Mondrian's cuts, for all regions at once (LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity).

The points carry a label; a few labels together are a region. One attempt cuts each open
region in the attribute that is its turn: `attempts` says where, `sides` puts every point
below, at or above that value, `parts` counts them, and `children` puts the parts
together to the two halves of the cut that is nearest to the median. Whether both halves
satisfy the requirements is for the models' own texts to say: see `halves`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.shared.partition.choose_dimension import Turns
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.sqlgen.build.expressions import big, integer, paren, same, total
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.release.region_rows import high_name, low_name

__all__ = ["Cuts"]

# A point lies below the cut value, at it or above it; where equal points are divided, at it there are none.
_PARTS = 3


@dataclass(frozen=True)
class Cuts(Turns):
    """The statements that cut the regions whose turn it is."""

    def sides(self, points: str, attempts: str, medians: str) -> exp.Select:
        """The points of the next round: the label is _PARTS times the region and the part that a point lies in."""
        query, value = self._points_of(points, attempts)
        query.join(relation(medians, as_="middle"), on=same("region", "attempt", "middle"), copy=False)
        side = exp.Sign(this=paren(exp.Sub(this=value, expression=column("median", "middle"))))
        return query.select(*self._labelled(exp.Add(this=side, expression=literal(1))), copy=False)

    def _labelled(self, part: exp.Expr) -> list[exp.Expr]:
        first = paren(exp.Mul(this=column("region", "attempt"), expression=literal(_PARTS)))
        label = integer(paren(exp.Add(this=first, expression=part)))
        return [alias(label, "label"), *(column(name, "point") for name in self.points.stored)]

    def even_sides(self, points: str, attempts: str) -> exp.Select:
        """The points of the next round where equal ones may be divided: half of a region's rows are below."""
        query, value = self._points_of(points, attempts)
        ranks = [self.points.rank(index, "point") for index in self.attributes]
        order = [value, *ranks, column("draw", "point")]
        ordered = exp.Order(expressions=[exp.Ordered(this=part, nulls_first=False) for part in order])
        group = [column("region", "attempt")]
        number = exp.Window(this=exp.RowNumber(), partition_by=group, order=ordered)
        rows = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[g.copy() for g in group])
        half = exp.IntDiv(this=rows, expression=literal(2))
        above = exp.Case(ifs=[exp.If(this=exp.LTE(this=number, expression=half), true=literal(0))], default=literal(2))
        return query.select(*self._labelled(above), copy=False)

    def parts(self, points: str) -> exp.Select:
        """label, rows and spans of the points that have a label."""
        query = exp.select(column("label"), alias(self._rows(), "rows"), *self._spans(of_points=True))
        return query.from_(relation(points)).group_by(column("label"))

    def children(self, parts: str, *, forced: bool) -> exp.Select:
        """region, side, labels, rows and spans of the halves; side 0 is the lower one.

        Points at the cut value go to the half that makes the two differ least in rows, of
        two such cuts the one with the smaller lower half; if `forced`, always to the lower.
        """
        lower: exp.Expr = exp.LT(this=_part("part"), expression=literal(2))
        counted = exp.select(exp.Star()).from_(relation(parts, as_="part"), copy=False)
        halves: list[exp.Expr] = [_region_of("part")]
        if not forced:
            counted.join(
                self._weighed(parts).subquery("weighed"),
                on=exp.EQ(this=_region_of("part"), expression=column("region", "weighed")),
                copy=False,
            )
            lower = exp.LT(this=_part("part"), expression=column("first_upper", "weighed"))
        side = exp.Case(ifs=[exp.If(this=lower, true=literal(0))], default=literal(1))
        halves.append(big(side))
        counted.select(
            *(alias(half, name) for half, name in zip(halves, ("region", "side"), strict=True)),
            alias(exp.ArrayAgg(this=column("label", "part")), "labels"),
            alias(total(column("rows", "part")), "rows"),
            *self._spans(of_points=False),
            append=False,
            copy=False,
        )
        return counted.group_by(*(half.copy() for half in halves), copy=False)

    def _weighed(self, parts: str) -> exp.Select:
        """region and first_upper: the first part that belongs to the upper half of the cut nearest to the median."""
        sums = exp.select(alias(_region_of("part"), "region")).from_(relation(parts, as_="part"))
        for index, name in enumerate(("below", "at", "above")):
            here = exp.EQ(this=_part("part"), expression=literal(index))
            own = exp.Case(ifs=[exp.If(this=here, true=column("rows", "part"))], default=literal(0))
            sums.select(alias(total(own), name), copy=False)
        sums.group_by(_region_of("part"), copy=False)
        below, at, above = (column(name) for name in ("below", "at", "above"))
        lower_more = exp.Sub(this=paren(exp.Add(this=below, expression=at)), expression=above)
        upper_more = exp.Sub(this=below.copy(), expression=paren(exp.Add(this=at.copy(), expression=above.copy())))
        nearer = exp.LT(this=exp.Abs(this=lower_more), expression=exp.Abs(this=upper_more))
        joins_lower = exp.or_(
            exp.EQ(this=below.copy(), expression=literal(0)),
            exp.and_(exp.GT(this=above.copy(), expression=literal(0)), nearer),
        )
        first = exp.Case(ifs=[exp.If(this=joins_lower, true=literal(2))], default=literal(1))
        return exp.select(column("region"), alias(first, "first_upper")).from_(sums.subquery("sums"), copy=False)

    def next_regions(self, regions: str, attempts: str, children: str, failing: str) -> exp.Select:
        """The regions after an attempt: both halves of those that were cut, and the others with the attribute tried."""
        failed = exp.select(column("region")).from_(relation(failing)).subquery()
        cut = exp.select(
            column("region"), column("side"), column("labels"), column("rows"), alias(big(literal(0)), "tried")
        )
        cut.select(*self._bounds(), copy=False).from_(relation(children), copy=False)
        cut.where(exp.Not(this=exp.In(this=column("region"), query=failed)), copy=False)
        first = exp.Mul(this=column("region", "region"), expression=literal(_PARTS))
        labels = exp.Array(
            expressions=[
                integer(paren(exp.Add(this=paren(first.copy()), expression=literal(p)))) for p in range(_PARTS)
            ]
        )
        mark = exp.BitwiseLeftShift(this=big(literal(1)), expression=column("dim", "attempt"))
        tried = exp.BitwiseOr(this=column("tried", "region"), expression=paren(mark))
        turns = exp.select(column("region"), column("dim")).distinct(copy=False).from_(relation(attempts))
        whole = exp.select(
            column("region", "region"),
            alias(big(literal(0)), "side"),
            alias(labels, "labels"),
            column("rows", "region"),
            alias(tried, "tried"),
            *self._bounds("region"),
        ).from_(relation(regions, as_="region"))
        whole.join(relation(failing, as_="failed"), on=same("region", "region", "failed"), copy=False)
        whole.join(turns.subquery("attempt"), on=same("region", "region", "attempt"), copy=False)
        both = exp.union(cut, whole, distinct=False, copy=False)
        number = exp.Sub(this=exp.Window(this=exp.RowNumber()), expression=literal(1))
        return exp.select(
            alias(big(number), "region"), column("labels"), column("rows"), column("tried"), *self._bounds()
        ).from_(both.subquery("both"), copy=False)

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

    def done(self, regions: str, attempts: str, first: exp.Expr) -> exp.Select:
        """The regions that are not tried any more: region, counted from `first`, rows and spans."""
        number = alias(exp.Add(this=column("region"), expression=first), "region")
        query = exp.select(number, column("rows"), *self._bounds()).from_(relation(regions))
        return query.where(_without(attempts), copy=False)

    def done_points(self, points: str, regions: str, attempts: str, first: exp.Expr) -> exp.Select:
        """Their points: region, ranks, what they carry, n, and the number of their row."""
        named = [column("region"), alias(exp.Explode(this=column("labels")), "label")]
        labels = exp.select(*named).from_(relation(regions)).where(_without(attempts))
        number = alias(exp.Add(this=column("region", "done"), expression=first), "region")
        ranks = [alias(self.points.rank(index, "point"), rank_of(index)) for index in self.attributes]
        query = exp.select(number, *ranks, *self.points.carried("point")).from_(relation(points, as_="point"))
        if self.points.row:
            query.select(column("row", "point"), copy=False)
        return query.join(labels.subquery("done"), on=same("label", "point", "done"), copy=False)


def _region_of(parts: str) -> exp.Expr:
    """The region of a part, from its label."""
    return big(exp.IntDiv(this=column("label", parts), expression=literal(_PARTS)))


def _part(parts: str) -> exp.Expr:
    """Which part of its region it is: 0 below the cut value, 1 at it, 2 above."""
    return exp.Mod(this=column("label", parts), expression=literal(_PARTS))


def _without(attempts: str) -> exp.Expr:
    tried = exp.select(column("region")).from_(relation(attempts)).subquery()
    return exp.Not(this=exp.In(this=column("region"), query=tried))
