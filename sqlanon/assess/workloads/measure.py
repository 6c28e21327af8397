"""MEASURE: runs the queries of a workload on the source and on the release, and measures the errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.assess.estimate import answer_alone, parse_errors, readable, require_same_source, source_columns
from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.measure_results import Results, named, results_of
from sqlanon.assess.workloads.ask_source import AskSource, NotAnswered, Note
from sqlanon.catalog import workloads
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.context import Watching
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError, UserError
from sqlanon.estimates.batch.distinct_rows import BatchContext, Constants, constants
from sqlanon.estimates.batch.on_buckets import BucketCounts
from sqlanon.estimates.batch.on_release import ReleaseAggregates, kinds_of
from sqlanon.estimates.batch.on_separate_tables import SeparateTableCounts, figures_by_tables
from sqlanon.estimates.batch.on_source import repeats
from sqlanon.estimates.labels.leaves import unread
from sqlanon.estimates.query.conjunctions import Conjunctions, ConjunctiveAggregate, Templates, WorkloadQuery
from sqlanon.estimates.query.parse import Aggregate
from sqlanon.estimates.release_model import CountedRelease, ReleaseModel
from sqlanon.estimates.workloads import ACTUAL, ESTIMATED, REFUSED, ROOM, errors, stored_errors, summary
from sqlanon.sources.source import in_file, own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import insert
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery

# Fewer queries are asked one by one.
_FEW = 2


def workload_figures(
    engine: Engine, release: Release, workload: str, progress: Watching | None = None
) -> list[ClassFigure]:
    """Returns the summary of `measure` as figures without an attribute."""
    return [ClassFigure(name, None, value) for name, value in measure(engine, release, workload, progress)]


def measure(
    engine: Engine, release: Release, workload: str, progress: Watching | None = None
) -> list[tuple[str, float | None]]:
    """Runs every query on the source and on the release, stores each error, and returns the summary.

    Earlier results of the workload are replaced. A query that the release cannot answer is a result without an
    estimate. Raises UserError, with the query's number, for a query that the source cannot answer.
    """
    templates = Templates()
    texts = workloads.load(engine, workload, templates.one_query)
    measuring = _Measuring(engine, release, workload, progress)
    try:
        with engine.transaction(), TempTables(engine) as temp:
            query, queries = measuring.errors(texts, templates, temp)
            workloads.forget_errors(engine, workload, release.release_id)
            engine.run(insert(relation(("anon", "query_error")), query))
            rows = engine.rows(summary(stored_errors(release.release_id, workload), queries))
    except NotAnswered as failed:
        raise failed.user_error(engine, workload, policy_of(release)) from None
    return [(str(figure), value) for figure, value in rows]


def measure_unrecorded(
    engine: Engine, release: Release, workload: str, texts: Sequence[tuple[int, str]]
) -> tuple[dict[str, float | None], Mapping[int, str]]:
    """Returns the summary of `measure` for queries by their numbers, without a workload; the catalog does not change.

    A further figure, `compared`, counts the errors. The second part has ESTIMATE's reasons by the numbers of the
    queries that the release does not answer, with an empty reason for an answer of NULL. Raises the errors of
    `measure`, with the name `workload`.
    """
    measuring = _Measuring(engine, release, workload, None)
    try:
        with engine.transaction(), TempTables(engine) as temp:
            query, queries = measuring.errors(texts, Templates(), temp)
            errors_table = temp.table("query_error", query)
            rows = engine.rows(summary(select(exp.Star(), of=relation(errors_table)), queries))
            compared = select(f.count(column("relative_error")), of=relation(errors_table))
            rows.append(("compared", engine.rows(compared)[0][0]))
            unknown = select(column("query_id"), of=relation(errors_table), where=[column("outcome").eq("unknown")])
            for (number,) in engine.rows(unknown):
                measuring.reasons.setdefault(int(number), "")
    except NotAnswered as failed:
        raise failed.user_error(engine, workload, policy_of(release)) from None
    return {str(figure): value for figure, value in rows}, measuring.reasons


def compared_counts(
    engine: Engine, release: Release, called: str, texts: Sequence[tuple[int, str]], temp: TempTables
) -> str:
    """Makes the table (query_id, actual, estimated, high, ...) of queries with one count each, without a workload.

    Raises PolicyError with ESTIMATE's reason for a query that the release cannot answer, and UserError, with the
    query's number, for a query that the source cannot answer.
    """
    measuring = _Measuring(engine, release, called, None)
    try:
        query, _ = measuring.errors(texts, Templates(), temp)
        table = temp.table("query_error", query)
    except NotAnswered as failed:
        raise failed.user_error(engine, called, policy_of(release)) from None
    for reason in measuring.reasons.values():
        raise PolicyError(f"{release.name} cannot be asked for its rows: {reason}", part=("attack", called))
    return table


@dataclass
class _Measuring:
    """A workload on a release; `reasons` has ESTIMATE's reason for each refused query."""

    engine: Engine
    release: Release
    workload: str
    progress: Watching | None
    reasons: dict[int, str] = field(default_factory=dict)

    def errors(self, texts: Sequence[tuple[int, str]], templates: Templates, temp: TempTables) -> tuple[exp.Query, int]:
        """Returns the query of the errors of all results, in the columns of anon.query_error, and the number of
        queries.
        """
        queries, refused = self._read(texts, templates)
        compared = constants(queries, temp)
        estimated = Results(self.engine, temp, "estimated", ESTIMATED)
        actual = Results(self.engine, temp, "actual", ACTUAL)
        room = Results(self.engine, temp, "room", ROOM)
        without_estimate = Results(self.engine, temp, "refused", REFUSED)
        counted = CountedRelease(self.engine, source_columns([query.query for query in queries]), temp)
        refused |= self._ask_release(queries, compared, counted, temp, estimated, room)
        without_estimate.add_rows((number,) for number in sorted(refused))
        note = self.note("ask the source", len(queries))
        AskSource(self.engine, policy_of(self.release), temp, compared, note).ask(queries, actual)
        tables = {"actual": actual, "estimated": estimated, "room": room, "refused": without_estimate}
        names = {name: results.table for name, results in tables.items()}
        numbers = {*refused, *(query.number for query in queries)}
        return errors(names, self.release.release_id, self.workload), len(numbers)

    def _read(self, texts: Sequence[tuple[int, str]], templates: Templates) -> tuple[list[WorkloadQuery], set[int]]:
        """Returns the parsed queries, and the numbers of the queries that no release can answer."""
        queries: list[WorkloadQuery] = []
        refused: set[int] = set()
        unparsed: dict[str, str] = {}
        read: list[tuple[int, str, WorkloadQuery | UserError | None]] = []
        for number, text in texts:
            query = _query_of(templates, number, text)
            read.append((number, text, query))
            if isinstance(query, UserError):
                break
            # Queries of one template differ in constants alone.
            unparsed.setdefault(query.template if query is not None and query.template else text, text)
        wrong = parse_errors(self.engine, list(unparsed.values())) if unparsed else {}
        names = readable(self.engine, self.release, []).names
        for number, text, query in read:
            try:
                if isinstance(query, UserError):
                    raise query
                if text in wrong:
                    raise wrong[text]
                if query is None:
                    refused.add(number)
                    continue
                require_same_source(query.query, str(self.release.name), names)
            except UserError as error:
                raise named(self.workload, number, error) from None
            queries.append(query)
        return queries, refused

    def _ask_release(
        self,
        queries: Sequence[WorkloadQuery],
        compared: Constants,
        counted: CountedRelease,
        temp: TempTables,
        into: Results,
        room: Results,
    ) -> set[int]:
        """Inserts the estimate, spread, low and high of every query's results; returns the numbers of refused queries.

        For queries with groups, also inserts into `room` the greatest number of rows that groups outside the answer may
        have.
        """
        note = self.note("estimate", len(queries))
        model = readable(self.engine, self.release, [])
        refused = self._refuse_by_columns(queries, model)
        queries = [query for query in queries if query.number not in refused]
        answered: set[int] = set()
        # Separate tables are joined row by row.
        apart = model.separate_tables and self.engine.reads_in_place
        if apart and len(queries) >= _FEW:
            answered = self._tables_at_once(queries, model, compared, temp, into)
            left = [query for query in queries if query.number not in answered]
            answered |= self._by_groups(left, model, temp, into)
        elif not model.separate_tables and model.counterfeits is None:
            # Buckets have as many sensitive values as rows.
            at_once = _AtOnce(
                self,
                Conjunctions(model, kinds := kinds_of(self.engine, model), counted=not self.engine.reads_in_place),
                kinds,
                compared,
                counted,
                temp,
                into,
            )
            answered = at_once.ask(queries)
            if len(model.bucketed) > 1 and not (model.exact or model.generalized or not self.engine.reads_in_place):
                # A row has the same bucket in all tables, so each bucket is a group that is linked to itself.
                left = [query for query in queries if query.number not in answered]
                answered |= self._by_groups(left, model, temp, into)
        for done, query in enumerate([query for query in queries if query.number not in answered], start=len(answered)):
            note(done)
            if not self._ask_alone(query, counted, into, room):
                refused.add(query.number)
        return refused

    def _refuse_by_columns(self, queries: Sequence[WorkloadQuery], model: ReleaseModel) -> set[int]:
        """Refuses the queries that compare a column whose labels cannot be read; returns their numbers.

        A query that is asked alone would read the labels before it is refused in the same way.
        """
        unread_columns = {name: error for name, column in model.generalized.items() if (error := unread(column))}
        refused: set[int] = set()
        for query in queries:
            if error := next((unread_columns[name] for name in query.columns if name in unread_columns), None):
                self.reasons[query.number] = error.message
                refused.add(query.number)
        return refused

    def _ask_alone(self, workload_query: WorkloadQuery, counted: CountedRelease, into: Results, room: Results) -> bool:
        """Inserts the results of one query; returns False if it is refused."""
        query = workload_query.whole()
        with TempTables(self.engine) as temp:
            try:
                rows = answer_alone(self.engine, self.release, query, counted, temp)
            except PolicyError as error:
                self.reasons[workload_query.number] = error.message
                return False
            except UserError as error:
                raise named(self.workload, workload_query.number, error) from None
            answer = self.engine.rows(rows.all_groups())
        into.add_rows(result for row in answer for result in results_of(workload_query.number, query, row, 4))
        if query.groups:
            counts = [(item.name, item.function == "count") for item in query.items if isinstance(item, Aggregate)]
            room.add_rows((workload_query.number, name, is_count, rows.room) for name, is_count in counts)
        return True

    def _tables_at_once(
        self,
        queries: Sequence[WorkloadQuery],
        model: ReleaseModel,
        compared: Constants,
        temp: TempTables,
        into: Results,
    ) -> set[int]:
        """Inserts the results of the conjunctions that separate tables answer together; returns the queries'
        numbers.
        """
        conjunctions = Conjunctions(model, kinds := kinds_of(self.engine, model))
        at_once = SeparateTableCounts(BatchContext(self.engine, kinds, compared, temp), model)
        conjunctive = [
            (query, parts)
            for query in queries
            if (parts := conjunctions.of(query)) and all(map(at_once.answers, parts))
        ]
        self.note("estimate", len(queries))(0)
        try:
            figures = list(at_once.figures([(part, query.query) for query, parts in conjunctive for part in parts]))
        except EngineError as error:
            raise self.one_of([query for query, _ in conjunctive], error) from None
        into.add_rows((part.number, "[]", part.result, *rest, True) for part, (_, *rest) in figures)
        return {query.number for query, _ in conjunctive}

    def _by_groups(
        self, queries: Sequence[WorkloadQuery], model: ReleaseModel, temp: TempTables, into: Results
    ) -> set[int]:
        """Inserts the results of the queries that groups of separate tables answer; returns the queries' numbers."""
        whole = {query.number: query.whole() for query in queries}
        self.note("estimate", len(queries))(0)
        try:
            figures = list(figures_by_tables(self.engine, model, whole, temp))
        except EngineError as error:
            raise self.one_of(queries, error) from None
        into.add_rows((number, "[]", whole[number].aggregates[0].name, *rest, True) for number, *rest in figures)
        return {number for number, *_ in figures}

    def one_of(self, batch: Sequence[WorkloadQuery], error: EngineError) -> UserError:
        """Returns the error, with the first and last number of the batch's queries.

        The error has ended the transaction, so the queries cannot be run one by one to find its cause.
        """
        first, last = min(query.number for query in batch), max(query.number for query in batch)
        return named(self.workload, first if first == last else f"one of {first} to {last}", error)

    def note(self, stage: str, total: int) -> Note:
        """Returns a function that reports the number of a stage's finished queries."""

        def note(done: int) -> None:
            if self.progress:
                # A query may have several results.
                self.progress(stage, min(done, total), total)

        return note


