"""The column `source` of `anon.policy`: a relation's name as JSON or as a user would write it."""

from __future__ import annotations

import re

from sqlanon.catalog._json import BadJson, dumps, loads, name_from_json
from sqlanon.domain.values import QualifiedName

__all__ = ["read_source", "write_source"]

_PART = r'(?:"(?:[^"]|"")+"|[^\s".;()\[\]]+)'
_NAME = re.compile(rf"{_PART}(?:\.{_PART}){{0,2}}")


def write_source(name: QualifiedName) -> str:
    """The parts of the name as a JSON list, which needs no quoting rules."""
    return dumps(list(name.parts))


def read_source(text: str) -> QualifiedName:
    """Reads ["main", "patients"] as well as main.patients, main."my table" and "my table".

    Text that begins with a bracket is JSON. Raises BadJson if it is neither.
    """
    trimmed = text.strip()
    if trimmed.startswith("["):
        return name_from_json(loads(trimmed))
    if not _NAME.fullmatch(trimmed):
        raise BadJson("it is not a name")
    parts = re.findall(_PART, trimmed)
    return QualifiedName(tuple(p[1:-1].replace('""', '"') if p.startswith('"') else p for p in parts))
