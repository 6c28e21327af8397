"""The steps of a script, which are queries that read the rows of earlier steps, from the source to the published rows.

Each round of a guard is a step, because engines have no recursion or different forms of it: if a requirement judges a
class by the rows of other classes, each round withholds the classes that violate and checks the rest again, as often as
a live view does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Role
from sqlanon.export.warehouses.bucket_steps import (
    CANDIDATE_VALUES,
    bucket_candidates,
    chosen_steps,
    dealing_steps,
    trial_rows,
)
from sqlanon.export.warehouses.fragment_steps import differing, fragment_checks, fragment_steps, unlike_source
from sqlanon.export.warehouses.listed_tables import RegionMap, mapping_name
from sqlanon.export.warehouses.plan import ReleasePlan
from sqlanon.export.warehouses.translation import CANDIDATE, SOURCE, ScriptStep
from sqlanon.sql.build.expressions import as_text, exists, identical, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import filled_query, filled_select, query_file
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.taxonomy import Taxonomy
from sqlanon.sql.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sql.classes.guard import kept_classes, needs_rounds, restricted, violations
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, SqlRequirement, subjects
from sqlanon.sql.hierarchies.base import functional
from sqlanon.sql.release.recode import Recoding, ReleaseColumns, boxed, placed_rows
from sqlanon.sql.sizes import sizes


def release_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps from `source`, with the needed columns, to `candidate`, the rows that may be published."""
    requirements = plan.requirements
    if plan.fragments:
        return fragment_steps(plan.fragments)
    if plan.buckets is not None:
        # One query serves all trials, because the totals that requirements read are shares, and these equal the shares
        # in the source.
        trials = trial_rows(plan, "trial_value", "class_id", "n")
        return [
            *dealing_steps(plan),
            *_violations(plan, trials, "trial", "The relations of these buckets that the requirements read."),
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
            ScriptStep(name, query, "The classes that violate no requirement. All other classes are withheld.")
            for name, query in kept_classes(requirements, entity=plan.bound.entity is not None)
        ]
    return [
        *recoded,
        *_counting(counted, "The relations of the classes that the requirements read."),
        *guard,
        ScriptStep(CANDIDATE, candidate, "The rows of the kept classes, which may be published."),
    ]


