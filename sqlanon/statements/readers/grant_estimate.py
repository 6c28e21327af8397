"""The statement GRANT ESTIMATE ON BUDGET."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.syntax.head import budget_and_reader
from sqlanon.syntax.texts import name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class GrantEstimate(Statement):
    """Lets a reader ask ESTIMATE ... UNDER BUDGET through a door, and spend from this budget."""

    budget: str
    to: str

    OPENINGS = ("GRANT ESTIMATE ON",)
    EXAMPLES = ("GRANT ESTIMATE ON BUDGET hospital_2026 TO ana",)
    GRAMMAR = """
grant_estimate = GRANT ESTIMATE ON BUDGET name TO name ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("reader", "VARCHAR"), ("budget", "VARCHAR"), ("outcome", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("GRANT", "ESTIMATE", "ON")
        return cls(*budget_and_reader(reader, "TO"))

    def sql(self) -> str:
        return f"GRANT ESTIMATE ON BUDGET {name_text(self.budget)} TO {name_text(self.to)}"

    def title(self) -> str:
        return f"GRANT ESTIMATE ON BUDGET {self.budget} TO {self.to}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.readers._budgets import grant_budget

        return Answer(self.COLUMNS, (grant_budget(engine, self.budget, self.to),))
