"""Finds, opens and migrates the database files of commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def connected(database: str, *, read_only: bool = False, **engine: Any) -> Iterator[Any]:
    """Opens a connection to a database and closes it at the end; `engine` are further arguments of `connect`.

    Raises UserError if the file cannot be opened.
    """
    from sqlanon.clients.session import connect

    connection = connect(existing(database) if read_only else database, read_only=read_only, **engine)
    try:
        yield connection
    finally:
        connection.close()


def either(file: str | None, option: str | None) -> str | None:
    """Returns the file named as an argument or by --database. Raises UserError if both are given."""
    from sqlanon.errors import UserError

    if file is not None and option is not None and file != option:
        raise UserError(f"two database files are named, {file} and {option}", hint="name one of them")
    return option if file is None else file


def existing(database: str | None) -> str:
    """Returns the path of an existing database file.

    Raises UserError if no path is given or no such file exists, because DuckDB would create a new file.
    """
    from sqlanon.errors import UserError

    if database is None:
        raise UserError("no database file is named", hint="write its path, as in sqlanon migrate hospital.duckdb")
    if not Path(database).is_file():
        raise UserError(f"there is no database file {database}")
    return database


def migrated(connection: Any) -> list[str]:
    """Migrates the catalog of a database to this version; returns the names of the applied migrations."""
    from sqlanon.catalog import migrations
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.sql.questions.macros import macro_definitions

    engine = DuckDBEngine(connection.duckdb)
    if migrations.state(engine).condition is migrations.Condition.ABSENT:
        return []
    applied = migrations.migrate(engine, transaction=engine.transaction)
    # Needed even without a migration: another version of sqlanon may have had other macros on the same tables.
    with engine.transaction():
        for text in macro_definitions():
            engine.run(text)
    return [str(migration) for migration in applied]
