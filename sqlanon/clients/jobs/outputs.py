"""What a job has made: whether it still stands as it was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlanon.catalog import releases
from sqlanon.domain.release import Release
from sqlanon.domain.series import FinishedJob
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.errors import SqlanonError
from sqlanon.export.formats.base import suffixes
from sqlanon.export.layout import content_names, file_hash, local_path, names_of_export, report_path
from sqlanon.export.opening import export_at
from sqlanon.release.existing.objects import has_checked_rows, require_own_columns
from sqlanon.statements.base import Statement
from sqlanon.statements.releases.export_release import ExportRelease


@dataclass(frozen=True)
class Outputs:
    """The releases of a job that stand as they were made, and the SHA-256 of the files that it exports to.

    `exported` is None where one of these is not what was certified.
    """

    releases: tuple[Release, ...]
    exported: str | None

    def recorded(self, job: FinishedJob) -> FinishedJob:
        """The job with what it has made."""
        made = tuple((str(release.name), release.release_id) for release in self.releases)
        return replace(job, releases=made, exported=self.exported or "")

    def are_of(self, last: FinishedJob) -> bool:
        """Whether they are those that the last run has made."""
        return self.exported is not None and self.recorded(last) == last


def outputs_of(engine: Engine, statements: Sequence[Statement], names: Sequence[QualifiedName]) -> Outputs:
    """What a script has made, of which `names` are the releases; each is read once."""
    return Outputs(tuple(_standing_releases(engine, names)), _exported(engine, statements))


def _standing_releases(engine: Engine, names: Sequence[QualifiedName]) -> Iterator[Release]:
    for name in names:
        # It is gone, or something else has its name: the job has to make it again.
        with suppress(SqlanonError):
            release = releases.load(engine, name)
            require_own_columns(engine, release)
            if has_checked_rows(engine, release):
                yield release


def _exported(engine: Engine, statements: Sequence[Statement]) -> str | None:
    digest = hashlib.sha256()
    for statement in statements:
        if not isinstance(statement, ExportRelease):
            continue
        if is_database_url(statement.path):
            # Nobody can tell without reading all of it, which takes as long as to write it.
            return None
        path = local_path(statement.path)
        try:
            export_at(engine, path, tuple(suffixes().values()))
            folder = path if path.is_dir() else path.parent
            files = content_names(path) if path.is_dir() else set(names_of_export(path))
            hashes = [[name, file_hash(folder / name)] for name in sorted(files)]
            hashes += [["report", file_hash(report_path(statement.path))]] if statement.report else []
            digest.update(json.dumps(hashes).encode())
        except (SqlanonError, OSError):
            return None
    return digest.hexdigest()
