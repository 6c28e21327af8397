"""Reads a parse tree of DuckDB node by node, and refuses everything that is not on the allow-lists."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sqlanon.clients.serve.allowed import Allowed, Fields, Grammar
from sqlanon.clients.serve.refused import Forbidden, Refused

# A CTE is known by its folded name.
Scope = frozenset[str]
# Called with the path and the scope of a table reference that a statement reads.
ReadTable = Callable[[list[str], Scope], None]
# Called with the names of a column reference.
ReadColumn = Callable[[list[str]], None]

# A tree's depth, in nodes. DuckDB's own bound is 1,000.
_MOST_DEPTH = 250
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_EMPTY: tuple[object, ...] = (None, "", [], {})
_MALFORMED = "the parse tree"


def _unknown(part: object) -> Refused:
    """Returns the error for a part that is on no list; the part is a name of DuckDB's parse trees, so it may be
    shown.
    """
    return Forbidden(f"this part of a statement is not read here: {on_one_line(str(part))}")


def on_one_line(name: str) -> str:
    """Returns a name of a statement for a message: on one line, and no longer than 60 characters."""
    return " ".join(name.split())[:60]


def folded(name: str) -> str:
    """Folds a name as DuckDB does: ASCII letters only, so that the Kelvin sign does not become k."""
    return name.translate(_ASCII_LOWER)


class _Todo(NamedTuple):
    """A part of the tree that is still to be read, and the CTEs that it sees."""

    value: Any
    content: str
    scope: Scope
    depth: int


class TreeWalk:
    """One reading of the parse tree of one statement; calls `table` and `column` for the tables and columns in it."""

    def __init__(
        self,
        grammar: Grammar,
        allowed: Allowed,
        table: ReadTable,
        column: ReadColumn,
        columns: frozenset[str] = frozenset(),
    ) -> None:
        self._kinds = grammar.kinds
        self._allowed = allowed
        self._table = table
        self._column = column
        self._columns = columns
        self._todo: list[_Todo] = []
        # The folded names of all CTEs with the depth of their queries, one for each definition.
        self.ctes: list[tuple[str, int]] = []
        # The entries of each column of a pivot: the kind and the text of a constant, None for any other expression.
        self.pivot_entries: list[list[tuple[str, str] | None]] = []
        # The names of the parameters, in the order in which they first appear.
        self.parameters: tuple[str, ...] = ()

    def read(self, statement: Any) -> None:
        """Reads a statement of `json_serialize_sql`; raises Refused."""
        self._todo.append(_Todo(statement, "part:select", frozenset(), 0))
        while self._todo:
            todo = self._todo.pop()
            if todo.depth > _MOST_DEPTH:
                raise Refused("the statement is nested too deep")
            self._read(todo)
        numbers = {each["key"]: each["value"] for each in statement["named_param_map"]}
        self.parameters = tuple(sorted(numbers, key=lambda name: numbers[name]))

    def _read(self, todo: _Todo) -> None:
        content = todo.content
        if content.endswith("?"):
            if todo.value is None:
                return
            content = content[:-1]
        kind, _, name = content.partition(":")
        reading = _READINGS.get(kind)
        if reading is None:
            raise _unknown(kind)
        reading(self, todo, name)

    def _add(self, values: Iterable[Any], content: str, todo: _Todo, scope: Scope | None = None) -> None:
        depth, scope = todo.depth + 1, todo.scope if scope is None else scope
        self._todo.extend(_Todo(value, content, scope, depth) for value in values)

    def _fields(self, record: Any, fields: Fields, todo: _Todo) -> None:
        """Reads each field of a record. An unknown field refuses the statement; a missing field counts as NULL."""
        if unknown := record.keys() - fields.keys():
            raise _unknown(", ".join(sorted(map(str, unknown))))
        for field, content in fields.items():
            value = record.get(field)
            if isinstance(content, frozenset):
                if not isinstance(value, str) or value not in content:
                    raise _unknown(f"{field} = {value}")
            elif content not in _PLAIN:
                self._add([value], content, todo)
            elif not _PLAIN[content](value):
                raise _unknown(field)

    def _known(self, kind: str, name: object) -> Fields:
        if not isinstance(name, str) or name not in self._kinds[kind]:
            raise _unknown(name)
        return self._kinds[kind][name]

    def _list(self, todo: _Todo, _: str) -> None:
        self._add(_as_list(todo.value), _LISTS[todo.content], todo)

    def _part(self, todo: _Todo, name: str) -> None:
        self._fields(_as_record(todo.value), self._known("part", name), todo)

    def _parts(self, todo: _Todo, name: str) -> None:
        if name == "pivot":
            self._add_pivots(todo)
        self._add(_as_list(todo.value), f"part:{name}", todo)

    def _add_pivots(self, todo: _Todo) -> None:
        for pivot in _as_list(todo.value):
            entries = _as_list(_as_record(pivot).get("entries"))
            self.pivot_entries.append([_constant(_as_record(entry).get("star_expr")) for entry in entries])

    def _modifier(self, todo: _Todo, _: str) -> None:
        record = dict(_as_record(todo.value))
        self._fields(record, self._known("modifier", record.pop("type", None)), todo)

    def _reference(self, todo: _Todo, _: str) -> None:
        record = dict(_as_record(todo.value))
        kind = record.pop("type", None)
        fields = self._known("reference", kind)
        if kind == "BASE_TABLE":
            path = _path(record)
            if path != [record.get(part) for part in ("catalog_name", "schema_name", "table_name") if record.get(part)]:
                raise _unknown(_MALFORMED)
            self._table(path, todo.scope)
        # DESCRIBE and SUMMARIZE are bound apart; which CTEs they see is not relied upon.
        inner = _Todo(None, "", frozenset(), todo.depth) if kind == "SHOW_REF" else todo
        self._fields(record, fields, inner)

    def _table_function(self, todo: _Todo, _: str) -> None:
        record = _as_record(todo.value)
        if record.get("class") != "FUNCTION":
            raise _unknown(_MALFORMED)
        self._check_name(record, "function_name", self._allowed.tables, "the table function")
        self._add([record], "called expression", todo)

    def _expression(self, todo: _Todo, _: str) -> None:
        record = dict(_as_record(todo.value))
        kind = record.pop("class", None)
        fields = self._known("expression", kind)
        if kind == "FUNCTION":
            self._read_method(record)
        if todo.content != "called expression" and kind in ("FUNCTION", "WINDOW"):
            self._check_name(record, "function_name", self._allowed.functions, "the function")
        elif kind == "TYPE":
            self._check_name(record, "type_name", self._allowed.types, "the type")
        elif kind == "COLUMN_REF":
            self._column([str(name) for name in _as_list(record.get("column_names"))])
        for field in ("query_location", "query_location_length"):
            if not isinstance(record.pop(field, None), int):
                raise _unknown(_MALFORMED)
        if not isinstance(record.pop("alias", None), str):
            raise _unknown(_MALFORMED)
        self._fields(record, fields, todo)

    def _read_method(self, record: dict[str, Any]) -> None:
        """Reads a call such as city.upper() as a function on a column: removes the column from the place of the
        function's schema.

        DuckDB looks for the schema first. A room has no macros, so no schema has a function of this name.
        """
        path = _path(record)
        if len(path) == 2 and path[0] == record.get("schema") and folded(path[0]) in self._columns:
            self._column(path[:1])
            record |= {"schema": "", "qualified_name": {"path": path[1:]}}

    def _check_name(self, record: dict[str, Any], field: str, names: frozenset[str], what: str) -> None:
        path = _path(record)
        if len(path) != 1:
            raise Forbidden(f"{what} {on_one_line('.'.join(path))} has a schema: write its name alone")
        if path != [record.get(field)]:
            raise _unknown(_MALFORMED)
        if folded(path[0]) not in names:
            raise Forbidden(f"{what} {on_one_line(path[0])} is not allowed here")

    def _query(self, todo: _Todo, _: str) -> None:
        record = dict(_as_record(todo.value))
        kind = record.pop("type", None)
        fields = dict(self._known("query", kind))
        del fields["cte_map"]
        scope = self._ctes(record.pop("cte_map", None), todo)
        if kind == "RECURSIVE_CTE_NODE":
            # The second part reads the rows so far by the CTE's name; the first part does not.
            del fields["right"]
            self._add([record.pop("right", None)], "query", todo, scope | {folded(str(record.get("cte_name")))})
        self._fields(record, fields, _Todo(todo.value, todo.content, scope, todo.depth))

    def _ctes(self, cte_map: Any, todo: _Todo) -> Scope:
        """Reads the CTEs of a query, each of which sees the CTEs before it; returns the CTEs that the query itself
        sees.
        """
        record = _as_record(cte_map)
        if record.keys() != {"map"}:
            raise _unknown(_MALFORMED)
        scope = todo.scope
        for entry in _as_list(record["map"]):
            self._add([entry], "part:cte_entry", todo, scope)
            name = folded(str(_as_record(entry).get("key")))
            self.ctes.append((name, todo.depth))
            scope |= {name}
        return scope


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_empty(value: object) -> bool:
    return value is False or (_is_number(value) and value == 0) or value in _EMPTY


_PLAIN: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "texts": lambda value: isinstance(value, list) and all(isinstance(text, str) for text in value),
    "number": _is_number,
    "flag": lambda value: isinstance(value, bool),
    "sets": lambda value: (
        isinstance(value, list)
        and all(isinstance(numbers, list) and all(map(_is_number, numbers)) for numbers in value)
    ),
    "empty": _is_empty,
}


def _as_record(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _unknown(_MALFORMED)
    return value


def _as_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _unknown(_MALFORMED)
    return value


def _path(record: dict[str, Any]) -> list[str]:
    """Returns the parts of a node's name, with the schema first."""
    path = _as_list(_as_record(record.get("qualified_name")).get("path"))
    if not path or not all(isinstance(part, str) for part in path):
        raise _unknown(_MALFORMED)
    return path


def _constant(expression: Any) -> tuple[str, str] | None:
    """Returns the kind and the text of a constant; None for any other expression."""
    literal = expression.get("literal") if isinstance(expression, dict) else None
    return (str(literal.get("kind")), str(literal.get("text"))) if isinstance(literal, dict) else None


_LISTS = {
    "expressions": "expression",
    "rows": "expressions",
    "queries": "query",
    "orders": "part:order",
    "modifiers": "modifier",
}
_READINGS: dict[str, Callable[[TreeWalk, _Todo, str], None]] = {
    **dict.fromkeys(_LISTS, TreeWalk._list),
    "part": TreeWalk._part,
    "parts": TreeWalk._parts,
    "modifier": TreeWalk._modifier,
    "reference": TreeWalk._reference,
    "table function": TreeWalk._table_function,
    "expression": TreeWalk._expression,
    "called expression": TreeWalk._expression,
    "query": TreeWalk._query,
}
