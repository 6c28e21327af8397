"""Replaces the parameters of a statement, and variables of the session, by their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import StatementError, UserError
from sqlanon.sources.data_frames import plain_scalar
from sqlanon.statements.base import Statement
from sqlanon.statements.parser import filled
from sqlanon.syntax.lexer import Placeholder


def with_values(engine: Engine, statement: Statement, parameters: object = None) -> Statement:
    """Returns the statement with a value for each parameter and each variable in it.

    `parameters` is a list for ? and $1, or a mapping for $name, as for DuckDB's `execute`. Raises StatementError for a
    missing, unused or NULL value, and for a value of an unsupported type.
    """
    named = _by_name(parameters)
    values = {placeholder: _value(engine, placeholder, named) for placeholder in statement.placeholders}
    if unused := sorted(named.keys() - {fold(p.name) for p in statement.placeholders if not p.is_variable}):
        raise StatementError(
            f"the statement has no parameter ${unused[0]}",
            hint="write ? or $1 for the values of a list, $name for the values of a dict",
            position=statement.position,
        )
    return filled(statement, values) if values else statement


def _by_name(parameters: object) -> dict[str, Any]:
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping):
        return {fold(str(name)): value for name, value in parameters.items()}
    if isinstance(parameters, Sequence) and not isinstance(parameters, str):
        return {str(number): value for number, value in enumerate(parameters, start=1)}
    raise UserError("parameters are a list or a dict", hint="write execute(statement, [5]) or {'k': 5}")


def _value(engine: Engine, placeholder: Placeholder, named: Mapping[str, Any]) -> Value:
    if placeholder.is_variable:
        value = engine.rows("SELECT getvariable(?)", [placeholder.name])[0][0]
        missing = f"SET VARIABLE {placeholder.name} = ... first, or run the script with --set {placeholder.name}=..."
    else:
        value = named.get(fold(placeholder.name))
        missing = "pass it, as in execute(statement, [5]) for ? and {'k': 5} for $k"
    if value is None:
        raise StatementError(f"{placeholder} has no value", hint=missing, part=("placeholder", str(placeholder)))
    if isinstance(value, list | tuple):
        return tuple(_scalar(placeholder, element) for element in value)
    return _scalar(placeholder, value)


def _scalar(placeholder: Placeholder, value: object) -> bool | int | Decimal | str:
    scalar = plain_scalar(value)
    if scalar is None:
        raise StatementError(
            f"{placeholder} is of type {type(value).__name__}, or no finite number",
            hint="pass a number, a text, true or false, or a list of these",
        )
    return scalar
