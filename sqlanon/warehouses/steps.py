"""The steps of a script: each a query whose rows those after it read, from the source to what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Role
from sqlanon.hierarchies.base import functional
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, ascending, identical, order_by, same, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.steps import Step
from sqlanon.sqlgen.cells.taxonomy import Taxonomy
from sqlanon.sqlgen.classes.guard import kept_classes, needs_rounds, violations
from sqlanon.sqlgen.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sqlgen.classes.requirement import subjects
from sqlanon.sqlgen.classes.rows import Rows
from sqlanon.sqlgen.release.recode import Recoding
from sqlanon.warehouses.guard_rounds import guard_rounds
from sqlanon.warehouses.plan import ReleasePlan
from sqlanon.warehouses.script_step import ScriptStep

__all__ = ["CANDIDATE", "SOURCE", "candidate_entity", "check_steps", "mapping_name", "release_steps"]

SOURCE = "source"
CANDIDATE = "candidate"
_RECODED, _CLASS, _CLASSIFIED = "recoded", "label_class", "classified"
# The respondent, where some are counted, stands in this column until the rows are checked.
_ENTITY = "__sqlanon_entity"


def mapping_name(index: int) -> str:
    """The table with the labels of the quasi-identifier at an index, where a hierarchy lists them."""
    return f"label_of_{index}"


def release_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """From the step `source`, which has the columns that are needed, to the step `candidate`: what may be published."""
    requirements = plan.requirements
    rows = Rows(
        relation=relation(_CLASSIFIED),
        keys=(column("class_id"),),
        class_id=column("class_id"),
        columns={name: column(f"asked_{i}") for i, name in enumerate(_requirement_columns(plan))},
        entity=column(_ENTITY) if plan.bound.entity else None,
    )
    counted = relations_of(rows, requirements, _background(plan))
    if needs_rounds(requirements):
        guard = guard_rounds(requirements, entity=plan.bound.entity is not None)
    else:
        guard = [
            ScriptStep(name, query, "The classes that violate no requirement: the others are withheld.")
            for name, query in kept_classes(requirements, entity=plan.bound.entity is not None)
        ]
    return [
        _recoded(plan),
        *_classes(plan.recodings),
        *_counting(counted, "What the requirements read of the classes."),
        *guard,
        _candidate(plan),
    ]


def check_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """From the rows of `candidate` alone to `check_violation`: the classes that violate a requirement, if any do.

    A class is what the published columns show of the quasi-identifiers; nothing of the steps before is read.
    """
    quasi = [(bound.column, f"key_{i}") for i, bound in enumerate(plan.bound.quasi_identifiers)]
    number = window(f.row_number(), order=order_by(*(ascending(column(name)) for name, _ in quasi)))
    keys = [alias(column(name), key) for name, key in quasi]
    classes = exp.select(*keys, alias(number, "class_id")).from_(relation(CANDIDATE))
    classes = classes.group_by(*(column(name) for name, _ in quasi))
    entity = candidate_entity(plan)
    read = [alias(column(name, "candidate"), f"asked_{i}") for i, name in enumerate(_requirement_columns(plan))]
    if entity:
        read.append(alias(column(entity, "candidate"), _ENTITY))
    rows = exp.select(column("class_id", "class"), *read).from_(relation(CANDIDATE, as_="candidate"))
    on = exp.and_(*(identical(column(name, "candidate"), column(key, "class")) for name, key in quasi))
    rows = rows.join(relation("check_class", as_="class"), on=on)
    counted = relations_of(
        Rows(
            relation=relation("check_row"),
            keys=(column("class_id"),),
            class_id=column("class_id"),
            columns={name: column(f"asked_{i}") for i, name in enumerate(_requirement_columns(plan))},
            entity=column(_ENTITY) if entity else None,
        ),
        plan.requirements,
        _background(plan),
    )
    counted = [*counted, *sensitive_values(plan.requirements)]
    renamed = {name: f"check_{name}" for name, _ in counted}
    violating = exp.select(column("class_id")).from_(violations(plan.requirements).subquery("violation"))
    return [
        ScriptStep("check_class", classes, "The classes as a reader sees them: by the published columns alone."),
        ScriptStep("check_row", rows, "Each written row with its class."),
        *_counting(
            [(renamed[name], _reading(query, renamed)) for name, query in counted], "The same counts, of these rows."
        ),
        ScriptStep("check_violation", _reading(violating, renamed), "The classes that violate a requirement."),
    ]


def candidate_entity(plan: ReleasePlan) -> str | None:
    """The candidate's column with the respondent, which is checked and not published; None where rows are counted."""
    if plan.bound.entity is None:
        return None
    name, taken = _ENTITY, {bound.column.lower() for bound in plan.bound.published}
    while name in taken:
        name += "_"
    return name


def _counting(steps: Sequence[Step], comment: str) -> list[ScriptStep]:
    return [ScriptStep(name, query, "" if index else comment) for index, (name, query) in enumerate(steps)]


