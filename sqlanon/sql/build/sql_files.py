"""SQL whose shape never changes: the files under `sql/`, as text and as trees."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeVar

import sqlglot
from sqlglot import exp

from sqlanon.assets import read
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import RepeatedQuery

_Tree = TypeVar("_Tree", bound=exp.Expr)


@cache
def sql_file(*path: str) -> RepeatedQuery:
    """The text of a file under `sql/` by its path without .sql, such as sql_file("statements", "macros")."""
    *folders, name = path
    return RepeatedQuery(read("sql", *folders, f"{name}.sql"))


def query_file(*path: str) -> exp.Query:
    """The query of a file under `sql/`, a tree of its own at each call."""
    return query_tree(sql_file(*path))


def query_tree(text: str) -> exp.Query:
    """The tree of a query, a new one at each call.

    It has no comments: they explain the file, and a view would carry them along. Nor does it say where in the file
    each part stands, which would be copied with each.
    """
    query = parsed(text).copy()
    assert isinstance(query, exp.Query)
    return query


@cache
def parsed(text: str) -> exp.Expr:
    """The tree of a fixed text, to be copied: without comments, and without what only says where a part stands."""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    for node in tree.walk():
        node.pop_comments()
        # An empty dictionary would be copied with each node.
        node._meta = None
    return tree


def reading(tree: _Tree, tables: Mapping[str, str | exp.Query]) -> _Tree:
    """The tree with other relations in place of these tables, each under the name of the table that it replaces."""
    for table in list(tree.find_all(exp.Table)):
        instead = tables.get(table.name)
        if isinstance(instead, str):
            table.replace(relation(instead, as_=table.alias_or_name))
        elif instead is not None:
            table.replace(instead.subquery(table.alias_or_name))
    return tree
