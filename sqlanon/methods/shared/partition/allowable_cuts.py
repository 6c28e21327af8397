"""Queries that find the cuts whose halves both meet the requirements, by the models' own texts, for all cuts at
once.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import guard_name, rank_of, subject_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    big,
    case,
    if_,
    integer,
    paren,
    same,
    total,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import respondents
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.rows import relation_names, subjects
from sqlanon.sql.release.recode import high_name, low_name

# The cuts that leave enough rows on both sides, in every attribute of every region at once.
#
# One statement does the work that `cuts` does one attribute after the other, at the price of counting each point once
# for each attribute. A point's label is the number of its region. LeFevre et al. 2006, Mondrian Multidimensional
# K-Anonymity.


def candidates(cuts: Cuts, points: str, *, of_each: bool) -> exp.Select:
    """SELECT of number, label, best: the cut nearest to the median, of each attribute (`of_each`) or only of the widest
    attribute.

    `best` has the attribute as `dim` and the greatest value of the lower half as `median`; a region's least `best`
    belongs to its widest attribute, or to the first of several equally wide attributes. An attribute has no candidate
    if no cut leaves the `least` rows that the requirements need on both sides.
    """
    running = query_file("partition", "running", tables={"counted": _counted(cuts, points)})
    query = select(column("label", "cut"), of=subquery(running, "cut"))
    lower = column("lower", "cut")
    upper = paren(column("rows", "cut") - lower)
    apart = f.abs(upper - lower)
    best = {
        "narrow": -paren(_width(cuts, query)),
        "dim": column("dim", "cut"),
        "apart": apart,
        "lower": lower,
        "median": column("value", "cut"),
    }
    named = [exp.PropertyEQ(this=identifier(name), expression=part) for name, part in best.items()]
    extend(query, alias(f.min(exp.Struct(expressions=named)), "best"))
    extend(query, where=[lower >= cuts.least, upper >= cuts.least], group_by=[column("label", "cut")])
    if of_each:
        extend(query, group_by=[column("dim", "cut")])
    return _numbered(query)


def _counted(cuts: Cuts, points: str) -> exp.Select:
    """SELECT of label, dim, value, n: each region's rows by their value, in every attribute."""
    attributes = [integer(literal(index)) for index in cuts.attributes]
    ranks = [cuts.points.rank(index) for index in cuts.attributes]
    each = select(
        column("label"),
        alias(f.unnest(exp.Array(expressions=attributes)), "dim"),
        alias(f.unnest(exp.Array(expressions=ranks)), "value"),
        alias(cuts.points.n(), "n"),
        of=relation(points),
    )
    group = [column(name) for name in ("label", "dim", "value")]
    rows = alias(total(column("n")), "n")
    return select(*group, rows, of=subquery(each, "each"), group_by=group)


def _width(cuts: Cuts, query: exp.Select) -> exp.Expr:
    """Returns the width of a cut's region in the attribute that is cut. Joins the positions if ranks do not give it."""
    widths: list[tuple[exp.Expr, exp.Expr]] = []
    for index in cuts.attributes:
        of_attribute = column("dim", "cut").eq(index)
        share = cuts.share(query, index, column("low", "cut"), column("high", "cut"), of_attribute)
        widths.append((of_attribute, share))
    return case(*widths)


def allowable(candidates: str, failing: str) -> exp.Select:
    """SELECT of number, label, best: the best candidate of each region among the candidates that are not in the table
    `failing`.
    """
    failed = select(column("number"), of=relation(failing))
    best = select(column("label"), alias(f.min(column("best")), "best"), of=relation(candidates))
    extend(best, where=[exp.not_(column("number").isin(query=failed))], group_by=[column("label")])
    return _numbered(best)


def _numbered(best: exp.Select) -> exp.Select:
    number = window(f.row_number()) - 1
    query = select(alias(integer(number), "number"), column("label"), column("best"))
    return extend(query, of=subquery(best, "best_of_region"))


def chosen(cuts: Cuts, candidates: exp.Select) -> exp.Select:
    """SELECT of region, label, median and the attribute's bits in the key. Each row is the cut of one region."""
    turn = select(alias(column("number"), "region"), column("label"), *_best(), of=subquery(candidates, "candidate"))
    query = select(*(column(name, "turn") for name in ("region", "label", "median")))
    return extend(query, *cuts.field_of("turn"), of=subquery(turn, "turn"))


def _best() -> list[exp.Expr]:
    return [
        alias(exp.StructExtract(this=column("best"), expression=exp.Literal.string(name)), name)
        for name in ("dim", "median")
    ]


