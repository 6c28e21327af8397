"""What the confidentiality and visibility constraints of a policy must be."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.errors import PolicyError

# Roles whose values no release shows.
_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)


def validate_constraints(policy: Policy) -> None:
    """Raises PolicyError for a set that names no attribute of the policy, and for a VISIBLE set that cannot be shown.

    A set may be part of another one, which then adds nothing.
    """
    roles = {fold(attribute.name): attribute.role for attribute in policy.attributes}
    for keyword, sets in (("CONFIDENTIAL", policy.confidential), ("VISIBLE", policy.visible)):
        for columns in sets:
            _validate_set(policy, keyword, columns, roles)
    if policy.visible and not policy.confidential:
        raise PolicyError(
            f"policy {policy.name}: VISIBLE says what stays together where CONFIDENTIAL takes apart, "
            "and nothing is CONFIDENTIAL",
            hint="add CONFIDENTIAL (column, ...), or leave VISIBLE out",
        )
    for columns in policy.visible:
        _validate_visible(policy, columns, roles)


def shown_set(columns: Sequence[str]) -> str:
    """The set as a statement writes it, but without quotes."""
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
                hint="take a column out of the one or put one into the other",
            )
