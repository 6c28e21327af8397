"""The levels that were chosen for several tables, and the people who are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlanon.domain.choice import Searched
from sqlanon.methods.multirelational.loss import NAME
from sqlanon.methods.multirelational.nodes import RelatedNodes
from sqlanon.sql.questions.known import Known


@dataclass(frozen=True)
class RelatedLevels:
    """One level for each quasi-identifier, those of the source first, then those of each related table.

    `rows` and `suppressed` are people, of whom `limit` may be left out; `gone` is the table of those who are, None if
    there is nobody. `released` are the rows of each published table, by its name. `fewest` says, where nothing is
    published, how many people are in the smallest class by what is known.
    """

    levels: tuple[int, ...]
    loss: Fraction
    rows: int
    suppressed: int
    limit: int
    searched: Searched
    nodes: RelatedNodes = field(compare=False)
    gone: str | None
    released: Mapping[str, int]
    fewest: tuple[tuple[Known, int], ...] = ()
    loss_name: str = NAME
