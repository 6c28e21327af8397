"""The digest of a live view's text, which shows whether somebody put another view in its place."""

from __future__ import annotations

from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError
from sqlanon.sql.build.sql_files import sql_file


def view_digest(engine: Engine, name: QualifiedName) -> str | None:
    """Computes the digest of a view's text; None if there is no such view."""
    rows = engine.rows(sql_file("catalog", "queries", "view_digest"), list(name.parts[-2:]))
    return str(rows[0][0]) if rows else None


def require_own_views(engine: Engine, release: Release) -> None:
    """Raises CatalogError if a view of a live release differs in its text from the view that was made with it."""
    for made in release.objects:
        if made.kind != "view":
            continue
        again = f"create it again with CREATE OR REPLACE ANONYMIZED {release.kind.upper()}"
        if made.digest is None:
            raise CatalogError(
                f"release {release.name} was made by an older sqlanon, which did not record the text of its view",
                hint=again,
            )
        if made.digest != view_digest(engine, made.name):
            raise CatalogError(
                f"release {release.name}: the view {made.name} was changed after the release was made; nothing was "
                "done",
                hint=again,
            )
