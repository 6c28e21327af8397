"""The statement CREATE HIERARCHY ... AS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.statements.base import DONE, Answer, Catalog, Statement
from sqlanon.statements.hierarchies.propose_hierarchy import ProposeHierarchy
from sqlanon.syntax import values
from sqlanon.syntax.definitions import hierarchy_text
from sqlanon.syntax.head import created, object_name
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.reader import Reader

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine


@dataclass(frozen=True)
class CreateHierarchy(Statement):
    """Makes a hierarchy of values from its levels: arguments of its kind, or a query."""

    definition: HierarchyDefinition
    or_replace: bool = False
    if_not_exists: bool = False

    OPENINGS = ("CREATE [OR REPLACE] HIERARCHY",)
    EXAMPLES = ("CREATE HIERARCHY age_bands AS INTERVALS (5, 10, 20)",)
    GRAMMAR = """
create_hierarchy = CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AS name
  "(" ( query | [ hierarchy_arguments [","] ] ) ")" ;
hierarchy_arguments = hierarchy_argument {"," hierarchy_argument} {"," hierarchy_option}
  | hierarchy_option {"," hierarchy_option} ;
hierarchy_argument = bare_name | text | ["-"] digits ["%"] | TRUE | FALSE | written_name | placeholder ;
hierarchy_option = argument_name arrow ( value | DATE text ) ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.WRITES
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> CreateHierarchy | ProposeHierarchy:
        or_replace, if_not_exists = created(reader, "HIERARCHY")
        name = object_name(reader, "hierarchy")
        if reader.accept("AUTO"):
            return ProposeHierarchy.after_auto(reader, name, or_replace, if_not_exists)
        if not reader.sees("AS"):
            raise reader.expected("AS or AUTO", among=("AS", "AUTO"))
        reader.expect("AS")
        reader.mark("kind")
        kind = reader.name("the kind of hierarchy, such as INTERVALS").lower()
        reader.mark("definition")
        if kind == "auto":
            reader.form = ProposeHierarchy.form()
        reader.refuse_bare_query('"("')
        if reader.sees_query():
            definition = HierarchyDefinition(name, kind, query=reader.query())
        else:
            definition = _listed(reader, name, kind)
        reader.end()
        return cls(definition, or_replace, if_not_exists)

    @classmethod
    def form(cls) -> str:
        return " or ".join((*cls.EXAMPLES, *ProposeHierarchy.EXAMPLES))

    def sql(self) -> str:
        return hierarchy_text(self.definition, or_replace=self.or_replace, if_not_exists=self.if_not_exists)

    def title(self) -> str:
        return f"CREATE HIERARCHY {self.definition.name}"

    def sources(self) -> Sequence[Source]:
        tables = [value for _, value in self.definition.options if isinstance(value, QualifiedName)]
        queries = [Source(query=self.definition.query)] if self.definition.query else []
        return [*queries, *(Source(name=table) for table in tables)]

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.hierarchies._definition import create_hierarchy, created_answer

        remarks = create_hierarchy(engine, self.definition, self)
        return created_answer(engine, self.definition.name, remarks)


def _listed(reader: Reader, name: str, kind: str) -> HierarchyDefinition:
    """Reads the arguments (5, 10, low => 0): positional arguments first, then options."""
    arguments: list[Value] = []
    options: dict[str, Value] = {}

    def item() -> None:
        if values.sees_named(reader):
            values.named(reader, options, "option", read=_option)
        elif options:
            raise reader.expected("name => value, because it follows an option")
        else:
            arguments.append(_argument(reader))

    reader.listed(item, empty=True)
    return HierarchyDefinition(name, kind, tuple(arguments), tuple(options.items()))


def _option(reader: Reader) -> Value:
    """Reads the value of an option: a date becomes a text, and a word becomes the name of a table."""
    return _date(reader) or values.value(reader)


def _date(reader: Reader) -> str | None:
    """Reads DATE '1937-01-01' and returns its text; None if the next token is not DATE."""
    if not reader.sees("DATE") or reader.peek(1).kind is not Kind.STRING:
        return None
    reader.expect("DATE")
    return values.string(reader, "a date in quotes, as in DATE '1937-01-01'")


def _argument(reader: Reader) -> Value:
    """Reads a value; a bare word is a unit such as MONTH, a quoted or qualified word is a name."""
    is_unit = reader.peek().kind is Kind.WORD and not reader.sees_symbol(".", ahead=1)
    if is_unit and not (reader.sees("TRUE") or reader.sees("FALSE")):
        return reader.name("a value").upper()
    return values.scalar(reader)
