"""The file of a report, alone or beside an export."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TypeVar

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.export.report.markup import GENERATOR
from sqlanon.export.report.page_leftovers import remove_leftovers, set_aside, written_aside

_T = TypeVar("_T")
# So much of a page has what says that it is a report.
_HEAD = 4096


def with_report(engine: Engine, name: QualifiedName, path: Path, export: Callable[[], _T], *, replace: bool) -> _T:
    """Exports a release, and writes its report to the path; returns what `export` does.

    The report is made before anything is written, and its file is written after the export is there. Raises what
    `report_page` and the export raise, and UserError for a file that is there unless `replace`, or cannot be written.
    """
    from sqlanon.export.report.page import report_page

    _require_free(path, replace)
    page = report_page(engine, name)
    exported = export()
    try:
        write_page(path, page)
    except UserError as error:
        raise UserError(f"{name} was exported, but {error.message}", hint="write it with sqlanon report") from None
    return exported


def _require_free(path: Path, replace: bool) -> None:
    if not os.path.lexists(path):
        return
    if not _is_own_report(path):
        raise UserError(f"{path} is there, and is no report of a release", hint="move it away, or export elsewhere")
    if not replace:
        raise UserError(f"{path} is there", hint="it is an earlier report: replace it with (REPLACE true)")


def _is_own_report(path: Path) -> bool:
    """Whether it is a report of a release, and no link to one."""
    try:
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as file:
            return GENERATOR.encode() in file.read(_HEAD)
    except OSError:
        return False


@contextmanager
def without_former(path: Path, *, replace: bool) -> Iterator[None]:
    """While a new export appears there is no report beside it, which would describe another one.

    One that is there is removed if it may be replaced, and stays where the export fails; anything else stays, too, and
    what killed runs have left goes. Raises OSError where a report cannot be removed.
    """
    remove_leftovers(path)
    with set_aside(path) if replace and _is_own_report(path) else nullcontext():
        yield


def write_page(path: Path, page: str) -> None:
    """Writes a page in the place of a file of this name; what was there stays where it fails.

    Raises UserError for a path that cannot be written.
    """
    remove_leftovers(path)
    try:
        with written_aside(path, page) as file:
            os.replace(file, path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None
