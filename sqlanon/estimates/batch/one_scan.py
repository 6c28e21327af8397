"""The results of a workload's queries on the source, of many plain queries in one scan."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.estimates.query.parse import AggregateQuery
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import filtered, is_not_null, or_zero, paren, row_alias, try_cast
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.classes.rows import class_label

# Rows are counted first if, on the average, each occurs this often.
_LEAST_REPETITION = 2

_DOUBLE = exp.DataType.build("DOUBLE")
_VARCHAR = exp.DataType.build("VARCHAR")


def columns_of(queries: Sequence[AggregateQuery]) -> list[str]:
    """The columns that plain queries read, each once, by their folded names."""
    names: dict[str, str] = {}
    # The queries of a template share one object.
    for query in {id(query): query for query in queries}.values():
        parts = [query.where, *(aggregate.argument for aggregate in query.aggregates)]
        for tree in parts:
            for part in tree.find_all(exp.Column) if tree is not None else ():
                names.setdefault(fold(part.name), part.name)
    return list(names.values())


def repeats(engine: Engine, rows: exp.Expr, columns: Sequence[str]) -> bool:
    """Whether equal rows are frequent in these columns, so that it pays to count them first."""
    count = f.count()
    label = class_label({name: column(name) for name in columns})
    different = f.approx_count_distinct(label) if columns else literal(1)
    ((number, about),) = engine.rows(exp.select(count, different).from_(rows.copy(), copy=False))
    return bool(about <= number / _LEAST_REPETITION)


def many(queries: Sequence[AggregateQuery], rows: exp.Table, weight: str | None) -> exp.Select:
    """One row: the figures of all aggregates of plain queries, in their order, over a table of rows.

    A row stands for as many as its column `weight` says. Without one, each row stands for itself; sums and averages
    are always of such rows.
    """
    figures: list[exp.Expr] = []
    for query in queries:
        for aggregate in query.aggregates:
            holds = _unqualified(query.where) if query.where is not None else exp.true()
            argument = None if aggregate.argument is None else _unqualified(aggregate.argument)
            # A result that is no number becomes NULL: no release can answer such a query.
            figures.append(try_cast(_figure(aggregate.function, argument, holds, weight), "DOUBLE"))
    row = exp.Select(expressions=[alias(figure, f"figure_{i}") for i, figure in enumerate(figures)])
    return row.from_(rows, copy=False)


def _figure(function: str, argument: exp.Expr | None, holds: exp.Expr, weight: str | None) -> exp.Expr:
    """An aggregate over the rows that satisfy. A count adds up the `weight` of rows that each stand for several."""
    if function == "count" and weight is not None:
        known = holds
        if argument is not None:
            has = is_not_null(paren(argument.copy()))
            known = exp.and_(paren(holds), has, copy=False)
        return or_zero(_where(f.sum(column(weight)), known))
    kinds = {"count": exp.Count, "sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
    return _where(kinds[function](this=exp.Star() if argument is None else paren(argument)), holds)


def _where(aggregate: exp.Expr, condition: exp.Expr) -> exp.Expr:
    return filtered(aggregate, condition.copy() if condition.parent else condition)


def _unqualified(tree: exp.Expr) -> exp.Expr:
    """A copy of an expression whose columns have no qualifiers, since there is one relation to read."""
    return tree.transform(lambda node: column(node.name) if isinstance(node, exp.Column) else node)


def as_it_is(text: str, query: AggregateQuery, source: exp.Table) -> exp.Select:
    """The rows of the query on the source, in its order of columns: groups as texts, aggregates as numbers or NULL."""
    (tree,) = sqlglot.parse(text, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    clause = tree.args.get("from_") or tree.args["from"]
    clause.this.replace(exp.alias_(source.copy(), query.alias, table=True, quoted=True))
    names = [f"column_{i}" for i in range(len(query.items))]
    numbers = {i for i, item in enumerate(query.items) if item in query.aggregates}
    casts = [try_cast(column(name), _DOUBLE if i in numbers else _VARCHAR) for i, name in enumerate(names)]
    answer = exp.Subquery(this=tree, alias=row_alias("answer", names))
    return exp.select(*casts).from_(answer)
