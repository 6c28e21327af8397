"""A privacy policy: the role of every column, and what a release must satisfy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName, Source, Value, variable_of

# What the table of respondents is called in a release of several where the source is a query.
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
    """Publish a keyed token in place of the value.

    `key_variable` names an environment variable that holds the key, so that tokens
    match between releases; without one each release draws a key and forgets it.

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
        """Whether a token is a function of the value alone: never."""
        return False


@dataclass(frozen=True, init=False)
class Mask:
    """Publish a value of the same form in place of the value: MASK name(argument => value, ...) [KEY 'variable'].

    A mask is a pseudonym: equal values have equal masks. `name` is the name of the mask, in lower case. `key_variable`
    names an environment variable that holds the key, so that masks match between releases; without one each release
    draws a key and forgets it.

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
        """Whether other releases have the same masks: under a key that is kept, and where no key takes part."""
        return self.key_variable is not None or self.is_keyless

    @property
    def is_keyless(self) -> bool:
        """Whether the mask is a function of the value alone, which a view may have in its text."""
        return self.name in KEYLESS_MASKS

    def argument(self, name: str) -> Value | None:
        """The argument as it was given, or its default."""
        return dict(self.arguments).get(name, MASKS[self.name].get(name))


@dataclass(frozen=True)
class Shift:
    """Publish dates that are moved by one number of days for each respondent: SHIFT (DAYS => 182) [KEY 'variable'].

    Exactly one of `days` and `weeks` is given: a respondent's dates move by a number from minus that to plus that, so
    they keep their order and their distances. `key_variable` names an environment variable that holds the key, so that
    a respondent moves alike in each release; without one each release draws a key and forgets it.

    >>> Shift(weeks=26, key_variable="TRIAL_KEY")
    Shift(days=None, weeks=26, key_variable='TRIAL_KEY')
    """

    days: int | None = None
    weeks: int | None = None
    key_variable: str | None = None

    @property
    def lasts(self) -> bool:
        """Whether other releases move dates alike."""
        return self.key_variable is not None

    @property
    def is_keyless(self) -> bool:
        """Returns False, because the moved date depends on the respondent, too."""
        return False

    @property
    def unit(self) -> int:
        """The days of a step: 1, or 7 for weeks."""
        return 1 if self.weeks is None else 7

    @property
    def width(self) -> int:
        """The most steps in each direction."""
        return (self.days if self.weeks is None else self.weeks) or 0

    @property
    def arguments(self) -> tuple[tuple[str, Value], ...]:
        """The width as a statement has it."""
        return (("days", self.width),) if self.weeks is None else (("weeks", self.width),)


# What is published in place of a value under a key: of identifiers tokens and masks, of others shifted dates.
InPlace = Pseudonym | Mask | Shift

# The masks with their arguments and the defaults of these; None where there is none.
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
# Masks by which different values become different masks.
INJECTIVE_MASKS = ("alphanumeric", "digits", "card", "iban", "phone")


@dataclass(frozen=True)
class Attribute:
    """One column of the source as the policy sees it.

    `hierarchy`, `min_level`, `max_level` (levels counted from 0, the value itself)
    and `weight` (its share in the loss, above 0) belong to quasi-identifiers; a
    sensitive attribute may name a hierarchy, which its distances use, or whose labels are published in place of its
    values: those of `min_level`, or the parents of the nodes that it is to `hide`. `automatic` stands for a hierarchy
    that is made from the column's values when the policy is stored: a stored policy names it. `pseudonym` is published
    in place of the values: a token or a mask of an identifier or of the ENTITY, shifted dates of another column.
    `sampling_weight` says that the column has the number of people that each row of a sample stands for; it is
    INSENSITIVE.
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
        """Whether labels are published, and read by all models, in place of a sensitive attribute's values."""
        return self.role is Role.SENSITIVE and bool(self.min_level or self.hide)

    @property
    def distances(self) -> str | None:
        """The hierarchy by which published values of a sensitive attribute lie apart; labels have none."""
        return None if self.is_coarse else self.hierarchy

    @property
    def is_shifted(self) -> bool:
        """Whether dates that are not true are published in place of the column's."""
        return isinstance(self.pseudonym, Shift)

    def has(self, role: Role) -> bool:
        """Whether the column has this role, and its values are published or known as they are."""
        return self.role is role and not self.is_shifted


