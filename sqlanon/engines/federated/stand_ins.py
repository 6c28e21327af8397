"""Stand-ins: DuckDB's views for relations on another engine.

A stand-in has the columns of the relation, and raises an error when rows are read. So DuckDB infers the types of a
query's columns, but cannot answer the query by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, is_not_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import to_sql

# The prefix of the comment on a release's stand-in, as in sql/statements/parquet_release.sql.
PARQUET = "sqlanon: rows in Parquet at "

_ERROR = "__sqlanon_elsewhere"
_SAYS = re.compile(r"Invalid Input Error: sqlanon: (the rows of .*)", re.DOTALL)


def stand_in(name: QualifiedName, columns: Sequence[Column], where: str, *, temporary: bool) -> str:
    """Writes CREATE VIEW with columns of these types and no readable row; `where` is where the rows are, in words."""
    error = as_text(f.call("error", f"sqlanon: the rows of {'.'.join(name.parts[-2:])} are {where}"))
    nothing = subquery(select(alias(error, _ERROR)), "elsewhere")
    # Every value depends on the error: for constant NULLs DuckDB could evaluate a filter without it.
    values = (alias(cast(column(_ERROR), kind), part) for part, kind in columns)
    rows = select(*values, of=nothing, where=[is_not_null(column(_ERROR))])
    kind = "CREATE OR REPLACE TEMPORARY VIEW " if temporary else "CREATE VIEW "
    return kind + to_sql(relation(name)) + " AS " + to_sql(rows)


def elsewhere_in(message: str) -> str | None:
    """Returns the message of a stand-in within an error of DuckDB; None for any other error."""
    match = _SAYS.fullmatch(message)
    return match[1] if match else None


def comment_on(name: QualifiedName, path: str) -> str:
    """Writes COMMENT ON VIEW with the path of a release's Parquet files, which the catalog keeps in it."""
    return "COMMENT ON VIEW " + to_sql(relation(name)) + " IS " + to_sql(literal(PARQUET + path))
