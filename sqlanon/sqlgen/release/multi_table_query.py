"""What a release of several tables is made from.

A fragment's name is what stands behind the release's own, as in `hospital_qi`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role

__all__ = ["Fragment", "FragmentsQuery"]


@dataclass(frozen=True)
class Fragment:
    """One of the tables: its columns with their roles, and the attributes that are behind them where there are any.

    `query` gives its rows, in whatever order; if `ordered`, in that of what they show, which tells nothing more.
    The rows are published by the column `by`, if there is one, and else in a random order. `words` are the columns that
    `query` gives in a type of few texts, None where it gives all of them as they are published.
    """

    name: str
    columns: tuple[tuple[str, Role, BoundAttribute | None], ...]
    query: exp.Select
    ordered: bool = False
    by: str | None = None
    words: tuple[str, ...] | None = None


@dataclass(frozen=True)
class FragmentsQuery:
    """What a release of several tables is made from; the first of them has a row a row of the source.

    `tokens` maps a column to a table of value and token.
    """

    policy: BoundPolicy
    release_id: str
    fragments: tuple[Fragment, ...]
    tokens: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, str]:
        """The fragment that has the values of each sensitive attribute."""
        every = ((part.name, *one) for part in self.fragments for one in part.columns)
        return {b.column: name for name, _, role, b in every if role is Role.SENSITIVE and b is not None}
