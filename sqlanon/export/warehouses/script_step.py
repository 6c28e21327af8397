"""A step of a script."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

# The steps that every script has.
SOURCE = "source"
CANDIDATE = "candidate"


@dataclass(frozen=True)
class ScriptStep:
    """A query under its name, and what it does in a sentence for the reader of the script, or nothing.

    `about` has further lines, such as which column of the source stands behind one of the step. `drawn` is the name of
    a column with a draw of the warehouse's for each row, which stands beside those of the query.
    """

    name: str
    query: exp.Query
    comment: str = ""
    about: tuple[str, ...] = ()
    drawn: str | None = None
