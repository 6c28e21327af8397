"""A policy bound to its source: typed columns, heights of hierarchies, levels allowed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.values import QualifiedName

__all__ = ["BoundAttribute", "BoundPolicy", "PublicTable"]


@dataclass(frozen=True)
class BoundAttribute:
    """One attribute with the column it stands for.

    `column` is the source's own spelling, `type` the column's SQL type, `published_type`
    the same without ENUMs (their dictionaries keep withheld values). `height` is the
    number of the top level, `*`; `min_level <= level <= max_level` is what a release
    may use. `stored` says that the labels are rows rather than a function of the value.
    """

    attribute: Attribute
    column: str
    type: str
    published_type: str
    hierarchy: HierarchyDefinition | None = None
    stored: bool = False
    height: int = 1
    min_level: int = 0
    max_level: int = 1

    @property
    def role(self) -> Role:
        return self.attribute.role


@dataclass(frozen=True)
class PublicTable:
    """The public table D that a policy is AGAINST: the people among whom a respondent hides.

    `relation` can be read again and again with the same rows. `columns` are its own
    columns, one for each quasi-identifier in the policy's order. `lasting` is what a
    live view may read: None where it lives in another database, or is a query; `stable`
    tells whether that is a table of stored columns.
    """

    relation: QualifiedName
    columns: tuple[str, ...]
    lasting: QualifiedName | None
    stable: bool


@dataclass(frozen=True)
class BoundPolicy:
    """A policy whose source is a relation that can be read again and again with the same rows.

    `relation` is a table; `live` is False where it is a copy of a view's, a query's or
    a registered frame's rows. `unpublished` are the source's columns that the policy does not name.
    `guarding` are the source's columns that requirements name as guarding nodes (Xiao and
    Tao 2006), published or not. `ranges` are the tables of ranges that requirements name:
    a requirement's place among them all, counted from 0, and a temporary table with the
    columns value (of the sensitive column's published type), low and high (DOUBLE).
    """

    policy: Policy
    relation: QualifiedName
    live: bool
    attributes: tuple[BoundAttribute, ...]
    unpublished: tuple[str, ...]
    fingerprint: str
    public: PublicTable | None = None
    guarding: tuple[str, ...] = ()
    ranges: tuple[tuple[int, QualifiedName], ...] = ()

    def having(self, role: Role) -> tuple[BoundAttribute, ...]:
        return tuple(bound for bound in self.attributes if bound.role is role)

    @property
    def quasi_identifiers(self) -> tuple[BoundAttribute, ...]:
        return self.having(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[BoundAttribute, ...]:
        return self.having(Role.SENSITIVE)

    @property
    def entity(self) -> BoundAttribute | None:
        return next(iter(self.having(Role.ENTITY)), None)

    @property
    def published(self) -> tuple[BoundAttribute, ...]:
        """The attributes that a release has a column for, in the policy's order."""
        hidden = (Role.IDENTIFIER, Role.ENTITY)
        return tuple(b for b in self.attributes if b.role not in hidden or b.attribute.pseudonym)
