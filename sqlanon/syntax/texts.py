"""Writes the parts that statements share: names, literals, arguments, calls, sources and lists of columns.

The text is canonical, with every name in quotes, and reads back to an equal part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from sqlanon.domain.policy import JoinedRelease, Requirement, Sample
from sqlanon.domain.requests import BUDGET, FigureCall, MethodCall
from sqlanon.domain.values import UNNAMED, QualifiedName, Source, Value
from sqlanon.errors import StatementError
from sqlanon.syntax.lexer import RESERVED
from sqlanon.syntax.query_text import query_text

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def arguments_text(arguments: Iterable[tuple[str, Value]]) -> list[str]:
    return [
        value_text(value) if name == UNNAMED else f"{_argument_text(name)} => {value_text(value)}"
        for name, value in arguments
    ]


def _argument_text(name: str) -> str:
    """Formats the name of an argument before =>, where a reserved word needs no quotes."""
    return name if _PLAIN.fullmatch(name) else name_text(name)


def value_text(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return string_text(value)
        case QualifiedName():
            return qualified_text(value)
        case Decimal():
            return decimal_text(value)
        case int():
            return str(value)
        case tuple():
            return f"({', '.join(map(value_text, value))})"


def decimal_text(value: Decimal) -> str:
    """Formats a Decimal so that it is read as a Decimal again: 4 as 4.0."""
    if not value.is_finite():
        raise StatementError(f"{value} is not a number", hint="write a finite number")
    text = str(value)
    return text if set(text) & {".", "E"} else f"{text}.0"


def word_text(name: str) -> str:
    """Formats a name that sqlanon defines (a model, a method, an argument): without quotes if possible."""
    return name if _PLAIN.fullmatch(name) and name not in RESERVED else name_text(name)


def name_text(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def typed_name(name: str) -> str:
    """Formats a name for a hint, to be typed: in quotes only if it needs them."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in RESERVED else name_text(name)


def typed_qualified(name: QualifiedName) -> str:
    """Formats a name with its schema for a hint, to be typed."""
    return ".".join(map(typed_name, name.parts))


def qualified_text(name: QualifiedName) -> str:
    return ".".join(map(name_text, name.parts))


def releases_text(names: Iterable[QualifiedName]) -> str:
    """Formats the names of releases, separated by commas."""
    return ", ".join(map(qualified_text, names))


def string_text(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def names_text(names: Iterable[str]) -> str:
    """Formats names in quotes, separated by commas."""
    return ", ".join(map(name_text, names))


def call_text(call: Requirement | MethodCall | FigureCall) -> str:
    """Formats a requirement as after REQUIRE, a method as after METHOD, or a figure with its arguments."""
    name = call.model if isinstance(call, Requirement) else call.name
    arguments = [part for part in call.arguments if part[0] != BUDGET or not isinstance(call, MethodCall)]
    return f"{word_text(name)}({', '.join(arguments_text(arguments))})"


def budget_text(method: MethodCall) -> str:
    """Returns UNDER BUDGET and its name after a space; empty for a method without a budget."""
    budget = dict(method.arguments).get(BUDGET)
    if budget is None:
        return ""
    return f" UNDER BUDGET {name_text(budget.name if isinstance(budget, QualifiedName) else str(budget))}"


def figure_text(call: FigureCall) -> str:
    """Formats a figure as after FIGURES or MEASURE."""
    return call_text(call) if call.arguments else word_text(call.name)


def requirements_text(requirements: Iterable[Requirement]) -> str:
    """Returns REQUIRE and the requirements; empty if there are no requirements."""
    required = ", ".join(map(call_text, requirements))
    return f"REQUIRE {required}" if required else ""


def source_text(source: Source) -> str:
    """Formats a source: its name, or a query in parentheses. Raises StatementError for a text that is not a query."""
    if source.name is not None:
        return qualified_text(source.name)
    return f"({query_text(source.query or '')})"


def against_text(public: Source | None) -> str:
    """Returns AGAINST and the table, before a space; empty if there is no public table."""
    return f"AGAINST {source_text(public)} " if public else ""


def joined_text(joined: JoinedRelease | None) -> str:
    """Returns JOINED WITH RELEASE and its columns, before a space; empty if there is no joined release."""
    if joined is None:
        return ""
    return f"JOINED WITH RELEASE {qualified_text(joined.release)} ON ({names_text(joined.columns)}) "


def sample_text(sample: Sample | None) -> str:
    """Returns SAMPLE with the fraction or the number of people; empty if the source is not a sample."""
    if sample is None:
        return ""
    return f"SAMPLE OF {sample.people}" if sample.fraction is None else f"SAMPLE FRACTION {value_text(sample.fraction)}"


def sensitive_text(sensitive: Iterable[str], hierarchies: Iterable[tuple[str, str]]) -> str:
    """Returns SENSITIVE with its columns and their hierarchies, after a space; empty if there are no columns."""
    using = {column: f" USING {name_text(hierarchy)}" for column, hierarchy in hierarchies}
    named = ", ".join(name_text(column) + using.get(column, "") for column in sensitive)
    return f" SENSITIVE {named}" if named else ""


def sets_text(keyword: str, sets: Sequence[Sequence[str]]) -> str:
    """Returns CONFIDENTIAL, VISIBLE, FRAGMENTS or COLUMNS with the sets of columns; empty if there are no sets."""
    return f"{keyword} " + ", ".join(f"({names_text(columns)})" for columns in sets) if sets else ""


def levels_text(release: QualifiedName | None) -> str:
    """Returns LEVELS FROM RELEASE and the release, after a space; empty if there is no release."""
    return f" LEVELS FROM RELEASE {qualified_text(release)}" if release is not None else ""


def create_text(or_replace: bool) -> str:
    """Returns CREATE or CREATE OR REPLACE, before a space."""
    return "CREATE OR REPLACE " if or_replace else "CREATE "


def if_exists_text(is_conditional: bool) -> str:
    """Returns IF EXISTS before a space, or an empty text."""
    return "IF EXISTS " if is_conditional else ""


def if_not_exists_text(is_conditional: bool) -> str:
    """Returns IF NOT EXISTS before a space, or an empty text."""
    return "IF NOT EXISTS " if is_conditional else ""
