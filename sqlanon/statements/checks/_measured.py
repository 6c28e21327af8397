"""The answer and the outcome of every CHECK."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import ClassVar

from sqlanon.domain.release import Measurement
from sqlanon.statements.base import NOT_SATISFIED, Answer, Columns, Statement

CHECKED: Columns = (
    ("release", "VARCHAR"),
    ("question", "VARCHAR"),
    ("attribute", "VARCHAR"),
    ("required", "DOUBLE"),
    ("achieved", "DOUBLE"),
    ("satisfied", "BOOLEAN"),
)


@dataclass(frozen=True)
class Check(Statement, abstract=True):
    """The base class of the CHECK statements with measurements."""

    # Whether it may be satisfied without any requirement.
    MAY_REQUIRE_NOTHING: ClassVar[bool] = False

    def outcome(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        """Returns `satisfied` if each row with a required value is satisfied; rows without a required value do not
        count.
        """
        required, satisfied = columns.index("required"), columns.index("satisfied")
        verdicts = [row[satisfied] is True for row in rows if row[required] is not None]
        is_satisfied = all(verdicts) and (bool(verdicts) or self.MAY_REQUIRE_NOTHING)
        return "satisfied" if is_satisfied else NOT_SATISFIED


def checked(
    name: str, measurements: Iterable[Measurement], remarks: tuple[str, ...] = (), about: str | None = None
) -> Answer:
    """Returns the answer with a row for each measurement of an object of this name; `about` is the id of a release."""
    return Answer(CHECKED, tuple((name, *astuple(measurement)) for measurement in measurements), remarks, about)
