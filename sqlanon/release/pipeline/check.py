"""Stage 8: measures every requirement on the candidate, the rows that are to be published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from sqlglot import exp

from sqlanon.domain.release import Measurement, PrivacyReport
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.methods.base import PublishedTables
from sqlanon.methods.registry import require_kept
from sqlanon.release.existing.classes import PeopleColumns, rows_of_each, rows_with_keys
from sqlanon.release.pipeline.materialize import helper_columns, hidden_of
from sqlanon.release.pipeline.resolve import measured_join
from sqlanon.release.pipeline.stages import Bound, Checked, Materialized, Resolved
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, union_all
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.steps import shared_steps, with_steps
from sqlanon.sql.classes.buckets import rows_of_buckets
from sqlanon.sql.classes.guard import frozen_background
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, RowsOfRequirements, relation_names, report_row
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.release.multi_table_query import TablesQuery
from sqlanon.sql.release.recode import Placed
from sqlanon.sql.release.release_query import ReleaseQuery
from sqlanon.syntax.texts import typed_name


def measured(
    engine: Engine, requirements: Sequence[BoundRequirement], rows: Rows, background: Background
) -> list[Measurement]:
    """Measures requirements on rows in one query, which computes shared relations once."""
    if not requirements:
        return []
    each = enumerate(zip(requirements, relation_names(requirements), strict=True))
    rows_of_report = union_all([report_row(index, requirement, names) for index, (requirement, names) in each])
    query = select(exp.Star(), of=subquery(rows_of_report, "report"))
    steps = [*relations_of(rows, requirements, background), *sensitive_values(requirements, rows)]
    # A grouping that a statement needs both for what is achieved and for what violates is computed once.
    steps += shared_steps(query, [name for name, _ in steps])
    measurements = reported(engine, with_steps(query, steps), dict(enumerate(requirements)))
    return [measurements[index] for index in range(len(requirements))]


def violating_classes(
    requirements: Sequence[BoundRequirement], index: int, rows: Rows, background: Background
) -> exp.Query:
    """Returns the query of the classes that violate the requirement at this index."""
    statement = requirements[index].statement("violations", relation_names(requirements)[index])
    steps = [*relations_of(rows, requirements, background), *sensitive_values(requirements, rows)]
    # In parentheses, because the query may begin with a WITH clause.
    return with_steps(select(exp.Star(), of=subquery(statement, "violations")), steps)


def reported(engine: Engine, report: exp.Query, requirements: Mapping[int, BoundRequirement]) -> dict[int, Measurement]:
    """Returns the measurements of requirements, by index, from a query with the columns place, achieved and violating.

    Raises InternalError unless the query has exactly one row for each requirement.
    """
    columns = [column(name) for name in ("place", "achieved", "violating")]
    rows = engine.rows(select(*columns, of=subquery(report, "reported")))
    by_index = {int(index): (achieved, int(violating)) for index, achieved, violating in rows}
    if len(rows) != len(requirements) or by_index.keys() != requirements.keys():
        raise InternalError("a report has other requirements than those that were asked")
    return {index: _measurement(requirement, *by_index[index]) for index, requirement in requirements.items()}


def _measurement(requirement: BoundRequirement, achieved: float | None, violating: int) -> Measurement:
    # NaN proves nothing.
    satisfied = violating == 0 and (achieved is None or not isnan(achieved))
    if satisfied and achieved is not None and requirement.is_contradicted_by(float(achieved)):
        raise InternalError(
            f"no class violates {requirement}, and it reaches {achieved}: one of the two was computed wrongly"
        )
    return Measurement(
        question=requirement.question_name,
        attribute=", ".join(requirement.attributes) or None,
        required=requirement.required,
        achieved=None if achieved is None else float(achieved),
        satisfied=satisfied,
    )


def check_stage(made: Materialized) -> Checked:
    """Checks the candidate. Raises PrivacyViolation, with a query of the violating classes, if a requirement is
    violated.
    """
    query, requirements = made.query, made.bound.requirements
    structure = _of_structure(made)
    hidden = hidden_of(made.compiled) if made.bound.is_live else {}
    measurements = _of_candidate(made, [index for index in range(len(requirements)) if index not in hidden])
    if isinstance(query, ReleaseQuery) and hidden:
        # A view has no helper columns: its own report, which reads the source, measures these.
        report = query.report(tuple(hidden))
        measurements |= reported(made.bound.engine, report, {index: requirements[index] for index in hidden})
        for index in hidden:
            _require(made.bound, index, measurements[index], report)
    _require_complete(made)
    of_classes = (measurements[index] for index in sorted(measurements))
    return Checked(made, PrivacyReport((*of_classes, *structure, *measured_join(made))))


def _of_structure(made: Materialized) -> tuple[Measurement, ...]:
    """Measures the structure that the method promises, besides the requirements of classes."""
    bound, query, choice = made.bound, made.query, made.compiled.choice
    method = bound.create.method
    published = PublishedTables(
        engine=bound.engine,
        policy=bound.resolved.policy,
        tables=_relations(made),
        values=query.values if isinstance(query, TablesQuery) else {},
        suppressed=choice.suppressed,
        choice=choice,
    )
    return require_kept(method.name, method.arguments, published, bound.create.name, "published")


def _relations(made: Materialized) -> dict[str, exp.Table | exp.Subquery]:
    """Returns the candidates by the suffixes of their names, "" for a release of one table."""
    return {each.fragment or "": relation(each.stands) for each in made.candidates}


def _of_candidate(made: Materialized, indexes: Sequence[int]) -> dict[int, Measurement]:
    """Measures the requirements at these indexes on the candidate's own rows; returns measurements by index."""
    query = made.query
    if not indexes:
        return {}
    if isinstance(query, ReleaseQuery):
        return _of_rows(made, query, indexes)
    if made.bound.policy.related:
        return _of_people(made, query)
    return _of_lists(made) if query.is_one_table else _of_tables(made, query)


