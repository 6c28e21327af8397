"""How many rows the source of a policy has."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation


def rows_of_source(engine: Engine, policy: BoundPolicy) -> int:
    """The rows of the source as it was bound, counted for themselves."""
    return int(engine.rows(exp.select(f.count()).from_(relation(policy.relation)))[0][0])
