"""Answers many aggregates with conjunctive conditions on the source at once, by a bitmask for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.estimates.axes import number
from sqlanon.estimates.batch.bitmasks import WORD, MaskedColumn, NumberedLabels, bits, each, masked
from sqlanon.estimates.batch.class_counts import counts_of_classes, most_queries_on_classes
from sqlanon.estimates.batch.distinct_rows import BatchContext, ColumnLabel, among, classes, numbered, satisfying
from sqlanon.estimates.batch.on_buckets import counts_of_rows, most_queries
from sqlanon.estimates.fixed_sql import fixed, sizes
from sqlanon.estimates.query.conjunctions import VALUE, WorkloadQuery, compared_columns
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, cast, filtered, if_, is_not_null, or_zero, paren, row_alias, try_cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.classes.rows import class_label


def countable(workload_query: WorkloadQuery, kinds: Mapping[str, str]) -> bool:
    """Whether a query compares distinct columns with constants, and its aggregates add up over batches of rows.

    Counts of rows add up. So do sums of numbers that are short enough for the sum of some hundred of them to fit 128
    bits.

    `kinds` are the types of the source's columns, by their folded names.
    """
    if not all(_is_countable(part, kinds) for part in workload_query.query.aggregates):
        return False
    return compared_columns(workload_query, kinds) is not None


def _is_countable(aggregate: Aggregate, kinds: Mapping[str, str]) -> bool:
    if aggregate.argument is None or aggregate.function == "count":
        return isinstance(aggregate.argument, exp.Column | None)
    if not isinstance(aggregate.argument, exp.Column):
        return False
    kind = number(kinds.get(fold(aggregate.argument.name), ""))
    return kind is not None and not kind.wide


@dataclass(frozen=True)
class _ColumnAggregates:
    """The aggregates of one workload query over one column, `argument`, or over rows if it is None."""

    workload_query: WorkloadQuery
    argument: str | None
    aggregates: tuple[Aggregate, ...]


class SourceAggregates:
    """Answers queries on the rows of a source; if equal rows are frequent (`repeated`), it counts them first.

    If rows are counted already, their counts are in the column `number`.
    """

    def __init__(
        self,
        context: BatchContext,
        source: exp.Table,
        queries: Sequence[WorkloadQuery],
        *,
        repeated: bool,
        dictionaries: bool,
        number: str | None = None,
    ) -> None:
        self._context, self._engine, self._temp = context, context.engine, context.temp
        self._kinds, self._constants = context.kinds, context.constants
        self._parts = [part for query in queries for part in _parts(query)]
        self._names = list(dict.fromkeys(name for part in self._parts for name in part.workload_query.columns))
        self._source, self._repeated, self._dictionaries = source, repeated, dictionaries
        self._number = number
        arguments = dict.fromkeys(part.argument for part in self._parts if part.argument is not None)
        self._arguments = {name: f"argument_{index}" for index, name in enumerate(arguments)}

    def figures(self) -> Iterator[tuple[int, exp.Query]]:
        """Yields for each batch the number of its parts, and a SELECT of query_id, groups, result and value."""
        rows = [part for part in self._parts if part.argument is None and not self._repeated]
        others = [part for part in self._parts if part.argument is not None or self._repeated]
        if rows:
            yield from self._of_rows(rows)
        if not others:
            return
        also = [alias(column(name), result_name) for name, result_name in self._arguments.items()]
        columns = [ColumnLabel(column(name)) for name in self._names]
        self._classes = classes(
            self._engine,
            self._source,
            columns,
            self._temp,
            also=also,
            counted=self._repeated,
            dictionaries=self._dictionaries,
            number=self._number,
        )
        size = WORD * max(1, min(sizes().max_words, sizes().max_rows // max(1, self._classes.count)))
        kinds: dict[str | None, list[_ColumnAggregates]] = {}
        for part in others:
            kinds.setdefault(part.argument, []).append(part)
        for argument, alike in kinds.items():
            most = size if argument else most_queries_on_classes(self._engine, self._classes)
            for first in range(0, len(alike), most):
                batch = alike[first : first + most]
                yield len(batch), self._batch(batch, argument)

    def _of_rows(self, parts: Sequence[_ColumnAggregates]) -> Iterator[tuple[int, exp.Query]]:
        """Yields the batches of `figures` that count rows of a source without many equal rows, by masks of their
        values.
        """
        labels = NumberedLabels(self._context, {name: (self._source, column(name)) for name in self._names})
        size = most_queries(self._engine, [labels.labels_of(name) for name in self._names])
        for first in range(0, len(parts), size):
            batch = parts[first : first + size]
            conditions = [(part.workload_query.number, part.workload_query.conditions()) for part in batch]
            names = [name for name in self._names if any(name in of_query for _, of_query in conditions)]
            by = labels.encoded(names, labels.masks(names, conditions), len(batch))
            rows_of = by.rows(self._source, [column(name) for name in names])
            counts = counts_of_rows(self._engine, rows_of, by, self._temp)
            yield len(batch), self._answers(_only_rows(counts, "rows"), batch)

    def _batch(self, parts: Sequence[_ColumnAggregates], argument: str | None) -> exp.Query:
        slots_of_queries = [part.workload_query.conditions() for part in parts]
        conditions = [
            {query: slots[name] for query, slots in enumerate(slots_of_queries) if name in slots}
            for name in self._names
        ]
        compared = among({query: part.workload_query.number for query, part in enumerate(parts)}, self._temp)
        columns: list[MaskedColumn] = []
        for index, conditions_of_column in enumerate(conditions):
            if conditions_of_column:
                labels = self._classes.labels[index]
                value = select(column("number"), alias(column("label"), VALUE), alias(literal(1), "weight"))
                leaf = subquery(extend(value, of=relation(labels)), "leaf")
                name = self._names[index]
                constants = self._constants.of(name, compared)
                satisfied = satisfying(self._engine, leaf, self._kinds[name], conditions_of_column, constants)
                columns.append(
                    MaskedColumn(index, labels, subquery(satisfied), conditions_of_column.keys(), exact=True)
                )
        if argument is None:
            counts = counts_of_classes(self._engine, self._classes, columns, len(parts))
            return self._answers(_only_rows(counts.table(self._temp), "high"), parts)
        words = masked(self._classes.table, ["n", self._arguments[argument]], columns, len(parts), self._temp)
        return self._figures(words, argument, parts)

    def _figures(self, masks: str, argument: str, parts: Sequence[_ColumnAggregates]) -> exp.Query:
        carried = ["n", self._arguments[argument]]
        rows = each(masks, bits(len(parts), self._temp), carried, column("possible", "masked"))
        functions = {aggregate.function for part in parts for aggregate in part.aggregates}
        counted = select(column("query"), *self._sums(functions, argument))
        counted = extend(counted, of=subquery(rows, "each"), group_by=[column("query")])
        return self._answers(self._temp.table("counted", counted), parts)

    def _answers(self, counted: str | exp.Query, parts: Sequence[_ColumnAggregates]) -> exp.Query:
        """Returns query_id, groups, result and value of the aggregates, from each query's counts and sums."""
        results = [
            (query, part.workload_query.number, aggregate.name, aggregate.function)
            for query, part in enumerate(parts)
            for aggregate in part.aggregates
        ]
        return fixed("actual", {"asked": self._temp.table("asked", *numbered(results)), "counted": counted})

    def _sums(self, functions: set[str], argument: str) -> list[exp.Expr]:
        """Returns rows, total, least and greatest over rows of weight n; NULL for a figure that no function needs."""
        n, nothing = column("n"), cast(exp.null(), "DOUBLE")
        value = column(self._arguments[argument])
        rows = f.sum(if_(is_not_null(value), n))
        # Values of any type can be counted.
        kind = number(self._kinds[argument]) if functions - {"count"} else None
        added = f.sum(kind.times(value.copy(), n.copy())) if kind else nothing.copy()
        figures: dict[str, exp.Expr] = {
            "rows": rows,
            "total": added,
            "least": f.min(value),
            "greatest": f.max(value),
        }
        needed = {"rows": {"count", "avg"}, "total": {"sum", "avg"}, "least": {"min"}, "greatest": {"max"}}
        return [
            alias(cast(tree, "DOUBLE") if needed[name] & functions else nothing, name) for name, tree in figures.items()
        ]


