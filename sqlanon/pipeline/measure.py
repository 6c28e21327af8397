"""MEASURE: the queries of a workload on the source and on the release, and how far they are apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from sqlglot import exp

from sqlanon.catalog import workloads
from sqlanon.catalog.names import fold
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, EngineError, PolicyError, SqlanonError, UserError
from sqlanon.pipeline.estimate import estimate_release, readable
from sqlanon.pipeline.scratch import Scratch
from sqlanon.pipeline.source import bind_source, in_file, own_object
from sqlanon.pipeline.state import Progress
from sqlanon.sqlgen.names import alias, column, identifier, relation
from sqlanon.workload.actual import COUNTED, as_it_is, columns_of, counted_rows, distinct_rows, is_plain, many
from sqlanon.workload.by_fragments import figures_by_fragments
from sqlanon.workload.conjunctions import Conjunctions
from sqlanon.workload.counted import Counted, countable
from sqlanon.workload.error import ACTUAL, ESTIMATED, errors, summary
from sqlanon.workload.published import Published
from sqlanon.workload.queries import Aggregate, AggregateQuery
from sqlanon.workload.satisfying import Constants, constants
from sqlanon.workload.templates import Asked, Templates
from sqlanon.workload.together import Together, kinds_of

__all__ = ["measure"]

# So many queries in one statement over the source, and so many results in one over the catalog.
_BATCH = 100
_INSERTED = 200
# So often rows repeat, on the average, where they are counted first.
_REPEATED = 2
# Fewer queries are asked one by one.
_FEW = 2

_T = TypeVar("_T")


def measure(
    engine: Engine, release: Release, workload: str, progress: Progress | None = None
) -> list[tuple[str, float | None]]:
    """Asks every query of the source and of the release, stores each error, and returns the summary.

    What was measured with the workload before is replaced. Raises UserError, naming the query, where one does not run,
    or cannot be estimated.
    """
    read = Templates()
    asked = [_read(read, workload, number, text) for number, text in workloads.load(engine, workload, read.one_query)]
    with engine.transaction(), Scratch(engine) as scratch:
        one = _Measuring(engine, release, workload, scratch, asked, constants(asked, scratch.table), progress)
        # The release first: it says of a query what is wrong with it.
        found = _Results(engine, scratch, "estimated", ESTIMATED)
        one.ask_release(found)
        actual = _Results(engine, scratch, "actual", ACTUAL)
        one.ask_source(actual)
        workloads.forget_errors(engine, workload, release.release_id)
        query = errors(actual.table, found.table, release.release_id, workload)
        engine.run(exp.Insert(this=relation(("anon", "query_error")), expression=query))
        return [(str(figure), value) for figure, value in engine.rows(summary(release.release_id, workload))]


def _read(read: Templates, workload: str, number: int, text: str) -> Asked:
    try:
        return read.asked(number, text)
    except UserError as error:
        raise _named(workload, number, error) from None


def _named(workload: str, number: int | str, error: SqlanonError) -> UserError:
    return UserError(f"workload {workload}, query {number}: {error.message}", hint=error.hint)


class _Results:
    """A temporary table of results."""

    def __init__(self, engine: Engine, scratch: Scratch, name: str, names: Sequence[str]) -> None:
        kinds = {"query_id": "BIGINT", "groups": "VARCHAR", "result": "VARCHAR"}
        empty = [
            alias(exp.Cast(this=exp.null(), to=exp.DataType.build(kinds.get(one, "DOUBLE"))), one) for one in names
        ]
        self.table = scratch.table(name, exp.select(*empty).where(exp.false()))
        self._engine, self._names = engine, names
        self._target = exp.Schema(this=relation(self.table), expressions=[identifier(one) for one in names])

    def add(self, query: exp.Query) -> None:
        """The rows of a query that has the table's columns."""
        own = exp.select(*(column(name) for name in self._names)).from_(query.subquery("found", copy=False))
        self._engine.run(exp.Insert(this=self._target.copy(), expression=own))

    def clear(self) -> None:
        self._engine.run(exp.Delete(this=relation(self.table)))

    def add_rows(self, rows: Iterable[Sequence[object]]) -> None:
        for some in _batches(rows, _INSERTED):
            values = [exp.Tuple(expressions=[exp.Placeholder() for _ in self._names]) for _ in some]
            insert = exp.Insert(this=self._target.copy(), expression=exp.Values(expressions=values))
            self._engine.run(insert, [value for row in some for value in row])


