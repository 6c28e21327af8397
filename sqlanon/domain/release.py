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

# Readings: the relation of a published column's values to the source.


class Reading(StrEnum):
    """The relation of a published value to a row of the source.

    Every release and every certificate records it. So checks and estimates can read the columns without knowledge of
    the method that made them.
    """

    EXACT = "exact"
    """The row's own value."""
    LABEL = "label"
    """The label of the row's value at a level of its hierarchy."""
    LABEL_OR_NULL = "label_or_null"
    """The label of the row's value at a level of its hierarchy; NULL where the cell is suppressed: any value."""
    ITEM_LABELS = "item_labels"
    """A list of the labels of the items in the row's list, each label once; a label covers one item or several."""
    RANGE = "range"
    """The range of the values of the row's region."""
    CENTROID = "centroid"
    """A value that represents all values of the row's region."""
    LOWER_BOUND = "lower_bound"
    """The least value of the row's region in a source column; the published name is its name with an ending."""
    UPPER_BOUND = "upper_bound"
    """The greatest value of the row's region in a source column; the published name is its name with an ending."""
    TOKEN = "token"
    """The replacement of a pseudonym's value."""
    BUCKET = "bucket"
    """The number of the row's bucket (Xiao and Tao 2006: of its QI-group)."""
    BUCKET_VALUE = "bucket_value"
    """A value of one row of the bucket, or of any row of the source if the table has neither bucket nor group.

    If the table has a column of counterfeits, the value may be a counterfeit.
    """
    BUCKET_RANGE = "bucket_range"
    """A range that contains the value of one row of the bucket, and values of rows of other buckets."""
    COUNT = "count"
    """The number of the bucket's rows with the value next to it; counterfeits count too, if a column counts them."""
    COUNTERFEITS = "counterfeits"
    """The number of the bucket's values that are counterfeits, which no row of the source has (Xiao and Tao 2007)."""
    GROUP = "group"
    """The number of the row's group within its table (De Capitani di Vimercati et al. 2010)."""
    LINK = "link"
    """The number of the row's group in another table; the first such column is about the first table with groups."""
    DOMAIN_VALUE = "domain_value"
    """A publicly known value of the column: next to a count with noise, or sampled from such counts."""
    NOISY_COUNT = "noisy_count"
    """The number of rows with the values next to it, with noise."""
    RESPONDENT = "respondent"
    """The random number of the row's respondent, the same in all tables of the release."""


# The readings of columns that show labels of the levels of a hierarchy.
LABELS = (Reading.LABEL, Reading.LABEL_OR_NULL)


# The promise about columns that show no row of the source, and the readings of such columns.
DIFFERENTIAL_PRIVACY = "differential_privacy"
WITH_NOISE = frozenset((Reading.DOMAIN_VALUE, Reading.NOISY_COUNT))


# A published release as the catalog stores it.


# A source of a release: a relation or a file by its full name, or the SHA-256 of a query's text.
SourceRead = QualifiedName | str


def level_range(levels: Collection[int]) -> str:
    """Formats levels as their lowest and highest, such as `0-3`; a single level is formatted by itself."""
    low, high = min(levels), max(levels)
    return str(low) if low == high else f"{low}-{high}"


@dataclass(frozen=True)
class ChoiceList:
    """The list from which the masks of an attribute were chosen: its name, the variable of the key, and its digest.

    `key_variable` is None for a random key that was not kept.
    """

    attribute: str
    list_name: str
    key_variable: str | None
    digest: str


