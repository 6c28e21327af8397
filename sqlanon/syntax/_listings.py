"""SHOW and DESCRIBE: what a database has of policies, hierarchies, releases, streams and the like."""

from __future__ import annotations

from sqlanon.errors import Position
from sqlanon.syntax._head import object_name
from sqlanon.syntax._reader import Reader
from sqlanon.syntax.statements import SHOWN, DescribePolicy, Show

__all__ = ["describe", "show"]


def show(reader: Reader, position: Position) -> Show:
    """SHOW POLICIES | HIERARCHIES | RELEASES | WORKLOADS | FRONTIERS | SERIES | STREAMS."""
    reader.expect("SHOW")
    kind = reader.choose(tuple(word.upper() for word in SHOWN)).lower()
    reader.end()
    return Show(kind, position=position)


def describe(reader: Reader, position: Position) -> DescribePolicy:
    """DESCRIBE POLICY name, or SHOW POLICY name."""
    if not reader.accept("SHOW"):
        reader.expect("DESCRIBE")
    reader.expect("POLICY")
    name = object_name(reader, "policy")
    reader.end()
    return DescribePolicy(name, position=position)
