"""Exchanges two folders in one step, where the system has such a step."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
import sys
from pathlib import Path

_SWAP = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_CURRENT_FOLDER = -100  # AT_FDCWD
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM, errno.EXDEV)


def exchange(new: Path, target: Path) -> None:
    """Puts the folder `new` in the place of `target`, whose content then lies at `new`.

    Linux and macOS do it in one step. Where they or the file system cannot, it takes
    two: between them the old folder lies beside its place, and `recover` puts it back.
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
    """Puts back what a killed exchange in two steps left beside `target`, or removes it if the new folder made it."""
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
    """Whether the system exchanged the two."""
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