def halves(cuts: Cuts, points: str, candidates: str) -> exp.Select:
    """SELECT of class_id and the carried columns of points: the rows of both halves of each candidate, whose number is
    class_id // 2.
    """
    turn = select(column("number"), column("label"), *_best(), of=relation(candidates))
    attempt = select(*(column(name, "turn") for name in ("number", "label", "dim", "median")))
    extend(attempt, *cuts.field_of("turn"), of=subquery(turn, "turn"))
    query = select(of=relation(points, as_="point"))
    extend(query, joins=[inner_join(subquery(attempt, "attempt"), same("label", "point", "attempt"))])
    half = _half(cuts, query, column("number", "attempt"))
    return extend(query, alias(big(half), "class_id"), *cuts.points.carried("point"))


def relabelled(cuts: Cuts, points: str, attempts: str) -> exp.Select:
    """SELECT of the points of the next round; their label is twice the number of their region, plus 1 in the upper
    half.
    """
    query = select(of=relation(points, as_="point"))
    extend(query, joins=[inner_join(relation(attempts, as_="attempt"), same("label", "point", "attempt"))])
    label = integer(paren(_half(cuts, query, column("region", "attempt"))))
    return extend(query, alias(label, "label"), *(column(name, "point") for name in cuts.points.stored))


def _half(cuts: Cuts, query: exp.Select, number: exp.Expr) -> exp.Expr:
    """The SQL of twice a number, plus 1 for a point above the median."""
    above = cuts.value_of(query) > column("median", "attempt")
    return number * 2 + if_(above, 1, 0)


def closed_points(cuts: Cuts, points: str, attempts: str, first: exp.Expr) -> exp.Select:
    """SELECT of the points of regions that are not cut: region, counted from `first`, ranks, and carried columns."""
    number = alias(big(column("label", "point")) + first, "region")
    ranks = [alias(cuts.points.rank(index, "point"), rank_of(index)) for index in cuts.attributes]
    cut = select(column("label"), of=relation(attempts))
    query = select(number, *ranks, *cuts.points.carried("point"), of=relation(points, as_="point"))
    return extend(query, where=[exp.not_(column("label", "point").isin(query=cut))])


def closed_regions(cuts: Cuts, points: str, first: exp.Expr) -> exp.Select:
    """SELECT of region, rows and spans of the regions from `first` on; `points` has the rows of `closed_points`."""
    spans: list[exp.Expr] = []
    for index in cuts.attributes:
        for name, function in ((low_name(index), exp.Min), (high_name(index), exp.Max)):
            spans.append(alias(function(this=column(rank_of(index))), name))
    query = select(column("region"), alias(total(column("n")), "rows"), *spans, of=relation(points))
    return extend(query, where=[column("region") >= first], group_by=[column("region")])


def flattened(cuts: Cuts, points: str, regions: str) -> exp.Select:
    """SELECT of points whose label is the number of their region; in `points` a region has several labels."""
    named = [column("region"), alias(f.unnest(column("labels")), "label")]
    labels = subquery(select(*named, of=relation(regions)), "region")
    query = select(alias(integer(column("region", "region")), "label"), of=relation(points, as_="point"))
    extend(query, *(column(name, "point") for name in cuts.points.stored))
    return extend(query, joins=[inner_join(labels, same("label", "point", "region"))])


def failing(cuts: Cuts, points: str, children: str) -> list[Step]:
    """The steps that end in `failing` (region): the regions with a half that violates a requirement."""
    query = _violating(cuts, "region")
    return [*_half_relations(cuts, points, children), ("failing", query)]


def failing_candidates(cuts: Cuts, points: str, candidates: str) -> exp.Select:
    """SELECT of number: the candidate cuts with a half that violates a requirement; `candidates` is their table."""
    query = _violating(cuts, "number")
    return with_steps(query, [("half_row", halves(cuts, points, candidates)), *_relations(cuts)])


def only_rows_count(cuts: Cuts) -> bool:
    """Whether every half with at least `least` rows meets all requirements."""
    return not cuts.points.entity and all(requirement.satisfied_by(cuts.least) for requirement in cuts.requirements)


def root_violations(cuts: Cuts, points: str) -> exp.Select:
    """SELECT of requirement: the indexes of the requirements that a region violates; `points` has the rows of
    `Cuts.done_points`.
    """
    rows = select(alias(column("region"), "class_id"), exp.Star(), of=relation(points))
    named = zip(cuts.requirements, _names(cuts), strict=True)
    each = [
        select(
            alias(literal(index), "requirement"),
            distinct=True,
            of=subquery(requirement.statement("violations", names), "violation"),
        )
        for index, (requirement, names) in enumerate(named)
    ]
    query = select(column("requirement"), of=subquery(union_all(each), "broken"))
    return with_steps(query, [("half_row", rows), *_relations(cuts)])


def violating_regions(cuts: Cuts, rows: exp.Select, among: Collection[int] | None = None) -> exp.Select:
    """SELECT of region: the regions that violate a requirement; `rows` has class_id, the region, and the carried
    columns.

    `among` are the indexes of the requirements, by default all.
    """
    return with_steps(_violating(cuts, "region", halves=False, among=among), [("half_row", rows), *_relations(cuts)])


