"""The statements that look at a table before there is a policy, one dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName, Source
from sqlanon.syntax._placed import Placed

__all__ = ["Profile", "ProposeHierarchy"]


@dataclass(frozen=True)
class Profile(Placed):
    """PROFILE source [(column, ...)]: who can be found in any table or (SELECT ...), and a policy to begin with.

    Without `columns` all columns are meant.
    """

    source: Source
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProposeHierarchy(Placed):
    """CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name AUTO ON table.column."""

    name: str
    table: QualifiedName
    column: str
    or_replace: bool = False
    if_not_exists: bool = False
