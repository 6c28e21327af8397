"""Stage 6: the SELECT of the release, or of each of its tables."""

from __future__ import annotations

import secrets

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy, PublicTable
from sqlanon.domain.values import QualifiedName
from sqlanon.inputs.catalog_entries import hidden_names
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.inputs.session_settings import made_for
from sqlanon.methods.registry import find_method
from sqlanon.pipeline.state import State, need
from sqlanon.releases.companion_views import own_queries, public_view, source_view
from sqlanon.series.row_columns import require_known_rows
from sqlanon.sqlgen.build.binary_text import by_bytes
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.cells.cells import row_number
from sqlanon.sqlgen.release.multi_table_query import TablesQuery
from sqlanon.sqlgen.release.region_rows import ROW, Placed
from sqlanon.sqlgen.release.release_query import ReleaseQuery
from sqlanon.sqlgen.release.view_preconditions import MadeFor

__all__ = ["compile_stage", "source_columns"]


def compile_stage(state: State) -> State:
    """The SELECT of the release. A live view reads the lasting source, a snapshot the one that was searched."""
    bound, choice = need(state.bound), need(state.choice)
    release_id = secrets.token_hex(16)
    live = state.create.kind == "view"
    source = need(state.source)
    tokens = {b.column: state.scratch.name("token") for b in bound.published if b.attribute.pseudonym}
    made = find_method(state.create.method.name).compile(state.task, choice, release_id, tokens)
    if isinstance(made, TablesQuery):
        return state.having(query=made)
    if state.series is not None:
        require_known_rows(state.series, bound)
    query = ReleaseQuery(
        policy=bound,
        recodings=made.recodings,
        requirements=state.requirements,
        source=_source(state, release_id) if live else source_columns(bound, bound.relation, made.placed),
        stable=source.stable or not live,
        release_id=release_id,
        tokens=tokens,
        guards=guards_of(state.requirements),
        public=_public(state, bound.public, release_id) if bound.public else None,
        public_stable=bound.public is None or bound.public.stable or not live,
        public_typed=not live,
        placed=made.placed,
        collated=live,
        hidden_by=_hidden_by(state, release_id) if live else (),
    )
    return state.having(query=query, recoded=made)


def _hidden_by(state: State, release_id: str) -> tuple[str, ...]:
    """The names that a live view reads, by which a temporary relation would take the place of what they mean."""
    policy = need(state.policy)
    read = filter(None, (policy.source, policy.against))
    names = [name for source in read for name in hidden_names(state.engine, source)]
    return tuple(dict.fromkeys([*names, *(view.name for view, _ in own_queries(release_id, policy))]))


def _source(state: State, release_id: str) -> exp.Select:
    """What a live view reads of its source, if that is still what the view is made for.

    The user's own query becomes a view of its own, whose text stays as it was written.
    """
    bound, source = need(state.bound), need(state.source)
    name = source.lasting or source_view(release_id)
    return _as_it_was(made_for(state.engine, bound, bound.policy.source, source, _needed(bound)), name)


def _public(state: State, public: PublicTable, release_id: str) -> exp.Select:
    """The public table's columns, one for each quasi-identifier; it is read like the source."""
    if state.create.kind != "view":
        return exp.select(*(column(part) for part in public.columns)).from_(relation(public.relation))
    against, bound = need(need(state.policy).against), need(state.bound)
    fits = made_for(state.engine, bound, against, need(state.public), public.columns)
    return _as_it_was(fits, public.lasting or public_view(release_id))


def _as_it_was(fits: MadeFor, name: QualifiedName) -> exp.Select:
    """The columns of a relation that is still what a live view was made for; texts are compared by their bytes."""
    parts = [
        alias(by_bytes(column(part)), part) if published == "VARCHAR" else column(part)
        for part, _, published in fits.columns
    ]
    return exp.select(*parts).from_(relation(name)).where(fits.condition(), copy=False)


def _needed(bound: BoundPolicy) -> list[str]:
    """The columns of the source that the release needs."""
    respondents = [bound.entity] if bound.entity else []
    return list(dict.fromkeys([*(b.column for b in (*bound.published, *respondents)), *bound.guarding]))


def source_columns(bound: BoundPolicy, name: QualifiedName, placed: Placed | None) -> exp.Select:
    """The columns of the source that the release needs, and no other."""
    query = exp.select(*(column(part) for part in _needed(bound)))
    if placed and placed.by_row:
        return query.select(alias(row_number(), ROW), copy=False).from_(relation(name, as_="source"))
    return query.from_(relation(name))
