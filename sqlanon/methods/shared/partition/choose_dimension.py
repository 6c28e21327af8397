"""Where Mondrian cuts: for every open region the attribute whose turn it is, and the value in the middle.

LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity. A region is a few labels of the
points, with the least and the greatest rank that its rows have in each attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.shared.partition.points import Points
from sqlanon.sqlgen.build.expressions import big, integer, paren, real, same, total
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.steps import Step
from sqlanon.sqlgen.cells.cells import key_name, rank_name
from sqlanon.sqlgen.classes.requirement import Asks
from sqlanon.sqlgen.release.region_rows import high_name, low_name

__all__ = ["Turns"]

_DOUBLE = exp.DataType.build("DOUBLE")


@dataclass(frozen=True)
class Turns:
    """What the statements are made from.

    `ranked` are the tables of ranked values, `domains` the distances from the first to the
    last position (1 where there is but one), `counts` how many values there are of an attribute
    whose values have no distance and are counted, else None; `weights` what the policy
    weighs an attribute, `plain` whether an attribute's positions are its ranks but for an
    offset. `least` rows are needed in each half for any requirement to hold. With
    `ancestors` cuts fall between the children of a node of the hierarchy; it is a table
    of `points.ancestors`, and `heights` the heights of the hierarchies.
    """

    ranked: Sequence[str]
    domains: Sequence[float]
    counts: Sequence[int | None]
    weights: Sequence[float]
    plain: Sequence[bool]
    points: Points
    requirements: Sequence[Asks]
    given: Sequence[Step]
    least: int
    heights: Sequence[int] = ()
    ancestors: str | None = None

    @property
    def attributes(self) -> range:
        return range(len(self.ranked))

    def _spans(self, *, of_points: bool) -> list[exp.Expr]:
        """The least and the greatest rank of a group in each attribute."""
        spans: list[exp.Expr] = []
        for index in self.attributes:
            for name, function in ((low_name(index), exp.Min), (high_name(index), exp.Max)):
                end = self.points.span(index, function) if of_points else function(this=column(name))
                spans.append(alias(end, name))
        return spans

    def _rows(self) -> exp.Expr:
        """How many rows the points of a group stand for."""
        return exp.Count(this=exp.Star()) if self.points.single else total(self.points.n())

    def _bounds(self, of: str | None = None) -> list[exp.Expr]:
        return [column(name(index), of) for index in self.attributes for name in (low_name, high_name)]

    def root(self, points: str) -> exp.Select:
        """The region of all points: region, labels, rows, tried, and its spans; none without points."""
        labels = exp.Array(expressions=[integer(literal(0))])
        query = exp.select(
            alias(big(literal(0)), "region"),
            alias(labels, "labels"),
            alias(self._rows(), "rows"),
            alias(big(literal(0)), "tried"),
            *self._spans(of_points=True),
        )
        return query.from_(relation(points)).having(
            exp.GT(this=exp.Count(this=exp.Star()), expression=literal(0)), copy=False
        )

    def open_regions(self, regions: str) -> exp.Select:
        """The regions that are large enough to be cut, with a width_i for each attribute that can be tried."""
        query = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("region", quoted=True)))
        query = query.from_(relation(regions, as_="region"), copy=False)
        for index in self.attributes:
            query.select(alias(self._width(query, index), f"width_{index}"), copy=False)
        return query.where(exp.GTE(this=column("rows", "region"), expression=literal(2 * self.least)), copy=False)

    def _width(self, query: exp.Select, index: int) -> exp.Expr:
        """How wide a region is in an attribute, NULL where it cannot be cut or has been tried."""
        low, high = (column(name(index), "region") for name in (low_name, high_name))
        width = self.share(query, index, low, high)
        untried = exp.EQ(
            this=paren(exp.BitwiseAnd(this=column("tried", "region"), expression=literal(1 << index))),
            expression=literal(0),
        )
        can = exp.and_(exp.GT(this=high.copy(), expression=low.copy()), untried)
        return exp.Case(ifs=[exp.If(this=can, true=width)])

    def share(
        self, query: exp.Select, index: int, low: exp.Expr, high: exp.Expr, here: exp.Expr | None = None
    ) -> exp.Expr:
        """The weighed share of an attribute's domain from the rank `low` to the rank `high`.

        Of values that have a distance it is their distance over that of the whole domain, of
        others how many they are over how many there are. Joins the positions to the query where ranks do not
        tell; then only where `here` holds.
        """
        count = self.counts[index]
        if self.plain[index] or count is not None:
            ranks: exp.Expr = paren(exp.Sub(this=high.copy(), expression=low.copy()))
            if count is not None:
                ranks = paren(exp.Add(this=ranks, expression=literal(1)))
            span: exp.Expr = exp.Cast(this=ranks, to=_DOUBLE.copy())
        else:
            for name, bound in (("first", low), ("last", high)):
                on = exp.EQ(this=column(rank_name(0), f"{name}_{index}"), expression=bound.copy())
                query.join(
                    relation(self.ranked[index], as_=f"{name}_{index}"),
                    on=exp.and_(here.copy(), on) if here else on,
                    join_type="LEFT" if here else "",
                    copy=False,
                )
            span = paren(
                exp.Sub(this=column("position", f"last_{index}"), expression=column("position", f"first_{index}"))
            )
        whole = self.domains[index] if count is None else float(count)
        return exp.Mul(this=real(self.weights[index]), expression=paren(exp.Div(this=span, expression=real(whole))))

    def widest(self, regions: str) -> exp.Select:
        """label, region, dim (and level): each open region's labels, and the attribute in which it is widest."""
        inner = self.open_regions(regions)
        greatest = exp.Greatest(
            this=column("width_0"),
            expressions=[column(f"width_{p}") for p in self.attributes if p],
            ignore_nulls=True,
        )
        most = exp.select(exp.Star(), alias(greatest, "widest")).from_(inner.subquery("width"), copy=False)
        turns = [
            exp.If(this=exp.EQ(this=column(f"width_{index}"), expression=column("widest")), true=literal(index))
            for index in self.attributes
        ]
        kept = [column(name) for name in ("region", "labels")]
        dim = alias(integer(exp.Case(ifs=turns)), "dim")
        turn = exp.select(*kept, *self._bounds(), dim).from_(most.subquery("most"), copy=False)
        turn.where(exp.Not(this=exp.Is(this=column("widest"), expression=exp.Null())), copy=False)
        return self.attempts(turn)

    def attempts(self, turn: exp.Select, more: Sequence[str] = ()) -> exp.Select:
        """A row a label of the regions whose turn it is, with the level of the tree that the cut respects."""
        named = [alias(exp.Explode(this=column("labels", "turn")), "label")]
        query = exp.select(*named, column("region", "turn"), column("dim", "turn"))
        query.select(*(column(name, "turn") for name in more), *self.field_of("turn"), copy=False)
        query.from_(turn.subquery("turn"), copy=False)
        if self.ancestors is not None:
            query.select(
                alias(self._level(self._spanned("turn", column("dim", "turn")), column("dim", "turn")), "level"),
                copy=False,
            )
        return query

    def field_of(self, of: str) -> list[exp.Expr]:
        """Where the attribute that is cut stands in the key: its word, shift and mask there."""
        fields = [self.points.field(index) for index in self.attributes]
        parts = {"word": [f.word for f in fields], "shift": [f.shift for f in fields]}
        parts["mask"] = [(1 << f.bits) - 1 for f in fields]
        named: list[exp.Expr] = []
        for name, numbers in parts.items():
            turns = [
                exp.If(this=exp.EQ(this=column("dim", of), expression=literal(index)), true=literal(number))
                for index, number in enumerate(numbers)
            ]
            named.append(alias(big(exp.Case(ifs=turns)), name))
        return named

    def _spanned(self, of: str, dim: exp.Expr) -> list[exp.Expr]:
        """The least and the greatest rank of a region in the attribute `dim`."""
        return [
            exp.Case(
                ifs=[
                    exp.If(this=exp.EQ(this=dim.copy(), expression=literal(p)), true=column(name(p), of))
                    for p in self.attributes
                ]
            )
            for name in (low_name, high_name)
        ]

    def _level(self, bounds: Sequence[exp.Expr], dim: exp.Expr) -> exp.Expr:
        """The level below that of the lowest common ancestor of two values of the attribute `dim`; 0 is a value's."""
        assert self.ancestors is not None
        common = (
            exp.select(exp.Min(this=column("level", "lower")))
            .from_(relation(self.ancestors, as_="lower"))
            .join(
                relation(self.ancestors, as_="upper"),
                on=exp.and_(*(same(name, "lower", "upper") for name in ("dim", "level", "first"))),
            )
            .where(
                exp.EQ(this=column("dim", "lower"), expression=dim.copy()),
                exp.EQ(this=column("rank", "lower"), expression=bounds[0]),
                exp.EQ(this=column("rank", "upper"), expression=bounds[1]),
            )
        )
        heights = [
            exp.If(this=exp.EQ(this=dim.copy(), expression=literal(p)), true=literal(self.heights[p]))
            for p in self.attributes
        ]
        top = exp.Case(ifs=heights)
        level = exp.Coalesce(this=common.subquery(), expressions=[top])
        return integer(paren(exp.Sub(this=level, expression=literal(1))))

    def value_of(self, query: exp.Select) -> exp.Expr:
        """A point's rank in the attribute that is cut; where cuts respect the tree, its ancestor's first rank."""
        words = [
            exp.If(
                this=exp.EQ(this=column("word", "attempt"), expression=literal(word)),
                true=column(key_name(word), "point"),
            )
            for word in range(self.points.layout.words)
        ]
        key: exp.Expr = exp.Case(ifs=words) if len(words) > 1 else column(key_name(0), "point")
        shifted = paren(exp.BitwiseRightShift(this=key, expression=column("shift", "attempt")))
        masked = paren(exp.BitwiseAnd(this=shifted, expression=column("mask", "attempt")))
        rank = integer(masked)
        if self.ancestors is None:
            return rank
        return self.respecting(query, column("dim", "attempt"), column("level", "attempt"), rank)

    def respecting(self, query: exp.Select, dim: exp.Expr, level: exp.Expr, rank: exp.Expr) -> exp.Expr:
        """The first rank below a point's ancestor at a level; the rank itself at level 0. Joins the ancestors."""
        assert self.ancestors is not None
        joined = [
            exp.EQ(this=column("dim", "ancestor"), expression=dim.copy()),
            exp.EQ(this=column("level", "ancestor"), expression=level.copy()),
            exp.EQ(this=column("rank", "ancestor"), expression=rank.copy()),
        ]
        query.join(relation(self.ancestors, as_="ancestor"), on=exp.and_(*joined), join_type="LEFT", copy=False)
        return exp.Coalesce(this=column("first", "ancestor"), expressions=[rank.copy()])

    def with_level(self, turn: exp.Select, index: int) -> exp.Select:
        """The regions of `turn`, with their span in one attribute, and the level that a cut in it respects."""
        every = exp.Column(this=exp.Star(), table=exp.to_identifier("turn", quoted=True))
        level = self._level([column(name(index), "turn") for name in (low_name, high_name)], literal(index))
        return exp.select(every, alias(level, "level")).from_(turn.subquery("turn"), copy=False)

    def _points_of(self, points: str, attempts: str) -> tuple[exp.Select, exp.Expr]:
        """The points of the regions whose turn it is, joined to their attempt, and the value by which they are cut."""
        query = exp.select().from_(relation(points, as_="point"))
        query.join(relation(attempts, as_="attempt"), on=same("label", "point", "attempt"), copy=False)
        return query, self.value_of(query)

    def medians(self, points: str, attempts: str) -> exp.Select:
        """region and median: the value at which half of a region's rows are reached."""
        query, value = self._points_of(points, attempts)
        region = column("region", "attempt")
        if self.points.single:
            median = exp.Anonymous(this="quantile_disc", expressions=[value, exp.Literal.number("0.5")])
            return query.select(region, alias(median, "median"), copy=False).group_by(region.copy(), copy=False)
        counted = query.select(region, alias(value, "value"), alias(total(column("n", "point")), "n"), copy=False)
        counted.group_by(region.copy(), value.copy(), copy=False)
        order = exp.Order(expressions=[exp.Ordered(this=column("value"), nulls_first=False)])
        reached = exp.Window(this=exp.Sum(this=column("n")), partition_by=[column("region")], order=order)
        every = exp.Window(this=exp.Sum(this=column("n")), partition_by=[column("region")])
        running = exp.select(column("region"), column("value"), alias(reached, "reached"), alias(every, "every")).from_(
            counted.subquery("counted"), copy=False
        )
        half = exp.GTE(this=exp.Mul(this=literal(2), expression=column("reached")), expression=column("every"))
        least = alias(exp.Min(this=column("value")), "median")
        return (
            exp.select(column("region"), least)
            .from_(running.subquery("running"), copy=False)
            .where(half, copy=False)
            .group_by(column("region"), copy=False)
        )
