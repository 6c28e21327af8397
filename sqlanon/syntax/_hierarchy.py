"""CREATE HIERARCHY, by its levels or AUTO, and DROP HIERARCHY."""

from __future__ import annotations

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._head import created, dropped, object_name
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._reader import Reader
from sqlanon.syntax.statements import CreateHierarchy, DropHierarchy, ProposeHierarchy

__all__ = ["create", "drop"]

_AUTO = "CREATE HIERARCHY age_bands AUTO ON patients.age"


def create(reader: Reader, position: Position) -> CreateHierarchy | ProposeHierarchy:
    """CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AS KIND (arguments | query), or name AUTO ON table.column."""
    or_replace, if_not_exists = created(reader, "HIERARCHY")
    name = object_name(reader, "hierarchy")
    if reader.accept("AUTO"):
        reader.form = _AUTO
        table, column = _column(reader)
        return ProposeHierarchy(name, table, column, or_replace, if_not_exists, position=position)
    if not reader.sees("AS"):
        raise reader.expected("AS or AUTO", among=("AS", "AUTO"))
    reader.expect("AS")
    reader.mark("kind")
    kind = reader.name("the kind of hierarchy, such as INTERVALS").lower()
    reader.mark("definition")
    if kind == "auto":
        reader.form = _AUTO
    reader.refuse_bare_query('"("')
    definition = _query(reader, name, kind) if reader.sees_query() else _listed(reader, name, kind)
    reader.end()
    return CreateHierarchy(definition, or_replace, if_not_exists, position=position)


def _column(reader: Reader) -> tuple[QualifiedName, str]:
    """ON [[database.]schema.]table.column."""
    reader.expect("ON")
    reader.mark("source")
    parts = [reader.name("a table")]
    while len(parts) < 4 and (len(parts) == 1 or reader.sees_symbol(".")):
        reader.expect_symbol(".")
        reader.mark("column")
        parts.append(reader.name("a column of the table"))
    reader.end()
    return QualifiedName(tuple(parts[:-1])), parts[-1]


def drop(reader: Reader, position: Position) -> DropHierarchy:
    """DROP HIERARCHY [IF EXISTS] name."""
    if_exists = dropped(reader, "HIERARCHY")
    name = object_name(reader, "hierarchy")
    reader.end()
    return DropHierarchy(name, if_exists, position=position)


def _query(reader: Reader, name: str, kind: str) -> HierarchyDefinition:
    return HierarchyDefinition(name, kind, query=reader.query())


def _listed(reader: Reader, name: str, kind: str) -> HierarchyDefinition:
    """The arguments (5, 10, low => 0): positional ones first, then options."""
    arguments: list[Value] = []
    options: dict[str, Value] = {}

    def item() -> None:
        if _values.sees_named(reader):
            _values.named(reader, options, "option", read=_argument)
        elif options:
            raise reader.expected("name => value, since an option stands before it")
        else:
            arguments.append(_argument(reader))

    reader.listed(item, empty=True)
    return HierarchyDefinition(name, kind, tuple(arguments), tuple(options.items()))


def _argument(reader: Reader) -> Value:
    """A value; a bare word is a unit such as MONTH, a quoted or qualified one the name of something."""
    is_unit = reader.peek().kind is Kind.WORD and not reader.sees_symbol(".", ahead=1)
    if is_unit and not (reader.sees("TRUE") or reader.sees("FALSE")):
        return reader.name("a value").upper()
    return _values.scalar(reader)