def _only_rows(counts: str, name: str) -> exp.Select:
    """SELECT of query and rows from the column `name` of a table, beside the figures that counts do not have."""
    nothing = (alias(cast(exp.null(), "DOUBLE"), other) for other in ("total", "least", "greatest"))
    return select(column("query"), alias(cast(column(name), "DOUBLE"), "rows"), *nothing, of=relation(counts))


def _parts(workload_query: WorkloadQuery) -> Iterator[_ColumnAggregates]:
    by_argument: dict[str | None, list[Aggregate]] = {}
    for aggregate in workload_query.query.aggregates:
        by_argument.setdefault(None if aggregate.argument is None else fold(aggregate.argument.name), []).append(
            aggregate
        )
    for argument, aggregates in by_argument.items():
        yield _ColumnAggregates(workload_query, argument, tuple(aggregates))


# The results of a workload's queries on the source: one scan answers many plain queries.


# Rows are counted first if, on the average, each occurs this often.
_LEAST_REPETITION = 2

_DOUBLE_ONE_SCAN = exp.DataType.build("DOUBLE")
_VARCHAR = exp.DataType.build("VARCHAR")


def columns_of(queries: Sequence[AggregateQuery]) -> list[str]:
    """Returns the folded names of the columns that plain queries read, each once."""
    names: dict[str, str] = {}
    # The queries of a template share one object.
    for query in {id(query): query for query in queries}.values():
        parts = [query.where, *(aggregate.argument for aggregate in query.aggregates)]
        for tree in parts:
            for part in tree.find_all(exp.Column) if tree is not None else ():
                names.setdefault(fold(part.name), part.name)
    return list(names.values())


