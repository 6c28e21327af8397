"""Fixed SQL: the files under `sql/`, as text and as trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    names: Mapping[str, Sequence[str | exp.Expr]] | None = None,
    calls: Mapping[str, Callable[..., exp.Expr]] | None = None,
    **values: object,
) -> exp.Query:
    """Returns the query of a file under `sql/` with its holes filled, a new tree at each call.

    A table of the file with a name in `tables` becomes that relation. `{keys}` becomes the columns or expressions that
    `names` has under keys, and `{t.keys}` these columns of the relation t: any number of them in a list, and elsewhere
    a single one. `{t.keys} IS NOT DISTINCT FROM {u.keys}` is true if it is true for each pair. `$size` becomes the
    argument `size`: a number, a text, or a tree. A call of a function in `calls` becomes the tree that the function
    makes of its arguments. Inserted values are nodes of the tree, never parsed text. Raises KeyError for a list of
    columns without names, and for a missing value.
    """
    return filled_query(sql_file(*path), tables=tables, names=names, calls=calls, **values)


def filled_query(
    text: str,
    *,
    tables: Mapping[str, Relation] | None = None,
    names: Mapping[str, Sequence[str | exp.Expr]] | None = None,
    calls: Mapping[str, Callable[..., exp.Expr]] | None = None,
    **values: object,
) -> exp.Query:
    """Returns the query of a fixed text with the holes of `query_file` filled, a new tree at each call."""
    query = filled(text, names=names, calls=calls, **values)
    assert isinstance(query, exp.Query)
    return query if tables is None else reading(query, tables)


def filled_select(
    text: str,
    *,
    tables: Mapping[str, Relation] | None = None,
    names: Mapping[str, Sequence[str | exp.Expr]] | None = None,
    calls: Mapping[str, Callable[..., exp.Expr]] | None = None,
    **values: object,
) -> exp.Select:
    """Returns what `filled_query` returns, for a text that is one SELECT."""
    query = filled_query(text, tables=tables, names=names, calls=calls, **values)
    assert isinstance(query, exp.Select)
    return query


def filled(
    text: str,
    *,
    names: Mapping[str, Sequence[str | exp.Expr]] | None = None,
    calls: Mapping[str, Callable[..., exp.Expr]] | None = None,
    **values: object,
) -> exp.Expr:
    """Returns the tree of a fixed text, such as an expression, with the holes of `query_file` filled.

    >>> filled("coalesce($n, 0) = {key}", names={"key": ["a"]}, n=column("b")).sql("duckdb")
    'COALESCE("b", 0) = "a"'
    """
    # A root is never a hole, so that each hole has a parent.
    root = exp.Paren(this=parsed(text).copy())
    if "{" in text:
        _fill_names(root, names or {})
    if values:
        for placeholder in list(root.find_all(exp.Placeholder)):
            _replace(placeholder, exp.convert(values[placeholder.name], copy=True))
    if calls:
        # Inner calls first: they are arguments of the outer ones.
        for call in reversed(list(root.find_all(exp.Anonymous))):
            if call.name in calls:
                _replace(call, calls[call.name](*(argument.pop() for argument in list(call.expressions))))
    tree: exp.Expr = root.this.pop()
    return tree


def _replace(hole: exp.Expr, value: exp.Expr) -> None:
    """Replaces a hole by a tree, in parentheses if it is an operation and an operand of another one."""
    condition = isinstance(hole.parent, exp.Connector) and not isinstance(value, exp.Connector)
    conditions = isinstance(hole.parent, exp.And) and isinstance(value, exp.And)
    bare = condition or conditions or not (_operates(value) and _operates(hole.parent))
    hole.replace(value if bare else exp.Paren(this=value))


def _operates(tree: exp.Expr | None) -> bool:
    """Whether a tree is an operation without parentheses of its own."""
    is_operation = isinstance(tree, exp.Binary | exp.Unary | exp.Between | exp.In)
    return is_operation and not isinstance(tree, exp.Paren | exp.Dot)


def _fill_names(root: exp.Expr, names: Mapping[str, Sequence[str | exp.Expr]]) -> None:
    # sqlglot parses {keys} as a struct of one column without a name, which is no SQL of DuckDB.
    for pair in list(root.find_all(exp.NullSafeEQ, exp.EQ)):
        sides = [_columns(side, names) for side in (pair.this, pair.expression)]
        if None not in sides:
            kind = type(pair)
            equal = [kind(this=left, expression=right) for left, right in zip(*sides, strict=True)]
            _replace(pair, exp.and_(*equal, copy=False) if equal else exp.true())
    for hole in list(root.find_all(exp.Struct)):
        columns = _columns(hole, names)
        if columns is None:
            continue
        key = hole.parent
        if isinstance(key, exp.Ordered):
            key.replace([exp.Ordered(**{**key.args, "this": each}) for each in columns])
        elif hole.index is not None:
            hole.replace(columns)
            if isinstance(key, exp.Group) and not key.expressions:
                key.pop()
        else:
            [single] = columns
            _replace(hole, single)


def _columns(hole: exp.Expr, names: Mapping[str, Sequence[str | exp.Expr]]) -> list[exp.Expr] | None:
    """Returns the columns and expressions that a hole {keys} stands for; None for any other tree."""
    if not (isinstance(hole, exp.Struct) and hole.expressions and isinstance(hole.expressions[0], exp.Column)):
        return None
    content = hole.expressions[0]
    return [
        column(name, content.table or None) if isinstance(name, str) else name.copy() for name in names[content.name]
    ]


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