@dataclass(frozen=True)
class Requirement:
    """A privacy model with its arguments, as in `k_anonymity(k => 4)`."""

    model: str
    arguments: tuple[tuple[str, Value], ...] = ()

    @property
    def subject(self) -> tuple[str, frozenset[tuple[str, tuple[str, ...]]]]:
        """The requirement without its numbers: the model and its arguments that are no numbers.

        Of two requirements on one subject, such as 4- and 5-anonymity, the stricter is all that counts; where none
        is, one with the stricter of each number meets both.
        """
        about = ((name, _parts(value)) for name, value in self.arguments if not _is_number(value))
        return fold(self.model), frozenset((fold(name), parts) for name, parts in about)


# The defaults of everything that makes a policy of columns alone: what is required where nothing is, and of sensitive
# columns of which nothing else is.
K_BY_DEFAULT = 5
L_BY_DEFAULT = 2
ROWS_ALIKE = Requirement("k_anonymity", (("k", K_BY_DEFAULT),))
VALUES_OF_A_CLASS = Requirement("l_diversity", (("l", L_BY_DEFAULT),))


@dataclass(frozen=True)
class Sample:
    """The part of a population that the source is: a `fraction` of it above 0 and up to 1, or a sample of `people`.

    Exactly one of the two is given.

    >>> Sample(fraction=Decimal("0.02")).fraction_of(500)
    Fraction(1, 50)
    >>> Sample(people=1000).fraction_of(500)
    Fraction(1, 2)
    """

    fraction: Decimal | None = None
    people: int | None = None

    def fraction_of(self, rows: int) -> Fraction | None:
        """The sampling fraction of a source of so many rows; None where it has none, or more than there are people."""
        if self.fraction is not None:
            return Fraction(self.fraction)
        share = Fraction(rows, self.people or 1)
        return share if 0 < share <= 1 else None


@dataclass(frozen=True)
class Pivot:
    """The columns of a long table by which it becomes a wide one: an attribute for each `item`, with its `rating`.

    >>> Pivot("film", "stars")
    Pivot(item='film', rating='stars')
    """

    item: str
    rating: str


@dataclass(frozen=True)
class RelatedTable:
    """A table that belongs to the policy's source: each of its rows is about one respondent of the source.

    `key` is its column with the values of the source's ENTITY, `name` what its part of a release is called after.
    No two attributes of a policy have one name, whatever table they are in.
    """

    name: str
    source: Source
    key: str
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class JoinedRelease:
    """Another release, with which a reader may join those of the policy, and the columns that both show.

    What is required of the join (Wang and Fung 2006) is among the policy's requirements.
    """

    release: QualifiedName
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.release} on ({', '.join(self.columns)})"


