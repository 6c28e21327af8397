"""Renders trees as text: with quoted identifiers, explicit sort orders, and an error for a part that a dialect
lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending
from sqlanon.sql.build.names import column, identifier, relation
from sqlanon.sql.build.queries import select, subquery

# Kinds of parts that contain no ORDER BY: most nodes of a tree are names, and most other parts flags.
_WITHOUT_ORDERS = frozenset({exp.Column, exp.Identifier, exp.Literal, exp.DataType, bool, str, type(None)})


def to_sql(tree: exp.Expr, *, pretty: bool = False, dialect: str = "duckdb") -> str:
    """Returns the text of a tree in one dialect.

    Every sort key is written with ASC or DESC and the place of NULLs, because these would otherwise depend on a
    session's settings. Raises InternalError if the dialect cannot express a part, so nothing is dropped silently.
    """
    try:
        with _orders_in_full(tree, dialect):
            return tree.sql(
                dialect=dialect,
                identify=True,
                pretty=pretty,
                unsupported_level=ErrorLevel.RAISE,
                normalize_functions=False,
                # Each tree is made for one statement, so it need not be copied before it is written.
                copy=False,
            )
    except UnsupportedError as error:
        raise InternalError(f"this SQL cannot be written for {dialect}: {error}") from None


@contextmanager
def _orders_in_full(tree: exp.Expr, dialect: str) -> Iterator[None]:
    """Within the block, every sort key of the tree is written with its direction, and for DuckDB also with the place of
    NULLs.

    sqlglot leaves out DuckDB's default, NULLS LAST, which a session may change. ClickHouse's WITH FILL after a sort key
    is written as it is.
    """
    keys = [_sort_key(key) for order in _orders(tree) for key in order.expressions]
    for key in keys:
        key.set("desc", bool(key.args.get("desc")))
        if dialect == "duckdb" and not key.args.get("nulls_first"):
            key.set("with_fill", exp.var("NULLS LAST"))
    try:
        yield
    finally:
        for key in keys:
            key.set("with_fill", None)


def _orders(tree: exp.Expr) -> list[exp.Order]:
    """Returns every ORDER BY of a tree. sqlglot's own walks are slower, because they track parents and levels."""
    orders: list[exp.Order] = []
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Order):
            orders.append(node)
        for part in node.args.values():
            if isinstance(part, list):
                pending += [item for item in part if type(item) not in _WITHOUT_ORDERS and isinstance(item, exp.Expr)]
            elif type(part) not in _WITHOUT_ORDERS and isinstance(part, exp.Expr):
                pending.append(part)
    return orders


def _sort_key(key: exp.Expr) -> exp.Ordered:
    if isinstance(key, exp.Ordered):
        return key
    ordered = ascending(key)
    key.replace(ordered)
    return ordered


# The text of a query that is run repeatedly.


class RepeatedQuery(str):
    """Text of a query that runs repeatedly with different parameters; an engine may cache its parsed form.

    It is for sqlanon's own SQL only, because the meaning of a user's text may depend on the current settings.
    """

    __slots__ = ()


class InstalledScript(str):
    """Text of a script that runs once in each new database; an engine may cache its parsed form."""

    __slots__ = ()


def repeated(tree: exp.Expr) -> RepeatedQuery:
    """Renders a tree as a RepeatedQuery."""
    return RepeatedQuery(to_sql(tree))


# Statements that create objects. Headers that sqlglot would not keep are written here.


def create_temporary(kind: str, name: str, query: exp.Query, *, replace: bool = False) -> exp.Create:
    """Returns CREATE TEMPORARY TABLE or VIEW with a query's rows; `replace` replaces an object of the same name."""
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(kind=kind, this=relation(name), expression=query, properties=temporary, replace=replace)


def secure_view(name: QualifiedName, columns: Sequence[str], body: str) -> str:
    """Returns CREATE SECURE VIEW: in a plain view, a filter that is pushed below the guard sees withheld rows.

    The names of its columns are listed in quotes, because a session may change the case of names without quotes in the
    body. sqlglot's DuckDB generator drops the word SECURE, so the header is written as text.
    """
    listed = ", ".join(to_sql(identifier(column)) for column in columns)
    return f"CREATE SECURE VIEW {to_sql(relation(name))} ({listed}) AS\n{body}"


def view_over(name: QualifiedName, query: str, *, temporary: bool = False) -> str:
    """Returns CREATE VIEW over a user's query, whose text stays unchanged, because sqlglot may not understand it."""
    return ("CREATE TEMPORARY VIEW " if temporary else "CREATE VIEW ") + to_sql(relation(name)) + " AS " + query


def over_rows(name: str, rows: str, query: str) -> str:
    """Returns a query over the rows of a user's query, which it calls `name`; the user's text stays unchanged.

    The query itself may begin with WITH.
    """
    return "WITH " + to_sql(identifier(name)) + " AS (" + rows + "\n) FROM (" + query + ") AS of_rows"


def create_table(name: QualifiedName, query: exp.Query) -> exp.Create:
    return exp.Create(kind="TABLE", this=relation(name), expression=query)


def text_type(name: str, texts: exp.Query) -> str:
    """Returns CREATE TEMPORARY TYPE: an ENUM of the texts that a query returns, none of which is NULL."""
    return "CREATE TEMPORARY TYPE " + to_sql(relation(name)) + " AS ENUM (" + to_sql(texts) + ")"


def shuffled(query: exp.Query, draw: str, by: str | None = None) -> exp.Select:
    """Returns the rows in a random order; if `by` is given, sorted by that column, and in a random order within equal
    values.

    `draw` is the name of a function that returns random bits for each row. The query becomes a part of the result.
    """
    order = [exp.Ordered(this=f.call(draw, 0))]
    if by is not None:
        order.insert(0, exp.Ordered(this=column(by)))
    return select(exp.Star(), of=subquery(query, "released"), order_by=order)


def drop(kind: str, what: exp.Expr, *, exists: bool = False) -> exp.Drop:
    """Returns DROP of a table, a view or a column, with IF EXISTS if `exists`."""
    return exp.Drop(kind=kind.upper(), tables=[what], exists=exists)


def dropped(statement: exp.Drop) -> list[exp.Expr]:
    """Returns the tables, views or columns that a DROP names."""
    tables: list[exp.Expr] = statement.args["tables"]
    return tables


def drop_object(kind: str, name: QualifiedName) -> exp.Drop:
    return drop(kind, relation(name))


def drop_column(name: QualifiedName, of: str) -> exp.Alter:
    action = drop("COLUMN", column(of))
    return exp.Alter(kind="TABLE", this=relation(name), actions=[action])


def rename_table(name: QualifiedName, to: str) -> exp.Alter:
    return exp.Alter(kind="TABLE", this=relation(name), actions=[exp.AlterRename(this=relation(to))])
