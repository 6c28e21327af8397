"""The statement CREATE BUDGET."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import Value
from sqlanon.statements.base import DONE, READS_SOURCE, Answer, Catalog, Elsewhere, Statement, done
from sqlanon.syntax import values
from sqlanon.syntax.head import created, object_name, policy_name
from sqlanon.syntax.texts import arguments_text, if_not_exists_text, name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CreateBudget(Statement):
    """Makes a budget: the greatest total privacy loss of all answers with noise about the source of a policy."""

    name: str
    policy: str
    arguments: tuple[tuple[str, Value], ...]
    if_not_exists: bool = False

    OPENINGS = ("CREATE [OR REPLACE] BUDGET",)
    EXAMPLES = ("CREATE BUDGET hospital_2026 ON POLICY hospital (epsilon => 2)",)
    GRAMMAR = """
create_budget = CREATE BUDGET [IF NOT EXISTS] name ON POLICY name
  "(" named_argument {"," named_argument} [","] ")" ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CREATE BUDGET", READS_SOURCE)
    CATALOG = Catalog.READS
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        token = reader.peek()
        or_replace, if_not_exists = created(reader, "BUDGET")
        if or_replace:
            hint = "spent costs cannot be taken back: make a budget of another name"
            raise reader.refused("a budget is not replaced", hint=hint, token=token)
        name = object_name(reader, "budget")
        reader.expect("ON", "POLICY")
        policy = policy_name(reader)
        arguments: dict[str, Value] = {}
        reader.listed(lambda: values.named(reader, arguments, "argument"))
        reader.end()
        return cls(name, policy, tuple(arguments.items()), if_not_exists)

    def sql(self) -> str:
        head = f"CREATE BUDGET {if_not_exists_text(self.if_not_exists)}{name_text(self.name)}"
        return f"{head} ON POLICY {name_text(self.policy)} ({', '.join(arguments_text(self.arguments))})"

    def title(self) -> str:
        return f"CREATE BUDGET {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.budgets._budget import create_budget

        is_new, remarks = create_budget(engine, self)
        return done("CREATE BUDGET", self.name, "created" if is_new else "exists", remarks)
