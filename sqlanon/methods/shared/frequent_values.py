"""The most frequent sensitive value, which keeps a requirement from being met, named for the policy's owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.methods.shared.frequent_values_sql import most_frequent
from sqlanon.sql.build.names import relation
from sqlanon.sql.questions.ask import BoundRequirement

_LONGEST = 60
# A value that fewer rows have would tell of a single row.
NAMED_FROM = 2


@dataclass(frozen=True)
class Frequent:
    """The most frequent value of some columns: how many of all rows have it, and its text unless one row alone does."""

    columns: tuple[str, ...]
    most: int
    rows: int
    text: str | None

    def __str__(self) -> str:
        """Such as `value of disease, 'flu', has 4 of 12 rows (33.3%)`."""
        return f"value of {', '.join(self.columns)}{self.share}"

    @property
    def share(self) -> str:
        """Such as `, 'flu', has 4 of 12 rows (33.3%)`."""
        named = "" if self.text is None else f", {self.text},"
        return f"{named} has {self.most} of {self.rows} rows ({self.most / self.rows:.1%})"


def frequent(engine: Engine, policy: BoundPolicy, names: Sequence[str]) -> Frequent | None:
    """The most frequent value of these sensitive columns in the source, of several together; None without rows."""
    by_name = {bound.column: bound for bound in policy.sensitive}
    figures = engine.rows(most_frequent([by_name[name] for name in names], relation(policy.relation)))
    if not figures:
        return None
    most, rows, *texts = figures[0]
    values = ", ".join(map(shortened, texts))
    text = values if len(texts) == 1 else f"({values})"
    return Frequent(tuple(names), int(most), int(rows), text if int(most) >= NAMED_FROM else None)


def too_frequent_in(engine: Engine, policy: BoundPolicy, requirements: Sequence[BoundRequirement]) -> str:
    """The most frequent value of each subject of requirements that not even all rows together meet, as clauses."""
    subjects = dict.fromkeys(requirement.attributes for requirement in requirements if requirement.attributes)
    values = [value for value in (frequent(engine, policy, subject) for subject in subjects) if value and value.text]
    return "".join(f"; the most frequent {value}" for value in values)


def shortened(text: object) -> str:
    """A value on one line, cut off where it gets long."""
    if text is None:
        return "NULL"
    whole = str(text)
    return repr(whole) if len(whole) <= _LONGEST else f"{whole[:_LONGEST]!r}..."
