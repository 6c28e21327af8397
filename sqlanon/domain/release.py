"""A published release as it is stored in the catalog: its columns, their readings, and its measurements."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from sqlanon.domain.policy import Role
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName, Value

# How a published column is read: what one of its values says of the source.


class Reading(StrEnum):
    """The relation of a published value to a row of the source.

    It is recorded with every release and in every certificate, so that what checks a release or estimates from it
    asks the columns and not the method that made them.
    """

    EXACT = "exact"
    """The row's own value."""
    LABEL = "label"
    """The label of the row's value at a level of its hierarchy."""
    LABEL_OR_NULL = "label_or_null"
    """The label of the row's value at a level of its hierarchy; NULL where the cell is suppressed: any value."""
    ITEM_LABELS = "item_labels"
    """A list of labels of the items in the row's list, each once: a label may be an item, or stand for several."""
    RANGE = "range"
    """The range of the values of the row's region."""
    CENTROID = "centroid"
    """A value that stands for those of the row's region."""
    LOWER_BOUND = "lower_bound"
    """The least value of the row's region, in the column whose name it has before its ending."""
    UPPER_BOUND = "upper_bound"
    """The greatest value of the row's region, in the column whose name it has before its ending."""
    TOKEN = "token"
    """What stands for the value of a pseudonym."""
    BUCKET = "bucket"
    """The number of the row's bucket (Xiao and Tao 2006: of its QI-group)."""
    BUCKET_VALUE = "bucket_value"
    """A value of one row of the bucket; of any row of the source, where the table has neither bucket nor group.

    Where a column is of counterfeits, it may be one of these.
    """
    BUCKET_RANGE = "bucket_range"
    """A range that has the value of one row of the bucket, and those of rows of other buckets."""
    COUNT = "count"
    """How many rows of the bucket have the value beside it, and counterfeits, where a column is of these."""
    COUNTERFEITS = "counterfeits"
    """How many values of the bucket are counterfeits, which no row of the source has (Xiao and Tao 2007)."""
    GROUP = "group"
    """The number of the row's group within its table (De Capitani di Vimercati et al. 2010)."""
    LINK = "link"
    """The group that the row has in another table: the first such column is of the first table with groups."""
    DOMAIN_VALUE = "domain_value"
    """A value that anybody may know the column to have: beside a count with noise, or drawn by such counts."""
    NOISY_COUNT = "noisy_count"
    """A count with noise, of the rows that have the values beside it."""
    RESPONDENT = "respondent"
    """The number of the respondent whose row it is, drawn for the release, and the same in all its tables."""


# The readings of columns that show labels of the levels of a hierarchy.
LABELS = (Reading.LABEL, Reading.LABEL_OR_NULL)


# What is promised of columns that no row of the source is behind, and their readings.
DIFFERENTIAL_PRIVACY = "differential_privacy"
WITH_NOISE = frozenset((Reading.DOMAIN_VALUE, Reading.NOISY_COUNT))


# A published release as the catalog remembers it.


# What a release was made from: a relation or a file by its full name, or the SHA-256 of a query's text.
SourceRead = QualifiedName | str


def level_range(levels: Collection[int]) -> str:
    """The lowest and the highest of some levels, as `0-3`; the level alone where they are one."""
    low, high = min(levels), max(levels)
    return str(low) if low == high else f"{low}-{high}"


@dataclass(frozen=True)
class ChoiceList:
    """The list from which the masks of an attribute were chosen: its name, the variable of the key, and its digest.

    `key_variable` is None for a key that was drawn and forgotten.
    """

    attribute: str
    list_name: str
    key_variable: str | None
    digest: str


