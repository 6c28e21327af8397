"""COPY to a file, and a connection that can read this one file only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.export.formats.base import ExportFile
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast, entry
from sqlanon.sqlgen.build.names import alias, column

__all__ = ["copy", "option", "reading", "reopen", "seal", "table_function"]


def option(name: str, value: exp.Expr) -> exp.CopyParameter:
    return exp.CopyParameter(this=exp.var(name), expression=value)


def copy(rows: exp.Query, options: Sequence[exp.CopyParameter]) -> exp.Copy:
    """COPY (rows) TO a file, which is the statement's first parameter."""
    return exp.Copy(this=rows.subquery(), kind=False, files=[exp.Placeholder()], params=list(options))


def table_function(name: str, first: exp.Expr, options: Mapping[str, exp.Expr]) -> exp.Table:
    named = [entry(key, value) for key, value in options.items()]
    return exp.Table(this=f.call(name, first, *named))


def reading(file: ExportFile, source: exp.Table) -> exp.Select:
    """The file's columns in the types that `file` states for them."""
    typed = (alias(cast(column(name), kind), name) for name, kind in file.columns)
    return exp.select(*typed).from_(source)


def reopen(file: ExportFile, config: Mapping[str, str]) -> Engine:
    """An empty database that may read this one file, with its parts, and nothing else."""
    engine = DuckDBEngine(open_database(":memory:", config=dict(config)))
    engine.run("SET allowed_paths = ?", [[str(path) for path in file.paths]])
    seal(engine)
    return engine


def seal(engine: Engine) -> None:
    """From now on the connection opens no file, loads nothing, and stays so."""
    engine.run("SET enable_external_access = false")
    engine.run("SET lock_configuration = true")
