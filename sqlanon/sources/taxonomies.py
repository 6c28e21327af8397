"""Hierarchies of sensitive columns, for requirements that other rows than the cells answer."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sources.listed_values import require_listed
from sqlanon.sql.build.names import alias, relation
from sqlanon.sql.cells.labels import generalized, listed_values, published_value
from sqlanon.sql.cells.taxonomy import Taxonomy
from sqlanon.sql.questions.ask import BoundRequirement


def listed_taxonomy(
    engine: Engine,
    policy: BoundPolicy,
    bound: BoundAttribute,
    requirements: Sequence[BoundRequirement],
    scratch: Scratch,
) -> Taxonomy:
    """The hierarchy of a sensitive column. Raises DataError if it lacks values that a requirement looks up in it."""
    if not bound.stored:
        return Taxonomy(bound)
    stored = relation(("anon", "hierarchy_value"))
    listed = listed_values(bound, stored.copy())
    if any(
        {"sensitive_ancestor", "guarding_node"} & set(r.reads) for r in requirements if bound.column in r.attributes
    ):
        occurring = exp.select(alias(published_value(bound), "value")).distinct().from_(relation(policy.relation))
        values = scratch.table("values", generalized(bound, occurring, listed.copy(), counted=False))
        require_listed(engine, bound, values, stored)
    return Taxonomy(bound, listed)
