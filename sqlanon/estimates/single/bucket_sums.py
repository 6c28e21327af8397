"""Bounds and variances of figures over buckets, in which each row takes one of its bucket's values.

They are computed by files under sql/estimates: bucket_bounds.sql bounds the number of rows that satisfy,
bucket_ends.sql bounds their sums, and bucket_variances.sql computes the variances of the sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.estimates.axes import Number
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.pieces import LISTED
from sqlanon.estimates.query.bind import Plan
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, as_text, cast, identical, if_, or_, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery

_LIMITS = ("possible", "open", "satisfying", "failing", "apart")
# The variances of figures.sql that those of buckets replace.
VARIANCES = ("hits_variance", "covariance", "value_variance")


@dataclass(frozen=True)
class DealtColumn:
    """A set of bucketed columns: its evaluated values, and the table of the values' signatures."""

    # The relation of the values, and its place among those that combinations draw from.
    name: str
    position: int
    evaluated: exp.Query
    signatures: str


@dataclass(frozen=True)
class BucketSums:
    """Facts about sums over the rows of buckets, besides the combinations of rows with values."""

    # Of each aggregate that adds up values of buckets, by its number, the place of these values.
    positions: Mapping[int, int]
    # place, number, signature, weight and value: the values that such aggregates add up, by whether they are exact.
    values: Mapping[bool, exp.Query]
    # The table of the buckets that stand for several (bucket and copies); None where each stands for itself.
    alike: str | None
    # Whether sets of columns have different buckets.
    linked: bool
    # Whether rows have labels, too.
    labelled: bool
    # The number of sets of bucketed columns.
    sets: int

    def count_bounds(self, combination: exp.Query) -> exp.Query:
        """Returns key, number, low and high: the bounds of the number of rows that satisfy."""
        ends = [alias(f.sum(column(end)), end) for end in ("low", "high")]
        bounds = select(column("key"), column("number"), *ends, of=subquery(self._bounds(combination), "bound"))
        return extend(bounds, group_by=[column("key"), column("number")])

    def ends(self, combination: exp.Query, exact: bool) -> exp.Query:
        """Returns the rows of bucket_ends.sql, from which figures.sql computes bounds."""
        items = fixed("bucket_items", {"combination": combination, "value": self.values[exact]})
        return fixed("bucket_ends", {"item": items, "bound": self._bounds(combination.copy(), by_values=True)})

    def variances(self, combination: exp.Query) -> exp.Query | None:
        """Returns key, number and the variances of sums in which each row takes one value of its bucket.

        None if rows have several values, or labels, because their values are then assumed to be independent.
        """
        if self.sets > 1 or self.labelled:
            return None
        numbers = [select(alias(literal(number), "number")) for number in self.positions]
        nothing = select(alias(literal(0), "number"), where=[exp.false()])
        alike = select(alias(exp.null(), "bucket"), alias(literal(1), "copies"), where=[exp.false()])
        tables = {
            "combination": combination,
            "dealt": union_all(numbers) if numbers else nothing,
            "alike": self.alike or alike,
        }
        return fixed("bucket_variances", tables)

    def _bounds(self, combination: exp.Query, *, by_values: bool = False) -> exp.Query:
        """Returns component, key, number, low and high, computed by bucket_bounds.sql."""
        above = fixed("bucket_bounds", {"bucket_limit": self._limits(combination, by_values)})
        if not self.labelled:
            return above
        sure = fixed("sure_combination", {"combination": combination.copy()})
        below = fixed("bucket_bounds", {"bucket_limit": self._limits(sure, by_values)})
        return fixed("sided_bounds", {"above": above, "below": below})

    def _limits(self, combination: exp.Query, by_values: bool) -> exp.Query:
        """Returns the limits of buckets; if `by_values` is true, buckets of several tables have the limits of an
        aggregate's values.

        Each such bucket is a component of its own.
        """
        limits = fixed("bucket_limits", {"combination": combination})
        if not (by_values and self.linked and self.positions):
            return limits
        of_values = column("number").isin(*map(literal, self.positions))
        conditions = [
            and_(column("number").eq(number), column("place").eq(position))
            for number, position in self.positions.items()
        ]
        component = if_(of_values, as_text(column("bucket")), as_text(column("component")))
        alone = and_(column("whole"), or_(exp.not_(of_values), column("places").eq(1)))
        query = select(alias(component, "component"), *map(column, ("place", "key", "number", *_LIMITS)))
        extend(query, alias(alone, "whole"))
        return extend(query, of=subquery(limits, "bucket_limit"), where=[or_(exp.not_(of_values), *conditions)])


def added_values(plan: Plan, sets: Sequence[DealtColumn], kinds: Sequence[Number], exact: bool) -> exp.Query:
    """Returns place, number, signature, weight and value: the bucket values that aggregates over exact, or over
    inexact, numbers add up.
    """
    queries: list[exp.Query] = []
    for number, argument in enumerate(plan.arguments):
        for values in sets:
            if argument and argument[0] == values.name and (kinds[number].unit is not None) is exact:
                queries.append(_added(plan, values, number))
    names = ("place", "number", "signature", "weight")
    kind = "HUGEINT" if exact else "DOUBLE"
    nothing = select(*(alias(literal(0), name) for name in names), alias(cast(exp.null(), kind), "value"))
    return union_all(queries) if queries else extend(nothing, where=[exp.false()])


def _added(plan: Plan, values: DealtColumn, number: int) -> exp.Select:
    shared = ("label", LISTED, *plan.factors.parts.get(values.name, {}))
    query = select(alias(literal(values.position), "place"), alias(literal(number), "number"))
    extend(query, column("signature", "signature"), column("weight", "evaluated"))
    extend(query, alias(column(f"least_{number}", "evaluated"), "value"), of=subquery(values.evaluated, "evaluated"))
    same = and_(*(identical(column(name, "evaluated"), column(name, "signature")) for name in shared))
    return extend(query, joins=[inner_join(relation(values.signatures, as_="signature"), same)])


def unvaried(combination: str) -> exp.Query:
    """Returns a SELECT with the columns of bucket_variances.sql and no rows."""
    variances = (alias(cast(exp.null(), "DOUBLE"), name) for name in VARIANCES)
    return select(column("key"), column("number"), *variances, of=relation(combination), where=[exp.false()])
