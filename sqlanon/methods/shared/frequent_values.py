"""The most frequent sensitive value, which keeps a requirement from being met, named for the policy's owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, descending, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.labels import published_value
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


def most_frequent(bounds: Sequence[BoundAttribute], source: exp.Table) -> exp.Select:
    """n, rows, text_0, ...: the rows of the most frequent value, or of several columns' together, and of all; its text.

    Of equally frequent ones the first by its text, NULL last.
    """
    names = [f"value_{index}" for index in range(len(bounds))]
    counted = exp.select(
        *(alias(published_value(bound), name) for bound, name in zip(bounds, names, strict=True)),
        alias(f.count(), "n"),
    ).from_(source)
    counted.group_by(*map(published_value, bounds), copy=False)
    rows = window(f.sum(column("n")))
    texts = [alias(as_text(column(name)), f"text_{index}") for index, name in enumerate(names)]
    query = exp.select(column("n"), alias(rows, "rows"), *texts).from_(counted.subquery("counted"), copy=False)
    order = [descending(column("n"))]
    order += [ascending(column(text.alias)) for text in texts]
    return query.order_by(*order, copy=False).limit(1, copy=False)
