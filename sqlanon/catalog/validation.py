"""Validates policies, whether a statement or a user's own INSERT wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from sqlanon.catalog.in_place import clause_of, validate_in_place
from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.policy import Attribute, JoinedRelease, Pivot, Policy, RelatedTable, Requirement, Role
from sqlanon.domain.values import Source
from sqlanon.errors import PolicyError
from sqlanon.syntax.texts import name_text

# The largest values that fit the catalog's columns.
_MOST_LEVELS = 2**31 - 1
_MOST_PEOPLE = 10**12
_WEIGHT_DIGITS = 12
_WEIGHT_DECIMALS = 6

_WITH_HIERARCHY = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def validate(policy: Policy) -> None:
    """Raises PolicyError, with the remedy, for a contradictory policy.

    Whether its columns, hierarchies and models exist is checked elsewhere, by the source and the registry.
    """
    if not policy.name:
        raise PolicyError("a policy needs a name")
    _require_one(policy, policy.source, "it needs one source")
    if policy.against is not None:
        _require_one(policy, policy.against, "AGAINST needs one public table")
    _require_unique(policy, (a.name for a in policy.attributes))
    if policy.related:
        validate_related(policy)
    if policy.pivot is not None:
        _validate_pivot(policy, policy.pivot)
    if policy.joined is not None:
        _validate_joined(policy, policy.joined)
    _validate_sample(policy)
    _validate_attributes(policy)
    _validate_requirements(policy)
    validate_constraints(policy)


def _require_one(policy: Policy, source: Source, problem: str) -> None:
    if (source.name is None) == (source.query is None):
        raise _wrong(policy, problem, "name a table or a view, or give a query, and not both")


def _validate_attributes(policy: Policy) -> None:
    for attribute in policy.all_attributes:
        _validate_attribute(policy, attribute)
    # A CONFIDENTIAL set is a requirement of its own.
    if not any(a.role is Role.QUASI_IDENTIFIER for a in policy.all_attributes) and not policy.confidential:
        raise _wrong(
            policy,
            "it has no quasi-identifier",
            "mark the columns by which respondents could be found again as QUASI IDENTIFIER",
        )
    entities = [a.name for a in policy.having(Role.ENTITY)]
    if len(entities) > 1:
        raise _wrong(
            policy, f"{' and '.join(entities)} are each an ENTITY", "keep one; make the others IDENTIFIER or drop them"
        )


def _validate_sample(policy: Policy) -> None:
    """Raises PolicyError for two columns of weights, for weights of another role, and for an invalid fraction."""
    weights = [attribute for attribute in policy.all_attributes if attribute.sampling_weight]
    if len(weights) > 1:
        names = " and ".join(attribute.name for attribute in weights)
        raise _wrong(policy, f"{names} are each a SAMPLING WEIGHT", "keep the one that the sample was weighted by")
    for attribute in weights:
        if attribute.role is not Role.INSENSITIVE or attribute.is_shifted:
            role = attribute.role.replace("_", " ").upper()
            raise _wrong(
                policy,
                f"{attribute.name} is {role}, and a weight is published as the source has it",
                f"write {name_text(attribute.name)} INSENSITIVE SAMPLING WEIGHT",
            )
        if attribute not in policy.attributes or policy.pivot:
            raise _wrong(
                policy,
                f"{attribute.name} is a SAMPLING WEIGHT, and is not a column of a source with one row for each person",
                "join the weights to the source in a query, ON (SELECT ...)",
            )
    if policy.sample is None:
        return
    fraction, people = policy.sample.fraction, policy.sample.people
    if (fraction is None) == (people is None):
        raise _wrong(policy, "a sample has a fraction or a number of people", "write SAMPLE FRACTION 0.02")
    if fraction is not None and not (fraction.is_finite() and 0 < fraction <= 1):
        raise _wrong(policy, f"the sampling fraction is {fraction}", "write one above 0 and up to 1: 0.02 or 2 %")
    if people is not None and not 1 <= people <= _MOST_PEOPLE:
        raise _wrong(policy, f"it is a sample of {people} people", f"write a number from 1 to {_MOST_PEOPLE:,}")


def _validate_requirements(policy: Policy) -> None:
    if not policy.requirements and not policy.confidential:
        raise _wrong(policy, "it requires nothing", "add REQUIRE k_anonymity(k => 5), or another model")
    for requirement in policy.requirements:
        _validate_requirement(policy, requirement)
    subjects = [requirement.subject for requirement in policy.requirements]
    for index, requirement in enumerate(policy.requirements):
        if requirement.subject in subjects[:index]:
            hint = f"keep one {requirement.model}(...), with the stricter of each number"
            raise _wrong(policy, f"{requirement.model} is required twice", hint)


def _validate_pivot(policy: Policy, pivot: Pivot) -> None:
    respondents = [attribute.name for attribute in policy.having(Role.IDENTIFIER)]
    if not respondents:
        raise _wrong(
            policy,
            "PIVOT needs a column that names the respondent",
            "mark the column that says whose a rating is as IDENTIFIER",
        )
    _require_unique(policy, (*respondents, pivot.item, pivot.rating))
    for attribute in policy.attributes:
        is_entity = attribute.role is Role.ENTITY
        if is_entity or attribute.pseudonym:
            raise _wrong(
                policy,
                f"with PIVOT each respondent is one row, and {attribute.name} is "
                + ("an ENTITY" if is_entity else f"a {clause_of(attribute)}"),
                "leave SHIFT out" if attribute.is_shifted else f"write {name_text(attribute.name)} IDENTIFIER",
            )


def _validate_joined(policy: Policy, joined: JoinedRelease) -> None:
    """Raises PolicyError for a joined release that shares no column, or shares a column that is not a
    quasi-identifier.
    """
    if not joined.columns:
        raise _wrong(policy, f"it shares no column with {joined.release}", "name the columns: ON (job)")
    quasi = {fold(attribute.name) for attribute in policy.quasi_identifiers}
    for name in joined.columns:
        if fold(name) not in quasi:
            raise _wrong(
                policy,
                f"{name}, on which {joined.release} is joined, is not a quasi-identifier",
                "a reader who can join on a column knows it of a person: make it a QUASI IDENTIFIER",
            )


def _wrong(policy: Policy, problem: str, hint: str) -> PolicyError:
    return PolicyError(f"policy {policy.name}: {problem}", hint=hint)


def _require_unique(policy: Policy, names: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if not name:
            raise _wrong(policy, "an attribute has no name", "name the column of the source")
        if fold(name) in seen:
            raise _wrong(
                policy,
                f"the column {name} is named twice" + (f" ({seen[fold(name)]})" if seen[fold(name)] != name else ""),
                "give each column one role; upper and lower case are the same column",
            )
        seen[fold(name)] = name


def _validate_attribute(policy: Policy, attribute: Attribute) -> None:
    name, role = attribute.name, attribute.role.replace("_", " ").upper()
    if attribute.hierarchy is not None and attribute.role not in _WITH_HIERARCHY:
        raise _wrong(
            policy, f"{name} is {role} and cannot use a hierarchy", "USING belongs to QUASI IDENTIFIER and SENSITIVE"
        )
    if attribute.hierarchy == "":
        raise _wrong(policy, f"{name} uses a hierarchy without a name", "name the hierarchy, or leave USING out")
    _validate_labels(policy, attribute, role)
    if attribute.role is not Role.QUASI_IDENTIFIER:
        has_least = attribute.min_level is not None and attribute.role is not Role.SENSITIVE
        if has_least or attribute.max_level is not None:
            raise _wrong(
                policy,
                f"{name} is {role} and cannot have levels",
                "MIN LEVEL belongs to QUASI IDENTIFIER and SENSITIVE, MAX LEVEL to QUASI IDENTIFIER",
            )
        if attribute.weight != 1:
            raise _wrong(policy, f"{name} is {role} and cannot have a weight", "WEIGHT belongs to QUASI IDENTIFIER")
    if attribute.pseudonym is not None:
        validate_in_place(policy, attribute, attribute.pseudonym, role)
    _validate_levels(policy, attribute)
    _validate_weight(policy, attribute)


def _validate_labels(policy: Policy, attribute: Attribute, role: str) -> None:
    """Raises PolicyError for a sensitive attribute whose labels cannot be published, and for HIDE of an attribute with
    another role.
    """
    name = attribute.name
    if attribute.hide and attribute.role is not Role.SENSITIVE:
        raise _wrong(policy, f"{name} is {role} and cannot hide nodes", "HIDE belongs to SENSITIVE")
    if attribute.role is not Role.SENSITIVE:
        return
    clause = "HIDE" if attribute.hide else "MIN LEVEL"
    if (attribute.hide or attribute.min_level is not None) and attribute.hierarchy is None:
        raise _wrong(
            policy,
            f"{name} has {clause} and no hierarchy",
            f"name one: {name_text(name)} SENSITIVE USING hierarchy {clause} ...",
        )
    if attribute.hide and attribute.min_level is not None:
        raise _wrong(
            policy,
            f"{name} has MIN LEVEL and HIDE",
            "keep one: MIN LEVEL makes labels of all values, HIDE of those beside the nodes that it names",
        )
    if len(set(attribute.hide)) < len(attribute.hide):
        raise _wrong(policy, f"{name} hides a node twice", "name each node once behind HIDE")
    if attribute.is_coarse and policy.pivot is not None:
        raise _wrong(
            policy,
            f"{name} has {clause}, and PIVOT makes columns of ratings, which have no labels",
            f"leave {clause} out, or pivot the table in a query, ON (SELECT ...)",
        )
    if attribute.is_coarse and attribute.pseudonym is not None:
        raise _wrong(policy, f"{name} has {clause} and SHIFT", "keep one: shifted dates have no labels")


def _validate_levels(policy: Policy, attribute: Attribute) -> None:
    low, high = attribute.min_level, attribute.max_level
    for level in (low, high):
        if level is not None and not 0 <= level <= _MOST_LEVELS:
            raise _wrong(
                policy, f"{attribute.name} has no level {level}", "levels are counted from 0, the value itself"
            )
    if low is not None and high is not None and low > high:
        raise _wrong(
            policy,
            f"{attribute.name} has MIN LEVEL {low} above MAX LEVEL {high}",
            "the least level may be at most the greatest",
        )


def _validate_weight(policy: Policy, attribute: Attribute) -> None:
    weight = attribute.weight
    if not weight.is_finite() or weight <= 0:
        raise _wrong(policy, f"the weight of {attribute.name} is {weight}", "a weight must be above 0")
    is_exact = -_WEIGHT_DECIMALS <= weight.adjusted() < _WEIGHT_DIGITS
    if not is_exact or 10**_WEIGHT_DECIMALS % Fraction(weight).denominator:
        raise _wrong(
            policy,
            f"the weight of {attribute.name} cannot be kept exactly",
            f"write it with at most {_WEIGHT_DIGITS} digits before the point and {_WEIGHT_DECIMALS} after it",
        )


def _validate_requirement(policy: Policy, requirement: Requirement) -> None:
    if not requirement.model:
        raise _wrong(policy, "a requirement names no model", "name a model, such as k_anonymity")
    names = [fold(name) for name, _ in requirement.arguments]
    if len(set(names)) < len(names):
        raise _wrong(policy, f"an argument of {requirement.model} is given twice", "keep one of them")


# Validates the confidentiality and visibility constraints of a policy.

# Roles whose values no release shows.
_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)


def validate_constraints(policy: Policy) -> None:
    """Raises PolicyError for a set with a name that is not an attribute of the policy, and for a VISIBLE set that
    cannot be shown.

    A set may be part of another set, although it then adds nothing.
    """
    roles = {fold(attribute.name): attribute.role for attribute in policy.attributes}
    for keyword, sets in (("CONFIDENTIAL", policy.confidential), ("VISIBLE", policy.visible)):
        for columns in sets:
            _validate_set(policy, keyword, columns, roles)
    if policy.visible and not policy.confidential:
        raise PolicyError(
            f"policy {policy.name}: VISIBLE has no effect without CONFIDENTIAL",
            hint="add CONFIDENTIAL (column, ...), or leave VISIBLE out",
        )
    for columns in policy.visible:
        _validate_visible(policy, columns, roles)


def shown_set(columns: Sequence[str]) -> str:
    """Returns the set as a statement writes it, but without quotes."""
    return f"({', '.join(columns)})"


def _validate_set(policy: Policy, keyword: str, columns: Sequence[str], roles: dict[str, Role]) -> None:
    named = f"policy {policy.name}: {keyword} {shown_set(columns)}"
    if not columns:
        raise PolicyError(f"{named} names no column", hint="name a column, or several")
    for index, name in enumerate(columns):
        if fold(name) not in roles:
            raise PolicyError(
                f"{named}: the policy has no column {name}",
                hint=f"it has {', '.join(attribute.name for attribute in policy.attributes)}",
            )
        if fold(name) in map(fold, columns[:index]):
            raise PolicyError(
                f"{named} names {name} twice", hint="name it once; upper and lower case are the same column"
            )


def _validate_visible(policy: Policy, columns: Sequence[str], roles: dict[str, Role]) -> None:
    named = f"policy {policy.name}: VISIBLE {shown_set(columns)}"
    for name in columns:
        if roles[fold(name)] in _HIDDEN:
            role = roles[fold(name)].upper()
            raise PolicyError(
                f"{named}: {name} is {role}, which no release shows",
                hint="take it out of the set, or give the column another role",
            )
    published = set(map(fold, columns))
    for other in policy.confidential:
        if published.issuperset(map(fold, other)):
            raise PolicyError(
                f"{named} shows together what CONFIDENTIAL {shown_set(other)} keeps apart",
                hint="remove a column from VISIBLE, or add a column to CONFIDENTIAL",
            )


def validate_related(policy: Policy) -> None:
    """Raises PolicyError for a policy that cannot have related tables, and for tables that cannot be related.

    All attributes of a policy have different names, and so do its tables, because releases and requirements refer to
    them by name.
    """
    _require_alone(policy)
    _require_entity(policy)
    tables = {fold(policy.table_names[0]): "the source"}
    columns = {fold(attribute.name) for attribute in policy.attributes}
    for table in policy.related:
        _validate_table(policy, table)
        if fold(table.name) in tables:
            raise _wrong_table(
                policy,
                f"{tables[fold(table.name)]} and a related table are both called {table.name}",
                f"tell them apart: WITH TABLE ... AS another_name ON ({name_text(table.key)}) (...)",
                ("table", table.name),
            )
        tables[fold(table.name)] = "a related table"
        for attribute in table.attributes:
            if fold(attribute.name) in columns:
                raise _wrong_table(
                    policy,
                    f"two columns are called {attribute.name}, one of them in {table.name}",
                    f"rename one in a query: WITH TABLE (SELECT {name_text(attribute.name)} AS ..., ...) AS "
                    f"{name_text(table.name)}",
                    ("column", attribute.name),
                )
            columns.add(fold(attribute.name))


def _require_alone(policy: Policy) -> None:
    """Raises PolicyError for a policy with related tables that has a clause for a single table."""
    if policy.pivot is not None:
        raise _wrong_table(
            policy,
            "PIVOT makes a column of what is in rows, and WITH TABLE leaves it in rows",
            "take WITH TABLE for the long table, or pivot it in a query, ON (SELECT ...)",
            ("pivot", policy.pivot.item),
        )
    if policy.confidential or policy.visible:
        raise _wrong_table(
            policy,
            "CONFIDENTIAL takes the columns of one table apart, and WITH TABLE names several that are linked",
            "leave CONFIDENTIAL and VISIBLE out, or join the tables in a query, ON (SELECT ...)",
            ("set", *(*policy.confidential, *policy.visible)[0][:1]),
        )
    if policy.joined is not None:
        raise _wrong_table(
            policy,
            "JOINED WITH RELEASE is about the rows of one table, and WITH TABLE names several",
            "leave one of the two out, or join the tables in a query, ON (SELECT ...)",
            ("other",),
        )
    if policy.against is not None:
        raise _wrong_table(
            policy,
            f"the people of the public table {policy.against.called} have no rows in {policy.related[0].name}, by "
            "which the two are compared",
            "leave AGAINST out, or WITH TABLE",
            ("public table",),
        )


def _require_entity(policy: Policy) -> None:
    table, entity = policy.related[0], policy.entity
    if entity is None:
        raise _wrong_table(
            policy,
            f"{table.name} has rows of respondents, and no column of the source says who these are",
            f"mark the one whose values {table.key} has as ENTITY",
            ("table", table.name),
        )
    if entity.pseudonym is not None:
        raise _wrong_table(
            policy,
            f"{entity.name} cannot be a {clause_of(entity)}: the published tables are linked by a number that is "
            "random in each release",
            f"write {name_text(entity.name)} ENTITY",
            ("column", entity.name),
        )


def _validate_table(policy: Policy, table: RelatedTable) -> None:
    if not table.name:
        raise _wrong_table(policy, "a related table has no name", "name it: WITH TABLE ... AS visits")
    about = ("table", table.name)
    if (table.source.name is None) == (table.source.query is None):
        raise _wrong_table(
            policy, f"{table.name} needs one source", "name a table or a view, or give a query, and not both", about
        )
    if not table.key:
        raise _wrong_table(
            policy,
            f"no column of {table.name} says whose its rows are",
            f"name the one with the values of the ENTITY: WITH TABLE {name_text(table.name)} ON (patient) (...)",
            about,
        )
    if not table.attributes:
        raise _wrong_table(
            policy, f"no column of {table.name} has a role", "give one a role, or leave the table out", about
        )
    for attribute in table.attributes:
        if attribute.role is Role.ENTITY:
            raise _wrong_table(
                policy,
                f"{attribute.name} of {table.name} is an ENTITY, which must be a column of the source",
                f"its column with the values of the ENTITY is {table.key}, which needs no role",
                ("column", attribute.name),
            )
        if same_name(attribute.name, table.key):
            raise _wrong_table(
                policy,
                f"{attribute.name} says whose a row of {table.name} is, and is never published",
                f"leave it out of the columns of {table.name}",
                ("column", attribute.name),
            )


def _wrong_table(policy: Policy, problem: str, hint: str, part: tuple[str, ...] = ()) -> PolicyError:
    return PolicyError(f"policy {policy.name}: {problem}", hint=hint, part=part)
