"""Whether both halves of a cut meet the requirements: the models' own texts, asked of all cuts at once."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.shared.partition.candidate_cuts import halves
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import guard_name, subject_name
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import same, total, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.steps import Step, with_steps
from sqlanon.sqlgen.cells.cells import respondents
from sqlanon.sqlgen.classes.guard import violations
from sqlanon.sqlgen.classes.requirement import relation_names, subjects

__all__ = ["failing", "failing_candidates", "only_rows_count", "root_violations"]


def failing(cuts: Cuts, points: str, children: str) -> list[Step]:
    """Steps that end in `failing`, region: the regions of which a half violates a requirement."""
    region = column("class_id") // 2
    broken = violations(cuts.requirements, relation_names(cuts.requirements)).subquery("violation")
    query = exp.select(alias(region, "region")).distinct(copy=False).from_(broken, copy=False)
    return [*_half_relations(cuts, points, children), ("failing", query)]


def failing_candidates(cuts: Cuts, points: str, candidates: str) -> exp.Select:
    """number: the candidate cuts of which a half violates a requirement; `candidates` is a table of them."""
    number = column("class_id") // 2
    broken = violations(cuts.requirements, relation_names(cuts.requirements)).subquery("violation")
    query = exp.select(alias(number, "number")).distinct(copy=False).from_(broken, copy=False)
    return with_steps(query, [("half_row", halves(cuts, points, candidates)), *_relations(cuts)])


def only_rows_count(cuts: Cuts) -> bool:
    """Whether a half that has the `least` rows meets every requirement."""
    return not cuts.points.entity and all(requirement.satisfied_by(cuts.least) for requirement in cuts.requirements)


def root_violations(cuts: Cuts, points: str) -> exp.Select:
    """requirement: the indexes of those that a region violates; `points` are those of `Cuts.done_points`."""
    rows = exp.select(alias(column("region"), "class_id"), exp.Star()).from_(relation(points))
    named = zip(cuts.requirements, relation_names(cuts.requirements), strict=True)
    each = [
        exp.select(alias(literal(index), "requirement"))
        .distinct(copy=False)
        .from_(requirement.statement("violations", names).subquery("violation"), copy=False)
        for index, (requirement, names) in enumerate(named)
    ]
    query = exp.select(column("requirement")).from_(union_all(each).subquery("broken"), copy=False)
    return with_steps(query, [("half_row", rows), *_relations(cuts)])


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
        counted = exp.select(column("class_id"), alias(value, "value"), alias(total(column("n")), "n"))
        counted = counted.from_(relation("half_row")).group_by(column("class_id"), value.copy())
        steps.append((f"class_sensitive_value_{number}", counted))
    summed = bool(about) and not cuts.points.entity
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
