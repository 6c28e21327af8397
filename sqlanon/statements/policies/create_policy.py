"""The statement CREATE POLICY."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from sqlanon.domain.policy import Policy
from sqlanon.domain.values import Source
from sqlanon.statements.base import DONE, Answer, Catalog, Statement, done
from sqlanon.syntax.definitions import policy_text
from sqlanon.syntax.policy import create_policy

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CreatePolicy(Statement):
    """Checks a policy against its source and its hierarchies, and stores it."""

    policy: Policy
    or_replace: bool = False
    if_not_exists: bool = False

    OPENINGS = ("CREATE [OR REPLACE] POLICY",)
    EXAMPLES = (
        "CREATE POLICY hospital ON patients (ssn IDENTIFIER, age QUASI IDENTIFIER USING age_bands, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 4)",
    )
    GRAMMAR = """
create_policy = CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name ON
  ( source attributes {related_table} | long_table PIVOT name VALUES name attributes )
  ( required | without_requirements ) ;
long_table = qualified_name | file | "(" query ")" ;
related_table = WITH TABLE ( qualified_name [AS name] | source AS name ) ON "(" name [","] ")" attributes ;
required = [sample] [CONFIDENTIAL column_sets] [VISIBLE column_sets] [AGAINST source] [joined] requirements ;
sample = SAMPLE ( FRACTION number | OF integer ) ;
without_requirements = [sample] CONFIDENTIAL column_sets [VISIBLE column_sets] ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.WRITES
    COLUMNS = DONE
    KEEPS_SOURCES = True

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(*create_policy(reader))

    def sql(self) -> str:
        return policy_text(self.policy, or_replace=self.or_replace, if_not_exists=self.if_not_exists)

    def title(self) -> str:
        return f"CREATE POLICY {self.policy.name}"

    def sources(self) -> list[Source]:
        return [*self.policy.sources, *([self.policy.against] if self.policy.against else [])]

    def with_sources(self, renamed: Callable[[Source], Source]) -> Self:
        policy = self.policy
        against = policy.against and renamed(policy.against)
        related = tuple(replace(table, source=renamed(table.source)) for table in policy.related)
        return replace(self, policy=replace(policy, source=renamed(policy.source), against=against, related=related))

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.catalog import policies
        from sqlanon.engines.temp_tables import TempTables
        from sqlanon.sources.joins import with_argument_names
        from sqlanon.sources.pivot import with_items
        from sqlanon.statements.named import to_be_made
        from sqlanon.statements.policies._automatic import drop_hierarchies, lacking, stored_policy
        from sqlanon.statements.policies._saved import save_policy

        requirements = tuple(map(with_argument_names, self.policy.requirements))
        policy = replace(self.policy, requirements=requirements)
        with engine.transaction():
            former = stored_policy(engine, policy.name)
            if not to_be_made(engine, policies, "policy", policy.name, self):
                return done("CREATE POLICY", policy.name, "exists")
            drop_hierarchies(engine, former, policy)
            if policy.pivot:
                with TempTables(engine) as temp:
                    policy = with_items(engine, policy, temp)
            remarks = save_policy(engine, policy)
        return done("CREATE POLICY", policy.name, "created", (*remarks, *lacking(engine, policy)))
