"""The answer of a statement in a notebook: a DuckDB relation that is displayed as an HTML table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from sqlanon.export.report.markup import InPlaceOfNumber, Markup, in_notebook, paragraph, table, text

if TYPE_CHECKING:
    from sqlanon.engines.connection_methods import DuckDBRelation


# The number of rows to display; the relation has all rows.
_ROWS = 50
_NULL = InPlaceOfNumber("NULL")
# The first columns to show of PROFILE's answer, and the parts of the answer that are about several columns.
_OF_COLUMNS = ("subject", "proposal", "why")
_SETS = ("columns", "key")
_SPECIAL = "special"
_COMMENT_WIDTH = 100
_NOT_SATISFIED = Markup("<strong>no</strong>")


class Result:
    """The rows that a statement returned, and its remarks.

    It has the methods of DuckDB's relations, such as `df()`, `pl()` and `fetchall()`, and is an Arrow stream. A
    notebook displays a table of its first rows and highlights a requirement that is not satisfied.
    """

    def __init__(self, relation: DuckDBRelation | None, title: str, remarks: Sequence[str] = ()) -> None:
        self.relation = relation
        self.remarks = tuple(remarks)
        self._title = title
        self._head = None if relation is None else relation.limit(_ROWS + 1).fetchall()

    # Hidden from type checkers, which would accept any name.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Libraries that display objects probe names with an underscore.
            if name.startswith("_") or self.relation is None:
                raise AttributeError(name)
            return getattr(self.relation, name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns the rows as an Arrow stream for pyarrow, polars and pandas. Raises TypeError if there are no rows.

        It implements Arrow's PyCapsule interface.
        """
        if self.relation is None:
            raise TypeError("the statement returned no rows")
        return cast(Any, self.relation).__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Returns the table as text, for places that do not display HTML."""
        return "\n".join((*([] if self.relation is None else [str(self.relation)]), *self.remarks))

    def _repr_html_(self) -> str:
        """Returns the table with the remarks below it; for a proposal of PROFILE, it has the script that the user
        copies.
        """
        if self.relation is not None and is_proposal(self.relation):
            return in_notebook(*_proposal(self.relation, self._title), *map(paragraph, self.remarks))
        parts = [] if self.relation is None or self._head is None else [_table(self.relation, self._head, self._title)]
        return in_notebook(*parts, *map(paragraph, self.remarks))


def is_proposal(relation: DuckDBRelation) -> bool:
    """Whether a relation is an answer of PROFILE: figures and roles of columns, and statements that the user edits."""
    return set(_OF_COLUMNS) < set(relation.columns) and "part" in relation.columns


def proposal_html(relation: DuckDBRelation) -> str | None:
    """Returns an answer of PROFILE as HTML; None for any other relation, which IPython then displays as usual."""
    return in_notebook(*_proposal(relation, "PROFILE")) if is_proposal(relation) else None


def _proposal(relation: DuckDBRelation, title: str) -> Iterator[Markup]:
    """Yields tables of columns, of sets of columns and of columns that make rows special, and the script."""
    names = list(relation.columns)
    rows = [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    of_columns = [row for row in rows if row["part"] == "column"]
    sets = [row for row in rows if row["part"] in _SETS]
    special = [row for row in rows if row["part"] == _SPECIAL]
    others = [row for row in rows if row["part"] not in ("column", *_SETS, _SPECIAL)]
    figures = [name for name in names if name not in ("part", *_OF_COLUMNS)]
    yield _listed(title, of_columns, [*_OF_COLUMNS, *figures])
    if sets:
        of_sets = [name for name in figures if any(row[name] is not None for row in sets)]
        yield _listed("Columns together", sets, ["subject", "why", *of_sets])
    if special:
        yield _listed("Columns that make rows special", special, ["subject", "unique_rows", "why"])
    if script := [line for row in others for line in _lines(row)]:
        yield paragraph("The proposed script: copy it, edit it, and run it.")
        yield Markup(f"<pre>{chr(10).join(map(text, script))}</pre>")


def _listed(title: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Markup:
    return table(title, list(names), [[_cell(name, row[name]) for name in names] for row in rows])


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yields a statement's lines, after its reason as comments."""
    why = f"{row['subject']}: {row['why']}" if row["subject"] else str(row["why"])
    yield from textwrap.wrap(why, _COMMENT_WIDTH, initial_indent="-- ", subsequent_indent="-- ")
    if row["proposal"] is not None:
        yield from f"{row['proposal']};".splitlines()


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
