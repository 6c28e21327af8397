"""readers.toml: the readers of exports, each with the digest of a token, an expiry and the granted releases."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from sqlanon.domain.tokens import NO_DIGEST, new_token, token_digest
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_PREFIX = "sha256:"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SCHEMA = "main"
_LATER = "name a later last day: --expires"


@dataclass(frozen=True)
class FileReader:
    """A reader of the file."""

    name: str
    digest: str
    grants: frozenset[QualifiedName]
    expires: datetime | None


class ReadersFile:
    """The readers of a file, which is read again whenever it has changed.

    While the file cannot be read, nobody is admitted; `report` is called with the reason.
    """

    def __init__(self, path: Path, report: Callable[[str], None] = lambda text: None) -> None:
        self._path = path
        self._report = report
        self._lock = threading.Lock()
        self._readers = read_readers(path)
        self._state = _state(path)

    def authenticate(self, name: str, token: str) -> FileReader | None:
        """Returns the reader with this name and token; None for any other name or token, and after the expiry."""
        reader = self._current().get(name)
        digest = token_digest(token)
        is_right = hmac.compare_digest(digest, reader.digest if reader else NO_DIGEST)
        if reader is None or not is_right or (reader.expires is not None and datetime.now(UTC) >= reader.expires):
            return None
        return reader

    def not_served(self, releases: frozenset[QualifiedName]) -> list[tuple[str, QualifiedName]]:
        """Returns each reader with each granted release that is not one of these."""
        readers = self._current().values()
        return sorted((each.name, grant) for each in readers for grant in each.grants - releases)

    def _current(self) -> dict[str, FileReader]:
        with self._lock:
            state = _state(self._path)
            if state != self._state:
                self._state = state
                try:
                    self._readers = read_readers(self._path)
                except UserError as error:
                    self._readers = {}
                    self._report(f"nobody may read: {error}")
            return self._readers


def read_readers(path: Path) -> dict[str, FileReader]:
    """Returns the readers of a file by name. Raises UserError for a file that is not of this form."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"there is no file of readers {path}", hint="sqlanon token NAME --grant RELEASE makes it"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as TOML: {str(error).splitlines()[0]}") from None
    return {name: _reader(path, name, entry) for name, entry in content.items()}


def add_reader(
    path: Path,
    name: str,
    grants: Sequence[str],
    expires: date | None,
    *,
    token_file: Path | None = None,
    replace: bool = False,
) -> str:
    """Appends a reader to the file, which only its owner may read; returns the token, which is not stored.

    With `replace` a reader who is in the file gets a new token, keeps the grants and the expiry unless others are
    given, and the former token is not valid any more. With `token_file` the token is written to a new file that only
    its owner may read, or, with `replace`, in place of the former one.

    Raises UserError for an invalid name, for a last day in the past, for a reader who is in the file already or has no
    releases, and for a file of the token that is there already; nothing is changed then.
    """
    if not NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be the name of a reader",
            hint="letters, digits, _, . and -, at most 64, as in ana or j.doe",
        )
    if expires is not None and expires < datetime.now(UTC).date():
        raise UserError(f"{expires} is in the past: the token would never be valid", hint=_LATER)
    known = read_readers(path).get(name) if path.exists() else None
    former = None if known is None else tomllib.loads(path.read_text(encoding="utf-8"))[name]
    if known is not None and not replace:
        raise UserError(
            f"{path} already has a reader {name}", hint="--replace issues a new token and invalidates the old one"
        )
    if known is not None and expires is None and known.expires is not None and known.expires <= datetime.now(UTC):
        raise UserError(f"the expiry date of {name} is in the past: the token would never be valid", hint=_LATER)
    if token_file is not None and token_file.exists() and not replace:
        raise UserError(f"{token_file} exists already", hint="name another file, or overwrite it with --replace")
    if not grants and former is None:
        raise UserError(f"{name} has no release to read", hint="name each: --grant RELEASE")
    token = new_token()
    entry = {"token": f"{_PREFIX}{token_digest(token)}", "expires": expires, "releases": list(grants)}
    entry |= {key: value for key, value in (former or {}).items() if not entry[key]}
    with _replacing(token_file, f"{token}\n") if token_file is not None else nullcontext():
        if former is None:
            _append(path, _entry(name, entry))
        else:
            with _replacing(path, _without(path, name) + _entry(name, entry), like=path.stat()):
                pass
    return token


