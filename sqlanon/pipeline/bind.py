"""Stage 3: a policy meets its source: typed columns, heights, levels."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.catalog import hierarchies as stored_hierarchies
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.names import fold
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Attribute, Policy
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import PolicyError
from sqlanon.hierarchies.base import builder, functional
from sqlanon.pipeline.source import BoundSource
from sqlanon.pipeline.types import without_enums

__all__ = ["bind", "hierarchies_of"]


def hierarchies_of(engine: Engine, policy: Policy) -> dict[str, StoredHierarchy]:
    """The hierarchies that a policy names, by folded name, each validated."""
    names = dict.fromkeys(fold(a.hierarchy) for a in policy.attributes if a.hierarchy)
    return {name: stored_hierarchies.load(engine, name) for name in names}


def bind(policy: Policy, source: BoundSource, hierarchies: dict[str, StoredHierarchy], fingerprint: str) -> BoundPolicy:
    """Finds each attribute's column, and checks its hierarchy against the column's type.

    Raises PolicyError for a column that the source lacks, a hierarchy that does not fit
    a column, a level above the top, or two columns that differ in case only.
    """
    columns = _by_name(source.columns)
    attributes = tuple(_attribute(policy, a, columns, hierarchies) for a in policy.attributes)
    named = {bound.column for bound in attributes}
    unpublished = tuple(name for name, _ in source.columns if name not in named)
    return BoundPolicy(policy, source.relation, source.stable, attributes, unpublished, fingerprint)


def _by_name(columns: Sequence[Column]) -> dict[str, Column]:
    return {fold(name): (name, kind) for name, kind in columns}


def _attribute(
    policy: Policy, attribute: Attribute, columns: dict[str, Column], hierarchies: dict[str, StoredHierarchy]
) -> BoundAttribute:
    if fold(attribute.name) not in columns:
        raise PolicyError(
            f"policy {policy.name}: the source {policy.source} has no column {attribute.name}",
            hint=f"it has {', '.join(name for name, _ in columns.values())}",
        )
    column, kind = columns[fold(attribute.name)]
    published = without_enums(kind)
    if not attribute.hierarchy:
        top, hierarchy, is_stored = 1, None, False
    else:
        stored = hierarchies[fold(attribute.hierarchy)]
        hierarchy, top, is_stored = stored.definition, stored.height, builder(stored.definition.kind).STORED
        if not is_stored and not functional(hierarchy.kind).accepts(published):
            raise PolicyError(
                f"policy {policy.name}: the hierarchy {hierarchy.name} ({hierarchy.kind.upper()}) does not fit the "
                f"column {column} of type {kind}",
                hint="cast the column in the policy's source, ON (SELECT ...), or use another kind of hierarchy",
            )
    low = attribute.min_level or 0
    high = top if attribute.max_level is None else attribute.max_level
    if max(low, high) > top:
        raise PolicyError(
            f"policy {policy.name}: {column} has no level {max(low, high)}; its levels are 0 to {top}"
            + (f" ({hierarchy.name} and '*')" if hierarchy else ", the value and '*'")
        )
    return BoundAttribute(attribute, column, kind, published, hierarchy, is_stored, top, low, high)
