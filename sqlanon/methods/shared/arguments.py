"""The arguments of a method, declared as fields of its `Options`.

Each field is an `argument`, with the values that it takes and a line of help. Parsing, listing and explaining arguments
all read these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from sqlanon.domain.identifiers import nearest
from sqlanon.domain.policy import Requirement
from sqlanon.domain.requests import BUDGET, MethodCall
from sqlanon.domain.values import UNNAMED, QualifiedName, Value, plain_number, written
from sqlanon.errors import PolicyError, about
from sqlanon.syntax.texts import budget_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_Options = TypeVar("_Options", bound="DataclassInstance")
_KEY = "argument"


class Kind(StrEnum):
    """The kinds of values that arguments take, in words."""

    WHOLE = "a whole number"
    NUMBER = "a number"
    FRACTION = "a fraction between 0 and 1"
    CHOICE = "one of"
    FLAG = "true or false"
    WHOLES = "a list of whole numbers"
    COLUMN = "the name of a column"
    COLUMNS = "a list of columns"
    BUDGET = "the name of a budget"
    SPAN = "a whole number of rows, or a time such as INTERVAL '10 minutes'"


@dataclass(frozen=True)
class Argument:
    """One argument of a method: its possible values and its help text.

    A number, or each number of a list, is from `least` to `most`, or greater than `above`; `unit` names what is
    counted, such as "of seconds". `example` is a valid value. If `needs` is given, the argument has an effect only if
    another argument has the value in `needs`. `alternatives` are greater values with which a dry run compares the
    chosen one. `finds_columns` is true if the argument excludes columns that the user names.
    """

    help: str
    kind: Kind
    least: int | None = None
    most: int | None = None
    above: int | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    example: Value | None = None
    needs: tuple[str, str] | None = None
    alternatives: tuple[Decimal | str, ...] = ()
    finds_columns: bool = False

    @property
    def takes(self) -> str:
        """Describes the valid values in words."""
        if self.kind is Kind.CHOICE:
            return f"{self.kind} {', '.join(map(written, self.choices))}"
        bounds = [
            *([f"from {self.least}"] if self.least is not None else []),
            *([f"above {self.above}"] if self.above is not None else []),
            *([f"to {self.most}" if self.above is None else f"and up to {self.most}"] if self.most is not None else []),
        ]
        return " ".join([self.kind, *([self.unit] if self.unit else []), *bounds])


def argument(help: str, kind: Kind, *, default: Any = MISSING, **about: Any) -> Any:
    """Declares a field of `Options`. An argument without a default is required; an argument whose default is None is
    optional.
    """
    return field(default=default, metadata={_KEY: Argument(help, kind, **about)})


def arguments_of(options: type[DataclassInstance]) -> dict[str, Argument]:
    """The arguments of a method by name, in the order of its help."""
    return {option.name: option.metadata[_KEY] for option in fields(options)}


def parsed(method: str, options: type[_Options], arguments: Sequence[tuple[str, Value]]) -> _Options:
    """Parses the options of a method, with defaults for missing arguments.

    Raises PolicyError for an argument that is missing, unknown, of the wrong type, outside its bounds or not among its
    choices, and for an argument whose `needs` are not met.
    """
    known, values = arguments_of(options), dict(arguments)
    for name in values:
        if name not in known:
            raise PolicyError(
                f"{method} has no argument {name!r}", hint=_instead(method, name, known), part=("method", method, name)
            )
    if missing := [name for name in required(options) if name not in values]:
        raise PolicyError(f"{method} lacks its argument {missing[0]!r}", hint=f"write {_example(method, options)}")
    checked: dict[str, Value] = {}
    for name, value in values.items():
        with about("method", method, name):
            checked[name] = _checked(method, name, known[name], value)
    instance = options(**checked)
    for name in values:
        with about("method", method, name):
            _require_needed(method, name, known[name], instance)
    return instance


def with_names(
    method: str, options: type[DataclassInstance], arguments: Sequence[tuple[str, Value]]
) -> tuple[tuple[str, Value], ...]:
    """Returns the arguments with a name for the argument that was written without one, such as 3 in anatomy(3).

    This argument is the only required one that is missing. Raises PolicyError if there is no such argument, or several.
    """
    values = dict(arguments)
    if UNNAMED not in values:
        return tuple(arguments)
    missing = [name for name in required(options) if name not in values]
    if len(missing) != 1:
        known = arguments_of(options)
        raise PolicyError(
            f"{method}: it is not clear which argument {written(values[UNNAMED])} is",
            hint=_instead(method, str(values[UNNAMED]), known),
            part=("method", method, UNNAMED),
        )
    return tuple((missing[0] if name == UNNAMED else name, value) for name, value in arguments)


def required(options: type[DataclassInstance]) -> list[str]:
    """The names of the required arguments."""
    return [option.name for option in fields(options) if option.default is MISSING]


def given_or_default(options: DataclassInstance) -> dict[str, Value]:
    """Each argument that has a value and an effect, given or by default."""
    known = arguments_of(type(options))
    values = {name: getattr(options, name) for name, argument in known.items() if _is_needed(argument, options)}
    return {name: value for name, value in values.items() if value not in (None, ())}


def called(method: str, arguments: Mapping[str, Value]) -> str:
    """Formats a method with its arguments, as a user writes them."""
    budget = budget_text(MethodCall(method, tuple(arguments.items())))
    inside = ", ".join(f"{name} => {written(value)}" for name, value in arguments.items() if name != BUDGET)
    return f"{method}({inside}){budget}" if inside else f"{method}{budget}"


def _instead(method: str, name: str, known: Mapping[str, Argument]) -> str:
    if name == BUDGET:
        return "it adds no noise, which a budget would pay for: leave UNDER BUDGET out"
    if not known:
        return f"it has none: write METHOD {method}"
    if chosen := _of_choice(name, known):
        return f"write {chosen}"
    return nearest(name, list(known)) or f"it has: {', '.join(known)}"


def _of_choice(name: str, known: Mapping[str, Argument]) -> str | None:
    """Returns the argument whose choice a user wrote as an argument name, such as mode => 'strict' for strict => true.

    Returns None if `name` is not a choice of an argument.
    """
    for argument_name, argument in known.items():
        for choice in argument.choices:
            if name in (choice, f"{choice}_{argument_name}", f"{argument_name}_{choice}"):
                return f"{argument_name} => {written(choice)}"
    return None


def _example(method: str, options: type[DataclassInstance]) -> str:
    known = arguments_of(options)
    return called(method, {name: example_of(known[name]) for name in required(options)})


def example_of(argument: Argument) -> Value:
    """A value that the argument takes."""
    if argument.example is not None:
        return argument.example
    number = argument.least if argument.least is not None else (argument.above or 0) + 1
    values: dict[Kind, Value] = {
        Kind.CHOICE: argument.choices[0] if argument.choices else "",
        Kind.FRACTION: Decimal("0.5"),
        Kind.FLAG: True,
        Kind.WHOLES: (number,),
        Kind.COLUMN: QualifiedName(("column",)),
        Kind.COLUMNS: (QualifiedName(("age",)), QualifiedName(("sex",))),
        Kind.BUDGET: QualifiedName(("b",)),
    }
    return values.get(argument.kind, number)


def _checked(method: str, name: str, argument: Argument, value: Value) -> Value:
    taken = _TAKEN[argument.kind](argument, value)
    if taken is not None:
        return taken
    if argument.kind is Kind.CHOICE:
        choices = ", ".join(f"{name} => {written(choice)}" for choice in argument.choices)
        raise PolicyError(f"{method}: there is no {name} {written(value)}", hint=f"write one of {choices}")
    raise PolicyError(
        f"{method}: {name} must be {argument.takes}, not {written(value)}",
        hint=f"write {name} => {written(_meant(argument, value))}",
    )


def _meant(argument: Argument, value: Value) -> Value:
    """Returns the value that a user probably meant: a fraction for a percentage such as 5, otherwise an example."""
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if argument.kind is Kind.FRACTION and is_number and 1 < Decimal(str(value)) <= 100:
        return plain_number(Decimal(str(value)).scaleb(-2))
    return example_of(argument)


def _require_needed(method: str, name: str, argument: Argument, options: DataclassInstance) -> None:
    if argument.needs and not _is_needed(argument, options):
        other, value = argument.needs
        raise PolicyError(
            f"{method}: {name} belongs to {other} => {written(value)}",
            hint=f"leave it out, or write {other} => {written(value)}, {name} => {written(example_of(argument))}",
        )


def _is_needed(argument: Argument, options: DataclassInstance) -> bool:
    return argument.needs is None or getattr(options, argument.needs[0]) == argument.needs[1]


def _within(argument: Argument, number: int | Decimal) -> bool:
    return (
        (argument.least is None or number >= argument.least)
        and (argument.above is None or number > argument.above)
        and (argument.most is None or number <= argument.most)
    )


def _whole(argument: Argument, value: Value) -> int | None:
    number = plain_number(value) if isinstance(value, Decimal) else value
    return number if type(number) is int and _within(argument, number) else None


def _number(argument: Argument, value: Value) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    return number if number.is_finite() and _within(argument, number) else None


def _fraction(argument: Argument, value: Value) -> Decimal | None:
    share = _number(argument, value)
    return share if share is not None and 0 <= share <= 1 else None


def _choice(argument: Argument, value: Value) -> str | None:
    return value if isinstance(value, str) and value in argument.choices else None


def _flag(_: Argument, value: Value) -> bool | None:
    return value if isinstance(value, bool) else None


def _wholes(argument: Argument, value: Value) -> tuple[int, ...] | None:
    if not isinstance(value, tuple) or not value:
        return None
    numbers = [number for number in (_whole(argument, element) for element in value) if number is not None]
    return tuple(numbers) if len(numbers) == len(value) else None


def _column(_: Argument, value: Value) -> str | None:
    name = value.name if isinstance(value, QualifiedName) else value
    return name if isinstance(name, str) and name else None


def _columns(argument: Argument, value: Value) -> tuple[str, ...] | None:
    parts = value if isinstance(value, tuple) else (value,)
    names = [name for name in (_column(argument, part) for part in parts) if name is not None]
    return tuple(names) if names and len(names) == len(parts) else None


def _span(argument: Argument, value: Value) -> int | str | None:
    return value if isinstance(value, str) and value.strip() else _whole(argument, value)


_TAKEN: Mapping[Kind, Callable[[Argument, Value], Value | None]] = {
    Kind.WHOLE: _whole,
    Kind.NUMBER: _number,
    Kind.FRACTION: _fraction,
    Kind.CHOICE: _choice,
    Kind.FLAG: _flag,
    Kind.WHOLES: _wholes,
    Kind.COLUMN: _column,
    Kind.COLUMNS: _columns,
    Kind.BUDGET: _column,
    Kind.SPAN: _span,
}


# The arguments of the l-diversity that a method guarantees for every class.


VARIANTS = ("probabilistic", "distinct", "entropy", "recursive")


@dataclass(frozen=True)
class Diversity:
    """The arguments of l-diversity: l, variant and, for 'recursive', c (Machanavajjhala et al. 2007)."""

    l: int = argument(  # noqa: E741 - the papers' name
        "the l for which every bucket is l-diverse", Kind.WHOLE, least=2, most=1_000_000, example=3
    )
    variant: str = argument("the form of l-diversity", Kind.CHOICE, default=VARIANTS[0], choices=VARIANTS)
    c: Decimal = argument(
        "the ratio of the most frequent value of a bucket to the rarer values: it must stay below c",
        Kind.NUMBER,
        default=Decimal(3),
        above=0,
        most=1_000_000,
        example=3,
        needs=("variant", "recursive"),
    )


def promised_diversity(options: Diversity) -> Requirement:
    """The requirement on every class that the arguments express."""
    arguments: list[tuple[str, Value]] = [("l", options.l), ("variant", options.variant)]
    if options.variant == "recursive":
        arguments.append(("c", options.c))
    return Requirement("l_diversity", tuple(arguments))
