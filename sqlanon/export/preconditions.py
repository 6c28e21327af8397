"""What has to be so before anything is exported."""

from __future__ import annotations

from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError

__all__ = ["require_frozen", "require_settled"]


def require_frozen(release: Release) -> None:
    """Raises UserError for a live view."""
    if release.kind != "table":
        raise UserError(
            f"{release.name} is a live view: it changes with its source and is not frozen",
            hint=f"CREATE ANONYMIZED TABLE ... AS POLICY {release.policy} first, and export that",
        )


def require_settled(engine: Engine) -> None:
    """Raises UserError inside a transaction that the user began."""
    if engine.in_transaction():
        raise UserError(
            "EXPORT does not run inside a transaction: its files would stay when the transaction is rolled back",
            hint="COMMIT first",
        )
