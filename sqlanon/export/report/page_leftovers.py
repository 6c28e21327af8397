"""The file that a page is written to before it takes its name, and those that killed runs have left.

A process that writes to such a file holds a lock on it. The system takes the lock away when the process ends, however
it ends.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlanon.export.report.markup import PAGE_HEAD

_NAME = re.compile(r"\.(.+)\.[0-9a-f]{8}", re.DOTALL)
_HEAD = PAGE_HEAD.encode()
# There an open file cannot take another name.
_IS_WINDOWS = os.name == "nt"


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}")


@contextmanager
def written_aside(path: Path, page: str) -> Iterator[Path]:
    """A new file beside the path with the page in it; removed whatever happens, unless it has taken another name.

    Only its owner may read it, or whoever may read the page that is at the path. Raises OSError where there cannot be
    one.
    """
    file, descriptor = _made(path)
    with _removed(file), _closed(descriptor):
        _share_as(path, descriptor)
        with open(descriptor, "w", encoding="utf-8", closefd=_IS_WINDOWS) as written:
            written.write(page)
        yield file


@contextmanager
def set_aside(path: Path) -> Iterator[None]:
    """Takes a page out of its place, and removes it at the end; it is back in its place where anything fails.

    A process killed meanwhile leaves it to the next that removes what killed ones have left. Raises OSError where it
    cannot be taken away.
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
    """Removes the pages in the folder of a path that no process writes any more; what cannot be removed stays.

    A file that has no page in it yet is one of them only if its name is that of a page at the path.
    """
    with suppress(OSError):
        for file in list(path.parent.iterdir()):
            if named := _NAME.fullmatch(file.name):
                with suppress(OSError):
                    _remove(file, may_be_empty=named[1] == path.name)


def _remove(file: Path, *, may_be_empty: bool) -> None:
    # Without locks nobody can tell whether somebody writes there.
    if sys.platform == "win32" or not stat.S_ISREG(os.lstat(file).st_mode):
        return
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        _lock(descriptor, wait=False)
        opened = os.fstat(descriptor)
        head = os.read(descriptor, len(_HEAD))
        is_page = head == _HEAD or (may_be_empty and _HEAD.startswith(head))
        # Between its opening and its lock it may have taken its name, and another may have been made.
        if is_page and opened.st_uid == os.getuid() and os.path.samestat(opened, os.lstat(file)):
            file.unlink()
    finally:
        os.close(descriptor)


def _made(path: Path) -> tuple[Path, int]:
    """Makes a file and locks it: between the two another process may have removed it, and another one is made."""
    while True:
        file = _aside(path)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        # Where there are no locks nobody removes it.
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
    """A descriptor of a file with a lock on it, None on Windows, where an open file keeps its name."""
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
        # On Windows it is closed by then.
        if descriptor is not None and not _IS_WINDOWS:
            os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = True) -> None:
    """Raises OSError where somebody else has it and it does not wait: nobody keeps one for longer than a page takes."""
    if sys.platform == "win32":
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
