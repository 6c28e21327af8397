"""CHECK of a relation: measures requirements, or every model and the risks of linkage.

ATTACK of a relation: measures an adversary's guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from sqlanon.assess.attacks.attacked import AttackAnswer, Target, attacked
from sqlanon.assess.attacks.known_people import KnownColumns
from sqlanon.assess.attacks.rules import item_rule
from sqlanon.domain.bound import BoundPolicy, PublicTable
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.release import Measurement, PrivacyReport
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError
from sqlanon.estimates.release_model import counted_table, number_column
from sqlanon.release.existing.classes import rows_of_each, rows_with_keys
from sqlanon.release.existing.statistics import statistics_of
from sqlanon.release.pipeline.check import measured
from sqlanon.sources.bind_policy import bind, hierarchies_of, public_source
from sqlanon.sources.column_types import list_column, most_items, require_countable, sensitive_items
from sqlanon.sources.requirement_columns import guards_of, listed_taxonomy
from sqlanon.sources.requirements import bind_requirements, is_nested
from sqlanon.sources.source import BoundSource, bind_source
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.further_relations import is_numeric
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.classes.rows import Rows, RowsOfRequirements, class_label, rows_of
from sqlanon.sql.questions.arguments import with_names
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.models import SensitiveColumn, every_model, figure_name
from sqlanon.sql.questions.statistics import bind_statistic, load_statistic
from sqlanon.statements.checks.attack import Attack
from sqlanon.statements.checks.check_relation import CheckRelation

# ROWS is a keyword of SQL.
_NAMES = {"row_count": "rows"}


def check_relation(engine: Engine, statement: CheckRelation) -> tuple[PrivacyReport, tuple[BoundRequirement, ...]]:
    """Measures requirements on any table, view or query, with the statement's columns as quasi-identifiers.

    Returns the report and the requirements. Without requirements, it measures the table by every model, and by the
    risks of linkage. Raises PolicyError for a wrong column, hierarchy, table of ranges or public table, and for a
    requirement that cannot be measured with them.
    """
    policy = _policy(statement)
    with engine.transaction(), TempTables(engine) as temp:
        source = bind_source(engine, policy.source, temp)
        policy = replace(policy, requirements=_requirements(policy, source))
        public = public_source(engine, policy, temp)
        bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="", public=public)
        bound, requirements = bind_requirements(engine, bound, source, temp)
        try:
            taxonomies = {b.column: listed_taxonomy(engine, bound, b, requirements, temp) for b in bound.sensitive}
            background = Background(
                taxonomies=taxonomies,
                ranges={index: select(exp.Star(), of=relation(table)) for index, table in bound.ranges},
                guards=guards_of(requirements),
                public_class=_public_class(bound, bound.public) if bound.public else None,
            )
            rows_in = checked_rows(engine, bound, temp)
            if not statement.requirements:
                rows = rows_in([b.column for b in bound.quasi_identifiers])
                report = PrivacyReport(check_figures(engine, requirements, rows, background, temp))
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
    """Measures a relation's requirements in their order; `rows_in` returns the relation's rows in classes by some
    columns.
    """
    keys = [(b.column, b.published_type) for b in bound.quasi_identifiers]
    types = {b.column: b.published_type for b in bound.sensitive}
    parts = rows_of_each(requirements, range(len(requirements)), keys, types, rows_in)
    measurements: dict[int, Measurement] = {}
    for part in parts:
        answered = [requirements[index] for index in part.indexes]
        for requirement in answered:
            if requirement.of_itemsets:
                values = [sensitive_items(column(name), types[name]) for name in requirement.attributes]
                listed = list_column(requirement, keys)
                require_countable(engine, checked_columns(bound), listed, most_items(requirement), None, *values)
        measured_part = measured(engine, answered, part.rows, background.at(part.indexes))
        measurements |= dict(zip(part.indexes, measured_part, strict=True))
    return tuple(measurements[index] for index in sorted(measurements))


def _policy(statement: CheckRelation) -> Policy:
    """Returns the policy that is equivalent to the statement. A column that is named twice in the same role counts
    once; raises PolicyError for a column in both roles.
    """
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
    """Returns the requirements of the statement; without requirements, one of every possible model."""
    if policy.requirements:
        return tuple(map(with_names, policy.requirements))
    types = {fold(name): kind for name, kind in source.columns}
    sensitive = [
        SensitiveColumn(
            a.name,
            has_hierarchy=a.hierarchy is not None,
            is_nested=is_nested(kind := types.get(fold(a.name), "")),
            is_numeric=is_numeric(kind),
        )
        for a in policy.having(Role.SENSITIVE)
    ]
    return every_model(sensitive, has_public_table=policy.against is not None)


def _public_class(bound: BoundPolicy, public: PublicTable) -> exp.Query:
    """SELECT of class_id, n: the rows of the public table in each class."""
    pairs = zip(bound.quasi_identifiers, public.columns, strict=True)
    values: dict[str, exp.Expr] = {b.column: cast(column(name), b.published_type) for b, name in pairs}
    text = 'SELECT $label AS class_id, count(*) AS n FROM "{public}" GROUP BY $values'
    names = {"public": relation(public.relation)}
    return filled_query(text, names=names, label=class_label(values), values=[*values.values()])


def check_figures(
    engine: Engine, requirements: Sequence[BoundRequirement], rows: Rows, background: Background, temp: TempTables
) -> tuple[Measurement, ...]:
    """Measures a table by the risks of linkage and by the model of each requirement.

    No measurement has a required value, because the requirements were not stated by the user.
    """
    names = ["linkage_risk"] if background.public_class is None else ["linkage_risk", "journalist_risk"]
    risks = [bind_statistic(load_statistic("figures", name), {}) for name in names]
    linkage = [
        Measurement(_NAMES.get(name, name), None, None, None if value is None else float(value), None)
        for (row,) in statistics_of(engine, risks, rows, background, temp)
        for name, value in row.items()
    ]
    models = [
        replace(measurement, question=figure_name(requirement.question), required=None, satisfied=None)
        for requirement, measurement in zip(requirements, measured(engine, requirements, rows, background), strict=True)
    ]
    return (*linkage, *models)


def checked_columns(bound: BoundPolicy) -> exp.Subquery:
    """SELECT of the rows with the column types of a release, in which ENUM becomes text."""
    columns = [alias(published_value(b), b.column) for b in bound.attributes]
    others = [column(name) for name in bound.guarding]
    return subquery(select(*columns, *others, of=relation(bound.relation)), "checked")


def checked_rows(engine: Engine, bound: BoundPolicy, temp: TempTables) -> Callable[[Sequence[str]], Rows]:
    """Returns the function that puts the rows of `checked_columns` into classes by some columns.

    On another engine, equal rows are counted there, and the counts are collected unless there are too many.
    """
    rows: exp.Table | exp.Subquery = checked_columns(bound)
    weight: exp.Column | None = None
    if not engine.reads_in_place:
        names = [*(b.column for b in bound.attributes), *bound.guarding]
        number = number_column(names)
        with suppress(TooManyRows):
            rows = relation(counted_table(rows, list(dict.fromkeys(names)), number, temp))
            weight = column(number)
    guards = {name: name for name in bound.guarding}
    return lambda keys: replace(rows_with_keys(bound, rows.copy(), keys, guards), weight=weight)


# ATTACK on any table or query.


def attack_relation(engine: Engine, statement: Attack, relation_source: Source) -> list[AttackAnswer]:
    """Returns the answers for any table or query, with classes by its quasi-identifiers. Raises the errors of
    `attacked`.
    """
    policy = _policy_attacked_relation(statement, relation_source)
    with engine.transaction(), TempTables(engine) as temp:
        source = bind_source(engine, relation_source, temp)
        bound = bind(policy, source, {}, fingerprint="")
        keys = [b.column for b in bound.quasi_identifiers]
        columns = {b.column: exp.column(b.column, quoted=True) for b in bound.sensitive}
        rows = rows_of(relation(source.relation), keys, columns)
        target = Target(
            called=relation_source.called,
            columns=source.columns,
            sensitive=dict.fromkeys(b.column for b in bound.sensitive),
            rows=lambda statistics: [RowsOfRequirements(rows, tuple(range(len(statistics))))],
            known=lambda: KnownColumns(tuple(keys), {fold(name): name for name in keys}, {}),
            made={
                "item_rule": lambda statistic, temp: item_rule(
                    engine, relation_source.called, relation(source.relation), source.columns, keys, statistic, temp
                )
            },
        )
        try:
            return attacked(engine, target, statement, temp)
        except EngineError as error:
            raise PolicyError(f"{relation_source.called} cannot be attacked: {error.message}") from None


def _policy_attacked_relation(statement: Attack, source: Source) -> Policy:
    """Returns the policy that is equivalent to the statement. A column that is named twice as a quasi-identifier counts
    once; raises PolicyError for a column in both roles.
    """
    quasi = {fold(name): Attribute(name, Role.QUASI_IDENTIFIER) for name in statement.quasi_identifiers}
    sensitive = [Attribute(name, Role.SENSITIVE) for name in statement.sensitive]
    if both := [attribute.name for attribute in sensitive if fold(attribute.name) in quasi]:
        raise PolicyError(
            f"{source.called}: {both[0]} is named as a quasi-identifier and as SENSITIVE",
            hint="a class has one value of a quasi-identifier: name the column once",
        )
    return Policy("", source, (*quasi.values(), *sensitive), ())
