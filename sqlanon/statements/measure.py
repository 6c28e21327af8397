"""MEASURE: the queries of a workload on the source and on the release, and how far they are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog import workloads
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.release import Release
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PolicyError, UserError
from sqlanon.estimates.batch.by_table_groups import figures_by_tables
from sqlanon.estimates.batch.context import BatchContext
from sqlanon.estimates.batch.on_buckets import BucketCounts
from sqlanon.estimates.batch.on_release import ReleaseAggregates, kinds_of
from sqlanon.estimates.batch.on_separate_tables import SeparateTableCounts
from sqlanon.estimates.batch.one_scan import repeats
from sqlanon.estimates.batch.satisfying_values import Constants, constants
from sqlanon.estimates.error import ACTUAL, ESTIMATED, REFUSED, ROOM, errors, summary
from sqlanon.estimates.query.conjunctions import Conjunctions, ConjunctiveAggregate
from sqlanon.estimates.query.parse import Aggregate
from sqlanon.estimates.query.templates import Templates, WorkloadQuery
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.inputs.source import in_file, own_object
from sqlanon.sqlgen.build.expressions import insert
from sqlanon.sqlgen.build.names import relation
from sqlanon.statements.estimate import answer_alone, readable, require_parsed, require_same_source
from sqlanon.statements.measure_results import Results, named, results_of
from sqlanon.statements.measure_source import AskSource, NotAnswered, Note

__all__ = ["measure"]

# Fewer queries are asked one by one.
_FEW = 2


def measure(
    engine: Engine, release: Release, workload: str, progress: Watching | None = None
) -> list[tuple[str, float | None]]:
    """Asks every query of the source and of the release, stores each error, and returns the summary.

    What was measured with the workload before is replaced. What the release cannot answer is a result without an
    estimate. Raises UserError, naming it, for a query that the source has no answer to.
    """
    one = _Measuring(engine, release, workload, progress)
    asked, refused = one.read()
    try:
        with engine.transaction(), Scratch(engine) as scratch:
            known = constants(asked, scratch.table)
            found = Results(engine, scratch, "estimated", ESTIMATED)
            actual = Results(engine, scratch, "actual", ACTUAL)
            room = Results(engine, scratch, "room", ROOM)
            without = Results(engine, scratch, "refused", REFUSED)
            refused |= one.ask_release(asked, known, scratch, found, room)
            without.add_rows((number,) for number in sorted(refused))
            note = one.note("ask the source", len(asked))
            AskSource(engine, policy_of(release).source, scratch, known, note).ask(asked, actual)
            workloads.forget_errors(engine, workload, release.release_id)
            tables = {"actual": actual, "estimated": found, "room": room, "refused": without}
            query = errors({name: one.table for name, one in tables.items()}, release.release_id, workload)
            engine.run(insert(relation(("anon", "query_error")), query))
            rows = engine.rows(summary(release.release_id, workload, len({*refused, *(one.number for one in asked)})))
    except NotAnswered as failed:
        raise failed.found(engine, workload, policy_of(release).source) from None
    return [(str(figure), value) for figure, value in rows]


@dataclass
class _Measuring:
    """One workload, asked of a release."""

    engine: Engine
    release: Release
    workload: str
    progress: Watching | None

    def read(self) -> tuple[list[WorkloadQuery], set[int]]:
        """The queries, and the numbers of those besides of which nothing can be estimated."""
        read = Templates()
        asked: list[WorkloadQuery] = []
        refused: set[int] = set()
        known: set[str] = set()
        names = readable(self.engine, self.release, []).names
        for number, text in workloads.load(self.engine, self.workload, read.one_query):
            try:
                one = _asked(read, number, text)
                if one is None or not one.template or one.template not in known:
                    require_parsed(self.engine, text)
                if one is None:
                    refused.add(number)
                    continue
                known.add(one.template)
                require_same_source(one.query, str(self.release.name), names)
            except UserError as error:
                raise named(self.workload, number, error) from None
            asked.append(one)
        return asked, refused

    def ask_release(
        self, asked: Sequence[WorkloadQuery], known: Constants, scratch: Scratch, into: Results, room: Results
    ) -> set[int]:
        """Adds the estimate, stderr, low and high of every query's results; returns the queries that are refused.

        Of queries with groups it adds to `room` how many rows the groups may have that are not in the answer.
        """
        note = self.note("estimate", len(asked))
        own = readable(self.engine, self.release, [])
        answered: set[int] = set()
        if own.separate_tables and len(asked) >= _FEW:
            answered = self._tables_at_once(asked, own, known, scratch, into)
            left = [one for one in asked if one.number not in answered]
            answered |= self._by_groups(left, own, scratch, into)
        elif not own.separate_tables:
            at_once = _AtOnce(self, Conjunctions(own, kinds := kinds_of(self.engine, own)), kinds, known, scratch, into)
            answered = at_once.ask(asked)
        refused: set[int] = set()
        for done, one in enumerate([one for one in asked if one.number not in answered], start=len(answered)):
            note(done)
            if not self._ask_alone(one, into, room):
                refused.add(one.number)
        return refused

    def _ask_alone(self, one: WorkloadQuery, into: Results, room: Results) -> bool:
        """Adds the results of one query; False if it is refused."""
        query = one.whole()
        with Scratch(self.engine) as scratch:
            try:
                rows = answer_alone(self.engine, self.release, query, scratch)
            except PolicyError:
                return False
            except UserError as error:
                raise named(self.workload, one.number, error) from None
            found = self.engine.rows(rows.all_groups())
        into.add_rows(result for row in found for result in results_of(one.number, query, row, 4))
        if query.groups:
            counts = [(item.name, item.function == "count") for item in query.items if isinstance(item, Aggregate)]
            room.add_rows((one.number, name, counted, rows.room) for name, counted in counts)
        return True

    def _tables_at_once(
        self, asked: Sequence[WorkloadQuery], own: ReleaseModel, known: Constants, scratch: Scratch, into: Results
    ) -> set[int]:
        """Adds the figures of conjunctions that are asked of separate tables at once; returns the queries' numbers."""
        conjunctions = Conjunctions(own, kinds := kinds_of(self.engine, own))
        at_once = SeparateTableCounts(BatchContext(self.engine, kinds, known, scratch.table), own)
        found = [(one, parts) for one in asked if (parts := conjunctions.of(one)) and all(map(at_once.answers, parts))]
        self.note("estimate", len(asked))(0)
        try:
            figures = list(at_once.figures([(part, one.query) for one, parts in found for part in parts]))
        except EngineError as error:
            raise self.one_of([one for one, _ in found], error) from None
        into.add_rows((part.number, "[]", part.result, *rest, True) for part, (_, *rest) in figures)
        return {one.number for one, _ in found}

    def _by_groups(
        self, asked: Sequence[WorkloadQuery], own: ReleaseModel, scratch: Scratch, into: Results
    ) -> set[int]:
        """Adds the figures of queries that are asked of the groups of separate tables; returns the queries' numbers."""
        queries = {one.number: one.whole() for one in asked}
        self.note("estimate", len(asked))(0)
        try:
            figures = list(figures_by_tables(self.engine, own, queries, scratch.table))
        except EngineError as error:
            raise self.one_of(asked, error) from None
        into.add_rows((number, "[]", queries[number].aggregates[0].name, *rest, True) for number, *rest in figures)
        return {number for number, *_ in figures}

    def one_of(self, some: Sequence[WorkloadQuery], error: EngineError) -> UserError:
        """An error ends the transaction: the queries cannot be asked one by one to find the one that it is about."""
        first, last = min(one.number for one in some), max(one.number for one in some)
        return named(self.workload, first if first == last else f"one of {first} to {last}", error)

    def note(self, stage: str, total: int) -> Note:
        """Tells how far a stage is."""

        def told(done: int) -> None:
            if self.progress:
                # A query may have several results.
                self.progress(stage, min(done, total), total)

        return told


