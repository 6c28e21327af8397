"""Builds the certificate of an export: the policy, its requirements, and the figures that they reach.

It does not quote values of the source. It has the names, kinds and levels of columns and hierarchies. The text of a
hierarchy, or of a source that is a query, may contain values and is left out; the policy's fingerprint covers both.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime
from io import StringIO
from typing import Any, Literal

import msgspec

from sqlanon import __version__
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, HierarchyDefinition, InPlace, Mask, Policy, Pseudonym, Role, Shift
from sqlanon.domain.release import LABELS, KnownRelease, Measurement, Reading, Release, ReleaseAttribute
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Column
from sqlanon.errors import InternalError
from sqlanon.export.certificate_format import (
    CERTIFICATE_FORMAT,
    CERTIFICATE_VERSION,
    AssumptionEntry,
    AttributeEntry,
    Certificate,
    ColumnEntry,
    CsvEntry,
    HierarchyEntry,
    InPlaceKind,
    JoinedWith,
    KnownTriple,
    LevelEntry,
    LossEntry,
    MethodEntry,
    OtherRelease,
    PolicyEntry,
    RequirementEntry,
    Rows,
    TableEntry,
    TimeEntry,
    Versions,
    VersionsEntry,
    figure_of,
)
from sqlanon.export.claims import (
    EntryMembers,
    arguments_of,
    as_of_method,
    asked_by,
    asked_of_join,
    requirement_entry,
    stated_arguments,
    stated_timestamp,
)
from sqlanon.export.formats.base import COMMAS, CsvFields
from sqlanon.methods.base import EXPORTED
from sqlanon.methods.registry import assumed_of, options_of, worded
from sqlanon.sources.joins import JoinedRequirement
from sqlanon.sql.hierarchies.base import END_OPTIONS, OpenEnd, open_ends, values_at
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.syntax.definitions import policy_text

_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)
# The meaning of respondents if the policy names none.
_ROWS = " Each row counts as a respondent, since the policy names no ENTITY."


@dataclass(frozen=True)
class Proof:
    """A requirement with its measurement.

    `hidden` is input that no file shows, such as the respondents: the figure then describes the snapshot when it was
    made. It is None if the figure was recomputed from the exported file. `known` are the triples of `released_triples`.
    """

    requirement: BoundRequirement
    achieved: Measurement
    hidden: str | None = None
    known: Sequence[Sequence[Any]] | None = None


@dataclass(frozen=True)
class Evidence:
    """Inputs of a certificate.

    `columns` are the file's columns, `types` the source's types by column name. For a release of several tables,
    `tables` instead has each table's name, number of rows and columns. `structure` has the measurements of the method's
    own promises, and `others` has the other releases of the same source.

    `joins` are the requirements of the join with the release `joined`, with their measurements. Each combination of
    values of the columns `partition` has its own files; if `partition` is empty, there are several files without such
    columns. `csv` has the separators of a CSV file. `above` has, by quasi-identifier, the numbers of the labels above
    each of its labels.
    """

    release: Release
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    proofs: Sequence[Proof]
    columns: Sequence[Column]
    engine_version: str
    exported_at: datetime
    tables: Sequence[tuple[str, int, Sequence[Column]]] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    structure: Sequence[Measurement] = ()
    others: Sequence[KnownRelease] = ()
    joins: Sequence[tuple[JoinedRequirement, Measurement]] = ()
    joined: Release | None = None
    partition: tuple[str, ...] | None = None
    csv: CsvFields = COMMAS
    above: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)


def certificate(evidence: Evidence) -> Certificate:
    """Builds the certificate without digests of the data, because a file cannot contain its own digest."""
    release, csv = evidence.release, evidence.csv
    wording = worded(release.method, release.method_arguments)
    return Certificate(
        format=CERTIFICATE_FORMAT,
        format_version=CERTIFICATE_VERSION,
        release=release.name.name,
        rows=Rows(source=release.source_rows, released=release.released_rows, suppressed=release.suppressed_rows),
        requirements=(
            *(_requirement(proof, evidence.policy) for proof in evidence.proofs),
            *(_structure(evidence, measurement) for measurement in evidence.structure),
            *(_of_join(evidence, *each) for each in evidence.joins),
        ),
        assumptions=tuple(
            AssumptionEntry(name=item.name, attributes=item.attributes, meaning=item.meaning, not_hidden=item.leaves)
            for item in assumed_of(release)
        ),
        levels=tuple(
            _levels(a, evidence.above.get(a.name, ()))
            for a in release.attributes
            if a.role is Role.QUASI_IDENTIFIER and a.levels
        ),
        loss=_loss(release, wording.losses),
        policy=_policy(evidence),
        method=MethodEntry(
            name=release.method,
            arguments=stated_arguments(release.method_arguments),
            options=stated_arguments(tuple(options_of(release.method, release.method_arguments).items())),
            published=wording.published,
        ),
        other_releases=tuple(map(_other, evidence.others)),
        columns=None if evidence.tables else _columns(evidence, None, evidence.columns),
        tables=_tables(evidence) if evidence.tables else None,
        partitioned_by=evidence.partition,
        csv=None if csv == COMMAS else CsvEntry(delimiter=csv.delimiter, quote=csv.quote),
        versions=VersionsEntry(
            released_with=Versions(engine=release.engine_version, sqlanon=release.sqlanon_version),
            exported_with=Versions(engine=evidence.engine_version, sqlanon=__version__),
        ),
        time=TimeEntry(released=stated_timestamp(release.created_at), exported=stated_timestamp(evidence.exported_at)),
    )


def _other(release: KnownRelease) -> OtherRelease:
    """Returns the entry of another release of the same source, without the names of the sources."""
    return OtherRelease(
        release=release.name.name,
        kind=release.kind,
        method=release.method,
        exported=None if release.exported_at is None else stated_timestamp(release.exported_at),
        stands=release.stands,
    )


def _tables(evidence: Evidence) -> tuple[TableEntry, ...]:
    return tuple(
        TableEntry(name=name, rows=rows, columns=_columns(evidence, made.fragment, columns))
        for made, (name, rows, columns) in zip(evidence.release.published, evidence.tables, strict=True)
    )


def _columns(evidence: Evidence, fragment: str | None, columns: Sequence[Column]) -> tuple[ColumnEntry, ...]:
    """Returns the entries of columns, with their names, types and readings."""
    release = evidence.release
    known = {attribute.name: attribute for attribute in release.attributes_of(fragment)}
    coarse = {fold(attribute.name) for attribute in evidence.policy.all_attributes if attribute.is_coarse}
    readings = {as_of_method(known[name].reading, fold(name) in coarse) for name, _ in columns} - {Reading.TOKEN}
    if not any(readings.issubset(together) for together in worded(release.method, release.method_arguments).tables):
        raise InternalError(
            f"the method {release.method} does not say that it publishes a table whose columns are read as "
            f"{', '.join(map(str, readings))}; nothing was exported"
        )
    return tuple(_column(name, kind, known[name]) for name, kind in columns)


def _column(name: str, kind: str, attribute: ReleaseAttribute) -> ColumnEntry:
    levels = tuple(attribute.levels) if attribute.reading in LABELS else ()
    return ColumnEntry(name=name, type=kind, reading=attribute.reading, levels=levels, source=attribute.source or None)


def _levels(attribute: ReleaseAttribute, above: tuple[tuple[int, ...], ...]) -> LevelEntry:
    several = tuple(attribute.levels)
    is_one = len(several) == 1
    return LevelEntry(
        attribute=attribute.name,
        hierarchy=attribute.hierarchy,
        level=several[0] if is_one else None,
        levels=() if is_one else several,
        height=attribute.height or 0,
        above=above,
    )


def _requirement(proof: Proof, policy: Policy) -> RequirementEntry:
    question = proof.requirement.question
    seen = f"snapshot with its {proof.hidden}, when it was made" if proof.hidden else "exported file"
    # No single file shows how much is known about people in several tables.
    seen = EXPORTED if policy.related else seen
    rows = _ROWS if "respondents" in question.title and policy.entity is None else ""
    meaning = question.title + rows + proof.requirement.scope
    entry = requirement_entry(asked_by(proof.requirement), proof.achieved, meaning, question.paper, seen)
    if proof.known is None:
        return entry
    known = tuple(KnownTriple(value=value, l=l, k=k, m=m) for value, l, k, m in proof.known)  # noqa: E741
    return msgspec.structs.replace(entry, known=known)


def _structure(evidence: Evidence, reached: Measurement) -> RequirementEntry:
    """Returns the entry of a promise of the method."""
    release = evidence.release
    figure = worded(release.method, release.method_arguments).figures[reached.question]
    arguments = stated_arguments(release.method_arguments)
    members = EntryMembers(figure.named(reached), reached.question, reached.question, arguments)
    reached = replace(reached, attribute=None)
    return requirement_entry(members, reached, figure.meaning, figure.paper, figure.recomputed_from)


def _of_join(evidence: Evidence, requirement: JoinedRequirement, reached: Measurement) -> RequirementEntry:
    """Returns the entry of a requirement on the join with another release. The files of this release do not show the
    join.
    """
    other, joined = evidence.joined, evidence.policy.joined
    assert other is not None
    assert joined is not None
    name, statistic = other.name.name, requirement.statistic.statistic
    with_release = JoinedWith(release=name, on=tuple(joined.columns), released=stated_timestamp(other.created_at))
    members, seen = asked_of_join(requirement), f"both releases, joined with {name}"
    return requirement_entry(members, reached, statistic.title, statistic.paper, seen, with_release)


def _loss(release: Release, definitions: Mapping[str, str]) -> LossEntry:
    """Returns the entry of the minimized loss, with the bound that the search has proven."""
    name = release.loss_name
    return LossEntry(
        question=name,
        achieved=figure_of(release.loss),
        proven_optimal=release.proven_optimal,
        at_least=figure_of(release.loss_bound),
        definition=definitions.get(name),
    )


def _policy(evidence: Evidence) -> PolicyEntry:
    policy, types = evidence.policy, {fold(name): kind for name, kind in evidence.types.items()}
    return PolicyEntry(
        name=evidence.release.policy,
        fingerprint_sha256=evidence.release.policy_fingerprint,
        statement=_statement(policy),
        source=_kind(policy.source),
        public=None if policy.against is None else _kind(policy.against),
        attributes=tuple(_attribute(attribute, types) for attribute in policy.all_attributes),
        hierarchies=tuple(_hierarchy(h.definition, h.height) for h in evidence.hierarchies),
    )


def _hierarchy(definition: HierarchyDefinition, height: int) -> HierarchyEntry:
    value_level = values_at(definition)
    has_ends = value_level is not None or open_ends(definition)
    options = [(name, value) for name, value in definition.options if has_ends and name in END_OPTIONS]
    return HierarchyEntry(
        name=definition.name, kind=definition.kind, height=height, ends=stated_arguments(options), values_at=value_level
    )


def _attribute(attribute: Attribute, types: Mapping[str, str]) -> AttributeEntry:
    """Returns the entry of an attribute; `types` has the types by folded name."""
    pseudonym = attribute.pseudonym
    return AttributeEntry(
        name=attribute.name,
        # An estimate needs the type for the values below a label. The types of columns that are not published stay
        # private.
        type=None if pseudonym or attribute.role in _HIDDEN else types.get(fold(attribute.name)),
        role=attribute.role,
        hierarchy=attribute.hierarchy,
        min_level=attribute.min_level,
        max_level=attribute.max_level,
        weight=float(attribute.weight),
        pseudonym=_pseudonym(pseudonym) if pseudonym else None,
        hide=attribute.hide,
    )


def _pseudonym(pseudonym: InPlace) -> InPlaceKind:
    """Returns the kind of a pseudonym; tokens with a kept key can be joined with other releases with this key."""
    if isinstance(pseudonym, Shift):
        return "shift, key kept" if pseudonym.lasts else "shift, key forgotten"
    if isinstance(pseudonym, Mask):
        if pseudonym.is_keyless:
            return "mask, no key"
        return "mask, key kept" if pseudonym.lasts else "mask, key forgotten"
    return "key kept" if pseudonym.lasts else "key forgotten"


def _statement(policy: Policy) -> str:
    """Writes the policy as SQL, without queries and without the variables of keys."""
    attributes = _without_keys(policy.attributes)
    against = _unquoted(policy.against) if policy.against else None
    related = tuple(
        replace(table, source=_unquoted(table.source), attributes=_without_keys(table.attributes))
        for table in policy.related
    )
    plain = replace(policy, source=_unquoted(policy.source), attributes=attributes, against=against, related=related)
    return policy_text(plain)


def _without_keys(attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
    return tuple(replace(a, pseudonym=_without_key(a.pseudonym)) if a.pseudonym else a for a in attributes)


def _without_key(pseudonym: InPlace) -> InPlace:
    if isinstance(pseudonym, Shift):
        return replace(pseudonym, key_variable=None)
    return Mask(pseudonym.name, pseudonym.arguments) if isinstance(pseudonym, Mask) else Pseudonym()


def _unquoted(source: Source) -> Source:
    return Source(name=QualifiedName(("query, not shown",))) if source.query else source


def _kind(source: Source) -> Literal["relation", "query"]:
    return "query" if source.query else "relation"


# The relation between a value of a published column and a row of the source, in words.


_OF_ROWS: Mapping[Reading, str] = {
    Reading.EXACT: "the row's own value",
    Reading.LABEL: "the label of the row's value, at a level of its hierarchy; `*` is any value",
    Reading.LABEL_OR_NULL: "the label of the row's value, at a level of its hierarchy; NULL is any value",
    Reading.ITEM_LABELS: "labels of the items in the row's list, each once, in the order of the labels",
    Reading.RANGE: "the range of the values of the row's region; its ends are values that rows have",
    Reading.CENTROID: "a value that represents those of the row's region",
    Reading.LOWER_BOUND: "the least value of the row's region",
    Reading.UPPER_BOUND: "the greatest value of the row's region",
    Reading.TOKEN: "a substitute for the value: a token, a mask or a shifted date",
    Reading.BUCKET: "the number of the row's bucket",
    Reading.BUCKET_VALUE: "a value of one row of the bucket, or of any row where there is neither bucket nor group",
    Reading.BUCKET_RANGE: "a range with the value of one row of the bucket",
    Reading.COUNT: "how many rows of the bucket have the value beside it",
    Reading.COUNTERFEITS: "how many values of the bucket are counterfeits, which no row has",
    Reading.GROUP: "the number of the row's group in this table",
    Reading.LINK: "the group that the row has in another table",
    Reading.RESPONDENT: "the number of the person whose row it is, drawn for this release and the same in its tables",
    Reading.DOMAIN_VALUE: "a value that anybody may know, beside a count with noise or drawn by such counts",
    Reading.NOISY_COUNT: "how many rows have the values beside it, with noise; it may be below 0",
}
# For a release that has, or could have, counterfeits.
_WITH_COUNTERFEITS: Mapping[Reading, str] = {
    Reading.BUCKET: "the number of the bucket",
    Reading.BUCKET_VALUE: "a value of one row of the bucket, or a counterfeit, which no row has",
    Reading.RANGE: "the range of the values that the people of the bucket have",
    Reading.COUNT: "how many rows and counterfeits of the bucket have the value beside it",
}


def words_of(certificate: Certificate) -> Mapping[Reading, str]:
    """Returns the words for each reading of a column in the tables of a certificate."""
    columns = [column for table in certificate.tables or () for column in table.columns]
    has_counterfeits = any(column.reading is Reading.COUNTERFEITS for column in columns)
    return {**_OF_ROWS, **_WITH_COUNTERFEITS} if has_counterfeits else _OF_ROWS


# The dictionary of an export, from the certificate: the meaning of each column, in a row for each column.


_HEAD = ("table", "column", "type", "role", "a value is", "hierarchy", "level", "height", "a label means")

# The meaning of a label, by the kind of the hierarchy.
_LABELS: Mapping[str, str] = {
    "intervals": "[20,30) is any value from 20 to below 30; * is any value",
    "rounding": "50 is any number of which that is the nearest multiple of the level's base; * is any value",
    "prefixes": "941** is any value that begins with 941 and is as long; * alone is any value",
    "calendar": "2026-03 is any date or timestamp of that month, 2026-W10 of that week, 2026-Q1 of that quarter, "
    "2026 of that year, 202* of that decade, 20** of that century; * is any date or timestamp",
    "levels": "a value of the list that the publisher has made, or a group of these; * is any value",
    "parents": "a node of the tree that the publisher has made: any value below it; * is any value",
}
_ANY_LABEL = "what the publisher has put in the place of the values; * is any value"
# The readings of ranges, and the meaning of a range of texts, which looks like its two ends alone.
_RANGES = (Reading.RANGE, Reading.BUCKET_RANGE)
_ALPHABETICAL = "[a, c] is an alphabetical range: any text from a to c, such as b, and not one of the two alone"
_NO_HIERARCHY = "the value, or * for any value"


# Readings of columns that do not hold the source's values, although the role of a column may suggest so.
_ADDED = {
    Reading.BUCKET,
    Reading.COUNT,
    Reading.COUNTERFEITS,
    Reading.GROUP,
    Reading.LINK,
    Reading.RESPONDENT,
    Reading.NOISY_COUNT,
}


@dataclass(frozen=True)
class ColumnMeaning:
    """The meaning of a published column in words; fields that do not apply are empty."""

    table: str
    column: str
    type: str
    role: str
    value: str
    hierarchy: str
    level: str
    height: str
    label: str

    @property
    def sentence(self) -> str:
        """Returns the meaning in one line, without table and column."""
        level = f"level {self.level} of {self.height}" if self.level and self.height else ""
        hierarchy = f"hierarchy {self.hierarchy}" if self.hierarchy else ""
        parts = (self.value, level, hierarchy, self.label)
        return f"{self.role}: {'; '.join(filter(None, parts))}"


def dictionary(certificate: Certificate) -> str:
    """Writes the data dictionary of a certificate: CSV with a header, with the separators of the data file."""
    text = StringIO()
    fields = certificate.csv or COMMAS
    writer = csv.writer(text, delimiter=fields.delimiter, quotechar=fields.quote, lineterminator="\n")
    writer.writerow(_HEAD)
    writer.writerows(map(astuple, meanings(certificate)))
    return text.getvalue()


def definition_of(hierarchy: HierarchyEntry) -> HierarchyDefinition:
    """Returns the parts of a hierarchy that readers of labels need: its kind and its open ends."""
    first = ("ends",) if hierarchy.values_at is not None else ()
    return HierarchyDefinition(hierarchy.name, hierarchy.kind, first, arguments_of(hierarchy.ends))


def _reach(end: OpenEnd) -> str:
    if end.low is not None:
        return f" from {end.low} on"
    return "" if end.high is None else f" below {end.high}"


def _label(hierarchy: HierarchyEntry) -> str:
    """Describes the labels of a hierarchy in words."""
    ends = [f"{end.label} is any value{_reach(end)}" for end in open_ends(definition_of(hierarchy))]
    alone = ["a value stands for itself"] if hierarchy.values_at is not None else []
    return "; ".join([*ends, *alone, _LABELS.get(hierarchy.kind, _ANY_LABEL)])


def _levels_of(column: ColumnEntry, attribute: AttributeEntry | None) -> Sequence[int]:
    """Returns the levels of a column's labels: those in the release, or the policy's level of a sensitive column."""
    is_sensitive = attribute is not None and attribute.role is Role.SENSITIVE and column.reading is Reading.LABEL
    return (attribute.min_level,) if is_sensitive and attribute and attribute.min_level else column.levels


def meanings(certificate: Certificate) -> Iterator[ColumnMeaning]:
    """Yields the meaning of each column of a certificate, table by table."""
    attributes = {fold(a.name): a for a in certificate.policy.attributes}
    hierarchies = {fold(h.name): h for h in certificate.policy.hierarchies}
    words = words_of(certificate)
    for table in certificate.all_tables:
        for column in table.columns:
            attribute = None if column.reading in _ADDED else attributes.get(fold(column.behind))
            is_label = column.reading in (*LABELS, Reading.ITEM_LABELS)
            named = attribute.hierarchy if attribute and is_label else None
            hierarchy = hierarchies.get(fold(named)) if named else None
            label = _label(hierarchy) if hierarchy else _NO_HIERARCHY if is_label else ""
            if column.reading in _RANGES and attribute and attribute.type == "VARCHAR" and not attribute.hierarchy:
                label = _ALPHABETICAL
            yield ColumnMeaning(
                table=table.name,
                column=column.name,
                type=column.type,
                role=attribute.role.value.replace("_", " ") if attribute else "added by the method",
                value=words[column.reading],
                hierarchy=named or "",
                level=" or ".join(map(str, _levels_of(column, attribute))),
                height=str(hierarchy.height) if hierarchy else "",
                label=label,
            )
