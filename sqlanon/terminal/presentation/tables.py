"""Results as tables: drawn for a terminal, in Markdown for a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlanon.terminal.presentation.rows import Rows, cell_text, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["draw_table", "markdown_table"]

_WIDEST_CELL = 48
_NARROWEST = 2
# So many rows stand one below the other, an item a line, where they are too wide for a table.
_FEW = 3


def draw_table(console: Console, rows: Rows) -> None:
    """A table for people, as wide as the terminal.

    Few rows that are too wide stand one below the other; of many, the columns that do not fit are left out and named.
    """
    shown = _fitting(rows, console.width)
    if len(rows.rows) > _FEW or shown == len(rows.columns):
        _draw(console, rows, shown)
        return
    for row in rows.rows:
        _draw(console, Rows(("item", "value"), tuple(zip(rows.columns, row, strict=True))), 2)


def _draw(console: Console, rows: Rows, shown: int) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for index, column in enumerate(rows.columns[:shown]):
        # The last column may be a long text, such as a path: it is folded, never cut.
        last = index == shown - 1
        table.add_column(
            _cell(column),
            justify="right" if _is_numeric(rows, index) else "left",
            overflow="fold" if last else "ellipsis",
            no_wrap=not last,
            max_width=None if last else _WIDEST_CELL,
        )
    for row in rows.rows:
        table.add_row(*(_cell(value) for value in row[:shown]))
    console.print(table)
    if left := rows.columns[shown:]:
        note = f"(not shown for lack of width: {', '.join(map(one_line, left))})"
        console.print(note, style="dim", soft_wrap=True)


def markdown_table(rows: Rows) -> Iterator[str]:
    """The lines of a table in Markdown, whole however wide it is, numbers to the right."""
    from rich.cells import cell_len

    cells = [[cell_text(value).replace("|", "\\|") for value in row] for row in (rows.columns, *rows.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    right = [_is_numeric(rows, index) for index in range(len(widths))]

    def line(row: list[str]) -> str:
        padded = []
        for cell, width, to_the_right in zip(row, widths, right, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if to_the_right else cell + space)
        return f"| {' | '.join(padded)} |"

    yield line(cells[0])
    rules = ("-" * (width + 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True))
    yield f"|{'|'.join(rules)}|"
    yield from map(line, cells[1:])


def _cell(value: Any) -> Text:
    from rich.text import Text

    return Text(cell_text(value), style="dim" if value is None else "")


def _is_numeric(rows: Rows, index: int) -> bool:
    values = [row[index] for row in rows.rows if row[index] is not None]
    return bool(values) and all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in values)


def _fitting(rows: Rows, width: int) -> int:
    """How many columns, from the left, fit into the width whole; always at least two."""
    from rich.cells import cell_len

    used = 0
    for index, column in enumerate(rows.columns):
        widest = max((cell_len(cell_text(row[index])) for row in rows.rows), default=0)
        used += min(max(widest, cell_len(column)), _WIDEST_CELL) + 2
        if used > width and index >= _NARROWEST:
            return index
    return len(rows.columns)
