"""Finds the tables that a user's query reads, through views and macros, in the query's text as DuckDB has parsed it.

DuckDB's own `get_table_names` binds the query to tables without columns, and so refuses JOIN ... USING, COLUMNS(...)
and UNPIVOT, which need the columns. This module looks names up and binds nothing. A computed name, such as an argument
of query_table, is not in the text; in this case DuckDB's plan is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Calls, Reading
from sqlanon.errors import UserError
from sqlanon.sql.build.sql_files import sql_file
from sqlanon.syntax.script import after_as

# The setting search_path: the schemas in which DuckDB looks a name up, after the temporary relations.


# A database and a schema in it.
Namespace = tuple[str, str]

_PART = r'(?:"(?:[^"]|"")*"|[^",.]+)'
_ENTRY = re.compile(rf"({_PART})(?:\.({_PART}))?")


def search_path(database: str, setting: str) -> list[Namespace]:
    """Returns the databases and schemas in the setting, in order; a schema alone is in the current `database`.

    >>> search_path("clinic", 'main,"old data".anon')
    [('clinic', 'main'), ('old data', 'anon')]
    """
    entries = [(_unquoted(first), _unquoted(second)) for first, second in _ENTRY.findall(setting)]
    return [(first, second) if second else (database, first) for first, second in entries]


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


Rows = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]

_PARSED = "SELECT system.main.json_serialize_sql(?, skip_null := true, skip_empty := true, skip_default := true)"
_PLANNED = "SELECT system.main.json_serialize_plan(?)"
_PATH = "SELECT system.main.current_database(), system.main.current_setting('search_path')"
_TEMPORARY = ("temp", "main")

# Functions that read the table or query in an argument, which may be computed.
_BY_ARGUMENT = frozenset(("query", "query_table", "json_execute_serialized_sql"))
# Functions that read a table that no plan shows.
_UNPLANNED = frozenset(("duckdb_table_sample", "pragma_storage_info"))


class _UnreadableText(Exception):
    """Raised if the text of a query does not show which tables it reads."""


class _Known(NamedTuple):
    """An existing table or view; a view that a user created has its text."""

    kind: str
    name: QualifiedName
    text: str | None


def relations_read(rows: Rows, query: str) -> list[Reading]:
    """Returns the relations that a query reads, without repetition; `rows` runs a query on the database.

    Raises UserError if they cannot be determined.
    """
    reader = _Reader(rows)
    try:
        reader.read(query, ())
        reader.read_macros()
    except _UnreadableText:
        reader.readings.update(dict.fromkeys(_planned(rows, query)))
    return list(reader.readings)


def calls_made(rows: Rows, query: str) -> Calls:
    """Returns the functions and macros that a query calls, also through views and macros.

    Raises UserError if they cannot be determined.
    """
    reader = _Reader(rows)
    try:
        reader.read(query, ())
        reader.read_macros()
    except _UnreadableText:
        raise UserError("its functions cannot be determined: it reads a table that an argument names") from None
    return Calls(frozenset(reader.functions), tuple(reader.macros))


def _answer(rows: Rows, question: str, query: str) -> Any:
    """Returns DuckDB's answer, in JSON, to a question about a query. Raises _UnreadableText if it is an error."""
    try:
        answer = json.loads(rows(question, [query])[0][0])
    except RecursionError:
        raise _UnreadableText from None
    if answer["error"]:
        raise _UnreadableText
    return answer


def _planned(rows: Rows, query: str) -> list[Reading]:
    """Returns the tables in DuckDB's plan before optimization. Raises UserError if the plan does not show them."""
    try:
        tree = _answer(rows, _PLANNED, query)
    except _UnreadableText:
        tree = None
    scans = [node for node, _ in _nodes(tree) if node.get("type") == "LOGICAL_GET"]
    if tree is None or any(fold(scan["qname"]["path"][-1]) in _UNPLANNED for scan in scans):
        raise UserError(
            "the tables that it reads cannot be determined: an argument names a table, or it is nested too deep",
            hint="name the table itself, FROM patients instead of FROM query_table('patients')",
        )
    of_tables = (scan.get("function_data") or {} for scan in scans)
    return [
        Reading("table", QualifiedName(tuple(data["qualified_name"]["path"]))) for data in of_tables if "table" in data
    ]


