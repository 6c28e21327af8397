"""Stage 7: the candidate, under a name of its own beside its target, not yet visible to anybody else."""

from __future__ import annotations

import secrets

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.pipeline.pseudonyms import publish_tokens
from sqlanon.pipeline.source import qualified
from sqlanon.pipeline.state import State, need
from sqlanon.sqlgen.ddl import create_table, secure_view, shuffled, view_over
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.udfs import registered

__all__ = ["materialize_stage", "target_name"]


def target_name(state: State) -> QualifiedName:
    return qualified(state.engine, state.create.name)


def materialize_stage(state: State) -> State:
    """A snapshot's rows in random order, or the live view."""
    target = target_name(state)
    candidate = QualifiedName((target.parts[0], "__sqlanon_candidate_" + secrets.token_hex(6)))
    if state.create.kind == "view":
        _live(state, candidate)
    else:
        _snapshot(state, candidate)
    rows = state.engine.rows(exp.select(exp.Count(this=exp.Star())).from_(relation(candidate)))[0][0]
    return state.having(candidate=candidate, released_rows=int(rows))


def _snapshot(state: State, candidate: QualifiedName) -> None:
    query = need(state.query)
    publish_tokens(state.engine, need(state.bound), query.tokens)
    _freeze(state)
    # The source's order links rows to it, so the rows are put in one that nobody can draw again.
    with registered(state.engine, "random_draw") as draw:
        state.engine.run(create_table(candidate, shuffled(query.select(with_entity=True), draw)))
    # Its labels stand in its rows now: the copy, values that were suppressed among them, has done its work.
    own = exp.EQ(this=column("release_id"), expression=literal(query.release_id))
    state.engine.run(exp.Delete(this=relation(("anon", "release_recoding")), where=exp.Where(this=own)))


def _live(state: State, candidate: QualifiedName) -> None:
    query, policy = need(state.query), need(state.policy)
    if policy.source.query:
        state.engine.run(view_over(QualifiedName(("anon", "source_" + query.release_id)), policy.source.query))
    _freeze(state)
    state.engine.run(secure_view(candidate, query.select()))


def _freeze(state: State) -> None:
    for recoding in need(state.query).recodings:
        if recoding.kept and recoding.bound.stored:
            _freeze_labels(state, recoding.bound.column, need(recoding.bound.hierarchy).name, recoding.level)


def _freeze_labels(state: State, attribute: str, hierarchy: str, level: int) -> None:
    """Copies a stored hierarchy's labels at one level, so that a later change of it cannot change this release."""
    rows = (
        exp.select(
            alias(literal(need(state.query).release_id), "release_id"),
            alias(literal(attribute), "attribute"),
            column("value"),
            column("label"),
        )
        .from_(relation(("anon", "hierarchy_value")))
        .where(
            exp.EQ(this=column("hierarchy"), expression=literal(hierarchy)),
            exp.EQ(this=column("level"), expression=literal(level)),
        )
    )
    table = relation(("anon", "release_recoding"))
    state.engine.run(exp.Insert(this=table, expression=rows))
    # NULL stays a value of its own where the hierarchy does not list it.
    unlisted = (
        exp.select(rows.expressions[0].copy(), rows.expressions[1].copy(), exp.Null(), exp.Null())
        .from_(exp.select(literal(1)).subquery("one"))
        .where(exp.Not(this=exp.Exists(this=rows.copy().where(exp.Is(this=column("value"), expression=exp.Null())))))
    )
    state.engine.run(exp.Insert(this=table.copy(), expression=unlisted))
