"""Pivots a long table (a row for each rating of an item by a respondent) into one column for each item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import LongTable
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Attribute, Pivot, Policy, Role
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError, about
from sqlanon.sources.column_types import sizes
from sqlanon.sources.source import BoundSource, bind_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, is_not_null, is_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery

# The number of names in a message.
_NAMED = 5


def with_items(engine: Engine, policy: Policy, temp: TempTables) -> Policy:
    """Returns the policy with an attribute for each item of the source; new attributes are QUASI IDENTIFIER.

    The items come after the columns of the respondent, in the order of their names. Raises PolicyError for an attribute
    that is neither an item nor such a column, for two items of the same name, and for too many items.
    """
    with about("source"):
        source = bind_source(engine, policy.source, temp, copy=False)
    long_table = _long_table(policy, source)
    items = _items(engine, policy, long_table)
    stated = {fold(attribute.name): attribute for attribute in policy.items}
    _require_items(policy, long_table, items)
    attributes = [replace(stated.get(fold(name), Attribute(name, Role.QUASI_IDENTIFIER)), name=name) for name in items]
    return replace(policy, attributes=(*policy.having(Role.IDENTIFIER), *attributes))


def own_rows(engine: Engine, policy: Policy, temp: TempTables, *, copy: bool = True) -> BoundSource:
    """Returns a policy's source with the own values of all columns; with PIVOT, it is the wide table that is made of
    the source.

    If `copy` is true, it is copied unless it is a table. A release of a policy with labels does not show these values.
    Raises the errors of `bind_source` and `pivoted`.
    """
    source = bind_source(engine, policy.source, temp, copy=copy)
    return pivoted(engine, policy, source, temp, copy=True) if policy.pivot else source


def pivoted(engine: Engine, policy: Policy, source: BoundSource, temp: TempTables, *, copy: bool) -> BoundSource:
    """Returns the wide table that is made of a long table, with a row for each respondent.

    It has the columns that name the respondent, and a column for each item of the policy, which is NULL if there is no
    rating; items that the policy lacks are left out. If `copy` is false, it has columns and no rows. Raises PolicyError
    for columns that the source lacks, and for more items than can be pivoted, and DataError if a respondent rated an
    item more than once, and for ratings without an item or a respondent.
    """
    long_table = _long_table(policy, source)
    kinds = dict(source.columns)
    items = [attribute.name for attribute in policy.items]
    _require_few(policy, len(items))
    columns: list[Column] = [(name, kinds[name]) for name in long_table.respondents]
    columns += [(name, kinds[long_table.rating]) for name in items]
    _require_single(engine, policy, long_table)
    at = source.relation
    if copy:
        at = replace(at, parts=("temp", "main", temp.table("source", _wide(long_table, items))))
    return BoundSource(tuple(columns), at, None, stable=False, long_table=long_table)


def _long_table(policy: Policy, source: BoundSource) -> LongTable:
    """Returns the source as a long table, with the columns as the source spells them."""
    pivot = policy.pivot
    assert pivot is not None
    known = {fold(name): name for name, _ in source.columns}
    for name in (pivot.item, pivot.rating):
        _require_column(policy, known, name, ("pivot", name))
    respondents = [attribute.name for attribute in policy.having(Role.IDENTIFIER)]
    if not respondents:
        raise PolicyError(
            f"{policy}: PIVOT needs a column that names the respondent",
            hint=f"mark one of {', '.join(_others(known, pivot))} as IDENTIFIER: its ratings become one row",
            part=("pivot", pivot.item),
        )
    for name in respondents:
        _require_column(policy, known, name, ("column", name))
    spelled = tuple(known[fold(name)] for name in respondents)
    return LongTable(source.relation, spelled, known[fold(pivot.item)], known[fold(pivot.rating)])


def _part(policy: Policy) -> tuple[str, ...]:
    """Returns the part of the statement at which errors about items point."""
    return ("pivot", policy.pivot.item) if policy.pivot else ()


def _others(known: dict[str, str], pivot: Pivot) -> list[str]:
    return [name for folded, name in known.items() if folded not in (fold(pivot.item), fold(pivot.rating))]


def _require_column(policy: Policy, known: dict[str, str], name: str, part: tuple[str, ...]) -> None:
    if fold(name) not in known:
        names = list(known.values())
        raise PolicyError(
            f"{policy}: the source {policy.source.called} has no column {name}",
            hint=nearest(name, names) or f"it has {', '.join(names)}",
            part=part,
        )


def _items(engine: Engine, policy: Policy, long_table: LongTable) -> list[str]:
    """Returns the names of the items in order. Raises PolicyError for too many items, or for two items of the same
    name.
    """
    text = as_text(column(long_table.item))
    query = select(alias(text, "item"), distinct=True, of=relation(long_table.relation))
    extend(query, where=[is_not_null(column(long_table.item))])
    ordered = select(column("item"), of=subquery(query, "items"), order_by=[ascending(column("item"))])
    items = [str(name) for (name,) in engine.rows(extend(ordered, limit=sizes().max_items + 1))]
    _require_few(policy, len(items))
    taken = {fold(name): name for name in long_table.respondents}
    for name in items:
        if not name:
            raise PolicyError(
                f"{policy}: an item of {policy.source.called} has an empty name, and no column can be called so",
                hint="leave its ratings out in a query, or give it a name, ON (SELECT ...)",
                part=_part(policy),
            )
        if fold(name) in taken:
            raise PolicyError(
                f"{policy}: {taken[fold(name)]} and {name} would be two columns of one name",
                hint="rename one of them in a query, ON (SELECT ...)",
                part=_part(policy),
            )
        taken[fold(name)] = name
    return items


def _require_few(policy: Policy, items: int) -> None:
    if items > sizes().max_items:
        raise PolicyError(
            f"{policy}: at most {sizes().max_items} items are pivoted, and there are more",
            hint="leave the rarer ones out in a query, ON (SELECT ... WHERE ...)",
            part=_part(policy),
        )


def _require_items(policy: Policy, long_table: LongTable, items: Sequence[str]) -> None:
    """Raises PolicyError if the policy names an attribute that is not an item."""
    known = set(map(fold, items))
    for attribute in policy.items:
        if fold(attribute.name) not in known:
            listed = ", ".join(items[:_NAMED]) + (", ..." if len(items) > _NAMED else "")
            raise PolicyError(
                f"{policy}: {policy.source.called} has no item {attribute.name}",
                hint=nearest(attribute.name, items)
                or f"with PIVOT what is not IDENTIFIER is a value of {long_table.item}, such as {listed}",
                part=("column", attribute.name),
            )


def _require_single(engine: Engine, policy: Policy, long_table: LongTable) -> None:
    """Raises DataError for several ratings of an item by one respondent, and for ratings without a respondent or an
    item.
    """
    names = (*long_table.respondents, long_table.item)
    for name in names:
        unknown = select(f.count(), of=relation(long_table.relation), where=[is_null(column(name))])
        if rows := int(engine.rows(unknown)[0][0]):
            raise DataError(
                f"{policy}: {name} is NULL in {counted(rows, 'row')} of {policy.source.called}",
                hint=f"leave them out in a query, ON (SELECT ... WHERE {name} IS NOT NULL)",
                part=_part(policy),
            )
    keys = [*(column(name) for name in long_table.respondents), as_text(column(long_table.item))]
    pairs = select(literal(1), of=relation(long_table.relation), group_by=keys, having=f.count() > 1)
    several = select(f.count(), of=subquery(pairs, "several"))
    if repeated := int(engine.rows(several)[0][0]):
        raise DataError(
            f"{policy}: {counted(repeated, 'item')} of {policy.source.called} "
            f"{'is' if repeated == 1 else 'are'} rated more than once by one respondent",
            hint="keep one rating of each, or their mean, in a query, ON (SELECT ... GROUP BY ...)",
            part=_part(policy),
        )


def _wide(long_table: LongTable, items: Sequence[str]) -> exp.Select:
    """Returns a row for each respondent, with a column for each item; it is NULL if there is no rating."""
    names = [column(name) for name in long_table.respondents]
    item = alias(as_text(column(long_table.item)), long_table.item)
    rated = select(*names, item, column(long_table.rating), of=relation(long_table.relation))
    within = exp.In(this=column(long_table.item), expressions=[exp.Literal.string(name) for name in items])
    # There is at most one rating, so any aggregate returns it.
    value = f.any_value(column(long_table.rating))
    group = exp.Group(expressions=[column(name) for name in long_table.respondents])
    rows = subquery(rated, "rated")
    rows.set("pivots", [exp.Pivot(expressions=[value], fields=[within], unpivot=False, group=group)])
    chosen = [column(name) for name in (*long_table.respondents, *items)]
    return select(*chosen, of=rows)
