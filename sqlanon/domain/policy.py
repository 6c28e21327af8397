"""A privacy policy: the role of every column, and the requirements on a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName, Source, Value, variable_of

# The suffix of the source's table in a release of several tables, if the source is a query.
_RESPONDENTS = "respondents"


class Role(StrEnum):
    """The meaning of a column to an adversary (Samarati 2001; Li et al. 2007)."""

    IDENTIFIER = "identifier"
    ENTITY = "entity"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True)
class Pseudonym:
    """Publishes a keyed token in place of the value.

    `key_variable` names an environment variable that holds the key, so that tokens match between releases; without a
    variable, each release generates a random key and forgets it.

    >>> Pseudonym("RELEASE_KEY")
    Pseudonym(key_variable='RELEASE_KEY')
    """

    key_variable: str | None = None

    @property
    def lasts(self) -> bool:
        """Whether other releases have the same tokens."""
        return self.key_variable is not None

    @property
    def is_keyless(self) -> bool:
        """Returns False, because no token is a function of the value alone."""
        return False


@dataclass(frozen=True, init=False)
class Mask:
    """Publishes a value of the same form in place of the value: MASK name(argument => value, ...) [KEY 'variable'].

    A mask is a pseudonym: equal values have equal masks. `name` is the name of the mask, in lower case. `key_variable`
    names an environment variable that holds the key, so that masks match between releases; without a variable, each
    release generates a random key and forgets it.

    >>> Mask("card", {"first": 8}, key_variable="BANK_KEY")
    Mask(name='card', arguments=(('first', 8),), key_variable='BANK_KEY')
    """

    name: str
    arguments: tuple[tuple[str, Value], ...] = ()
    key_variable: str | None = None

    def __init__(
        self,
        name: str,
        arguments: Mapping[str, Value] | Iterable[tuple[str, Value]] = (),
        key_variable: str | None = None,
    ) -> None:
        listed = arguments.items() if isinstance(arguments, Mapping) else arguments
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", tuple(listed))
        object.__setattr__(self, "key_variable", key_variable)

    @property
    def lasts(self) -> bool:
        """Whether other releases have the same masks, because the key is kept or the mask needs no key."""
        return self.key_variable is not None or self.is_keyless

    @property
    def is_keyless(self) -> bool:
        """Whether the mask is a function of the value alone, so that the text of a view may contain it."""
        return self.name in KEYLESS_MASKS

    def argument(self, name: str) -> Value | None:
        """Returns the argument as given, or its default."""
        return dict(self.arguments).get(name, MASKS[self.name].get(name))


@dataclass(frozen=True)
class Shift:
    """Publishes dates that are moved by one number of days for each respondent: SHIFT (DAYS => 182) [KEY 'variable'].

    Exactly one of `days` and `weeks` is given. A respondent's dates move by one random number of days or weeks, up to
    this many in each direction, so that they keep their order and their distances. `key_variable` names an environment
    variable that holds the key, so that a respondent's dates move by the same number in each release; without a
    variable, each release generates a random key and forgets it.

    >>> Shift(weeks=26, key_variable="TRIAL_KEY")
    Shift(days=None, weeks=26, key_variable='TRIAL_KEY')
    """

    days: int | None = None
    weeks: int | None = None
    key_variable: str | None = None

    @property
    def lasts(self) -> bool:
        """Whether other releases move the dates of a respondent by the same number of days."""
        return self.key_variable is not None

    @property
    def is_keyless(self) -> bool:
        """Returns False, because the moved date also depends on the respondent."""
        return False

    @property
    def unit(self) -> int:
        """The days in a unit of `width`: 1, or 7 for weeks."""
        return 1 if self.weeks is None else 7

    @property
    def width(self) -> int:
        """The largest number of days or weeks by which dates move in each direction."""
        return (self.days if self.weeks is None else self.weeks) or 0

    @property
    def arguments(self) -> tuple[tuple[str, Value], ...]:
        """The width as an argument of a statement: `days` or `weeks`, and its number."""
        return (("days", self.width),) if self.weeks is None else (("weeks", self.width),)


# The replacements of values by means of a key: tokens and masks of identifiers, shifted dates of other columns.
InPlace = Pseudonym | Mask | Shift

# The masks with their arguments and the arguments' defaults; None for an argument without a default.
MASKS: Mapping[str, Mapping[str, Value | None]] = {
    "partial": {"first": 0, "last": 4, "with": "*"},
    "email": {"first": 1},
    "alphanumeric": {},
    "digits": {},
    "card": {"first": 6},
    "iban": {},
    "phone": {"region": None},
    "choice": {"from": None},
}
KEYLESS_MASKS = ("partial", "email")
# Masks that are different for different values.
INJECTIVE_MASKS = ("alphanumeric", "digits", "card", "iban", "phone")


@dataclass(frozen=True)
class Attribute:
    """One column of the source, with its role and its clauses in the policy.

    Levels count from 0, the value itself. `hierarchy`, `min_level`, `max_level` and `weight` (its share in the loss,
    above 0) belong to quasi-identifiers. A sensitive attribute may name a hierarchy for its distances, or for labels
    that are published in place of its values: the labels of `min_level`, or the parents of the nodes to `hide`.
    `automatic` requests a hierarchy that is made from the column's values when the policy is stored; a stored policy
    names this hierarchy. `pseudonym` is published in place of the values: it is a token or a mask of an identifier or
    of the ENTITY, or shifted dates of another column. `sampling_weight` is true if the column has the number of people
    that each row of a sample represents; the column is INSENSITIVE.
    """

    name: str
    role: Role
    hierarchy: str | None = None
    min_level: int | None = None
    max_level: int | None = None
    weight: Decimal = Decimal(1)
    pseudonym: InPlace | None = None
    automatic: bool = False
    sampling_weight: bool = False
    hide: tuple[str, ...] = ()

    @property
    def is_coarse(self) -> bool:
        """Whether labels replace a sensitive attribute's values, in the release and for all models."""
        return self.role is Role.SENSITIVE and bool(self.min_level or self.hide)

    @property
    def distances(self) -> str | None:
        """The hierarchy that measures the distances of a sensitive attribute's published values; None for labels."""
        return None if self.is_coarse else self.hierarchy

    @property
    def is_shifted(self) -> bool:
        """Whether shifted dates, which are not true, are published in place of the column's dates."""
        return isinstance(self.pseudonym, Shift)

    def has(self, role: Role) -> bool:
        """Whether the column has this role and its values are not shifted dates."""
        return self.role is role and not self.is_shifted


