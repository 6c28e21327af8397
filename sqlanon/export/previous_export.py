"""Tells an earlier export from files that are somebody else's.

A data file is one of an export if a certificate says so: the one beside it, by the file's hash, or the one that it
carries itself. A file that was changed since is its owner's.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sqlanon.errors import SqlanonError
from sqlanon.export.certificate_format import Certificate, RepeatedMemberError, certificate_content, certificate_of
from sqlanon.export.formats.base import export_format, suffixes
from sqlanon.export.markdown import MARKDOWN_TITLE

# How the names of folders begin in which exports are written; a killed one leaves its own.
UNFINISHED = ".sqlanon-"

# Where a system shows which files this process has open.
_OPEN = ("/proc/self/fd", "/dev/fd")


def file_hash(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def is_open(path: Path) -> bool:
    """Whether this process has the file open, under whatever name. False where the system does not show it.

    The file itself is not opened: to close it again would give up the locks that a database holds on it.
    """
    with suppress(OSError):
        file_status = os.stat(path)
        for folder in filter(os.path.isdir, _OPEN):
            return any(os.path.samestat(file_status, status) for status in _described(folder))
    return False


def _described(folder: str) -> Iterator[os.stat_result]:
    for name in os.listdir(folder):
        # The descriptor by which the folder itself was read is closed by now.
        with suppress(OSError, ValueError):
            yield os.fstat(int(name))


def why_not_data(file: Path, certificate: Path) -> str | None:
    """What speaks against a file's being the data file of an export whose certificate stands there; None if nothing."""
    try:
        if not _is_own(file):
            return "is no file of its own"
        if is_open(file):
            return "is open in this process"
        if (said := _certified(file, certificate)) is not None:
            return None if said else "was changed since it was exported"
        # A killed export may have left its certificates where it was to rename them.
        left = file.parent.glob(f"{UNFINISHED}*/*/{glob.escape(certificate.name)}")
        if _carries_certificate(file) or any(_certified(file, certificate_left) for certificate_left in left):
            return None
    except OSError:
        return "cannot be read"
    return "has no certificate of an export"


def why_not_certificate(file: Path) -> str | None:
    """What speaks against a file's being the JSON certificate of an export; None if nothing."""
    return None if _is_own(file) and _content(file) else "is no certificate of an export"


def why_not_markdown(file: Path) -> str | None:
    """What speaks against a file's being the Markdown certificate of an export; None if nothing."""
    with suppress(OSError, ValueError):
        if _is_own(file) and file.read_text(encoding="utf-8").startswith(MARKDOWN_TITLE):
            return None
    return "is no certificate of an export"


def listed_files(certificate: Path) -> dict[str, str]:
    """The data files and the dictionary that a certificate names, with their hashes; none if it is no certificate."""
    content = _content(certificate) if _is_own(certificate) else {}
    files, dictionary = content.get("files"), content.get("dictionary")
    named = [*(files if isinstance(files, list) else []), dictionary]
    entries = [entry for entry in named if isinstance(entry, dict)]
    return {str(entry.get("name")): str(entry.get("sha256")) for entry in entries}


def _certified(file: Path, certificate: Path) -> bool | None:
    """Whether a certificate names the file as it is; None if it does not name it."""
    folder = certificate.parent
    name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
    expected = listed_files(certificate).get(name)
    return None if expected is None else file_hash(file) == expected


def _carries_certificate(file: Path) -> bool:
    format_ = suffixes().get(file.suffix.lower())
    if format_ is None:
        return False
    try:
        texts = export_format(format_).carried(file)
        return len(texts) == 1 and bool(_stated(texts[0]))
    except SqlanonError:
        # Whatever it is, it is nothing that an export wrote.
        return False


def _is_own(file: Path) -> bool:
    """Whether it is a regular file, not a link to one."""
    return file.is_file() and not file.is_symlink()


def previous_certificate(file: Path) -> Certificate | None:
    """The certificate of an earlier export; None if the file is none, or one of another format."""
    with suppress(ValueError):
        return certificate_of(_content(file))
    return None


def _content(file: Path) -> dict[str, object]:
    """The content of a certificate; empty if the file is no certificate."""
    with suppress(OSError, ValueError):
        return _stated(file.read_text(encoding="utf-8"))
    return {}


def _stated(text: str) -> dict[str, object]:
    try:
        return certificate_content(text)
    except RepeatedMemberError:
        return {}
