"""The statements about several releases, and about one that takes the place of another, one dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName
from sqlanon.syntax._placed import Placed

__all__ = ["CheckJoined", "CheckSeries", "CreateSeries", "DropSeries", "RefreshRelease"]


@dataclass(frozen=True)
class CreateSeries(Placed):
    """CREATE SERIES [IF NOT EXISTS] name ON POLICY policy KEY 'variable' [REQUIRE requirements]."""

    name: str
    policy: str
    key_variable: str
    requirements: tuple[Requirement, ...] = ()
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropSeries(Placed):
    """DROP SERIES [IF EXISTS] name: erases its ledger; its releases stay."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class CheckSeries(Placed):
    """CHECK name IN SERIES series: what the releases of a series tell together, of which the named one is one."""

    name: QualifiedName
    series: str


@dataclass(frozen=True)
class CheckJoined(Placed):
    """CHECK name JOINED WITH RELEASE other ON (columns) REQUIRE requirements: what the join of two releases tells."""

    name: QualifiedName
    other: QualifiedName
    columns: tuple[str, ...]
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True)
class RefreshRelease(Placed):
    """REFRESH ANONYMIZED TABLE name [LEVELS FROM RELEASE release]: makes a snapshot anew, as it was made."""

    name: QualifiedName
    levels_from: QualifiedName | None = None
