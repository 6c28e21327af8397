"""The statements about streams, one dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName
from sqlanon.syntax._calls import MethodCall
from sqlanon.syntax._placed import Placed

__all__ = ["Advance", "CreateStream", "DropStream"]


@dataclass(frozen=True)
class CreateStream(Placed):
    """CREATE ANONYMIZED STREAM [IF NOT EXISTS] name AS POLICY policy ORDER BY column METHOD stream(...)."""

    name: QualifiedName
    policy: str
    order_column: str
    method: MethodCall
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropStream(Placed):
    """DROP ANONYMIZED STREAM [IF EXISTS] name."""

    name: QualifiedName
    if_exists: bool = False


@dataclass(frozen=True)
class Advance(Placed):
    """ADVANCE name [TO END | TO 'moment']: publishes what is due of a stream, at its end all that waits."""

    name: QualifiedName
    to_end: bool = False
    until: str | None = None
