"""DuckDB's own parser, on a private database in memory: it reads statements without running them."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any, NamedTuple

import duckdb

from sqlanon.engines.duckdb import open_database
from sqlanon.errors import InternalError, UserError

# A private database needs nothing from outside: no files, no extensions, no variables of Python.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "256MB",
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "python_enable_replacements": False,
    "lock_configuration": True,
}


class Unparsed(UserError):
    """The error for a text that DuckDB does not parse, or that it cannot serialize because it is not a list
    of SELECTs.
    """


class Token(NamedTuple):
    """A token of DuckDB's lexer: its first byte in the text, its kind, and its text up to the next token."""

    start: int
    kind: str
    text: bytes


def tokens(text: str) -> list[Token]:
    """Returns the tokens of a text, including comments, as DuckDB's lexer reads them; positions count UTF-8 bytes."""
    encoded = text.encode()
    kinds = duckdb.tokenize(text)
    starts = [start for start, _ in kinds]
    return [
        Token(start, kind.name, encoded[start:end].rstrip())
        for (start, kind), end in zip(kinds, [*starts[1:], len(encoded)], strict=False)
    ]


class ParseTrees:
    """Reads parse trees of SELECT statements; may be used by several threads, one at a time."""

    def __init__(self) -> None:
        self._connection = open_database(":memory:", config=_CONFIG)
        self._lock = Lock()

    def read(self, text: str) -> list[dict[str, Any]]:
        """Returns the trees of a text's statements, in the form of `json_serialize_sql`.

        Raises Unparsed with DuckDB's message if the text is not SQL, or if a statement is not a SELECT.
        """
        with self._lock:
            try:
                row = self._connection.execute("SELECT json_serialize_sql($1)", [text]).fetchone()
            except duckdb.Error as error:
                raise Unparsed(str(error).splitlines()[0]) from None
        if row is None:
            raise InternalError("DuckDB returned no parse tree")
        answer = json.loads(row[0])
        if answer["error"]:
            raise Unparsed(str(answer["error_message"]).splitlines()[0])
        return list(answer["statements"])

    def kinds(self, text: str) -> list[str]:
        """Returns the kind of each statement of a text, such as SELECT; a pivot that asks for its values is MULTI."""
        with self._lock:
            try:
                return [statement.type.name for statement in self._connection.extract_statements(text)]
            except duckdb.Error as error:
                raise Unparsed(str(error).splitlines()[0]) from None

    def functions(self) -> list[tuple[str, str]]:
        """Returns the names of DuckDB's functions with their kinds: scalar, aggregate, window, table, macro ..."""
        query = "SELECT DISTINCT function_name, function_type FROM duckdb_functions() ORDER BY ALL"
        with self._lock:
            return self._connection.execute(query).fetchall()

    def types(self) -> list[str]:
        """Returns the names of DuckDB's types."""
        query = "SELECT DISTINCT type_name FROM duckdb_types() ORDER BY ALL"
        with self._lock:
            return [name for (name,) in self._connection.execute(query).fetchall()]