@dataclass
class _Measuring:
    """One workload, asked of a release and of what it was made of."""

    engine: Engine
    release: Release
    workload: str
    scratch: Scratch
    asked: Sequence[Asked]
    constants: Constants
    progress: Progress | None

    def ask_release(self, into: _Results) -> None:
        """Adds the estimate, stderr, low and high of every query's results."""
        answered = self._together(into)
        for done, one in enumerate([one for one in self.asked if one.number not in answered], start=len(answered)):
            self._note("estimate", done)
            try:
                rows = estimate_release(self.engine, self.release, one.text)[1]
            except UserError as error:
                raise _named(self.workload, one.number, error) from None
            into.add_rows(result for row in rows for result in _results(one.number, one.query, row, 4))

    def _together(self, into: _Results) -> set[int]:
        """The same of the queries that can be asked at once; of none where one of them is refused, and then named.

        Returns which these are.
        """
        own = readable(self.engine, self.release, [])
        if own.fragmented:
            return self._by_fragments(own, into)
        kinds = kinds_of(self.engine, own)
        at_once = Conjunctions(own, kinds)
        found = [(one, parts) for one in self.asked if (parts := at_once.of(one))]
        if len(found) < _FEW:
            return set()
        asked = [part for _, parts in found for part in parts]
        done = 0
        self._note("estimate", done)
        try:
            own = readable(self.engine, self.release, [one.query for one, _ in found])
            together = Together(
                self.engine,
                own,
                kinds,
                asked,
                self.constants,
                self.scratch.table,
                dictionaries=_in_file(self.engine, self.release),
            )
            for number, figures in together.figures():
                into.add(figures)
                done += number
                self._note("estimate", done)
        except EngineError as error:
            # An error ends the transaction: they cannot be asked one by one.
            raise self._one_of([one for one, _ in found], error) from None
        except (PolicyError, DataError):
            into.clear()
            return set()
        return {one.number for one, _ in found}

    def _by_fragments(self, own: Published, into: _Results) -> set[int]:
        """The same of a release of fragments."""
        if len(self.asked) < _FEW:
            return set()
        queries = {one.number: one.whole() for one in self.asked}
        self._note("estimate", 0)
        try:
            figures = list(figures_by_fragments(self.engine, own, queries, self.scratch.table))
        except EngineError as error:
            raise self._one_of(self.asked, error) from None
        into.add_rows((number, "[]", queries[number].aggregates[0].name, *rest) for number, *rest in figures)
        return {number for number, *_ in figures}

    def ask_source(self, into: _Results) -> None:
        """Adds the value of every query's results on what the release was made of."""
        name = bind_source(self.engine, policy_of(self.release).source, self.scratch).relation
        source = relation(name)
        plain = [one for one in self.asked if is_plain(one.query)]
        if plain:
            self._ask_plain(plain, name, into)
        for done, one in enumerate([one for one in self.asked if not is_plain(one.query)], start=len(plain)):
            self._note("ask the source", done)
            try:
                found = self.engine.rows(as_it_is(one.text, one.query, source.copy()))
            except EngineError as error:
                raise _named(self.workload, one.number, error) from None
            into.add_rows(result for row in found for result in _results(one.number, one.query, row, 1))

    def _ask_plain(self, plain: Sequence[Asked], name: QualifiedName, into: _Results) -> None:
        """Those of the queries that have a single row each: of rows that are counted first where they repeat."""
        source = relation(name)
        kinds = {fold(name): kind for name, kind in self.engine.columns(exp.select(exp.Star()).from_(source.copy()))}
        repeated = _repeats(self.engine, source, columns_of([one.query for one in plain]))
        at_once = [one for one in plain if countable(one, kinds)]
        done = 0
        if at_once:
            self._note("ask the source", done)
            try:
                counted = Counted(
                    self.engine,
                    source,
                    kinds,
                    at_once,
                    self.constants,
                    self.scratch.table,
                    repeated=repeated,
                    dictionaries=in_file(self.engine, name),
                )
                for number, figures in counted.figures():
                    into.add(figures)
                    done += number
                    self._note("ask the source", done)
            except EngineError as error:
                raise self._one_of(at_once, error) from None
        known = {one.number for one in at_once}
        self._ask_others([one for one in plain if one.number not in known], source, repeated, done, into)

    def _ask_others(
        self, others: Sequence[Asked], source: exp.Table, repeated: bool, done: int, into: _Results
    ) -> None:
        """The same of queries that are not counted at once."""
        rows, n = source, None
        if others and repeated:
            names = columns_of([one.query for one in others])
            n = COUNTED
            while fold(n) in map(fold, names):
                n += "_"
            rows = relation(self.scratch.table("counted", counted_rows(source, names, n)))
        for some in _batches(others, _BATCH):
            self._note("ask the source", done)
            values = iter(self._figures(some, rows, n))
            into.add_rows((one.number, "[]", part.name, next(values)) for one in some for part in one.query.aggregates)
            done += len(some)

    def _figures(self, some: Sequence[Asked], rows: exp.Table, weight: str | None) -> Sequence[object]:
        """The figures of several queries in one scan."""
        try:
            return self.engine.rows(many([one.whole() for one in some], rows.copy(), weight))[0]
        except EngineError as error:
            raise self._one_of(some, error) from None

    def _one_of(self, some: Sequence[Asked], error: EngineError) -> UserError:
        """An error ends the transaction: the queries cannot be asked one by one to find the one that it is about."""
        first, last = min(one.number for one in some), max(one.number for one in some)
        return _named(self.workload, first if first == last else f"one of {first} to {last}", error)

    def _note(self, stage: str, done: int) -> None:
        if self.progress:
            # A query may have several results.
            self.progress(stage, min(done, len(self.asked)), len(self.asked))


def _in_file(engine: Engine, release: Release) -> bool:
    """Whether the rows of a release are in a file: those of a view are computed whenever they are read."""
    return release.kind == "table" and in_file(engine, own_object(engine, release.name))


def _repeats(engine: Engine, source: exp.Table, names: Sequence[str]) -> bool:
    """Whether equal rows are frequent, so that it pays to count them first."""
    rows, different = engine.rows(distinct_rows(source, names))[0]
    return bool(different <= rows / _REPEATED)


def _results(number: int, query: AggregateQuery, row: Sequence[object], width: int) -> Iterator[tuple[object, ...]]:
    """A row for each aggregate of a query's row, in which an aggregate has `width` columns and a group one."""
    values = iter(row)
    parts = [(item, [next(values) for _ in range(width if isinstance(item, Aggregate) else 1)]) for item in query.items]
    groups = json.dumps([part[0] for item, part in parts if not isinstance(item, Aggregate)])
    for item, part in parts:
        if isinstance(item, Aggregate):
            yield number, groups, item.name, *part


def _batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
