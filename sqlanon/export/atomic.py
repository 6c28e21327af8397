"""Writes files in a hidden folder, and renames them into place when they are complete.

A process killed at any time leaves either the old export or the new one. It may also leave a folder `.sqlanon-...` next
to the target, which the next export there removes.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlanon.errors import EngineError, UserError, not_encodable
from sqlanon.export.layout import UNFINISHED, Layout, content_names, file_hash, is_open, listed_files, require_free

# Exchanges two folders in one step, if the system has such a step.


_SWAP = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_CURRENT_FOLDER = -100  # AT_FDCWD
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM, errno.EXDEV)


def exchange(new: Path, target: Path) -> None:
    """Exchanges the folders `new` and `target`.

    Linux and macOS exchange folders in one step. If the system or the file system cannot, the exchange takes two steps:
    between them, the old folder is beside its place, and `recover` puts it back.
    """
    if _exchanged(new, target):
        return
    former = _former(target)
    os.rename(target, former)
    try:
        os.rename(new, target)
    except BaseException:
        os.rename(former, target)
        raise
    os.rename(former, new)


def recover(target: Path) -> None:
    """Puts back the old folder that a killed exchange in two steps left beside `target`; removes the old folder if
    `target` exists.
    """
    former = _former(target)
    if not former.is_dir():
        return
    if os.path.lexists(target):
        shutil.rmtree(former)
    else:
        os.rename(former, target)


def _former(target: Path) -> Path:
    return target.parent / (".sqlanon-former-" + hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16])


def _exchanged(new: Path, target: Path) -> bool:
    """Whether the operating system exchanged the two folders in one step."""
    if sys.platform not in ("linux", "darwin"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(new), os.fsencode(target)
    if hasattr(libc, "renameat2"):
        failed = libc.renameat2(_CURRENT_FOLDER, first, _CURRENT_FOLDER, second, _SWAP)
    elif hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(first, second, _SWAP)
    else:
        return False
    code = ctypes.get_errno()
    if failed and code not in _UNSUPPORTED:
        raise OSError(code, os.strerror(code), str(target))
    return not failed


# Errors that the user can correct; any other error, such as a full disk, is a problem of the machine.
_USERS = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENOTEMPTY,
    errno.EBUSY,
    errno.ENAMETOOLONG,
    errno.EISDIR,
    errno.ELOOP,
)


@dataclass(frozen=True)
class Staging:
    """The two folders of an export in progress: `files` holds the export alone, and `spill` a query's
    temporary files.
    """

    files: Path
    spill: Path


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Converts errors of the file system: to UserError if the user's path is the cause, otherwise to EngineError."""
    try:
        yield
    except OSError as error:
        kind = UserError if error.errno in _USERS else EngineError
        why = os.strerror(error.errno) if error.errno else "the system does not say why"
        raise kind(
            f"{path} cannot be written: {why}; nothing was exported",
            hint="choose another path, such as a new folder inside one that you may write to",
        ) from None
    except UnicodeEncodeError as error:
        raise not_encodable(error) from None


@contextmanager
def staging(layout: Layout) -> Iterator[Staging]:
    """Yields folders beside the target, on its file system, which only this user can open; they are always removed.

    Parent folders that were created for these folders are also removed if the export fails.
    """
    beside = layout.target.parent
    missing = _missing(beside)
    try:
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
        remove_leftovers(beside)
        with working_folder(beside) as outer:
            staged = Staging(outer / EXPORT, outer / SPILL)
            staged.files.mkdir()
            yield staged
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise
    # The certificates by which an earlier export was recognized are not needed any more.
    remove_leftovers(beside)


def _missing(folder: Path) -> list[Path]:
    """Returns the missing folders of a path, the innermost first."""
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    return missing


def put(files: Path, layout: Layout, *, replace: bool) -> None:
    """Renames the content of `files` into place, after it has reached the disk."""
    for path in (*files.rglob("*"), files):
        _sync(path)
    former = require_free(layout, replace=replace)
    if layout.is_folder:
        if former:
            _exchange(files, layout, former)
        else:
            # An empty folder may be there; a file that has appeared in it meanwhile makes this fail.
            os.rename(files, layout.target)
    else:
        _put_files(files, layout)
    _sync(layout.target.parent)


