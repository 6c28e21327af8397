"""A query taken apart by the relations of a release that its parts are evaluated on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.estimates.query.bind import Binding, Factors, lookup_name
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.sql.build.expressions import is_null, paren
from sqlanon.sql.build.names import column


@dataclass(frozen=True)
class Plan:
    """A query taken apart: its condition over parts, its groups and the arguments of its aggregates."""

    factors: Factors
    condition: exp.Expr
    groups: tuple[exp.Column, ...]
    arguments: tuple[tuple[str, exp.Expr] | None, ...]
    present: tuple[exp.Expr, ...]
    lookups: tuple[exp.Table, ...]
    said: tuple[exp.Expr | None, ...]
    functions: tuple[str, ...]


def plan_of(query: AggregateQuery, release: ReleaseModel, lookups: Sequence[tuple[exp.Table, Sequence[str]]]) -> Plan:
    """The query taken apart. Raises PolicyError for a part that the release cannot answer, and names the part."""
    binding = Binding(query, release, [columns for _, columns in lookups])
    factors = Factors(binding)
    condition: exp.Expr = factors.condition(query.where) if query.where is not None else exp.true()
    for index, lookup in enumerate(query.lookups):
        joined = column(lookup.key, lookup_name(index))
        condition = exp.and_(condition, factors.part(binding.owners[index], _not_null(joined), lookup.on))
    groups = [factors.value(group.expression) for group in query.groups]
    arguments: list[tuple[str, exp.Expr] | None] = []
    present: list[exp.Expr] = []
    counts = (Aggregate("", "count", None), *query.aggregates)
    for aggregate in counts:
        argument = None if aggregate.argument is None else factors.value(aggregate.argument)
        arguments.append(None if aggregate.function == "count" else argument)
        if argument is None or aggregate.argument is None:
            present.append(exp.true())
        else:
            present.append(factors.part(argument[0], _not_null(argument[1]), aggregate.argument))
    return Plan(
        factors,
        condition,
        tuple(factors.part(*located, group.expression) for located, group in zip(groups, query.groups, strict=True)),
        tuple(arguments),
        tuple(present),
        tuple(table for table, _ in lookups),
        (None, *(aggregate.argument for aggregate in query.aggregates)),
        tuple(aggregate.function for aggregate in counts),
    )


def _not_null(tree: exp.Expr) -> exp.Expr:
    return exp.not_(paren(is_null(paren(tree.copy()))))