def _nodes(tree: Any) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Yields each object in a tree of JSON, with the names of the WITH queries that are visible at its place in the
    query.
    """
    pending: list[tuple[Any, frozenset[str]]] = [(tree, frozenset())]
    while pending:
        node, known = pending.pop()
        if isinstance(node, list):
            pending += ((part, known) for part in node)
        elif isinstance(node, dict):
            for entry in node.get("cte_map", {}).get("map", ()):
                # A WITH query sees the queries before it. It sees its own rows only if it is recursive.
                pending.append((entry["value"], known))
                known |= {fold(entry["key"])}
            if node.get("type") == "RECURSIVE_CTE_NODE":
                known |= {fold(node["cte_name"])}
            yield node, known
            pending += ((part, known) for key, part in node.items() if key != "cte_map")


class _Reader:
    """Reads the text of a query, and the texts of the views and macros in it."""

    def __init__(self, rows: Rows) -> None:
        self.readings: dict[Reading, None] = {}
        self._rows = rows
        self.functions: set[str] = set()
        self.macros: list[QualifiedName] = []
        self._views: set[QualifiedName] = set()

    def read(self, query: str, namespaces: Sequence[Namespace], home: Namespace | None = None) -> None:
        """Records the relations that a query reads. An unqualified name is looked up in `namespaces` first.

        `home` is the schema of the view in which the query is read, by default main of the current database.
        """
        for node, known in _nodes(_answer(self._rows, _PARSED, query)):
            if node.get("type") == "BASE_TABLE":
                path = tuple(node["qualified_name"]["path"])
                if not _is_with_query(path, known):
                    self._note(path, namespaces, home or self._path[-1])
            elif node.get("class") == "FUNCTION":
                self.functions.add(fold(node["qualified_name"]["path"][-1]))
        if self.functions & (_BY_ARGUMENT | _UNPLANNED):
            raise _UnreadableText

    def _note(self, path: tuple[str, ...], namespaces: Sequence[Namespace], home: Namespace) -> None:
        meant = self._meant(path, namespaces)
        # A bare name is looked up in the schema of the view, and then along the search path of the session.
        found_at_home = tuple(map(fold, meant.name.parts[:-1])) == tuple(map(fold, home))
        steady = len(path) > 1 or meant.kind == "other" or found_at_home
        self.readings[Reading(meant.kind, meant.name, steady)] = None
        if meant.text and meant.name not in self._views:
            self._views.add(meant.name)
            database, schema, _ = meant.name.parts
            self.read(after_as(meant.text), [(database, schema)], (database, schema))

    def read_macros(self) -> None:
        """Records the relations and calls of all macros that were found so far, and of the macros that these call."""
        pending = self._macros if self.functions else []
        while called := [macro for macro in pending if fold(macro[3]) in self.functions]:
            pending = [macro for macro in pending if macro not in called]
            for kind, database, schema, name, text in called:
                self.macros.append(QualifiedName((database, schema, name)))
                self.read(text if kind == "table_macro" else "SELECT " + text, [*self._path, (database, schema)])

    @cached_property
    def _macros(self) -> list[tuple[Any, ...]]:
        return self._rows(sql_file("statements", "macros"), ())

    @cached_property
    def _relations(self) -> dict[tuple[str, ...], _Known]:
        rows = self._rows(sql_file("statements", "relations"), ())
        return {tuple(map(fold, parts)): _Known(kind, QualifiedName(tuple(parts)), text) for kind, *parts, text in rows}

    @cached_property
    def _path(self) -> list[Namespace]:
        """Returns the schemas in which DuckDB looks for an unqualified name, after the temporary schema."""
        database, path = self._rows(_PATH, ())[0]
        return [*search_path(database, path), (database, "main")]

    def _meant(self, path: tuple[str, ...], namespaces: Sequence[Namespace]) -> _Known:
        """Returns the relation that a name means, as DuckDB would find it; its kind is 'other' if no database has it.

        In a name a.b, a is a schema or else a database.
        """
        where = [_TEMPORARY, *namespaces, *self._path]
        options: list[tuple[str, ...]] = [path]
        if len(path) == 1:
            options = [(*namespace, *path) for namespace in where]
        elif len(path) == 2:
            options = [*((database, *path) for database, _ in where), ("system", *path)]
            options += [(*namespace, path[1]) for namespace in where if fold(namespace[0]) == fold(path[0])]
            options += [(path[0], "main", path[1])]
        relations = (self._relations.get(tuple(map(fold, option))) for option in options)
        return next(filter(None, relations), _Known("other", QualifiedName(path), None))


def _is_with_query(path: tuple[str, ...], known: frozenset[str]) -> bool:
    """Whether a name means a WITH query, or all rows that a recursive WITH query has so far (recurring.name)."""
    return fold(path[-1]) in known and (len(path) == 1 or (len(path) == 2 and fold(path[0]) == "recurring"))
