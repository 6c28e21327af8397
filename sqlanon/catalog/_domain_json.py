"""Policies and hierarchies as JSON and back: the types of the objects, and what of the domain each stands for."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from msgspec import convert, field

from sqlanon.catalog._json import (
    JsonObject,
    Parts,
    Text,
    arguments_from_json,
    arguments_to_json,
    positional_from_json,
    value_to_json,
)
from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, JoinedRelease, Pivot, Policy, RelatedTable, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source

# Arguments have numbers of two kinds, which no union of msgspec's tells apart: `arguments_from_json` reads them.
_Arguments = dict[str, Any]


class DefinitionObject(JsonObject, frozen=True):
    """The definition of a hierarchy."""

    name: Text
    kind: Text
    arguments: list[Any]
    options: _Arguments
    query: Text | None

    @classmethod
    def of(cls, definition: HierarchyDefinition) -> DefinitionObject:
        """The object for a definition. Raises BadJson for numbers that cannot be stored."""
        arguments = [value_to_json(value) for value in definition.arguments]
        options = arguments_to_json(definition.options)
        return cls(definition.name, definition.kind, arguments, options, definition.query)

    @property
    def as_domain(self) -> HierarchyDefinition:
        """The definition. Raises BadJson for arguments that are none."""
        arguments, options = positional_from_json(self.arguments), arguments_from_json(self.options)
        return HierarchyDefinition(self.name, self.kind, arguments, options, self.query)


class _Source(JsonObject, frozen=True):
    """A name or a query, and the entries of the catalog that it means, if they are known."""

    name: Parts | None = None
    query: Text | None = None
    bound: tuple[Parts, ...] = ()

    def __post_init__(self) -> None:
        if (self.name is None) == (self.query is None):
            raise ValueError("a source has either a name or a query")

    @classmethod
    def of(cls, source: Source) -> _Source:
        bound = tuple(entry.parts for entry in source.bound)
        return cls(name=source.name.parts, bound=bound) if source.name else cls(query=source.query, bound=bound)

    @property
    def as_domain(self) -> Source:
        bound = tuple(map(QualifiedName, self.bound))
        return Source(name=QualifiedName(self.name) if self.name else None, query=self.query, bound=bound)


class _Pseudonym(JsonObject, frozen=True):
    key_variable: Text | None


class _Attribute(JsonObject, frozen=True):
    """Its members are the fields of an Attribute."""

    name: Text
    role: Role
    hierarchy: Text | None
    min_level: int | None
    max_level: int | None
    weight: Decimal
    pseudonym: _Pseudonym | None


class _Requirement(JsonObject, frozen=True):
    model: Text
    arguments: _Arguments


class _Related(JsonObject, frozen=True):
    name: Text
    source: _Source
    key: Text
    attributes: tuple[_Attribute, ...]


class PivotObject(JsonObject, frozen=True):
    """The columns of a pivot: {"item": "film", "values": "rating"}."""

    item: Text
    rating: Text = field(name="values")

    @classmethod
    def of(cls, pivot: Pivot) -> PivotObject:
        """The object for a pivot."""
        return cls(pivot.item, pivot.rating)

    @property
    def as_domain(self) -> Pivot:
        """The object of the domain that this JSON describes."""
        return Pivot(self.item, self.rating)


class JoinedObject(JsonObject, frozen=True):
    """The release that a policy joins: {"release": ["main", "of_jobs"], "columns": ["job"]}."""

    release: Parts
    columns: tuple[Text, ...]

    @classmethod
    def of(cls, joined: JoinedRelease) -> JoinedObject:
        """The object for a joined release."""
        return cls(joined.release.parts, joined.columns)

    @property
    def as_domain(self) -> JoinedRelease:
        """The object of the domain that this JSON describes."""
        return JoinedRelease(QualifiedName(self.release), self.columns)


class PolicyObject(JsonObject, frozen=True):
    """A policy. Members that few policies need are left out where they are empty."""

    name: Text
    source: _Source
    attributes: tuple[_Attribute, ...]
    requirements: tuple[_Requirement, ...]
    against: _Source | None = None
    confidential: tuple[tuple[Text, ...], ...] = ()
    visible: tuple[tuple[Text, ...], ...] = ()
    pivot: PivotObject | None = None
    related: tuple[_Related, ...] = ()
    joined: JoinedObject | None = None

    @classmethod
    def of(cls, policy: Policy) -> PolicyObject:
        """The object for a policy."""
        return cls(
            name=policy.name,
            source=_Source.of(policy.source),
            attributes=_attributes(policy.attributes),
            requirements=tuple(_Requirement(r.model, arguments_to_json(r.arguments)) for r in policy.requirements),
            against=_Source.of(policy.against) if policy.against else None,
            confidential=policy.confidential,
            visible=policy.visible,
            pivot=PivotObject.of(policy.pivot) if policy.pivot else None,
            related=tuple(
                _Related(table.name, _Source.of(table.source), table.key, _attributes(table.attributes))
                for table in policy.related
            ),
            joined=JoinedObject.of(policy.joined) if policy.joined else None,
        )

    @property
    def as_domain(self) -> Policy:
        """The policy. Raises BadJson for arguments that are none."""
        return Policy(
            name=self.name,
            source=self.source.as_domain,
            attributes=_domain_attributes(self.attributes),
            requirements=tuple(Requirement(r.model, arguments_from_json(r.arguments)) for r in self.requirements),
            against=self.against.as_domain if self.against else None,
            confidential=self.confidential,
            visible=self.visible,
            pivot=self.pivot.as_domain if self.pivot else None,
            related=tuple(
                RelatedTable(table.name, table.source.as_domain, table.key, _domain_attributes(table.attributes))
                for table in self.related
            ),
            joined=self.joined.as_domain if self.joined else None,
        )


def _attributes(attributes: tuple[Attribute, ...]) -> tuple[_Attribute, ...]:
    return tuple(convert(attribute, _Attribute, from_attributes=True) for attribute in attributes)


def _domain_attributes(attributes: tuple[_Attribute, ...]) -> tuple[Attribute, ...]:
    return tuple(convert(attribute, Attribute, from_attributes=True) for attribute in attributes)
