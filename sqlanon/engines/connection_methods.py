"""Declares the methods of DuckDB's connection, from DuckDB's own stubs, for type checkers and editors.

At run time this class is empty, and a connection of sqlanon passes the methods that it lacks on to DuckDB's connection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["ConnectionMethods"]

if TYPE_CHECKING:
    from typing import Self

    import pandas
    from duckdb import DuckDBPyConnection as DuckDBConnection
    from duckdb import DuckDBPyRelation as DuckDBRelation
    from duckdb import Statement as DuckDBStatement
    from pyspark.sql import SparkSession

    __all__ += ["DuckDBConnection", "DuckDBRelation", "DuckDBStatement", "SparkSession"]

    class ConnectionMethods(DuckDBConnection):
        """DuckDB's methods; a method that returns its connection returns the object that it was called on."""

        def append(self, table_name: str, df: pandas.DataFrame, *, by_name: bool = False) -> Self: ...
        def begin(self) -> Self: ...
        def checkpoint(self) -> Self: ...
        def commit(self) -> Self: ...
        def create_function(
            self,
            name: str,
            function: Callable[..., Any],
            parameters: list[Any] | None = None,
            return_type: Any = None,
            *,
            type: Any = ...,
            null_handling: Any = ...,
            exception_handling: Any = ...,
            side_effects: bool = False,
        ) -> Self: ...
        def executemany(self, query: DuckDBStatement | str, parameters: object = None) -> Self: ...
        def register(self, view_name: str, python_object: object) -> Self: ...
        def remove_function(self, name: str) -> Self: ...
        def rollback(self) -> Self: ...
        def unregister(self, view_name: str) -> Self: ...

else:

    class ConnectionMethods:
        """DuckDB's methods, to a type checker."""
