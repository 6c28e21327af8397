"""What every policy must be, whether a statement or a user's own INSERT wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sqlanon.catalog._constraints import validate_constraints
from sqlanon.catalog._related_tables import validate_related
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, JoinedRelease, Pivot, Policy, Pseudonym, Requirement, Role
from sqlanon.domain.values import Source
from sqlanon.errors import PolicyError
from sqlanon.syntax.texts import name_text

# What fits the catalog's columns.
_MOST_LEVELS = 2**31 - 1
_WEIGHT_DIGITS = 12
_WEIGHT_DECIMALS = 6

_WITH_HIERARCHY = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
_WITH_PSEUDONYM = (Role.IDENTIFIER, Role.ENTITY)


def validate(policy: Policy) -> None:
    """Raises PolicyError, with what to change, unless the policy makes sense by itself.

    Whether its columns, hierarchies and models exist is for the source and the
    registry to say.
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
    _validate_attributes(policy)
    _validate_requirements(policy)
    validate_constraints(policy)


def _require_one(policy: Policy, source: Source, problem: str) -> None:
    if (source.name is None) == (source.query is None):
        raise _wrong(policy, problem, "name a table or a view, or give a query, and not both")


def _validate_attributes(policy: Policy) -> None:
    for attribute in policy.all_attributes:
        _validate_attribute(policy, attribute)
    # Where something is CONFIDENTIAL, that is what a release must satisfy.
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
    for role in (Role.ENTITY, Role.IDENTIFIER):
        for attribute in policy.having(role):
            if role is Role.ENTITY or attribute.pseudonym:
                raise _wrong(
                    policy,
                    f"with PIVOT each respondent is one row, and {attribute.name} is "
                    + ("an ENTITY" if role is Role.ENTITY else "a PSEUDONYM"),
                    f"write {name_text(attribute.name)} IDENTIFIER",
                )


def _validate_joined(policy: Policy, joined: JoinedRelease) -> None:
    """A release that shares no column matches everything, and of a column of another role nothing is generalized."""
    if not joined.columns:
        raise _wrong(policy, f"it shares no column with {joined.release}", "name the columns: ON (job)")
    quasi = {fold(attribute.name) for attribute in policy.quasi_identifiers}
    for name in joined.columns:
        if fold(name) not in quasi:
            raise _wrong(
                policy,
                f"{name}, on which {joined.release} is joined, is no quasi-identifier",
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
                f"the column {name} stands twice" + (f" ({seen[fold(name)]})" if seen[fold(name)] != name else ""),
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
    if attribute.role is not Role.QUASI_IDENTIFIER:
        if attribute.min_level is not None or attribute.max_level is not None:
            raise _wrong(
                policy, f"{name} is {role} and cannot have levels", "MIN LEVEL and MAX LEVEL belong to QUASI IDENTIFIER"
            )
        if attribute.weight != 1:
            raise _wrong(policy, f"{name} is {role} and cannot have a weight", "WEIGHT belongs to QUASI IDENTIFIER")
    if attribute.pseudonym is not None:
        _validate_pseudonym(policy, attribute, attribute.pseudonym, role)
    _validate_levels(policy, attribute)
    _validate_weight(policy, attribute)


def _validate_pseudonym(policy: Policy, attribute: Attribute, pseudonym: Pseudonym, role: str) -> None:
    if attribute.role not in _WITH_PSEUDONYM:
        raise _wrong(
            policy,
            f"{attribute.name} is {role} and cannot be a pseudonym",
            "PSEUDONYM belongs to IDENTIFIER and ENTITY",
        )
    if pseudonym.key_variable == "":
        raise _wrong(
            policy,
            f"the key of {attribute.name} has no name",
            "name the environment variable that holds the key, or none",
        )


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
