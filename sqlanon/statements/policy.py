"""CREATE and DROP POLICY."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.catalog import policies as catalog
from sqlanon.domain.identifiers import nearest
from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.inputs.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.inputs.requirements import bind_requirements, resolve_requirements
from sqlanon.questions.ask import with_names
from sqlanon.statements.create_or_replace import to_be_made
from sqlanon.syntax.statements import CreatePolicy, DropPolicy

__all__ = ["create_policy", "drop_policy"]


def create_policy(engine: Engine, statement: CreatePolicy) -> Policy | None:
    """Checks a policy against its sources and its hierarchies, and stores it; None where IF NOT EXISTS found one."""
    requirements = tuple(map(with_names, statement.policy.requirements))
    policy = replace(statement.policy, requirements=requirements)
    with engine.transaction(), Scratch(engine) as scratch:
        if not to_be_made(engine, catalog, "policy", policy.name, statement):
            return None
        catalog.validate(policy)
        resolve_requirements(policy)
        source = policy_source(engine, policy, scratch, copy=False)
        public = public_source(engine, policy, scratch, copy=False)
        bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="", public=public)
        bind_requirements(engine, bound, source, scratch)
        catalog.save(engine, policy)
    return policy


def drop_policy(engine: Engine, statement: DropPolicy) -> bool:
    """Forgets a policy; its releases stay. Raises PolicyError if there is none and IF EXISTS is not said."""
    with engine.transaction():
        if not catalog.exists(engine, statement.name):
            if statement.if_exists:
                return False
            raise PolicyError(
                f"there is no policy {statement.name}",
                hint=nearest(statement.name, catalog.listing(engine)),
                part=("name",),
            )
        catalog.delete(engine, statement.name)
    return True
