"""Temporary tables that are made anew at each attempt, under the same names."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.repeated import RepeatedQuery, repeated


@dataclass(frozen=True)
class Done:
    """The tables of the regions that are not cut any more, and of their points."""

    regions: str
    points: str


def remade(name: str, query: exp.Query) -> RepeatedQuery:
    """The statement that makes a temporary table anew; it is written once and run often.

    The query may read the table itself, as it was before.
    """
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return repeated(exp.Create(kind="TABLE", this=relation(name), expression=query, properties=temporary, replace=True))


def inserted(table: str, query: exp.Query) -> RepeatedQuery:
    return repeated(exp.insert(query, relation(table), copy=False))


def rows_of(engine: Engine, statement: str) -> int:
    """Runs a statement of `remade`; returns how many rows the table has."""
    return int(engine.rows(statement)[0][0])
