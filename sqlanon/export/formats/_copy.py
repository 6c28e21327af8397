"""COPY to a file, and a connection that can read this one file only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.database_logs import logs_beside
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.errors import PrivacyViolation
from sqlanon.export.formats.base import ExportFile
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, entry
from sqlanon.sql.build.names import alias, column


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


def copied_to_memory(
    files: Sequence[ExportFile], config: Mapping[str, str], copy_file: Callable[[Engine, ExportFile], None]
) -> Engine:
    """A database in memory with what `copy_file` makes of each file, which opens nothing."""
    engine = DuckDBEngine(open_database(":memory:", config=dict(config)))
    try:
        for file in files:
            copy_file(engine, file)
        seal(engine)
    except BaseException:
        engine.connection.close()
        raise
    return engine


def first_column(engine: Engine, rows: exp.Query, names: Sequence[str], test: str) -> str | None:
    """The first of these columns with a value for which a function, such as isnan, is true; all are read at once."""
    if not names:
        return None
    outputs = [alias(f.coalesce(f.bool_or(f.call(test, column(name))), exp.false()), name) for name in names]
    answers = engine.rows(exp.select(*outputs).from_(rows.copy().subquery("published")))[0]
    return next((name for name, is_found in zip(names, answers, strict=True) if is_found), None)


def reopen(files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
    """An empty database that may read these files and nothing else."""
    engine = DuckDBEngine(open_database(":memory:", config=dict(config)))
    engine.run("SET allowed_paths = ?", [[str(path) for file in files for path in file.paths]])
    seal(engine)
    return engine


def seal(engine: Engine) -> None:
    """From now on the connection opens no file, loads nothing, and stays so."""
    engine.run("SET enable_external_access = false")
    engine.run("SET lock_configuration = true")


def require_no_log(path: Path, endings: Sequence[str]) -> None:
    """Raises PrivacyViolation for a database with a log beside it: who opens it sees other rows than the file has."""
    for log in logs_beside(path, endings):
        raise PrivacyViolation(
            f"{log.name} is a log beside {path.name}: whoever opens that database applies what is in it",
            hint="take the export from who published it again, or remove the log",
        )


def holds_more(path: Path) -> PrivacyViolation:
    """The error for a database that is not what an export writes."""
    return PrivacyViolation(
        f"{path.name} holds something else than the release and its certificate",
        hint="take the file from who published it again",
    )


def require_stated(path: Path, certificates: Sequence[str], table: str, columns: Sequence[str]) -> None:
    """Raises PrivacyViolation unless there is one certificate, and it states these columns of the database's table."""
    with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        (text,) = certificates
        stated = json.loads(text)
        tables = stated.get("tables") or [{"name": stated["release"], "columns": stated["columns"]}]
        if (table, list(columns)) in [(part["name"], [c["name"] for c in part["columns"]]) for part in tables]:
            return
    raise holds_more(path)
