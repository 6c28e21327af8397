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
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, cast, infix, paren, same, total, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery

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


def _rows(name: str) -> exp.Alias:
    return alias(cast(total(column("n")), "DOUBLE"), name)


def tuples(state: str, columns: MatchingColumns) -> exp.Select:
    """SELECT of tuple, part_0, ...: the numbered combinations of known values that occur in the rows."""
    names = [column(part_name(part)) for part in columns.parts]
    occurring = select(*names, distinct=True) if names else select(alias(literal(0), "whole"), limit=1)
    extend(occurring, of=relation(state))
    number = alias(window(f.row_number()), "tuple")
    return select(number, *names, of=subquery(occurring, "occurring"))


def matches(state: str, tuples: str, columns: MatchingColumns) -> exp.Select:
    """SELECT of tuple, region, rows, weight, part_i, n_i: the regions that a tuple matches.

    A tuple matches a region in which each of its parts occurs; `n_i` rows of the region have part i. The weight is
    proportional to the region's rows times f(t,B), the product of the shares of the parts.
    """
    size = select(column("region"), _rows("rows"), of=relation(state), group_by=[column("region")])
    query = select(column("tuple", "known"), column("region", "size"), column("rows", "size"))
    extend(query, of=relation(tuples, as_="known"))
    weight: exp.Expr = column("rows", "size")
    first: str | None = None
    for part in columns.parts:
        name, of = part_name(part), f"of_{part}"
        counted = select(column("region"), column(name), _rows("n"), of=relation(state))
        extend(counted, group_by=[column("region"), column(name)])
        on = same(name, "known", of)
        if first is not None:
            on = and_(same("region", first, of), on)
        first = first or of
        extend(query, joins=[inner_join(subquery(counted, of), on)])
        extend(query, column(name, of), alias(column("n", of), f"n_{part}"))
        weight = infix(weight, "*", paren(column("n", of) / column("rows", "size")))
    on_size = same("region", first, "size") if first else None
    query.join(subquery(size, "size"), on=on_size, join_type="" if first else "CROSS", copy=False)
    return extend(query, alias(weight, "weight"))


def candidates(state: str, matches: str, subject: int, part: int | None) -> exp.Select:
    """SELECT of tuple, value, share: for each tuple and each value in the regions that the tuple matches, a number
    proportional to p(t,s).
    """
    value = column(subject_name(subject))
    key = [column("region"), *([column(part_name(part))] if part is not None else [])]
    counted = select(*key, alias(value, "value"), _rows("n"), of=relation(state), group_by=[*key, value])
    on = same("region", "match", "candidate")
    of_part = column("rows", "match") if part is None else column(f"n_{part}", "match")
    if part is not None:
        on = and_(on, same(part_name(part), "match", "candidate"))
    likely = infix(column("weight", "match"), "*", paren(column("n", "candidate") / of_part))
    query = select(column("tuple", "match"), column("value", "candidate"), alias(f.sum(likely), "share"))
    extend(query, of=relation(matches, as_="match"), joins=[inner_join(subquery(counted, "candidate"), on)])
    return extend(query, group_by=[column("tuple", "match"), column("value", "candidate")])


def violating(candidates: exp.Select, l: int) -> exp.Select:  # noqa: E741 - the papers' name
    """SELECT of tuple: the tuples for which a value has p(t,s) > 1/l."""
    most = infix(f.max(column("share")), "*", l)
    allowed = infix(f.sum(column("share")), "*", 1 + TOLERANCE)
    query = select(column("tuple"), of=subquery(candidates, "candidate"))
    return extend(query, group_by=[column("tuple")], having=infix(most, ">", allowed))


def matched_regions(matches: str, violating: str) -> exp.Select:
    """SELECT of region: the regions that a violating tuple matches."""
    broken = select(column("tuple"), of=relation(violating))
    return select(column("region"), of=relation(matches), where=[column("tuple").isin(query=broken)], distinct=True)


def greatest(candidates: exp.Select) -> exp.Select:
    """SELECT of one number: the greatest p(t,s) of all tuples and values; NULL if there are no rows."""
    most = alias(f.max(column("share")) / f.sum(column("share")), "most")
    by_tuple = select(most, of=subquery(candidates, "candidate"), group_by=[column("tuple")])
    return select(f.max(column("most")), of=subquery(by_tuple, "by_tuple"))


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

    def violating_regions(self, rows: exp.Select, l: int) -> exp.Select:  # noqa: E741 - the papers' name
        """SELECT of region: the regions that match a respondent for whom a value is likelier than 1/l; `rows` has all
        rows by region.
        """
        state, matched = self._matched(rows)
        each = [violating(candidates(state, matched, *attribute), l) for attribute in self.columns.sensitive]
        broken = self.task.temp.table("violating", select(exp.Star(), of=subquery(union_all(each), "broken")))
        return matched_regions(matched, broken)

    def likeliest(self, rows: exp.Select) -> float | None:
        """The greatest p(t,s) of all respondents; None if there are no rows."""
        state, matched = self._matched(rows)
        shares = [
            self.task.engine.rows(greatest(candidates(state, matched, *attribute)))[0][0]
            for attribute in self.columns.sensitive
        ]
        return max((float(share) for share in shares if share is not None), default=None)

    def _matched(self, rows: exp.Select) -> tuple[str, str]:
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
