"""Stages 2 and 3: the policy that a release names, its requirements, and its source."""

from __future__ import annotations

from sqlanon.catalog import policies
from sqlanon.catalog.fingerprint import fingerprint
from sqlanon.catalog.names import fold
from sqlanon.errors import PolicyError
from sqlanon.methods import generalization
from sqlanon.pipeline.bind import bind, hierarchies_of
from sqlanon.pipeline.source import bind_source
from sqlanon.pipeline.state import State, need
from sqlanon.questions.ask import bind_requirement
from sqlanon.registry import plugin

__all__ = ["bind_stage", "resolve_stage"]


def resolve_stage(state: State) -> State:
    """The policy as the catalog has it, validated, with its hierarchies and its requirements bound.

    The method and its arguments are checked here too, before anything is read. Raises UserError for an unknown method.
    """
    plugin("sqlanon.methods", state.create.method.name)
    generalization.options(state.create.method.arguments)
    policy = policies.load(state.engine, state.create.policy)
    hierarchies = hierarchies_of(state.engine, policy)
    requirements = tuple(bind_requirement(requirement) for requirement in policy.requirements)
    return state.having(policy=policy, hierarchies=tuple(hierarchies.values()), requirements=requirements)


def bind_stage(state: State) -> State:
    """The policy's columns in its source, which is copied first unless it is a table."""
    policy = need(state.policy)
    source = bind_source(state.engine, policy.source, state.scratch)
    if state.create.kind == "view":
        here = source.lasting is not None or policy.source.query is not None
        _require_live(state, here and not source.elsewhere)
    by_name = {fold(stored.definition.name): stored for stored in state.hierarchies}
    bound = bind(policy, source, by_name, fingerprint(policy, list(state.hierarchies)))
    if not bound.published:
        raise PolicyError(f"policy {policy.name} publishes no column")
    return state.having(source=source, bound=bound)


def _require_live(state: State, lasting: bool) -> None:
    policy = need(state.policy)
    name = state.create.name
    if not lasting:
        raise PolicyError(
            f"a live view cannot read {policy.source}: it is temporary or lives in another database",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {name}, or copy the source into this database",
        )
    secret = [a.name for a in policy.attributes if a.pseudonym]
    if secret:
        raise PolicyError(
            f"a live view cannot publish pseudonyms ({', '.join(secret)}): the key would stand in its text",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {name}",
        )
