"""Stage 6: the SELECT of the release, or of each of its tables."""

from __future__ import annotations

import secrets

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import InternalError
from sqlanon.release.existing.objects import own_queries, public_view, source_view
from sqlanon.release.pipeline.stages import Advised, Bound, Chosen, Compiled, Planned
from sqlanon.republication.series.respondents import require_known_rows
from sqlanon.sources.catalog_entries import hidden_names
from sqlanon.sources.coarse import labelled_rows
from sqlanon.sources.preconditions import made_for
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sql.build.expressions import by_bytes
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.cells.cells import row_number
from sqlanon.sql.release.multi_table_query import TablesQuery
from sqlanon.sql.release.recode import ROW, Placed
from sqlanon.sql.release.release_query import ReleaseQuery
from sqlanon.sql.release.view_preconditions import MadeFor


def compile_stage(chosen: Chosen) -> Compiled:
    """Makes the SELECT of the release. A live view reads the permanent source, a snapshot the relation that was
    searched.
    """
    bound, policy = chosen.bound, chosen.bound.policy
    release_id = secrets.token_hex(16)
    live = bound.is_live
    tokens = {b.column: bound.temp.name("token") for b in policy.keyed}
    made = bound.method.compile(chosen.encoded.task, chosen.choice, release_id, tokens)
    if isinstance(made, TablesQuery):
        if live:
            raise InternalError(f"{bound.create.method.name} makes tables where a live view is asked for")
        return Compiled(chosen, made, {}, ())
    if bound.respondents is not None:
        require_known_rows(bound.respondents.series, policy)
    query = ReleaseQuery(
        policy=policy,
        recodings=made.recodings,
        requirements=bound.requirements,
        source=_source(bound, release_id) if live else source_columns(policy, policy.relation, made.placed),
        stable=(bound.source.values_of or bound.source).stable or not live,
        release_id=release_id,
        tokens=tokens,
        guards=guards_of(bound.requirements),
        public=_public(bound, release_id),
        public_stable=policy.public is None or policy.public.stable or not live,
        public_typed=not live,
        placed=made.placed,
        collated=live,
        hidden_by=_hidden_by(bound, release_id) if live else (),
    )
    return Compiled(chosen, query, made.readings, made.rounds)


def compile_plan(advised: Advised) -> Planned:
    """Makes the SELECT of a release that is explained."""
    return Planned(advised, compile_stage(advised.explained.chosen))


def _hidden_by(bound: Bound, release_id: str) -> tuple[str, ...]:
    """Returns the names in a live view's sources that a temporary relation could hide."""
    policy = bound.resolved.policy
    read = filter(None, (policy.source, policy.against))
    names = [name for source in read for name in hidden_names(bound.engine, source)]
    return tuple(dict.fromkeys([*names, *(view.name for view, _ in own_queries(release_id, policy))]))


def _source(bound: Bound, release_id: str) -> exp.Select:
    """Returns the relation that a live view reads, with a condition that fails if the source has been replaced.

    The user's own query becomes a view of its own, with its text unchanged.
    """
    name = bound.source.lasting or source_view(release_id)
    needed = _needed(bound.policy)
    source = bound.source.values_of or bound.source
    rows = _as_it_was(made_for(bound.engine, bound.policy, bound.resolved.policy.source, source, needed), name)
    if not bound.source.coarse:
        return rows
    return labelled_rows(needed, subquery(rows, "source"), bound.source.coarse, release_id)


def _public(bound: Bound, release_id: str) -> exp.Select | None:
    """Returns the relation of the public table that a live view reads, with a column for each quasi-identifier.

    Returns None if the policy has no public table.
    """
    public, source, against = bound.policy.public, bound.public, bound.resolved.policy.against
    if public is None or source is None or against is None:
        return None
    if not bound.is_live:
        return select(*(column(part) for part in public.columns), of=relation(public.relation))
    fits = made_for(bound.engine, bound.policy, against, source, public.columns)
    return _as_it_was(fits, public.lasting or public_view(release_id))


def _as_it_was(fits: MadeFor, name: QualifiedName) -> exp.Select:
    """SELECT of a relation's columns, with the condition that it has not changed since the live view was made.

    Texts are compared by their bytes.
    """
    parts = [
        alias(by_bytes(column(part)), part) if published == "VARCHAR" else column(part)
        for part, _, published in fits.columns
    ]
    return select(*parts, of=relation(name), where=[fits.condition()])


def _needed(bound: BoundPolicy) -> list[str]:
    """Returns the names of the source's columns that the release needs."""
    respondents = [bound.entity] if bound.entity else []
    return list(dict.fromkeys([*(b.column for b in (*bound.published, *respondents)), *bound.guarding]))


def source_columns(bound: BoundPolicy, name: QualifiedName, placed: Placed | None) -> exp.Select:
    """SELECT of the source's columns that the release needs, and also the row number if regions are found by it."""
    query = select(*(column(part) for part in _needed(bound)))
    if placed and placed.by_row:
        return extend(query, alias(row_number(), ROW), of=relation(name, as_="source"))
    return extend(query, of=relation(name))
