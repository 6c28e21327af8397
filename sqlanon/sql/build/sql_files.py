"""Fixed SQL: the files under `sql/`, as text and as trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeGuard, TypeVar

import sqlglot
from sqlglot import exp

from sqlanon.assets import read
from sqlanon.domain.values import QualifiedName
from sqlanon.sql.build.expressions import named
from sqlanon.sql.build.names import column, free, identifier, parameter, relation
from sqlanon.sql.build.queries import subquery
from sqlanon.sql.build.render import RepeatedQuery

_Tree = TypeVar("_Tree", bound=exp.Expr)
# The relation that a query reads under a name: a table by its actual name, or the rows of a query.
Relation = str | exp.Table | exp.Query


@cache
def sql_file(*path: str) -> RepeatedQuery:
    """Returns the text of a file under `sql/` by its path without .sql, such as sql_file("statements", "macros")."""
    *folders, name = path
    return RepeatedQuery(read("sql", *folders, f"{name}.sql"))


# Columns, expressions or relations by the name of their hole, or lists of them.
Name = str | QualifiedName | exp.Expr
Names = Mapping[str, Name | Sequence[str] | Sequence[QualifiedName] | Sequence[exp.Expr] | Sequence[Name]]
Calls = Mapping[str, Callable[..., exp.Expr]]


def query_file(
    *path: str,
    tables: Mapping[str, Relation] | None = None,
    names: Names | None = None,
    calls: Calls | None = None,
    **values: object,
) -> exp.Query:
    """Returns the query of a file under `sql/` with its holes filled, a new tree at each call; see `filled`.

    A table of the file whose name is in `tables` becomes the relation there.
    """
    return filled_query(sql_file(*path), tables=tables, names=names, calls=calls, **values)


def select_file(
    *path: str,
    tables: Mapping[str, Relation] | None = None,
    names: Names | None = None,
    calls: Calls | None = None,
    **values: object,
) -> exp.Select:
    """Returns what `query_file` returns, for a file that is one SELECT."""
    return filled_select(sql_file(*path), tables=tables, names=names, calls=calls, **values)


def filled_query(
    text: str,
    /,
    *,
    tables: Mapping[str, Relation] | None = None,
    names: Names | None = None,
    calls: Calls | None = None,
    **values: object,
) -> exp.Query:
    """Returns the query of a fixed text with the holes of `query_file` filled, a new tree at each call."""
    query, relations = _filled(text, names, calls, values)
    assert isinstance(query, exp.Query)
    return query if tables is None else _reading(query, tables, relations)


def filled_select(
    text: str,
    /,
    *,
    tables: Mapping[str, Relation] | None = None,
    names: Names | None = None,
    calls: Calls | None = None,
    **values: object,
) -> exp.Select:
    """Returns what `filled_query` returns, for a text that is one SELECT."""
    query = filled_query(text, tables=tables, names=names, calls=calls, **values)
    assert isinstance(query, exp.Select)
    return query


def filled(text: str, /, *, names: Names | None = None, calls: Calls | None = None, **values: object) -> exp.Expr:
    """Returns the tree of a fixed text, a query or an expression, with its holes filled, a new tree at each call.

    `{keys}` becomes the column whose name is in `names` under keys, and `{t.keys}` this column of the relation t; `AS
    "{keys}"` becomes its name. `$size` becomes the argument `size`: a number, a text, or a tree. A call of a function
    in `calls` becomes the tree that the function makes from its arguments. Inserted values are nodes of the tree, never
    parsed text.

    A list of columns, or of values, repeats the item around its hole, once for each member: the column of SELECT, the
    sort key, the argument, the branch of CASE, or the condition, joined by the same AND or OR. Several lists in one
    item are read in parallel, and an empty list leaves the item out. Two lists are compared pair by pair. A list of
    relations repeats the join that reads them: `JOIN "{tables}" AS "{of}" ON {row.keys} = "{of}".key`.

    >>> filled("coalesce($n, 0) = {key}", names={"key": "a"}, n=column("b")).sql("duckdb")
    'COALESCE("b", 0) = "a"'
    >>> filled("greatest({ends}) > 0 AND {a.keys} = {b.keys}", names={"ends": ["x", "y"], "keys": ["k", "l"]}).sql()
    'GREATEST("x", "y") > 0 AND "a"."k" = "b"."k" AND "a"."l" = "b"."l"'

    Raises KeyError for a hole that nothing fills, and ValueError for `CASE WHEN {a} = greatest({a}) THEN ...`, whose
    branches would each compare one member with itself. Numbered parameters such as $1 are not holes, and neither is
    $size if no such argument is given: they remain parameters of the query.
    """
    return _filled(text, names, calls, values)[0]


def _filled(
    text: str, names: Names | None, calls: Calls | None, values: Mapping[str, object]
) -> tuple[exp.Expr, list[exp.Expr]]:
    """Returns the tree of a text with its holes filled, and the relations that are filled in."""
    # A root is never a hole, so that each hole has a parent.
    root = exp.Paren(this=parsed(text).copy())
    relations: list[exp.Expr] = []
    if "{" in text or values:
        relations = _fill_holes(root, text, names or {}, values)
    if calls:
        # Inner calls come first, because they are arguments of outer calls.
        for call in reversed(list(root.find_all(exp.Anonymous))):
            if call.name in calls:
                made = calls[call.name](*(argument.pop() for argument in list(call.expressions)))
                call.replace(_operand(made, call.parent))
    return root.this.pop(), relations


def _fill_holes(root: exp.Expr, text: str, names: Names, values: Mapping[str, object]) -> list[exp.Expr]:
    """Fills the holes of a text's tree, and returns the relations that are filled in."""
    holes = [_at(root.this, path) for path in _holes(text)]
    fillings = {id(hole): _filling(hole, names, values) for hole in holes}
    relations: list[exp.Expr] = []
    items = [_item(hole, fillings) for hole in holes if isinstance(fillings.get(id(hole)), list)]
    # A join is repeated with all lists in it, so it comes before the other items.
    for item in sorted(items, key=lambda item: not isinstance(item, exp.Join)):
        _repeat(item, fillings, relations)
    for hole in holes:
        filling = fillings.get(id(hole))
        if isinstance(filling, exp.Expr):
            _replace(hole, filling, relations)
    return relations


