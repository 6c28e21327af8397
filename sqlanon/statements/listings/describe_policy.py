"""DESCRIBE POLICY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.syntax.head import object_name
from sqlanon.syntax.texts import name_text

if TYPE_CHECKING:
    from sqlanon.domain.watching import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class DescribePolicy(Statement):
    """Lists the parts of a policy, the statement that makes it among them."""

    name: str

    OPENINGS = ("DESCRIBE POLICY",)
    EXAMPLES = ("DESCRIBE POLICY hospital",)
    GRAMMAR = """
describe_policy = DESCRIBE POLICY name | SHOW POLICY identifier ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("part", "VARCHAR"), ("name", "VARCHAR"), ("detail", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        if not reader.accept("SHOW"):
            reader.expect("DESCRIBE")
        reader.expect("POLICY")
        name = object_name(reader, "policy")
        reader.end()
        return cls(name)

    def sql(self) -> str:
        return f"DESCRIBE POLICY {name_text(self.name)}"

    def title(self) -> str:
        return f"DESCRIBE POLICY {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.catalog import policies
        from sqlanon.errors import about
        from sqlanon.statements.listings._listings import parts

        with about("name"):
            policy = policies.load(engine, self.name)
        return Answer(self.COLUMNS, tuple(parts(policy)))
