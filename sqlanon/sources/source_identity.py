"""What tells the rows of a source from those that it had at another time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import huge
from sqlanon.sql.build.names import relation
from sqlanon.sql.cells.labels import published_value


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
    return (*of_columns, *rows_identity(engine, bound.relation, [published_value(b) for b in attributes]))


def rows_identity(engine: Engine, table: QualifiedName, values: Sequence[exp.Expr]) -> Sequence[Any]:
    """The number of a table's rows, and the sum of the hashes of their values."""
    hashed = f.call("hash", *values)
    return engine.rows(exp.select(f.count(), f.sum(huge(hashed))).from_(relation(table)))[0]


def _digest(b: BoundAttribute, hierarchies: Mapping[str, StoredHierarchy]) -> str | None:
    return hierarchies[fold(b.hierarchy.name)].digest if b.hierarchy else None
