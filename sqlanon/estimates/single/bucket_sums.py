"""Bounds and variances of figures over buckets, in which each row takes one of its bucket's values.

They are computed by files under sql/estimates: bucket_bounds.sql bounds the number of rows that satisfy,
bucket_ends.sql bounds their sums, and bucket_variances.sql computes the variances of the sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.estimates.axes import Number
from sqlanon.estimates.fixed_sql import Tables, fixed
from sqlanon.estimates.labels.pieces import LISTED
from sqlanon.estimates.query.bind import Plan
from sqlanon.sql.build.expressions import cast, union_all
from sqlanon.sql.build.names import literal
from sqlanon.sql.build.sql_files import filled, filled_query

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
    """The facts about a release and a query that sums over the rows of buckets need, besides the combinations of rows
    and values.
    """

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
        text = "SELECT key, number, sum(low) AS low, sum(high) AS high FROM bound GROUP BY key, number"
        return filled_query(text, tables={"bound": self._bounds(combination)})

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
        tables: Tables = {
            "combination": combination,
            "dealt": filled_query(
                "SELECT unnest(CAST([{numbers}] AS INTEGER[])) AS number", names={"numbers": self._numbers()}
            ),
            "alike": self.alike or filled_query("SELECT NULL AS bucket, 1 AS copies WHERE false"),
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
        conditions = [
            filled("number = $number AND place = $place", number=number, place=position)
            for number, position in self.positions.items()
        ]
        return fixed(
            "limits_of_values",
            {"bucket_limit": limits},
            of_values=filled("number IN ({numbers})", names={"numbers": self._numbers()}),
            of_place=exp.or_(*conditions),
        )

    def _numbers(self) -> list[exp.Expr]:
        return [literal(number) for number in self.positions]


def added_values(plan: Plan, sets: Sequence[DealtColumn], kinds: Sequence[Number], exact: bool) -> exp.Query:
    """SELECT of place, number, signature, weight and value: the values of buckets that aggregates add up.

    If `exact`, these are the aggregates over exact numbers, otherwise all others.
    """
    queries: list[exp.Query] = []
    for number, argument in enumerate(plan.arguments):
        for values in sets:
            if argument and argument[0] == values.name and (kinds[number].unit is not None) is exact:
                queries.append(_added(plan, values, number))
    text = "SELECT 0 AS place, 0 AS number, 0 AS signature, 0 AS weight, $nothing AS value WHERE false"
    nothing = cast(exp.null(), "HUGEINT" if exact else "DOUBLE")
    return union_all(queries) if queries else filled_query(text, nothing=nothing)


def _added(plan: Plan, values: DealtColumn, number: int) -> exp.Query:
    return filled_query(
        "SELECT $place AS place, $number AS number, signature.signature, evaluated.weight, {evaluated.value} AS value "
        "FROM evaluated JOIN signature ON {evaluated.shared} IS NOT DISTINCT FROM {signature.shared}",
        tables={"evaluated": values.evaluated, "signature": values.signatures},
        names={
            "value": f"least_{number}",
            "shared": ["label", LISTED, *plan.factors.parts.get(values.name, {})],
        },
        place=values.position,
        number=number,
    )


def unvaried(combination: str) -> exp.Query:
    """SELECT of the columns of sql/estimates/bucket_variances.sql that returns no rows."""
    return filled_query(
        "SELECT key, number, CAST(NULL AS DOUBLE) AS hits_variance, CAST(NULL AS DOUBLE) AS covariance, "
        "CAST(NULL AS DOUBLE) AS value_variance FROM combination WHERE false",
        tables={"combination": combination},
    )