def repeats(engine: Engine, rows: exp.Expr, columns: Sequence[str]) -> bool:
    """Whether rows with equal values in these columns are so frequent that counting them first saves time."""
    count = f.count()
    label = class_label({name: column(name) for name in columns})
    different = f.approx_count_distinct(label) if columns else literal(1)
    ((number, about),) = engine.rows(select(count, different, of=rows))
    return bool(about <= number / _LEAST_REPETITION)


def many(queries: Sequence[AggregateQuery], rows: exp.Table, weight: str | None) -> exp.Select:
    """Returns a SELECT of one row: the figures of all aggregates of plain queries, in order, over a table of rows.

    A row counts as often as its column `weight` says, or once if there is no such column. Sums and averages need rows
    without weights.
    """
    figures: list[exp.Expr] = []
    for query in queries:
        for aggregate in query.aggregates:
            holds = _unqualified(query.where) if query.where is not None else exp.true()
            argument = None if aggregate.argument is None else _unqualified(aggregate.argument)
            # A result that is not a number becomes NULL: no release can answer such a query.
            figures.append(try_cast(_figure(aggregate.function, argument, holds, weight), "DOUBLE"))
    row = exp.Select(expressions=[alias(figure, f"figure_{i}") for i, figure in enumerate(figures)])
    return extend(row, of=rows)


def _figure(function: str, argument: exp.Expr | None, holds: exp.Expr, weight: str | None) -> exp.Expr:
    """Returns an aggregate over the rows for which `holds` is true.

    A count adds up the column `weight`, if it is given.
    """
    if function == "count" and weight is not None:
        known = holds
        if argument is not None:
            has = is_not_null(paren(argument))
            known = and_(paren(holds), has)
        return or_zero(_where(f.sum(column(weight)), known))
    kinds = {"count": exp.Count, "sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
    return _where(kinds[function](this=exp.Star() if argument is None else paren(argument)), holds)


def _where(aggregate: exp.Expr, condition: exp.Expr) -> exp.Expr:
    return filtered(aggregate, condition)


def _unqualified(tree: exp.Expr) -> exp.Expr:
    """Returns a copy of an expression without the qualifiers of its columns."""
    return tree.transform(lambda node: column(node.name) if isinstance(node, exp.Column) else node)


def as_it_is(text: str, query: AggregateQuery, source: exp.Table) -> exp.Select:
    """Returns the query on the source itself, with its columns in order.

    Groups are cast to texts, and aggregates are numbers or NULL.
    """
    (tree,) = sqlglot.parse(text, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    clause = tree.args.get("from_") or tree.args["from"]
    clause.this.replace(exp.alias_(source, query.alias, table=True, quoted=True))
    names = [f"column_{i}" for i in range(len(query.items))]
    numbers = {i for i, item in enumerate(query.items) if item in query.aggregates}
    casts = [try_cast(column(name), _DOUBLE_ONE_SCAN if i in numbers else _VARCHAR) for i, name in enumerate(names)]
    answer = exp.Subquery(this=tree, alias=row_alias("answer", names))
    return select(*casts, of=answer)
