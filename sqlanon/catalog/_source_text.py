"""What was read, as text: the column `source` of `anon.policy`, and the columns `sources` of releases and exports."""

from __future__ import annotations

import re

from sqlanon.catalog._json import BadJson, Parts, Text, dumps, loads, name_from_json, typed
from sqlanon.domain.release import SourceRead
from sqlanon.domain.values import QualifiedName

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


def write_bound(bound: tuple[QualifiedName, ...]) -> str | None:
    """A JSON list of the parts of each catalog entry that a source means; NULL if they are not known."""
    return dumps([list(entry.parts) for entry in bound]) if bound else None


def read_bound(text: str | None) -> tuple[QualifiedName, ...]:
    """Reads what `write_bound` writes. Raises BadJson if it is something else."""
    entries = () if text is None else typed(loads(text), tuple[Parts, ...], "the entries that a source is bound to")
    return tuple(map(QualifiedName, entries))


def write_sources(sources: tuple[SourceRead, ...]) -> str:
    """A JSON list: a relation as the list of its parts, the digest of a query as a text."""
    return dumps([list(item.parts) if isinstance(item, QualifiedName) else item for item in sources])


def read_sources(text: str) -> tuple[SourceRead, ...]:
    """Reads what `write_sources` writes. Raises BadJson if it is something else."""
    items = typed(loads(text), tuple[Text | Parts, ...], "the sources")
    return tuple(item if isinstance(item, str) else QualifiedName(item) for item in items)
