"""How likely a sensitive value is for anybody over all buckets that their row may be in: p(t,s) of Slicing, section 3.

Regions of Mondrian do not overlap, and each quasi-identifier is in a column. So a row matches its own region only, and
p(t,s) is the share of s among what agrees with t there: each region is l-diverse iff everybody is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.methods.shared.partition.points import Points, part_name, subject_name
from sqlanon.methods.shared.partition.solve import fields_of
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.matching_sql import (
    MatchingColumns,
    candidates,
    greatest,
    matched_regions,
    matches,
    tuples,
    violating,
)
from sqlanon.sql.build.expressions import union_all


@dataclass(frozen=True)
class Matching:
    """The rows of a task with the codes of their columns, and what is asked of them.

    `points` carry `part` and `subject` of every column and sensitive attribute, behind those that requirements read.
    `slices` are the names of these by column.
    """

    task: Task
    points: Points
    columns: MatchingColumns
    slices: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, task: Task, columns: Sequence[Sequence[str]], points: Points) -> Matching:
        """The rows in these columns of attributes; `points` are what is cut or drawn."""
        first = len(points.subjects)
        sensitive = [bound.column for bound in task.policy.sensitive]
        quasi = {first + at: [name for name in names if name not in sensitive] for at, names in enumerate(columns)}
        fields = {number: fields_of(task, names) for number, names in quasi.items() if names}
        number_of = {name: first + at for at, names in enumerate(columns) for name in names}
        subjects = [[task.encoded.carried.index(name)] for name in sensitive]
        by_attribute = [
            (first + index, number_of[name] if number_of[name] in fields else None)
            for index, name in enumerate(sensitive)
        ]
        extended = replace(points, subjects=[*points.subjects, *subjects], parts={**points.parts, **fields})
        subject_of = {name: subject_name(first + index) for index, name in enumerate(sensitive)}
        part_of = {number: part_name(number) for number in fields}
        slices = tuple(_slice(names, part_of.get(first + at), subject_of) for at, names in enumerate(columns))
        return cls(task, extended, MatchingColumns(list(fields), by_attribute), slices)

    def violating_regions(self, rows: exp.Select, l: int) -> exp.Select:  # noqa: E741 - the papers' name
        """region: those that somebody matches for whom a value is likelier than 1/l; `rows` have all by region."""
        state, matched = self._matched(rows)
        each = [violating(candidates(state, matched, *attribute), l) for attribute in self.columns.sensitive]
        broken = self.task.scratch.table("violating", exp.select(exp.Star()).from_(union_all(each).subquery("broken")))
        return matched_regions(matched, broken)

    def likeliest(self, rows: exp.Select) -> float | None:
        """The greatest p(t,s) of anybody; None without rows."""
        state, matched = self._matched(rows)
        shares = [
            self.task.engine.rows(greatest(candidates(state, matched, *attribute)))[0][0]
            for attribute in self.columns.sensitive
        ]
        return max((float(share) for share in shares if share is not None), default=None)

    def _matched(self, rows: exp.Select) -> tuple[str, str]:
        scratch = self.task.scratch
        state = scratch.table("state", rows)
        known = scratch.table("tuples", tuples(state, self.columns))
        return state, scratch.table("matches", matches(state, known, self.columns))


def _slice(names: Sequence[str], part: str | None, subject_of: Mapping[str, str]) -> tuple[str, ...]:
    """The codes of a column of attributes: the part of its quasi-identifiers, if any, and each sensitive attribute."""
    sensitive = [subject_of[name] for name in names if name in subject_of]
    return tuple(sensitive) if part is None else (part, *sensitive)