@dataclass
class _AtOnce:
    """Runs many queries together on a release; if one is refused, it runs each half separately."""

    of: _Measuring
    conjunctions: Conjunctions
    kinds: Mapping[str, str]
    constants: Constants
    counted: CountedRelease
    temp: TempTables
    into: Results

    def ask(self, queries: Sequence[WorkloadQuery]) -> set[int]:
        """Inserts the results of the queries that can be run together; returns their numbers."""
        self._note = self.of.note("estimate", len(queries))
        self._done = 0
        return self._ask([(query, parts) for query in queries if (parts := self.conjunctions.of(query))])

    def _ask(self, conjunctive: Sequence[tuple[WorkloadQuery, list[ConjunctiveAggregate]]]) -> set[int]:
        if len(conjunctive) < _FEW:
            return set()
        before = self._done
        self._note(self._done)
        try:
            for count, figures in self._figures(conjunctive):
                self.into.add(figures)
                self._done += count
                self._note(self._done)
        except EngineError as error:
            raise self.of.one_of([query for query, _ in conjunctive], error) from None
        except PolicyError:
            self._done = before
            self.into.forget([query.number for query, _ in conjunctive])
            half = len(conjunctive) // 2
            return self._ask(conjunctive[:half]) | self._ask(conjunctive[half:])
        return {query.number for query, _ in conjunctive}

    def _figures(
        self, conjunctive: Sequence[tuple[WorkloadQuery, list[ConjunctiveAggregate]]]
    ) -> Iterator[tuple[int, exp.Query]]:
        engine, release = self.of.engine, self.of.release
        model = self.counted.of(readable(engine, release, [query.query for query, _ in conjunctive]))
        parts = [part for _, query_parts in conjunctive for part in query_parts]
        counts = [part for part in parts if part.at_once(model)]
        if model.counted is not None:
            counts = []
        elif counts and not model.bucketed:
            names = {model.exact[name] for part in counts for name in part.condition.conditions}
            if repeats(engine, subquery(model.rows, "released"), sorted(names)):
                counts = []
        context = BatchContext(engine, self.kinds, self.constants, self.temp)
        if counts:
            yield from BucketCounts(context, model, counts).figures()
        identities = set(map(id, counts))
        if others := [part for part in parts if id(part) not in identities]:
            # The rows of a view are computed at each read.
            stored = release.kind == "table" and in_file(engine, own_object(engine, release.name))
            yield from ReleaseAggregates(context, model, others, dictionaries=stored).figures()


def _query_of(templates: Templates, number: int, text: str) -> WorkloadQuery | UserError | None:
    """Parses a query; returns None if no release could answer it, and the error if the text is not a query."""
    try:
        return templates.query_of(number, text)
    except PolicyError:
        return None
    except UserError as error:
        return error
