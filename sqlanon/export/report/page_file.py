"""The file of a report, by itself or beside an export."""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.export.report.markup import GENERATOR, PAGE_HEAD

# The file of a page before it takes its name, and leftover files of killed runs.
#
# A process that writes to such a file holds a lock on it. The system releases the lock when the process ends, in any
# way.


_NAME = re.compile(r"\.(.+)\.[0-9a-f]{8}", re.DOTALL)
_HEAD_PAGE_LEFTOVERS = PAGE_HEAD.encode()
# On Windows an open file cannot be renamed.
_IS_WINDOWS = os.name == "nt"


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}")


@contextmanager
def written_aside(path: Path, page: str) -> Iterator[Path]:
    """Yields a new file beside the path with the page in it; it is removed unless it has been renamed.

    Only its owner can read it, or else the readers of an existing page at the path. Raises OSError if the file cannot
    be created.
    """
    file, descriptor = _made(path)
    with _removed(file), _closed(descriptor):
        _share_as(path, descriptor)
        with open(descriptor, "w", encoding="utf-8", newline="\n", closefd=_IS_WINDOWS) as written:
            written.write(page)
        yield file


@contextmanager
def set_aside(path: Path) -> Iterator[None]:
    """Moves a page aside, and removes it at the end; puts it back if the block fails.

    If the process is killed, the next call of `remove_leftovers` removes it. Raises OSError if the page cannot be
    moved.
    """
    file = _aside(path)
    with _closed(_locked(path)):
        os.rename(path, file)
        try:
            yield
        except BaseException:
            if not os.path.lexists(path):
                os.rename(file, path)
            raise
        with suppress(OSError):
            file.unlink(missing_ok=True)


def remove_leftovers(path: Path) -> None:
    """Removes the pages in the folder of a path that no process is writing any more; files that cannot be removed stay.

    A file that does not contain a page yet is removed only if its name belongs to a page at the path.
    """
    with suppress(OSError):
        for file in list(path.parent.iterdir()):
            if named := _NAME.fullmatch(file.name):
                with suppress(OSError):
                    _remove(file, may_be_empty=named[1] == path.name)


def _remove(file: Path, *, may_be_empty: bool) -> None:
    # If files cannot be locked, it is unknown whether a process writes there.
    if sys.platform == "win32" or not stat.S_ISREG(os.lstat(file).st_mode):
        return
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        _lock(descriptor, wait=False)
        opened = os.fstat(descriptor)
        head = os.read(descriptor, len(_HEAD_PAGE_LEFTOVERS))
        is_page = head == _HEAD_PAGE_LEFTOVERS or (may_be_empty and _HEAD_PAGE_LEFTOVERS.startswith(head))
        # Between opening and locking it may have been renamed, and another file may have its name.
        if is_page and opened.st_uid == os.getuid() and os.path.samestat(opened, os.lstat(file)):
            file.unlink()
    finally:
        os.close(descriptor)


def _made(path: Path) -> tuple[Path, int]:
    """Creates and locks a file, and creates it again if another process has removed it before it was locked."""
    while True:
        file = _aside(path)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        # Without locks no process removes it.
        with suppress(OSError):
            _lock(descriptor)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.lstat(file)):
                return file, descriptor
        os.close(descriptor)


def _share_as(path: Path, descriptor: int) -> None:
    """Gives an open file the permissions to read and write of the regular file at a path, if there is one."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode):
            os.fchmod(descriptor, stat.S_IMODE(mode) & 0o666)


def _locked(path: Path) -> int | None:
    """Opens a file and locks it; returns the descriptor, or None on Windows, because an open file cannot be renamed
    there.
    """
    if sys.platform == "win32":
        return None
    descriptor = os.open(path, os.O_RDONLY)
    with suppress(OSError):
        _lock(descriptor)
    return descriptor


@contextmanager
def _removed(file: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)


@contextmanager
def _closed(descriptor: int | None) -> Iterator[None]:
    try:
        yield
    finally:
        # On Windows it is closed already.
        if descriptor is not None and not _IS_WINDOWS:
            os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = True) -> None:
    """Locks an open file. Raises OSError if another process has the lock; a lock lasts only until the page is
    written.
    """
    if sys.platform == "win32":
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


_T = TypeVar("_T")
# The number of bytes at the beginning of a page in which a report is recognized.
_HEAD = 4096


def with_report(engine: Engine, name: QualifiedName, path: Path, export: Callable[[], _T], *, replace: bool) -> _T:
    """Exports a release, and writes its report to the path; returns the result of `export`.

    The report is made before anything is written, and its file is written after the export. Raises the errors of
    `report_page` and of the export, and UserError for an existing file unless `replace`, or for a file that cannot be
    written.
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
        raise UserError(f"{path} exists, and is not a report of a release", hint="move it away, or export elsewhere")
    if not replace:
        raise UserError(f"{path} exists already", hint="it is an earlier report: replace it with (REPLACE true)")


def _is_own_report(path: Path) -> bool:
    """Whether a path is a report of a release instead of a link."""
    try:
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as file:
            return GENERATOR.encode() in file.read(_HEAD)
    except OSError:
        return False


@contextmanager
def without_former(path: Path, *, replace: bool) -> Iterator[None]:
    """Ensures that a report of the former export is not beside a new export.

    If `replace` is true, an earlier report is removed, and is put back if the export fails; any other file stays.
    Leftovers of killed runs are also removed. Raises OSError if a report cannot be removed.
    """
    remove_leftovers(path)
    with set_aside(path) if replace and _is_own_report(path) else nullcontext():
        yield


def write_page(path: Path, page: str) -> None:
    """Writes a page, or a script, in place of any file of this name; the earlier file stays if writing fails.

    Raises UserError for a path that cannot be written.
    """
    remove_leftovers(path)
    try:
        with written_aside(path, page) as file:
            os.replace(file, path)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}",
            hint="a relative path begins in the folder in which sqlanon runs, and its folder must exist",
        ) from None
