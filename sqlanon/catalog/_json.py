"""Writes values, policies, hierarchies and sources as JSON or text without loss, and reads them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
from msgspec import Meta, convert, field
from msgspec.structs import replace as replace_member

from sqlanon.domain.policy import (
    Attribute,
    HierarchyDefinition,
    InPlace,
    JoinedRelease,
    Mask,
    Pivot,
    Policy,
    Pseudonym,
    RelatedTable,
    Requirement,
    Role,
    Sample,
    Shift,
)
from sqlanon.domain.release import SourceRead
from sqlanon.domain.values import QualifiedName, Scalar, Source, Value

# JSON without loss: exact decimals, names distinct from strings, one canonical text.
#
# A number with a fraction is a Decimal and one without is an int, so that what a user
# writes by hand as {"k": 4, "t": 0.3} reads like `k => 4, t => 0.3`. A name is written
# {"name": ["schema", "table"]}.


Arguments = tuple[tuple[str, Value], ...]
# A text that is not empty, and the parts of a name.
Text = Annotated[str, Meta(min_length=1)]
Parts = Annotated[tuple[Text, ...], Meta(min_length=1, max_length=3)]
T = TypeVar("T")

# Beyond this many digits a decimal in JSON is a mistake, and writing it out would fill the memory.
_MOST_DIGITS = 400

_SCALARS = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class JsonObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of JSON objects with exactly these members; a member that has its default value is not written."""


class BadJson(ValueError):
    """Raised if a text is not JSON, or not JSON of the expected form. The message does not name the row."""


