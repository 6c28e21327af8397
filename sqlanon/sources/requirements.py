"""Stages 2 and 3 of requirements: finds the columns, hierarchies and tables that each of them needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, about
from sqlanon.sources.catalog_entries import kept_name
from sqlanon.sources.column_types import item_type, list_column, without_enums
from sqlanon.sources.joins import bind_joined, is_of_join, of_classes, of_join
from sqlanon.sources.listed_values import bind_listed
from sqlanon.sources.source import BoundSource
from sqlanon.sources.weights import require_weights
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import is_not_null
from sqlanon.sql.build.names import column, identifier, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.classes.further_relations import OF_NUMBERS, is_numeric
from sqlanon.sql.classes.supersets import MOST_VECTORS, SUPERSET, vectors_above
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement
from sqlanon.sql.questions.load import questions_of

# Normal relations that need more than the source's rows.
_OF_HIERARCHY = ("sensitive_ancestor", "guarding_node")
_OF_PUBLIC_TABLE = "public_class"
# Types whose values contain several values.
_NESTED = ("STRUCT", "MAP", "UNION", "VARIANT")
# Roles in which a column may hold guarding nodes. Such a column is published unchanged, or not at all.
_GUARDING = (Role.INSENSITIVE, Role.IDENTIFIER)


def resolve_requirements(
    policy: Policy,
    sensitive: Sequence[str] | None = None,
    promised: Sequence[Requirement] = (),
    weights: Sequence[str] | None = None,
) -> tuple[BoundRequirement, ...]:
    """Returns the policy's requirements of classes, with one for each sensitive attribute that a requirement protects.

    The requirements that a method has `promised` by itself follow. `sensitive` are the columns of the sensitive
    attributes of all tables in the policy's order, by default as the policy spells them, and `weights` is the column of
    the sampling weights, if there is one. Raises the errors of `bind_requirement`, and PolicyError if a requirement
    needs a hierarchy, a public table or a joined release that the policy does not name, for a public table or a joined
    release that no requirement reads, and for a quasi-identifier that no requirement covers.
    """
    bind_joined(of_join(policy))
    attributes = policy.all_having(Role.SENSITIVE)
    columns = [a.name for a in attributes] if sensitive is None else sensitive
    quasi = [a.name for a in policy.all_having(Role.QUASI_IDENTIFIER)]
    _require_true_values(policy, columns, quasi)
    several = columns[len(tuple(policy.having(Role.SENSITIVE))) :] if policy.related else None
    by_column = dict(zip(columns, attributes, strict=True))
    bound = [
        bound_requirement
        for requirement in of_classes(policy.requirements)
        for bound_requirement in bind_requirement(
            _of_sample(policy, requirement), columns, quasi, several, _weights(policy, weights)
        )
    ]
    _require_covered(policy, bound, quasi)
    # A promise that the policy also requires is kept once.
    of_method = [
        bound_requirement
        for requirement in promised
        for bound_requirement in bind_requirement(requirement, columns, several=several)
    ]
    bound += [bound_requirement for bound_requirement in of_method if bound_requirement not in bound]
    for requirement in bound:
        _require_hierarchies(policy, requirement, by_column)
    _require_public_table(policy, bound)
    return tuple(bound)


# The argument that SAMPLE FRACTION of a policy sets.
_FRACTION = "sampling_fraction"


def _of_sample(policy: Policy, requirement: Requirement) -> Requirement:
    """Returns the requirement with the policy's sampling fraction, if it takes a fraction and does not name one.

    Raises PolicyError if the policy states a number of people, because the fraction would change with each row.
    """
    with about("requirement", requirement.model):
        takes = any(parameter.of_policy for q in questions_of(requirement.model) for parameter in q.parameters)
    if policy.sample is None or not takes or _FRACTION in map(fold, dict(requirement.arguments)):
        return requirement
    if policy.sample.fraction is None:
        raise PolicyError(
            f"{policy}: {requirement.model} needs a sampling fraction, and SAMPLE OF {policy.sample.people} would "
            "change the fraction with the number of rows",
            hint=f"write the share of the {policy.sample.people} people who are in the source: SAMPLE FRACTION share, "
            f"or {_FRACTION} => share in {requirement.model}",
            part=("requirement", requirement.model),
        )
    return replace(requirement, arguments=(*requirement.arguments, (_FRACTION, policy.sample.fraction)))


def _weights(policy: Policy, spelled: Sequence[str] | None = None) -> Sequence[str] | None:
    """Returns the column of sampling weights; None for the columns of a CHECK, because any sensitive column may have
    weights.
    """
    weight = policy.sampling_weight
    if spelled is not None or not policy.name:
        return spelled or None
    return [] if weight is None else [weight.name]


def _require_true_values(policy: Policy, sensitive: Sequence[str], quasi: Sequence[str]) -> None:
    """Raises PolicyError for a requirement on shifted dates, because false dates would decide whether it is
    satisfied.
    """
    shifted = [a.name for a in policy.all_attributes if a.role is Role.SENSITIVE and a.is_shifted]
    if not shifted:
        return
    for requirement in of_classes(policy.requirements):
        for bound in bind_requirement(
            _of_sample(policy, requirement), [*sensitive, *shifted], quasi, weights=_weights(policy)
        ):
            for name in shifted:
                if name in bound.attributes:
                    other = f"name another column, attribute => {sensitive[0]}, or " if sensitive else ""
                    raise PolicyError(
                        f"{policy}: {bound} would count shifted dates, which are not true",
                        hint=f"{other}write {name} INSENSITIVE SHIFT (...)",
                        part=("column", name, "shift"),
                    )


def _require_covered(policy: Policy, requirements: Sequence[BoundRequirement], quasi: Sequence[str]) -> None:
    """Raises PolicyError for a quasi-identifier that no requirement covers, because its values could identify
    people.
    """
    covered = {name for requirement in requirements for name in requirement.on or quasi}
    if requirements and (missing := [name for name in quasi if name not in covered]):
        raise PolicyError(
            f"{policy}: no requirement is on {', '.join(missing)}, which others may know",
            hint=f"add {missing[0]} to the columns of an on => (...), or a requirement without on, which is on all",
        )


def _require_hierarchies(policy: Policy, requirement: BoundRequirement, sensitive: Mapping[str, Attribute]) -> None:
    listed = [parameter.name for parameter in requirement.question.parameters if parameter.type == "RELATION"]
    for name in requirement.attributes if listed else ():
        if sensitive[name].is_coarse:
            raise PolicyError(
                f"{policy}: {requirement} reads a table of values of {name}, but labels replace these values",
                hint=f"leave MIN LEVEL and HIDE of {name} out, or choose a requirement without a table",
                part=("column", name),
            )
    if not any(relation in requirement.reads for relation in _OF_HIERARCHY):
        return
    for name in requirement.attributes:
        if sensitive[name].is_coarse:
            raise PolicyError(
                f"{policy}: {requirement} compares values by their hierarchy, but {name} is published as labels, "
                "which have no hierarchy",
                hint=f"leave MIN LEVEL and HIDE of {name} out, or choose a requirement without a hierarchy",
                part=("column", name),
            )
        if not sensitive[name].hierarchy:
            raise PolicyError(
                f"{policy}: {requirement} needs a hierarchy of the values of {name}",
                hint=f"name one: {name} SENSITIVE USING hierarchy",
            )


def _require_public_table(policy: Policy, requirements: Sequence[BoundRequirement]) -> None:
    asking = [requirement for requirement in requirements if _OF_PUBLIC_TABLE in requirement.reads]
    if asking and policy.against is None:
        raise PolicyError(
            f"{policy}: {asking[0]} compares with a public table, and there is none",
            hint="name the table of all people among whom a respondent may be: AGAINST voters, before REQUIRE",
        )
    if policy.against is not None and not asking:
        raise PolicyError(
            f"{policy}: no requirement uses the public table {policy.against.called}",
            hint="require k_map(k => 5) or delta_presence(min => 0, max => 0.5), or leave AGAINST out",
        )


def bind_requirements(
    engine: Engine, bound: BoundPolicy, source: BoundSource, temp: TempTables, promised: Sequence[Requirement] = ()
) -> tuple[BoundPolicy, tuple[BoundRequirement, ...]]:
    """Returns the policy with the tables that its requirements need besides the source, and its bound requirements.

    A column that holds guarding nodes becomes an argument in the source's spelling. Raises the errors of
    `resolve_requirements` and `bind_listed`, and PolicyError for values that a requirement cannot compare, and for a
    column that cannot have guarding nodes.
    """
    of_policy = tuple(attribute.column for attribute in bound.all_sensitive)
    weights = [attribute.column for attribute in bound.attributes if attribute.attribute.sampling_weight]
    requirements = resolve_requirements(bound.policy, of_policy, promised, weights or None)
    sensitive = {attribute.column: attribute for attribute in (*bound.all_sensitive, *bound.counted)}
    require_weights(engine, bound)
    _require_one_row_each(engine, bound, requirements)
    _require_broader_classes(engine, bound, requirements)
    bound = _below_broader_classes(bound, requirements)
    guarding: list[str] = []
    ranges: list[tuple[int, QualifiedName]] = []
    bound_requirements: list[BoundRequirement] = []
    for index, requirement in enumerate(requirements):
        if requirement.of_itemsets:
            list_column(requirement, [(b.column, b.published_type) for b in bound.quasi_identifiers])
        if not requirement.question.joint:
            _require_plain_values(bound.policy, requirement, sensitive)
        if OF_NUMBERS in requirement.reads:
            _require_numbers(bound.policy, requirement, sensitive)
        for name, named in _arguments_of_kind(requirement, "COLUMN"):
            column = _guarding_column(bound, source.columns, requirement, named.name)
            guarding.append(column)
            requirement = _with_argument(requirement, name, QualifiedName((column,)))
        for name, named in _arguments_of_kind(requirement, "RELATION"):
            (attribute,) = requirement.attributes
            columns = requirement.question.parameter(name).columns
            ranges.append((index, bind_listed(columns, engine, named, sensitive[attribute], temp, bound)))
        bound_requirements.append(requirement)
    return replace(bound, guarding=tuple(dict.fromkeys(guarding)), ranges=tuple(ranges)), tuple(bound_requirements)


def _require_one_row_each(engine: Engine, bound: BoundPolicy, requirements: Sequence[BoundRequirement]) -> None:
    """Raises PolicyError if a respondent has several rows and a requirement assumes one value for each respondent."""
    asking = [requirement for requirement in requirements if requirement.question.one_row_each]
    if not asking or bound.entity is None:
        return
    entity = bound.entity.column
    several = select(column(entity), of=relation(bound.relation), where=[is_not_null(column(entity))])
    several = extend(several, group_by=[column(entity)], having=f.count() > 1)
    respondents = int(engine.rows(select(f.count(), of=subquery(several, "several")))[0][0])
    if respondents:
        raise PolicyError(
            f"{bound.policy}: {asking[0].question.model} needs one row for each respondent, but "
            f"{counted(respondents, 'value')} of {entity} {'is' if respondents == 1 else 'are'} in several rows",
            hint=f"keep one row of each in a query, ON (SELECT DISTINCT ON ({to_sql(identifier(entity))}) ...)",
            part=("requirement", asking[0].question.model),
        )


def _require_broader_classes(engine: Engine, bound: BoundPolicy, requirements: Sequence[BoundRequirement]) -> None:
    """Raises PolicyError if no class has a broader class of the required size, or if classes have too many broader
    classes.
    """
    asking = [requirement for requirement in requirements if SUPERSET in requirement.reads]
    if not asking:
        return
    model = asking[0].question.model
    vectors = vectors_above([attribute.height for attribute in bound.quasi_identifiers])
    if vectors > MOST_VECTORS and any(requirement.within is None for requirement in asking):
        raise PolicyError(
            f"{bound.policy}: {model} compares each class with classes of {vectors} vectors of broader labels, "
            f"more than {MOST_VECTORS}",
            hint="give the quasi-identifiers hierarchies with fewer levels, or name fewer of them",
            part=("requirement", model),
        )
    rows = int(engine.rows(select(f.count(), of=relation(bound.relation)))[0][0])
    for requirement in asking:
        least = dict(requirement.arguments).get("n")
        if rows and isinstance(least, int) and least > rows:
            raise PolicyError(
                f"{bound.policy}: {requirement} compares with classes of {least} rows or more, and there are {rows} "
                "rows in all",
                hint=f"write n => {rows} or less; with all rows it is t_closeness",
                part=("requirement", model, "n"),
            )


def _below_broader_classes(bound: BoundPolicy, requirements: Sequence[BoundRequirement]) -> BoundPolicy:
    """Returns the policy with levels limited to the levels of the broader classes that requirements name.

    Above such a level, no broader class would contain a class. Raises PolicyError for a level that the column does not
    have below `*`, or that is below its minimum level.
    """
    attributes = list(bound.attributes)
    for requirement in requirements:
        levels = {fold(name): level for name, level in requirement.within or ()}
        for index, attribute in enumerate(attributes):
            if (level := levels.get(fold(attribute.attribute.name))) is None:
                continue
            about = ("requirement", requirement.question.model, "within")
            if level >= attribute.height:
                raise PolicyError(
                    f"{bound.policy}: {requirement} names level {level} of {attribute.column}, which has labels up to "
                    f"level {attribute.height - 1}, and * above them",
                    hint=f"write a level from {attribute.min_level} to {attribute.height - 1}; a column that is left "
                    "out is *",
                    part=about,
                )
            if level < attribute.min_level:
                raise PolicyError(
                    f"{bound.policy}: {requirement} names level {level} of {attribute.column}, whose MIN LEVEL is "
                    f"{attribute.min_level}, so that no class would be in one of these",
                    hint=f"write {attribute.column} LEVEL {attribute.min_level} or more",
                    part=about,
                )
            attributes[index] = replace(attribute, max_level=min(level, attribute.max_level))
    return replace(bound, attributes=tuple(attributes))


def with_bound_relations(engine: Engine, policy: Policy) -> Policy:
    """Returns the policy with full names, at least with the schema, for the tables that its requirements read.

    If rows are on another engine, names stay unchanged.
    """
    if not engine.shares_names:
        return policy
    with_names = (known if is_of_join(known) else _with_kept_names(engine, known) for known in policy.requirements)
    return replace(policy, requirements=tuple(with_names))


def _with_kept_names(engine: Engine, requirement: Requirement) -> Requirement:
    parameters = (parameter for question in questions_of(requirement.model) for parameter in question.parameters)
    relations = {parameter.name for parameter in parameters if parameter.type == "RELATION"}
    arguments = (
        (name, kept_name(engine, value) if name in relations and isinstance(value, QualifiedName) else value)
        for name, value in requirement.arguments
    )
    return replace(requirement, arguments=tuple(arguments))


def _arguments_of_kind(requirement: BoundRequirement, kind: str) -> list[tuple[str, QualifiedName]]:
    """Returns the arguments that name a COLUMN, or a RELATION."""
    of_kind = [parameter.name for parameter in requirement.question.parameters if parameter.type == kind]
    return [
        (name, value) for name, value in requirement.arguments if name in of_kind and isinstance(value, QualifiedName)
    ]


def _with_argument(requirement: BoundRequirement, name: str, value: QualifiedName) -> BoundRequirement:
    arguments = tuple((known, value if known == name else argument) for known, argument in requirement.arguments)
    return replace(requirement, arguments=arguments)


def is_nested(column_type: str) -> bool:
    """Whether the values of a type contain other values, as lists and structs do."""
    return column_type.endswith("]") or column_type.startswith(_NESTED)


def _require_plain_values(
    policy: Policy, requirement: BoundRequirement, sensitive: Mapping[str, BoundAttribute]
) -> None:
    """Raises PolicyError for a sensitive attribute of lists, structs or maps, if the requirement's model sorts or looks
    up values.

    A model of the items in lists also takes lists of single values.
    """
    for name in requirement.attributes:
        kind = sensitive[name].published_type
        if is_nested(item_type(kind) if requirement.of_itemsets else kind):
            needed = "single values or lists of them" if requirement.of_itemsets else "single values"
            raise PolicyError(
                f"{policy}: {requirement} needs {needed}, and {name} holds {kind}",
                hint="take one value out of it in the source, ON (SELECT ...)",
            )


def _require_numbers(policy: Policy, requirement: BoundRequirement, sensitive: Mapping[str, BoundAttribute]) -> None:
    """Raises PolicyError for a sensitive attribute whose values have no distance: text, times of day, booleans."""
    for name in requirement.attributes:
        if not is_numeric(kind := sensitive[name].published_type):
            raise PolicyError(
                f"{policy}: {requirement} needs numbers, dates or timestamps, and {name} holds {kind}",
                hint=f"cast it in the source, ON (SELECT CAST({name} AS DOUBLE) AS {name}, ...), or name another "
                "sensitive attribute: attribute => salary",
            )


def _guarding_column(bound: BoundPolicy, columns: Sequence[Column], requirement: BoundRequirement, name: str) -> str:
    """Returns the source's column of guarding nodes (Xiao and Tao 2006), in the source's spelling.

    A guarding node is the node that a respondent wants hidden. The column cannot be a quasi-identifier, which would be
    recoded, so that the respondents' wishes would divide classes; it cannot be a sensitive attribute, which the
    requirement would protect; and it cannot be the entity, which names a person.
    """
    match = next(((column_name, kind) for column_name, kind in columns if fold(column_name) == fold(name)), None)
    if match is None:
        raise PolicyError(
            f"{bound.policy}: {requirement} needs a column {name} of guarding nodes, which the source "
            f"{bound.policy.source.called} does not have",
            hint=f"it has {', '.join(column_name for column_name, _ in columns)}",
        )
    column, kind = match
    role = next((attribute.role for attribute in bound.attributes if attribute.column == column), None)
    if role is not None and role not in _GUARDING:
        raise PolicyError(
            f"{bound.policy}: {column} holds guarding nodes and is {role.replace('_', ' ').upper()}",
            hint=f"leave {column} out of the policy, or make it INSENSITIVE to publish the nodes",
        )
    if without_enums(kind) != "VARCHAR":
        raise PolicyError(
            f"{bound.policy}: {column} is to hold guarding nodes, labels of a hierarchy, and is of type {kind}",
            hint="cast it to VARCHAR in the source, ON (SELECT ...)",
        )
    return column