@dataclass(frozen=True)
class Requirement:
    """A privacy model with its arguments, as in `k_anonymity(k => 4)`."""

    model: str
    arguments: tuple[tuple[str, Value], ...] = ()

    @property
    def subject(self) -> tuple[str, frozenset[tuple[str, tuple[str, ...]]]]:
        """The requirement without its numbers: the model, and its arguments that are not numbers.

        Of two requirements with the same subject, such as 4- and 5-anonymity, only the stricter matters. If neither is
        stricter, a requirement with the stricter of each number meets both.
        """
        about = ((name, _parts(value)) for name, value in self.arguments if not _is_number(value))
        return fold(self.model), frozenset((fold(name), parts) for name, parts in about)


# The default requirements of a policy that is made of columns alone: without any other requirement, and for sensitive
# columns that no other requirement protects.
K_BY_DEFAULT = 5
L_BY_DEFAULT = 2
ROWS_ALIKE = Requirement("k_anonymity", (("k", K_BY_DEFAULT),))
VALUES_OF_A_CLASS = Requirement("l_diversity", (("l", L_BY_DEFAULT),))


@dataclass(frozen=True)
class Sample:
    """The size of the source in its population: a `fraction` above 0 and up to 1, or the population's size in `people`.

    Exactly one of the two is given.

    >>> Sample(fraction=Decimal("0.02")).fraction_of(500)
    Fraction(1, 50)
    >>> Sample(people=1000).fraction_of(500)
    Fraction(1, 2)
    """

    fraction: Decimal | None = None
    people: int | None = None

    def fraction_of(self, rows: int) -> Fraction | None:
        """Returns the sampling fraction of a source of this many rows; None if it has no rows or more rows than
        people.
        """
        if self.fraction is not None:
            return Fraction(self.fraction)
        share = Fraction(rows, self.people or 1)
        return share if 0 < share <= 1 else None


@dataclass(frozen=True)
class Pivot:
    """The columns that make a long table a wide one: each value of `item` becomes an attribute with its `rating`.

    >>> Pivot("film", "stars")
    Pivot(item='film', rating='stars')
    """

    item: str
    rating: str


@dataclass(frozen=True)
class RelatedTable:
    """A table that belongs to the policy's source: each of its rows is about one respondent of the source.

    `key` is the table's column with the values of the source's ENTITY, and `name` is the suffix of the table's name in
    a release. Attribute names are unique among all tables of a policy.
    """

    name: str
    source: Source
    key: str
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class JoinedRelease:
    """Another release that a reader may join with the policy's releases, and the columns that both show.

    The policy's requirements contain the requirements of the join (Wang and Fung 2006).
    """

    release: QualifiedName
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.release} on ({', '.join(self.columns)})"


