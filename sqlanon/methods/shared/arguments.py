"""The arguments of a method, as the fields of its `Options` declare them.

Each field is an `argument`: what it takes, its bounds or choices, and a line of help. Whoever parses, lists or explains
arguments reads these.
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
    """The values that an argument takes, in words."""

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
    """The values that one argument takes, and what it is for.

    A number, or each of a list, is from `least` to `most`, or greater than `above`; `unit` is what it counts, "of
    seconds". `example` is a value that works. With `needs`, the argument says something only where another one has that
    value. `alternatives` are greater values that a dry run compares the chosen one with. What `finds_columns` cannot
    stand beside columns that the user names.
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
        """Describes in words the values that can be given."""
        if self.kind is Kind.CHOICE:
            return f"{self.kind} {', '.join(map(written, self.choices))}"
        bounds = [
            *([f"from {self.least}"] if self.least is not None else []),
            *([f"above {self.above}"] if self.above is not None else []),
            *([f"to {self.most}" if self.above is None else f"and up to {self.most}"] if self.most is not None else []),
        ]
        return " ".join([self.kind, *([self.unit] if self.unit else []), *bounds])


def argument(help: str, kind: Kind, *, default: Any = MISSING, **about: Any) -> Any:
    """A field of `Options`; without a default the argument has to be given, with None it may be left out."""
    return field(default=default, metadata={_KEY: Argument(help, kind, **about)})


def arguments_of(options: type[DataclassInstance]) -> dict[str, Argument]:
    """The arguments that a method takes, by name and in the order of its help."""
    return {option.name: option.metadata[_KEY] for option in fields(options)}


def parsed(method: str, options: type[_Options], arguments: Sequence[tuple[str, Value]]) -> _Options:
    """The options of a method, with the defaults of what is not given.

    Raises PolicyError for an argument that is missing, unknown, of the wrong type, outside its bounds or not among its
    choices, and for one whose `needs` are not met.
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
    """The arguments with the name of the one that was written without, as in anatomy(3).

    That is the only one which still has to be given. Raises PolicyError where there is no such argument, or several.
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
    """The arguments that have to be given."""
    return [option.name for option in fields(options) if option.default is MISSING]


def given_or_default(options: DataclassInstance) -> dict[str, Value]:
    """Every argument that has a value and that says something beside the others, whether given or by default."""
    known = arguments_of(type(options))
    values = {name: getattr(options, name) for name, argument in known.items() if _is_needed(argument, options)}
    return {name: value for name, value in values.items() if value not in (None, ())}


def called(method: str, arguments: Mapping[str, Value]) -> str:
    """A method with its arguments, as a user writes them."""
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
    """The argument with its value where the value was written as a name, as in strict => true; None for others."""
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
        f"{method}: {name} is {argument.takes}, not {written(value)}",
        hint=f"write {name} => {written(_meant(argument, value))}",
    )


def _meant(argument: Argument, value: Value) -> Value:
    """The fraction that is meant by a number of per cent, else an example."""
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


# The l-diversity that a method promises of every class, as arguments of its own.


VARIANTS = ("probabilistic", "distinct", "entropy", "recursive")


@dataclass(frozen=True)
class Diversity:
    """The arguments l, variant and c, for 'recursive', of l-diversity (Machanavajjhala et al. 2007)."""

    l: int = argument(  # noqa: E741 - the papers' name
        "the l of the l-diversity that every bucket has", Kind.WHOLE, least=2, most=1_000_000, example=3
    )
    variant: str = argument("which l-diversity", Kind.CHOICE, default=VARIANTS[0], choices=VARIANTS)
    c: Decimal = argument(
        "how many times as often as the rarer ones together a bucket's most frequent value may occur",
        Kind.NUMBER,
        default=Decimal(3),
        above=0,
        most=1_000_000,
        example=3,
        needs=("variant", "recursive"),
    )


def promised_diversity(options: Diversity) -> Requirement:
    """The requirement of every class that the arguments stand for."""
    arguments: list[tuple[str, Value]] = [("l", options.l), ("variant", options.variant)]
    if options.variant == "recursive":
        arguments.append(("c", options.c))
    return Requirement("l_diversity", tuple(arguments))
