"""The database files of commands: opened, looked for, brought up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def connected(database: str, *, read_only: bool = False, **engine: Any) -> Iterator[Any]:
    """A connection to a database, closed at the end; `engine` are further arguments of `connect`.

    Raises UserError if the file cannot be opened.
    """
    from sqlanon.clients.session import connect

    connection = connect(existing(database) if read_only else database, read_only=read_only, **engine)
    try:
        yield connection
    finally:
        connection.close()


def either(file: str | None, option: str | None) -> str | None:
    """The file that a command names as an argument or by --database; raises UserError where it names two."""
    from sqlanon.errors import UserError

    if file is not None and option is not None and file != option:
        raise UserError(f"two database files are named, {file} and {option}", hint="name one of them")
    return option if file is None else file


def existing(database: str | None) -> str:
    """The path of a database file; raises UserError if there is none, for DuckDB would make an empty one."""
    from sqlanon.errors import UserError

    if database is None:
        raise UserError("no database file is named", hint="write its path, as in sqlanon migrate hospital.duckdb")
    if not Path(database).is_file():
        raise UserError(f"there is no database file {database}")
    return database


def migrated(connection: Any) -> list[str]:
    """Brings the catalog of a database up to date; the migrations that were applied."""
    from sqlanon.catalog import migrations
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.sql.questions.macros import macro_definitions

    engine = DuckDBEngine(connection.duckdb)
    if migrations.state(engine).condition is migrations.Condition.ABSENT:
        return []
    applied = migrations.migrate(engine, transaction=engine.transaction)
    # Even if no migration was applied: another version of sqlanon may have other macros over the same tables.
    with engine.transaction():
        for text in macro_definitions():
            engine.run(text)
    return [str(migration) for migration in applied]
