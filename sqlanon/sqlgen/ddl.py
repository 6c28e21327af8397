"""Statements that create objects. Headers that sqlglot would not keep are written here."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.sqlgen.names import column, literal, relation
from sqlanon.sqlgen.render import to_sql

__all__ = ["create_table", "drop_column", "drop_object", "rename_table", "secure_view", "shuffled", "view_over"]


def secure_view(name: QualifiedName, body: exp.Query) -> str:
    """CREATE SECURE VIEW: on a plain view, a filter pushed below the guard sees withheld rows.

    sqlglot's DuckDB generator drops the word SECURE, so the header is text.
    """
    return "CREATE SECURE VIEW " + to_sql(relation(name)) + " AS\n" + to_sql(body, pretty=True)


def view_over(name: QualifiedName, query: str, *, temporary: bool = False) -> str:
    """CREATE VIEW over a query of the user's, whose text stays as it was written: sqlglot need not understand it."""
    return ("CREATE TEMPORARY VIEW " if temporary else "CREATE VIEW ") + to_sql(relation(name)) + " AS " + query


def create_table(name: QualifiedName, query: exp.Query) -> exp.Create:
    return exp.Create(kind="TABLE", this=relation(name), expression=query)


def shuffled(query: exp.Query, draw: str) -> exp.Select:
    """The rows in a random order; `draw` is the name of a function that gives random bits for each row."""
    order = exp.Ordered(this=exp.Anonymous(this=draw, expressions=[literal(0)]))
    return exp.select(exp.Star()).from_(query.subquery("released")).order_by(order)


def drop_object(kind: str, name: QualifiedName) -> exp.Drop:
    return exp.Drop(kind=kind.upper(), tables=[relation(name)])


def drop_column(name: QualifiedName, of: str) -> exp.Alter:
    action = exp.Drop(kind="COLUMN", tables=[column(of)])
    return exp.Alter(kind="TABLE", this=relation(name), actions=[action])


def rename_table(name: QualifiedName, to: str) -> exp.Alter:
    return exp.Alter(kind="TABLE", this=relation(name), actions=[exp.AlterRename(this=relation(to))])
