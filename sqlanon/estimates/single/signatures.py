"""Signatures: the leaves below a label, or the values of a bucket, for which all parts of a query are equal."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.estimates.labels.listed_leaves import MOMENTS
from sqlanon.estimates.labels.moments import below_label, leaf_moments, moments_of, share
from sqlanon.estimates.labels.unlisted_leaves import LISTED
from sqlanon.estimates.numbers import Number
from sqlanon.estimates.query.evaluable import tried
from sqlanon.estimates.query.plan import Plan
from sqlanon.estimates.query.relations import arguments_on, join_lookups, parts_on
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import exists, if_, window
from sqlanon.sql.build.names import alias, column, literal, relation

# The column with the number of values that a leaf stands for.
WEIGHT = "weight"


def evaluated(plan: Plan, name: str, leaf: exp.Expr, kinds: Sequence[Number], *, pieces: bool = False) -> exp.Select:
    """label, weight, the parts and the moments of each leaf in a relation; some may be pieces of an axis."""
    rows = join_lookups(exp.select().from_(leaf), plan, name)
    rows.select(column("label", name), column(WEIGHT, name), alias(exp.true(), LISTED), copy=False)
    rows.select(*parts_on(plan, name), copy=False)
    for index, _, argument in arguments_on(plan, name):
        is_piece = pieces and isinstance(argument, exp.Column) and argument.table == name
        rows.select(*leaf_moments(tried(argument), index, name, is_piece, kinds[index]), copy=False)
    return rows


def grouped(plan: Plan, name: str, leaves: exp.Query, kinds: Sequence[Number]) -> exp.Select:
    """label, the query's parts, weight and moments of the leaves that agree in these parts."""
    parts = [column(LISTED), *map(column, plan.factors.parts.get(name, {}))]
    moments = [moment for index, *_ in arguments_on(plan, name) for moment in moments_of(index, kinds[index])]
    known = f.count().eq(f.count(column(WEIGHT)))
    weight = if_(known, f.sum(column(WEIGHT)))
    query = exp.select(column("label"), *parts, alias(weight, WEIGHT), *moments)
    query.from_(leaves.subquery("leaf", copy=False), copy=False)
    return query.group_by(column("label"), *(part.copy() for part in parts), copy=False)


def shares(plan: Plan, name: str, grouped: exp.Expr) -> exp.Select:
    """The rows of `grouped` as signatures: numbered, with their shares of the leaves below the label."""
    parts = [column(LISTED), *map(column, plan.factors.parts.get(name, {}))]
    query = exp.select(column("label"), *parts, column(WEIGHT), alias(share(), "share"))
    query.select(alias(window(f.row_number()), "signature"), *below_label(), copy=False)
    for index, *_ in arguments_on(plan, name):
        query.select(*(column(f"{moment}_{index}") for moment in MOMENTS), copy=False)
    return query.from_(grouped, copy=False)


def divided(plan: Plan, name: str, signature: str) -> exp.Exists:
    """Whether figures depend on how likely the leaves below one label are: some of them satisfy, or they differ.

    `signature` is the table of a column's signatures. One with a share of 0 is a value within a range of real numbers,
    which has no width: whether rows have it depends on the assumption, too.
    """
    partly = column("share") < 1
    differ = [column(f"least_{index}").neq(column(f"greatest_{index}")) for index, *_ in arguments_on(plan, name)]
    return exists(exp.select(literal(1)).from_(relation(signature)).where(exp.or_(partly, *differ)))