@dataclass(frozen=True)
class ReleaseAttribute:
    """A published attribute with the level of its hierarchy that the release shows.

    `level` counts from 0, the value itself, to `height`, where the value is `*`; both
    are None where nothing is generalized. Of a local recoding `level` is that of the first round, and `rounds` has the
    levels of all rounds, ascending; it is empty for any other release. `fragment` is the one that has the column, in a
    release of several, and `source` the source's column behind it where that has another name. `reading` says what its
    values say of the source's rows.
    """

    name: str
    role: Role
    hierarchy: str | None = None
    level: int | None = None
    height: int | None = None
    weight: Decimal = Decimal(1)
    fragment: str | None = None
    source: str | None = None
    reading: Reading = field(kw_only=True)
    rounds: tuple[int, ...] = ()

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that rows have in the column, ascending; empty where nothing is generalized."""
        return self.rounds or (() if self.level is None else (self.level,))


@dataclass(frozen=True)
class ReleaseObject:
    """A table or view that belongs to a release and is dropped with it.

    `fragment` names it among the tables that are published together, as the release; it
    is None for a release of one object, and for what only stands beside one. `digest` is
    that of the rows of a table beside a live view, None for anything else.
    """

    kind: str
    name: QualifiedName
    fragment: str | None = None
    digest: str | None = None


@dataclass(frozen=True)
class Contender:
    """A method in the default's comparison, with its figures once it has been compared.

    `refused` is why it cannot be, None where it can. `loss` and `suppressed` are those of its choice, `error` the mean
    error of drawn counts: None where no query counts a row. `why` is the reason for which it was chosen.
    """

    call: MethodCall
    refused: str | None = None
    loss: Fraction | None = None
    suppressed: int = 0
    error: float | None = None
    why: str | None = None


@dataclass(frozen=True)
class Comparison:
    """The methods that have been compared for a release whose statement names none; one of them was chosen.

    `sampled` rows stood for the source, None where all rows did. `compared_at` is UTC without a time zone, None until
    the comparison is recorded.
    """

    contenders: tuple[Contender, ...]
    sampled: int | None = None
    compared_at: datetime | None = None

    @property
    def chosen(self) -> Contender | None:
        """The method that was chosen."""
        return next((contender for contender in self.contenders if contender.why is not None), None)


@dataclass(frozen=True)
class Release:
    """One release: what was published, under which policy, and at what loss.

    `name` is (schema, object) and `kind` 'view' or 'table'. `policy_json` holds the
    whole policy, its hierarchies and the method as they were, so that the release can
    be checked after the policy was replaced. `source_rows`, `released_rows` and
    `suppressed_rows` count the source at the time of release; a live view shows more
    or fewer rows as its source changes. `source_rows` is None where even their number would tell of somebody.
    `loss` is the granularity loss, `nodes` the size of the lattice, `nodes_checked` how many of its nodes had
    their classes counted and `nodes_pruned` how many were ruled out without, None for a method without one.
    `loss_name` is the loss that was minimized, `loss_bound` a loss below which no node
    of the lattice can come, and `proven_optimal` whether the release reaches the least
    there is. `content_fingerprint` identifies a snapshot's rows and
    is None for a live view. `created_at` is UTC without a time zone. `sources` is what it
    was made from. `comparison` is that by which its method was chosen, None where a statement named the method, or
    where there was nothing to compare. `choices` are the lists from which masks were chosen.

    A release of several tables has none of its own name: each stands under it and the name
    of its `fragment`, as `name_fragment`.
    """

    release_id: str
    name: QualifiedName
    kind: str
    policy: str
    policy_fingerprint: str
    policy_json: str
    method: str
    method_arguments: tuple[tuple[str, Value], ...]
    source_rows: int | None
    released_rows: int
    suppressed_rows: int
    loss: float
    loss_name: str
    nodes: int | None
    nodes_checked: int | None
    content_fingerprint: str | None
    engine_version: str
    sqlanon_version: str
    created_at: datetime
    sources: tuple[SourceRead, ...]
    attributes: tuple[ReleaseAttribute, ...] = ()
    objects: tuple[ReleaseObject, ...] = ()
    nodes_pruned: int | None = None
    proven_optimal: bool | None = None
    loss_bound: float | None = None
    comparison: Comparison | None = None
    choices: tuple[ChoiceList, ...] = ()

    @property
    def published(self) -> tuple[ReleaseObject, ...]:
        """The objects that readers see: the object with the release's name, or its several tables, in the order of its
        columns.
        """
        names = list(dict.fromkeys(attribute.fragment for attribute in self.attributes))
        order = {fragment: index for index, fragment in enumerate(names)}
        tables = [made for made in self.objects if made.fragment is not None]
        tables.sort(key=lambda made: order.get(made.fragment, len(order)))
        return tuple(tables) or (ReleaseObject(self.kind, self.name),)

    @property
    def levels(self) -> str:
        """The level of each quasi-identifier out of its height, such as `age 2/4, sex 0/1`; empty without levels.

        Where rows have several, the lowest and the highest: `age 0-3/4`.
        """
        quasi = (a for a in self.attributes if a.role is Role.QUASI_IDENTIFIER and a.levels)
        return ", ".join(f"{a.name} {level_range(a.levels)}/{a.height}" for a in quasi)

    @property
    def has_noise(self) -> bool:
        """Whether its rows are made of counts with noise, and none of them is a row of the source."""
        return any(attribute.reading in WITH_NOISE for attribute in self.attributes)

    @property
    def is_locally_recoded(self) -> bool:
        """Whether its rows were recoded in rounds, each of which has levels of its own."""
        return any(attribute.rounds for attribute in self.attributes)

    def attributes_of(self, fragment: str | None) -> tuple[ReleaseAttribute, ...]:
        """The columns of one of the published objects."""
        return tuple(attribute for attribute in self.attributes if attribute.fragment == fragment)


@dataclass(frozen=True)
class KnownRelease:
    """A release whose rows a reader may have: it exists, it was exported, or the ledger of a series has it.

    `sources` is what it was made from, None if that is not known. `exported_at` is when it was exported for the
    last time, None if it was not, or if nobody wrote down when and it does not stand. `series` is that which it was
    made in, None if in none.
    """

    release_id: str | None
    name: QualifiedName
    kind: str
    method: str | None
    sources: tuple[SourceRead, ...] | None
    stands: bool
    exported_at: datetime | None = None
    series: str | None = None


# What was asked of a release and what it achieves.


@dataclass(frozen=True)
class Measurement:
    """The answer to one question (a privacy model, a metric or an attack) about one release.

    `attribute` is the sensitive attribute of the question, if any. `satisfied` is None for a question without a
    requirement, such as a loss.
    """

    question: str
    attribute: str | None
    required: float | None
    achieved: float | None
    satisfied: bool | None


@dataclass(frozen=True)
class Assumption:
    """An assumption behind the figures of a release, which no row of the release can show.

    `name` is its name in the literature, `attributes` the sensitive attributes that it is
    about, `meaning` what is taken for granted, and `leaves` what is not bounded because of it.
    """

    name: str
    attributes: tuple[str, ...]
    meaning: str
    leaves: str

    @property
    def stated(self) -> Measurement:
        """The assumption as a measurement: it is so, and nothing is required of it."""
        return Measurement(f"assumes_{self.name}", ", ".join(self.attributes) or None, None, None, True)


@dataclass(frozen=True)
class PrivacyReport:
    """The measurements of one check."""

    measurements: tuple[Measurement, ...]

    @property
    def satisfied(self) -> bool:
        """Whether something was required and all of it is met; a check that required nothing proves nothing."""
        answers = [m.satisfied for m in self.measurements if m.satisfied is not None]
        return bool(answers) and all(answers)

    @property
    def violated(self) -> tuple[Measurement, ...]:
        """The measurements that miss what was required."""
        return tuple(m for m in self.measurements if m.satisfied is False)
