"""CHECK: a release against the requirements it was made for, or any relation against any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.attacks.unbounded import unbounded
from sqlanon.catalog import releases
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.bound import BoundPolicy, PublicTable
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.release import Release
from sqlanon.domain.report import Measurement, PrivacyReport
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import CatalogError, EngineError, PolicyError, PrivacyViolation, UserError
from sqlanon.inputs.bind_policy import bind, hierarchies_of, public_source
from sqlanon.inputs.catalog_entries import find_relation, require_unhidden
from sqlanon.inputs.item_lists import list_column, most_items, require_countable
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.inputs.requirements import bind_requirements, is_nested, resolve_requirements
from sqlanon.inputs.source import BoundSource, bind_source, own_object
from sqlanon.inputs.taxonomies import listed_taxonomy
from sqlanon.methods.base import PublishedTables
from sqlanon.methods.registry import promised_by, verified
from sqlanon.pipeline.check import measured, reported
from sqlanon.questions.arguments import with_names
from sqlanon.questions.ask import BoundRequirement
from sqlanon.questions.every_model import SensitiveColumn, every_model
from sqlanon.releases.answerable import AnswerableRequirements, answerable_by
from sqlanon.releases.classes import rows_of_each
from sqlanon.releases.companion_views import content_view, report_view
from sqlanon.releases.content import has_checked_rows, has_fingerprint
from sqlanon.releases.joined import joined_measurements
from sqlanon.releases.objects import require_own_columns
from sqlanon.releases.unreadable import unreadable
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.classes.normal_relations import Background
from sqlanon.sqlgen.classes.rows import Rows, class_label
from sqlanon.statements.check_figures import check_figures, checked_columns, checked_rows
from sqlanon.syntax.statements import CheckRelation

__all__ = ["attacks_beyond", "check_relation", "check_release", "require_no_table"]


def check_release(engine: Engine, release: Release) -> PrivacyReport:
    """Recomputes every requirement from the release as it is now.

    Some are about what no released row shows: the respondents, guarding nodes, the public
    table. A snapshot must then have the rows that were checked when it was made, and that
    check's result stands; a live view must show the rows that its own query gives, and
    that query's report counts. Raises PrivacyViolation if they have others, or if the
    object is another than the one that was released; UserError if it is gone.
    """
    require_own_columns(engine, release)
    if release.kind == "view":
        policy = policy_of(release)
        for source in filter(None, (policy.source, policy.against)):
            require_unhidden(engine, source)
    try:
        answerable = answerable_by(engine, release)
        structure = _of_structure(engine, release, answerable)
        hidden = (
            _of_view(engine, release, answerable)
            if release.kind == "view"
            else _of_snapshot(engine, release, answerable)
        )
        answered = _answered(engine, release, answerable)
        of_join = joined_measurements(engine, release)
    except EngineError as error:
        raise unreadable(engine, release, error) from None
    measurements = hidden | answered
    return PrivacyReport((*(measurements[index] for index in sorted(measurements)), *structure, *of_join))


def attacks_beyond(engine: Engine, release: Release, measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """What is said of the attacks on a release that what it was required, or its method promises, does not bound."""
    policy = policy_of(release)
    requirements = resolve_requirements(policy, promised=promised_by(release.method, release.method_arguments))
    sensitive = [attribute.name for attribute in policy.having(Role.SENSITIVE)]
    return unbounded(engine, requirements, measurements, sensitive)


def require_no_table(engine: Engine, name: QualifiedName, statement: str = "CHECK") -> None:
    """Raises UserError for a table or view that is no release, and says how the statement is asked of it."""
    table = find_relation(engine, name)
    if table is None:
        return
    kind, full = table
    columns = ", ".join(column for column, _ in engine.columns(exp.select(exp.Star()).from_(relation(full))))
    raise UserError(
        f"{name} is a {kind}, not a release",
        hint=f"name the columns by which respondents could be found: {statement} {name} (...); it has {columns}",
        part=("release",),
    )


def _of_structure(engine: Engine, release: Release, answerable: AnswerableRequirements) -> tuple[Measurement, ...]:
    """What is measured of the structure that the method promises, besides the requirements of classes.

    The tables of a release of several have to fit together, and to be those that were released.
    """
    several = any(made.fragment is not None for made in release.published)
    published = PublishedTables(
        engine=engine,
        policy=policy_of(release),
        tables={made.fragment or "": relation(own_object(engine, made.name)) for made in release.published},
        values=answerable.values,
        suppressed=release.suppressed_rows,
        recorded=releases.measurements(engine, release),
    )
    structure = verified(release.method, release.method_arguments, published)
    if structure.misfit is not None:
        raise PrivacyViolation(
            f"the tables of {release.name} do not fit together any more: {structure.misfit}", hint="create it again"
        )
    if several:
        _require_released(engine, release)
    return structure.measurements


def _answered(engine: Engine, release: Release, answerable: AnswerableRequirements) -> dict[int, Measurement]:
    """What is measured of the requirements that the released rows answer, by their index."""
    sources = {made.fragment: relation(own_object(engine, made.name)) for made in release.published}
    measurements: dict[int, Measurement] = {}
    for part in answerable.rows_of_requirements(sources):
        requirements = answerable.requirements_at(part.indexes)
        reached = measured(engine, requirements, part.rows, answerable.background(part.indexes))
        measurements |= dict(zip(part.indexes, reached, strict=True))
    return measurements


def _require_released(engine: Engine, release: Release) -> None:
    if not has_checked_rows(engine, release):
        raise PrivacyViolation(
            f"the tables of {release.name} do not have the rows any more that were checked when they were made",
            hint="create it again",
        )


def _of_snapshot(engine: Engine, release: Release, answerable: AnswerableRequirements) -> dict[int, Measurement]:
    """What was measured when the snapshot was made, of the requirements that its rows alone cannot answer."""
    if not answerable.hidden:
        return {}
    if not has_checked_rows(engine, release):
        raise PrivacyViolation(
            f"{release.name} is not as it was when {_seen(answerable)} were counted, so nothing can be said of it",
            hint="create it again",
        )
    recorded = releases.measurements(engine, release)
    measurements: dict[int, Measurement] = {}
    for index in answerable.hidden:
        requirement = answerable.requirements[index]
        same = (requirement.question_name, ", ".join(requirement.attributes) or None, requirement.required)
        known = next((m for m in recorded if (m.question, m.attribute, m.required) == same), None)
        if known is None:
            raise CatalogError(
                f"release {release.name}: nothing is recorded of what it comes to in {requirement}",
                hint="rows of anon.measurement were removed: create the release again",
            )
        recorded.remove(known)
        measurements[index] = known
    return measurements


def _seen(answerable: AnswerableRequirements) -> str:
    whose = {"respondents": "its respondents", "guarding nodes": "its guarding nodes", "public table": "public rows"}
    return " and ".join(whose[part] for part in dict.fromkeys(answerable.hidden.values()))


def _of_view(engine: Engine, release: Release, answerable: AnswerableRequirements) -> dict[int, Measurement]:
    """What the live view's own query comes to in the requirements that its rows alone cannot answer."""
    if not answerable.hidden:
        return {}
    report, content = (own_object(engine, view(release.release_id)) for view in (report_view, content_view))
    if find_relation(engine, report) is None or find_relation(engine, content) is None:
        raise UserError(
            f"the views are gone by which {release.name} is checked, {report.name} and {content.name} in schema anon",
            hint="create it again with CREATE OR REPLACE ANONYMIZED VIEW",
        )
    [(expected,)] = engine.rows(exp.select(exp.Star()).from_(relation(content)))
    if not has_fingerprint(engine, [release.name], expected):
        raise PrivacyViolation(
            f"{release.name} shows other rows than those for which {_seen(answerable)} are counted",
            hint="create it again",
        )
    rows = exp.select(exp.Star()).from_(relation(report))
    return reported(engine, rows, {index: answerable.requirements[index] for index in answerable.hidden})


