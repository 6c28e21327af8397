"""The statement CREATE WORKLOAD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.numbers import counted
from sqlanon.domain.values import Value
from sqlanon.statements.base import DONE, Answer, Catalog, Statement, done
from sqlanon.syntax import values
from sqlanon.syntax.head import created, object_name, policy_name
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.texts import arguments_text, create_text, if_not_exists_text, name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CreateWorkload(Statement):
    """Makes random aggregate queries over the source of a policy, and stores them."""

    name: str
    policy: str
    arguments: tuple[tuple[str, Value], ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False

    OPENINGS = ("CREATE [OR REPLACE] WORKLOAD",)
    EXAMPLES = ("CREATE WORKLOAD counts ON POLICY hospital (queries => 1000, seed => 1)",)
    GRAMMAR = """
create_workload = CREATE [OR REPLACE] WORKLOAD [IF NOT EXISTS] name ON POLICY name
  [ "(" [ named_argument {"," named_argument} [","] ] ")" ] ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        or_replace, if_not_exists = created(reader, "WORKLOAD")
        name = object_name(reader, "workload")
        reader.expect("ON")
        if not reader.sees("POLICY") and reader.peek().kind in (Kind.WORD, Kind.QUOTED):
            raise reader.expected("POLICY", hint=f"write ON POLICY {reader.peek().text}")
        reader.expect("POLICY")
        policy = policy_name(reader)
        arguments: dict[str, Value] = {}
        if reader.sees_symbol("("):
            reader.listed(lambda: values.named(reader, arguments, "argument"), empty=True)
        reader.end()
        return cls(name, policy, tuple(arguments.items()), or_replace, if_not_exists)

    def sql(self) -> str:
        head = f"{create_text(self.or_replace)}WORKLOAD {if_not_exists_text(self.if_not_exists)}{name_text(self.name)}"
        arguments = f" ({', '.join(arguments_text(self.arguments))})" if self.arguments else ""
        return f"{head} ON POLICY {name_text(self.policy)}{arguments}"

    def title(self) -> str:
        return f"CREATE WORKLOAD {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.workloads._draw_queries import create_workload

        made = create_workload(engine, self)
        return done("CREATE WORKLOAD", self.name, "exists" if made is None else counted(made, "query", "queries"))
