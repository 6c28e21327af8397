"""Computes the probability p(t,s) of a sensitive value over all buckets that a row may be in (Slicing, section 3).

Regions of Mondrian do not overlap, and each quasi-identifier is in a column. So a row matches only its own region, and
p(t,s) is the share of s among the rows that agree with t there. Each region is l-diverse iff every respondent is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.methods.shared.partition.points import Points, part_name, subject_name
from sqlanon.methods.shared.partition.solve import fields_of
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.expressions import infix, union_all
from sqlanon.sql.build.names import column
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, query_file

# The probability p(t,s) of each sensitive value for known quasi-identifiers, for all rows at once.
#
# Li, Li, Zhang and Molloy, Slicing (2012), definitions 6 and 7; a bucket is weighted by its number of rows, unlike in
# the paper. A row has codes of each column's values that are not sensitive, `part_0`, ..., and of its sensitive values,
# `subject_0`, .... Regions are the buckets.


# Shares are sums of quotients of whole numbers, in floating point.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class MatchingColumns:
    """The columns by numbers: `parts` are the columns with attributes that are not sensitive.

    `sensitive` has for each sensitive attribute the number of its subject and of its column's part, which is None if
    the column has only sensitive attributes.
    """

    parts: Sequence[int]
    sensitive: Sequence[tuple[int, int | None]]


def tuples(state: str, columns: MatchingColumns) -> exp.Query:
    """SELECT of tuple, part_0, ...: the distinct combinations of the rows' codes that are not sensitive, with numbers.

    `state` is the table of the rows by region; a part is the codes of one column's attributes that are not sensitive.
    """
    names = {"parts": [part_name(part) for part in columns.parts]}
    occurring = "SELECT DISTINCT {parts} FROM state" if columns.parts else "SELECT 0 AS whole FROM state LIMIT 1"
    tables = {"occurring": filled_query(occurring, tables={"state": state}, names=names)}
    return filled_query("SELECT row_number() OVER () AS tuple, {parts} FROM occurring", tables=tables, names=names)


def matches(state: str, tuples: str, columns: MatchingColumns) -> exp.Query:
    """SELECT of tuple, region, rows, weight, part_i, n_i: the regions that a tuple matches.

    A tuple matches a region in which each of its parts occurs; `n_i` rows of the region have part i. The weight is
    proportional to the region's rows times f(t,B), the product of the shares of the parts.
    """
    of = [f"of_{part}" for part in columns.parts]
    of_part = "SELECT region, {part}, CAST(CAST(sum(n) AS BIGINT) AS DOUBLE) AS n FROM state GROUP BY region, {part}"
    weight: exp.Expr = column("rows", "size")
    for name in of:
        weight = infix(weight, "*", filled('("{of}".n / size.rows)', names={"of": name}))
    parts = [*map(part_name, columns.parts)]
    return query_file(
        "slicing",
        "matches",
        tables={"state": state, "tuples": tuples},
        names={
            **{"of": of, "parts": parts, "counts": [f"n_{part}" for part in columns.parts]},
            "counted": [filled_query(of_part, tables={"state": state}, names={"part": part}) for part in parts],
        },
        weight=weight,
        same=[
            filled(
                '"{first}".region = "{of}".region AND {known.part} = "{of}"."{part}"',
                names={"first": of[:1] if index else [], "of": name, "part": part},
            )
            for index, (name, part) in enumerate(zip(of, parts, strict=True))
        ],
        same_region=[filled('"{first}".region = size.region', names={"first": name}) for name in of[:1]],
    )


def candidates(state: str, matches: str, subject: int, part: int | None) -> exp.Query:
    """SELECT of tuple, value, share: for each tuple and each sensitive value in the regions that it matches.

    `share` is proportional to p(t,s), the probability that a row with the tuple has the value.
    """
    of_part = column("rows" if part is None else f"n_{part}", "match")
    names = {"subject": subject_name(subject), "part": [] if part is None else [part_name(part)]}
    tables = {"state": state, "matches": matches}
    return query_file("slicing", "candidates", tables=tables, names=names, of_part=of_part)


def violating(candidates: exp.Query, l: int) -> exp.Query:  # noqa: E741 - the papers' name
    """SELECT of tuple: the tuples for which a value has p(t,s) > 1/l."""
    text = "SELECT tuple FROM candidate GROUP BY tuple HAVING max(share) * $l > sum(share) * $tolerance"
    return filled_query(text, tables={"candidate": candidates}, l=l, tolerance=1 + TOLERANCE)


def matched_regions(matches: str, violating: str) -> exp.Query:
    """SELECT of region: the regions that a tuple in the table `violating` matches."""
    text = "SELECT DISTINCT region FROM matches WHERE tuple IN (SELECT tuple FROM violating)"
    return filled_query(text, tables={"matches": matches, "violating": violating})


def greatest(candidates: exp.Query) -> exp.Query:
    """SELECT of one number: the greatest p(t,s) of all tuples and values; NULL if there are no rows."""
    text = """
        SELECT max(most)
        FROM (SELECT max(share) / sum(share) AS most FROM candidate GROUP BY tuple) AS by_tuple
    """
    return filled_query(text, tables={"candidate": candidates})


@dataclass(frozen=True)
class Matching:
    """The rows of a task, whose columns hold codes.

    `points` carry `part` and `subject` of every column and sensitive attribute, after the columns that requirements
    read. `slices` has, by column, the names of its parts and subjects.
    """

    task: Task
    points: Points
    columns: MatchingColumns
    slices: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, task: Task, columns: Sequence[Sequence[str]], points: Points) -> Matching:
        """Extends `points`, which are cut or assigned to slots, by the codes of these columns."""
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

    def violating_regions(self, rows: exp.Query, l: int) -> exp.Query:  # noqa: E741 - the papers' name
        """SELECT of region: the regions that match a respondent for whom a value is likelier than 1/l; `rows` has all
        rows by region.
        """
        state, matched = self._matched(rows)
        each = [violating(candidates(state, matched, *attribute), l) for attribute in self.columns.sensitive]
        broken = self.task.temp.table("violating", select(exp.Star(), of=subquery(union_all(each), "broken")))
        return matched_regions(matched, broken)

    def likeliest(self, rows: exp.Query) -> float | None:
        """The greatest p(t,s) of all respondents; None if there are no rows."""
        state, matched = self._matched(rows)
        shares = [
            self.task.engine.rows(greatest(candidates(state, matched, *attribute)))[0][0]
            for attribute in self.columns.sensitive
        ]
        return max((float(share) for share in shares if share is not None), default=None)

    def _matched(self, rows: exp.Query) -> tuple[str, str]:
        temp = self.task.temp
        state = temp.table("state", rows)
        known = temp.table("tuples", tuples(state, self.columns))
        return state, temp.table("matches", matches(state, known, self.columns))


def _slice(names: Sequence[str], part: str | None, subject_of: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the codes of a column: the part with its other attributes, if there are any, and each sensitive
    attribute.
    """
    sensitive = [subject_of[name] for name in names if name in subject_of]
    return tuple(sensitive) if part is None else (part, *sensitive)
