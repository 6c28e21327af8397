"""A step of a script."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

__all__ = ["ScriptStep"]


@dataclass(frozen=True)
class ScriptStep:
    """A query under its name, and what it does in a sentence for the reader of the script, or nothing.

    `about` has further lines, such as which column of the source stands behind one of the step.
    """

    name: str
    query: exp.Query
    comment: str = ""
    about: tuple[str, ...] = ()
