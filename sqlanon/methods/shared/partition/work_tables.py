"""Temporary tables that are made anew at each attempt, under the same names."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.build.names import relation
from sqlanon.sqlgen.build.render import to_sql

__all__ = ["Done", "inserted", "put_in_place", "remade"]


@dataclass(frozen=True)
class Done:
    """The tables of the regions that are not cut any more, and of their points."""

    regions: str
    points: str


def remade(name: str, query: exp.Query) -> str:
    """The statement that makes a temporary table anew; it is written once and run often."""
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return to_sql(exp.Create(kind="TABLE", this=relation(name), expression=query, properties=temporary, replace=True))


def inserted(table: str, query: exp.Query) -> str:
    return to_sql(exp.insert(query, relation(table), copy=False))


def put_in_place(engine: Engine, old: str, new: str) -> None:
    """Gives one table the name of another, which is dropped."""
    engine.run(exp.Drop(kind="TABLE", tables=[relation(old)]))
    engine.run(exp.Alter(kind="TABLE", this=relation(new), actions=[exp.AlterRename(this=relation(old))]))
