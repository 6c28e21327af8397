"""The join of the releases of a policy with another release, of which the policy requires something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName
from sqlanon.sources.joins.measured import Counted, Owners, measured
from sqlanon.sources.joins.requirements import JoinedRequirement
from sqlanon.sources.joins.side import Side
from sqlanon.sql.build.names import relation

# The rows of a release of the policy by the shared columns at these levels, and by others of its columns.
OwnRows = Callable[[Mapping[str, int], Sequence[str]], exp.Query]


@dataclass
class Join:
    """A join with a release that is there already, `other`, for whatever rows of the new one.

    `shared` are the columns that both show, each with the number of its top level, by folded names. `owners` says of
    each requirement's columns whether they are the new release's, 0, or the other's, 1. The other's rows are counted
    once for each combination of levels.
    """

    other: Side
    shared: Mapping[str, int]
    requirements: tuple[JoinedRequirement, ...]
    owners: tuple[Owners, ...]
    counted: dict[object, str] = field(default_factory=dict)

    @property
    def name(self) -> QualifiedName:
        return self.other.name

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The columns of the new release that requirements name, folded."""
        named = (
            fold(name)
            for requirement, of_columns in zip(self.requirements, self.owners, strict=True)
            for name, side in zip((*requirement.x, requirement.y), of_columns, strict=True)
            if side == 0
        )
        return tuple(dict.fromkeys(named))

    def levels(self, own_levels: Mapping[str, int]) -> dict[str, int]:
        """The level at which each shared column is compared, where the new release shows it at a level of its own.

        A column of which one of them shows `*` alone is left out: it matches everything.
        """
        return {
            name: max(own_levels[name], self.other.level(name))
            for name, top in self.shared.items()
            if own_levels[name] < top and not self.other.is_hidden(name)
        }

    def measured(self, own_levels: Mapping[str, int], rows: OwnRows) -> tuple[Measurement, ...]:
        """What is reached of each requirement by rows that show the shared columns at these levels."""
        levels = self.levels(own_levels)
        sides: list[Counted] = [partial(rows, levels), partial(self._of_other, levels)]
        return measured(self.other.engine, self.requirements, self.owners, sides, len(levels))

    def _of_other(self, levels: Mapping[str, int], names: Sequence[str]) -> exp.Select:
        known = (tuple(levels.items()), tuple(names))
        if known not in self.counted:
            self.counted[known] = self.other.scratch.table("other_side", self.other.counted(levels, names))
        return exp.select(exp.Star()).from_(relation(self.counted[known]))