def check_relation(engine: Engine, statement: CheckRelation) -> tuple[PrivacyReport, tuple[BoundRequirement, ...]]:
    """Measures requirements on any table, view or query, with the statement's columns as quasi-identifiers.

    Returns the requirements, too. Without any it measures what the table comes to under every model, and how easily
    respondents are found. Raises PolicyError for a column, a hierarchy, a table of ranges or a public table that
    does not fit, and where they cannot answer a requirement.
    """
    policy = _policy(statement)
    with engine.transaction(), Scratch(engine) as scratch:
        source = bind_source(engine, policy.source, scratch)
        policy = replace(policy, requirements=_requirements(policy, source))
        public = public_source(engine, policy, scratch)
        bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="", public=public)
        bound, requirements = bind_requirements(engine, bound, source, scratch)
        try:
            taxonomies = {b.column: listed_taxonomy(engine, bound, b, requirements, scratch) for b in bound.sensitive}
            background = Background(
                taxonomies=taxonomies,
                ranges={index: exp.select(exp.Star()).from_(relation(table)) for index, table in bound.ranges},
                guards=guards_of(requirements),
                public_class=_public_class(bound, bound.public) if bound.public else None,
            )
            rows_in = checked_rows(engine, bound, scratch)
            if not statement.requirements:
                rows = rows_in([b.column for b in bound.quasi_identifiers])
                report = PrivacyReport(check_figures(engine, requirements, rows, background, scratch))
            else:
                report = PrivacyReport(_measured(engine, bound, requirements, background, rows_in))
            return report, tuple(requirements)
        except EngineError as error:
            raise PolicyError(f"{statement.source.called} cannot be checked: {error.message}") from None