def _exchange(files: Path, layout: Layout, former: set[str]) -> None:
    """Exchanges the folders; undoes the exchange if a new file has appeared in the former folder in the meantime."""
    exchange(files, layout.target)
    if content_names(files) - former:
        exchange(files, layout.target)
        require_free(layout, replace=True)


def _put_files(files: Path, layout: Layout) -> None:
    """Renames files one by one, in an order in which no data file is ever beside another export's certificate.

    Certificates of the earlier export are set aside first; if the process is killed, they still identify its data file.
    """
    data, certificates = layout.data, layout.beside
    possible = (layout.certificate, layout.markdown, layout.dictionary)
    if not os.path.lexists(layout.target):
        _rename((*certificates, data), files, layout.folder)
        return
    aside = files.with_name(FORMER)
    aside.mkdir()
    present = [name for name in possible if os.path.lexists(layout.folder / name)]
    _rename(present, layout.folder, aside)
    try:
        _rename((data,), files, layout.folder)
    except OSError:
        _rename(present, aside, layout.folder)
        raise
    _rename(certificates, files, layout.folder)


def _rename(names: Sequence[str], source: Path, target: Path) -> None:
    for name in names:
        os.replace(source / name, target / name)


def _sync(path: Path) -> None:
    """Flushes a file, or the entries of a folder, to the disk."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# The working folder of an export, and leftover folders of killed exports.
#
# A process at work in such a folder holds a lock on it. The system releases the lock when the process ends, in any way.

# The contents of a working folder; nothing else is in it.
EXPORT, FORMER, SPILL = "export", "former", "spill"
_NAME = re.compile(re.escape(UNFINISHED) + "[0-9a-f]{16}")


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """Yields a new folder that only this user can open; it is removed unless the process is killed."""
    folder = beside / (UNFINISHED + secrets.token_hex(8))
    lock: int | None = None
    # A signal may end the run as soon as the folder exists.
    try:
        lock = _made(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _close(lock)


def remove_leftovers(beside: Path) -> None:
    """Removes working folders that no running process has locked; folders that cannot be removed stay.

    A folder also stays if it has the only certificate of a data file beside it, because this certificate identifies the
    file as an export.
    """
    with suppress(OSError):
        for folder in list(beside.iterdir()):
            if _NAME.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                with suppress(OSError):
                    _remove(folder)


def _remove(folder: Path) -> None:
    lock = _lock(folder)
    # If files cannot be locked, it is unknown whether a process works there.
    if lock is None:
        return
    try:
        locked = os.fstat(lock)
        # Between opening and locking, the folder may have been removed, and created again by a process that works in
        # it.
        is_still_there = os.path.samestat(locked, os.lstat(folder))
        is_ours = locked.st_uid == os.getuid() and set(os.listdir(folder)) <= {EXPORT, FORMER, SPILL}
        if is_still_there and is_ours and not _is_needed(folder):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        _close(lock)


def _is_needed(folder: Path) -> bool:
    return any(
        _describes(certificate, name, digest)
        for certificate in folder.glob("*/*.json")
        for name, digest in listed_files(certificate).items()
    )


def _describes(certificate: Path, name: str, digest: str) -> bool:
    """Whether a certificate in a working folder is the only certificate of a data file beside the folder."""
    beside = certificate.parents[2]
    file = beside / name
    if not file.is_file() or name in listed_files(beside / certificate.name):
        return False
    # Reading a database that is open here would release its locks.
    return is_open(file) or file_hash(file) == digest


def _made(folder: Path) -> int | None:
    """Creates and locks the folder, and creates it again if another export has removed it before it was locked."""
    while True:
        folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            lock = _lock(folder, wait=True)
            if folder.is_dir():
                return lock
            _close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int | None:
    """Locks the folder; returns a descriptor, or None if another process has the lock or if the system does not lock
    folders.

    If `wait`, it waits for another process, which keeps a lock only until it has removed a folder.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _close(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
