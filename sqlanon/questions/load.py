"""Reads a question - a privacy model, a metric or an attack - from its file under `sql/`.

A file has a header of `-- key: value` lines and one or more statements, each below
a line `-- statement: name`. The same text is asked wherever the question comes up:
in the search, in the guard of a view, in a check and in a macro.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from sqlanon.assets import listing, read
from sqlanon.errors import InternalError, UserError

__all__ = ["Parameter", "Question", "load_question", "question_names"]

_HEADER = re.compile(r"^-- ([a-z ]+): (.*)$")
_PARAMETER = re.compile(r"^(\w+) ([A-Z]+) (\S+) (\S+)")


@dataclass(frozen=True)
class Parameter:
    """A named argument of a question with its SQL type and its least and greatest value."""

    name: str
    type: str
    low: Decimal
    high: Decimal


@dataclass(frozen=True)
class Question:
    """One file under `sql/<kind>/`; the header's facts are declared there and never asked by name."""

    name: str
    title: str
    paper: str
    parameters: tuple[Parameter, ...]
    required: str
    monotone: bool
    monotone_under_suppression: bool
    reads: tuple[str, ...]
    statements: dict[str, str]

    def statement(self, name: str) -> str:
        if name not in self.statements:
            raise InternalError(f"the question {self.name} has no statement {name!r}")
        return self.statements[name]


def question_names(kind: str = "models") -> tuple[str, ...]:
    """The questions of one kind, after their files."""
    return tuple(name.removesuffix(".sql") for name in listing("sql", kind) if name.endswith(".sql"))


@cache
def load_question(name: str, kind: str = "models") -> Question:
    """The question `name`; raises UserError, with the names there are, if there is none."""
    known = question_names(kind)
    if name not in known:
        raise UserError(f"there is no privacy model {name!r}", hint=f"there are: {', '.join(known)}")
    headers, statements = _sections(read("sql", kind, f"{name}.sql"))
    return Question(
        name=name,
        title=headers["title"][0],
        paper=headers["paper"][0],
        parameters=tuple(_parameter(name, text) for text in headers.get("parameter", ())),
        required=headers["required"][0],
        monotone=_yes(headers["monotone"][0]),
        monotone_under_suppression=_yes(headers["monotone under suppression"][0]),
        reads=tuple(part.strip() for part in headers["reads"][0].split(",")),
        statements=statements,
    )


def _sections(text: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    headers: dict[str, list[str]] = {}
    statements: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        match = _HEADER.match(line)
        if match and match[1] == "statement":
            current = statements.setdefault(match[2].strip(), [])
        elif current is not None:
            current.append(line)
        elif match:
            headers.setdefault(match[1], []).append(match[2].strip())
    return headers, {name: "\n".join(lines).strip() for name, lines in statements.items()}


def _parameter(question: str, text: str) -> Parameter:
    match = _PARAMETER.match(text)
    if not match:
        raise InternalError(f"the header of {question} has a parameter without name, type and bounds: {text}")
    return Parameter(match[1], match[2], Decimal(match[3]), Decimal(match[4]))


def _yes(text: str) -> bool:
    return text.split()[0] == "yes"
