"""The relations of a plan: checks that DuckDB can bind its parts there, and joins the tables of the query to them.

A join is allowed where each value matches at most one row of the table. Where a value and a key are of different types,
DuckDB compares them after a cast: '1' and '01' are two texts, and both are equal to the number 1. So DuckDB itself
compares them, and nothing here says which of the two is cast, and to what.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.estimates.numbers import COUNTED, Number, number
from sqlanon.estimates.query.bind import ROW, bucket_name, leaf_name, lookup_name
from sqlanon.estimates.query.evaluable import Part, require_bindable, tried
from sqlanon.estimates.query.parse import Lookup, refused
from sqlanon.estimates.query.plan import Plan
from sqlanon.estimates.release_model import BucketedColumns, Generalized
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, infix, is_null, named, paren, try_cast
from sqlanon.sql.build.names import alias, column


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


_KEY, _VALUE = "key", "value"


def require_unique(engine: Engine, lookup: Lookup, table: exp.Table, kinds: tuple[str, str]) -> None:
    """Raises PolicyError if a value of the first type is equal to several keys, which are of the second type.

    NULL is equal to no key. Two keys that equal one value are the same once they are cast to the value's type, so
    that a cast of the keys finds every such value.
    """
    keys = exp.select(alias(column(lookup.key), _KEY)).from_(table.copy())
    known = f.count(column(_KEY))
    different = f.count_distinct(column(_KEY))
    repeated = exp.select(known.neq(different)).from_(keys.copy().subquery("keys"))
    twice = bool(engine.rows(repeated)[0][0])
    if not twice and kinds[0] != kinds[1]:
        to = exp.DataType.build(kinds[0], dialect="duckdb")
        cast = exp.select(alias(try_cast(column(_KEY), to), _VALUE))
        values = cast.from_(keys.copy().subquery("keys")).distinct()
        require_castable(engine, lookup, values.copy(), table)
        several = exp.select(column(_VALUE, "compared")).from_(values.subquery("compared"))
        several.join(keys.subquery("keys"), on=_equal("compared", "keys"), copy=False)
        several = several.group_by(column(_VALUE, "compared")).having(f.count() > exp.Literal.number(1))
        twice = bool(engine.rows(exp.select(f.count()).from_(several.subquery("several")))[0][0])
    if twice:
        raise PolicyError(
            f"{lookup.table} has several rows for one {lookup.key}, so that a row of the source would count twice",
            hint="join a table that has each key once",
        )


def require_castable(engine: Engine, lookup: Lookup, values: exp.Query, table: exp.Table) -> None:
    """Raises PolicyError if DuckDB cannot compare every value of a query with every key: the join would fail."""
    keys = exp.select(alias(column(lookup.key), _KEY)).from_(table.copy())
    for side, other, name in ((values, keys, _KEY), (keys, values, _VALUE)):
        # Any other value that is not NULL will do: it is the cast of these values that may fail.
        any_value = exp.select(alias(f.any_value(column(name)), name)).from_(other.copy().subquery("other"))
        compared = f.try_(exp.Array(expressions=[_equal("tried", "constant", swapped=side is keys)]))
        failed = exp.func("count_if", is_null(compared))
        query = exp.select(failed).from_(side.copy().subquery("tried"))
        if engine.rows(query.join(any_value.subquery("constant"), join_type="CROSS", copy=False))[0][0]:
            said = infix(lookup.on.copy(), "=", exp.column(lookup.key, lookup.alias))
            raise refused(
                said,
                "some of these values cannot be cast to the type that they are compared in",
                "join a table whose keys are of the column's own type",
            )


def _equal(values: str, keys: str, *, swapped: bool = False) -> exp.Expr:
    if swapped:
        values, keys = keys, values
    return column(_VALUE, values).eq(column(_KEY, keys))
