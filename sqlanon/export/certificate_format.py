"""The certificate of an export as JSON: the types of its members, which generate the published JSON Schema.

Reading is strict: an unknown or missing member and a value of another type are errors.
"""

from __future__ import annotations

import json
from inspect import cleandoc
from math import inf, isfinite, nan
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading

CERTIFICATE_FORMAT: Final = "sqlanon export certificate"
CERTIFICATE_VERSION: Final = 1
# The member that the signature does not cover: the signature itself.
SIGNATURE = "signature"
# The largest number of levels of a hierarchy.
_MAX_HEIGHT = 10_000
_NOT_FINITE = {"infinity": inf, "-infinity": -inf, "not a number": nan}

Number = Annotated[int, Meta(ge=0)]
Height = Annotated[int, Meta(ge=0, le=_MAX_HEIGHT)]
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
# Infinite numbers, which JSON lacks, as texts.
Figure = float | Literal["infinity", "-infinity", "not a number"] | None
# The replacement of a column's values, and whether its key is kept.
InPlaceKind = Literal[
    "key forgotten",
    "key kept",
    "mask, key forgotten",
    "mask, key kept",
    "mask, no key",
    "shift, key forgotten",
    "shift, key kept",
]
Argument = bool | int | float | str | list[bool | int | float | str]
Arguments = dict[str, Argument]


class _Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An object of a certificate. A member with its default value is left out."""


class Rows(_Member, frozen=True, kw_only=True):
    """The numbers of rows of the source, of the release, and of the source's rows that are in no row of the release.

    The number for the source is null if it would reveal a person, as it would in a release made of counts with noise.
    """

    source: Number | None
    released: Number
    suppressed: Number


class JoinedWith(_Member, frozen=True, kw_only=True):
    """The other release in a requirement of a join, and the columns of the join."""

    release: str
    on: tuple[str, ...]
    released: str


class KnownTriple(_Member, frozen=True, kw_only=True):
    """The knowledge of an adversary about people with a value: the number of values that they lack, of other people,
    and of others of the family. `value` is the place of the value among the files' values, from 0, in the order of the
    bytes of their texts and NULL last; null means every value.
    """

    value: Number | None
    l: Number  # noqa: E741 - the paper's name
    k: Number
    m: Number


class RequirementEntry(_Member, frozen=True, kw_only=True):
    """A requirement of the policy or of the method, with its figures and their source. `known` is the adversary's
    knowledge about the files' values, if a table states it.
    """

    requirement: str
    model: str
    question: str
    arguments: Arguments
    attributes: tuple[str, ...]
    on: tuple[str, ...] = ()
    meaning: str
    paper: str
    attribute: str | None
    joined_with: JoinedWith | None = None
    required: Figure
    achieved: Figure
    satisfied: bool | None
    recomputed_from: str
    known: tuple[KnownTriple, ...] | None = None


class AssumptionEntry(_Member, frozen=True, kw_only=True):
    """An assumption behind the figures, and what is not hidden because of it."""

    name: str
    attributes: tuple[str, ...]
    meaning: str
    not_hidden: str


class LevelEntry(_Member, frozen=True, kw_only=True):
    """The level of a quasi-identifier in all rows, or null and the levels in the rows. If a requirement compares with
    broader classes, `above` has for each shown label, in the order of their bytes and NULL last, the numbers of the
    labels above it, from the next level to the last level below the top.
    """

    attribute: str
    hierarchy: str | None
    level: Height | None
    levels: tuple[Height, ...] = ()
    height: Height
    above: tuple[tuple[Number, ...], ...] = ()


class LossEntry(_Member, frozen=True, kw_only=True):
    """The loss that was minimized, and the proven distance from the least loss."""

    question: str
    achieved: Figure
    proven_optimal: bool | None
    at_least: Figure
    definition: str | None


class AttributeEntry(_Member, frozen=True, kw_only=True):
    """A column of the policy. Its type is null if the column is not published.

    A sensitive column with a `min_level` above 0, or with nodes to `hide`, has labels of its hierarchy in all rows.
    """

    name: str
    type: str | None
    role: Role
    hierarchy: str | None
    min_level: int | None
    max_level: int | None
    weight: float
    pseudonym: InPlaceKind | None
    hide: tuple[str, ...] = ()


class HierarchyEntry(_Member, frozen=True, kw_only=True):
    """A hierarchy of the policy, without its labels, except the labels of open ends, which are listed with their ends.

    `values_at` is the level above 0 that shows values, besides the labels of open ends.
    """

    name: str
    kind: str
    height: Height
    ends: Arguments = {}
    values_at: Height | None = None


class PolicyEntry(_Member, frozen=True, kw_only=True):
    """The policy as a statement without queries, and as a list of its columns."""

    name: str
    fingerprint_sha256: str
    statement: str
    source: Literal["relation", "query"]
    public: Literal["relation", "query"] | None
    attributes: tuple[AttributeEntry, ...]
    hierarchies: tuple[HierarchyEntry, ...]


class MethodEntry(_Member, frozen=True, kw_only=True):
    """The method with the arguments of its statement, and with all its options."""

    name: str
    arguments: Arguments
    options: Arguments
    published: str | None


class OtherRelease(_Member, frozen=True, kw_only=True):
    """Another release of the same source; its readers may also have this release."""

    release: str
    kind: str
    method: str | None
    exported: str | None
    stands: bool


class ColumnEntry(_Member, frozen=True, kw_only=True):
    """A published column: its reading, the levels of its labels, and its source column if the names differ."""

    name: str
    type: str
    reading: Reading
    levels: tuple[Height, ...] = ()
    source: str | None = None

    @property
    def behind(self) -> str:
        """The name of the source's column."""
        return self.name if self.source is None else self.source