def _of_rows(made: Materialized, query: ReleaseQuery, indexes: Sequence[int]) -> dict[int, Measurement]:
    """Measures the requirements at these indexes on the rows of a release that is one table or view."""
    bound, policy = made.bound, made.bound.policy
    requirements = [bound.requirements[index] for index in indexes]
    guards = {index: name for index, name in guards_of(bound.requirements).items() if index in indexes}
    helpers = {} if bound.is_live else helper_columns(query)
    columns = {name: helpers.get(name, name) for name in guards.values()}
    entity = helpers.get(policy.entity.column) if policy.entity else None
    rows = rows_with_keys(policy, relation(made.candidates[0].stands), query.keys, columns, entity)
    needs_public = any("public_class" in requirement.reads for requirement in requirements)
    public = query.public_class() if needs_public else None
    background = frozen_background(policy, requirements, query.release_id, indexes, guards, public)
    return _required(bound, indexes, rows, background)


def _of_lists(made: Materialized) -> dict[int, Measurement]:
    """Measures the requirements on a candidate of one table made by a method with its own SELECT, such as a method for
    lists.
    """
    bound, policy, table = made.bound, made.bound.policy, relation(made.candidates[0].stands)
    types = dict(bound.engine.columns(select(exp.Star(), of=table)))
    keys = [(b.column, types[b.column]) for b in policy.quasi_identifiers]
    indexes = range(len(bound.requirements))
    parts = rows_of_each(
        bound.requirements, indexes, keys, types, lambda names: rows_with_keys(policy, table.copy(), names)
    )
    return _of_parts(made, parts)


