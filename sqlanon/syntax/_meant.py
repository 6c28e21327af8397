"""Statements that do not exist, and that people try: each is refused with the one that does what they want."""

from __future__ import annotations

from typing import NoReturn

from sqlanon.errors import Position
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._reader import Reader
from sqlanon.syntax._wording import shortened

__all__ = ["MEANT", "refuse"]

_RELEASE = "CHECK {name} says what it satisfies, DESCRIBE {name} which columns it has; SHOW RELEASES lists all"
_STREAM = "SHOW STREAMS lists all, CHECK {name} says what it satisfies, and its columns are those of its table"
_HIERARCHY = "SHOW HIERARCHIES lists all with the statements that make them"
_WORKLOAD = "SHOW WORKLOADS lists all; the table anon.workload has their queries"

# By their first words, behind which a name stands, what to write. To DuckDB all of them are errors, too.
MEANT = {
    "CREATE RELEASE": "write CREATE ANONYMIZED TABLE {name} AS POLICY ..., or CREATE ANONYMIZED VIEW",
    "DROP RELEASE": "write DROP ANONYMIZED TABLE {name}, or DROP ANONYMIZED VIEW {name} if it is a live view",
    "DESCRIBE RELEASE": _RELEASE,
    "SHOW RELEASE": _RELEASE,
    "CREATE STREAM": "write CREATE ANONYMIZED STREAM {name} AS POLICY ... ORDER BY column METHOD stream(...)",
    "DROP STREAM": "write DROP ANONYMIZED STREAM {name}",
    "DESCRIBE STREAM": _STREAM,
    "SHOW STREAM": _STREAM,
    "DESCRIBE HIERARCHY": _HIERARCHY,
    "SHOW HIERARCHY": _HIERARCHY,
    "DESCRIBE WORKLOAD": _WORKLOAD,
    "SHOW WORKLOAD": _WORKLOAD,
}


def refuse(reader: Reader, position: Position) -> NoReturn:
    """Raises StatementError, with what to write instead."""
    first = reader.take()
    words = f"{first.text} {reader.take().text}".upper()
    if reader.accept("IF"):
        reader.accept("NOT")
        reader.accept("EXISTS")
    is_name = reader.peek().kind in (Kind.WORD, Kind.QUOTED)
    name = shortened(reader.peek().text) if is_name else "name"
    raise reader.refused("there is no such statement", hint=MEANT[words].format(name=name), token=first)
