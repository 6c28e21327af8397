"""The queries of a workload on what a release was made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, UserError
from sqlanon.estimates.batch.context import BatchContext
from sqlanon.estimates.batch.on_source import SourceAggregates, countable
from sqlanon.estimates.batch.one_scan import COUNTED, as_it_is, columns_of, counted_rows, many, repeats
from sqlanon.estimates.batch.satisfying_values import Constants
from sqlanon.estimates.query.parse import is_plain
from sqlanon.estimates.query.templates import WorkloadQuery
from sqlanon.inputs.source import bind_source, in_file
from sqlanon.sqlgen.build.names import relation
from sqlanon.statements.measure_results import Results, batches, named, results_of

__all__ = ["AskSource", "NotAnswered", "Note"]

# So many queries in one statement over the source.
_BATCH = 100

Note = Callable[[int], None]


class NotAnswered(Exception):
    """One of some queries does not run. That has ended the transaction, so it is found out afterwards which."""

    def __init__(self, some: Sequence[WorkloadQuery], error: EngineError) -> None:
        super().__init__(error.message)
        self.some, self.error = some, error

    def found(self, engine: Engine, workload: str, source: Source) -> UserError:
        """The error that names the query; in a transaction of the user's, which has ended, those of which it is one."""
        first, last = min(one.number for one in self.some), max(one.number for one in self.some)
        if first == last or engine.in_transaction():
            return named(workload, first if first == last else f"one of {first} to {last}", self.error)
        for one in self.some:
            try:
                with engine.transaction(), Scratch(engine) as scratch:
                    rows = relation(bind_source(engine, source, scratch).relation)
                    engine.rows(as_it_is(one.text, one.query, rows))
            except EngineError as error:
                return named(workload, one.number, error)
        return named(workload, f"one of {first} to {last}", self.error)


@dataclass
class AskSource:
    """Asks the source of a workload's queries. Raises NotAnswered for one that does not run."""

    engine: Engine
    source: Source
    scratch: Scratch
    constants: Constants
    note: Note

    def ask(self, asked: Sequence[WorkloadQuery], into: Results) -> None:
        """Adds the value of every query's results."""
        name = bind_source(self.engine, self.source, self.scratch).relation
        plain = [one for one in asked if is_plain(one.query)]
        if plain:
            self._ask_plain(plain, name, into)
        for done, one in enumerate([one for one in asked if not is_plain(one.query)], start=len(plain)):
            self.note(done)
            try:
                found = self.engine.rows(as_it_is(one.text, one.query, relation(name)))
            except EngineError as error:
                raise NotAnswered([one], error) from None
            into.add_rows(result for row in found for result in results_of(one.number, one.query, row, 1))

    def _ask_plain(self, plain: Sequence[WorkloadQuery], name: QualifiedName, into: Results) -> None:
        """Those of the queries that have a single row each: of rows that are counted first where they repeat."""
        source = relation(name)
        kinds = {fold(name): kind for name, kind in self.engine.columns(exp.select(exp.Star()).from_(source.copy()))}
        # Those of a template share one query.
        for one in {id(one.query): one for one in plain}.values():
            if missing := [own for own in columns_of([one.query]) if fold(own) not in kinds]:
                raise NotAnswered([one], EngineError(f"the source has no column {missing[0]}"))
        repeated = repeats(self.engine, source, columns_of([one.query for one in plain]))
        at_once = [one for one in plain if countable(one, kinds)]
        done = 0
        if at_once:
            self.note(done)
            try:
                context = BatchContext(self.engine, kinds, self.constants, self.scratch.table)
                stored = in_file(self.engine, name)
                counted = SourceAggregates(context, source, at_once, repeated=repeated, dictionaries=stored)
                for number, figures in counted.figures():
                    into.add(figures)
                    done += number
                    self.note(done)
            except EngineError as error:
                raise NotAnswered(at_once, error) from None
        known = {one.number for one in at_once}
        self._ask_others([one for one in plain if one.number not in known], source, repeated, done, into)

    def _ask_others(
        self, others: Sequence[WorkloadQuery], source: exp.Table, repeated: bool, done: int, into: Results
    ) -> None:
        """Adds the results of those queries that are not counted at once."""
        rows, n = source, None
        # What is added up is added up as the source has it: a number times a count might not fit its type.
        added = any(part.function in ("sum", "avg") for one in others for part in one.query.aggregates)
        if others and repeated and not added:
            names = columns_of([one.query for one in others])
            n = COUNTED
            while fold(n) in map(fold, names):
                n += "_"
            rows = relation(self.scratch.table("counted", counted_rows(source, names, n)))
        for some in batches(others, _BATCH):
            self.note(done)
            values = iter(self._figures(some, rows, n))
            into.add_rows((one.number, "[]", part.name, next(values)) for one in some for part in one.query.aggregates)
            done += len(some)

    def _figures(self, some: Sequence[WorkloadQuery], rows: exp.Table, weight: str | None) -> Sequence[object]:
        """The figures of several queries in one scan."""
        try:
            return self.engine.rows(many([one.whole() for one in some], rows.copy(), weight))[0]
        except EngineError as error:
            raise NotAnswered(some, error) from None
