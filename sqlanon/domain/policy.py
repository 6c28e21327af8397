"""A privacy policy: the role of every column, and what a release must satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from sqlanon.domain.values import Source, Value

__all__ = ["Attribute", "Policy", "Pseudonym", "Requirement", "Role"]


class Role(StrEnum):
    """What a column is to an adversary (Samarati 2001; Li et al. 2007)."""

    IDENTIFIER = "identifier"
    ENTITY = "entity"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True)
class Pseudonym:
    """Publish a keyed token in place of the value.

    `key_variable` names an environment variable that holds the key, so that tokens
    match between releases; without one each release draws a key and forgets it.
    """

    key_variable: str | None = None


@dataclass(frozen=True)
class Attribute:
    """One column of the source as the policy sees it.

    `hierarchy`, `min_level`, `max_level` (levels counted from 0, the value itself)
    and `weight` (its share in the loss, above 0) belong to quasi-identifiers; a
    sensitive attribute may name a hierarchy, which its distances use.
    """

    name: str
    role: Role
    hierarchy: str | None = None
    min_level: int | None = None
    max_level: int | None = None
    weight: Decimal = Decimal(1)
    pseudonym: Pseudonym | None = None


@dataclass(frozen=True)
class Requirement:
    """A privacy model with its arguments, as in `k_anonymity(k => 4)`."""

    model: str
    arguments: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class Policy:
    """Roles and requirements for one source. A column that it does not name is not published."""

    name: str
    source: Source
    attributes: tuple[Attribute, ...]
    requirements: tuple[Requirement, ...]

    def having(self, role: Role) -> Iterator[Attribute]:
        """The attributes with this role, in the policy's order."""
        return (attribute for attribute in self.attributes if attribute.role is role)

    @property
    def quasi_identifiers(self) -> tuple[Attribute, ...]:
        return tuple(self.having(Role.QUASI_IDENTIFIER))

    @property
    def entity(self) -> Attribute | None:
        """The attribute that names the respondent, if the policy has one."""
        return next(self.having(Role.ENTITY), None)
