"""What a statement answers in a notebook: a DuckDB relation that is displayed as an HTML table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from sqlanon.export.report.markup import InPlaceOfNumber, Markup, paragraph, table, text

if TYPE_CHECKING:
    from sqlanon.engines.connection_methods import DuckDBRelation


# So many rows are displayed; the relation has all of them.
_ROWS = 50
_NULL = InPlaceOfNumber("NULL")
_NOT_SATISFIED = Markup("<strong>no</strong>")


class Result:
    """The rows that a statement returned, and the remarks that it made.

    It has the methods of DuckDB's relations, such as `df()`, `pl()` and `fetchall()`, and is an Arrow stream.
    In a notebook it is a table of its first rows, in which a requirement that is not met stands out.
    """

    def __init__(self, relation: DuckDBRelation | None, title: str, remarks: Sequence[str] = ()) -> None:
        self.relation = relation
        self.remarks = tuple(remarks)
        self._title = title
        self._head = None if relation is None else relation.limit(_ROWS + 1).fetchall()

    # A type checker would take any name for a method.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Names with an underscore are asked by those who display things.
            if name.startswith("_") or self.relation is None:
                raise AttributeError(name)
            return getattr(self.relation, name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream, which pyarrow, polars and pandas read. Raises TypeError where there are none.

        That is Arrow's PyCapsule interface.
        """
        if self.relation is None:
            raise TypeError("the statement returned no rows")
        return cast(Any, self.relation).__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """The same as a text, where no HTML is displayed."""
        return "\n".join((*([] if self.relation is None else [str(self.relation)]), *self.remarks))

    def _repr_html_(self) -> str:
        """The table, with the remarks below it."""
        parts = [] if self.relation is None or self._head is None else [_table(self.relation, self._head, self._title)]
        return "\n".join((*parts, *map(paragraph, self.remarks)))


def _table(relation: DuckDBRelation, head: Sequence[Sequence[Any]], title: str) -> Markup:
    columns = list(relation.columns)
    rows = [[_cell(name, value) for name, value in zip(columns, row, strict=True)] for row in head[:_ROWS]]
    first_rows = table(title, columns, rows)
    if len(head) <= _ROWS:
        return first_rows
    return Markup(first_rows + paragraph(f"These are the first {_ROWS} rows; df() has all."))


def _cell(name: str, value: Any) -> Any:
    if value is None:
        return _NULL
    if name == "satisfied" and value is False:
        return _NOT_SATISFIED
    return value if isinstance(value, bool | int | float) else text(value)
