"""What the shell says of methods: the arguments of each, while one types them and in `.help method`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from textwrap import fill
from typing import Any

from prompt_toolkit.completion import Completion

from sqlanon.again.streams.columns import METHOD as STREAM
from sqlanon.again.streams.columns import Options as StreamOptions
from sqlanon.domain.values import written
from sqlanon.methods.registry import METHODS, find_method
from sqlanon.methods.shared.arguments import Argument, Kind, arguments_of

_NAMED = re.compile(r"\bMETHOD\s+(\w*)$", re.IGNORECASE)
_OF_STREAM = re.compile(r"\bANONYMIZED\s+STREAM\b", re.IGNORECASE)
_OPENED = re.compile(r"\bMETHOD\s+(\w+)\s*\((.*)$", re.IGNORECASE | re.DOTALL)


def method_completions(before: str) -> Iterator[Completion]:
    """The methods whose names begin with what stands after METHOD."""
    if named := _NAMED.search(before):
        fitting = (STREAM,) if _OF_STREAM.search(_last_statement(before)) else METHODS
        yield from _beginning(named.group(1), dict.fromkeys(fitting, ""))


def argument_completions(before: str) -> list[Completion] | None:
    """What can come next among the arguments of a method: names with their help, or what one takes.

    None where the text does not end among them, or is about to name a column.
    """
    opened = _OPENED.search(_last_statement(before))
    options = _options_of(opened.group(1)) if opened else None
    if opened is None or options is None:
        return None
    pieces = _pieces(opened.group(2))
    if pieces is None:
        return None
    known = arguments_of(options)
    *written, last = pieces
    name, arrow, value = (part.strip() for part in last.partition("=>"))
    if not arrow:
        said = {piece.partition("=>")[0].strip().lower() for piece in written}
        left = {f"{other} => ": argument.help for other, argument in known.items() if other not in said}
        return list(_beginning(name, left))
    about = known.get(name.lower())
    if about is None or about.kind is Kind.COLUMN:
        return None
    return list(_beginning(value, dict.fromkeys(_values(about), about.takes)))


def _last_statement(before: str) -> str:
    """What stands behind the last semicolon."""
    return before.rpartition(";")[2]


def methods_described() -> str:
    """Each method with its arguments, what they take, what they are by default, and a line about each."""
    return "\n".join(map(method_described, [*METHODS, STREAM]))


def method_described(name: str) -> str:
    """A method with its arguments, what they take, what they are by default, and a line about each."""
    options = _options_of(name)
    return f"METHOD {name}{_described(options) if options else ''}"


def _options_of(name: str) -> type[Any] | None:
    """What the method of this name takes, one of streams or of releases; None if there is none."""
    if name.lower() == STREAM:
        return StreamOptions
    return find_method(name).OPTIONS if name.lower() in METHODS else None


def _described(options: type[Any]) -> str:
    known = arguments_of(options)
    defaults = {field.name: field.default for field in fields(options)}
    if not known:
        return ""
    lines = [
        fill(
            f"{other} => {about.takes}{_default(defaults[other])}: {about.help}",
            100,
            initial_indent="    ",
            subsequent_indent="        ",
        )
        for other, about in known.items()
    ]
    return f"({', '.join(known)})\n" + "\n".join(lines)


def _default(value: Any) -> str:
    if value is MISSING:
        return " (always given)"
    return "" if value in (None, ()) else f" (by default {written(value)})"


def _pieces(inside: str) -> list[str] | None:
    """What commas part between the parentheses of a call that is still open; None if it is closed."""
    depth, begun, pieces = 1, 0, []
    for at, character in enumerate(inside):
        depth += (character == "(") - (character == ")")
        if not depth:
            return None
        if character == "," and depth == 1:
            pieces.append(inside[begun:at])
            begun = at + 1
    return [*pieces, inside[begun:]]


def _values(about: Argument) -> list[str]:
    if about.kind is Kind.FLAG:
        return ["true", "false"]
    return [written(choice) for choice in about.choices]


def _beginning(typed: str, candidates: dict[str, str]) -> Iterator[Completion]:
    for candidate, meaning in candidates.items():
        if candidate.lower().startswith(typed.lower()) and candidate.strip() != typed:
            yield Completion(candidate, start_position=-len(typed), display_meta=meaning)
