"""A statement's result as values: on one line of text for people, in JSON for machines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class Rows:
    """A statement's result: its column names and rows; `truncated` says whether rows were left out at the end."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False

    @classmethod
    def of(cls, result: Any, limit: int | None = None) -> Rows:
        """The rows of a DuckDB relation, at most `limit` of them."""
        if limit is None:
            return cls(tuple(result.columns), tuple(result.fetchall()))
        fetched = result.limit(limit + 1).fetchall()
        return cls(tuple(result.columns), tuple(fetched[:limit]), truncated=len(fetched) > limit)

    def column(self, name: str) -> list[Any]:
        """The values of one column; none if there is no such column."""
        return [row[self.columns.index(name)] for row in self.rows] if name in self.columns else []

    def without(self, name: str) -> Rows:
        """These rows without one column."""
        indexes = [index for index, column in enumerate(self.columns) if column != name]
        rows = tuple(tuple(row[index] for index in indexes) for row in self.rows)
        return Rows(tuple(self.columns[index] for index in indexes), rows, self.truncated)

    def only(self, *names: str) -> Rows:
        """These rows with some of their columns, in this order."""
        indexes = [self.columns.index(name) for name in names]
        return Rows(names, tuple(tuple(row[index] for index in indexes) for row in self.rows), self.truncated)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dicts of JSON values by column name; a repeated name gets a number, as DuckDB gives it."""
        names: list[str] = []
        for column in self.columns:
            name, number = column, 0
            while name in names:
                number += 1
                name = f"{column}_{number}"
            names.append(name)
        return [dict(zip(names, map(json_value, row), strict=True)) for row in self.rows]


def json_value(value: Any) -> Any:
    """A value as JSON can say it: exact numbers as numbers, everything else that JSON lacks as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Decimal):
        return _json_number(value)
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return cell_text(value)


def _json_number(value: Decimal) -> int | float | str:
    if value == value.to_integral_value():
        return int(value)
    as_float = float(value)
    return as_float if Decimal(repr(as_float)) == value else str(value)


def cell_text(value: Any) -> str:
    """A value on one line, without characters that would act on a terminal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, dict | list | tuple):
        return one_line(json.dumps(json_value(value), ensure_ascii=False))
    return one_line(str(value))


def one_line(text: str) -> str:
    """The text with line breaks and control characters written out, so that no value can drive a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
