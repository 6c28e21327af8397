"""DuckDB's names for relations whose rows are elsewhere: views with their columns, and an error where rows are read.

DuckDB so says of a query which types its columns have, and cannot answer one by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, is_not_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.render import to_sql

# What the comment of a view begins with whose rows are Parquet files, as in sql/statements/parquet_release.sql.
PARQUET = "sqlanon: rows in Parquet at "

_ERROR = "__sqlanon_elsewhere"
_SAYS = re.compile(r"Invalid Input Error: sqlanon: (the rows of .*)", re.DOTALL)


def stand_in(name: QualifiedName, columns: Sequence[Column], where: str, *, temporary: bool) -> str:
    """CREATE VIEW with columns of these types, no row of which can be read; `where` says where the rows are."""
    error = as_text(f.call("error", f"sqlanon: the rows of {'.'.join(name.parts[-2:])} are {where}"))
    nothing = exp.select(alias(error, _ERROR)).subquery("elsewhere", copy=False)
    # Every value depends on the error: of NULLs alone DuckDB would know what a filter keeps.
    values = (alias(cast(column(_ERROR), kind), part) for part, kind in columns)
    rows = exp.select(*values).from_(nothing, copy=False).where(is_not_null(column(_ERROR)), copy=False)
    kind = "CREATE OR REPLACE TEMPORARY VIEW " if temporary else "CREATE VIEW "
    return kind + to_sql(relation(name)) + " AS " + to_sql(rows)


def elsewhere_in(message: str) -> str | None:
    """Returns the message of a stand-in within an error of DuckDB's; None if the error is another."""
    match = _SAYS.fullmatch(message)
    return match[1] if match else None


def comment_on(name: QualifiedName, path: str) -> str:
    """COMMENT ON VIEW: where the Parquet files of a release are, as the catalog keeps it."""
    return "COMMENT ON VIEW " + to_sql(relation(name)) + " IS " + to_sql(literal(PARQUET + path))
