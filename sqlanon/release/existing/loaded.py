"""A release that a statement names, as the catalog has it."""

from __future__ import annotations

from sqlanon.catalog import releases
from sqlanon.catalog.digests import require_own_rows
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import about
from sqlanon.sources.source import qualified


def load_release(engine: Engine, name: QualifiedName, part: str = "release") -> Release:
    """The release that a statement reads, whose rows in the catalog are those that were written with it.

    `part` is the part of the statement that names it. Raises UserError if there is none, CatalogError where somebody
    changed its rows.
    """
    with about(part):
        release = releases.load(engine, qualified(engine, name))
    require_own_rows(engine, release)
    return release
