"""What was chosen for several tables: a level for each quasi-identifier of all of them, and who is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlanon.methods.generalization.choice import Generalization
from sqlanon.methods.generalization.related.nodes import RelatedNodes
from sqlanon.questions.known import Known

__all__ = ["RelatedGeneralization"]


@dataclass(frozen=True)
class RelatedGeneralization(Generalization):
    """One level for each quasi-identifier, those of the source first, then those of each related table.

    `rows` and `suppressed` are people; `gone` is the table of those who are left out, None if there is nobody.
    `released` are the rows of each published table, by its name. `fewest` says, where nothing is published, how many
    people are in the smallest class by what is known.
    """

    nodes_searched: RelatedNodes | None = field(default=None, compare=False)
    gone: str | None = None
    released: Mapping[str, int] = field(default_factory=dict)
    fewest: tuple[tuple[Known, int], ...] = ()
