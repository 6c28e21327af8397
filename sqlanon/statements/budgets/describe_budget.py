"""The statement DESCRIBE BUDGET."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.syntax.head import object_name
from sqlanon.syntax.texts import name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class DescribeBudget(Statement):
    """Lists the answers under a budget: the time, the cost, the reader and the statement of each.

    The reader is NULL if an answer was not given through a door.
    """

    name: str

    OPENINGS = ("DESCRIBE BUDGET",)
    EXAMPLES = ("DESCRIBE BUDGET hospital_2026",)
    GRAMMAR = """
describe_budget = DESCRIBE BUDGET name ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (
        ("asked_at", "VARCHAR"),
        ("epsilon", "DOUBLE"),
        ("delta", "DOUBLE"),
        ("reader", "VARCHAR"),
        ("query", "VARCHAR"),
    )

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("DESCRIBE", "BUDGET")
        name = object_name(reader, "budget")
        reader.end()
        return cls(name)

    def sql(self) -> str:
        return f"DESCRIBE BUDGET {name_text(self.name)}"

    def title(self) -> str:
        return f"DESCRIBE BUDGET {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.catalog import budgets
        from sqlanon.errors import about

        with about("name"):
            budget = budgets.load(engine, self.name)
        rows = (
            (asked_at.isoformat(sep=" ", timespec="seconds"), float(epsilon), float(delta), reader, query)
            for asked_at, epsilon, delta, _, query, reader in budgets.entries(engine, budget)
        )
        return Answer(self.COLUMNS, tuple(rows))