_Fillings = dict[int, exp.Expr | list[exp.Expr] | None]
# Where a part is in a tree: the argument of its parent and its index there, from the root on.
_Path = tuple[tuple[str, int | None], ...]


@cache
def _holes(text: str) -> tuple[_Path, ...]:
    """Returns the paths from a text's root to its holes, each as the argument names and list positions on the way."""
    paths: list[_Path] = []
    for node in parsed(text).walk():
        is_hole = (
            # sqlglot parses {keys} as a struct of one column without a name, which is no SQL of DuckDB.
            (isinstance(node, exp.Struct) and isinstance(node.expressions[0], exp.Column))
            or (isinstance(node, exp.Identifier) and node.name.startswith("{"))
            or isinstance(node, exp.Placeholder)
        )
        if is_hole:
            path: list[tuple[str, int | None]] = []
            part: exp.Expr | None = node
            while part is not None and part.parent is not None and part.arg_key is not None:
                path.append((part.arg_key, part.index))
                part = part.parent
            paths.append(tuple(reversed(path)))
    return tuple(paths)


def _at(tree: exp.Expr, path: _Path) -> exp.Expr:
    for key, index in path:
        tree = tree.args[key] if index is None else tree.args[key][index]
    return tree


def _filling(hole: exp.Expr, names: Names, values: Mapping[str, object]) -> exp.Expr | list[exp.Expr] | None:
    """Returns the tree that fills a hole, a list of such trees, or None for a parameter of the query."""
    if isinstance(hole, exp.Placeholder):
        if not values:
            return None
        value = values[hole.name]
        return [_tree(each) for each in value] if isinstance(value, list | tuple) else _tree(value)
    if isinstance(hole, exp.Identifier):
        filling = names[hole.name[1:-1]]
        return _named(filling) if isinstance(filling, Name) else [_named(each) for each in filling]
    content = hole.expressions[0]
    filling, of = names[content.name], content.table or None
    if isinstance(filling, Name):
        return column(filling, of) if isinstance(filling, str) else _tree(filling)
    return [column(each, of) if isinstance(each, str) else _tree(each) for each in filling]


