"""The statement DROP POLICY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError
from sqlanon.statements.base import DONE, Answer, Catalog
from sqlanon.statements.named import DropNamed, KeptByName

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine


@dataclass(frozen=True)
class DropPolicy(DropNamed):
    """Deletes a policy, and the hierarchies that USING AUTO made only for it; its releases stay."""

    OPENINGS = ("DROP POLICY",)
    EXAMPLES = ("DROP POLICY IF EXISTS hospital",)
    GRAMMAR = "drop_policy = DROP POLICY [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "policy"
    ABSENT = PolicyError

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.policies._automatic import drop_hierarchies, stored_policy

        with engine.transaction():
            former = stored_policy(engine, self.name)
            answer = super().run(engine, progress)
            drop_hierarchies(engine, former)
        return answer

    def objects(self) -> KeptByName:
        from sqlanon.catalog import policies

        return policies