def _of_people(made: Materialized, query: TablesQuery) -> dict[int, Measurement]:
    """Measures the requirements on the candidates of people and of the rows about them."""
    bound = made.bound
    readings = {table.name or "": [(part.name, part.reading) for part in table.columns] for table in query.tables}
    people = PeopleColumns(bound.resolved.policy, readings, tuple(b.column for b in bound.policy.all_sensitive))
    measurements: dict[int, Measurement] = {}
    for part in people.rows(_relations(made), bound.requirements, range(len(bound.requirements))):
        measurements |= _required(bound, part.indexes, part.rows, Background())
    return measurements


def _of_tables(made: Materialized, query: TablesQuery) -> dict[int, Measurement]:
    """Measures the requirements on the candidates of buckets and values."""
    requirements = made.bound.requirements
    if not requirements:
        return {}
    sources, indexes = _relations(made), range(len(requirements))
    parts = rows_of_buckets(sources, requirements, indexes, query.values, once=True, rows=query.bucket_rows)
    return _of_parts(made, parts)


def _of_parts(made: Materialized, parts: Iterable[RowsOfRequirements]) -> dict[int, Measurement]:
    """Measures the requirements, each on its own rows."""
    bound = made.bound
    measurements: dict[int, Measurement] = {}
    for part in parts:
        requirements = [bound.requirements[index] for index in part.indexes]
        background = frozen_background(bound.policy, requirements, made.query.release_id, part.indexes)
        measurements |= _required(bound, part.indexes, part.rows, background)
    return measurements


def _required(bound: Bound, indexes: Sequence[int], rows: Rows, background: Background) -> dict[int, Measurement]:
    """Measures the requirements at these indexes. Raises PrivacyViolation if one is violated."""
    requirements = [bound.requirements[index] for index in indexes]
    measurements = measured(bound.engine, requirements, rows, background)
    for number, (index, reached) in enumerate(zip(indexes, measurements, strict=True)):
        if not reached.satisfied:
            _require(bound, index, reached, violating_classes(requirements, number, rows, background))
    return dict(zip(indexes, measurements, strict=True))


def _require(bound: Bound, index: int, reached: Measurement, query: exp.Query) -> None:
    if not reached.satisfied:
        raise PrivacyViolation(
            f"{bound.create.name} would violate {bound.requirements[index]}: it reaches {reached.achieved}; "
            "nothing was published",
            query=to_sql(query),
            hint=_hint(bound.resolved),
        )


def _hint(resolved: Resolved) -> str:
    less = f"ask for less: ALTER POLICY {typed_name(resolved.policy.name)} REQUIRE ..."
    if resolved.series is None:
        return less
    return f"{less}; or begin another series, whose classes are new: then nothing is promised of both together"


def _require_complete(made: Materialized) -> None:
    """Raises an error unless the published and the suppressed rows add up to the source's rows during the search."""
    bound, query, choice = made.bound, made.query, made.compiled.choice
    name, public = bound.create.name, bound.policy.public
    if bound.is_live and not (bound.source.stable and (public is None or public.stable)):
        # A view or a query may return other rows than during the search; the guard protects any rows.
        return
    placed = None if isinstance(query, TablesQuery) else query.placed
    if made.released_rows < choice.rows and placed is not None and _regions_share_labels(bound.engine, placed):
        raise PrivacyViolation(
            f"{name}: regions with equal labels are one class, which violates a requirement that each of the regions "
            "satisfies; nothing was published",
            hint="use publish => 'range' with mode => 'strict', where no two regions have equal labels",
        )
    if made.released_rows != choice.rows - choice.suppressed:
        raise InternalError(
            f"{name} has {made.released_rows} rows where its method keeps "
            f"{choice.rows - choice.suppressed} of {choice.rows}; nothing was published"
        )


def _regions_share_labels(engine: Engine, placed: Placed) -> bool:
    """Whether several regions have the same labels, and are therefore one class."""
    classes, regions = (f.count(part) for part in (exp.Distinct(expressions=[column("class")]), exp.Star()))
    query = select(infix(classes, "<", regions), of=relation(placed.regions))
    return bool(engine.rows(query)[0][0])
