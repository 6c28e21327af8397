"""Queries that find the cuts whose halves both meet the requirements.

The SQL of the models judges all cuts in one query.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.points import guard_name, subject_name
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import column
from sqlanon.sql.build.sql_files import filled, filled_query
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import respondents
from sqlanon.sql.classes.guard import violations
from sqlanon.sql.classes.rows import relation_names, subjects


def flattened(cuts: Cuts, points: str, regions: str) -> exp.Query:
    """SELECT of the points with the number of their region as their only label; before, a region may have several
    labels.
    """
    text = """
        SELECT CAST(region.region AS INTEGER) AS label, {point.stored}
        FROM points AS point
        JOIN (SELECT region, unnest(labels) AS label FROM regions) AS region ON point.label = region.label
    """
    return filled_query(text, tables={"points": points, "regions": regions}, names={"stored": cuts.points.stored})


def failing(cuts: Cuts, points: str, children: str) -> list[Step]:
    """The steps that end in `failing` (region): the regions with a half that violates a requirement."""
    query = _violating(cuts, "region")
    return [*_half_relations(cuts, points, children), ("failing", query)]


def failing_halves(cuts: Cuts, points: str, halves: str) -> exp.Query:
    """SELECT of region: the regions with a half that violates a requirement.

    `halves` has a row for each point, in the order of the points: class_id, which is twice the region, plus 1 in the
    upper half, and -1 for a point of another region.
    """
    text = """
        SELECT half.class_id, $carried FROM points AS point POSITIONAL JOIN halves AS half WHERE half.class_id >= 0
    """
    carried = cuts.points.carried("point")
    rows = filled_query(text, tables={"points": points, "halves": halves}, carried=carried)
    return with_steps(_violating(cuts, "region"), [("half_row", rows), *_relations(cuts)])


def only_rows_count(cuts: Cuts) -> bool:
    """Whether the number of rows decides alone: every half with at least `least` rows meets all requirements."""
    return not cuts.points.entity and all(requirement.satisfied_by(cuts.least) for requirement in cuts.requirements)


def root_violations(cuts: Cuts, points: str) -> exp.Query:
    """SELECT of requirement: the indexes of the requirements that a region violates; `points` has the rows of
    `Cuts.done_points`.
    """
    rows = filled_query("SELECT region AS class_id, * FROM points", tables={"points": points})
    text = "SELECT DISTINCT $index AS requirement FROM violation"
    each = [
        filled_query(text, tables={"violation": requirement.statement("violations", names)}, index=index)
        for index, (requirement, names) in enumerate(zip(cuts.requirements, _names(cuts), strict=True))
    ]
    query = filled_query("SELECT requirement FROM broken", tables={"broken": union_all(each)})
    return with_steps(query, [("half_row", rows), *_relations(cuts)])


def violating_regions(cuts: Cuts, rows: exp.Query, among: Collection[int] | None = None) -> exp.Query:
    """SELECT of region: the regions that violate a requirement; `rows` has class_id, the region, and the carried
    columns.

    `among` are the indexes of the requirements, by default all.
    """
    return with_steps(_violating(cuts, "region", halves=False, among=among), [("half_row", rows), *_relations(cuts)])


def _names(cuts: Cuts) -> list[dict[str, str]]:
    """Returns, for each requirement, the relations that it reads; classes within a half if its subject has parts."""
    numbers = {subject: number for number, subject in enumerate(subjects(cuts.requirements))}
    named: list[dict[str, str]] = []
    for requirement, names in zip(cuts.requirements, relation_names(cuts.requirements), strict=True):
        number = numbers.get(tuple(requirement.attributes))
        within = number in cuts.points.parts and "equivalence_class" in names
        named.append(names | ({"equivalence_class": f"part_class_{number}"} if within else {}))
    return named


def _violating(cuts: Cuts, name: str, *, halves: bool = True, among: Collection[int] | None = None) -> exp.Query:
    """SELECT of the cuts with a violating half if `halves`, otherwise of the violating class_ids, in a column called
    `name`.

    `among` are the indexes of the requirements to check, by default all.
    """
    about, named = subjects(cuts.requirements), _names(cuts)
    by_part: dict[int | None, list[int]] = {}
    for index, requirement in enumerate(cuts.requirements):
        if among is not None and index not in among:
            continue
        number = about.index(tuple(requirement.attributes)) if requirement.attributes else None
        by_part.setdefault(number if number in cuts.points.parts else None, []).append(index)
    each: list[exp.Query] = []
    for number, indexes in by_part.items():
        tables = {"violation": violations([cuts.requirements[i] for i in indexes], [named[i] for i in indexes])}
        half = column("class_id") if number is None else cuts.points.half_of(number)
        cut = filled("$half // 2", half=half) if halves else half
        text = """SELECT DISTINCT $cut AS "{name}" FROM violation"""
        each.append(filled_query(text, tables=tables, names={"name": name}, cut=cut))
    if len(each) == 1:
        return each[0]
    text = "SELECT DISTINCT {name} FROM violating"
    return filled_query(text, tables={"violating": union_all(each)}, names={"name": name})


def _only_sizes(cuts: Cuts) -> bool:
    """Whether the requirements depend only on the sizes of the halves."""
    return not subjects(cuts.requirements) and not cuts.points.guards and not cuts.points.entity


def _half_relations(cuts: Cuts, points: str, children: str) -> list[Step]:
    """Returns the steps that make the normal relations of the halves of cuts; class_id is twice the region, plus 1 in
    the upper half.
    """
    if _only_sizes(cuts):
        text = "SELECT region * 2 + side AS class_id, rows AS size, rows AS entities FROM children"
        return [("equivalence_class", filled_query(text, tables={"children": children})), *cuts.fixed_relations]
    text = """
        SELECT half.class_id, $carried
        FROM points AS point
        JOIN (SELECT region * 2 + side AS class_id, unnest(labels) AS label FROM children) AS half
          ON point.label = half.label
    """
    tables = {"points": points, "children": children}
    rows = filled_query(text, tables=tables, carried=cuts.points.carried("point"))
    return [("half_row", rows), *_relations(cuts)]


def _relations(cuts: Cuts) -> list[Step]:
    """Returns the steps that make the normal relations from the relation half_row: class_id and the carried columns of
    points.
    """
    steps: list[Step] = []
    about = subjects(cuts.requirements)
    for number in range(len(about)):
        within = number in cuts.points.parts
        class_id = cuts.points.class_within(number) if within else column("class_id")
        values, subject = f"class_sensitive_value_{number}", column(subject_name(number))
        steps.append((values, filled_query(_VALUES, class_id=class_id, value=subject)))
        if within:
            # The classes within each half.
            steps.append((f"part_class_{number}", filled_query(_CLASSES, tables={"class_row": values}, entities=_N)))
    summed = bool(about) and not cuts.points.entity and 0 not in cuts.points.parts
    entities = respondents(column("entity")) if cuts.points.entity else _N
    tables = {"class_row": "class_sensitive_value_0" if summed else "half_row"}
    steps.append(("equivalence_class", filled_query(_CLASSES, tables=tables, entities=entities)))
    for index in cuts.points.guards:
        guard = {"guard": guard_name(index)}
        text = "SELECT DISTINCT class_id, {guard} AS node FROM half_row"
        steps.append((f"guarded_{index}", filled_query(text, names=guard)))
    return [*steps, *cuts.fixed_relations]


_N = filled("CAST(sum(n) AS BIGINT)")
_VALUES = """
    SELECT $class_id AS class_id, $value AS value, CAST(sum(n) AS BIGINT) AS n FROM half_row GROUP BY $class_id, $value
"""
_CLASSES = """
    SELECT class_id, CAST(sum(n) AS BIGINT) AS size, $entities AS entities FROM class_row GROUP BY class_id
"""
