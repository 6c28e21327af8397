"""The text by which a respondent or a value is known again in every release: equal ones have one, in any session."""

from __future__ import annotations

import re

from sqlglot import exp

from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, case
from sqlanon.sqlgen.build.names import column, literal

__all__ = ["has_known_text", "known_text"]

_EXACT = re.compile(
    r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,\d+\)|VARCHAR|UUID|DATE|TIME|"
    r"TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE"
)
_ROUNDED = ("FLOAT", "DOUBLE")


def has_known_text(kind: str, *, rounded: bool = True) -> bool:
    """Whether equal values of a type have one text; `rounded` says whether numbers that are rounded will do."""
    return bool(_EXACT.fullmatch(kind)) or (rounded and kind in _ROUNDED)


def known_text(name: str, kind: str) -> exp.Expr:
    """The text of a column of a type for which `has_known_text`; NULL for NULL."""
    value = column(name)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return as_text(f.call("timezone", "UTC", value))
    if kind in _ROUNDED:
        # Zeros of both signs are equal, and so are all that are no number.
        return case(
            (f.call("isnan", value), literal("nan")),
            (value.copy().eq(literal(0)), literal("0.0")),
            otherwise=as_text(value.copy()),
        )
    return as_text(value)
