"""What requirements say that an adversary may know of a person's rows in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.sql.classes.related import VALUES, is_partition
from sqlanon.sql.questions.ask import BoundRequirement


@dataclass(frozen=True, order=True)
class Known:
    """What is known, and of how many different rows of a table, None for all of them."""

    knows: str
    most: int | None = None

    @property
    def is_partition(self) -> bool:
        """Whether each person is in one class by it."""
        return is_partition(self.knows)

    @property
    def written(self) -> str:
        """The value as a user writes it."""
        return f"'{self.knows}'"


def known_of(requirement: BoundRequirement) -> Known:
    """What a requirement says is known; everything that is the case, if it does not say."""
    knows = requirement.knows or VALUES
    return Known(knows, 1 if knows == "one_row" else requirement.rows_known)


def by_known(requirements: Sequence[BoundRequirement]) -> dict[Known, list[int]]:
    """The indexes of requirements by what they say is known."""
    indexes: dict[Known, list[int]] = {}
    for index, requirement in enumerate(requirements):
        indexes.setdefault(known_of(requirement), []).append(index)
    return indexes
