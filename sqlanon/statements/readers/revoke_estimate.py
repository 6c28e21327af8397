"""The statement REVOKE ESTIMATE ON BUDGET."""

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
class RevokeEstimate(Statement):
    """Revokes the grant of a reader on a budget. Costs that the reader has spent are not returned."""

    budget: str
    from_: str

    OPENINGS = ("REVOKE ESTIMATE ON",)
    EXAMPLES = ("REVOKE ESTIMATE ON BUDGET hospital_2026 FROM ana",)
    GRAMMAR = """
revoke_estimate = REVOKE ESTIMATE ON BUDGET name FROM name ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("reader", "VARCHAR"), ("budget", "VARCHAR"), ("outcome", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("REVOKE", "ESTIMATE", "ON")
        return cls(*budget_and_reader(reader, "FROM"))

    def sql(self) -> str:
        return " ".join(("REVOKE ESTIMATE ON BUDGET", name_text(self.budget), "FROM", name_text(self.from_)))

    def title(self) -> str:
        return " ".join(("REVOKE ESTIMATE ON BUDGET", self.budget, "FROM", self.from_))

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.readers._budgets import revoke_budget

        return Answer(self.COLUMNS, (revoke_budget(engine, self.budget, self.from_),))