@dataclass(frozen=True)
class Policy:
    """Roles and requirements for one source. A column that it does not name is not published.

    `against` is the public table D of which the source's respondents are a part: k-map
    and delta-presence (Nergiz et al. 2007) are asked of a release against it.

    `confidential` are confidentiality constraints (De Capitani di Vimercati et al. 2010):
    sets of attributes whose values must not be seen together, or, where a set has one
    attribute, at all. `visible` are sets whose values must be seen together.

    With a `pivot` the source has a row for each rating of an item by a respondent. The attributes that are IDENTIFIER
    are columns of the source and name the respondent; all others are items, whose values are the ratings.

    `related` are tables with any number of rows for each respondent, who are what is counted (MultiR: Nergiz, Clifton
    and Nergiz 2007). The source has one row for each of them then.

    `joined` is another release: some of the requirements are about what the join with it tells.

    `sample` says how much of a population the source is, for the figures and requirements that estimate its risk.
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
        """Returns the name that errors use; a policy that stands for a CHECK has no name but its source's."""
        return f"policy {self.name}" if self.name else self.source.called

    def having(self, role: Role) -> Iterator[Attribute]:
        """The attributes with this role, in the policy's order; no shifted dates, whose values are not true."""
        return (attribute for attribute in self.attributes if attribute.has(role))

    @property
    def quasi_identifiers(self) -> tuple[Attribute, ...]:
        return tuple(self.having(Role.QUASI_IDENTIFIER))

    @property
    def items(self) -> tuple[Attribute, ...]:
        """The attributes that are items of the source's column that is pivoted; none without a pivot."""
        return tuple(a for a in self.attributes if a.role is not Role.IDENTIFIER) if self.pivot else ()

    @property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """The attributes of the source, and after them those of the related tables."""
        return (*self.attributes, *(attribute for table in self.related for attribute in table.attributes))

    def all_having(self, role: Role) -> tuple[Attribute, ...]:
        """The attributes of all tables with this role; no shifted dates, whose values are not true."""
        return tuple(attribute for attribute in self.all_attributes if attribute.has(role))

    @property
    def counted(self) -> tuple[Attribute, ...]:
        """The attributes of the source whose values requirements count: sensitive ones, and the sampling weights."""
        weight = self.sampling_weight
        return (*self.having(Role.SENSITIVE), *([weight] if weight else []))

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources of a release: the policy's source, then those of the related tables."""
        return (self.source, *(table.source for table in self.related))

    @property
    def table_names(self) -> tuple[str, ...]:
        """The suffixes of the names of a release's tables: that of the source, and one for each related table."""
        source = self.source.name
        called = _RESPONDENTS if source is None else variable_of(source.name) or source.name
        return (called, *(table.name for table in self.related))

    def tables_in_order(self, names: Collection[str]) -> tuple[str, ...] | None:
        """Published tables in the policy's order, by what stands behind the release's name; None if these are others.

        The source's is the one that is no related table's: a certificate does not say what a query is called after.
        """
        related = tuple(table.name for table in self.related)
        (first, *more) = [name for name in names if name not in related] or [""]
        return None if more or len(names) != len(related) + 1 else (first, *related)

    @property
    def hides_respondents(self) -> bool:
        """Whether respondents are counted whom no release shows; with related tables it shows a number for each."""
        return self.entity is not None and not self.related

    @property
    def sampling_weight(self) -> Attribute | None:
        """The attribute with the number of people that each row stands for, if the policy names one."""
        return next((attribute for attribute in self.attributes if attribute.sampling_weight), None)

    @property
    def entity(self) -> Attribute | None:
        """The attribute that names the respondent, if the policy has one."""
        return next(self.having(Role.ENTITY), None)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _parts(value: Value) -> tuple[str, ...]:
    """The value as it is compared: a column may be written as a name or as a string, several in any order."""
    if isinstance(value, tuple):
        return tuple(sorted(".".join(_parts(part)) for part in value))
    parts = value.parts if isinstance(value, QualifiedName) else (str(value),)
    return tuple(fold(part) for part in parts)


# Generalization hierarchies as the user defines them.


@dataclass(frozen=True)
class HierarchyDefinition:
    """A named generalization hierarchy (Samarati 2001, section 2: a value generalization hierarchy).

    Level 0 holds the values themselves, each further level a partition that contains
    the one before, and the last level is one value, `*`.

    `kind` is the name of a builder (intervals, prefixes, calendar, levels, parents);
    `arguments` are its positional arguments (widths, lengths, units), `options` its
    named ones, `query` the SELECT that LEVELS and PARENTS read.
    """

    name: str
    kind: str
    arguments: tuple[Value, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()
    query: str | None = None
