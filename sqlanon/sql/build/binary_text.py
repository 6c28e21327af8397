"""Text compared byte by byte, whatever collation a session or a column has.

A comparison takes the collation of its operands, and an explicit COLLATE comes before
that of a column or of a session. So it is written once, where a text is read: whatever
is computed from the text inherits it. Published text has none, since tables that are made
of it, and comparisons with it, would inherit it, too.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import identifier

_FIELD = "text"
_BINARY, _ROW, _EXTRACT = "binary", "row", "struct_extract"


def by_bytes(value: exp.Expr) -> exp.Expr:
    """A value as text that is compared by its bytes."""
    text = as_text(value)
    return exp.Collate(this=text, expression=identifier(_BINARY))


def without_collation(text: exp.Expr) -> exp.Expr:
    """The text with the collation of its type, which is none: a plain cast of the text would keep its collation."""
    row = f.call(_ROW, text)
    kind = exp.DataType.build(f"STRUCT({_FIELD} VARCHAR)", dialect="duckdb")
    return f.call(_EXTRACT, exp.Cast(this=row, to=kind), exp.Literal.string(_FIELD))


def text_by_bytes(tree: exp.Expr) -> exp.Expr | None:
    """The text that `by_bytes` has given a collation; None of any other tree."""
    is_binary = isinstance(tree, exp.Collate) and tree.expression.name == _BINARY
    return tree.this if is_binary else None


def text_without_collation(tree: exp.Expr) -> exp.Expr | None:
    """The text from which `without_collation` has taken its collation; None of any other tree."""
    if not (isinstance(tree, exp.Anonymous) and tree.name == _EXTRACT and isinstance(tree.expressions[0], exp.Cast)):
        return None
    row = tree.expressions[0].this
    is_own = isinstance(row, exp.Anonymous) and row.name == _ROW and tree.expressions[1].name == _FIELD
    return row.expressions[0] if is_own else None