def _measured(
    engine: Engine,
    bound: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    background: Background,
    rows_in: Callable[[Sequence[str]], Rows],
) -> tuple[Measurement, ...]:
    """The measurements of a relation's requirements, in their order; `rows_in` has its rows in classes of columns."""
    keys = [(b.column, b.published_type) for b in bound.quasi_identifiers]
    parts = rows_of_each(requirements, range(len(requirements)), keys, rows_in)
    measurements: dict[int, Measurement] = {}
    for part in parts:
        answered = [requirements[index] for index in part.indexes]
        for requirement in answered:
            if requirement.of_itemsets:
                require_countable(
                    engine, checked_columns(bound), list_column(requirement, keys), most_items(requirement)
                )
        measured_part = measured(engine, answered, part.rows, background.at(part.indexes))
        measurements |= dict(zip(part.indexes, measured_part, strict=True))
    return tuple(measurements[index] for index in sorted(measurements))


def _policy(statement: CheckRelation) -> Policy:
    """The policy that the statement stands for. A column named twice counts once."""
    using = {fold(name): hierarchy for name, hierarchy in statement.hierarchies}
    quasi = {fold(name): Attribute(name, Role.QUASI_IDENTIFIER) for name in statement.quasi_identifiers}
    sensitive = {fold(n): Attribute(n, Role.SENSITIVE, using.get(fold(n))) for n in statement.sensitive}
    if both := [attribute.name for name, attribute in sensitive.items() if name in quasi]:
        raise PolicyError(
            f"{statement.source.called}: {both[0]} is named as a quasi-identifier and as SENSITIVE",
            hint="a class has one value of a quasi-identifier: name the column once",
        )
    attributes = (*quasi.values(), *sensitive.values())
    return Policy("", statement.source, attributes, statement.requirements, statement.against)


def _requirements(policy: Policy, source: BoundSource) -> tuple[Requirement, ...]:
    """What the statement requires; where it requires nothing, every model that can be asked."""
    if policy.requirements:
        return tuple(map(with_names, policy.requirements))
    types = {fold(name): kind for name, kind in source.columns}
    sensitive = [
        SensitiveColumn(a.name, has_hierarchy=a.hierarchy is not None, is_nested=is_nested(types.get(fold(a.name), "")))
        for a in policy.having(Role.SENSITIVE)
    ]
    return every_model(sensitive, has_public_table=policy.against is not None)


def _public_class(bound: BoundPolicy, public: PublicTable) -> exp.Select:
    """The public table by class: class_id, n."""
    pairs = list(zip(bound.quasi_identifiers, public.columns, strict=True))
    values: dict[str, exp.Expr] = {
        b.column: cast(column(public_column), b.published_type) for b, public_column in pairs
    }
    count = alias(f.count(), "n")
    named = exp.select(alias(class_label(values), "class_id"), count).from_(relation(public.relation))
    return named.group_by(*(value.copy() for value in values.values()))
