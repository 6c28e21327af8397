"""dbt: models that are releases, made on the connection that dbt has, and `run` for models in Python."""

from __future__ import annotations

from threading import Lock
from typing import Any

from sqlanon.clients.session import Connection, connect

# Releases that two models make at once would not see each other: neither what they tell together, nor their rows in
# the catalog.
ONE_AT_A_TIME = Lock()


def run(session: Any, statements: str) -> Any:
    """Runs a script, DuckDB's statements and sqlanon's, and returns what the last one answers, as a pandas DataFrame.

    It is for models in Python: `session` is what dbt gives to them. Models in other threads make no release meanwhile.
    """
    with ONE_AT_A_TIME:
        return connection_of(session).sql(statements).df()


def connection_of(session: Any) -> Connection:
    """The connection that dbt gives to a model, as one that understands the statements."""
    # dbt-duckdb wraps DuckDB's connection, perhaps twice; a method of DuckDB's knows its own.
    return connect(session.interrupt.__self__)
