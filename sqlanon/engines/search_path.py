"""The setting search_path: the schemas in which DuckDB looks a name up, after the temporary relations."""

from __future__ import annotations

import re

# A database and a schema in it.
Namespace = tuple[str, str]

_PART = r'(?:"(?:[^"]|"")*"|[^",.]+)'
_ENTRY = re.compile(rf"({_PART})(?:\.({_PART}))?")


def search_path(database: str, setting: str) -> list[Namespace]:
    """The databases and schemas that the setting names, in order; a schema alone is one of the current `database`.

    >>> search_path("clinic", 'main,"old data".anon')
    [('clinic', 'main'), ('old data', 'anon')]
    """
    entries = [(_unquoted(first), _unquoted(second)) for first, second in _ENTRY.findall(setting)]
    return [(first, second) if second else (database, first) for first, second in entries]


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
