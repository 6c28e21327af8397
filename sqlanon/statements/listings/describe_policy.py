"""The statement DESCRIBE POLICY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import Answer, Catalog, Columns, Presentation, Statement
from sqlanon.syntax.head import object_name
from sqlanon.syntax.texts import name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

_PARTS: Columns = (("part", "VARCHAR"), ("name", "VARCHAR"), ("detail", "VARCHAR"))
_SQL: Columns = (("sql", "VARCHAR"),)


@dataclass(frozen=True)
class DescribePolicy(Statement):
    """Lists the parts of a policy; with AS SQL, the statements that make it and its hierarchies."""

    name: str
    as_sql: bool = False

    OPENINGS = ("DESCRIBE POLICY",)
    EXAMPLES = ("DESCRIBE POLICY hospital", "DESCRIBE POLICY hospital AS SQL")
    GRAMMAR = """
describe_policy = DESCRIBE POLICY name [AS SQL] | SHOW POLICY identifier [AS SQL] ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    # One column, sql, with AS SQL.
    COLUMNS = None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        if not reader.accept("SHOW"):
            reader.expect("DESCRIBE")
        reader.expect("POLICY")
        name = object_name(reader, "policy")
        as_sql = reader.accept("AS", "SQL")
        reader.end(*(() if as_sql else ("AS SQL",)))
        return cls(name, as_sql)

    def sql(self) -> str:
        return f"DESCRIBE POLICY {name_text(self.name)}{' AS SQL' if self.as_sql else ''}"

    def title(self) -> str:
        return f"DESCRIBE POLICY {self.name}"

    def presentation(self) -> Presentation:
        return Presentation.SCRIPT if self.as_sql else self.PRESENTATION

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.catalog import policies
        from sqlanon.errors import about
        from sqlanon.statements.listings._listings import parts, statements_of

        with about("name"):
            policy = policies.load(engine, self.name)
        if self.as_sql:
            return Answer(_SQL, tuple((f"{text};",) for text in statements_of(engine, policy)))
        return Answer(_PARTS, tuple(parts(policy)))
