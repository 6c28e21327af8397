"""Tells a former export from files that are somebody else's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

__all__ = ["CERTIFICATE_FORMAT", "MARKDOWN_TITLE", "former_files", "is_certificate", "is_markdown", "is_own_file"]

CERTIFICATE_FORMAT = "sqlanon export certificate"
MARKDOWN_TITLE = "# Certificate of the release "


def former_files(folder: Path, certificate: str, markdown: str) -> set[str]:
    """The files of the export that a folder holds, by its certificate; empty if it has none that can be read."""
    read = folder / certificate
    known = {certificate, markdown, *_listed(read)} if is_certificate(read) else set()
    return {name for name in known if is_own_file(folder / name)}


def is_own_file(file: Path) -> bool:
    """Whether it is a regular file, not a link to one."""
    return file.is_file() and not file.is_symlink()


def is_certificate(file: Path) -> bool:
    return is_own_file(file) and _content(file).get("format") == CERTIFICATE_FORMAT


def is_markdown(file: Path) -> bool:
    try:
        return is_own_file(file) and file.read_text(encoding="utf-8").startswith(MARKDOWN_TITLE)
    except (OSError, ValueError):
        return False


def _listed(certificate: Path) -> Iterator[str]:
    files = _content(certificate).get("files")
    for entry in files if isinstance(files, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield entry["name"]


def _content(file: Path) -> dict[str, object]:
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}
