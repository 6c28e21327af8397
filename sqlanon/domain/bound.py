"""A policy bound to its source: typed columns, heights of hierarchies, and allowed levels."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Role
from sqlanon.domain.values import QualifiedName


@dataclass(frozen=True)
class BoundAttribute:
    """An attribute of the policy, and its column in the source."""

    attribute: Attribute
    # The name of the column as the source spells it, and its SQL type.
    column: str
    type: str
    # The type without ENUMs, whose dictionaries keep withheld values.
    published_type: str
    hierarchy: HierarchyDefinition | None = None
    # Whether the labels are rows rather than a function of the value.
    stored: bool = False
    # The number of the top level, `*`.
    height: int = 1
    # The levels that a release may use.
    min_level: int = 0
    max_level: int = 1

    @property
    def role(self) -> Role:
        return self.attribute.role


@dataclass(frozen=True)
class CoarseColumn:
    """A sensitive column of the source, with its type and its hierarchy, whose values are replaced by labels.

    `nodes` are the levels and labels that replace all values below them; if there are no nodes, the labels of the
    attribute's MIN LEVEL replace the values. `digest` is the digest of the hierarchy.
    """

    bound: BoundAttribute
    digest: str
    nodes: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class PublicTable:
    """The public table D that a policy is AGAINST: the people among whom a respondent hides."""

    # A relation that can be read again and again with the same rows.
    relation: QualifiedName
    # Its columns, one for each quasi-identifier in the policy's order.
    columns: tuple[str, ...]
    # The relation that a live view may read; None where D lives in another database, or is a query.
    lasting: QualifiedName | None
    # Whether `lasting` is a table of stored columns.
    stable: bool


@dataclass(frozen=True)
class LongTable:
    """The table that a policy pivots: a row for each rating of an item by a respondent."""

    # A relation that can be read again and again with the same rows.
    relation: QualifiedName
    # Its columns: the ones that name the respondent together, the item's column, and the rating's column.
    respondents: tuple[str, ...]
    item: str
    rating: str


@dataclass(frozen=True)
class BoundRelatedTable:
    """A table that belongs to the policy's source, with typed columns."""

    name: str
    # A relation that can be read again and again with the same rows.
    relation: QualifiedName
    # Its column with the values of the source's ENTITY.
    key: str
    attributes: tuple[BoundAttribute, ...]
    # Its columns that the policy does not name; the key is never published.
    unpublished: tuple[str, ...]

    @property
    def quasi_identifiers(self) -> tuple[BoundAttribute, ...]:
        return tuple(bound for bound in self.attributes if bound.role is Role.QUASI_IDENTIFIER)


@dataclass(frozen=True)
class BoundPolicy:
    """A policy bound to a source that can be read repeatedly with the same rows."""

    policy: Policy
    # The table with the rows of the source.
    relation: QualifiedName
    # Whether it is the source itself, rather than a copy of the rows of a view, a query or a registered frame.
    live: bool
    attributes: tuple[BoundAttribute, ...]
    # The source's columns that the policy does not name.
    unpublished: tuple[str, ...]
    fingerprint: str
    public: PublicTable | None = None
    # The source's columns that requirements name as guarding nodes (Xiao and Tao 2006), published or not.
    guarding: tuple[str, ...] = ()
    # The tables of values that requirements name: the index of the requirement among all, and a temporary table with
    # the columns value, of the sensitive column's published type, and low and high, or l, k and m.
    ranges: tuple[tuple[int, QualifiedName], ...] = ()
    # The long table that was pivoted to make the rows of the source, if the policy has PIVOT.
    long_table: LongTable | None = None
    # The tables with rows about the source's respondents.
    related: tuple[BoundRelatedTable, ...] = ()

    def of_related(self, table: BoundRelatedTable) -> BoundPolicy:
        """Returns a policy on a related table, with the table's attributes and its key as the ENTITY."""
        key = replace(self.entity, column=table.key) if self.entity else None
        attributes = ((key,) if key else ()) + table.attributes
        return BoundPolicy(self.policy, table.relation, self.live, attributes, table.unpublished, self.fingerprint)

    def having(self, role: Role) -> tuple[BoundAttribute, ...]:
        """The attributes with this role, in the policy's order, without shifted dates, because these are not true
        values.
        """
        return tuple(bound for bound in self.attributes if bound.attribute.has(role))

    @property
    def quasi_identifiers(self) -> tuple[BoundAttribute, ...]:
        return self.having(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[BoundAttribute, ...]:
        return self.having(Role.SENSITIVE)

    @property
    def counted(self) -> tuple[BoundAttribute, ...]:
        """The columns whose values requirements count: the sensitive attributes, and the sampling weights."""
        return (*self.sensitive, *(bound for bound in self.attributes if bound.attribute.sampling_weight))

    @property
    def quasi_identifiers_by_table(self) -> tuple[tuple[BoundAttribute, ...], ...]:
        """The quasi-identifiers of the source, and after them the quasi-identifiers of each related table."""
        return (self.quasi_identifiers, *(table.quasi_identifiers for table in self.related))

    @property
    def all_sensitive(self) -> tuple[BoundAttribute, ...]:
        """The sensitive attributes of the source, and after them the sensitive attributes of the related tables."""
        related = (bound for table in self.related for bound in table.attributes)
        return (*self.sensitive, *(bound for bound in related if bound.attribute.has(Role.SENSITIVE)))

    @property
    def entity(self) -> BoundAttribute | None:
        return next(iter(self.having(Role.ENTITY)), None)

    @property
    def published(self) -> tuple[BoundAttribute, ...]:
        """The attributes that have a column in a release, in the policy's order."""
        hidden = (Role.IDENTIFIER, Role.ENTITY)
        return tuple(b for b in self.attributes if b.role not in hidden or b.attribute.pseudonym)

    @property
    def tables(self) -> tuple[BoundPolicy, ...]:
        """The policy, and after it each related table as a policy on its own source."""
        return (self, *map(self.of_related, self.related))

    @property
    def keyed(self) -> tuple[BoundAttribute, ...]:
        """The published attributes of all tables whose values are replaced by means of a key."""
        published = (bound for table in self.tables for bound in table.published)
        return tuple(b for b in published if b.attribute.pseudonym and not b.attribute.pseudonym.is_keyless)