def _entry(name: str, entry: Mapping[str, Any]) -> str:
    """Returns the table of a reader in TOML."""
    expires = "" if entry["expires"] is None else f"expires = {entry['expires'].isoformat()}\n"
    releases = ", ".join(map(_quoted, entry["releases"]))
    return f"[{_quoted(name)}]\ntoken = {_quoted(entry['token'])}\n{expires}releases = [{releases}]\n"


def _append(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(("\n" if path.stat().st_size else "") + text)


def _without(path: Path, name: str) -> str:
    """Returns the text of a file of readers without the table of this reader.

    Raises UserError if the table cannot be removed safely, because its header does not have a line of its own.
    """
    text = path.read_text(encoding="utf-8")
    header = rf"[ \t]*\[[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*\][ \t]*(?:#.*)?$"
    match = re.search(rf"^{header}.*?(?=^[ \t]*\[|\Z)", text, re.MULTILINE | re.DOTALL)
    rest = text if match is None else f"{text[: match.start()].rstrip()}\n\n{text[match.end() :]}".lstrip("\n")
    expected = {other: entry for other, entry in tomllib.loads(text).items() if other != name}
    try:
        is_whole = tomllib.loads(rest) == expected
    except tomllib.TOMLDecodeError:
        is_whole = False
    if not is_whole:
        raise UserError(
            f"{path} has an entry of {name} in a form that sqlanon cannot rewrite", hint="remove the entry by hand"
        )
    return f"{rest.rstrip()}\n\n" if rest.strip() else ""


@contextmanager
def _replacing(path: Path, text: str, like: os.stat_result | None = None) -> Iterator[None]:
    """Writes a text beside a file, and renames it in place of the file at the end of the block, unless that fails.

    The file has the permissions and the owner of `like`; without it, its owner alone may read it.
    """
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if like is not None:
                os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
            os.fsync(descriptor)
        yield
        os.replace(beside, target)
    finally:
        with suppress(OSError):
            beside.unlink()


def _reader(path: Path, name: str, entry: object) -> FileReader:
    if not NAME.fullmatch(name) or not isinstance(entry, dict):
        raise UserError(f"{path}: {name!r} must be a table with a valid reader's name")
    if unknown := entry.keys() - {"token", "expires", "releases"}:
        raise UserError(f"{path}: the reader {name} has an unknown key {min(unknown)}")
    digest, releases = entry.get("token"), entry.get("releases")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise UserError(
            f"{path}: the token of {name} is not a SHA-256 digest",
            hint='write "sha256:" and 64 digits; never the token itself',
        )
    if not isinstance(releases, list) or not all(isinstance(each, str) for each in releases):
        raise UserError(f"{path}: the releases of {name} must be a list of names")
    grants = frozenset(QualifiedName((_SCHEMA, each.removeprefix(f"{_SCHEMA}."))) for each in releases)
    return FileReader(name, digest.removeprefix(_PREFIX), grants, _expiry(path, name, entry.get("expires")))


def _expiry(path: Path, name: str, value: Any) -> datetime | None:
    """Returns the time of the expiry; a date is valid until its end, in UTC."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC) + timedelta(days=1)
    raise UserError(f"{path}: the expiry of {name} is not a date")


def _quoted(text: str) -> str:
    """Returns a basic string of TOML."""
    escaped = "".join(f"\\u{ord(c):04x}" if c in '"\\' or ord(c) < 32 or ord(c) == 127 else c for c in text)
    return f'"{escaped}"'


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
