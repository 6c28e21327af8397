"""The statement DROP HIERARCHY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError
from sqlanon.statements.base import DONE, Catalog
from sqlanon.statements.named import DropNamed, KeptByName

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine


@dataclass(frozen=True)
class DropHierarchy(DropNamed):
    """Deletes a hierarchy. The statement fails if a policy uses the hierarchy, and, without IF EXISTS, if there is no
    such hierarchy.
    """

    OPENINGS = ("DROP HIERARCHY",)
    EXAMPLES = ("DROP HIERARCHY IF EXISTS age_bands",)
    GRAMMAR = "drop_hierarchy = DROP HIERARCHY [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "hierarchy"
    ABSENT = PolicyError

    def objects(self) -> KeptByName:
        from sqlanon.catalog import hierarchies

        return hierarchies

    def require_unused(self, engine: Engine) -> None:
        from sqlanon.catalog import hierarchies

        if users := hierarchies.used_by(engine, self.name):
            raise PolicyError(
                f"the hierarchy {self.name} is used by the polic{'ies' if len(users) > 1 else 'y'} " + ", ".join(users),
                hint="drop or replace them first",
            )
