"""Compiles a release to a script for another warehouse, for `sqlanon compile`."""

from __future__ import annotations

from sqlanon.catalog import releases
from sqlanon.domain.values import QualifiedName, variable_of
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.export.warehouses.plan import plan_of
from sqlanon.export.warehouses.script import Locations, script_of
from sqlanon.export.warehouses.translation import dialect_named
from sqlanon.sources.source import qualified


def compiled(
    engine: Engine,
    name: QualifiedName,
    dialect: str,
    *,
    source: QualifiedName | None = None,
    target: QualifiedName | None = None,
    staging: QualifiedName | None = None,
) -> str:
    """Returns the script that makes a release in a warehouse of this dialect.

    The script reads the table `source` in the warehouse, which by default has the name of the policy's source, and
    writes the table `target`, which by default has the name of the release. Raises UserError for an unknown release or
    dialect, for names that cannot be used, and for parts that the dialect may answer differently. Raises PolicyError
    for a release that a script cannot make, and for a changed hierarchy.
    """
    spoken = dialect_named(dialect)
    release = releases.load(engine, qualified(engine, name))
    plan = plan_of(engine, release)
    read = source or plan.source
    if read is None or (source is None and variable_of(read.name)):
        raise UserError(
            f"the policy {release.policy} is on {plan.policy.source.called}, which is not a table that the warehouse "
            "can have",
            hint="name the warehouse's table or view with the same columns: --source schema.table",
        )
    return script_of(plan, spoken, Locations(read, target or QualifiedName((release.name.name,)), staging))
