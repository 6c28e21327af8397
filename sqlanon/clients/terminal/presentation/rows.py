"""The values of a statement's result: as one line of text for people, and in JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


@dataclass(frozen=True)
class Rows:
    """A statement's result: its column names and rows; `truncated` tells whether rows at the end were left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False

    @classmethod
    def of(cls, result: Any, limit: int | None = None) -> Rows:
        """Fetches the rows of a DuckDB relation, at most `limit` of them."""
        if limit is None:
            return cls(tuple(result.columns), tuple(result.fetchall()))
        fetched = result.limit(limit + 1).fetchall()
        return cls(tuple(result.columns), tuple(fetched[:limit]), truncated=len(fetched) > limit)

    def column(self, name: str) -> list[Any]:
        """Returns the values of a column; an empty list if there is no such column."""
        return [row[self.columns.index(name)] for row in self.rows] if name in self.columns else []

    def without(self, name: str) -> Rows:
        """Returns these rows without a column."""
        indexes = [index for index, column in enumerate(self.columns) if column != name]
        rows = tuple(tuple(row[index] for index in indexes) for row in self.rows)
        return Rows(tuple(self.columns[index] for index in indexes), rows, self.truncated)

    def only(self, *names: str) -> Rows:
        """Returns these rows with only the named columns, in the order of the names."""
        indexes = [self.columns.index(name) for name in names]
        return Rows(names, tuple(tuple(row[index] for index in indexes) for row in self.rows), self.truncated)

    def records(self) -> list[dict[str, Any]]:
        """Returns the rows as dicts of JSON values by column name; a repeated name gets a number, as in DuckDB."""
        names: list[str] = []
        for column in self.columns:
            name, number = column, 0
            while name in names:
                number += 1
                name = f"{column}_{number}"
            names.append(name)
        return [dict(zip(names, map(json_value, row), strict=True)) for row in self.rows]


