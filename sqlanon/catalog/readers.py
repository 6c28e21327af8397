"""Readers, rows of `anon.reader`, and their grants, rows of `anon.reader_grant`.

The catalog keeps the SHA-256 of a token, never the token.

A grant is for one release, by its `release_id` and its name. Another release that takes the name later is not granted.
Rows of revoked grants and of dropped readers stay, because later warnings have to count what a reader has already read.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from sqlglot import exp

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import write_sources
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.release import Release
from sqlanon.domain.tokens import new_token, token_digest
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.sql_files import sql_file

_DIGEST = re.compile(r"[0-9a-f]{64}")
_GRANTED = "granted"


@dataclass(frozen=True)
class Reader:
    """A person or a program that may query releases; `expires_on` is the last day, in UTC, on which the token is
    valid.
    """

    reader_id: str
    reader: str
    token_sha256: str
    expires_on: date | None
    dropped_at: datetime | None = None

    def has_expired(self, today: date | None = None) -> bool:
        """Whether the last day of the token is over, in UTC."""
        return self.expires_on is not None and (today or today_in_utc()) > self.expires_on


@dataclass(frozen=True)
class Grant:
    """A grant that was not revoked. `state` is 'granted', or the reason why the grant is void."""

    reader_id: str
    reader: str
    release_id: str
    schema_name: str
    object_name: str
    kind: str
    state: str
    granted_at: datetime
    expires_on: date | None

    @property
    def release(self) -> QualifiedName:
        return QualifiedName((self.schema_name, self.object_name))

    @property
    def holds(self) -> bool:
        """Whether the granted release still exists."""
        return self.state == _GRANTED


def today_in_utc() -> date:
    return datetime.now(UTC).date()


def create(engine: Engine, name: str, expires_on: date | None) -> str:
    """Records a new reader without grants; returns the token, which is not stored."""
    token = new_token()
    row = {"reader_id": secrets.token_hex(16), "reader": name, "token_sha256": token_digest(token)}
    _rows.insert(engine, "reader", [{**row, "expires_on": expires_on}])
    return token


def renew(engine: Engine, reader: Reader) -> str:
    """Replaces the token of a reader; returns the new token. The old token is no longer valid."""
    token = new_token()
    _rows.update(engine, "reader", {"token_sha256": token_digest(token)}, {"reader_id": reader.reader_id})
    return token


def set_expiry(engine: Engine, reader: Reader, expires_on: date | None) -> None:
    """Replaces the last day of a reader's token; None means no last day."""
    _rows.update(engine, "reader", {"expires_on": expires_on}, {"reader_id": reader.reader_id})


def all_readers(engine: Engine) -> list[Reader]:
    """Returns the readers that were not dropped, in the order in which they were made."""
    rows = _rows.read(engine, "reader", Reader) if migrations.ready(engine) else []
    return [row for row in rows if row.dropped_at is None]


def listing(engine: Engine) -> list[str]:
    """Returns the names of the readers that were not dropped."""
    return [reader.reader for reader in all_readers(engine)]


def find(engine: Engine, name: str) -> Reader | None:
    """Returns the reader of this name, None if there is no such reader or if it was dropped.

    Raises CatalogError if several readers have the name, or if the row has no digest of a token.
    """
    of_name = [reader for reader in all_readers(engine) if fold(reader.reader) == fold(name)]
    if len(of_name) > 1:
        raise CatalogError(
            f"reader {name} has {len(of_name)} rows in anon.reader", hint="DROP READER deletes all of them"
        )
    if of_name and not is_usable(of_name[0]):
        raise CatalogError(
            f"reader {name}: its token_sha256 in anon.reader is not the SHA-256 of a token",
            hint="DROP READER, then CREATE READER again",
        )
    return of_name[0] if of_name else None


def is_usable(reader: Reader) -> bool:
    """Whether the row of a reader has a digest that a token can have."""
    return isinstance(reader.token_sha256, str) and _DIGEST.fullmatch(reader.token_sha256) is not None


