"""Fixed SQL: the files under `sql/`, as text and as trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

import sqlglot
from sqlglot import exp

from sqlanon.assets import read
from sqlanon.sql.build.expressions import named
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import RepeatedQuery

_Tree = TypeVar("_Tree", bound=exp.Expr)
# The relation that a query reads under a name: a table by its actual name, or the rows of a query.
Relation = str | exp.Table | exp.Query


@cache
def sql_file(*path: str) -> RepeatedQuery:
    """Returns the text of a file under `sql/` by its path without .sql, such as sql_file("statements", "macros")."""
    *folders, name = path
    return RepeatedQuery(read("sql", *folders, f"{name}.sql"))


def query_file(
    *path: str,
    tables: Mapping[str, Relation] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    **values: object,
) -> exp.Query:
    """Returns the query of a file under `sql/` with its holes filled, a new tree at each call.

    A table of the file with a name in `tables` becomes that relation. `{keys}` becomes the columns that `names` has
    under keys, and `{t.keys}` these columns of the relation t: any number of them in a list, and elsewhere a single
    one. `$size` becomes the argument `size`: a number, a text, or a tree. Inserted values are nodes of the tree, never
    parsed text. Raises KeyError for a list of columns without names, and for a missing value.
    """
    text = sql_file(*path)
    query = query_tree(text)
    if "{" in text:
        _fill_names(query, names or {})
    if values:
        for placeholder in list(query.find_all(exp.Placeholder)):
            placeholder.replace(exp.convert(values[placeholder.name], copy=True))
    return query if tables is None else reading(query, tables)


def _fill_names(query: exp.Query, names: Mapping[str, Sequence[str]]) -> None:
    # sqlglot parses {keys} as a struct of one column without a name, which is no SQL of DuckDB.
    for hole in list(query.find_all(exp.Struct)):
        content = hole.expressions[0]
        if not isinstance(content, exp.Column):
            continue
        columns: list[exp.Expr] = [column(name, content.table or None) for name in names[content.name]]
        key = hole.parent
        if isinstance(key, exp.Ordered):
            key.replace([exp.Ordered(**{**key.args, "this": each}) for each in columns])
        elif hole.index is not None:
            hole.replace(columns)
        else:
            [single] = columns
            hole.replace(single)


def query_tree(text: str) -> exp.Query:
    """Returns the tree of a query, a new one at each call.

    It has no comments, because they explain the file and a view would contain them. It has no positions in the file
    either, which each copy would copy.
    """
    query = parsed(text).copy()
    assert isinstance(query, exp.Query)
    return query


@cache
def parsed(text: str) -> exp.Expr:
    """Returns the tree of a fixed text, to be copied: without comments and without positions in the text."""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    for node in tree.walk():
        node.pop_comments()
        # Otherwise an empty dictionary would be copied with each node.
        node._meta = None
    return tree


def reading(tree: _Tree, tables: Mapping[str, Relation]) -> _Tree:
    """Returns the tree with other relations in place of tables, each under the name of the table that it replaces."""
    for table in list(tree.find_all(exp.Table)):
        instead = tables.get(table.name)
        if isinstance(instead, str):
            table.replace(relation(instead, as_=table.alias_or_name))
        elif isinstance(instead, exp.Table | exp.Subquery):
            table.replace(named(instead.copy(), table.alias_or_name))
        elif instead is not None:
            table.replace(instead.subquery(table.alias_or_name))
    return tree