def loads(text: str) -> Any:
    """Parses JSON; raises BadJson for ambiguous JSON, such as an object with a repeated key."""
    try:
        return json.loads(
            text, parse_float=Decimal, parse_constant=_no_such_number, object_pairs_hook=_without_duplicates
        )
    except json.JSONDecodeError as error:
        raise BadJson(f"{error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise BadJson("it nests too deeply") from None
    except BadJson:
        raise
    except ValueError:
        raise BadJson("a number in it is too long") from None


def _no_such_number(text: str) -> NoReturn:
    raise BadJson(f"{text} is not a number")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise BadJson("an object has a key twice")
    return made


def dumps(value: Any) -> str:
    """Writes JSON without spaces, with keys in their own order."""
    return _write(value, sort=False)


def canonical(value: Any) -> str:
    """Writes JSON without spaces, with sorted keys, so that equal values have equal texts."""
    return _write(value, sort=True)


def _write(value: Any, sort: bool) -> str:
    if isinstance(value, Decimal):
        return _write_decimal(value)
    if isinstance(value, dict):
        items = sorted(value.items()) if sort else value.items()
        return "{" + ",".join(f"{_write(key, sort)}:{_write(item, sort)}" for key, item in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_write(item, sort) for item in value) + "]"
    return _SCALARS.encode(value)


def _write_decimal(value: Decimal) -> str:
    """Writes a Decimal with a fraction, which distinguishes it from an int, and without trailing zeros."""
    if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS:
        raise BadJson(f"{value} is not a number that can be stored")
    if not value:
        return "0.0"
    whole, _, fraction = format(value, "f").partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


def value_to_json(value: Value) -> Any:
    if isinstance(value, tuple):
        return [value_to_json(item) for item in value]
    return {"name": list(value.parts)} if isinstance(value, QualifiedName) else value


def value_from_json(json_value: object) -> Value:
    if not isinstance(json_value, list):
        return _scalar_from_json(json_value)
    if not json_value:
        raise BadJson("an argument must not be an empty list")
    return tuple(map(_scalar_from_json, json_value))


def _scalar_from_json(json_value: object) -> Scalar:
    if isinstance(json_value, Decimal):
        if abs(json_value.adjusted()) > _MOST_DIGITS:
            raise BadJson("a number in it is too long")
        return json_value
    if isinstance(json_value, bool | int | str):
        return json_value
    if isinstance(json_value, dict) and json_value.keys() == {"name"}:
        return name_from_json(json_value["name"])
    what = 'a number, a string, true, false, a name such as {"name": ["main", "t"]}'
    raise BadJson(f"an argument must be {what}, or a list of these")


def name_from_json(json_value: object) -> QualifiedName:
    return QualifiedName(typed(json_value, Parts, "a name"))


def arguments_to_json(arguments: Arguments) -> dict[str, Any]:
    """Returns named arguments as one object. Raises BadJson for a repeated name."""
    return _without_duplicates([(name, value_to_json(value)) for name, value in arguments])


def arguments_from_json(json_value: object) -> Arguments:
    if not isinstance(json_value, dict):
        raise BadJson('named arguments must be an object such as {"k": 4}')
    return tuple((name, value_from_json(value)) for name, value in json_value.items())


def positional_from_json(json_value: object) -> tuple[Value, ...]:
    """Reads positional arguments: a list such as [5, 10, 20]."""
    return tuple(_scalar_from_json(value) for value in typed(json_value, list[Any], "the arguments"))


def typed(json_value: object, kind: type[T], what: str) -> T:
    """Converts a parsed JSON value to a msgspec type.

    Raises BadJson, with the path of the member, for a missing or unknown member, or a value of another type.
    """
    try:
        value = msgspec.convert(json_value, kind, builtin_types=(Decimal,))
    except msgspec.ValidationError as error:
        raise BadJson(f"{what}: {error}") from None
    if not _is_written(msgspec.to_builtins(value, builtin_types=(Decimal,)), json_value):
        raise BadJson(f"{what}: a member without a value is not left out")
    return value


def _is_written(value: object, json_value: object) -> bool:
    """Whether a converted value would be written as the JSON value that was parsed."""
    if isinstance(value, dict) and isinstance(json_value, dict):
        return value.keys() == json_value.keys() and all(_is_written(value[key], json_value[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(json_value, list):
        return len(value) == len(json_value) and all(map(_is_written, value, json_value))
    return value == json_value


def json_of(value: JsonObject) -> dict[str, Any]:
    """Returns the JSON value of an object."""
    members: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(Decimal,))
    return members


# Policies and hierarchies as JSON and back: the types of the JSON objects, and the domain objects they represent.


# Arguments have numbers of two kinds, which no union of msgspec distinguishes; `arguments_from_json` reads them.
_Arguments = dict[str, Any]


class DefinitionObject(JsonObject, frozen=True):
    """JSON of the definition of a hierarchy."""

    name: Text
    kind: Text
    arguments: list[Any]
    options: _Arguments
    query: Text | None

    @classmethod
    def of(cls, definition: HierarchyDefinition) -> DefinitionObject:
        """Returns the JSON object of a definition. Raises BadJson for numbers that cannot be stored."""
        arguments = [value_to_json(value) for value in definition.arguments]
        options = arguments_to_json(definition.options)
        return cls(definition.name, definition.kind, arguments, options, definition.query)

    @property
    def as_domain(self) -> HierarchyDefinition:
        """Returns the definition. Raises BadJson for invalid arguments."""
        arguments, options = positional_from_json(self.arguments), arguments_from_json(self.options)
        return HierarchyDefinition(self.name, self.kind, arguments, options, self.query)


class _Source(JsonObject, frozen=True):
    """JSON of a source: a name or a query, and the catalog entries that it refers to, if they are known."""

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


# The name that a shift has among the stored masks.
_SHIFT = "shift"


class MaskObject(JsonObject, frozen=True):
    """The JSON of a mask without its key, {"name": "card", "arguments": {"first": 6}}, or of a shift, by its width in
    days.
    """

    name: Text
    arguments: _Arguments = {}

    @classmethod
    def of(cls, mask: Mask | Shift) -> MaskObject:
        """Returns the JSON object of a mask or a shift."""
        return cls(_SHIFT if isinstance(mask, Shift) else mask.name, arguments_to_json(mask.arguments))

    def as_domain(self, key_variable: str | None) -> Mask | Shift:
        """Returns the mask or the shift with its key. Raises BadJson for invalid arguments."""
        if self.name == _SHIFT:
            match arguments_from_json(self.arguments):
                case (("days", int(days)),):
                    return Shift(days=days, key_variable=key_variable)
                case (("weeks", int(weeks)),):
                    return Shift(weeks=weeks, key_variable=key_variable)
                case _:
                    raise BadJson('a shift has one whole number, such as {"days": 182}')
        return Mask(self.name, arguments_from_json(self.arguments), key_variable)


class _Pseudonym(JsonObject, frozen=True):
    key_variable: Text | None
    mask: MaskObject | None = None

    @classmethod
    def of(cls, pseudonym: InPlace) -> _Pseudonym:
        mask = None if isinstance(pseudonym, Pseudonym) else MaskObject.of(pseudonym)
        return cls(pseudonym.key_variable, mask)

    @property
    def as_domain(self) -> InPlace:
        return self.mask.as_domain(self.key_variable) if self.mask else Pseudonym(self.key_variable)


class _Attribute(JsonObject, frozen=True):
    """The JSON of an Attribute of a policy; the members are its fields."""

    name: Text
    role: Role
    hierarchy: Text | None
    min_level: int | None
    max_level: int | None
    weight: Decimal
    pseudonym: _Pseudonym | None
    sampling_weight: bool = False
    hide: tuple[str, ...] = ()


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
        """Returns the JSON object of a pivot."""
        return cls(pivot.item, pivot.rating)

    @property
    def as_domain(self) -> Pivot:
        """Returns the pivot."""
        return Pivot(self.item, self.rating)


class JoinedObject(JsonObject, frozen=True):
    """The release that a policy joins: {"release": ["main", "of_jobs"], "columns": ["job"]}."""

    release: Parts
    columns: tuple[Text, ...]

    @classmethod
    def of(cls, joined: JoinedRelease) -> JoinedObject:
        """Returns the JSON object of a joined release."""
        return cls(joined.release.parts, joined.columns)

    @property
    def as_domain(self) -> JoinedRelease:
        """Returns the joined release."""
        return JoinedRelease(QualifiedName(self.release), self.columns)


class SampleObject(JsonObject, frozen=True):
    """The JSON of the share of a population that a source has: {"fraction": 0.02} or {"people": 1000000}."""

    fraction: int | Decimal | None = None
    people: int | None = None

    @classmethod
    def of(cls, sample: Sample) -> SampleObject:
        """Returns the JSON object of a sample."""
        return cls(sample.fraction, sample.people)

    @property
    def as_domain(self) -> Sample:
        """Returns the sample."""
        return Sample(None if self.fraction is None else Decimal(self.fraction), self.people)


class PolicyObject(JsonObject, frozen=True):
    """The JSON of a policy. Members that most policies do not need are left out if they are empty."""

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
    sample: SampleObject | None = None

    @classmethod
    def of(cls, policy: Policy) -> PolicyObject:
        """Returns the JSON object of a policy."""
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
            sample=SampleObject.of(policy.sample) if policy.sample else None,
        )

    @property
    def as_domain(self) -> Policy:
        """Returns the policy. Raises BadJson for invalid arguments."""
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
            sample=self.sample.as_domain if self.sample else None,
        )


def _attributes(attributes: tuple[Attribute, ...]) -> tuple[_Attribute, ...]:
    return tuple(
        replace_member(
            convert(replace(attribute, pseudonym=None), _Attribute, from_attributes=True),
            pseudonym=_Pseudonym.of(attribute.pseudonym) if attribute.pseudonym else None,
        )
        for attribute in attributes
    )


def _domain_attributes(attributes: tuple[_Attribute, ...]) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(
            name=attribute.name,
            role=attribute.role,
            hierarchy=attribute.hierarchy,
            min_level=attribute.min_level,
            max_level=attribute.max_level,
            weight=attribute.weight,
            pseudonym=attribute.pseudonym.as_domain if attribute.pseudonym else None,
            sampling_weight=attribute.sampling_weight,
            hide=attribute.hide,
        )
        for attribute in attributes
    )


