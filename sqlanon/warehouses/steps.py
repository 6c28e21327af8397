"""The steps of a script: each a query whose rows those after it read, from the source to what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import ascending, identical, order_by, union_all, window
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.build.steps import Step
from sqlanon.sqlgen.cells.taxonomy import Taxonomy
from sqlanon.sqlgen.classes.buckets import BUCKET, COUNT
from sqlanon.sqlgen.classes.guard import kept_classes, needs_rounds, violations
from sqlanon.sqlgen.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sqlgen.classes.rows import Rows
from sqlanon.warehouses.bucket_checks import bucket_rows, misfits
from sqlanon.warehouses.bucket_steps import (
    CANDIDATE_VALUES,
    bucket_candidates,
    chosen_steps,
    dealing_steps,
    trial_rows,
)
from sqlanon.warehouses.fragment_steps import fragment_checks, fragment_steps
from sqlanon.warehouses.guard_rounds import guard_rounds
from sqlanon.warehouses.level_steps import level_candidate, level_steps
from sqlanon.warehouses.plan import ReleasePlan
from sqlanon.warehouses.region_steps import region_candidate, region_steps
from sqlanon.warehouses.row_columns import ENTITY, candidate_entity, requirement_columns
from sqlanon.warehouses.script_step import CANDIDATE, ScriptStep

__all__ = ["check_steps", "release_steps"]


def release_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """From the step `source`, which has the columns that are needed, to the step `candidate`: what may be published."""
    requirements = plan.requirements
    if plan.fragments:
        return fragment_steps(plan.fragments)
    if plan.buckets is not None:
        # Of all trials at once: what requirements read of the whole are shares, which are those of the source.
        trials = trial_rows(plan, "trial_value", "class_id", "n")
        return [
            *dealing_steps(plan),
            *_violations(plan, trials, "trial", "What the requirements read of these buckets."),
            *chosen_steps("trial_violation"),
            *bucket_candidates(plan),
        ]
    if plan.regions is not None:
        recoded, candidate = region_steps(plan, plan.regions), region_candidate(plan, plan.regions)
    else:
        recoded, candidate = level_steps(plan), level_candidate(plan)
    rows = Rows(
        relation=relation(recoded[-1].name),
        keys=(column("class_id"),),
        class_id=column("class_id"),
        columns={name: column(f"asked_{i}") for i, name in enumerate(requirement_columns(plan))},
        entity=column(ENTITY) if plan.bound.entity else None,
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
        *recoded,
        *_counting(counted, "What the requirements read of the classes."),
        *guard,
        ScriptStep(CANDIDATE, candidate, "The rows of the classes that are kept: what may be published."),
    ]


def check_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """From the rows of `candidate` alone to `check_violation`: the classes that violate a requirement, if any do.

    A class is what the published columns show of the quasi-identifiers; nothing of the steps before is read. Buckets
    and fragments are compared with the source, too.
    """
    if plan.fragments:
        return fragment_checks(plan.fragments)
    if plan.buckets is not None:
        written = trial_rows(plan, CANDIDATE_VALUES, BUCKET, COUNT)
        counted = _violations(plan, written, "check", "What the requirements read of the buckets that were written.")
        of_requirements, others = counted.pop(), misfits(plan)
        both = [of_requirements.query, *(exp.select(column("class_id")).from_(relation(step.name)) for step in others)]
        said = "The buckets that violate a requirement, and what does not fit together."
        return [bucket_rows(), *counted, *others, ScriptStep("check_violation", union_all(both), said)]
    return [*_check_rows(plan), *_violations(plan, _checked(plan), "check", "The same counts, of these rows.")]


def _check_rows(plan: ReleasePlan) -> list[ScriptStep]:
    """The classes of the written rows, and the rows with their classes."""
    quasi = [(name, f"key_{i}") for i, name in enumerate(plan.keys)]
    number = window(f.row_number(), order=order_by(*(ascending(column(name)) for name, _ in quasi)))
    keys = [alias(column(name), key) for name, key in quasi]
    classes = exp.select(*keys, alias(number, "class_id")).from_(relation(CANDIDATE))
    classes = classes.group_by(*(column(name) for name, _ in quasi))
    read = [alias(column(name, "candidate"), f"asked_{i}") for i, name in enumerate(requirement_columns(plan))]
    if entity := candidate_entity(plan):
        read.append(alias(column(entity, "candidate"), ENTITY))
    rows = exp.select(column("class_id", "class"), *read).from_(relation(CANDIDATE, as_="candidate"))
    on = exp.and_(*(identical(column(name, "candidate"), column(key, "class")) for name, key in quasi))
    rows = rows.join(relation("check_class", as_="class"), on=on)
    return [
        ScriptStep("check_class", classes, "The classes as a reader sees them: by the published columns alone."),
        ScriptStep("check_row", rows, "Each written row with its class."),
    ]


def _checked(plan: ReleasePlan) -> Rows:
    return Rows(
        relation=relation("check_row"),
        keys=(column("class_id"),),
        class_id=column("class_id"),
        columns={name: column(f"asked_{i}") for i, name in enumerate(requirement_columns(plan))},
        entity=column(ENTITY) if plan.bound.entity else None,
    )


def _violations(plan: ReleasePlan, rows: Rows, prefix: str, comment: str) -> list[ScriptStep]:
    """The relations that the requirements read of rows, and the classes that violate one; names have the prefix."""
    counted = relations_of(rows, plan.requirements, _background(plan))
    counted = [*counted, *sensitive_values(plan.requirements)]
    renamed = {name: f"{prefix}_{name}" for name, _ in counted}
    violating = exp.select(column("class_id")).from_(violations(plan.requirements).subquery("violation"))
    return [
        *_counting([(renamed[name], _reading(query, renamed)) for name, query in counted], comment),
        ScriptStep(f"{prefix}_violation", _reading(violating, renamed), "The classes that violate a requirement."),
    ]


def _counting(steps: Sequence[Step], comment: str) -> list[ScriptStep]:
    return [ScriptStep(name, query, "" if index else comment) for index, (name, query) in enumerate(steps)]


def _reading(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """The query over other relations in place of these; inner steps of its own keep their names."""
    inner_names = {cte.alias for cte in query.find_all(exp.CTE)}
    for table in list(query.find_all(exp.Table)):
        if table.name in names and table.name not in inner_names and not table.db:
            table.replace(relation(names[table.name], as_=table.alias_or_name))
    return query


def _background(plan: ReleasePlan) -> Background:
    return Background(taxonomies={b.column: Taxonomy(b) for b in plan.bound.sensitive if not b.stored})