def load(engine: Engine, name: str) -> Reader:
    """Returns the reader of this name. Raises UserError, with a similar name, if there is no such reader."""
    reader = find(engine, name)
    if reader is None:
        hint = nearest(name, listing(engine)) or "make one with CREATE READER name"
        raise UserError(f"there is no reader {name}", hint=hint, part=("reader",))
    return reader


def exists(engine: Engine, name: str) -> bool:
    """Whether a reader of this name exists, even if the rest of its row is invalid."""
    return fold(name) in map(fold, listing(engine))


def delete(engine: Engine, name: str) -> None:
    """Drops a reader: its token is no longer valid, and its grants on releases and budgets are revoked. The rows
    stay.
    """
    dropped: dict[str, object] = {"dropped_at": f.call("make_timestamp", f.call("epoch_us", exp.CurrentTimestamp()))}
    query = exp.update(relation(("anon", "reader")), dropped, where=column("reader_id").eq(exp.Placeholder()))
    for reader in all_readers(engine):
        if fold(reader.reader) == fold(name):
            engine.rows(sql_file("catalog", "queries", "revoke_grants"), [reader.reader_id, None, None])
            engine.rows(sql_file("catalog", "queries", "revoke_budget_grants"), [reader.reader_id, None])
            engine.run(query, [reader.reader_id])


def grant(engine: Engine, reader: Reader, release: Release) -> bool:
    """Grants a release to a reader; returns False if the reader has it already."""
    if any(former.release_id == release.release_id and former.holds for former in grants(engine, reader)):
        return False
    schema, name = release.name.parts
    row: dict[str, object] = {"reader_id": reader.reader_id, "release_id": release.release_id}
    row |= {"schema_name": schema, "object_name": name, "kind": release.kind, "method": release.method}
    row |= {"sources": write_sources(release.sources), "granted_at": datetime.now(UTC).replace(tzinfo=None)}
    _rows.insert(engine, "reader_grant", [row])
    return True


def revoke(engine: Engine, reader: Reader, name: QualifiedName) -> bool:
    """Revokes all grants of a reader on releases of this schema and name, including void grants; returns whether there
    was a grant.
    """
    parameters = [reader.reader_id, *map(fold, name.parts)]
    return bool(engine.rows(sql_file("catalog", "queries", "revoke_grants"), parameters))


def grants(engine: Engine, reader: Reader | None = None) -> list[Grant]:
    """Returns the grants of all readers, or of one reader, that were not revoked; from the oldest on."""
    if not migrations.ready(engine):
        return []
    all_grants = [Grant(*row) for row in engine.rows(sql_file("catalog", "queries", "grants"))]
    return [each for each in all_grants if reader is None or each.reader_id == reader.reader_id]


def granted_ids(engine: Engine, name: str) -> frozenset[str]:
    """Returns the ids of all releases that readers of this name were ever granted."""
    return frozenset(str(row[0]) for row in engine.rows(sql_file("catalog", "queries", "releases_held"), [fold(name)]))


@dataclass(frozen=True)
class Access:
    """The access of one reader: the granted releases that still exist, as (release_id, name)."""

    reader: Reader
    releases: frozenset[tuple[str, QualifiedName]]


def access(engine: Engine) -> list[Access]:
    """Returns the access of each reader with a valid row; if a name occurs twice, no reader of this name has access.

    Expired readers are included, because the day may change before the next reading.
    """
    readers = all_readers(engine)
    names = [fold(reader.reader) for reader in readers]
    valid_grants = [each for each in grants(engine) if each.holds]
    return [
        Access(
            reader,
            frozenset((each.release_id, each.release) for each in valid_grants if each.reader_id == reader.reader_id),
        )
        for reader in readers
        if is_usable(reader) and names.count(fold(reader.reader)) == 1
    ]


def counts(engine: Engine) -> Iterator[tuple[Any, ...]]:
    """Yields a row for each reader: the last day of the token, the number of releases, the state, and the time of
    CREATE READER.
    """
    today = today_in_utc()
    for name, expires_on, releases, created_at in engine.rows(sql_file("catalog", "queries", "readers")):
        state = "expired" if expires_on is not None and today > expires_on else "open"
        created = created_at.isoformat(sep=" ", timespec="seconds")
        yield name, None if expires_on is None else expires_on.isoformat(), releases, state, created