@dataclass(frozen=True)
class ReleaseAttribute:
    """A published attribute with the level of its hierarchy that the release shows.

    `level` counts from 0, the value itself, to `height`, at which the value is `*`; both are None if nothing is
    generalized. For local recoding, `level` is the level of the first round, and `rounds` has the levels of all rounds,
    ascending; it is empty for any other release. `fragment` is the suffix of the table with the column, in a release of
    several tables. `source` is the source's column behind it, if its name differs. `reading` is the relation of its
    values to the source.
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
        """The levels that rows have in the column, ascending; empty if nothing is generalized."""
        return self.rounds or (() if self.level is None else (self.level,))


@dataclass(frozen=True)
class ReleaseObject:
    """A table or view that belongs to a release and is dropped with it.

    `fragment` is the suffix of a table that is published together with others; None for a release of one object, and
    for an auxiliary object. `digest` is the digest of the rows of a table that belongs to a live view; it is None for
    any other object.
    """

    kind: str
    name: QualifiedName
    fragment: str | None = None
    digest: str | None = None


@dataclass(frozen=True)
class Contender:
    """A method that was compared for a statement without METHOD, with its figures once they are known.

    `refused` is the reason why it cannot be compared, or None if it can. `loss` and `suppressed` are the figures of its
    choice, and `error` is the mean error of random counts, or None if no query counts a row. `why` is the reason why it
    was chosen, or None if it was not.
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

    `sampled` is the number of rows that represented the source, or None for all rows. `compared_at` is UTC without a
    time zone, or None until the comparison is recorded.
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

    `name` is (schema, object) and `kind` 'view' or 'table'. `policy_json` holds the whole policy, its hierarchies and
    the method as they were, so that the release can be checked after the policy was replaced. `source_rows`,
    `released_rows` and `suppressed_rows` count the source at the time of release; a live view shows more or fewer rows
    as its source changes. `source_rows` is None if even this number must stay secret. `loss` is the granularity loss,
    `nodes` the size of the lattice, `nodes_checked` the number of nodes whose classes were counted and `nodes_pruned`
    the number of nodes that were ruled out without counting, all None for a method without a lattice. `loss_name` is
    the loss that was minimized, `loss_bound` a lower bound on the loss of all nodes of the lattice, and
    `proven_optimal` whether the release has the least possible loss. `content_fingerprint` identifies a snapshot's rows
    and is None for a live view. `created_at` is UTC without a time zone. `sources` are the relations, files and queries
    of which the release was made. `comparison` is the comparison by which its method was chosen, or None if a statement
    named the method or there was nothing to compare. `choices` are the lists from which masks were chosen.

    In a release of several tables each table is called `name_fragment`, and no table has the release's own name.
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
        """The objects that readers see: the object with the release's name, or its tables in their columns' order."""
        names = list(dict.fromkeys(attribute.fragment for attribute in self.attributes))
        order = {fragment: index for index, fragment in enumerate(names)}
        tables = [made for made in self.objects if made.fragment is not None]
        tables.sort(key=lambda made: order.get(made.fragment, len(order)))
        return tuple(tables) or (ReleaseObject(self.kind, self.name),)

    @property
    def levels(self) -> str:
        """The level of each quasi-identifier out of its height, such as `age 2/4, sex 0/1`; empty if it has no levels.

        If the rows have several levels, it has the lowest and the highest, such as `age 0-3/4`.
        """
        quasi = (a for a in self.attributes if a.role is Role.QUASI_IDENTIFIER and a.levels)
        return ", ".join(f"{a.name} {level_range(a.levels)}/{a.height}" for a in quasi)

    @property
    def has_noise(self) -> bool:
        """Whether the release's rows are made of counts with noise, and none of them is a row of the source."""
        return any(attribute.reading in WITH_NOISE for attribute in self.attributes)

    @property
    def is_locally_recoded(self) -> bool:
        """Whether the release's rows were recoded in rounds, each with its own levels."""
        return any(attribute.rounds for attribute in self.attributes)

    def attributes_of(self, fragment: str | None) -> tuple[ReleaseAttribute, ...]:
        """Returns the columns of one published object."""
        return tuple(attribute for attribute in self.attributes if attribute.fragment == fragment)


@dataclass(frozen=True)
class KnownRelease:
    """A release whose rows a reader may have: it exists, it was exported or granted, or the ledger of a series has it.

    `sources` are the sources of the release, or None if they are unknown. `stands` says whether the release exists.
    `exported_at` is the time of its last export, or None if it was never exported, or if it is gone and no time was
    recorded. `series` is the series in which it was made, or None. `granted_at` is the time of the last GRANT to a
    reader, or None if it was never granted.
    """

    release_id: str | None
    name: QualifiedName
    kind: str
    method: str | None
    sources: tuple[SourceRead, ...] | None
    stands: bool
    exported_at: datetime | None = None
    series: str | None = None
    granted_at: datetime | None = None


# Questions about a release, and the answers.


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

    @property
    def is_violated(self) -> bool:
        """Whether the measurement has a required value and is not known to be satisfied; a loss has no
        required value.
        """
        return self.satisfied is False or (self.required is not None and self.satisfied is not True)


@dataclass(frozen=True)
class Assumption:
    """An assumption behind the figures of a release, which the rows of the release cannot show.

    `name` is its name in the literature, `attributes` are the attacked sensitive attributes, `meaning` is the assumed
    fact, and `leaves` is the risk that is not bounded because of the assumption.
    """

    name: str
    attributes: tuple[str, ...]
    meaning: str
    leaves: str

    @property
    def stated(self) -> Measurement:
        """The assumption as a measurement: satisfied, without a required value."""
        return Measurement(f"assumes_{self.name}", ", ".join(self.attributes) or None, None, None, True)


@dataclass(frozen=True)
class PrivacyReport:
    """The measurements of one check."""

    measurements: tuple[Measurement, ...]

    @property
    def satisfied(self) -> bool:
        """Whether something was required and everything required is met; a check without requirements proves
        nothing.
        """
        answers = [m.satisfied for m in self.measurements if m.satisfied is not None]
        return bool(answers) and all(answers)

    @property
    def violated(self) -> tuple[Measurement, ...]:
        """The measurements that miss their requirement."""
        return tuple(m for m in self.measurements if m.satisfied is False)
