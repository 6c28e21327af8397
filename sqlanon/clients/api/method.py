"""A method as an object, including methods of other packages."""

from __future__ import annotations

from typing import ClassVar

from sqlanon.clients.api.arguments import Argument, Defined, ValueKind, python_value, text_argument, values
from sqlanon.domain.requests import MethodCall
from sqlanon.methods.registry import find_method
from sqlanon.methods.shared.arguments import Kind, arguments_of
from sqlanon.syntax.texts import call_text


class Method(Defined[MethodCall]):
    """A method and its arguments, as after METHOD: `Method("mondrian", mode="relaxed")`.

    Each method that comes with sqlanon has its own class with documented arguments, such as `Mondrian`; this class also
    serves methods of other packages. Arguments that are None are left out and have their defaults.

    Raises UserError for an unknown method, and PolicyError for an argument that is missing, unknown, of the wrong type,
    outside its bounds or not among its choices.

    >>> Method("mondrian", mode="relaxed").sql()
    "mondrian(mode => 'relaxed')"
    """

    # Set in the classes that represent one method.
    METHOD: ClassVar[str] = ""

    def __init__(self, name: str, /, **arguments: Argument) -> None:
        method = text_argument("the name of a method", name).lower()
        known = find_method(method)
        of_names = {
            option: ValueKind.COLUMN
            for option, argument in arguments_of(known.OPTIONS).items()
            if argument.kind is Kind.COLUMN
        }
        self._definition = MethodCall(method, values(method, arguments, of_names))
        known.options(self._definition.arguments)

    @property
    def name(self) -> str:
        """The name of the method."""
        return self._definition.name

    @property
    def arguments(self) -> dict[str, object]:
        """Returns the arguments by their names, without the arguments that were left out."""
        return {name: python_value(value) for name, value in self._definition.arguments}

    def sql(self) -> str:
        """Returns the method as it is written after METHOD."""
        return call_text(self._definition)

    def __repr__(self) -> str:
        """Returns a Python call that makes an equal object."""
        named = [f"{name}={value!r}" for name, value in self.arguments.items()]
        return f"{type(self).__name__}({', '.join([*([] if self.METHOD else [repr(self.name)]), *named])})"