@dataclass
class _AtOnce:
    """Asks many queries of a release together; where one of them is refused, those that are asked with it in halves."""

    of: _Measuring
    conjunctions: Conjunctions
    kinds: Mapping[str, str]
    constants: Constants
    scratch: Scratch
    into: Results

    def ask(self, asked: Sequence[WorkloadQuery]) -> set[int]:
        """Adds the figures of those that can be asked at once; returns which these are."""
        self._note = self.of.note("estimate", len(asked))
        self._done = 0
        return self._ask([(one, parts) for one in asked if (parts := self.conjunctions.of(one))])

    def _ask(self, found: Sequence[tuple[WorkloadQuery, list[ConjunctiveAggregate]]]) -> set[int]:
        if len(found) < _FEW:
            return set()
        before = self._done
        self._note(self._done)
        try:
            for number, figures in self._figures(found):
                self.into.add(figures)
                self._done += number
                self._note(self._done)
        except EngineError as error:
            raise self.of.one_of([one for one, _ in found], error) from None
        except PolicyError:
            self._done = before
            self.into.forget([one.number for one, _ in found])
            half = len(found) // 2
            return self._ask(found[:half]) | self._ask(found[half:])
        return {one.number for one, _ in found}

    def _figures(
        self, found: Sequence[tuple[WorkloadQuery, list[ConjunctiveAggregate]]]
    ) -> Iterator[tuple[int, exp.Query]]:
        engine, release = self.of.engine, self.of.release
        own = readable(engine, release, [one.query for one, _ in found])
        parts = [part for _, some in found for part in some]
        counts = [part for part in parts if part.at_once(own)]
        if counts and not own.bucketed:
            names = {own.exact[name] for part in counts for name in part.condition.conditions}
            if repeats(engine, own.rows.subquery("released"), sorted(names)):
                counts = []
        context = BatchContext(engine, self.kinds, self.constants, self.scratch.table)
        if counts:
            yield from BucketCounts(context, own, counts).figures()
        known = set(map(id, counts))
        if others := [part for part in parts if id(part) not in known]:
            # The rows of a view are computed whenever they are read.
            stored = release.kind == "table" and in_file(engine, own_object(engine, release.name))
            yield from ReleaseAggregates(context, own, others, dictionaries=stored).figures()


def _asked(read: Templates, number: int, text: str) -> WorkloadQuery | None:
    """The query of a text; None for one of which nothing can be estimated. Raises StatementError for what is none."""
    try:
        return read.query_of(number, text)
    except PolicyError:
        return None
