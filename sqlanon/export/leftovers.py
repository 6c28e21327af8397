"""The folder that an export works in, and those that killed exports have left.

A process at work in such a folder holds a lock on it. The system takes the lock away when the process ends, however
it ends.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlanon.export.previous_export import UNFINISHED, file_hash, is_open, listed_files

# What stands in it, and nothing else.
EXPORT, FORMER, SPILL = "export", "former", "spill"
_NAME = re.compile(re.escape(UNFINISHED) + "[0-9a-f]{16}")


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """A new folder that only this user can open, removed whatever happens, unless the process is killed."""
    folder = beside / (UNFINISHED + secrets.token_hex(8))
    lock: int | None = None
    # A signal may end the run as soon as the folder is there.
    try:
        lock = _made(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _close(lock)


def remove_leftovers(beside: Path) -> None:
    """Removes the working folders there that no process holds any more; what cannot be removed stays.

    A folder with the only certificate of a data file beside it stays, too: it tells the file from somebody else's.
    """
    with suppress(OSError):
        for folder in list(beside.iterdir()):
            if _NAME.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                with suppress(OSError):
                    _remove(folder)


def _remove(folder: Path) -> None:
    lock = _lock(folder)
    # Without a lock nobody can tell whether somebody works there.
    if lock is None:
        return
    try:
        locked = os.fstat(lock)
        # Between its opening and its lock the folder may have been removed, and made again by one who works in it now.
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
    """Whether a certificate in a working folder is that of a file beside the folder, which has none there."""
    beside = certificate.parents[2]
    file = beside / name
    if not file.is_file() or name in listed_files(beside / certificate.name):
        return False
    # To read a database that is open here would give up its locks.
    return is_open(file) or file_hash(file) == digest


def _made(folder: Path) -> int | None:
    """Makes the folder and locks it: between the two another export may have removed it, and it is made again."""
    while True:
        folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            lock = _lock(folder, wait=True)
            if folder.is_dir():
                return lock
            _close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int | None:
    """A lock on the folder, as a descriptor; None where somebody else has it, or the system has no locks for folders.

    `wait` is for a lock that somebody else has: nobody keeps one for longer than it takes to remove a folder.
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
