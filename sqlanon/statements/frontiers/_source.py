"""Whether all candidates of a frontier were made of the same rows: else their figures are not to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import DataError, PolicyError, UserError
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.sources.source_identity import rows_identity, source_identity
from sqlanon.sql.build.names import column


@dataclass(frozen=True)
class SourceRows:
    """What tells the rows that a policy reads from others; `is_table` if they are read without being copied.

    Nothing is known of a source that cannot be read: why is said of each candidate.
    """

    identity: Sequence[Any] | None
    is_table: bool = False


def rows_of_source(engine: Engine, policy: Policy) -> SourceRows:
    """The rows of the policy's source, and of its public table if it has one, as they are now."""
    try:
        with engine.transaction(), Scratch(engine) as scratch:
            hierarchies = hierarchies_of(engine, policy)
            source = policy_source(engine, policy, scratch)
            bound = bind(replace(policy, requirements=(), against=None), source, hierarchies, fingerprint="")
            identity = source_identity(engine, bound, bound.attributes, hierarchies)
            public = public_source(engine, policy, scratch)
            if public is not None:
                columns = [column(name) for name, _ in public.columns]
                identity = (*identity, *rows_identity(engine, public.relation, columns))
            return SourceRows(identity, bound.live)
    except (DataError, PolicyError):
        return SourceRows(None)


def require_same_rows(engine: Engine, policy: Policy, before: SourceRows) -> None:
    """Raises UserError if the rows are not those that they were before."""
    if rows_of_source(engine, policy).identity != before.identity:
        raise UserError(
            f"the rows of {policy} changed while its candidates were made, which can then not be compared",
            hint="run it again while nobody writes to them; of rows that change all the time, or at each reading as a "
            "random sample does, make a table first, CREATE TABLE name AS FROM ..., and a policy on that",
        )
