"""What the certificate of an export states: requirements with their figures, arguments, numbers of rows."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import inf, nan
from typing import Any

from sqlanon.domain.report import Measurement
from sqlanon.domain.values import Value
from sqlanon.export.access import Export, tables_of

__all__ = ["stated_arguments", "stated_requirements", "stated_rows"]

_NUMBERS = {"infinity": inf, "-infinity": -inf, "not a number": nan}


def stated_requirements(export: Export) -> dict[str, Measurement]:
    """What the certificate says of each requirement, by its text."""
    return {
        str(r["requirement"]): Measurement(
            str(r["question"]),
            ", ".join(map(str, r["attributes"])) or None,
            _number(r["required"]),
            _number(r["achieved"]),
            r["satisfied"],
        )
        for r in export.stated["requirements"]
    }


def stated_rows(export: Export) -> list[tuple[str, int]]:
    """The name of each table, and how many rows the certificate says that it has."""
    released = export.stated["rows"]["released"]
    return [(str(table["name"]), int(table.get("rows", released))) for table in tables_of(export.stated)]


def stated_arguments(stated: Mapping[str, Any]) -> tuple[tuple[str, Value], ...]:
    """The arguments of a method as its statement had them."""
    return tuple((name, _value(value)) for name, value in stated.items())


def _number(stated: Any) -> float | None:
    return None if stated is None else _NUMBERS[stated] if stated in _NUMBERS else float(stated)


def _value(stated: Any) -> Any:
    if isinstance(stated, list):
        return tuple(map(_value, stated))
    return Decimal(repr(stated)) if isinstance(stated, float) else stated
