"""PREFIXES (n1, n2, ...): the first characters are kept, each further one becomes `*`.

94141 under PREFIXES (4, 3, 2) has the labels 9414*, 941**, 94***. The mask is as
long as what it hides, so a label fixes the prefix and the length, and a value no
longer than n is its own label there. That makes levels nest for every string, `*`
in the values included: the label of a level is a function of the one before.
"""

from __future__ import annotations

from itertools import pairwise

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.build import functions as f
from sqlanon.sql.hierarchies._trees import INTEGERS, cast, join_text, number, subtract, text
from sqlanon.sql.hierarchies.base import refused

STORED = False
KEEPS_ORDER = False
READ_AS = "mask"

_LONGEST = 1_000_000


def validate(definition: HierarchyDefinition) -> None:
    """Lengths must be whole, positive and strictly decreasing. Raises PolicyError."""
    if definition.query is not None or definition.options:
        raise refused(definition, "PREFIXES takes lengths and nothing else", "write PREFIXES (4, 3, 2)")
    lengths = _lengths(definition)
    if not lengths:
        raise refused(definition, "PREFIXES needs at least one length", "write PREFIXES (4, 3, 2)")
    for finer, coarser in pairwise(lengths):
        if coarser >= finer:
            raise refused(
                definition,
                f"levels that keep {finer} and {coarser} characters do not nest",
                "give the lengths in strictly decreasing order",
            )


def height(definition: HierarchyDefinition) -> int:
    """The number of levels above the values, `*` counted."""
    return len(definition.arguments) + 1


def accepts(column_type: str) -> bool:
    """Text, ENUM and UUID, and integers by their decimal digits, sign included."""
    return column_type in INTEGERS or column_type in ("VARCHAR", "UUID") or column_type.startswith("ENUM(")


def labels(definition: HierarchyDefinition, value: exp.Expr, column_type: str) -> tuple[exp.Expr, ...]:
    """The masked text of the value at levels 1 to height - 1; NULL for NULL.

    A character is a Unicode code point: the unit that `left` and `length` count in.
    Raises PolicyError if the type is not accepted.
    """
    validate(definition)
    if not accepts(column_type):
        raise refused(
            definition,
            f"PREFIXES takes no column of type {column_type}",
            "it takes VARCHAR, ENUM, UUID and integer columns; cast the column in a view to say which text you mean",
        )
    whole = cast(value.copy(), "VARCHAR")
    return tuple(_masked(whole, length) for length in _lengths(definition))


def _masked(whole: exp.Expr, length: int) -> exp.Expr:
    prefix = f.left(whole.copy(), length)
    hidden = subtract(f.length(whole.copy()), number(length))
    return join_text(prefix, f.repeat(text("*"), hidden))


def _lengths(definition: HierarchyDefinition) -> tuple[int, ...]:
    lengths = []
    for argument in definition.arguments:
        if isinstance(argument, bool) or not isinstance(argument, int) or not 0 < argument <= _LONGEST:
            raise refused(definition, f"{argument} is no length", f"lengths are whole numbers from 1 to {_LONGEST}")
        lengths.append(argument)
    return tuple(lengths)
