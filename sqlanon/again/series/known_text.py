"""The text by which a respondent or a value is known again in every release: equal ones have one, in any session."""

from __future__ import annotations

import re

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, case, cast, in_utc
from sqlanon.sql.build.names import column, literal

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
    text = as_text(in_utc(name, kind))
    if kind not in _ROUNDED:
        return text
    # Zeros of both signs are equal, and so are all that are no number.
    no_number, zero = f.call("isnan", column(name)), column(name).eq(literal(0))
    return case((no_number, literal("nan")), (zero, literal("0.0")), otherwise=text)


def known_value(text: exp.Expr, kind: str) -> exp.Expr:
    """The value of a type for which `has_known_text` that has this text."""
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f.call("timezone", "UTC", cast(text, "TIMESTAMP"))
    return cast(text, kind)


def told_apart(name: str, kind: str) -> exp.Expr:
    """What tells a column's values apart as their texts do, within one statement, and takes less to compare.

    `kind` is a type of respondents. Texts that differ may be equal in a column of texts, by its collation.
    """
    return as_text(column(name)) if kind == "VARCHAR" else column(name)
