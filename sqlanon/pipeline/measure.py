"""MEASURE: the queries of a workload on the source and on the release, and how far they are apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.catalog import workloads
from sqlanon.catalog.names import fold
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, EngineError, PolicyError, SqlanonError, UserError
from sqlanon.pipeline.estimate import estimate_release, readable
from sqlanon.pipeline.scratch import Scratch
from sqlanon.pipeline.source import bind_source
from sqlanon.pipeline.state import Progress
from sqlanon.sqlgen.names import alias, identifier, relation
from sqlanon.workload.actual import COUNTED, as_it_is, columns_of, counted_rows, distinct_rows, is_plain, many
from sqlanon.workload.by_fragments import figures_by_fragments
from sqlanon.workload.conjunctions import conjunction
from sqlanon.workload.error import ACTUAL, ESTIMATED, errors, summary
from sqlanon.workload.published import Published
from sqlanon.workload.queries import Aggregate, AggregateQuery, parsed
from sqlanon.workload.together import Together

__all__ = ["measure"]

# So many queries in one statement over the source, and so many results in one over the catalog.
_BATCH = 100
_INSERTED = 200
# So often rows repeat, on the average, where they are counted first.
_REPEATED = 2
# Fewer queries are asked one by one.
_FEW = 2

_T = TypeVar("_T")
_Asked = tuple[int, str, AggregateQuery]


def measure(
    engine: Engine, release: Release, workload: str, progress: Progress | None = None
) -> list[tuple[str, float | None]]:
    """Asks every query of the source and of the release, stores each error, and returns the summary.

    What was measured with the workload before is replaced. Raises UserError, naming the query, where one does not run,
    or cannot be estimated.
    """
    asked = [(number, text, _parsed(workload, number, text)) for number, text in workloads.load(engine, workload)]
    with engine.transaction(), Scratch(engine) as scratch:
        # The release first: it says of a query what is wrong with it.
        estimated = _on_release(engine, release, asked, scratch, workload, progress)
        found = _table(engine, scratch, "estimated", ESTIMATED, estimated)
        actual = _table(engine, scratch, "actual", ACTUAL, _on_source(engine, release, asked, scratch, workload))
        workloads.forget_errors(engine, workload, release.release_id)
        query = errors(actual, found, release.release_id, workload)
        engine.run(exp.Insert(this=relation(("anon", "query_error")), expression=query))
        return [(str(figure), value) for figure, value in engine.rows(summary(release.release_id, workload))]


def _parsed(workload: str, number: int, text: str) -> AggregateQuery:
    try:
        return parsed(text)
    except UserError as error:
        raise _named(workload, number, error) from None


def _named(workload: str, number: int | str, error: SqlanonError) -> UserError:
    return UserError(f"workload {workload}, query {number}: {error.message}", hint=error.hint)


def _on_source(
    engine: Engine, release: Release, asked: Sequence[_Asked], scratch: Scratch, workload: str
) -> Iterator[tuple[Any, ...]]:
    """query_id, groups, result and value of every query, asked of what the release was made of."""
    source = relation(bind_source(engine, policy_of(release).source, scratch).relation)
    plain = [one for one in asked if is_plain(one[2])]
    if plain:
        names = columns_of([query for _, _, query in plain])
        weight = COUNTED
        while fold(weight) in map(fold, names):
            weight += "_"
        rows, n = source, None
        if _repeats(engine, source, names):
            rows, n = relation(scratch.table("counted", counted_rows(source, names, weight))), weight
        for some in _batches(plain, _BATCH):
            figures = iter(_figures(engine, some, rows, n, workload))
            for number, _, query in some:
                for aggregate in query.aggregates:
                    yield number, "[]", aggregate.name, next(figures)
    for number, text, query in asked:
        if not is_plain(query):
            try:
                found = engine.rows(as_it_is(text, query, source))
            except EngineError as error:
                raise _named(workload, number, error) from None
            for row in found:
                yield from _results(number, query, row, 1)


def _repeats(engine: Engine, source: exp.Table, names: Sequence[str]) -> bool:
    """Whether equal rows are frequent, so that it pays to count them first."""
    rows, different = engine.rows(distinct_rows(source, names))[0]
    return bool(different <= rows / _REPEATED)


def _figures(
    engine: Engine, some: Sequence[_Asked], rows: exp.Table, weight: str | None, workload: str
) -> Sequence[Any]:
    """The figures of several queries in one scan."""
    try:
        return engine.rows(many([query for _, _, query in some], rows, weight))[0]
    except EngineError as error:
        # An error ends the transaction: they cannot be asked one by one.
        which = f"{some[0][0]}" if len(some) == 1 else f"one of {some[0][0]} to {some[-1][0]}"
        raise _named(workload, which, error) from None


def _on_release(
    engine: Engine,
    release: Release,
    asked: Sequence[_Asked],
    scratch: Scratch,
    workload: str,
    progress: Progress | None,
) -> Iterator[tuple[Any, ...]]:
    """query_id, groups, result, estimate, stderr, low and high of every query, asked of the release."""
    at_once = _together(engine, release, asked, scratch, workload)
    yield from at_once
    answered = {row[0] for row in at_once}
    asked = [one for one in asked if one[0] not in answered]
    for done, (number, text, query) in enumerate(asked):
        if progress:
            progress("estimate", done, len(asked))
        try:
            rows = estimate_release(engine, release, text)[1]
        except UserError as error:
            raise _named(workload, number, error) from None
        for row in rows:
            yield from _results(number, query, row, 4)


def _together(
    engine: Engine, release: Release, asked: Sequence[_Asked], scratch: Scratch, workload: str
) -> list[tuple[Any, ...]]:
    """The same of the queries that can be asked at once; of none where one of them is refused, and then named."""
    own = readable(engine, release, [])
    queries = {number: query for number, _, query in asked}
    if own.fragmented:
        return _by_fragments(engine, own, queries, scratch, workload)
    found = {number: one for number, query in queries.items() if (one := conjunction(query, own)) is not None}
    if len(found) < _FEW:
        return []
    try:
        own = readable(engine, release, [queries[number] for number in found])
        figures = list(Together(engine, own, list(found.items()), scratch.table).figures())
    except EngineError as error:
        # An error ends the transaction: they cannot be asked one by one.
        raise _named(workload, f"one of {min(found)} to {max(found)}", error) from None
    except (PolicyError, DataError):
        return []
    return [(number, "[]", queries[number].aggregates[0].name, *rest) for number, *rest in figures]


def _by_fragments(
    engine: Engine, own: Published, queries: Mapping[int, AggregateQuery], scratch: Scratch, workload: str
) -> list[tuple[Any, ...]]:
    """The same of a release of fragments."""
    if len(queries) < _FEW:
        return []
    try:
        figures = list(figures_by_fragments(engine, own, queries, scratch.table))
    except EngineError as error:
        raise _named(workload, f"one of {min(queries)} to {max(queries)}", error) from None
    return [(number, "[]", queries[number].aggregates[0].name, *rest) for number, *rest in figures]


def _results(number: int, query: AggregateQuery, row: Sequence[Any], width: int) -> Iterator[tuple[Any, ...]]:
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


def _table(engine: Engine, scratch: Scratch, name: str, names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> str:
    """A temporary table of results."""
    kinds = {"query_id": "BIGINT", "groups": "VARCHAR", "result": "VARCHAR"}
    empty = [alias(exp.Cast(this=exp.null(), to=exp.DataType.build(kinds.get(one, "DOUBLE"))), one) for one in names]
    table = scratch.table(name, exp.select(*empty).where(exp.false()))
    target = exp.Schema(this=relation(table), expressions=[identifier(one) for one in names])
    for some in _batches(rows, _INSERTED):
        values = [exp.Tuple(expressions=[exp.Placeholder() for _ in names]) for _ in some]
        engine.run(
            exp.Insert(this=target.copy(), expression=exp.Values(expressions=values)), [v for row in some for v in row]
        )
    return table
