"""The SHA-256 of a table's rows, whatever their order: what a certificate names them by where there is no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.engines.base import Column, Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, in_utc
from sqlanon.sql.build.names import alias, column, identifier, literal
from sqlanon.sql.build.sql_files import query_file


def rows_sha256(engine: Engine, rows: exp.Query, columns: Sequence[Column]) -> str:
    """The SHA-256 of the rows of a query with these columns, each value as DuckDB writes it as a text, moments in UTC.

    A row is the text of its values in their order, each as its number of characters, a colon and the value itself; a
    minus sign stands for NULL.
    """
    line = f.call("concat", *_parts(columns))
    lines = exp.select(alias(line, "line")).from_(rows.copy().subquery("published"))
    digest = query_file("statements", "rows_sha256").with_(identifier("snapshot"), as_=lines)
    return str(engine.rows(digest)[0][0])


def _parts(columns: Sequence[Column]) -> Iterator[exp.Expr]:
    for name, kind in columns:
        # Whoever reads it may be in another time zone than who wrote it.
        text = as_text(in_utc(name, kind))
        present = f.call("concat", f.call("length", text), literal(":"), text.copy())
        yield exp.Case(ifs=[exp.If(this=column(name).is_(exp.null()), true=literal("-"))], default=present)
