"""The cuts that leave enough rows on both sides, in every attribute of every region at once.

What `choose_dimension` and `cuts` find out one attribute after the other is told here by one statement, at the
price of counting each point once an attribute. A point's label is the number of its region.
LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.shared.partition.choose_dimension import Turns
from sqlanon.methods.shared.partition.points import rank_of
from sqlanon.sqlgen.build.expressions import big, integer, paren, same, total
from sqlanon.sqlgen.build.names import alias, column, identifier, literal, relation
from sqlanon.sqlgen.release.region_rows import high_name, low_name

__all__ = ["candidates", "chosen", "closed_points", "closed_regions", "flattened", "halves", "relabelled"]


def candidates(cuts: Turns, points: str, *, of_each: bool) -> exp.Select:
    """number, label, best: the cut that is nearest to the median in each attribute, or in the widest only.

    `best` has the attribute as `dim` and the greatest value of the lower half as `median`; the least
    `best` of a region is its widest attribute's, of equal ones the first. Attributes in
    which no cut leaves the `least` rows that the requirements need have none.
    """
    running = exp.select(*(column(name) for name in ("label", "dim", "value")))
    group = [column("label"), column("dim")]
    order = exp.Order(expressions=[exp.Ordered(this=column("value"), nulls_first=False)])
    for name, aggregate, ordered in (
        ("lower", exp.Sum(this=column("n")), order),
        ("every", exp.Sum(this=column("n")), None),
        ("low", exp.Min(this=column("value")), None),
        ("high", exp.Max(this=column("value")), None),
    ):
        over = exp.Window(this=aggregate, partition_by=[part.copy() for part in group], order=ordered)
        running.select(alias(big(over) if name in ("lower", "every") else over, name), copy=False)
    running.from_(_counted(cuts, points).subquery("counted"), copy=False)
    query = exp.select(column("label", "cut")).from_(running.subquery("cut"), copy=False)
    lower, every = column("lower", "cut"), column("every", "cut")
    upper = paren(exp.Sub(this=every.copy(), expression=lower.copy()))
    apart = exp.Abs(this=exp.Sub(this=upper.copy(), expression=lower.copy()))
    best = {
        "narrow": exp.Neg(this=paren(_width(cuts, query))),
        "dim": column("dim", "cut"),
        "apart": apart,
        "lower": lower,
        "median": column("value", "cut"),
    }
    named = [exp.PropertyEQ(this=identifier(name), expression=part) for name, part in best.items()]
    query.select(alias(exp.Min(this=exp.Struct(expressions=named)), "best"), copy=False)
    enough = [exp.GTE(this=rows.copy(), expression=literal(cuts.least)) for rows in (lower, upper)]
    query.where(*enough, copy=False).group_by(column("label", "cut"), copy=False)
    if of_each:
        query.group_by(column("dim", "cut"), copy=False)
    number = exp.Sub(this=exp.Window(this=exp.RowNumber()), expression=literal(1))
    return exp.select(alias(integer(number), "number"), column("label"), column("best")).from_(
        query.subquery("found"), copy=False
    )


def _counted(cuts: Turns, points: str) -> exp.Select:
    """label, dim, value, n: each region's rows by their value, in every attribute."""
    places = [exp.cast(literal(index), exp.DataType.Type.INT) for index in cuts.attributes]
    ranks = [cuts.points.rank(index) for index in cuts.attributes]
    each = exp.select(
        column("label"),
        alias(exp.Explode(this=exp.Array(expressions=places)), "dim"),
        alias(exp.Explode(this=exp.Array(expressions=ranks)), "value"),
        alias(cuts.points.n(), "n"),
    ).from_(relation(points))
    group = [column(name) for name in ("label", "dim", "value")]
    rows = alias(total(column("n")), "n")
    return exp.select(*group, rows).from_(each.subquery("each")).group_by(*(part.copy() for part in group))


def _width(cuts: Turns, query: exp.Select) -> exp.Expr:
    """How wide the region of a cut is in the attribute that is cut. Joins the positions where ranks do not tell."""
    dim = column("dim", "cut")
    turns: list[exp.If] = []
    for index in cuts.attributes:
        here = exp.EQ(this=dim.copy(), expression=literal(index))
        width = cuts.share(query, index, column("low", "cut"), column("high", "cut"), here)
        turns.append(exp.If(this=here.copy(), true=width))
    return exp.Case(ifs=turns)


