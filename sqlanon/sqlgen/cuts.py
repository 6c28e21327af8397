"""Mondrian's cuts, for all regions at once (LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity).

The points carry a label; a few labels together are a region. One attempt cuts each open
region in the attribute that is its turn: `attempts` says where, `sides` puts every point
below, at or above that value, `parts` counts them, and `children` puts the parts
together to the two halves of the cut that is nearest to the median. Whether both halves
satisfy the requirements is for the models' own texts to say, over `half_relations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sqlgen.asked import Asks, relation_names, subjects
from sqlanon.sqlgen.cells import rank_name, respondents
from sqlanon.sqlgen.guard import violations, with_steps
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.points import guard_name, rank_of, subject_name
from sqlanon.sqlgen.rows import Step

__all__ = ["Cuts", "high_name", "low_name"]

# A point lies below the cut value, at it or above it; where equal points are divided, at it there are none.
_PARTS = 3

_BIGINT = exp.DataType.build("BIGINT")
_INTEGER = exp.DataType.build("INTEGER")
_DOUBLE = exp.DataType.build("DOUBLE")


def low_name(place: int) -> str:
    """The column of the regions with the least rank in the attribute at this place."""
    return f"low_{place}"


def high_name(place: int) -> str:
    """The column of the regions with the greatest rank in the attribute at this place."""
    return f"high_{place}"


def _big(tree: exp.Expr) -> exp.Expr:
    return exp.Cast(this=tree, to=_BIGINT.copy())


def _sum(part: exp.Expr) -> exp.Expr:
    return _big(exp.Sum(this=part))


def _real(number: float) -> exp.Expr:
    return exp.Cast(this=exp.Literal.number(repr(number)), to=_DOUBLE.copy())


def _paren(this: exp.Expr) -> exp.Paren:
    return exp.Paren(this=this)


def _same(name: str, one: str, other: str) -> exp.Expr:
    return exp.EQ(this=column(name, one), expression=column(name, other))


@dataclass(frozen=True)
class Cuts:
    """What the statements are made from.

    `ranked` are the tables of ranked values, `domains` the distances from the first to the
    last position (1 where there is but one), `weights` what the policy weighs an attribute,
    `plain` whether an attribute's positions are its ranks but for an offset. `carried`
    are the columns that points have beside their ranks. `least` rows are needed in each
    half for any requirement to hold. With `ancestors` cuts fall between the children of
    a node of the hierarchy; it is a table of `points.ancestors`, and `heights` the
    heights of the hierarchies.
    """

    ranked: Sequence[str]
    domains: Sequence[float]
    weights: Sequence[float]
    plain: Sequence[bool]
    requirements: Sequence[Asks]
    guards: Sequence[int]
    given: Sequence[Step]
    entity: bool
    target: bool
    row: bool
    least: int
    heights: Sequence[int] = ()
    ancestors: str | None = None

    @property
    def attributes(self) -> range:
        return range(len(self.ranked))

    @property
    def carried(self) -> list[str]:
        """The columns of the points beside label, ranks and n."""
        names = [subject_name(number) for number in range(len(subjects(self.requirements)))]
        names += [guard_name(place) for place in self.guards]
        kept = (("target", self.target), ("entity", self.entity), ("row", self.row))
        return [*names, *(name for name, there in kept if there)]

    def _ranks(self, of: str | None = None) -> list[exp.Expr]:
        return [column(rank_of(place), of) for place in self.attributes]

    def _spans(self, *, of_ranks: bool) -> list[exp.Expr]:
        """The least and the greatest rank of a group in each attribute."""
        spans: list[exp.Expr] = []
        for place in self.attributes:
            low, high = (rank_of(place),) * 2 if of_ranks else (low_name(place), high_name(place))
            spans.append(alias(exp.Min(this=column(low)), low_name(place)))
            spans.append(alias(exp.Max(this=column(high)), high_name(place)))
        return spans

    def _bounds(self, of: str | None = None) -> list[exp.Expr]:
        return [column(name(place), of) for place in self.attributes for name in (low_name, high_name)]

    def root(self, points: str) -> exp.Select:
        """The region of all points: region, labels, rows, tried, and its spans; none without points."""
        labels = exp.Array(expressions=[_big(literal(0))])
        query = exp.select(
            alias(_big(literal(0)), "region"),
            alias(labels, "labels"),
            alias(_sum(column("n")), "rows"),
            alias(_big(literal(0)), "tried"),
            *self._spans(of_ranks=True),
        )
        return query.from_(relation(points)).having(
            exp.GT(this=exp.Count(this=exp.Star()), expression=literal(0)), copy=False
        )

    # -- where to cut ---------------------------------------------------------------

    def open_regions(self, regions: str) -> exp.Select:
        """The regions that are large enough to be cut, with a width_i for each attribute that can be tried."""
        query = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("region", quoted=True)))
        query = query.from_(relation(regions, as_="region"), copy=False)
        for place in self.attributes:
            query.select(alias(self._width(query, place), f"width_{place}"), copy=False)
        return query.where(exp.GTE(this=column("rows", "region"), expression=literal(2 * self.least)), copy=False)

    def _width(self, query: exp.Select, place: int) -> exp.Expr:
        """How wide a region is in an attribute, NULL where it cannot be cut or has been tried."""
        low, high = (column(name(place), "region") for name in (low_name, high_name))
        if self.plain[place]:
            span: exp.Expr = exp.Cast(this=_paren(exp.Sub(this=high.copy(), expression=low.copy())), to=_DOUBLE.copy())
        else:
            for name, bound in (("first", low), ("last", high)):
                on = exp.EQ(this=column(rank_name(0), f"{name}_{place}"), expression=bound.copy())
                query.join(relation(self.ranked[place], as_=f"{name}_{place}"), on=on, copy=False)
            span = _paren(
                exp.Sub(this=column("position", f"last_{place}"), expression=column("position", f"first_{place}"))
            )
        share = exp.Div(this=span, expression=_real(self.domains[place]))
        width = exp.Mul(this=_real(self.weights[place]), expression=_paren(share))
        untried = exp.EQ(
            this=exp.BitwiseAnd(this=column("tried", "region"), expression=literal(1 << place)), expression=literal(0)
        )
        can = exp.and_(exp.GT(this=high, expression=low), _with_parens(untried))
        return exp.Case(ifs=[exp.If(this=can, true=width)])

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
            exp.If(this=exp.EQ(this=column(f"width_{place}"), expression=column("widest")), true=literal(place))
            for place in self.attributes
        ]
        kept = [column(name) for name in ("region", "labels", "tried", "rows")]
        dim = alias(exp.Cast(this=exp.Case(ifs=turns), to=_INTEGER.copy()), "dim")
        turn = exp.select(*kept, *self._bounds(), dim).from_(most.subquery("most"), copy=False)
        turn.where(exp.Not(this=exp.Is(this=column("widest"), expression=exp.Null())), copy=False)
        return self.attempts(turn)

    def attempts(self, turn: exp.Select, more: Sequence[str] = ()) -> exp.Select:
        """A row a label of the regions whose turn it is, with the level of the tree that the cut respects."""
        named = [alias(exp.Explode(this=column("labels", "turn")), "label")]
        query = exp.select(*named, column("region", "turn"), column("dim", "turn"))
        query.select(*(column(name, "turn") for name in more), copy=False)
        query.from_(turn.subquery("turn"), copy=False)
        if self.ancestors is not None:
            query.select(
                alias(self._level(self._spanned("turn", column("dim", "turn")), column("dim", "turn")), "level"),
                copy=False,
            )
        return query

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
                on=exp.and_(*(_same(name, "lower", "upper") for name in ("dim", "level", "first"))),
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
        return exp.Cast(this=_paren(exp.Sub(this=level, expression=literal(1))), to=_INTEGER.copy())

    def _value(self, query: exp.Select, dim: exp.Expr, level: exp.Expr | None) -> exp.Expr:
        """A point's rank in the attribute that is cut; where cuts respect the tree, that of its ancestor's first value."""
        turns = [
            exp.If(this=exp.EQ(this=dim.copy(), expression=literal(place)), true=column(rank_of(place), "point"))
            for place in self.attributes
        ]
        rank = exp.Case(ifs=turns)
        return rank if level is None else self.respecting(query, dim, level, rank)

    def respecting(self, query: exp.Select, dim: exp.Expr, level: exp.Expr, rank: exp.Expr) -> exp.Expr:
        """The first rank below a point's ancestor at a level; the rank itself at level 0. Joins the ancestors."""
        assert self.ancestors is not None
        same = [
            exp.EQ(this=column("dim", "ancestor"), expression=dim.copy()),
            exp.EQ(this=column("level", "ancestor"), expression=level.copy()),
            exp.EQ(this=column("rank", "ancestor"), expression=rank.copy()),
        ]
        query.join(relation(self.ancestors, as_="ancestor"), on=exp.and_(*same), join_type="LEFT", copy=False)
        return exp.Coalesce(this=column("first", "ancestor"), expressions=[rank.copy()])

    def with_level(self, turn: exp.Select, place: int) -> exp.Select:
        """The regions of `turn`, with their span in one attribute, and the level that a cut in it respects."""
        every = exp.Column(this=exp.Star(), table=exp.to_identifier("turn", quoted=True))
        level = self._level([column(name(place), "turn") for name in (low_name, high_name)], literal(place))
        return exp.select(every, alias(level, "level")).from_(turn.subquery("turn"), copy=False)

    def _points_of(self, points: str, attempts: str) -> tuple[exp.Select, exp.Expr]:
        """The points of the regions whose turn it is, joined to their attempt, and the value by which they are cut."""
        query = exp.select().from_(relation(points, as_="point"))
        query.join(relation(attempts, as_="attempt"), on=_same("label", "point", "attempt"), copy=False)
        level = column("level", "attempt") if self.ancestors is not None else None
        return query, self._value(query, column("dim", "attempt"), level)

    def medians(self, points: str, attempts: str, *, single: bool) -> exp.Select:
        """region and median: the value at which half of a region's rows are reached. `single` points have n = 1."""
        query, value = self._points_of(points, attempts)
        region = column("region", "attempt")
        if single:
            median = exp.Anonymous(this="quantile_disc", expressions=[value, exp.Literal.number("0.5")])
            return query.select(region, alias(median, "median"), copy=False).group_by(region.copy(), copy=False)
        counted = query.select(region, alias(value, "value"), alias(_sum(column("n", "point")), "n"), copy=False)
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

    # -- the cut ---------------------------------------------------------------------

    def sides(self, points: str, attempts: str, medians: str) -> exp.Select:
        """The points of the next round: the label is _PARTS times the region and the part that a point lies in."""
        query, value = self._points_of(points, attempts)
        query.join(relation(medians, as_="middle"), on=_same("region", "attempt", "middle"), copy=False)
        side = exp.Sign(this=_paren(exp.Sub(this=value, expression=column("median", "middle"))))
        return query.select(*self._labelled(_big(exp.Add(this=side, expression=literal(1)))), copy=False)

    def _labelled(self, part: exp.Expr, of: str = "point") -> list[exp.Expr]:
        label = exp.Add(
            this=_paren(exp.Mul(this=column("region", "attempt"), expression=literal(_PARTS))), expression=part
        )
        others = [*(rank_of(place) for place in self.attributes), *self.carried, "n"]
        return [alias(label, "label"), *(column(name, of) for name in others)]

    def even_sides(self, points: str, attempts: str) -> exp.Select:
        """The same where equal points may be divided: the first half of a region's rows in order is below, the rest above."""
        query, value = self._points_of(points, attempts)
        order = [value, *self._ranks("point"), *(column(name, "point") for name in self.carried if name != "target")]
        ordered = exp.Order(expressions=[exp.Ordered(this=part, nulls_first=False) for part in order])
        group = [column("region", "attempt")]
        number = exp.Window(this=exp.RowNumber(), partition_by=group, order=ordered)
        rows = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[g.copy() for g in group])
        half = exp.IntDiv(this=rows, expression=literal(2))
        above = exp.Case(ifs=[exp.If(this=exp.LTE(this=number, expression=half), true=literal(0))], default=literal(2))
        return query.select(*self._labelled(_big(above)), copy=False)

    def parts(self, points: str) -> exp.Select:
        """label, rows and spans of the points that have a label."""
        query = exp.select(column("label"), alias(_sum(column("n")), "rows"), *self._spans(of_ranks=True))
        return query.from_(relation(points)).group_by(column("label"))

    def children(self, parts: str, *, forced: bool) -> exp.Select:
        """region, side, labels, rows and spans of the halves; side 0 is the lower one.

        Points at the cut value go to the half that makes the two differ least in rows, of
        two such cuts the one with the smaller lower half; if `forced`, always to the lower.
        """
        region = exp.IntDiv(this=column("label"), expression=literal(_PARTS))
        part = exp.Mod(this=column("label"), expression=literal(_PARTS))
        named = exp.select(exp.Star(), alias(region, "region"), alias(part, "part")).from_(relation(parts))

        def rows_at(place: int) -> exp.Expr:
            here = exp.EQ(this=column("part"), expression=literal(place))
            own = exp.Case(ifs=[exp.If(this=here, true=column("rows"))], default=literal(0))
            return exp.Window(this=exp.Sum(this=own), partition_by=[column("region")])

        sums = [alias(rows_at(place), name) for place, name in enumerate(("below", "at", "above"))]
        summed = exp.select(exp.Star(), *sums).from_(named.subquery("named"), copy=False)
        at = exp.EQ(this=column("part"), expression=literal(1))
        lower: exp.Expr = exp.or_(exp.EQ(this=column("part"), expression=literal(0)), at)
        if not forced:
            upper_alone = exp.Sub(
                this=_paren(exp.Add(this=column("below"), expression=column("at"))), expression=column("above")
            )
            with_upper = exp.Sub(
                this=column("below"), expression=_paren(exp.Add(this=column("at"), expression=column("above")))
            )
            nearer = exp.LT(this=exp.Abs(this=upper_alone), expression=exp.Abs(this=with_upper))
            joins_lower = exp.or_(
                exp.EQ(this=column("below"), expression=literal(0)),
                exp.and_(exp.GT(this=column("above"), expression=literal(0)), nearer),
            )
            lower = exp.or_(exp.EQ(this=column("part"), expression=literal(0)), exp.and_(at, joins_lower))
        side = exp.Case(ifs=[exp.If(this=lower, true=literal(0))], default=literal(1))
        sided = exp.select(exp.Star(), alias(_big(side), "side")).from_(summed.subquery("summed"), copy=False)
        halves = [column("region"), column("side")]
        return (
            exp.select(
                *halves,
                alias(exp.ArrayAgg(this=column("label")), "labels"),
                alias(_sum(column("rows")), "rows"),
                *self._spans(of_ranks=False),
            )
            .from_(sided.subquery("sided"), copy=False)
            .group_by(*(half.copy() for half in halves), copy=False)
        )

    @property
    def only_sizes(self) -> bool:
        """Whether the requirements look at the sizes of the halves and at nothing else."""
        return not subjects(self.requirements) and not self.guards and not self.entity

    def failing(self, points: str, children: str) -> exp.Select:
        """region: those of which a half violates a requirement, or that were not divided."""
        names = relation_names(self.requirements)
        region = exp.IntDiv(this=column("class_id"), expression=literal(2))
        if self.requirements:
            broken = violations(self.requirements, names)
            query = exp.select(alias(region, "region")).from_(broken.subquery("violation"), copy=False)
            query = query.distinct(copy=False)
        else:
            query = exp.select(alias(_big(literal(0)), "region")).where(exp.false(), copy=False)
        return with_steps(query, self.half_relations(points, children))

    def half_relations(self, points: str, children: str) -> list[Step]:
        """The normal relations of the halves; class_id is twice the region and the side."""
        twice = exp.Mul(this=column("region", "child"), expression=literal(2))
        half = exp.Add(this=_paren(twice), expression=column("side", "child"))
        if self.only_sizes:
            size = column("rows", "child")
            named = [alias(half, "class_id"), alias(size, "size"), alias(size.copy(), "entities")]
            return [("equivalence_class", exp.select(*named).from_(relation(children, as_="child")))]
        labels = exp.select(alias(half, "class_id"), alias(exp.Explode(this=column("labels", "child")), "label")).from_(
            relation(children, as_="child")
        )
        others = [column(name, "point") for name in (*self.carried, "n")]
        rows = exp.select(column("class_id", "half"), *others).from_(relation(points, as_="point"))
        rows.join(labels.subquery("half"), on=_same("label", "point", "half"), copy=False)
        return [("half_row", rows), *self.relations("half_row")]

    def relations(self, rows: str) -> list[Step]:
        """The normal relations of rows with a class_id and what the points carry."""
        steps: list[Step] = []
        about = subjects(self.requirements)
        for number in range(len(about)):
            value = column(subject_name(number))
            counted = exp.select(column("class_id"), alias(value, "value"), alias(_sum(column("n")), "n"))
            counted = counted.from_(relation(rows)).group_by(column("class_id"), value.copy())
            steps.append((f"class_sensitive_value_{number}", counted))
        summed = bool(about) and not self.entity
        size = _sum(column("n"))
        entities = respondents(column("entity")) if self.entity else size.copy()
        classes = exp.select(column("class_id"), alias(size, "size"), alias(entities, "entities"))
        classes = classes.from_(relation("class_sensitive_value_0" if summed else rows)).group_by(column("class_id"))
        steps.append(("equivalence_class", classes))
        for place in self.guards:
            node = alias(column(guard_name(place)), "node")
            guarded = exp.select(column("class_id"), node).distinct(copy=False).from_(relation(rows))
            steps.append((f"guarded_{place}", guarded))
        return [*steps, *self.given]

    def next_regions(self, regions: str, attempts: str, children: str, failing: str) -> exp.Select:
        """The regions after an attempt: both halves of those that were cut, and the others with the attribute tried."""
        failed = exp.select(column("region")).from_(relation(failing)).subquery()
        cut = exp.select(
            column("region"), column("side"), column("labels"), column("rows"), alias(_big(literal(0)), "tried")
        )
        cut.select(*self._bounds(), copy=False).from_(relation(children), copy=False)
        cut.where(exp.Not(this=exp.In(this=column("region"), query=failed)), copy=False)
        first = exp.Mul(this=column("region", "region"), expression=literal(_PARTS))
        labels = exp.Array(
            expressions=[exp.Add(this=_paren(first.copy()), expression=literal(p)) for p in range(_PARTS)]
        )
        mark = exp.BitwiseLeftShift(this=_big(literal(1)), expression=column("dim", "attempt"))
        tried = exp.BitwiseOr(this=column("tried", "region"), expression=_paren(mark))
        turns = exp.select(column("region"), column("dim")).distinct(copy=False).from_(relation(attempts))
        whole = exp.select(
            column("region", "region"),
            alias(_big(literal(0)), "side"),
            alias(labels, "labels"),
            column("rows", "region"),
            alias(tried, "tried"),
            *self._bounds("region"),
        ).from_(relation(regions, as_="region"))
        whole.join(relation(failing, as_="failed"), on=_same("region", "region", "failed"), copy=False)
        whole.join(turns.subquery("attempt"), on=_same("region", "region", "attempt"), copy=False)
        both = exp.union(cut, whole, distinct=False, copy=False)
        order = [exp.Ordered(this=column(name), nulls_first=False) for name in ("region", "side")]
        number = exp.Sub(
            this=exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=order)), expression=literal(1)
        )
        return exp.select(
            alias(_big(number), "region"), column("labels"), column("rows"), column("tried"), *self._bounds()
        ).from_(both.subquery("both"), copy=False)

    # -- what no attempt is left for ----------------------------------------------------

    def done(self, regions: str, attempts: str, first: exp.Expr) -> exp.Select:
        """The regions that are not tried any more: region, counted from `first`, rows and spans."""
        number = alias(exp.Add(this=column("region"), expression=first), "region")
        query = exp.select(number, column("rows"), *self._bounds()).from_(relation(regions))
        return query.where(_without(attempts), copy=False)

    def done_points(self, points: str, regions: str, attempts: str, first: exp.Expr) -> exp.Select:
        """Their points: region, ranks, what they carry and n."""
        named = [column("region"), alias(exp.Explode(this=column("labels")), "label")]
        labels = exp.select(*named).from_(relation(regions)).where(_without(attempts))
        number = alias(exp.Add(this=column("region", "done"), expression=first), "region")
        others = [*(rank_of(place) for place in self.attributes), *self.carried, "n"]
        query = exp.select(number, *(column(name, "point") for name in others)).from_(relation(points, as_="point"))
        return query.join(labels.subquery("done"), on=_same("label", "point", "done"), copy=False)


def _with_parens(comparison: exp.EQ) -> exp.EQ:
    comparison.set("this", _paren(comparison.this))
    return comparison


def _without(attempts: str) -> exp.Expr:
    tried = exp.select(column("region")).from_(relation(attempts)).subquery()
    return exp.Not(this=exp.In(this=column("region"), query=tried))
