"""Text compared byte by byte, whatever collation a session or a column has.

A comparison takes the collation of its operands, and an explicit COLLATE comes before
that of a column or of a session. So it is written once, where a text is read: whatever
is computed from the text inherits it. Published text has none, since tables that are made
of it, and comparisons with it, would inherit it, too.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text
from sqlanon.sqlgen.build.names import identifier

__all__ = ["by_bytes", "without_collation"]

_FIELD = "text"


def by_bytes(value: exp.Expr) -> exp.Expr:
    """A value as text that is compared by its bytes."""
    text = as_text(value)
    return exp.Collate(this=text, expression=identifier("binary"))


def without_collation(text: exp.Expr) -> exp.Expr:
    """The text with the collation of its type, which is none: a plain cast of the text would keep its collation."""
    row = f.call("row", text)
    kind = exp.DataType.build(f"STRUCT({_FIELD} VARCHAR)", dialect="duckdb")
    return f.call("struct_extract", exp.Cast(this=row, to=kind), exp.Literal.string(_FIELD))