def check_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps from the rows of `candidate` alone to `check_violation`: the violating classes, if there are
    any.

    A class is a combination of the published quasi-identifiers; no earlier step is read. Buckets and fragments are
    compared with the source, too.
    """
    if plan.fragments:
        return fragment_checks(plan.fragments)
    if plan.buckets is not None:
        written = trial_rows(plan, CANDIDATE_VALUES, BUCKET, COUNT)
        counted = _violations(
            plan, written, "check", "The relations of the written buckets that the requirements read."
        )
        of_requirements, others = counted.pop(), misfits(plan)
        both = [of_requirements.query, *(select(column("class_id"), of=relation(step.name)) for step in others)]
        comment = "The buckets that violate a requirement, and rows and values that do not fit together."
        return [bucket_rows(), *counted, *others, ScriptStep("check_violation", union_all(both), comment)]
    return [*_check_rows(plan), *_violations(plan, _checked(plan), "check", "The same counts, of these rows.")]


def _check_rows(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps of the classes of the written rows, and of the rows with their classes."""
    read = {name: f"asked_{i}" for i, name in enumerate(requirement_columns(plan))}
    columns = [*read.items(), *([(entity, ENTITY)] if (entity := candidate_entity(plan)) else [])]
    names = {
        "keys": plan.keys,
        "names": [f"key_{i}" for i in range(len(plan.keys))],
        "columns": [name for name, _ in columns],
        "read": [name for _, name in columns],
    }
    return [
        ScriptStep(
            "check_class",
            query_file("script", "check_class", names=names),
            "The classes as a reader sees them: by the published columns alone.",
        ),
        ScriptStep("check_row", query_file("script", "check_row", names=names), "Each written row with its class."),
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
    """Returns the steps that make the relations which the requirements read, and the step of the violating classes.

    The names of the steps begin with `prefix`; `comment` is the sentence above the last one.
    """
    counted = relations_of(rows, plan.requirements, _background(plan))
    counted = [*counted, *sensitive_values(plan.requirements)]
    renamed = {name: f"{prefix}_{name}" for name, _ in counted}
    violating = select(column("class_id"), of=subquery(violations(plan.requirements), "violation"))
    return [
        *_counting([(renamed[name], _reading(query, renamed)) for name, query in counted], comment),
        ScriptStep(f"{prefix}_violation", _reading(violating, renamed), "The classes that violate a requirement."),
    ]


def _counting(steps: Sequence[Step], comment: str) -> list[ScriptStep]:
    return [ScriptStep(name, query, "" if index else comment) for index, (name, query) in enumerate(steps)]


def _reading(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Replaces the names of the relations that a query reads by `names`; steps inside it keep their names."""
    inner_names = {cte.alias for cte in query.find_all(exp.CTE)}
    for table in list(query.find_all(exp.Table)):
        if table.name in names and table.name not in inner_names and not table.db:
            table.replace(relation(names[table.name], as_=table.alias_or_name))
    return query


def _background(plan: ReleasePlan) -> Background:
    return Background(taxonomies={b.column: Taxonomy(b) for b in plan.bound.sensitive if not b.stored})


# The name of the step that assigns rows to their classes.
_RECODED = "recoded"


def region_steps(plan: ReleasePlan, regions: RegionMap) -> list[ScriptStep]:
    """Returns the steps from `source` to `recoded`: each row in a region, with its class and the region's labels."""
    quasi = [bound.column for bound in plan.bound.quasi_identifiers]
    names = {"columns": quasi, "values": [f"value_{index}" for index in range(len(quasi))]}
    combinations = filled_query('SELECT DISTINCT {columns} AS "{values}" FROM source', names=names)
    about = [f"value_{index}: {name}" for index, name in enumerate(quasi)]
    placement = boxed(relation("combination", as_="unseen"), len(quasi), regions.placed)
    rows = placed_rows(plan.bound, regions.placed)
    about = [f"label_{index}: {name}, as the row's region shows it" for index, name in enumerate(quasi)]
    about += other_columns(plan, rows)
    return [
        ScriptStep("combination", combinations, "The combinations of quasi-identifiers, each once.", tuple(about)),
        ScriptStep("placement", placement, "The combinations within the ranges of a region. All others are withheld."),
        ScriptStep(
            _RECODED, rows, "Each row of these combinations with its class, by the labels of its region.", tuple(about)
        ),
    ]


def region_candidate(plan: ReleasePlan, regions: RegionMap) -> exp.Select:
    """Builds the query of the published columns, for the rows in regions whose classes the guard keeps."""
    outputs = ReleaseColumns(plan.bound, (), regions.placed, collated=False).outputs()
    if entity := candidate_entity(plan):
        outputs.append(alias(column(ENTITY, _RECODED), entity))
    text = "SELECT $outputs FROM recoded AS recoded JOIN kept AS kept ON recoded.class_id = kept.class_id"
    return filled_select(text, outputs=outputs)


def bucket_rows() -> ScriptStep:
    """Returns the step check_row(class_id): the bucket of each written row, if the bucket has values."""
    return ScriptStep(
        "check_row", query_file("script", "rows_with_values"), "Each written row whose bucket has values."
    )


def misfits(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps of a script that list contradictions between the tables of buckets, and differences from the
    source.
    """
    assert plan.buckets is not None
    names = {"sensitive": plan.bound.sensitive[0].column}
    sizes_of_both = query_file("script", "sizes_of_both")
    values_of_both = query_file("script", "values_of_both", names=names)
    carried = [bound.column for bound in plan.buckets.carried]
    return [
        ScriptStep(
            "check_size",
            differing([BUCKET], sizes_of_both, column(BUCKET)),
            "The buckets whose numbers of rows and of values differ.",
        ),
        ScriptStep(
            "check_source_value",
            differing([VALUE], values_of_both, literal(0)),
            "A row for each value that is not as frequent as in the source.",
        ),
        ScriptStep(
            "check_source_row",
            unlike_source(carried, CANDIDATE),
            "A row for each combination of other columns that is not as frequent as in the source.",
        ),
        ScriptStep(
            "check_value",
            query_file("script", "mismatched_buckets", tables={"bucket_values": CANDIDATE_VALUES}),
            "The buckets that repeat a value, or have a value with a count below 1.",
        ),
    ]


def guard_rounds(requirements: Sequence[SqlRequirement], *, entity: bool) -> list[ScriptStep]:
    """Returns the steps of a guard up to kept(class_id), which is empty if the last round finds a violating class."""
    last = sizes().guard_rounds
    steps: list[ScriptStep] = []
    for number in range(1, last):
        after = _remaining(number).where(
            exp.not_(column("class_id").isin(query=_violating(requirements, number, entity)))
        )
        steps.append(
            ScriptStep(
                f"remaining_{number}",
                after,
                f"Round {number}: without the classes that violate among those of the round before, whose rows"
                " no longer count."
                if number > 1
                else "Round 1: all classes without the classes that violate.",
            )
        )
    violating = select(literal(1), of=subquery(_violating(requirements, last, entity), "violating"))
    last_classes = _remaining(last).where(exp.not_(exists(violating)))
    return [
        *steps,
        ScriptStep(
            "kept",
            last_classes,
            "The remaining classes if none of them violates; otherwise no class, and nothing is published.",
        ),
    ]


def _remaining(number: int) -> exp.Select:
    """Builds the query of the classes that a round checks."""
    return select(column("class_id"), of=relation(_classes_of(number)))


def _classes_of(number: int) -> str:
    return f"remaining_{number - 1}" if number > 1 else "equivalence_class"


def _violating(requirements: Sequence[SqlRequirement], number: int, entity: bool) -> exp.Select:
    steps, names = restricted(requirements, _classes_of(number), f"round_{number}", entity=entity)
    query = select(column("class_id"), of=subquery(violations(requirements, names), "violations"))
    return with_steps(query, steps)


_RECODED, _CLASS = "recoded", "label_class"
# The name of the step that assigns rows to their classes.
_CLASSIFIED = "classified"


def level_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """Returns the steps from `source` to `classified`: each row with its labels and its class."""
    return [_recoded(plan), *_classes(plan.recodings)]


def _read(plan: ReleasePlan) -> list[tuple[int, Recoding]]:
    return [(i, recoding) for i, recoding in enumerate(plan.recodings) if recoding.is_read]


def _recoded(plan: ReleasePlan) -> ScriptStep:
    query = select(of=relation(SOURCE, as_="source"))
    about: list[str] = []
    for index, recoding in _read(plan):
        bound, value = recoding.bound, column(recoding.bound.column, "source")
        extend(query, alias(_label(plan, query, index, recoding), f"label_{index}"))
        using = f" of the hierarchy {bound.hierarchy.name}" if bound.hierarchy else ""
        about.append(f"label_{index}: {bound.column} at level {recoding.level} of {bound.height}{using}")
        if index in plan.mappings:
            on = identical(value, column("value", mapping_name(index)))
            extend(query, joins=[inner_join(relation(mapping_name(index)), on)])
    about += other_columns(plan, query)
    comment = "Each row with its labels."
    if plan.mappings:
        comment += " A row with a value that a hierarchy does not list has no label, and is withheld."
    return ScriptStep(_RECODED, query, comment, tuple(about))


def _label(plan: ReleasePlan, query: exp.Select, index: int, recoding: Recoding) -> exp.Expr:
    bound, value = recoding.bound, column(recoding.bound.column, "source")
    if recoding.level == 0:
        return value
    if index in plan.mappings:
        return column("label", mapping_name(index))
    assert bound.hierarchy is not None
    return functional(bound.hierarchy.kind).labels(bound.hierarchy, value, bound.published_type)[recoding.level - 1]


def _classes(recodings: Sequence[Recoding]) -> list[ScriptStep]:
    """Returns the steps of the numbered classes, and of the rows with their class's number."""
    labels = [f"label_{i}" for i, recoding in enumerate(recodings) if recoding.is_read]
    if not labels:
        single = filled_query("SELECT *, 1 AS class_id FROM recoded")
        return [ScriptStep(_CLASSIFIED, single, "No column distinguishes the rows, so they are one class.")]
    names = {"labels": labels}
    classes = filled_query(
        "SELECT {labels}, row_number() OVER (ORDER BY {labels} ASC NULLS LAST) AS class_id FROM recoded"
        " GROUP BY {labels}",
        names=names,
    )
    rows = filled_query(
        "SELECT recoded.*, class.class_id FROM recoded"
        " JOIN label_class AS class ON {recoded.labels} IS NOT DISTINCT FROM {class.labels}",
        names=names,
    )
    return [
        ScriptStep(_CLASS, classes, "The classes: rows that agree in all labels, NULL included."),
        ScriptStep(_CLASSIFIED, rows, "Each row with its class."),
    ]


def level_candidate(plan: ReleasePlan) -> exp.Select:
    """Builds the query of the published columns, for the rows in classes that the guard keeps."""
    outputs: list[exp.Expr] = []
    others = {bound.column: index for index, bound in passing(plan)}
    quasi = {r.bound.column: (i, r) for i, r in enumerate(plan.recodings)}
    for bound in plan.bound.published:
        if bound.column in others:
            value: exp.Expr = column(f"column_{others[bound.column]}", "classified")
        else:
            index, recoding = quasi[bound.column]
            value = column(f"label_{index}", "classified") if recoding.is_read else as_text(literal("*"))
        outputs.append(alias(value, bound.column))
    if entity := candidate_entity(plan):
        outputs.append(alias(column(ENTITY, "classified"), entity))
    text = "SELECT $outputs FROM classified AS classified JOIN kept AS kept ON classified.class_id = kept.class_id"
    return filled_select(text, outputs=outputs)


# The column with the respondent, if respondents are counted; it exists until the rows are checked.
ENTITY = "__sqlanon_entity"


def passing(plan: ReleasePlan) -> list[tuple[int, BoundAttribute]]:
    """Returns the columns that are published unchanged, with their numbers."""
    return [(i, b) for i, b in enumerate(plan.bound.published) if b.role is not Role.QUASI_IDENTIFIER]


def requirement_columns(plan: ReleasePlan) -> tuple[str, ...]:
    """Returns the columns that requirements read."""
    return tuple(dict.fromkeys(name for subject in subjects(plan.requirements) for name in subject))


def candidate_entity(plan: ReleasePlan) -> str | None:
    """Returns the candidate's column of respondents, which is checked and not published; None if rows are counted."""
    if plan.bound.entity is None:
        return None
    return free_name(ENTITY, (name for name, _ in plan.columns))


def other_columns(plan: ReleasePlan, query: exp.Select) -> list[str]:
    """Adds to `query` the columns that are copied or that requirements read, and the respondent.

    Returns a line of comment about each column.
    """
    about: list[str] = []
    for index, bound in passing(plan):
        extend(query, alias(column(bound.column, "source"), f"column_{index}"))
        about.append(f"column_{index}: {bound.column}, as it is")
    for index, name in enumerate(requirement_columns(plan)):
        extend(query, alias(column(name, "source"), f"asked_{index}"))
        about.append(f"asked_{index}: {name}, which requirements read")
    if plan.bound.entity:
        extend(query, alias(column(plan.bound.entity.column, "source"), ENTITY))
        about.append(f"{ENTITY}: {plan.bound.entity.column}, the respondent")
    return about