@dataclass(frozen=True)
class Policy:
    """Roles and requirements for one source. A column that it does not name is not published.

    `against` is the public table D of which the source's respondents are a part: k-map
    and delta-presence (Nergiz et al. 2007) compare a release with it.

    `confidential` are confidentiality constraints (De Capitani di Vimercati et al. 2010): sets of attributes whose
    values must not be seen together, or, if a set has one attribute, not at all. `visible` are sets whose values must
    be seen together.

    If there is a `pivot`, the source has a row for each rating of an item by a respondent. The attributes that are
    IDENTIFIER are columns of the source and name the respondent; all other attributes are items, and the ratings are
    their values.

    `related` are tables with any number of rows for each respondent. Then respondents are counted, and the source has
    one row for each respondent (MultiR: Nergiz, Clifton and Nergiz 2007).

    `joined` is another release: some of the requirements are about the join with it.

    `sample` is the size of the source in its population, for figures and requirements that estimate the risk in it.
    """

    name: str
    source: Source
    attributes: tuple[Attribute, ...]
    requirements: tuple[Requirement, ...]
    against: Source | None = None
    confidential: tuple[tuple[str, ...], ...] = ()
    visible: tuple[tuple[str, ...], ...] = ()
    pivot: Pivot | None = None
    related: tuple[RelatedTable, ...] = ()
    joined: JoinedRelease | None = None
    sample: Sample | None = None

    def __str__(self) -> str:
        """Returns the name that errors use; the policy of a CHECK is named only by its source."""
        return f"policy {self.name}" if self.name else self.source.called

    def having(self, role: Role) -> Iterator[Attribute]:
        """The attributes with this role, in the policy's order, without shifted dates, because these are not true
        values.
        """
        return (attribute for attribute in self.attributes if attribute.has(role))

    @property
    def quasi_identifiers(self) -> tuple[Attribute, ...]:
        return tuple(self.having(Role.QUASI_IDENTIFIER))

    @property
    def items(self) -> tuple[Attribute, ...]:
        """The attributes that are items of the pivoted column; empty if the policy has no pivot."""
        return tuple(a for a in self.attributes if a.role is not Role.IDENTIFIER) if self.pivot else ()

    @property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """The attributes of the source, and after them the attributes of the related tables."""
        return (*self.attributes, *(attribute for table in self.related for attribute in table.attributes))

    def all_having(self, role: Role) -> tuple[Attribute, ...]:
        """The attributes of all tables with this role, without shifted dates, because these are not true values."""
        return tuple(attribute for attribute in self.all_attributes if attribute.has(role))

    @property
    def counted(self) -> tuple[Attribute, ...]:
        """The attributes of the source whose values requirements count: the sensitive attributes, and the sampling
        weights.
        """
        weight = self.sampling_weight
        return (*self.having(Role.SENSITIVE), *([weight] if weight else []))

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources of a release: the policy's source, then the sources of the related tables."""
        return (self.source, *(table.source for table in self.related))

    @property
    def table_names(self) -> tuple[str, ...]:
        """The suffixes of the names of a release's tables: the source's suffix, and one for each related table."""
        source = self.source.name
        called = _RESPONDENTS if source is None else variable_of(source.name) or source.name
        return (called, *(table.name for table in self.related))

    def tables_in_order(self, names: Collection[str]) -> tuple[str, ...] | None:
        """Returns the suffixes of published tables in the policy's order; None if the policy has other tables.

        The source's table is the only name that no related table has, because a certificate does not record the suffix
        of a query.
        """
        related = tuple(table.name for table in self.related)
        (first, *more) = [name for name in names if name not in related] or [""]
        return None if more or len(names) != len(related) + 1 else (first, *related)

    @property
    def hides_respondents(self) -> bool:
        """Whether a release hides the respondents that its requirements count.

        A release with related tables shows a number for each respondent.
        """
        return self.entity is not None and not self.related

    @property
    def sampling_weight(self) -> Attribute | None:
        """The attribute with the number of people that each row represents, if the policy names one."""
        return next((attribute for attribute in self.attributes if attribute.sampling_weight), None)

    @property
    def entity(self) -> Attribute | None:
        """The attribute that names the respondent, if the policy has one."""
        return next(self.having(Role.ENTITY), None)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _parts(value: Value) -> tuple[str, ...]:
    """Returns a value for comparison. A column may be written as a name or as a string, and several columns in any
    order.
    """
    if isinstance(value, tuple):
        return tuple(sorted(".".join(_parts(part)) for part in value))
    parts = value.parts if isinstance(value, QualifiedName) else (str(value),)
    return tuple(fold(part) for part in parts)


# Generalization hierarchies as the user defines them.


@dataclass(frozen=True)
class HierarchyDefinition:
    """A named generalization hierarchy (Samarati 2001, section 2: a value generalization hierarchy).

    Level 0 has the values themselves, each further level is a partition that is coarser than the one before, and the
    last level is a single value, `*`.

    `kind` is the name of a builder (intervals, prefixes, calendar, levels, parents); `arguments` are its positional
    arguments (widths, lengths, units), `options` its named arguments, and `query` is the SELECT that LEVELS and PARENTS
    read.
    """

    name: str
    kind: str
    arguments: tuple[Value, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()
    query: str | None = None
