"""The statement ESTIMATE ... UNDER BUDGET."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import Value
from sqlanon.errors import PolicyError, Position
from sqlanon.statements.base import READS_SOURCE, Answer, Catalog, Elsewhere, Statement
from sqlanon.syntax import values
from sqlanon.syntax.query_text import query_text
from sqlanon.syntax.texts import arguments_text, name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class EstimateUnderBudget(Statement):
    """Answers an aggregate query on a policy's table with noise, and spends the cost of the answer from a budget.

    `reader_id` identifies the reader who asks through a door, and is not in the statement's text; None means the owner.
    """

    query: str
    budget: str
    arguments: tuple[tuple[str, Value], ...]
    query_position: Position | None = field(default=None, compare=False, kw_only=True)
    reader_id: str | None = field(default=None, compare=False, kw_only=True)

    OPENINGS = ()
    EXAMPLES = ("ESTIMATE SELECT count(*) FROM patients UNDER BUDGET hospital_2026 (epsilon => 0.5)",)
    GRAMMAR = """
estimate_under_budget = ESTIMATE query UNDER BUDGET name
  "(" named_argument {"," named_argument} [","] ")" ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("ESTIMATE ... UNDER BUDGET", READS_SOURCE)
    CATALOG = Catalog.READS
    # The groups, the figure with its bounds, epsilon and remaining.
    COLUMNS = None

    @classmethod
    def after_query(cls, reader: Reader, query: str, position: Position | None) -> Self:
        """Reads the budget's name and the arguments after UNDER BUDGET."""
        reader.form = cls.form()
        reader.mark("budget")
        name = reader.name("the name of the budget")
        arguments: dict[str, Value] = {}
        reader.listed(lambda: values.named(reader, arguments, "argument"))
        reader.end()
        return cls(query, name, tuple(arguments.items()), query_position=position)

    def sql(self) -> str:
        arguments = ", ".join(arguments_text(self.arguments))
        return f"ESTIMATE {query_text(self.query)} UNDER BUDGET {name_text(self.budget)} ({arguments})"

    def title(self) -> str:
        return f"ESTIMATE UNDER BUDGET {self.budget}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.estimates.noisy.answers import noisy_answer

        with self.about_query():
            answer = noisy_answer(engine, self.budget, self.query, self.arguments, self.sql(), self.reader_id)
        return Answer(answer.columns, answer.rows, answer.remarks)

    @contextmanager
    def about_query(self) -> Iterator[None]:
        """Replaces the position in the query of a PolicyError raised inside by the position in the script."""
        try:
            yield
        except PolicyError as error:
            if error.position:
                known = self.query_position
                error.position = error.position.within(known) if known else None
                error.part = error.part or ("query",)
            raise
