"""The gate: decides whether a reader's statement runs, by DuckDB's own parse tree and by allow-lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.clients.serve.refused import Refused
from sqlanon.domain.values import QualifiedName


@dataclass(frozen=True)
class Admitted:
    """A statement that may run in a room: its text, and the granted relations that it reads."""

    sql: str
    reads: frozenset[QualifiedName]


def admit(statement: str, granted: Mapping[QualifiedName, Sequence[str]]) -> Admitted:
    """Returns the statement if it is one SELECT over granted relations; `granted` has the columns of each of them.

    A room's relations have two parts, schema and name, and a statement may leave the schema `main` out. Raises Refused
    for any other statement, and where it cannot be decided.
    """
    raise Refused("this door does not admit statements yet")
