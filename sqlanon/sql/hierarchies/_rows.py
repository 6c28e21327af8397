"""What the two builders of stored hierarchies share: SELECTs over the rows of the user's query."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.sql.build import expressions
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.hierarchies._trees import cast, choose, join_text, number, text
from sqlanon.sql.hierarchies.base import Check, refused


def select(*columns: exp.Expr) -> exp.Select:
    return exp.Select(expressions=[tree.copy() for tree in columns])


def text_column(name: str) -> exp.Expr:
    """A column as text: what the catalog keeps of values and labels."""
    return cast(column(name), "VARCHAR")


def is_null(tree: exp.Expr) -> exp.Expr:
    return expressions.is_null(tree.copy())


def quoted(tree: exp.Expr) -> exp.Expr:
    """A name for a message: in quotes, so that an empty one is visible, and NULL for NULL."""
    return choose([(is_null(tree), text("NULL"))], join_text(text("'"), tree, text("'")))


def union_all(parts: Sequence[exp.Select]) -> exp.Select:
    """The rows of all parts, in one SELECT."""
    if len(parts) == 1:
        return parts[0]
    names = [column(tree.alias) for tree in parts[0].expressions]
    return select(*names).from_(expressions.union_all(parts).subquery("part", copy=False))


def long_rows(parts: Sequence[exp.Select]) -> exp.Select:
    """Rows (value VARCHAR, level INTEGER, label VARCHAR) from parts with these columns."""
    level = alias(cast(column("level"), "INTEGER"), "level")
    return select(column("value"), level, column("label")).from_(union_all(parts).subquery("long", copy=False))


def no_rows(definition: HierarchyDefinition, rows: exp.Expr) -> Check:
    """The query must return rows: a hierarchy without values covers nothing."""
    row = select(number(1)).from_(rows.copy())
    return Check(
        "no_rows",
        select(alias(text(definition.name), "name")).where(expressions.not_(expressions.exists(row))),
        f"hierarchy {definition.name}: its query returns no rows",
        "check the query by running it alone",
    )


def unique_values(name: str, above: str) -> str:
    """The hint for a value that has two parents, Springfield in two states, from the names of the query's columns."""
    joined = f"{to_sql(column(name))} || ', ' || {to_sql(column(above))}"
    return f"only one may be above a value: make the values unique, with {joined}, in the hierarchy and in the source"


def needs_query(definition: HierarchyDefinition, kind: str, hint: str) -> None:
    """Raises PolicyError unless the definition is a query and nothing else."""
    if definition.arguments or definition.options:
        raise refused(definition, f"{kind} takes a query and nothing else", hint)
    if not (definition.query or "").strip():
        raise refused(definition, f"{kind} needs a query", hint)
