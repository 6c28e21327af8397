"""The statement EXPLAIN ESTIMATE ... UNDER BUDGET."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import READS_SOURCE, Answer, Catalog, Elsewhere, Statement
from sqlanon.statements.budgets.estimate_under_budget import EstimateUnderBudget

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class ExplainEstimate(Statement):
    """Estimates the cost of an answer under a budget, and its noise. It spends nothing and does not read any row."""

    estimate: EstimateUnderBudget

    OPENINGS = ("EXPLAIN ESTIMATE",)
    EXAMPLES = ("EXPLAIN ESTIMATE SELECT count(*) FROM patients UNDER BUDGET hospital_2026 (epsilon => 0.5)",)
    GRAMMAR = """
explain_estimate = EXPLAIN ESTIMATE query UNDER BUDGET name
  "(" named_argument {"," named_argument} [","] ")" ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("EXPLAIN ESTIMATE ... UNDER BUDGET", READS_SOURCE)
    CATALOG = Catalog.READS
    COLUMNS = (
        ("groups", "BIGINT"),
        ("noise", "VARCHAR"),
        ("expected_error", "DOUBLE"),
        ("error_95", "DOUBLE"),
        ("enough_rows", "BIGINT"),
        ("epsilon", "DOUBLE"),
        ("delta", "DOUBLE"),
        ("remaining", "DOUBLE"),
        ("answers_left", "BIGINT"),
    )

    @classmethod
    def read(cls, reader: Reader) -> Self:
        from sqlanon.statements.releases.estimate import Estimate

        reader.expect("EXPLAIN")
        token = reader.peek()
        estimate = Estimate.read(reader)
        if isinstance(estimate, EstimateUnderBudget):
            return cls(estimate)
        raise reader.refused(
            "only an answer under a budget is explained: an estimate from a release costs nothing",
            hint="leave EXPLAIN out",
            token=token,
        )

    def sql(self) -> str:
        return f"EXPLAIN {self.estimate.sql()}"

    def title(self) -> str:
        return f"EXPLAIN {self.estimate.title()}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.estimates.noisy.answers import explained_answer

        with self.estimate.about_query():
            row, remarks = explained_answer(engine, self.estimate.budget, self.estimate.query, self.estimate.arguments)
        return Answer(self.COLUMNS, (row,), remarks)
