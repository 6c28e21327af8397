"""Runs the queries of a workload on the source of a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assess.estimate import source_columns
from sqlanon.assess.measure_results import Results, batches, named, results_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, UserError
from sqlanon.estimates.batch.distinct_rows import BatchContext, Constants
from sqlanon.estimates.batch.on_source import SourceAggregates, as_it_is, columns_of, countable, many, repeats
from sqlanon.estimates.query.conjunctions import WorkloadQuery
from sqlanon.estimates.query.parse import is_plain
from sqlanon.estimates.release_model import CountedSource, counted_source, counted_table, number_column
from sqlanon.sources.pivot import own_rows
from sqlanon.sources.source import in_file
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select

# The most queries that one statement asks the source.
_BATCH = 100

Note = Callable[[int], None]


class NotAnswered(Exception):
    """The error of a query that does not run, among several queries. Because the error has ended the transaction, the
    query is identified later.
    """

    def __init__(self, queries: Sequence[WorkloadQuery], error: EngineError) -> None:
        super().__init__(error.message)
        self.queries, self.error = queries, error

    def user_error(self, engine: Engine, workload: str, policy: Policy) -> UserError:
        """Returns the error with the query's number; in a transaction of the user, with the first and last number of
        the batch.
        """
        first, last = min(query.number for query in self.queries), max(query.number for query in self.queries)
        if first == last or engine.in_transaction():
            return named(workload, first if first == last else f"one of {first} to {last}", self.error)
        for query in self.queries:
            try:
                with engine.transaction(), TempTables(engine) as temp:
                    engine.rows(as_it_is(query.text, query.query, _rows_of(engine, policy, [query], temp).each))
            except EngineError as error:
                return named(workload, query.number, error)
        return named(workload, f"one of {first} to {last}", self.error)


@dataclass(frozen=True)
class _SourceRows:
    """The rows of a source one by one; if they are on another engine, also the distinct rows with their counts."""

    each: exp.Table
    counted: CountedSource | None
    # Whether the rows are kept in a file.
    stored: bool

    def groups(self) -> tuple[exp.Table, str | None]:
        """Returns the table of rows to count, and the name of its column that counts equal rows, if it has one."""
        return (self.each, None) if self.counted is None else (relation(self.counted.groups), self.counted.number)


def _rows_of(engine: Engine, policy: Policy, queries: Sequence[WorkloadQuery], temp: TempTables) -> _SourceRows:
    """Reads the source's rows with the columns of these queries; if they are on another engine, they are read once and
    counted.
    """
    source = own_rows(engine, policy, temp, copy=engine.reads_in_place)
    rows = relation(source.relation)
    if engine.reads_in_place:
        return _SourceRows(rows, None, in_file(engine, source.relation))
    read = source_columns([query.query for query in queries])
    names = [name for name, _ in source.columns if fold(name) in read]
    counted = counted_source(rows, names, number_column(read), temp)
    return _SourceRows(relation(counted.rows), counted, stored=False)


@dataclass
class AskSource:
    """Runs the queries of a workload on the source. Raises NotAnswered for a query that does not run."""

    engine: Engine
    policy: Policy
    temp: TempTables
    constants: Constants
    note: Note

    def ask(self, queries: Sequence[WorkloadQuery], into: Results) -> None:
        """Inserts the results of every query."""
        source = _rows_of(self.engine, self.policy, queries, self.temp)
        plain = [query for query in queries if is_plain(query.query)]
        if plain:
            self._ask_plain(plain, source, into)
        for done, query in enumerate([query for query in queries if not is_plain(query.query)], start=len(plain)):
            self.note(done)
            try:
                rows = self.engine.rows(as_it_is(query.text, query.query, source.each))
            except EngineError as error:
                raise NotAnswered([query], error) from None
            into.add_rows(result for row in rows for result in results_of(query.number, query.query, row, 1))

    def _ask_plain(self, plain: Sequence[WorkloadQuery], source: _SourceRows, into: Results) -> None:
        """Inserts the results of queries with a single row each, which are counted over distinct rows with counts if
        the rows repeat.
        """
        rows_of_source = select(exp.Star(), of=source.each)
        kinds = {fold(name): kind for name, kind in self.engine.columns(rows_of_source)}
        # Queries of one template share a parsed query.
        for query in {id(query.query): query for query in plain}.values():
            if missing := [name for name in columns_of([query.query]) if fold(name) not in kinds]:
                raise NotAnswered([query], EngineError(f"the source has no column {missing[0]}"))
        names = columns_of([query.query for query in plain])
        repeated = source.counted is not None or repeats(self.engine, source.each, names)
        at_once = [query for query in plain if countable(query, kinds)]
        done = 0
        if at_once:
            self.note(done)
            try:
                context = BatchContext(self.engine, kinds, self.constants, self.temp)
                rows, number_of_equals = source.groups()
                counted = SourceAggregates(
                    context, rows, at_once, repeated=repeated, dictionaries=source.stored, number=number_of_equals
                )
                for number, figures in counted.figures():
                    into.add(figures)
                    done += number
                    self.note(done)
            except EngineError as error:
                raise NotAnswered(at_once, error) from None
        known = {query.number for query in at_once}
        self._ask_others([query for query in plain if query.number not in known], source, repeated, done, into)

    def _ask_others(
        self, others: Sequence[WorkloadQuery], source: _SourceRows, repeated: bool, done: int, into: Results
    ) -> None:
        """Inserts the results of the queries that cannot be counted together."""
        rows: exp.Table = source.each
        n: str | None = None
        # Sums read the rows one by one, because a number times a count might overflow its type.
        added = any(part.function in ("sum", "avg") for query in others for part in query.query.aggregates)
        if source.counted is not None and not added:
            rows, n = source.groups()
        elif others and repeated and not added:
            names = columns_of([query.query for query in others])
            n = number_column(names)
            rows = relation(counted_table(source.each, names, n, self.temp))
        for queries in batches(others, _BATCH):
            self.note(done)
            values = iter(self._figures(queries, rows, n))
            into.add_rows(
                (query.number, "[]", part.name, next(values)) for query in queries for part in query.query.aggregates
            )
            done += len(queries)

    def _figures(self, queries: Sequence[WorkloadQuery], rows: exp.Table, weight: str | None) -> Sequence[object]:
        """Runs several queries in one scan; returns their values in one row."""
        try:
            return self.engine.rows(many([query.whole() for query in queries], rows.copy(), weight))[0]
        except EngineError as error:
            raise NotAnswered(queries, error) from None
