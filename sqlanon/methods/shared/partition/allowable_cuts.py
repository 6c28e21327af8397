"""Whether both halves of a cut meet the requirements: the models' own texts, asked of all cuts at once."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from sqlanon.methods.shared.partition.candidate_cuts import halves
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import guard_name, subject_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import same, total, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import respondents
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.requirement import relation_names, subjects


def failing(cuts: Cuts, points: str, children: str) -> list[Step]:
    """Steps that end in `failing`, region: the regions of which a half violates a requirement."""
    query = _violating(cuts, "region")
    return [*_half_relations(cuts, points, children), ("failing", query)]


def failing_candidates(cuts: Cuts, points: str, candidates: str) -> exp.Select:
    """number: the candidate cuts of which a half violates a requirement; `candidates` is a table of them."""
    query = _violating(cuts, "number")
    return with_steps(query, [("half_row", halves(cuts, points, candidates)), *_relations(cuts)])


def only_rows_count(cuts: Cuts) -> bool:
    """Whether a half that has the `least` rows meets every requirement."""
    return not cuts.points.entity and all(requirement.satisfied_by(cuts.least) for requirement in cuts.requirements)


def root_violations(cuts: Cuts, points: str) -> exp.Select:
    """requirement: the indexes of those that a region violates; `points` are those of `Cuts.done_points`."""
    rows = exp.select(alias(column("region"), "class_id"), exp.Star()).from_(relation(points))
    named = zip(cuts.requirements, _names(cuts), strict=True)
    each = [
        exp.select(alias(literal(index), "requirement"))
        .distinct(copy=False)
        .from_(requirement.statement("violations", names).subquery("violation"), copy=False)
        for index, (requirement, names) in enumerate(named)
    ]
    query = exp.select(column("requirement")).from_(union_all(each).subquery("broken"), copy=False)
    return with_steps(query, [("half_row", rows), *_relations(cuts)])


def violating_regions(cuts: Cuts, rows: exp.Select, among: Collection[int] | None = None) -> exp.Select:
    """region: those that violate a requirement; `rows` have the region as class_id, and what points carry.

    `among` are the indexes of the requirements, by default all.
    """
    return with_steps(_violating(cuts, "region", halves=False, among=among), [("half_row", rows), *_relations(cuts)])


def _names(cuts: Cuts) -> list[dict[str, str]]:
    """The relations that each requirement reads: of classes within a half, where its subject has parts."""
    numbers = {subject: number for number, subject in enumerate(subjects(cuts.requirements))}
    named: list[dict[str, str]] = []
    for requirement, names in zip(cuts.requirements, relation_names(cuts.requirements), strict=True):
        number = numbers.get(tuple(requirement.attributes))
        within = number in cuts.points.parts and "equivalence_class" in names
        named.append(names | ({"equivalence_class": f"part_class_{number}"} if within else {}))
    return named


def _violating(cuts: Cuts, name: str, *, halves: bool = True, among: Collection[int] | None = None) -> exp.Select:
    """What violates a requirement, under this name: the number of the cut if they are `halves`, else the class_id."""
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
        each.append(exp.select(number_of_cut).distinct(copy=False).from_(broken.subquery("violation"), copy=False))
    if len(each) == 1:
        return each[0]
    return exp.select(column(name)).distinct(copy=False).from_(union_all(each).subquery("violating"), copy=False)


def _only_sizes(cuts: Cuts) -> bool:
    """Whether the requirements look at the sizes of the halves and at nothing else."""
    return not subjects(cuts.requirements) and not cuts.points.guards and not cuts.points.entity


def _half_relations(cuts: Cuts, points: str, children: str) -> list[Step]:
    """The normal relations of the halves; class_id is twice the region and the side."""
    half = column("region", "child") * 2 + column("side", "child")
    if _only_sizes(cuts):
        size = column("rows", "child")
        named = [alias(half, "class_id"), alias(size, "size"), alias(size.copy(), "entities")]
        return [("equivalence_class", exp.select(*named).from_(relation(children, as_="child"))), *cuts.fixed_relations]
    labels = exp.select(alias(half, "class_id"), alias(f.unnest(column("labels", "child")), "label"))
    labels.from_(relation(children, as_="child"), copy=False)
    rows = exp.select(column("class_id", "half"), *cuts.points.carried("point")).from_(relation(points, as_="point"))
    rows.join(labels.subquery("half"), on=same("label", "point", "half"), copy=False)
    return [("half_row", rows), *_relations(cuts)]


def _relations(cuts: Cuts) -> list[Step]:
    """The normal relations of half_row: a class_id and what points carry."""
    steps: list[Step] = []
    about = subjects(cuts.requirements)
    for number in range(len(about)):
        value = column(subject_name(number))
        if number in cuts.points.parts:
            steps += _of_parts(cuts, number, value)
            continue
        counted = exp.select(column("class_id"), alias(value, "value"), alias(total(column("n")), "n"))
        counted = counted.from_(relation("half_row")).group_by(column("class_id"), value.copy())
        steps.append((f"class_sensitive_value_{number}", counted))
    summed = bool(about) and not cuts.points.entity and 0 not in cuts.points.parts
    size = total(column("n"))
    entities = respondents(column("entity")) if cuts.points.entity else size.copy()
    classes = exp.select(column("class_id"), alias(size, "size"), alias(entities, "entities"))
    classes = classes.from_(relation("class_sensitive_value_0" if summed else "half_row")).group_by(column("class_id"))
    steps.append(("equivalence_class", classes))
    for index in cuts.points.guards:
        node = alias(column(guard_name(index)), "node")
        guarded = exp.select(column("class_id"), node).distinct(copy=False).from_(relation("half_row"))
        steps.append((f"guarded_{index}", guarded))
    return [*steps, *cuts.fixed_relations]


def _of_parts(cuts: Cuts, number: int, value: exp.Expr) -> list[Step]:
    """The classes within each half, and their values, of a subject with parts."""
    within = cuts.points.class_within(number)
    counted = exp.select(alias(within, "class_id"), alias(value, "value"), alias(total(column("n")), "n"))
    counted = counted.from_(relation("half_row")).group_by(within.copy(), value.copy())
    size = total(column("n"))
    classes = exp.select(column("class_id"), alias(size, "size"), alias(size.copy(), "entities"))
    values = f"class_sensitive_value_{number}"
    return [
        (values, counted),
        (f"part_class_{number}", classes.from_(relation(values)).group_by(column("class_id"))),
    ]
