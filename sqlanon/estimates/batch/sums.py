"""Sums, averages, minima and maxima of one column for many queries: what sums.sql reads, and its figures as stored."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.listed_leaves import MOMENTS
from sqlanon.estimates.labels.moments import moments_of, value_moments
from sqlanon.estimates.numbers import Number
from sqlanon.sqlgen.build.expressions import case, huge, integer, is_not_null
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.sql_files import reading

__all__ = ["ONE", "as_stored", "label_moments", "satisfying_moments", "sums"]

# The number of the argument in the names of its moments: there is but one argument.
ONE = 1


def label_moments(labels: str, kind: Number) -> exp.Select:
    """number and the moments of every label of an exact column, which is a value."""
    moments = zip(MOMENTS, value_moments(column("label"), kind), strict=True)
    query = exp.select(column("number"), *(alias(moment, name) for name, moment in moments))
    return query.from_(relation(labels)).where(is_not_null(column("label")))


def satisfying_moments(satisfying: exp.Query, kind: Number) -> exp.Select:
    """query, number and the moments of the leaves below each label that satisfy the query."""
    keys = [column("query"), column("number")]
    moments = (alias(moment.this, name) for moment, name in zip(moments_of(ONE, kind), MOMENTS, strict=True))
    return exp.select(*keys, *moments).from_(satisfying.subquery("leaf")).group_by(*(key.copy() for key in keys))


def sums(kind: Number) -> exp.Query:
    """The query of sums.sql over `matched`, `asked` and `withheld`, for numbers of one kind."""
    nothing = [alias(integer(exp.null()), name) for name in ("key", "number", "low", "high")]
    figures = fixed("figures", {"bound": exp.select(*nothing).where(exp.false())})
    query = fixed("sums")
    unit = huge(literal(kind.unit))
    for name in list(query.find_all(exp.Column)):
        if name.name == "unit" and not name.table:
            name.replace(alias(unit.copy(), "unit"))
    return reading(query, {"figure": figures})


def as_stored(figures: exp.Query, kind: Number) -> exp.Query:
    """The figures with their bounds as DOUBLE, cast from the type of the aggregate as DuckDB casts the aggregate."""
    bounds: list[exp.Expr] = []
    for end in ("low", "high"):
        stored = {
            function: kind.real(kind.bound(column(f"{function}_{end}"), function))
            for function in ("sum", "avg", "min", "max")
        }
        bounds.append(alias(case(*((column("function").eq(name), bound) for name, bound in stored.items())), end))
    names = ("query_id", "groups", "result", "estimate", "spread")
    return exp.select(*map(column, names), *bounds).from_(figures.subquery("figures", copy=False))