def chosen(cuts: Turns, found: str, failing: str | None) -> exp.Select:
    """region, label, dim, median and where the attribute stands in the key: a cut for each region that has one.

    `found` is a table of `candidates`, of which those in `failing` do not stand. `region`
    numbers the regions that are cut.
    """
    own = exp.select(column("label", "found"), alias(exp.Min(this=column("best", "found")), "best")).from_(
        relation(found, as_="found")
    )
    if failing is not None:
        failed = exp.select(column("number")).from_(relation(failing)).subquery()
        own.where(exp.Not(this=exp.In(this=column("number", "found"), query=failed)), copy=False)
    own.group_by(column("label", "found"), copy=False)
    number = exp.Sub(this=exp.Window(this=exp.RowNumber()), expression=literal(1))
    turn = exp.select(alias(integer(number), "region"), column("label"), *_best()).from_(own.subquery("own"))
    query = exp.select(*(column(name, "turn") for name in ("region", "label", "dim", "median")))
    return query.select(*cuts.field_of("turn"), copy=False).from_(turn.subquery("turn"), copy=False)


def _best() -> list[exp.Expr]:
    return [
        alias(exp.StructExtract(this=column("best"), expression=exp.Literal.string(name)), name)
        for name in ("dim", "median")
    ]


def halves(cuts: Turns, points: str, found: str) -> exp.Select:
    """class_id and what points carry: the rows of both halves of every candidate; class_id // 2 is its number."""
    turn = exp.select(column("number"), column("label"), *_best()).from_(relation(found))
    placed = exp.select(*(column(name, "turn") for name in ("number", "label", "dim", "median")))
    placed.select(*cuts.field_of("turn"), copy=False).from_(turn.subquery("turn"), copy=False)
    query = exp.select().from_(relation(points, as_="point"))
    query.join(placed.subquery("attempt"), on=same("label", "point", "attempt"), copy=False)
    half = _half(cuts, query, column("number", "attempt"))
    return query.select(alias(big(half), "class_id"), *cuts.points.carried("point"), copy=False)


def relabelled(cuts: Turns, points: str, attempts: str) -> exp.Select:
    """The points of the next round: a label is twice the number of the region that is cut, and the side."""
    query = exp.select().from_(relation(points, as_="point"))
    query.join(relation(attempts, as_="attempt"), on=same("label", "point", "attempt"), copy=False)
    label = integer(paren(_half(cuts, query, column("region", "attempt"))))
    return query.select(alias(label, "label"), *(column(name, "point") for name in cuts.points.stored), copy=False)


def _half(cuts: Turns, query: exp.Select, number: exp.Expr) -> exp.Expr:
    """Twice a number, and one more above the median."""
    above = exp.GT(this=cuts.value_of(query), expression=column("median", "attempt"))
    side = exp.Case(ifs=[exp.If(this=above, true=literal(1))], default=literal(0))
    return exp.Add(this=paren(exp.Mul(this=number, expression=literal(2))), expression=side)


def closed_points(cuts: Turns, points: str, attempts: str, first: exp.Expr) -> exp.Select:
    """The points of regions that are not cut: region, counted from `first`, ranks, what they carry, and their n."""
    number = alias(exp.Add(this=big(column("label", "point")), expression=first), "region")
    ranks = [alias(cuts.points.rank(index, "point"), rank_of(index)) for index in cuts.attributes]
    cut = exp.select(column("label")).from_(relation(attempts)).subquery()
    query = exp.select(number, *ranks, *cuts.points.carried("point")).from_(relation(points, as_="point"))
    return query.where(exp.Not(this=exp.In(this=column("label", "point"), query=cut)), copy=False)


def closed_regions(cuts: Turns, points: str, first: exp.Expr) -> exp.Select:
    """region, rows and spans of the regions from `first` on; `points` has what `closed_points` selects."""
    spans: list[exp.Expr] = []
    for index in cuts.attributes:
        for name, function in ((low_name(index), exp.Min), (high_name(index), exp.Max)):
            spans.append(alias(function(this=column(rank_of(index))), name))
    query = exp.select(column("region"), alias(total(column("n")), "rows"), *spans).from_(relation(points))
    return query.where(exp.GTE(this=column("region"), expression=first)).group_by(column("region"))


def flattened(cuts: Turns, points: str, regions: str) -> exp.Select:
    """Points that are labelled with the number of their region, from points of which a region has a few labels."""
    named = [column("region"), alias(exp.Explode(this=column("labels")), "label")]
    labels = exp.select(*named).from_(relation(regions)).subquery("region")
    query = exp.select(alias(integer(column("region", "region")), "label")).from_(relation(points, as_="point"))
    query.select(*(column(name, "point") for name in cuts.points.stored), copy=False)
    return query.join(labels, on=same("label", "point", "region"), copy=False)