def _named(name: Name) -> exp.Expr:
    """Returns the tree of a name, or of a relation that is named."""
    if isinstance(name, str):
        return identifier(name)
    return relation(name) if isinstance(name, QualifiedName) else name


def _tree(value: object) -> exp.Expr:
    tree: exp.Expr = exp.convert(value, copy=True)
    return tree


_OPERATIONS = (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In)


def _operand(tree: exp.Expr, parent: exp.Expr | None) -> exp.Expr:
    """Returns a tree for use within another tree, in parentheses if an operator there would bind its parts."""
    if isinstance(parent, exp.Connector | exp.Not):
        bound = isinstance(tree, exp.Connector) and type(tree) is not type(parent)
    elif isinstance(parent, exp.Paren | exp.Dot) or isinstance(tree, exp.Dot):
        bound = False
    else:
        bound = isinstance(parent, _OPERATIONS) and isinstance(tree, _OPERATIONS)
    return exp.Paren(this=tree) if bound else tree


# Functions whose arguments are a list, of which sqlglot keeps the first apart.
_OF_ANY = (exp.Coalesce, exp.Greatest, exp.Least)
_CONDITIONS = (exp.And, exp.Or, exp.Where, exp.Having, exp.Qualify, exp.Join)


def _item(hole: exp.Expr, fillings: _Fillings) -> exp.Expr:
    """Returns the part of a tree that a hole with a list repeats: the item of a list or the condition around it."""
    if _is_pair(hole.parent, fillings):
        return hole.parent
    part = hole
    while part.index is None and part.parent is not None and part.parent.parent is not None:
        is_condition = isinstance(part.parent, _CONDITIONS) and not _is_joined(part)
        if is_condition or (isinstance(part.parent, _OF_ANY) and part.arg_key == "this"):
            break
        part = part.parent
    return part


def _is_joined(part: exp.Expr) -> bool:
    """Whether a part is the relation of a join."""
    return isinstance(part.parent, exp.Join) and part.arg_key == "this"


def _is_pair(tree: exp.Expr | None, fillings: _Fillings) -> TypeGuard[exp.Binary]:
    """Whether a tree is an equality of two holes that lists fill, so that the lists are compared pair by pair."""
    return isinstance(tree, exp.EQ | exp.NullSafeEQ) and all(
        isinstance(fillings.get(id(side)), list) for side in (tree.left, tree.right)
    )


def _is_only_argument(hole: exp.Expr) -> bool:
    """Whether a hole is the only argument of a function of lists, such as `greatest`."""
    return isinstance(hole.parent, _OF_ANY) and not hole.parent.expressions


def _repeat(item: exp.Expr, fillings: _Fillings, relations: list[exp.Expr]) -> None:
    """Replaces an item by its copies, one for each member of the lists that fill its holes."""
    is_pair = _is_pair(item, fillings)
    holes = [
        (at, filling) for at, node in enumerate(item.walk()) if (filling := fillings.pop(id(node), None)) is not None
    ]
    if not holes:
        # An item around this one has been repeated.
        return
    nodes = list(item.walk())
    if any(at and isinstance(filling, list) and _is_only_argument(nodes[at]) for at, filling in holes):
        raise ValueError(f"a function of one list is within an item that is repeated itself: {item}")
    lengths = {len(filling) for _, filling in holes if isinstance(filling, list)}
    if len(lengths) > 1:
        raise ValueError(f"lists of different lengths in one item: {item}")
    copies: list[exp.Expr] = []
    for number in range(lengths.pop()):
        copy = exp.Paren(this=item.copy())
        nodes = list(copy.this.walk())
        for at, filling in holes:
            member = filling[number] if isinstance(filling, list) else filling.copy()
            _replace(nodes[at], member, relations)
        copies.append(copy.this.pop())
    _put(item, copies, as_items=item.index is not None and not is_pair)


