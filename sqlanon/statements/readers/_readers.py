"""Makes and changes readers, grants and revokes releases, and lists grants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from sqlanon.catalog import budget_grants, exports, migrations, readers, releases
from sqlanon.catalog.budget_grants import BudgetGrant
from sqlanon.catalog.exports import KnownReleases
from sqlanon.catalog.live_views import require_own_views
from sqlanon.catalog.readers import Reader, today_in_utc
from sqlanon.domain.identifiers import fold, nearest, same_name
from sqlanon.domain.policy import Role
from sqlanon.domain.release import KnownRelease, Reading, Release, ReleaseAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import current_database, session
from sqlanon.errors import SqlanonError, UserError
from sqlanon.release.existing.composition import others_among, warning
from sqlanon.release.existing.loaded import load_release
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.statements.readers.alter_reader import AlterReader
from sqlanon.statements.readers.create_reader import CreateReader
from sqlanon.statements.readers.grant_select import GrantSelect
from sqlanon.statements.readers.revoke_select import RevokeSelect
from sqlanon.syntax.texts import typed_name, typed_qualified

# A client sends name:token.
_LONGEST_NAME = 200


def create_reader(engine: Engine, statement: CreateReader) -> str | None:
    """Makes a reader; returns the token, or None if IF NOT EXISTS found one.

    Raises UserError for a name that exists already or that a client cannot send, and for a day in the past.
    """
    _require_sendable(statement.name)
    _require_future(statement.expires)
    with engine.transaction():
        migrations.install(engine)
        if readers.exists(engine, statement.name):
            if statement.if_not_exists:
                return None
            raise UserError(
                f"there is a reader {statement.name} already",
                hint=f"ALTER READER {typed_name(statement.name)} NEW TOKEN replaces the token",
                part=("name",),
            )
        return readers.create(engine, statement.name, statement.expires)


def alter_reader(engine: Engine, statement: AlterReader) -> str | None:
    """Changes a reader; returns the new token, or None if NEW TOKEN is not written.

    Raises UserError for a missing reader, and for a day in the past.
    """
    _require_future(statement.expires)
    with engine.transaction():
        reader = _load(engine, statement.name, "name")
        if statement.new_token:
            return readers.renew(engine, reader)
        readers.set_expiry(engine, reader, statement.expires)
        return None


def _load(engine: Engine, name: str, part: str) -> Reader:
    try:
        return readers.load(engine, name)
    except UserError as error:
        error.part = (part,)
        raise


def _require_sendable(name: str) -> None:
    """Raises UserError for a name that a client cannot send, because it is written before a colon on one line."""
    if ":" in name or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise UserError(
            f"a reader's name has no colon, only characters that can be printed, and at most {_LONGEST_NAME} of them",
            hint="clients send the name and the token as name:token; choose another name",
            part=("name",),
        )


def _require_future(day: date | None) -> None:
    if day is not None and day < today_in_utc():
        raise UserError(
            f"{day} is over", hint="name today or a later day; DROP READER ends an access", part=("expires",)
        )


def grant_releases(engine: Engine, statement: GrantSelect) -> Iterator[tuple[Any, ...]]:
    """Grants releases to a reader; yields the reader, the release, the outcome, and a warning about other releases.

    Raises UserError for a missing reader or release, CatalogError for a release whose rows in the catalog or whose view
    were changed, and PrivacyViolation for an object that is not the released one.
    """
    with engine.transaction():
        reader = _load(engine, statement.to, "reader")
        granted = [load_release(engine, name) for name in statement.releases]
        outcomes = []
        for release in granted:
            require_own_columns(engine, release)
            require_own_views(engine, release)
            outcomes.append("granted" if readers.grant(engine, reader, release) else "was granted already")
        # After all of them, so that releases of one statement are compared with each other, too.
        warnings = [_composition(engine, reader, release) for release in granted]
    for release, outcome, warned in zip(granted, outcomes, warnings, strict=True):
        yield reader.reader, str(release.name), outcome, warned


def _composition(engine: Engine, reader: Reader, release: Release) -> str | None:
    """Returns the warning that the reader may have other releases of the same source; None if there are no others.

    The reader may have any release that they were ever granted, and any release that was given away in another way.
    """
    granted_before = readers.granted_ids(engine, reader.reader)
    known = exports.known(engine, but=release.release_id)
    may_have = [
        replace(other, granted_at=other.granted_at if other.release_id in granted_before else None)
        for other in known.releases
        if other.release_id in granted_before or _is_given_away(other)
    ]
    others = others_among(engine, release, KnownReleases(may_have, known.required))
    warned = warning(others)
    if warned is None:
        return None
    check = next(filter(None, (_check_of_join(engine, release, other) for other in others if other.stands)), None)
    return warned if check is None else f"{warned}; {check} measures what their join tells"


def _is_given_away(other: KnownRelease) -> bool:
    """Whether anybody may have the release: it was exported, it is in a series, or it no longer exists and was recorded
    by hand.
    """
    return bool(other.exported_at or other.series) or (not other.stands and other.granted_at is None)


def _check_of_join(engine: Engine, release: Release, other: KnownRelease) -> str | None:
    """Returns a CHECK ... JOINED WITH RELEASE of two releases; None if no join of them can be measured."""
    try:
        second = releases.find(engine, other.name)
    except SqlanonError:
        return None
    if second is None or any(each.fragment for both in (release, second) for each in both.published):
        return None
    columns = [{fold(a.name): a for a in both.attributes} for both in (release, second)]
    shared = [a.name for name, a in columns[0].items() if name in columns[1] and _are_comparable(a, columns[1][name])]
    apart = [[a for name, a in columns[i].items() if name not in columns[1 - i]] for i in (0, 1)]
    for mine, theirs in (apart, apart[::-1]):
        secrets = [a.name for a in theirs if a.role is Role.SENSITIVE]
        if shared and mine and secrets:
            on, x, y = (", ".join(map(typed_name, names)) for names in (shared, [mine[0].name], secrets[:1]))
            return (
                f"CHECK {typed_qualified(release.name)} JOINED WITH RELEASE {typed_qualified(second.name)} ON ({on}) "
                f"REQUIRE xy_anonymity(x => {x}, y => {y}, k => 2)"
            )
    return None


def _are_comparable(first: ReleaseAttribute, second: ReleaseAttribute) -> bool:
    """Whether two columns of the same name each show labels of a single level, by hierarchies of the same name."""
    levels = [a.level is not None or a.reading is Reading.EXACT for a in (first, second)]
    return all(levels) and not any(len(a.rounds) > 1 for a in (first, second)) and first.hierarchy == second.hierarchy


def revoke_releases(engine: Engine, statement: RevokeSelect) -> Iterator[tuple[Any, ...]]:
    """Revokes grants of a reader; yields the reader, the release and the outcome.

    Raises UserError, and revokes nothing, for a missing reader and for a release that was not granted.
    """
    with engine.transaction():
        reader = _load(engine, statement.from_, "reader")
        names = [_schema_and_name(engine, name) for name in statement.releases]
        for name in names:
            granted = [str(each.release) for each in readers.grants(engine, reader)]
            if not readers.revoke(engine, reader, name):
                raise UserError(
                    f"{reader.reader} has no grant on {name}; nothing was revoked",
                    hint=nearest(str(name), granted) or f"SHOW GRANTS FOR {typed_name(reader.reader)} lists them",
                    part=("release",),
                )
    for name in names:
        yield reader.reader, str(name), "revoked"


def _schema_and_name(engine: Engine, name: QualifiedName) -> QualifiedName:
    """Returns the schema and the name in a grant; the schema and the release may be gone.

    Raises UserError for a name in another database.
    """
    now = session(engine)
    parts = name.parts if len(name.parts) > 1 else (now.schema, name.name)
    if len(parts) == 3:
        if not same_name(parts[0], current_database(engine)):
            raise UserError(
                f"{name} is in another database than its grants", hint="name one of this database", part=("release",)
            )
        parts = parts[1:]
    return QualifiedName(parts)


def grants_shown(engine: Engine, name: str | None) -> Iterator[tuple[Any, ...]]:
    """Yields a row for each grant of all readers, or of one reader: first on releases, then on budgets.

    Raises UserError for a missing reader.
    """
    reader = None if name is None else readers.load(engine, name)
    today = today_in_utc()

    def state(each: readers.Grant | BudgetGrant) -> str:
        is_over = each.expires_on is not None and today > each.expires_on
        return "void: the reader has expired" if each.holds and is_over else each.state

    for grant in readers.grants(engine, reader):
        yield grant.reader, str(grant.release), grant.kind, state(grant), _time_text(grant.granted_at)
    for each in budget_grants.grants(engine, reader):
        yield each.reader, each.budget, "budget", state(each), _time_text(each.granted_at)


def _time_text(timestamp: datetime) -> str:
    return timestamp.isoformat(sep=" ", timespec="seconds")
