"""The names of a release's tables, and the check that they are free."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import own_object


def fragment_name(release: QualifiedName, fragment: str | None) -> QualifiedName:
    """Returns the name of a release's table: `fragment` follows the release's name, and is None for its only table."""
    if fragment is None:
        return release
    return QualifiedName((*release.parts[:-1], f"{release.name}_{fragment}"))


def require_free(engine: Engine, release: QualifiedName, tables: Sequence[str]) -> None:
    """Raises UserError if a table of the release would have the name of another table."""
    for name in (fragment_name(release, table) for table in tables):
        existing = find_relation(engine, own_object(engine, name), is_new=True)
        if existing is not None:
            raise UserError(
                f"the release {release} publishes a table {name}, and there is a {existing[0]} of that name",
                hint="drop it first, or choose another name for the release",
            )
