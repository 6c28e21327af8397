"""The relations of a plan: checks that DuckDB can bind its parts there, and joins the tables of the query to them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.estimates.numbers import COUNTED, Number, number
from sqlanon.estimates.query.bind import ROW, bucket_name, leaf_name, lookup_name
from sqlanon.estimates.query.evaluable import Part, require_bindable, tried
from sqlanon.estimates.query.lookups import require_castable, require_unique
from sqlanon.estimates.query.parse import refused
from sqlanon.estimates.query.plan import Plan
from sqlanon.estimates.release_model import BucketedColumns, Generalized
from sqlanon.sqlgen.build.expressions import cast, named, paren
from sqlanon.sqlgen.build.names import alias, column

__all__ = [
    "arguments_on",
    "join_lookups",
    "kinds_of_numbers",
    "parts_on",
    "relations_of",
    "require_joins",
    "said_parts",
]


def relations_of(
    released: exp.Query, bucketed: Mapping[int, BucketedColumns], columns: Mapping[int, Generalized]
) -> dict[str, exp.Expr]:
    """The relations that the parts of a plan read, by name; those of leaves have no more than a typed column."""
    relations: dict[str, exp.Expr] = {ROW: released.subquery(ROW)}
    for index, bucketed_columns in bucketed.items():
        relations[bucket_name(index)] = bucketed_columns.values.subquery(bucket_name(index))
    for index, generalized in columns.items():
        if generalized.bound.type:
            value = cast(exp.null(), generalized.bound.type)
            relations[leaf_name(index)] = exp.select(alias(value, "value")).subquery(leaf_name(index))
    return relations


def kinds_of_numbers(engine: Engine, plan: Plan, relations: Mapping[str, exp.Expr]) -> list[Number]:
    """The kind of numbers of each aggregate. Raises PolicyError, naming it, for a part that DuckDB cannot bind."""
    kinds = [COUNTED for _ in plan.arguments]
    binding = plan.factors.binding
    for name, relation_rows in relations.items():
        rows = exp.select().from_(relation_rows.copy())
        joins: list[Part] = []
        for index, lookup in enumerate(binding.query.lookups):
            if binding.owners[index] == name:
                rows.join(_lookup_table(plan, index), join_type="CROSS", copy=False)
                joins.append((lookup.on, _joined_on(plan, index)))
        arguments = arguments_on(plan, name)
        require_bindable(
            engine, rows, [*joins, *said_parts(plan, name), *((said, argument) for _, said, argument in arguments)]
        )
        for index, said, argument in arguments:
            ((_, kind),) = engine.columns(rows.copy().select(alias(argument.copy(), "value")))
            if (numbers := number(kind)) is None:
                raise refused(said, f"is of type {kind}: sum, avg, min and max are estimated of numbers")
            kinds[index] = numbers
        # Not every type of numbers has every aggregate.
        calls = [(said, exp.func(plan.functions[index], paren(argument.copy()))) for index, said, argument in arguments]
        require_bindable(engine, rows, calls)
    return kinds


def require_joins(engine: Engine, plan: Plan, relations: Mapping[str, exp.Expr]) -> None:
    """Raises PolicyError where a value of the source may match several rows of a joined table, or the join may fail."""
    binding = plan.factors.binding
    for index, lookup in enumerate(binding.query.lookups):
        on = binding.bound(lookup.on)
        (name,) = {part.table for part in on.find_all(exp.Column)}
        joined = {lookup_name(other): _lookup_table(plan, other) for other in range(index)}
        values = exp.select(alias(on, "value")).from_((joined | dict(relations))[name].copy())
        ((_, kind),) = engine.columns(values.copy())
        ((_, key),) = engine.columns(exp.select(alias(column(lookup.key), "key")).from_(plan.lookups[index].copy()))
        require_unique(engine, lookup, plan.lookups[index], (kind, key))
        if kind != key:
            require_castable(engine, lookup, values, plan.lookups[index])


def join_lookups(query: exp.Select, plan: Plan, owner: str) -> exp.Select:
    """The query joined with the tables that belong to one relation. Their keys are unique: no row is doubled."""
    for index, relation_name in enumerate(plan.factors.binding.owners):
        if relation_name == owner:
            query = query.join(_lookup_table(plan, index), on=_joined_on(plan, index), join_type="LEFT", copy=False)
    return query


def said_parts(plan: Plan, name: str) -> list[Part]:
    """The parts on a relation, each as the query writes it and as a bound expression."""
    said = plan.factors.said.get(name, {})
    return [(said[part_name], part) for part_name, part in plan.factors.parts.get(name, {}).items()]


def parts_on(plan: Plan, name: str) -> list[exp.Alias]:
    """The parts on a relation under their names, NULL where they fail."""
    return [alias(tried(part), part_name) for part_name, part in plan.factors.parts.get(name, {}).items()]


def arguments_on(plan: Plan, name: str) -> list[tuple[int, exp.Expr, exp.Expr]]:
    """The aggregates with an argument on a relation: their numbers, and the arguments as written and as bound."""
    return [
        (index, said, argument[1])
        for index, (argument, said) in enumerate(zip(plan.arguments, plan.said, strict=True))
        if argument is not None and said is not None and argument[0] == name
    ]


def _lookup_table(plan: Plan, index: int) -> exp.Table:
    return named(plan.lookups[index].copy(), lookup_name(index))


def _joined_on(plan: Plan, index: int) -> exp.Expr:
    lookup = plan.factors.binding.query.lookups[index]
    return plan.factors.binding.bound(lookup.on).eq(column(lookup.key, lookup_name(index)))