def _names(cuts: Cuts) -> list[dict[str, str]]:
    """The relations that each requirement reads; if its subject has parts, the relations of classes within a half."""
    numbers = {subject: number for number, subject in enumerate(subjects(cuts.requirements))}
    named: list[dict[str, str]] = []
    for requirement, names in zip(cuts.requirements, relation_names(cuts.requirements), strict=True):
        number = numbers.get(tuple(requirement.attributes))
        within = number in cuts.points.parts and "equivalence_class" in names
        named.append(names | ({"equivalence_class": f"part_class_{number}"} if within else {}))
    return named


def _violating(cuts: Cuts, name: str, *, halves: bool = True, among: Collection[int] | None = None) -> exp.Select:
    """SELECT, under this name, of the cuts with a violating half if `halves`, otherwise of the violating class_id."""
    about, named = subjects(cuts.requirements), _names(cuts)
    by_part: dict[int | None, list[int]] = {}
    for index, requirement in enumerate(cuts.requirements):
        if among is not None and index not in among:
            continue
        number = about.index(tuple(requirement.attributes)) if requirement.attributes else None
        by_part.setdefault(number if number in cuts.points.parts else None, []).append(index)
    each: list[exp.Select] = []
    for number, indexes in by_part.items():
        broken = violations([cuts.requirements[i] for i in indexes], [named[i] for i in indexes])
        half = column("class_id") if number is None else cuts.points.half_of(number)
        number_of_cut = alias(half // 2 if halves else half, name)
        each.append(select(number_of_cut, distinct=True, of=subquery(broken, "violation")))
    if len(each) == 1:
        return each[0]
    return select(column(name), distinct=True, of=subquery(union_all(each), "violating"))


def _only_sizes(cuts: Cuts) -> bool:
    """Whether the requirements depend only on the sizes of the halves."""
    return not subjects(cuts.requirements) and not cuts.points.guards and not cuts.points.entity


def _half_relations(cuts: Cuts, points: str, children: str) -> list[Step]:
    """The steps that make the normal relations of the halves; class_id is twice the region plus the side."""
    half = column("region", "child") * 2 + column("side", "child")
    if _only_sizes(cuts):
        size = column("rows", "child")
        named = [alias(half, "class_id"), alias(size, "size"), alias(size, "entities")]
        return [("equivalence_class", select(*named, of=relation(children, as_="child"))), *cuts.fixed_relations]
    labels = select(alias(half, "class_id"), alias(f.unnest(column("labels", "child")), "label"))
    extend(labels, of=relation(children, as_="child"))
    rows = select(column("class_id", "half"), *cuts.points.carried("point"), of=relation(points, as_="point"))
    extend(rows, joins=[inner_join(subquery(labels, "half"), same("label", "point", "half"))])
    return [("half_row", rows), *_relations(cuts)]


def _relations(cuts: Cuts) -> list[Step]:
    """The steps that make the normal relations of half_row: class_id and the carried columns of points."""
    steps: list[Step] = []
    about = subjects(cuts.requirements)
    for number in range(len(about)):
        value = column(subject_name(number))
        if number in cuts.points.parts:
            steps += _of_parts(cuts, number, value)
            continue
        counted = select(column("class_id"), alias(value, "value"), alias(total(column("n")), "n"))
        counted = extend(counted, of=relation("half_row"), group_by=[column("class_id"), value])
        steps.append((f"class_sensitive_value_{number}", counted))
    summed = bool(about) and not cuts.points.entity and 0 not in cuts.points.parts
    size = total(column("n"))
    entities = respondents(column("entity")) if cuts.points.entity else size.copy()
    classes = select(column("class_id"), alias(size, "size"), alias(entities, "entities"))
    classes = extend(
        classes, of=relation("class_sensitive_value_0" if summed else "half_row"), group_by=[column("class_id")]
    )
    steps.append(("equivalence_class", classes))
    for index in cuts.points.guards:
        node = alias(column(guard_name(index)), "node")
        guarded = select(column("class_id"), node, distinct=True, of=relation("half_row"))
        steps.append((f"guarded_{index}", guarded))
    return [*steps, *cuts.fixed_relations]


def _of_parts(cuts: Cuts, number: int, value: exp.Expr) -> list[Step]:
    """The steps that make the classes within each half, and their values, for a subject with parts."""
    within = cuts.points.class_within(number)
    counted = select(alias(within, "class_id"), alias(value, "value"), alias(total(column("n")), "n"))
    counted = extend(counted, of=relation("half_row"), group_by=[within, value])
    size = total(column("n"))
    classes = select(column("class_id"), alias(size, "size"), alias(size, "entities"))
    values = f"class_sensitive_value_{number}"
    return [
        (values, counted),
        (f"part_class_{number}", extend(classes, of=relation(values), group_by=[column("class_id")])),
    ]
