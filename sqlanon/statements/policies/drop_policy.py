"""DROP POLICY."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.errors import PolicyError
from sqlanon.statements.base import DONE, Catalog
from sqlanon.statements.named import DropNamed, KeptByName


@dataclass(frozen=True)
class DropPolicy(DropNamed):
    """Forgets a policy; its releases stay."""

    OPENINGS = ("DROP POLICY",)
    EXAMPLES = ("DROP POLICY IF EXISTS hospital",)
    GRAMMAR = "drop_policy = DROP POLICY [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "policy"
    ABSENT = PolicyError

    def objects(self) -> KeptByName:
        from sqlanon.catalog import policies

        return policies
