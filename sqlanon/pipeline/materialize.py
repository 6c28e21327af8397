"""Stage 7: the candidate, under a name of its own beside its target, not yet visible to anybody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.values import QualifiedName
from sqlanon.inputs.dictionary_columns import words_of
from sqlanon.inputs.pseudonyms import publish_tokens
from sqlanon.inputs.source import own_object, qualified
from sqlanon.pipeline.candidate import Candidate, candidate
from sqlanon.pipeline.classes_of_cells import is_answered_by_cells, with_classes_of_cells
from sqlanon.pipeline.sizes import sizes
from sqlanon.pipeline.state import State, need
from sqlanon.releases.answerable import hidden_parts
from sqlanon.releases.companion_views import own_queries
from sqlanon.releases.frozen_inputs import freeze
from sqlanon.releases.kept_regions import keep_regions
from sqlanon.releases.secure_views import make_secure_view
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.ddl import create_table, mixed, shuffled, view_over
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.classes.buckets import BUCKET
from sqlanon.sqlgen.release.dictionary_encoding import coded, spelled
from sqlanon.sqlgen.release.multi_table_query import PublishedTable, TablesQuery
from sqlanon.sqlgen.release.release_query import ReleaseQuery
from sqlanon.udfs import registered

__all__ = ["helper_columns", "hidden_of", "materialize_stage", "target_name"]

_GUARD = "__sqlanon_guard"


def target_name(state: State) -> QualifiedName:
    return qualified(state.engine, state.create.name)


def hidden_of(state: State) -> dict[int, str]:
    """Why requirements, by their indexes, cannot be recomputed from the released rows alone."""
    bound, query = need(state.bound), state.compiled
    if isinstance(query, TablesQuery):
        # What the tables do not show is refused before they are made.
        return {}
    return hidden_parts(state.requirements, query.guards, bound.entity is not None, _as_it_is(query))


def _as_it_is(query: ReleaseQuery) -> set[str]:
    """The columns that are published as they are."""
    return {b.column for b in query.policy.published if b.role in (Role.SENSITIVE, Role.INSENSITIVE)}


def helper_columns(query: ReleaseQuery | TablesQuery) -> dict[str, str]:
    """The columns that a snapshot's candidate has for its check alone: columns of the source, with their names there.

    No released column has such a name. They are dropped before the candidate is published; of several tables the first
    has them.
    """
    entity = query.policy.entity
    helpers = {entity.column: query.respondent} if entity and query.respondent else {}
    if isinstance(query, TablesQuery):
        return helpers
    for guard in dict.fromkeys(query.guards.values()):
        if guard not in _as_it_is(query):
            helpers[guard] = free_name(f"{_GUARD}_{len(helpers)}", query.columns)
    return helpers


def materialize_stage(state: State) -> State:
    """Makes a snapshot's tables, each in an order that tells nothing of the source's, or the live view."""
    target, query = target_name(state), state.compiled
    names = [table.name for table in query.tables] if isinstance(query, TablesQuery) else [None]
    made = tuple(candidate(state.scratch, target, name, number) for number, name in enumerate(names))
    state, count = (_live(state, made[0].stands), None) if state.create.kind == "view" else _snapshot(state, made)
    rows: exp.Table | exp.Subquery = relation(made[0].stands)
    if isinstance(query, TablesQuery) and query.bucket_rows is not None:
        # Counterfeits are no rows of the source's.
        rows, count = query.bucket_rows.people({t.fragment or "": relation(t.stands) for t in made}), None
    if count is None:
        count = state.engine.rows(exp.select(f.count()).from_(rows))[0][0]
    return state.having(candidates=made, released_rows=int(count))


def _snapshot(state: State, made: Sequence[Candidate]) -> tuple[State, int | None]:
    """Makes a snapshot's tables; returns how many rows the first has too, None where the engine does not count them."""
    query = state.compiled
    publish_tokens(state.engine, need(state.bound), query.tokens)
    _freeze(state)
    if is_answered_by_cells(state):
        state = state.having(query=with_classes_of_cells(state))
    # The source's order links rows to it, so they get a random one that nobody can draw again.
    with registered(state.engine, "random_draw") as draw:
        counts = [
            state.engine.rows(create_table(table.stands, rows))
            for table, rows in zip(made, _tables(state, draw), strict=True)
        ]
    return state, int(counts[0][0][0]) if counts[0] else None


def _tables(state: State, draw: str) -> Iterator[exp.Select]:
    """The rows of each published table in their order: a random one, or that of their own values.

    Rows on Spark are in many files, and in a random order whatever their values are.
    """
    query = state.compiled
    if isinstance(query, TablesQuery):
        for table in query.tables:
            if state.engine.distributed:
                rows = table.query.copy()
                rows.set("order", None)
                yield shuffled(rows, draw)
            else:
                yield table.query if table.ordered else _shuffled(state, table, draw)
        return
    rows = _with_helpers(query)
    if query.precomputed is None and need(state.choice).rows < sizes().joined_from:
        # The guard and the rows both read them: computed once, few take less time to plan.
        for step in rows.ctes:
            if step.alias == "recoded":
                step.set("materialized", True)
    if query.placed is None or not query.placed.exact:
        yield shuffled(rows, draw)
    else:
        yield shuffled(mixed(rows, BUCKET, [b.column for b in query.policy.sensitive], draw), draw)


def _shuffled(state: State, table: PublishedTable, draw: str) -> exp.Select:
    """A table's rows in a random order, in that of `by` first; few different texts are sorted as words."""
    rows, words = table.query, table.words
    if words is None:
        as_in_source = (part for part in table.columns if part.reading is not Reading.BUCKET_RANGE)
        bound_columns = [part.bound for part in as_in_source if part.bound and part.bound.column == part.name]
        words_found = words_of(state.engine, state.scratch, relation(need(state.bound).relation), bound_columns)
        rows, words = coded(rows, words_found) if words_found else rows, tuple(words_found)
    in_order = shuffled(rows.copy(), draw, table.by)
    return spelled(table.query, in_order, words) if words else in_order


def _with_helpers(query: ReleaseQuery) -> exp.Select:
    rows = query.select(with_entity=True)
    helpers = helper_columns(query)
    for guard in dict.fromkeys(query.guards.values()):
        if guard in helpers:
            value = column(f"asked_{query.requirement_columns.index(guard)}", "recoded")
            rows.select(alias(value, helpers[guard]), copy=False)
    return rows


def _live(state: State, candidate: QualifiedName) -> State:
    query, policy = state.one_query, need(state.policy)
    if query.placed is not None:
        query = replace(query, placed=keep_regions(state.engine, query.placed, query.release_id))
    for view, text in own_queries(query.release_id, policy):
        state.engine.run(view_over(own_object(state.engine, view), text))
    _freeze(state)
    make_secure_view(state.engine, candidate, query.select())
    return state.having(query=query)


def _freeze(state: State) -> None:
    """Copies what the release reads besides its source and its public table."""
    query = state.compiled
    recodings = query.recodings if isinstance(query, ReleaseQuery) else ()
    freeze(state.engine, query.release_id, need(state.bound), state.requirements, recodings)
