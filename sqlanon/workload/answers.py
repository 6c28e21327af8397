"""The rows that an estimate is answered with: groups, and for each aggregate the estimate and what bounds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.engines.base import Column, Engine
from sqlanon.errors import PolicyError
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.workload.estimators import Combined
from sqlanon.workload.functions import require_known
from sqlanon.workload.queries import Aggregate, AggregateQuery, aggregate_of, aggregates_in, refused
from sqlanon.workload.spans import fixed

__all__ = ["MOST_GROUPS", "answer"]

MOST_GROUPS = 10_000

_ENDS = ("", "_stderr", "_low", "_high")
_BIGINT = exp.DataType.build("BIGINT")

Keep = Callable[[str, exp.Query], str]


def answer(
    engine: Engine, query: AggregateQuery, found: Combined, withheld: int | None, keep: Keep
) -> tuple[tuple[Column, ...], exp.Select]:
    """The columns of the answer with their types, and a query for its rows, with every group column as a text."""
    table = keep("estimate", _figures(found, withheld))
    rows = keep("answer", _answered(query, found, table, withheld))
    ordered = [column(f"group_{place}") for place in range(found.groups)]
    outputs, texts = _outputs(query, found)
    shown = exp.select(*outputs).from_(relation(rows))
    if query.having is not None:
        kept = _having(query, found)
        shown, rows_query = shown.where(kept), exp.select(*texts).from_(relation(rows)).where(kept.copy())
    else:
        rows_query = exp.select(*texts).from_(relation(rows))
    (count,) = engine.rows(exp.select(exp.Count(this=exp.Star())).from_(rows_query.copy().subquery("answer")))[0]
    if count > MOST_GROUPS:
        raise PolicyError(f"there are {count} groups, more than {MOST_GROUPS}", hint="group by less, or add a WHERE")
    for part in ordered:
        rows_query = rows_query.order_by(exp.Ordered(this=part, nulls_first=False), copy=False)
    return tuple(engine.columns(shown)), rows_query


def _figures(found: Combined, withheld: int | None) -> exp.Query:
    """Every figure of each group and aggregate, from the combinations of the classes and the leaves."""
    query = fixed("estimate")
    rows = exp.Cast(this=literal(withheld), to=_BIGINT.copy())
    for table in list(query.find_all(exp.Table)):
        if table.name == "bound":
            table.replace(_bounds(found).subquery("bound"))
    for table in list(query.find_all(exp.Table)):
        if table.name == "combination":
            table.replace(relation(found.table, as_="combination"))
        elif table.name == "withheld":
            table.replace(exp.select(alias(rows.copy(), "rows")).subquery("withheld"))
    return query


def _bounds(found: Combined) -> exp.Query:
    """What counts are bounded by besides their rows: none has more, or fewer, than was dealt out."""
    counts = [literal(number) for number, one in enumerate(found.aggregates, start=1) if one.function == "count"]
    if found.dealt and counts:
        query = fixed("dealt")
        asked = exp.select(exp.Star()).from_(relation("combination"))
        asked = asked.where(exp.In(this=column("number"), expressions=counts))
        for table in [one for one in query.find_all(exp.Table) if one.name == "combination"]:
            table.replace(asked.copy().subquery("combination"))
        return query
    ends = (alias(literal(0), end) for end in ("low", "high"))
    return exp.select(column("key"), column("number"), *ends).from_(relation("combination")).where(exp.false())


def _answered(query: AggregateQuery, found: Combined, table: str, withheld: int | None) -> exp.Select:
    """A row a group: group_i, and for each aggregate its four figures, value_i, value_i_stderr, ..."""
    keys = [
        alias(exp.Anonymous(this="struct_extract", expressions=[column("key"), literal(f"group_{i}")]), f"group_{i}")
        for i in range(found.groups)
    ]
    figures = [part for number, one in enumerate(found.aggregates, start=1) for part in _of_one(one, number, withheld)]
    rows = exp.select(*keys, *figures).from_(relation(table))
    if not found.groups:
        return rows
    # The number 0 counts the rows that satisfy WHERE.
    here = exp.and_(exp.EQ(this=column("number"), expression=literal(0)), column("possible"))
    return rows.group_by(column("key")).having(exp.LogicalOr(this=here))


def _of_one(one: Aggregate, number: int, withheld: int | None) -> list[exp.Alias]:
    return [alias(_figure(one, number, end, withheld), f"value_{number}{end}") for end in _ENDS]


def _figure(one: Aggregate, number: int, end: str, withheld: int | None) -> exp.Expr:
    own = exp.Where(this=exp.EQ(this=column("number"), expression=literal(number)))
    value: exp.Expr = exp.Filter(this=exp.Max(this=column(one.function + end)), expression=own)
    if one.function != "count":
        return value
    # Where no row can satisfy the query there is none to count.
    nothing = exp.EQ(this=exp.Filter(this=exp.Count(this=exp.Star()), expression=own.copy()), expression=literal(0))
    none = literal(withheld if end == "_high" else 0)
    kind = _BIGINT if end in ("_low", "_high") else exp.DataType.build("DOUBLE")
    return exp.Cast(this=exp.Case(ifs=[exp.If(this=nothing, true=none)], default=value), to=kind.copy())


def _outputs(query: AggregateQuery, found: Combined) -> tuple[list[exp.Alias], list[exp.Expr]]:
    """The result's columns by their names, and the same with every group as a text."""
    outputs: list[exp.Alias] = []
    texts: list[exp.Expr] = []
    for item in query.items:
        if isinstance(item, Aggregate):
            number = found.aggregates.index(item) + 1
            own = [column(f"value_{number}{end}") for end in _ENDS]
            outputs += [alias(part, item.name + end) for part, end in zip(own, _ENDS, strict=True)]
            texts += [part.copy() for part in own]
        else:
            place = next(i for i, group in enumerate(query.groups) if group.expression == item.expression)
            outputs.append(alias(column(f"group_{place}"), item.name))
            texts.append(exp.Cast(this=column(f"group_{place}"), to=exp.DataType.build("VARCHAR")))
    return outputs, texts


def _having(query: AggregateQuery, found: Combined) -> exp.Expr:
    """HAVING, asked of the estimates."""
    assert query.having is not None
    calls = [(one.function, one.argument) for one in found.aggregates]

    named = {
        item.name.lower(): f"value_{found.aggregates.index(item) + 1}"
        for item in query.items
        if isinstance(item, Aggregate)
    }

    def replaced(node: exp.Expr) -> exp.Expr:
        for place, group in enumerate(query.groups):
            if node == group.expression:
                return column(f"group_{place}")
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in named:
            return column(named[node.name.lower()])
        if (one := aggregate_of(node)) is not None:
            return column(f"value_{calls.index((one.function, one.argument)) + 1}")
        return node

    asked = query.having.copy().transform(replaced)
    ours: Sequence[str] = [f"group_{i}" for i in range(found.groups)] + [f"value_{i + 1}" for i in range(len(calls))]
    for part in asked.find_all(exp.Column):
        if part.name not in ours:
            raise refused(part, "HAVING asks about groups and aggregates", "write it in WHERE")
    if next(aggregates_in(asked), None) is not None:
        raise refused(query.having, "HAVING cannot be estimated")
    require_known(asked)
    return asked