def json_value(value: Any) -> Any:
    """Converts a value to JSON: exact numbers stay numbers, and values of types that JSON lacks become texts."""
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
    """Formats a value on one line, without characters that would control a terminal."""
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
    """Escapes line breaks and control characters in the text, so that no value can control a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


# Tables of results: drawn with lines for a terminal, in Markdown for a pipe.


_MAX_CELL_WIDTH = 48
_MIN_COLUMNS = 2
# The least width of a column with folded text.
_LEAST_FOLDED = 20
# Up to this many rows that are too wide for a table are listed one below the other, an item a line.
_MAX_LISTED_ROWS = 3
# The number of decimals; a number below _SMALL has as many significant digits.
_DIGITS = 6
_SMALL = 1e-3


def draw_table(console: Console, rows: Rows) -> None:
    """Draws the rows as a table, at most as wide as the terminal.

    If the rows are too wide, columns with one value in all rows are written below the table, and the last column's text
    is folded. If they are still too wide, up to 3 rows are listed one below the other; if there are more rows, the
    columns that do not fit are left out and named.
    """
    if fits(rows, console.width):
        _draw(console, rows, len(rows.columns))
        return
    varying, common = _apart(rows)
    if _folds(varying, console.width):
        draw_folded(console, varying)
        for name, value in common:
            console.print(f"{_text(name)}: {_text(value)}", style="dim")
    elif len(rows.rows) > _MAX_LISTED_ROWS:
        _draw(console, rows, _fitting(rows, console.width))
    else:
        for row in rows.rows:
            _draw(console, Rows(("item", "value"), tuple(zip(rows.columns, row, strict=True))), 2)


def draw_folded(console: Console, rows: Rows) -> None:
    """Draws the rows as a table whose last column is folded to the remaining width."""
    others = _fitting(rows.only(*rows.columns[:-1]), console.width - _LEAST_FOLDED - 2)
    _draw(console, rows, len(rows.columns) if others == len(rows.columns) - 1 else others)


def _apart(rows: Rows) -> tuple[Rows, list[tuple[str, Any]]]:
    """Splits rows into the rows without the columns that have one value in all rows, and these columns with their
    values.

    A single row is not split.
    """
    if not rows.rows:
        return rows, []
    same = [len(rows.rows) > 1 and len({*map(cell_text, values)}) == 1 for values in zip(*rows.rows, strict=True)]
    common = [(name, value) for name, value, is_same in zip(rows.columns, rows.rows[0], same, strict=True) if is_same]
    varying = [index for index, is_same in enumerate(same) if not is_same]
    if len(varying) < _MIN_COLUMNS:
        return rows, []
    cells = tuple(tuple(row[index] for index in varying) for row in rows.rows)
    return Rows(tuple(rows.columns[index] for index in varying), cells, rows.truncated), common


def _folds(rows: Rows, width: int) -> bool:
    """Whether the rows fit if the last column, which must be text, is folded to the least width."""
    others = rows.only(*rows.columns[:-1])
    last = len(rows.columns) - 1
    return fits(rows, width) or (
        last > 0 and not _is_numeric(rows, last) and _fitting(others, width - _LEAST_FOLDED - 2) == last
    )


def fits(rows: Rows, width: int) -> bool:
    """Whether a table of the rows has at most this width."""
    return _fitting(rows, width) == len(rows.columns)


def _draw(console: Console, rows: Rows, column_count: int) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for index, column in enumerate(rows.columns[:column_count]):
        # The last column may be a long text, such as a path, so it is folded and never cut.
        last = index == column_count - 1
        table.add_column(
            _cell(column),
            justify="right" if _is_numeric(rows, index) else "left",
            overflow="fold" if last else "ellipsis",
            no_wrap=not last,
            max_width=None if last else _MAX_CELL_WIDTH,
        )
    for row in rows.rows:
        cells = [_cell(value) for value in row[:column_count]]
        if column_count > 1 and isinstance(row[column_count - 1], str):
            # Line breaks are kept: next to other columns no line can look like a row.
            cells[-1] = _lines(row[column_count - 1])
        table.add_row(*cells)
    console.print(table)
    if hidden := rows.columns[column_count:]:
        note = f"(not shown for lack of width: {', '.join(map(one_line, hidden))})"
        console.print(note, style="dim", soft_wrap=True)


def markdown_table(rows: Rows) -> Iterator[str]:
    """Yields the lines of a Markdown table, with numbers aligned to the right; no cell is cut."""
    from rich.cells import cell_len

    cells = [[_text(value).replace("|", "\\|") for value in row] for row in (rows.columns, *rows.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    right = [_is_numeric(rows, index) for index in range(len(widths))]

    def line(row: list[str]) -> str:
        padded = []
        for cell, width, is_right in zip(row, widths, right, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if is_right else cell + space)
        return f"| {' | '.join(padded)} |"

    yield line(cells[0])
    rules = ("-" * (width + 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True))
    yield f"|{'|'.join(rules)}|"
    yield from map(line, cells[1:])


def _lines(text: str) -> Text:
    from rich.text import Text

    return Text("\n".join(map(one_line, text.splitlines())))


def _cell(value: Any) -> Text:
    from rich.text import Text

    return Text(_text(value), style="dim" if value is None else "")


def _text(value: Any) -> str:
    """Formats a cell: a number has at most six decimals, and a small number has six significant digits."""
    if not isinstance(value, float) or not isfinite(value):
        return cell_text(value)
    return repr(round(value, _DIGITS)) if value == 0 or abs(value) >= _SMALL else f"{value:.{_DIGITS}g}"


def _is_numeric(rows: Rows, index: int) -> bool:
    values = [row[index] for row in rows.rows if row[index] is not None]
    return bool(values) and all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in values)


def _fitting(rows: Rows, width: int) -> int:
    """Returns the number of columns, from the left, that fit into the width without being cut; at least two."""
    from rich.cells import cell_len

    used = 0
    for index, column in enumerate(rows.columns):
        widest = max((cell_len(_text(row[index])) for row in rows.rows), default=0)
        used += min(max(widest, cell_len(column)), _MAX_CELL_WIDTH) + 2
        if used > width and index >= _MIN_COLUMNS:
            return index
    return len(rows.columns)
