"""Preconditions of a live view: the types of the columns, and the settings of the session for which it was made.

DuckDB binds a view again for each query that reads it. By then a column may have another type, so that the body could
fail with a value in its message, and the reader's session may compare texts differently. So the body first reads a
condition that is evaluated while the query is bound, before any row is read. If the condition is false, it looks up a
setting whose name is sqlanon's message, and DuckDB's error quotes this name.

A name in the body may mean another relation in the reader's session, because DuckDB looks up temporary relations first.
Because these are known only when the query runs, this condition is a separate query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, case, different, is_not_null, paren
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import query_file, reading

# Collations under which texts are equal if their bytes are.
BINARY = ("", "binary", "c", "posix")

# A setting that exists in every session.
_PRESENT = "default_collation"

_ENUMS = r"ENUM\((?:'(?:[^']|'')*'(?:,\s*)?)*\)"
# The text around the two parts of a refusal in an engine's error: from binding the query, and from running it.
_BOUND, _BEHIND = 'unrecognized configuration parameter "sqlanon: ', re.compile(r'"\s*(?:\Z|\n)')
_RUN = "Invalid Input Error: sqlanon: "
_BETWEEN = "; run "


@dataclass(frozen=True)
class Refusal:
    """The reason why a view shows nothing, and the remedy."""

    message: str
    hint: str


@dataclass(frozen=True)
class MadeFor:
    """The columns that a query reads, each with its type, and with the same type without ENUMs, and the settings that
    it needs.

    The reader's session must have the values of all `settings`, and any session must compare texts by bytes.
    """

    columns: tuple[tuple[str, str, str], ...]
    settings: tuple[tuple[str, str], ...] = ()

    def condition(self) -> exp.Expr:
        """Returns a condition for the WHERE of the query that reads the columns: it is true, or an error when the query
        is bound.
        """
        branches = [_otherwise_compared(), *map(_otherwise_set, self.settings), *map(_otherwise_typed, self.columns)]
        setting = case(*branches, otherwise=_PRESENT)
        return is_not_null(_setting(setting))


# A condition of CASE, and the value where it is true.
_Branch = tuple[exp.Expr, exp.Expr]


def nothing_hidden(names: Sequence[str]) -> exp.Expr:
    """Returns a condition for the outermost WHERE of a live view that reads relations with these names.

    The condition is true, or an error if a temporary table or view has one of the names.
    """
    query = reading(
        query_file("statements", "nothing_hidden"), {"temporary": query_file("statements", "temporary_relations")}
    )
    values = {
        "message": [_says(hidden(names), unhiding(names[0]).removeprefix("run "))],
        "names": [f.built_in("lower", literal(name)) for name in names],
    }
    for placeholder in list(query.find_all(exp.Placeholder)):
        placeholder.replace(values[placeholder.name])
    # A Subquery is not a Condition, and the compiled build of sqlglot refuses it as the only one of a WHERE.
    return paren(query)


def hidden(names: Sequence[str]) -> str:
    """Returns the error for a temporary relation with one of the names that a live view reads."""
    return f"a temporary table or view is called {' or '.join(names)}, as what this view reads"


def unhiding(name: str) -> str:
    """Returns the hint for the error `hidden`: the statement that removes a temporary relation of this name."""
    temporary = to_sql(relation(("temp", name)))
    return f"run DROP TABLE {temporary}, DROP VIEW {temporary}, or unregister it if it is a data frame"


def refusal_in(message: str) -> Refusal | None:
    """Finds the message of a condition in an engine's error; returns None for any other error."""
    what, _, run = message.partition(_BOUND)[2].partition(_BETWEEN)
    if end := _BEHIND.search(run):
        return Refusal(what, f"run {run[: end.start()]}")
    what, _, run = message.partition(_RUN)[2].partition(_BETWEEN)
    return Refusal(what, f"run {run.rstrip()}") if run else None


def _says(what: str, run: str) -> exp.Expr:
    return literal(f"sqlanon: {what}; run {run}")


def _setting(name: exp.Expr) -> exp.Expr:
    return f.built_in("current_setting", name)


def _otherwise_compared() -> _Branch:
    collation = f.built_in("lower", _setting(literal("default_collation")))
    binary = collation.isin(*(literal(name) for name in BINARY))
    says = _says("this session compares text by a collation, and this view by its bytes", "RESET default_collation")
    return exp.not_(binary), says


def _otherwise_set(setting: tuple[str, str]) -> _Branch:
    name, value = setting
    now: exp.Expr = as_text(_setting(literal(name)))
    made = literal(value)
    if name == "default_order":
        # ASCENDING, the setting of a new session, and ASC, the setting once it was set, are equal.
        now, made = (f.built_in("left", side, 3) for side in (now, made))
    says = _says(f"what this view shows depends on the setting {name}", f"SET {name} = '{value}'")
    return different(now, made), says


def _otherwise_typed(typed: tuple[str, str, str]) -> _Branch:
    """Returns an error for a column with another type than before; an ENUM may become any ENUM, read as text."""
    name, kind, published = typed
    now: exp.Expr = f.built_in("typeof", column(name))
    if kind != published:
        now = f.built_in("regexp_replace", now, literal(_ENUMS), "VARCHAR", "g")
    says = _says(f"the column {name} was {published} when this view was made", "CREATE OR REPLACE ANONYMIZED VIEW")
    return now.neq(published), says
