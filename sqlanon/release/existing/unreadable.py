"""Why a release cannot be read any more: what a live view reads has changed since it was made."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Release
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.errors import EngineError, SqlanonError, UserError
from sqlanon.release.existing.original_statement import statement_again
from sqlanon.sources.catalog_entries import source_entry
from sqlanon.sql.build.names import relation


def unreadable(engine: Engine, release: Release, error: EngineError) -> UserError:
    """The error to raise in place of the engine's, which names what the release's own text has in it."""
    try:
        why = next(_changes(engine, release), None)
    except SqlanonError:
        # In a transaction of the user's, which the engine's error has aborted, no query runs any more.
        why = None
    hint = f"make the {release.kind} again, {statement_again(release, or_replace=True)}"
    if release.kind == "view":
        hint += "; where names have changed, CREATE OR REPLACE POLICY first"
    return UserError(f"{release.name} cannot be read, so nothing can be said of it: {why or error.message}", hint=hint)


def _changes(engine: Engine, release: Release) -> Iterator[str]:
    if release.kind != "view":
        return
    policy = policy_of(release)
    yield from _missing(engine, policy.source, [a.name for a in policy.attributes])
    if policy.against:
        known = [a.name for a in policy.attributes if a.role is Role.QUASI_IDENTIFIER]
        yield from _missing(engine, policy.against, known)


def _missing(engine: Engine, source: Source, names: list[str]) -> Iterator[str]:
    """What of a source is not there any more."""
    if source.name is None:
        # Which of its columns the policy names, the engine's error says.
        return
    entry = source_entry(engine, source)
    if entry is None:
        yield f"there is no table or view {source.name} any more"
        return
    try:
        columns = [name for name, _ in engine.columns(exp.select(exp.Star()).from_(relation(entry[1])))]
    except EngineError as error:
        yield f"the view {source.name} cannot be read itself: {error.message}"
        return
    present = {fold(name) for name in columns}
    if gone := [name for name in names if fold(name) not in present]:
        yield f"{source.name} has no column {', '.join(gone)} any more; it has {', '.join(columns)}"
