"""Leaves that are as likely as a user's table of the column's values says."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.labels.listed_leaves import MOMENTS, no_moments
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import exists, identical, if_, infix, real
from sqlanon.sql.build.names import alias, column, relation

# The columns of a table of how frequent values are.
MARGINAL, MARGINAL_WEIGHT = "value", "weight"


def weighed(table: str, marginal: str) -> exp.Select:
    """The leaves, each as likely as the marginal says; a value that it does not name is possible, with weight 0."""
    weight = f.coalesce(column(MARGINAL_WEIGHT, "marginal"), real(0.0))
    counted = infix(weight.copy(), ">", 0)
    # The moments of pieces without weight may be too large to be multiplied by it.
    moments = [
        alias(if_(counted.copy(), column(name, "leaf")), name) if name in ("mean", "square") else column(name, "leaf")
        for name in MOMENTS
    ]
    query = exp.select(column("label", "leaf"), column("value", "leaf"), alias(weight, "weight"), *moments)
    same = identical(column("value", "leaf"), column(MARGINAL, "marginal"))
    joined = relation(marginal, as_="marginal")
    return query.from_(relation(table, as_="leaf")).join(joined, on=same, join_type="LEFT", copy=False)


def also_marginal(table: str, marginal: str, starred: exp.Query) -> exp.Query:
    """The leaves of values, and below starred labels all values that the marginal, or another label, has."""
    names = ("label", "value", "weight", *MOMENTS)
    leaves = exp.select(*map(column, names)).from_(relation(table))
    listed = exp.select(column("value")).from_(relation(table))
    named = exp.select(alias(column(MARGINAL), "value")).from_(relation(marginal))
    values = exp.union(listed, named, distinct=True, copy=False)
    known_leaf = exp.select(column("value")).from_(relation(table, as_="known_leaf"))
    known_leaf.where(column("label", "known_leaf").eq(column("label", "star")), copy=False)
    parts = [column("label", "star"), column("value", "other"), alias(real(0.0), "weight"), *no_moments()]
    others = exp.select(*parts).from_(starred.copy().subquery("star"))
    others.join(values.subquery("other"), join_type="CROSS", copy=False)
    missing = identical(column("value", "known_leaf"), column("value", "other"))
    others.where(exp.not_(exists(known_leaf.where(missing, copy=False))), copy=False)
    return exp.union(leaves, others, distinct=False, copy=False)
