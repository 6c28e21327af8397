"""What a job has made: whether it still stands as it was made."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.catalog import releases
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.export.formats.base import suffixes
from sqlanon.export.paths import local_path
from sqlanon.export.reader import export_at
from sqlanon.releases.content import has_checked_rows
from sqlanon.releases.objects import require_own_columns
from sqlanon.syntax.statements import ExportRelease, Statement

__all__ = ["outputs_stand", "standing_releases"]


def standing_releases(engine: Engine, names: Sequence[QualifiedName]) -> list[Release]:
    """The releases of these names that are as they were made."""
    present = []
    for name in names:
        try:
            release = releases.load(engine, name)
            require_own_columns(engine, release)
            if has_checked_rows(engine, release):
                present.append(release)
        except SqlanonError:
            # It is gone, or something else has its name: the job has to make it again.
            continue
    return present


def outputs_stand(
    engine: Engine, statements: Sequence[Statement], present: Sequence[Release], made: Sequence[tuple[str, str]]
) -> bool:
    """Whether the releases are those that were made, and the files that were exported those that were certified."""
    if {(str(release.name), release.release_id) for release in present} != set(made):
        return False
    for statement in statements:
        if isinstance(statement, ExportRelease):
            try:
                export_at(engine, local_path(statement.path), tuple(suffixes().values()))
            except (SqlanonError, OSError):
                return False
    return True
