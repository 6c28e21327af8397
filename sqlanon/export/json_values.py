"""Values as a certificate has them in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from sqlanon.domain.values import QualifiedName, Value

__all__ = ["stated_arguments_of", "stated_figure", "stated_moment"]


def stated_figure(number: float | None) -> float | str | None:
    """A number for JSON, which has no infinite ones: these are texts."""
    if number is None or isfinite(number):
        return number
    return "infinity" if number > 0 else "-infinity" if number < 0 else "not a number"


def stated_arguments_of(arguments: Sequence[tuple[str, Value]]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in arguments}


def _plain(value: Value) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        # A reader of JSON holds a number in a DOUBLE: what does not fit in one is text.
        return float(value) if Decimal(repr(float(value))) == value else f"{value:f}"
    return str(value) if isinstance(value, QualifiedName) else value


def stated_moment(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat() + "Z"
