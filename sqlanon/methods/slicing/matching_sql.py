"""How likely each sensitive value is for somebody whose quasi-identifiers are known: p(t,s), of all rows at once.

Li, Li, Zhang and Molloy, Slicing (2012), definitions 6 and 7; a bucket counts with its rows, which the paper leaves
out. A row's columns are known by the codes of what each has besides sensitive values, `part_0`, ..., and its sensitive
values by theirs, `subject_0`, .... Regions stand for buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.shared.partition.points import part_name, subject_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, infix, paren, same, total, window
from sqlanon.sql.build.names import alias, column, literal, relation

# Shares are sums of quotients of whole numbers, in floating point.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class MatchingColumns:
    """`parts` are the numbers of the columns that have something besides sensitive values.

    `sensitive` has for each sensitive attribute the number of its subject and that of its column's part, None where the
    column has sensitive values only.
    """

    parts: Sequence[int]
    sensitive: Sequence[tuple[int, int | None]]


def _rows(name: str) -> exp.Alias:
    return alias(cast(total(column("n")), "DOUBLE"), name)


def tuples(state: str, columns: MatchingColumns) -> exp.Select:
    """tuple, part_0, ...: the combinations of known values that occur in the rows, numbered."""
    names = [column(part_name(part)) for part in columns.parts]
    occurring = exp.select(*names).distinct(copy=False) if names else exp.select(alias(literal(0), "whole")).limit(1)
    occurring.from_(relation(state), copy=False)
    number = alias(window(f.row_number()), "tuple")
    return exp.select(number, *(name.copy() for name in names)).from_(occurring.subquery("occurring"), copy=False)


def matches(state: str, tuples: str, columns: MatchingColumns) -> exp.Select:
    """tuple, region, rows, weight, part_i, n_i: the regions that a tuple matches.

    A tuple matches a region where each of its parts occurs; `n_i` rows of the region have part i. The weight is
    proportional to the region's rows times f(t,B), the product of the shares of the parts.
    """
    size = exp.select(column("region"), _rows("rows")).from_(relation(state)).group_by(column("region"))
    query = exp.select(column("tuple", "known"), column("region", "size"), column("rows", "size"))
    query.from_(relation(tuples, as_="known"), copy=False)
    weight: exp.Expr = column("rows", "size")
    first: str | None = None
    for part in columns.parts:
        name, of = part_name(part), f"of_{part}"
        counted = exp.select(column("region"), column(name), _rows("n")).from_(relation(state))
        counted.group_by(column("region"), column(name), copy=False)
        on = same(name, "known", of)
        if first is not None:
            on = exp.and_(same("region", first, of), on)
        first = first or of
        query.join(counted.subquery(of), on=on, copy=False)
        query.select(column(name, of), alias(column("n", of), f"n_{part}"), copy=False)
        weight = infix(weight, "*", paren(column("n", of) / column("rows", "size")))
    on_size = same("region", first, "size") if first else None
    query.join(size.subquery("size"), on=on_size, join_type="" if first else "CROSS", copy=False)
    return query.select(alias(weight, "weight"), copy=False)


def candidates(state: str, matches: str, subject: int, part: int | None) -> exp.Select:
    """tuple, value, share: proportional to p(t,s) of every tuple that matches a region, and every value there."""
    value = column(subject_name(subject))
    key = [column("region"), *([column(part_name(part))] if part is not None else [])]
    counted = exp.select(*key, alias(value, "value"), _rows("n")).from_(relation(state))
    counted.group_by(*(name.copy() for name in key), value.copy(), copy=False)
    on = same("region", "match", "candidate")
    of_part = column("rows", "match") if part is None else column(f"n_{part}", "match")
    if part is not None:
        on = exp.and_(on, same(part_name(part), "match", "candidate"))
    likely = infix(column("weight", "match"), "*", paren(column("n", "candidate") / of_part))
    query = exp.select(column("tuple", "match"), column("value", "candidate"), alias(f.sum(likely), "share"))
    query.from_(relation(matches, as_="match"), copy=False)
    query.join(counted.subquery("candidate"), on=on, copy=False)
    return query.group_by(column("tuple", "match"), column("value", "candidate"), copy=False)


def violating(candidates: exp.Select, l: int) -> exp.Select:  # noqa: E741 - the papers' name
    """tuple: those of which a value has p(t,s) > 1/l."""
    most = infix(f.max(column("share")), "*", l)
    allowed = infix(f.sum(column("share")), "*", 1 + TOLERANCE)
    query = exp.select(column("tuple")).from_(candidates.subquery("candidate"), copy=False)
    return query.group_by(column("tuple"), copy=False).having(infix(most, ">", allowed), copy=False)


def matched_regions(matches: str, violating: str) -> exp.Select:
    """region: those that a violating tuple matches."""
    broken = exp.select(column("tuple")).from_(relation(violating))
    query = exp.select(column("region")).distinct(copy=False).from_(relation(matches))
    return query.where(column("tuple").isin(query=broken), copy=False)


def greatest(candidates: exp.Select) -> exp.Select:
    """One figure: the greatest p(t,s) of all tuples and values; NULL without rows."""
    most = alias(f.max(column("share")) / f.sum(column("share")), "most")
    by_tuple = exp.select(most).from_(candidates.subquery("candidate"), copy=False).group_by(column("tuple"))
    return exp.select(f.max(column("most"))).from_(by_tuple.subquery("by_tuple"), copy=False)
