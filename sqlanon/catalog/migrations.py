"""Brings the catalog, the schema `anon`, to the version that this sqlanon reads and writes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from sqlanon.assets import listing
from sqlanon.catalog._rows import in_order
from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.reads import search_path
from sqlanon.engines.statement_memo import TRANSACTION, remember, reread_session
from sqlanon.errors import CatalogError, InternalError
from sqlanon.sql.build.render import InstalledScript
from sqlanon.sql.build.sql_files import sql_file

_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
# version, slug and sha256 of anon.schema_version.
_MIGRATION_COLUMNS = 3


# The engine whose catalog was current at the beginning of the running statement.
_found_ready: ContextVar[Engine | None] = ContextVar("_found_ready", default=None)


@dataclass(frozen=True)
class Migration:
    """One step from a version of the catalog to the next."""

    version: int
    slug: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.version:04d}_{self.slug}"


class Condition(StrEnum):
    """The state of a database's catalog, compared with the catalog that this version of sqlanon writes."""

    ABSENT = "absent"
    CURRENT = "current"
    OLDER = "older"
    NEWER = "newer"
    CHANGED = "changed"
    FOREIGN = "foreign"


@dataclass(frozen=True)
class State:
    """The condition of a catalog, its version, and, for CHANGED and FOREIGN, the reason."""

    condition: Condition
    version: int = 0
    detail: str = ""


@cache
def known_migrations() -> tuple[Migration, ...]:
    """Returns the migrations that ship with sqlanon, sql/catalog/NNNN_slug.sql, in order."""
    migrations = []
    for name in listing("sql", "catalog"):
        match = _FILE.fullmatch(name)
        if not match:
            raise InternalError(f"sql/catalog/{name} is not named NNNN_slug.sql")
        migrations.append(Migration(int(match[1]), match[2], sql_file("catalog", name.removesuffix(".sql"))))
    if [migration.version for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise InternalError("the migrations under sql/catalog are not numbered 1, 2, 3, ...")
    return tuple(migrations)


def state(engine: Engine, known: Sequence[Migration] | None = None) -> State:
    """Compares the catalog of the current database with the migrations `known` (those that ship)."""
    steps = known_migrations() if known is None else tuple(known)
    now = reread_session(engine)
    if any(fold(database) == "anon" for database in now.databases):
        return State(Condition.FOREIGN, detail="a database named anon is attached, which hides the schema anon")
    others = [other for other, schema in search_path(now.database, now.search_path) if fold(schema) == "anon"]
    if any(fold(other) != fold(now.database) for other in others):
        return State(Condition.FOREIGN, detail=f"the search path names the schema anon of the database {others[0]}")
    if not now.anon_columns:
        return State(Condition.ABSENT)
    if now.migration_columns != _MIGRATION_COLUMNS:
        return State(Condition.FOREIGN, detail="the schema anon holds tables that sqlanon did not make")
    rows = engine.rows(sql_file("catalog", "queries", "applied_migrations"))
    for *_, transaction in rows[:1]:
        remember(engine, TRANSACTION, [(transaction,)])
    return _compare([(version, slug, digest) for version, slug, digest, _ in in_order(rows, 1)], steps)


def _compare(applied: Sequence[tuple[int, str, str]], known: Sequence[Migration]) -> State:
    versions = [version for version, _, _ in applied]
    last = max((version for version in versions if isinstance(version, int)), default=0)
    for (version, slug, digest), migration in zip(applied, known, strict=False):
        if version == migration.version and (slug, digest) != (migration.slug, migration.sha256):
            return State(Condition.CHANGED, last, f"migration {version:04d}_{slug} is not the one that sqlanon ships")
    if not versions or versions != list(range(1, last + 1)):
        return State(Condition.CHANGED, last, "rows of anon.schema_version are missing or repeated")
    if last > len(known):
        return State(Condition.NEWER, last)
    return State(Condition.OLDER if last < len(known) else Condition.CURRENT, last)


def ready(engine: Engine, known: Sequence[Migration] | None = None) -> bool:
    """Whether there is a catalog to read; False if the database has none yet.

    Raises CatalogError, with the remedy, for a catalog of another version, a changed catalog, or a schema anon that
    sqlanon did not create.
    """
    if known is None and _found_ready.get() is engine:
        return True
    steps = known_migrations() if known is None else known
    current = state(engine, steps)
    if current.condition is Condition.OLDER:
        raise CatalogError(
            f"this database has a catalog of version {current.version}, and this sqlanon reads version {len(steps)}",
            hint="run `sqlanon migrate FILE`",
        )
    _refuse_unknown(current, len(steps))
    return current.condition is Condition.CURRENT


@contextmanager
def known_to_be_ready(engine: Engine) -> Iterator[None]:
    """Skips further checks of the catalog within the block, after `ready` has found it current."""
    token = _found_ready.set(engine)
    try:
        yield
    finally:
        _found_ready.reset(token)


def require_current(engine: Engine, known: Sequence[Migration] | None = None) -> None:
    """Raises CatalogError unless the catalog is current or absent; see `ready`."""
    ready(engine, known)


def _refuse_unknown(current: State, known: int) -> None:
    """Raises CatalogError for a catalog that no migration can update."""
    if current.condition is Condition.NEWER:
        raise CatalogError(
            f"this file was written by a newer sqlanon (catalog version {current.version}, this sqlanon reads "
            f"versions up to {known})",
            hint="upgrade sqlanon",
        )
    if current.condition is Condition.CHANGED:
        raise CatalogError(
            f"the catalog in schema anon was changed: {current.detail}",
            hint="restore the file from a backup, or make the releases again in a database without a schema anon",
        )
    if current.condition is Condition.FOREIGN:
        raise CatalogError(
            f"sqlanon cannot keep its catalog in this database: {current.detail}",
            hint="sqlanon needs the schema anon for itself: rename the existing schema or database with this name",
        )


def pending(engine: Engine, known: Sequence[Migration] | None = None) -> tuple[Migration, ...]:
    """Returns the migrations that the catalog lacks; all migrations if there is no catalog.

    Raises CatalogError if no migration of this version of sqlanon would help.
    """
    steps = known_migrations() if known is None else tuple(known)
    current = state(engine, steps)
    _refuse_unknown(current, len(steps))
    return steps[current.version :]


def apply(engine: Engine, migration: Migration) -> None:
    """Runs one migration and records it, within the caller's transaction."""
    engine.run(InstalledScript(migration.text))
    engine.run(
        sql_file("catalog", "queries", "record_migration"), [migration.version, migration.slug, migration.sha256]
    )


def migrate(
    engine: Engine,
    known: Sequence[Migration] | None = None,
    transaction: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> list[Migration]:
    """Applies the missing migrations, each within its own `transaction()`, and returns them."""
    missing = pending(engine, known)
    for migration in missing:
        with transaction():
            apply(engine, migration)
    return list(missing)


def install(engine: Engine, known: Sequence[Migration] | None = None) -> None:
    """Creates the catalog if there is none; each statement that writes calls this first.

    Raises CatalogError for an older catalog, because only the user decides to migrate it.
    """
    if not ready(engine, known):
        create(engine, known)


def create(engine: Engine, known: Sequence[Migration] | None = None) -> None:
    """Creates the catalog by running all migrations, within the caller's transaction."""
    for migration in known_migrations() if known is None else known:
        apply(engine, migration)
