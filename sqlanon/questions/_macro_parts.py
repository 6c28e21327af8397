"""The SQL of `sql/macros` that macros are put together from.

A file has parts, each below a line `-- part: name`. A hole `{{name}}` is filled in when a
macro is made; a mark `$name` stands for what a call will give.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from sqlanon.assets import read
from sqlanon.errors import InternalError

MARK = re.compile(r"\$(\w+)")
_HOLE = re.compile(r"\{\{(\w+)\}\}")
_PART = "-- part: "


@cache
def _parts(file: str) -> Mapping[str, str]:
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in read("sql", "macros", f"{file}.sql").splitlines():
        if line.startswith(_PART):
            lines = parts.setdefault(line.removeprefix(_PART), [])
        elif not line.lstrip().startswith("--"):
            lines.append(line)
    return {name: "\n".join(body).strip() for name, body in parts.items()}


def filled(file: str, part: str, **values: str) -> str:
    """A part of a file, without its comments, with a value in each of its holes."""
    return _HOLE.sub(lambda hole: values[hole[1]], _parts(file)[part])


def literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def text(query: str) -> str:
    """A literal for a query with its marks, each of them between two dollars."""
    if len(MARK.findall(query)) != query.count("$"):
        raise InternalError("a text that macros are made of has a dollar that is not one of $name")
    return literal(MARK.sub(r"$\1$", query))
