"""Converts Python values to values of statements. A text is a single name or literal, and no part of it is read as
SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Generic, Self, TypeVar

from sqlanon.domain.values import QualifiedName, Scalar, Source, Value
from sqlanon.errors import InternalError, UserError
from sqlanon.sources.data_frames import plain_scalar
from sqlanon.statements.base import Statement
from sqlanon.statements.parser import parse_script
from sqlanon.syntax.query_text import query_text

# The base class of the objects: each represents a part of a statement. Objects with equal definitions are equal.


Definition = TypeVar("Definition")


class Defined(Generic[Definition]):
    """An immutable object that represents a part of a statement, its `definition`."""

    _definition: Definition

    @classmethod
    def of(cls, definition: Definition) -> Self:
        """Returns the object of a definition that is already checked, such as a definition from the catalog."""
        made = object.__new__(cls)
        made._definition = definition
        return made

    @property
    def definition(self) -> Definition:
        """Returns the object's definition: the result of reading its statement, as the catalog stores it."""
        return self._definition

    def __setattr__(self, name: str, value: object) -> None:
        """Raises AttributeError, because a new value would not be in the statement."""
        if name != "_definition" or "_definition" in self.__dict__:
            raise AttributeError(f"a {type(self).__name__} cannot be changed: make a new one")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Defined) and bool(self._definition == other._definition)

    def __hash__(self) -> int:
        return hash(self._definition)


Number = int | float | Decimal
# The name of a table, or its parts, as in ("main", "patients").
Name = str | tuple[str, ...]
# One column, or a list of columns.
Names = str | Sequence[str]
Argument = Number | str | Sequence[Number | str] | None

_MOST_PARTS = 3


class ValueKind(Enum):
    """The kind of an argument's value: a literal, or the names of tables or columns."""

    LITERAL = "a literal"
    COLUMN = "the name of a column"
    COLUMNS = "names of columns"
    RELATION = "the name of a table or view"


@dataclass(frozen=True)
class Query:
    """A query that can be given in place of a table's name: `Query("SELECT * FROM patients WHERE age < 90")`.

    The query may also name a file: `Query("FROM 'people.parquet'")`. Raises StatementError for a text that is not one
    query.

    >>> Query("SELECT * FROM patients -- all of them")
    Query(sql='SELECT * FROM patients')
    """

    sql: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "sql", query_text(text_argument("Query", self.sql)))


SourceName = str | tuple[str, ...] | Query


def described(value: object) -> str:
    """Formats a value for an error: a number or a text unchanged, and any other value as its type, so that no rows are
    shown.
    """
    return repr(value) if value is None or isinstance(value, str | Number | Defined) else f"a {type(value).__name__}"


def text_argument(argument: str, text: object) -> str:
    """Returns the text. Raises UserError, which names the argument, for any other value."""
    if not isinstance(text, str):
        raise UserError(f"{argument} is a text, not {type(text).__name__}")
    return text


def one_name(argument: str, name: object) -> str:
    """Returns a name with one part. Raises UserError for an empty text or any other value."""
    if not isinstance(name, str) or not name:
        raise UserError(f"{argument} is a name, not {described(name)}", hint=f'write {argument}="patients"')
    return name


def qualified_name(argument: str, name: object) -> QualifiedName:
    """Returns a table's name: a text is a name with one part, and a sequence has the parts of the name. Otherwise
    raises UserError.
    """
    if isinstance(name, str) or not isinstance(name, Sequence):
        return QualifiedName((one_name(argument, name),))
    if not 1 <= len(name) <= _MOST_PARTS:
        raise UserError(
            f"{argument} has {len(name)} parts", hint='write a name, or its parts, as in ("main", "patients")'
        )
    return QualifiedName(tuple(one_name(argument, part) for part in name))


def column_names(argument: str, names: object) -> tuple[str, ...]:
    """Returns a list of columns as a tuple; a text is one column. Raises UserError for any other value."""
    if isinstance(names, str):
        return (one_name(argument, names),)
    if not isinstance(names, Iterable):
        raise UserError(
            f"{argument} lists names of columns, and is {described(names)}", hint=f'write {argument}=["age"]'
        )
    return tuple(one_name(argument, name) for name in names)


def source_of(argument: str, name: object) -> Source:
    """Returns the source that a table's name or a `Query` denotes. Raises UserError for any other value."""
    if isinstance(name, Query):
        return Source(query=name.sql)
    return Source(name=qualified_name(argument, name))


def values(
    owner: str, arguments: Mapping[str, object], kinds: Mapping[str, ValueKind]
) -> tuple[tuple[str, Value], ...]:
    """Converts the arguments of a model or a method to values of a statement; arguments that are None are left out.

    In errors, the model or the method is called `owner`. Raises UserError for a value that no argument takes.
    """
    return tuple(
        (name.lower(), _value(f"{owner}: {name}", value, kinds.get(name.lower(), ValueKind.LITERAL)))
        for name, value in arguments.items()
        if value is not None
    )


def _value(argument: str, value: object, kind: ValueKind) -> Value:
    if kind is ValueKind.RELATION:
        return qualified_name(argument, value)
    if kind is ValueKind.COLUMN:
        return QualifiedName((one_name(argument, value),))
    if kind is ValueKind.COLUMNS:
        names = tuple(QualifiedName((name,)) for name in column_names(argument, value))
        return names[0] if isinstance(value, str) else names
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_literal(argument, element) for element in value)
    return _literal(argument, value)


def _literal(argument: str, value: object) -> Scalar:
    literal = plain_scalar(value)
    if literal is None:
        raise UserError(
            f"{argument} is of type {type(value).__name__}, or no finite number",
            hint="give a number, a text, True or False, or a list of these",
        )
    return literal


def python_value(value: Value) -> object:
    """Converts a value of a statement to a Python value that converts back to an equal value."""
    if isinstance(value, QualifiedName):
        return value.name if len(value.parts) == 1 else value.parts
    if isinstance(value, Decimal):
        near = float(value)
        return near if Decimal(repr(near)) == value else value
    return [python_value(element) for element in value] if isinstance(value, tuple) else value


# The text of a statement that is made from values of a program.


def statement_text(statement: Statement) -> str:
    """Returns the statement as text, without a semicolon: every name in quotes and every value a literal.

    The text is read back before it is returned, so that no value of a program can become another part of a statement.
    Raises StatementError if no text can represent the statement, and InternalError if the text reads as another
    statement.
    """
    text = statement.sql()
    if parse_script(text) != [statement]:
        raise InternalError("the text of a statement does not say what it was made of; nothing was done")
    return text
