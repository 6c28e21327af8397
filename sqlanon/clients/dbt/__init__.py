"""dbt: models that are releases, made on dbt's connection, and `run` for models in Python."""

from __future__ import annotations

from threading import Lock
from typing import Any

from sqlanon.clients.session import Connection, connect

# Two releases made at the same time would not see each other: neither their rows in the catalog, nor what readers
# learn from both.
ONE_AT_A_TIME = Lock()


def run(session: Any, statements: str) -> Any:
    """Runs a script with statements of DuckDB and sqlanon, and returns the last result as a pandas DataFrame.

    Call it in a dbt model in Python; `session` is the session that dbt passes to the model. During the call, models in
    other threads do not make releases.
    """
    with ONE_AT_A_TIME:
        return connection_of(session).sql(statements).df()


def connection_of(session: Any) -> Connection:
    """Wraps the DuckDB connection of dbt's session, so that it also runs sqlanon's statements."""
    # dbt-duckdb may wrap DuckDB's connection twice; a bound method refers to the connection itself.
    return connect(session.interrupt.__self__)
