"""JSON that loses nothing: exact decimals, names told from strings, one canonical text.

A number with a fraction is a Decimal and one without is an int, so that what a user
writes by hand as {"k": 4, "t": 0.3} reads like `k => 4, t => 0.3`. A name is written
{"name": ["schema", "table"]}.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
from msgspec import Meta

from sqlanon.domain.values import QualifiedName, Scalar, Value

Arguments = tuple[tuple[str, Value], ...]
# A text that is not empty, and the parts of a name.
Text = Annotated[str, Meta(min_length=1)]
Parts = Annotated[tuple[Text, ...], Meta(min_length=1, max_length=3)]
T = TypeVar("T")

# Beyond this many digits a decimal in JSON is a mistake, and writing it out would fill the memory.
_MOST_DIGITS = 400

_SCALARS = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class JsonObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An object with exactly these members; one with a default value is left out where it has that value."""


class BadJson(ValueError):
    """The text is not JSON, or not JSON of the expected shape. Says what is wrong, not where it stands."""


def loads(text: str) -> Any:
    """Parses JSON; raises BadJson for anything ambiguous, such as a key that stands twice."""
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
        raise BadJson("a key stands twice in one object")
    return made


def dumps(value: Any) -> str:
    """JSON without spaces, keys in the order they have."""
    return _write(value, sort=False)


def canonical(value: Any) -> str:
    """JSON without spaces, keys sorted: equal values have equal text."""
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
    """Always with a fraction, which tells it from an int, and without zeros that mean nothing."""
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
    """Named arguments as one object. Raises BadJson if one is given twice."""
    return _without_duplicates([(name, value_to_json(value)) for name, value in arguments])


def arguments_from_json(json_value: object) -> Arguments:
    if not isinstance(json_value, dict):
        raise BadJson('named arguments must be an object such as {"k": 4}')
    return tuple((name, value_from_json(value)) for name, value in json_value.items())


def positional_from_json(json_value: object) -> tuple[Value, ...]:
    """Positional arguments: a list such as [5, 10, 20]."""
    return tuple(_scalar_from_json(value) for value in typed(json_value, list[Any], "the arguments"))


def typed(json_value: object, kind: type[T], what: str) -> T:
    """A parsed JSON value as a type of msgspec's.

    Raises BadJson, with the place, unless it is written as a value of that type is: with all members and no other.
    """
    try:
        value = msgspec.convert(json_value, kind, builtin_types=(Decimal,))
    except msgspec.ValidationError as error:
        raise BadJson(f"{what}: {error}") from None
    if not _is_written(msgspec.to_builtins(value, builtin_types=(Decimal,)), json_value):
        raise BadJson(f"{what}: a member without a value is not left out")
    return value


def _is_written(value: object, json_value: object) -> bool:
    """Whether a value, whose types were compared, has the members and the items of a parsed one."""
    if isinstance(value, dict) and isinstance(json_value, dict):
        return value.keys() == json_value.keys() and all(_is_written(value[key], json_value[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(json_value, list):
        return len(value) == len(json_value) and all(map(_is_written, value, json_value))
    return value == json_value


def json_of(value: JsonObject) -> dict[str, Any]:
    """The JSON value of an object."""
    members: dict[str, Any] = msgspec.to_builtins(value, builtin_types=(Decimal,))
    return members