def _reading(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """The query over other relations in place of these; inner steps of its own keep their names."""
    inner_names = {cte.alias for cte in query.find_all(exp.CTE)}
    for table in list(query.find_all(exp.Table)):
        if table.name in names and table.name not in inner_names and not table.db:
            table.replace(relation(names[table.name], as_=table.alias_or_name))
    return query


def _requirement_columns(plan: ReleasePlan) -> tuple[str, ...]:
    """The columns that requirements read."""
    return tuple(dict.fromkeys(name for subject in subjects(plan.requirements) for name in subject))


def _background(plan: ReleasePlan) -> Background:
    return Background(taxonomies={b.column: Taxonomy(b) for b in plan.bound.sensitive if not b.stored})


def _read(plan: ReleasePlan) -> list[tuple[int, Recoding]]:
    return [(i, recoding) for i, recoding in enumerate(plan.recodings) if recoding.is_read]


def _recoded(plan: ReleasePlan) -> ScriptStep:
    query = exp.select().from_(relation(SOURCE, as_="source"))
    about: list[str] = []
    for index, recoding in _read(plan):
        bound, value = recoding.bound, column(recoding.bound.column, "source")
        query.select(alias(_label(plan, query, index, recoding), f"label_{index}"), copy=False)
        said = f" of the hierarchy {bound.hierarchy.name}" if bound.hierarchy else ""
        about.append(f"label_{index}: {bound.column} at level {recoding.level} of {bound.height}{said}")
        if index in plan.mappings:
            on = identical(value, column("value", mapping_name(index)))
            query.join(relation(mapping_name(index)), on=on, copy=False)
    for index, bound in _passing(plan):
        query.select(alias(column(bound.column, "source"), f"column_{index}"), copy=False)
        about.append(f"column_{index}: {bound.column}, as it is")
    for index, name in enumerate(_requirement_columns(plan)):
        query.select(alias(column(name, "source"), f"asked_{index}"), copy=False)
        about.append(f"asked_{index}: {name}, which requirements read")
    if plan.bound.entity:
        query.select(alias(column(plan.bound.entity.column, "source"), _ENTITY), copy=False)
        about.append(f"{_ENTITY}: {plan.bound.entity.column}, the respondent")
    comment = "Each row with its labels."
    if plan.mappings:
        comment += " A row with a value that a hierarchy does not list has none, and is withheld."
    return ScriptStep(_RECODED, query, comment, tuple(about))


def _label(plan: ReleasePlan, query: exp.Select, index: int, recoding: Recoding) -> exp.Expr:
    bound, value = recoding.bound, column(recoding.bound.column, "source")
    if recoding.level == 0:
        return value
    if index in plan.mappings:
        return column("label", mapping_name(index))
    assert bound.hierarchy is not None
    return functional(bound.hierarchy.kind).labels(bound.hierarchy, value, bound.published_type)[recoding.level - 1]


def _passing(plan: ReleasePlan) -> list[tuple[int, BoundAttribute]]:
    return [(i, b) for i, b in enumerate(plan.bound.published) if b.role is not Role.QUASI_IDENTIFIER]


def _classes(recodings: Sequence[Recoding]) -> list[ScriptStep]:
    """The classes, numbered, and each row with the number of its class."""
    labels = [f"label_{i}" for i, recoding in enumerate(recodings) if recoding.is_read]
    if not labels:
        single = exp.select(exp.Star(), alias(literal(1), "class_id")).from_(relation(_RECODED))
        return [ScriptStep(_CLASSIFIED, single, "Nothing tells the rows apart: they are one class.")]
    number = window(f.row_number(), order=order_by(*(ascending(column(name)) for name in labels)))
    classes = exp.select(*map(column, labels), alias(number, "class_id")).from_(relation(_RECODED))
    rows = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("recoded", quoted=True)))
    rows = rows.select(column("class_id", "class")).from_(relation(_RECODED, as_="recoded"))
    on = exp.and_(*(identical(column(name, "recoded"), column(name, "class")) for name in labels))
    return [
        ScriptStep(
            _CLASS, classes.group_by(*map(column, labels)), "The classes: rows that agree in all labels, NULL included."
        ),
        ScriptStep(_CLASSIFIED, rows.join(relation(_CLASS, as_="class"), on=on), "Each row with its class."),
    ]


def _candidate(plan: ReleasePlan) -> ScriptStep:
    outputs: list[exp.Expr] = []
    passing = {bound.column: index for index, bound in _passing(plan)}
    quasi = {r.bound.column: (i, r) for i, r in enumerate(plan.recodings)}
    for bound in plan.bound.published:
        if bound.column in passing:
            value: exp.Expr = column(f"column_{passing[bound.column]}", "classified")
        else:
            index, recoding = quasi[bound.column]
            value = column(f"label_{index}", "classified") if recoding.is_read else as_text(literal("*"))
        outputs.append(alias(value, bound.column))
    if entity := candidate_entity(plan):
        outputs.append(alias(column(_ENTITY, "classified"), entity))
    query = exp.select(*outputs).from_(relation(_CLASSIFIED, as_="classified"))
    query = query.join(relation("kept", as_="kept"), on=same("class_id", "classified", "kept"))
    return ScriptStep(CANDIDATE, query, "The rows of the classes that are kept: what may be published.")
