"""Checks that DuckDB can evaluate each part of a query, since its own error would not say which part fails.

A part that fails for a value is NULL there. A query has an answer only if the source does not have that value, or if
the part does not matter in its rows; then NULL is as good as any truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.estimates.query.parse import refused
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import if_, is_null
from sqlanon.sql.build.names import literal
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import sql_file

# A part of the query as it was written, and the expression that it is bound to.
Part = tuple[exp.Expr, exp.Expr]


def tried(part: exp.Expr) -> exp.Expr:
    """The value of a part, or NULL where it fails."""
    return f.try_(_by_itself(part))


def _by_itself(part: exp.Expr) -> exp.Expr:
    """A part as a CASE, so that DuckDB computes all of it inside TRY, even what it shares with other expressions."""
    first_column = part.find(exp.Column)
    if first_column is None or part is first_column:
        return part.copy()
    null = is_null(first_column.copy())
    always = exp.or_(null, exp.not_(null))
    return if_(always, part.copy())


def require_bindable(engine: Engine, rows: exp.Select, parts: Iterable[Part]) -> None:
    """Raises PolicyError, naming it, for a part that DuckDB cannot bind, such as a function of another type.

    `rows` is a SELECT without columns FROM the relations that the parts read.
    """
    all_parts = list(parts)
    if not all_parts or _message(engine, rows, [part for _, part in all_parts]) is None:
        return
    for said, part in all_parts:
        if (message := _message(engine, rows, [part])) is not None:
            raise refused(said, f"DuckDB: {message}")


def require_evaluable(engine: Engine, rows: exp.Select, parts: Sequence[Part], *, only_if_all: bool = False) -> None:
    """Raises PolicyError, naming it, for a part that fails for a row, with `only_if_all` for all rows."""
    if not parts:
        return
    row_count: exp.Expr = f.count()
    counts: list[exp.Expr] = []
    for _, part in parts:
        # TRY is NULL where the part fails, and a list with NULL in it where the part is NULL.
        failed = is_null(f.try_(exp.Array(expressions=[_by_itself(part)])))
        counts.append(exp.func("count_if", failed))
    least = f.greatest(row_count, 1, ignore_nulls=True) if only_if_all else literal(1)
    failing = rows.copy().select(*((failures >= least) for failures in counts))
    for (said, _), fails in zip(parts, engine.rows(failing)[0], strict=True):
        if fails:
            raise refused(
                said,
                "cannot be evaluated for the values that occur",
                "write TRY_CAST, or compute with a wider type: CAST(age AS BIGINT) * 1000",
            )


def _message(engine: Engine, rows: exp.Select, parts: Sequence[exp.Expr]) -> str | None:
    query = rows.copy().select(*(part.copy() for part in parts))
    ((message,),) = engine.rows(sql_file("estimates", "bind"), [to_sql(query)])
    return None if message is None else str(message).splitlines()[0]