# Sources as text: the column `source` of `anon.policy`, and the columns `sources` of releases and exports.


_PART = r'(?:"(?:[^"]|"")+"|[^\s".;()\[\]]+)'
_NAME = re.compile(rf"{_PART}(?:\.{_PART}){{0,2}}")


def write_source(name: QualifiedName) -> str:
    """Writes the parts of a name as a JSON list."""
    return dumps(list(name.parts))


def read_source(text: str) -> QualifiedName:
    """Reads ["main", "patients"] as well as main.patients, main."my table" and "my table".

    Text that begins with a bracket is JSON. Raises BadJson if it is not a name either.
    """
    trimmed = text.strip()
    if trimmed.startswith("["):
        return name_from_json(loads(trimmed))
    if not _NAME.fullmatch(trimmed):
        raise BadJson("it is not a name")
    parts = re.findall(_PART, trimmed)
    return QualifiedName(tuple(p[1:-1].replace('""', '"') if p.startswith('"') else p for p in parts))


def write_bound(bound: tuple[QualifiedName, ...]) -> str | None:
    """Writes the catalog entries that a source refers to as a JSON list of the parts of their names; NULL if they are
    not known.
    """
    return dumps([list(entry.parts) for entry in bound]) if bound else None


def read_bound(text: str | None) -> tuple[QualifiedName, ...]:
    """Reads the text of `write_bound`. Raises BadJson for any other text."""
    entries = () if text is None else typed(loads(text), tuple[Parts, ...], "the entries that a source is bound to")
    return tuple(map(QualifiedName, entries))


def write_sources(sources: tuple[SourceRead, ...]) -> str:
    """Writes sources as a JSON list: a relation as the list of its name's parts, a query as the text of its digest."""
    return dumps([list(item.parts) if isinstance(item, QualifiedName) else item for item in sources])


def read_sources(text: str) -> tuple[SourceRead, ...]:
    """Reads the text of `write_sources`. Raises BadJson for any other text."""
    items = typed(loads(text), tuple[Text | Parts, ...], "the sources")
    return tuple(item if isinstance(item, str) else QualifiedName(item) for item in items)
