"""What a job has made: whether it still stands as it was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from sqlanon.catalog import releases
from sqlanon.domain.job import FinishedJob
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import SqlanonError
from sqlanon.export.formats.base import suffixes
from sqlanon.export.layout import report_path
from sqlanon.export.paths import local_path
from sqlanon.export.previous_export import file_hash
from sqlanon.export.reader import export_at
from sqlanon.releases.content import has_checked_rows
from sqlanon.releases.objects import require_own_columns
from sqlanon.syntax.statements import ExportRelease, Statement

__all__ = ["exported_digest", "outputs_stand", "standing_releases"]


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


def exported_digest(engine: Engine, statements: Sequence[Statement]) -> str:
    """The SHA-256 of the files that a script exports to, as they are; empty where one is not what was certified."""
    digest = hashlib.sha256()
    for statement in statements:
        if not isinstance(statement, ExportRelease):
            continue
        path = local_path(statement.path)
        try:
            export_at(engine, path, tuple(suffixes().values()))
            files = sorted(path.iterdir()) if path.is_dir() else [path, *_beside(path)]
            files += [report_path(statement.path)] if statement.report else []
            digest.update(json.dumps([[file.name, file_hash(file)] for file in files]).encode())
        except (SqlanonError, OSError):
            return ""
    return digest.hexdigest()


def _beside(path: Path) -> list[Path]:
    """The certificates of a data file that is not in a folder of its own."""
    return [path.with_name(f"{path.name}.certificate.{kind}") for kind in ("json", "md")]


def outputs_stand(
    engine: Engine, statements: Sequence[Statement], present: Sequence[Release], last: FinishedJob
) -> bool:
    """Whether the releases and the exported files are those that the last run has made."""
    made = {(str(release.name), release.release_id) for release in present}
    exported = exported_digest(engine, statements)
    return made == set(last.releases) and bool(exported) and exported == last.exported