def _replace(hole: exp.Expr, member: exp.Expr, relations: list[exp.Expr]) -> None:
    """Puts a tree in the place of a hole, and a relation in the place of the table that the hole names."""
    table = hole.parent
    if isinstance(table, exp.Table) and not isinstance(member, exp.Identifier):
        is_query = isinstance(member, exp.Query) and not isinstance(member, exp.Subquery)
        here = exp.Subquery(this=free(member)) if is_query else member.copy()
        # Its alias may be a hole that is filled later.
        if "alias" in table.args:
            here.set("alias", table.args["alias"])
        table.replace(here)
        relations.append(here)
    else:
        hole.replace(_operand(member, hole.parent))


def _put(item: exp.Expr, copies: list[exp.Expr], *, as_items: bool) -> None:
    """Replaces an item by any number of trees: as items of its list if `as_items`, otherwise as operands of its AND or
    OR.
    """
    parent, key = item.parent, item.arg_key
    assert parent is not None and key is not None
    if as_items:
        members: list[exp.Expr] = parent.args[key]
        at = int(item.index or 0)
        parent.set(key, [*members[:at], *copies, *members[at + 1 :]])
        if isinstance(parent, exp.Case) and not parent.args["ifs"]:
            parent.replace(parent.args.get("default") or exp.null())
        elif isinstance(parent, exp.Group | exp.Order) and not parent.expressions:
            parent.pop()
    elif isinstance(parent, _OF_ANY):
        arguments = copies + parent.expressions
        parent.set("this", arguments[0])
        parent.set("expressions", arguments[1:])
    elif len(copies) == 1:
        item.replace(_operand(copies[0], parent))
    elif copies:
        any_of = isinstance(parent, exp.Or) and not isinstance(item, exp.EQ | exp.NullSafeEQ)
        joined = exp.or_(*copies, copy=False) if any_of else exp.and_(*copies, copy=False)
        item.replace(_operand(joined, parent))
    elif isinstance(parent, exp.And | exp.Or):
        parent.replace(parent.right if item is parent.left else parent.left)
    elif isinstance(parent, exp.Where | exp.Having | exp.Qualify):
        parent.pop()
    else:
        item.replace(exp.true())


def query_tree(text: str) -> exp.Query:
    """Returns the tree of a query, a new one at each call.

    It has no comments, because they explain the file, and a view would contain them. It has no positions in the file
    either, because each copy would copy them.
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
        if isinstance(node, exp.Identifier):
            # Names in trees that code builds are quoted, and trees are compared.
            node.set("quoted", True)
    for placeholder in list(tree.find_all(exp.Placeholder)):
        if placeholder.name.isdigit() and placeholder.parent is not None:
            placeholder.replace(parameter(int(placeholder.name)))
    return tree


def reading(tree: _Tree, tables: Mapping[str, Relation]) -> _Tree:
    """Returns the tree with other relations in place of tables, each under the name of the table that it replaces."""
    return _reading(tree, tables, ())


def _reading(tree: _Tree, tables: Mapping[str, Relation], relations: Sequence[exp.Expr]) -> _Tree:
    """Returns what `reading` returns; the tables of `relations`, which are parts of the tree, stay as they are."""
    kept_ids = {id(table) for part in relations for table in part.find_all(exp.Table)}
    for table in list(tree.find_all(exp.Table)):
        instead = tables.get(table.name)
        if instead is not None and id(table) not in kept_ids:
            table.replace(relation_as(instead, table.alias_or_name))
    return tree


def relation_as(instead: Relation, name: str) -> exp.Table | exp.Subquery:
    """Returns a table, or the rows of a query, under a name for FROM and JOIN."""
    if isinstance(instead, str):
        return relation(instead, as_=name)
    if isinstance(instead, exp.Table | exp.Subquery):
        return named(instead, name)
    return subquery(instead, name)
