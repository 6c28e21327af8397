"""What tells the rows of a source from those that it had at another time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast
from sqlanon.sqlgen.build.names import relation
from sqlanon.sqlgen.cells.labels import published_value

__all__ = ["source_identity"]


def source_identity(
    engine: Engine,
    bound: BoundPolicy,
    attributes: Sequence[BoundAttribute],
    hierarchies: Mapping[str, StoredHierarchy],
) -> Sequence[Any]:
    """What some attributes of a source are: columns, hierarchies by their folded names, the rows' number and hashes.

    Two that are equal are taken for the same rows, in whatever order, in this process.
    """
    of_columns = tuple((b.role, b.column, b.published_type, b.hierarchy, _digest(b, hierarchies)) for b in attributes)
    hashed = f.call("hash", *(published_value(b) for b in attributes))
    query = exp.select(f.count(), f.sum(cast(hashed, "HUGEINT"))).from_(relation(bound.relation))
    return (*of_columns, *engine.rows(query)[0])


def _digest(b: BoundAttribute, hierarchies: Mapping[str, StoredHierarchy]) -> str | None:
    return hierarchies[fold(b.hierarchy.name)].digest if b.hierarchy else None
