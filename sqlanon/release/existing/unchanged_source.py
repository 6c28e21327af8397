"""Whether the source of a release still has the columns that it was made of, in their types."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.catalog.snapshot import types_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.errors import PolicyError
from sqlanon.release.existing.original_statement import statement_again
from sqlanon.sources.column_types import ENUM, without_enums
from sqlanon.sources.source import BoundSource


def require_unchanged(release: Release, source: BoundSource, names: Sequence[str]) -> dict[str, str]:
    """The types in which these columns of the source are published, by their folded names.

    Raises PolicyError where a column is gone or has another type.
    """
    kinds = {fold(name): kind for name, kind in source.columns}
    former = {fold(name): kind for name, kind in types_of(release).items()}
    published: dict[str, str] = {}
    for name in names:
        kind = kinds.get(fold(name))
        now = None if kind is None else without_enums(kind)
        before = former.get(fold(name), now)
        before = "VARCHAR" if before == ENUM else before
        if now is None or now != before:
            what = "is gone" if now is None else f"is {now} now and was {before}"
            raise PolicyError(
                f"the source of {release.name} has changed: its column {name} {what}",
                hint=f"make the release again, {statement_again(release, or_replace=True)}",
            )
        published[fold(name)] = now
    return published
