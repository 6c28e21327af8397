"""What stands for a value that is known only when a statement runs: ?, $1, $name, and getvariable('name')."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.domain.values import Value, written


@dataclass(frozen=True)
class Placeholder:
    """A parameter, or a variable of the session (`is_variable`), by its name; ? is called by its number, from 1."""

    name: str
    is_variable: bool = False

    def __str__(self) -> str:
        if self.is_variable:
            return f"getvariable({written(self.name)})"
        return f"${self.name}"


class Placeholders:
    """The placeholders of one statement in the order in which they are read, and their values once they are known.

    Without values a statement is read to see that it is written correctly, and something stands in for each.
    """

    def __init__(self, values: Mapping[Placeholder, Value] | None = None) -> None:
        self._values = values
        self._unnamed = 0
        self.read: list[Placeholder] = []

    @property
    def are_known(self) -> bool:
        """Whether the values are those with which the statement runs."""
        return self._values is not None

    def unnamed(self) -> Placeholder:
        """The next ?, which has the next number."""
        self._unnamed += 1
        return Placeholder(str(self._unnamed))

    def value(self, placeholder: Placeholder, stand_in: Value) -> Value:
        """The placeholder's value, or what stands in for it where the values are not known."""
        self.read.append(placeholder)
        return stand_in if self._values is None else self._values[placeholder]
