"""The text of a query that is run again and again."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sql.build.render import to_sql


class RepeatedQuery(str):
    """The text of a query that is run again and again, with other parameters: an engine may keep what it parsed.

    For SQL of sqlanon's own alone: what a text of the user's means may depend on the settings of the moment.
    """

    __slots__ = ()


class InstalledScript(str):
    """The text of a script that is run once in each new database, which an engine may keep as it parsed it."""

    __slots__ = ()


def repeated(tree: exp.Expr) -> RepeatedQuery:
    """The text of a tree that is run again and again."""
    return RepeatedQuery(to_sql(tree))
