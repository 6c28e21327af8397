"""The statement CREATE HIERARCHY ... AUTO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName, Source
from sqlanon.statements.base import DONE, READS_SOURCE, Answer, Catalog, Elsewhere, Statement
from sqlanon.syntax.texts import create_text, if_not_exists_text, name_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class ProposeHierarchy(Statement):
    """Makes a hierarchy that fits the values of a column."""

    name: str
    table: QualifiedName
    column: str
    or_replace: bool = False
    if_not_exists: bool = False

    OPENINGS = ()
    EXAMPLES = ("CREATE HIERARCHY age_bands AUTO ON patients.age",)
    GRAMMAR = """
propose_hierarchy = CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AUTO ON name "." name ["." name ["." name]] ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CREATE HIERARCHY ... AUTO", READS_SOURCE)
    CATALOG = Catalog.WRITES
    COLUMNS = DONE

    @classmethod
    def after_auto(cls, reader: Reader, name: str, or_replace: bool, if_not_exists: bool) -> Self:
        """Reads ON [[database.]schema.]table.column after CREATE HIERARCHY name AUTO."""
        reader.form = cls.form()
        reader.expect("ON")
        reader.mark("source")
        parts = [reader.name("a table")]
        while len(parts) < 4 and (len(parts) == 1 or reader.sees_symbol(".")):
            reader.expect_symbol(".")
            reader.mark("column")
            parts.append(reader.name("a column of the table"))
        reader.end()
        return cls(name, QualifiedName(tuple(parts[:-1])), parts[-1], or_replace, if_not_exists)

    def sql(self) -> str:
        head = f"{create_text(self.or_replace)}HIERARCHY {if_not_exists_text(self.if_not_exists)}{name_text(self.name)}"
        return f"{head} AUTO ON {qualified_text(QualifiedName((*self.table.parts, self.column)))}"

    def title(self) -> str:
        return f"CREATE HIERARCHY {self.name}"

    def sources(self) -> Sequence[Source]:
        return [Source(name=self.table)]

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.profiling.automatic import definition, propose
        from sqlanon.engines.temp_tables import TempTables
        from sqlanon.errors import about
        from sqlanon.sources.source import bind_source, source_column
        from sqlanon.statements.hierarchies._definition import create_hierarchy, created_answer

        with engine.transaction():
            with TempTables(engine) as temp:
                source = bind_source(engine, Source(self.table), temp)
                with about("column"):
                    name, column_type = source_column(self.column, source.columns, self.table.name)
                    fitting = propose(engine, source.relation, name, column_type)
            made = definition(self.name, fitting, self.table, name, column_type)
            remarks = create_hierarchy(engine, made, self)
        return created_answer(engine, self.name, remarks)
