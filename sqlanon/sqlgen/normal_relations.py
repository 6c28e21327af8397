"""The normal relations of a release that is a table: what every check reads, whatever the method was."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqlgen.cells import respondents
from sqlanon.sqlgen.names import alias, column, identifier, literal

__all__ = ["equivalence_class_of", "literal_rows"]


def equivalence_class_of(
    source: exp.Table | exp.Subquery, columns: Sequence[str], entity: str | None = None
) -> exp.Select:
    """equivalence_class(class_id, size, entities) of any relation.

    A class is the rows that agree on `columns`, NULL being a value; class_id is a
    struct of them. `entities` counts the distinct values of the column `entity`, or rows.
    """
    rows = exp.Count(this=exp.Star())
    label = exp.Struct(expressions=[exp.PropertyEQ(this=identifier(name), expression=column(name)) for name in columns])
    return (
        exp.select(
            alias(label if columns else literal(0), "class_id"),
            alias(rows, "size"),
            alias(respondents(column(entity)) if entity else rows.copy(), "entities"),
        )
        .from_(source)
        .group_by(*(column(name) for name in columns))
        .having(exp.GT(this=exp.Count(this=exp.Star()), expression=literal(0)))
    )


def literal_rows(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> exp.Select:
    """A query that returns the given rows with the given column names and types."""
    values = rows or [[None] * len(columns)]
    tuples = [exp.Tuple(expressions=[literal(value) for value in row]) for row in values]
    names = exp.TableAlias(this=identifier("answer"), columns=[identifier(name) for name, _ in columns])
    casts = [
        alias(exp.Cast(this=column(name), to=exp.DataType.build(kind, dialect="duckdb")), name)
        for name, kind in columns
    ]
    query = exp.select(*casts).from_(exp.Values(expressions=tuples, alias=names))
    return query if rows else query.where(exp.false())
