"""ESTIMATE: the answer to a query on the source, from the release alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sqlanon.assets import read
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.values import variable_of
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError, StatementError, UserError
from sqlanon.estimates.labels.marginals import Marginals, with_marginals
from sqlanon.estimates.query.parse import AggregateQuery, Lookup, parsed
from sqlanon.estimates.release_model import CountedRelease, ReleaseModel
from sqlanon.estimates.single.answers import Answer as Rows
from sqlanon.estimates.single.answers import answered
from sqlanon.estimates.single.estimate import combined
from sqlanon.release.existing.estimable import published, recorded
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.column_types import require_binary_text
from sqlanon.sources.source import require_not_source
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select

Answered = tuple[tuple[Column, ...], list[tuple[Any, ...]]]


def estimate_release(engine: Engine, release: Release, text: str, marginals: Marginals = ()) -> Answered:
    """Estimates a query from a release in this database: from its rows and its record in the catalog.

    `marginals` are tables of the frequencies of generalized columns' values. Returns the columns and the rows. Raises
    PolicyError for parts of the query that the release cannot answer, and for a hierarchy that has changed since the
    release was made.
    """
    query = parsed(text)
    require_parsed(engine, text)
    with engine.transaction(), TempTables(engine) as temp:
        counted = CountedRelease(engine, source_columns([query]), temp)
        model = counted.of(readable(engine, release, [query]))
        return estimate(engine, query, model, temp, policy_of(release), marginals)


def readable(engine: Engine, release: Release, queries: Sequence[AggregateQuery]) -> ReleaseModel:
    """Returns the model of a release in this database for these queries. Raises the errors of `estimate_release`."""
    require_own_columns(engine, release)
    known = recorded(engine, release, source_columns(queries))
    return published(known, [*source_names(known.policy), release.name.name])


def estimate(
    engine: Engine,
    query: AggregateQuery,
    release: ReleaseModel,
    temp: TempTables,
    policy: Policy,
    marginals: Marginals = (),
) -> Answered:
    """Estimates a query from a release, wherever its rows are; returns the columns and the rows."""
    require_same_source(query, release.name, release.names)
    require_binary_text(engine, query.source, (), called=release.name)
    try:
        rows = _answer(engine, query, with_marginals(engine, release, marginals, policy, temp), temp, policy)
        return tuple(engine.columns(rows.query())), engine.rows(rows.as_texts())
    except EngineError as error:
        raise UserError(f"the query cannot be estimated from {release.name}: {error.message}") from None


def answer_alone(
    engine: Engine, release: Release, query: AggregateQuery, counted: CountedRelease, temp: TempTables
) -> Rows:
    """Answers one query of a workload as a table of this connection, in an open transaction.

    Raises PolicyError for parts that the release cannot answer.
    """
    try:
        model = counted.of(readable(engine, release, [query]))
        return _answer(engine, query, model, temp, policy_of(release))
    except EngineError as error:
        raise UserError(f"the query cannot be estimated from {release.name}: {error.message}") from None


def require_parsed(engine: Engine, text: str) -> None:
    """Raises StatementError for a query that DuckDB cannot parse."""
    for error in parse_errors(engine, [text]).values():
        raise error


def parse_errors(engine: Engine, texts: Sequence[str]) -> dict[str, StatementError]:
    """Returns the errors of the queries that DuckDB cannot parse, by their texts."""
    ((messages,),) = engine.rows(read("sql", "estimates", "parse.sql"), [list(texts)])
    return {
        text: StatementError(f"the query cannot be read: {str(message).splitlines()[0]}", hint="write one SELECT")
        for text, message in zip(texts, messages, strict=True)
        if message is not None
    }


def require_same_source(query: AggregateQuery, release: str, names: Sequence[str]) -> None:
    """Raises PolicyError if the query reads a table other than the release's source."""
    if fold(query.source.name) not in map(fold, names):
        raise PolicyError(
            f"the query reads {query.source}, and the release {release} was made of {names[0]}",
            hint=f"write FROM {names[0]}",
        )


def _answer(engine: Engine, query: AggregateQuery, release: ReleaseModel, temp: TempTables, policy: Policy) -> Rows:
    lookups = [_lookup(engine, lookup, policy) for lookup in query.lookups]
    combinations = combined(engine, query, release, lookups, temp)
    return answered(engine, query, combinations, release.withheld, temp)


def source_names(policy: Policy) -> list[str]:
    """Returns the names that a query may use for a policy's source: the name of the table or variable, and the name of
    the policy.
    """
    table = [policy.source.name.name] if policy.source.name else []
    variables = filter(None, map(variable_of, table))
    return [*variables, *table, policy.name]


def source_columns(queries: Sequence[AggregateQuery]) -> set[str]:
    """Returns the folded names of the columns in queries: columns of the source and of joined tables."""
    # Queries of a workload that differ in constants alone are one object.
    different = {id(query): query for query in queries}.values()
    return {name for query in different for name in _columns_of(query)}


def _columns_of(query: AggregateQuery) -> set[str]:
    parts = [query.where, *(lookup.on for lookup in query.lookups), *(group.expression for group in query.groups)]
    parts += [aggregate.argument for aggregate in query.aggregates]
    return {fold(part.name) for tree in parts if tree is not None for part in tree.find_all(exp.Column)}


def _lookup(engine: Engine, lookup: Lookup, policy: Policy) -> tuple[exp.Table, Sequence[str]]:
    """Returns a joined table with its columns. Raises PolicyError if the table lacks the key, or is the source
    itself.
    """
    joined_object = find_relation(engine, lookup.table)
    if joined_object is None:
        raise PolicyError(f"there is no table or view {lookup.table} to join")
    table = relation(joined_object[1])
    require_not_source(engine, lookup.table, table, policy)
    typed = engine.columns(select(exp.Star(), of=table))
    require_binary_text(engine, joined_object[1], typed, called=str(lookup.table))
    columns = [name for name, _ in typed]
    if fold(lookup.key) not in map(fold, columns):
        raise PolicyError(f"{lookup.table} has no column {lookup.key}")
    return table, columns
