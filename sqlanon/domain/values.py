"""The literals of sqlanon's statements, and names of objects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

# The name of the one argument of a model or method that was written without a name, as in k_anonymity(5).
UNNAMED = ""

# A whole number with more digits stays a Decimal, which does not write out its zeros.
_MOST_DIGITS = 40


@dataclass(frozen=True)
class QualifiedName:
    """A possibly qualified name: (table), (schema, table) or (database, schema, table).

    The parts are the names themselves, without quotes.
    """

    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        """The object's own name, without its schema."""
        return self.parts[-1]

    def __str__(self) -> str:
        return ".".join(self.parts)


def plain_number(number: Decimal) -> int | Decimal:
    """Returns the number as an int if it is whole: such as 3 for 3.0."""
    whole = number.is_finite() and number.adjusted() < _MOST_DIGITS and number == number.to_integral_value()
    return int(number) if whole else number


# An argument as a user writes it: k => 4, t => 0.3, variant => 'distinct', strict => true, or a name, ranges => bounds.
Scalar = bool | int | Decimal | str | QualifiedName
# Or a list of such values, groups => (2, 2).
Value = Scalar | tuple[Scalar, ...]


def written(value: Value) -> str:
    """Returns the value as a user writes it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))})"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


# The stored name of a policy's data frame, which is unique: the variable that held it, and 48 random bits.
FRAME_NAME = re.compile(r"\w+@[0-9a-f]{12}")


def variable_of(name: str) -> str | None:
    """Returns the variable in the stored name of a policy's data frame; None for any other name."""
    return name.partition("@")[0] if FRAME_NAME.fullmatch(name) else None


@dataclass(frozen=True)
class Source:
    """The rows that a policy is about, after ON: a relation's name or the text of a SELECT. Exactly one of the two is
    set.

    `bound` are the tables and views that the source read when the policy was made, by their full names, or by schema
    and name if they are in the policy's own database. A named relation comes first. `bound` is empty if they are
    unknown.
    """

    name: QualifiedName | None = None
    query: str | None = None
    bound: tuple[QualifiedName, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        if self.name and (variable := variable_of(self.name.name)):
            return f"data frame {variable}"
        return str(self.name) if self.name else f"({self.query})"

    @property
    def called(self) -> str:
        """The name that messages use; they do not show a query's text, because it may contain data."""
        return str(self) if self.name else "(SELECT ...)"