class TableEntry(_Member, frozen=True, kw_only=True):
    """A table of a release that publishes several tables."""

    name: str
    rows: Number
    columns: tuple[ColumnEntry, ...]


class CsvEntry(_Member, frozen=True, kw_only=True):
    """The characters between and around the fields of a CSV file, if they are not a comma and a quotation mark."""

    delimiter: str
    quote: str


class Versions(_Member, frozen=True, kw_only=True):
    """The versions of the engine and of sqlanon."""

    engine: str
    sqlanon: str


class VersionsEntry(_Member, frozen=True, kw_only=True):
    """The versions that made the release, and those that exported it."""

    released_with: Versions
    exported_with: Versions


class TimeEntry(_Member, frozen=True, kw_only=True):
    """The times of the release and of the export, in UTC."""

    released: str
    exported: str


class FileEntry(_Member, frozen=True, kw_only=True):
    """A file beside the certificate."""

    name: str
    bytes: Number
    sha256: Digest


class ContentEntry(_Member, frozen=True, kw_only=True):
    """A table of a database, with the SHA-256 of its rows."""

    name: str
    sha256: Digest


class SignatureEntry(_Member, frozen=True, kw_only=True):
    """The signature of the certificate without this member, as JSON with sorted keys and without spaces."""

    algorithm: Literal["Ed25519"]
    public_key: str
    value: str


class Certificate(_Member, frozen=True, kw_only=True):
    """The certificate of an export. A certificate within a data file has neither `files` nor `contents`."""

    format: Literal["sqlanon export certificate"]
    format_version: Literal[1]
    release: str
    rows: Rows
    requirements: tuple[RequirementEntry, ...]
    assumptions: tuple[AssumptionEntry, ...]
    levels: tuple[LevelEntry, ...]
    loss: LossEntry
    policy: PolicyEntry
    method: MethodEntry
    other_releases: tuple[OtherRelease, ...]
    columns: tuple[ColumnEntry, ...] | None = None
    tables: tuple[TableEntry, ...] | None = None
    partitioned_by: tuple[str, ...] | None = None
    csv: CsvEntry | None = None
    versions: VersionsEntry
    time: TimeEntry
    files: tuple[FileEntry, ...] | None = None
    dictionary: FileEntry | None = None
    contents: tuple[ContentEntry, ...] | None = None
    signature: SignatureEntry | None = None

    def __post_init__(self) -> None:
        """Raises ValueError unless it has the columns of one table, or several tables."""
        if (self.columns is None) == (not self.tables):
            raise ValueError("a certificate has either columns or tables")

    @property
    def all_tables(self) -> tuple[TableEntry, ...]:
        """Returns the tables; if there are no `tables`, the only table, which has the name of the release."""
        if self.tables:
            return self.tables
        return (TableEntry(name=self.release, rows=self.rows.released, columns=self.columns or ()),)


class RepeatedMemberError(ValueError):
    """Raised if an object has two members of the same name, because programs differ in which of the two they read."""


def certificate_content(text: str) -> dict[str, object]:
    """Returns the members of a certificate of any version; empty for any other text. Raises RepeatedMemberError."""
    try:
        read = json.loads(text, object_pairs_hook=_members)
    except RepeatedMemberError:
        raise
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) and read.get("format") == CERTIFICATE_FORMAT else {}


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise RepeatedMemberError
    return members


def certificate_of(content: dict[str, object]) -> Certificate:
    """Returns the certificate that has these members.

    Raises ValueError for members that a certificate of this version lacks, or that have another form.
    """
    canonical(content)
    try:
        certificate = msgspec.convert(content, Certificate)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if content_of(certificate) != content:
        raise ValueError("a member without a value is not left out")
    return certificate


def content_of(certificate: Certificate) -> dict[str, object]:
    """Returns the members of a certificate."""
    content: dict[str, object] = json.loads(json.dumps(msgspec.to_builtins(certificate)))
    return content


def to_json(certificate: Certificate) -> str:
    """Returns the text of a certificate, with its members in the order of their definition."""
    return json.dumps(content_of(certificate), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def canonical(content: dict[str, object]) -> bytes:
    """Returns the bytes to be signed. Raises ValueError for numbers and texts that cannot be in a certificate."""
    others = {name: value for name, value in content.items() if name != SIGNATURE}
    text = json.dumps(others, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def certificate_schema() -> dict[str, object]:
    """Returns the JSON Schema (draft 2020-12) of a certificate."""
    _, definitions = msgspec.json.schema_components([Certificate], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = cleandoc(definition["description"])
        for name, member in definition.get("properties", {}).items():
            definition["properties"][name] = _never_empty(member)
    certificate = definitions.pop("Certificate") | {"oneOf": [{"required": ["columns"]}, {"required": ["tables"]}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **certificate,
        "title": f"{CERTIFICATE_FORMAT}, version {CERTIFICATE_VERSION}",
        "$defs": definitions,
    }


def _never_empty(member: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of a member without its default value, because certificates leave this value out."""
    match member:
        case {"anyOf": [*kinds], "default": None}:
            (schema,) = (kind for kind in kinds if kind != {"type": "null"})
            return dict(schema)
        case {"default": []}:
            return {name: value for name, value in member.items() if name != "default"} | {"minItems": 1}
    return member


def figure_of(number: float | None) -> Figure:
    """Converts a number to a figure for JSON; infinite numbers are texts."""
    if number is None or isfinite(number):
        return number
    return "infinity" if number > 0 else "-infinity" if number < 0 else "not a number"


def number_of(figure: Figure) -> float | None:
    """Converts a figure to the number."""
    return _NOT_FINITE[figure] if isinstance(figure, str) else figure
