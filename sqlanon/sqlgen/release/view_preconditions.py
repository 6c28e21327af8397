"""What a live view was made for: columns of certain types, and sessions whose settings give its text one meaning.

DuckDB binds a view anew for each query that reads it. By then a column may have another type, on which the body
could fail with a value in its message, and the reader's session may compare texts otherwise. So what the body
reads first is a condition that is decided while the query is bound, before any row is looked at: where it does not
hold, it looks up a setting whose name is our own text, and DuckDB's error quotes the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, case, different, is_not_null
from sqlanon.sqlgen.build.names import column, literal

__all__ = ["BINARY", "MadeFor", "Refusal", "refusal_in"]

# Collations under which texts are equal if their bytes are.
BINARY = ("", "binary", "c", "posix")

# A setting that every session has.
_PRESENT = "default_collation"

_ENUMS = r"ENUM\((?:'(?:[^']|'')*'(?:,\s*)?)*\)"
_SAYS = re.compile(r'unrecognized configuration parameter "sqlanon: (.*?); run (.*?)"\s*(?:\Z|\n)', re.DOTALL)


@dataclass(frozen=True)
class Refusal:
    """Why a view does not show anything, and what to run."""

    message: str
    hint: str


@dataclass(frozen=True)
class MadeFor:
    """The columns that a query reads, each with its type and that type without ENUMs, and the settings that it needs.

    The reader's session has to have each of `settings`, names and values, and any session to compare text by bytes.
    """

    columns: tuple[tuple[str, str, str], ...]
    settings: tuple[tuple[str, str], ...] = ()

    def condition(self) -> exp.Expr:
        """A condition for the WHERE of the query that reads the columns: true, or an error when it is bound."""
        branches = [_otherwise_compared(), *map(_otherwise_set, self.settings), *map(_otherwise_typed, self.columns)]
        setting = case(*branches, otherwise=_PRESENT)
        return is_not_null(_setting(setting))


# A condition of CASE, and the value where it is true.
_Branch = tuple[exp.Expr, exp.Expr]


def refusal_in(message: str) -> Refusal | None:
    """What the condition says in an error of the engine's; None if the error is another."""
    match = _SAYS.search(message)
    return Refusal(match[1], f"run {match[2]}") if match else None


def _says(what: str, run: str) -> exp.Expr:
    return literal(f"sqlanon: {what}; run {run}")


def _setting(name: exp.Expr) -> exp.Expr:
    return f.call("current_setting", name)


def _otherwise_compared() -> _Branch:
    collation = f.lower(_setting(literal("default_collation")))
    binary = collation.isin(*(literal(name) for name in BINARY))
    says = _says("this session compares text by a collation, and this view by its bytes", "RESET default_collation")
    return exp.not_(binary), says


def _otherwise_set(setting: tuple[str, str]) -> _Branch:
    name, value = setting
    now: exp.Expr = as_text(_setting(literal(name)))
    made = literal(value)
    if name == "default_order":
        # ASCENDING, which a new session has, and ASC, which it has once somebody says so, are one.
        now, made = (f.left(side, 3) for side in (now, made))
    says = _says(f"what this view shows depends on the setting {name}", f"SET {name} = '{value}'")
    return different(now, made), says


def _otherwise_typed(typed: tuple[str, str, str]) -> _Branch:
    """An error where a column has another type than it had; an ENUM need only be one, for its labels are values."""
    name, kind, published = typed
    now: exp.Expr = f.call("typeof", column(name))
    if kind != published:
        now = f.call("regexp_replace", now, literal(_ENUMS), "VARCHAR", "g")
    says = _says(f"the column {name} was {published} when this view was made", "CREATE OR REPLACE ANONYMIZED VIEW")
    return now.neq(published), says
