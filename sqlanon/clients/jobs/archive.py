"""Copies of what a job has exported, a folder for each run; the oldest are removed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.errors import UserError
from sqlanon.export.formats.base import suffixes
from sqlanon.export.layout import local_path, names_of_export
from sqlanon.export.opening import export_at
from sqlanon.statements.base import Statement
from sqlanon.statements.releases.export_release import ExportRelease

_MOMENT = re.compile(r"\d{8}T\d{6}\.\d{6}Z")
_UNFINISHED = ".unfinished-"


def archived(engine: Engine, statements: Sequence[Statement], folder: Path) -> Path | None:
    """Copies the files that a script exports into a new folder, named after the moment; None if it exports none.

    The copies are compared with their certificates before the folder takes its name. Raises UserError for an export
    whose files cannot be copied, and PrivacyViolation for copies that are not what was certified.
    """
    exports = [each.path for each in statements if isinstance(each, ExportRelease)]
    paths = [local_path(path) for path in exports if not is_database_url(path)]
    if not paths:
        return None
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    unfinished = folder / f"{_UNFINISHED}{moment}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)
        unfinished.mkdir()
        for path in dict.fromkeys(paths):
            export_at(engine, _copied(path, unfinished), tuple(suffixes().values()))
        unfinished.rename(folder / moment)
    except OSError as error:
        raise UserError(f"the export cannot be copied to {folder}: {error.strerror}") from None
    return folder / moment


def _copied(path: Path, folder: Path) -> Path:
    """The copy of an export, a folder or a data file with its certificates."""
    target = folder / path.name
    if os.path.lexists(target):
        raise UserError(f"two exports are called {path.name}", hint="archive exports of different names")
    if path.is_dir():
        shutil.copytree(path, target)
        return target
    for name in names_of_export(path):
        shutil.copy2(path.with_name(name), folder / name)
    return target


def remove_oldest(run: Path, most: int) -> list[Path]:
    """Removes runs that were archived before `run` until its folder has `most` of them; returns the removed ones.

    `run` itself always stays. Runs that are named after a later moment were archived before the clock was set back, so
    they are removed first. Only folders that `archived` has named are removed. Raises UserError for one that cannot be.
    """
    folder = run.parent
    earlier = (path for path in folder.glob("*") if path.is_dir() and _MOMENT.fullmatch(path.name) and path != run)
    in_order = sorted(earlier, key=lambda path: (path.name < run.name, path.name))
    oldest = in_order[: max(len(in_order) + 1 - most, 0)]
    try:
        for path in oldest:
            shutil.rmtree(path)
    except OSError as error:
        raise UserError(f"{folder} has runs that cannot be removed: {error.strerror}") from None
    return oldest
