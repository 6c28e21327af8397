"""Loads releases from the catalog, checks their inputs, and writes the statements that make them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.catalog import releases
from sqlanon.catalog.releases import require_own_rows
from sqlanon.catalog.series import exists, series_of
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, series_name_of, types_of
from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Release
from sqlanon.domain.requests import MethodCall, ReleaseRequest
from sqlanon.domain.values import QualifiedName, Source, Value
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError, EngineError, PolicyError, SqlanonError, UserError, about
from sqlanon.methods.registry import find_method
from sqlanon.methods.shared.arguments import Argument, arguments_of
from sqlanon.sources.catalog_entries import source_entry
from sqlanon.sources.column_types import ENUM, without_enums
from sqlanon.sources.source import BoundSource, qualified
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.syntax.definitions import release_text


def load_release(engine: Engine, name: QualifiedName, part: str = "release") -> Release:
    """Loads the release that a statement names, and checks that its rows in the catalog are unchanged.

    `part` names the place of the name in the statement, for errors. Raises UserError for a missing release, and
    CatalogError if its rows in the catalog were changed.
    """
    with about(part):
        release = releases.load(engine, qualified(engine, name))
    require_own_rows(engine, release)
    return release


# The statement that repeats the making of a release.


def statement_again(release: Release, *, or_replace: bool = False, series: str | None = None) -> str:
    """Returns CREATE ANONYMIZED as SQL, with the release's policy, method, arguments and sets of columns.

    The statement uses the current policy, which may have changed. `series` adds IN SERIES.
    """
    return release_text(replace(request_again(release, or_replace=or_replace), series=series))


def request_again(release: Release, *, or_replace: bool = False) -> ReleaseRequest:
    """Returns the request of `statement_again`, without a series."""
    return ReleaseRequest(release.kind, release.name, release.policy, _method(release), or_replace)


def _method(release: Release) -> MethodCall:
    """Returns the method, its arguments and the columns of each table, if a user may name them."""
    call = MethodCall(release.method, release.method_arguments)
    try:
        policy = policy_of(release)
        method = find_method(release.method)
        limits = method.limits(method.options(release.method_arguments))
    except SqlanonError:
        return call
    known = {attribute.name for attribute in policy.attributes}
    names = dict.fromkeys(made.fragment for made in release.published)
    sets = (
        tuple(name_in_policy for a in release.attributes_of(name) if (name_in_policy := a.source or a.name) in known)
        for name in names
    )
    columns = tuple(columns for columns in sets if columns)
    if limits.columns is None:
        return replace(call, arguments=_beside_columns(arguments_of(method.OPTIONS), release), columns=columns)
    return replace(call, sets=columns) if limits.sets is None else call


def _beside_columns(known: Mapping[str, Argument], release: Release) -> tuple[tuple[str, Value], ...]:
    """Returns the release's arguments that may be combined with named columns; arguments of the search for columns are
    left out.
    """
    return tuple((name, value) for name, value in release.method_arguments if not known[name].finds_columns)


# The series of a release, by its own record and by the ledger.


def own_series(engine: Engine, release: Release) -> str | None:
    """Returns the name of the series to which a release belongs; None if it was made outside of a series.

    Raises CatalogError if the release names a series whose ledger lacks it, because a release made again outside the
    series would not meet the series' requirements.
    """
    by_ledger, by_release = series_of(engine, release.release_id), series_name_of(release)
    if by_release is None or (by_ledger is not None and same_name(by_ledger, by_release)):
        return by_ledger
    again = statement_again(release, or_replace=True, series=by_release if exists(engine, by_release) else None)
    raise CatalogError(
        f"release {release.name} was made in the series {by_release}, whose ledger does not have it; nothing was done",
        hint="undo the change in the schema anon; if the series was dropped, "
        f"{again} makes the release again, and nothing is promised about it and the earlier releases together",
    )


# Checks whether the source of a release still has the columns from which it was made, with their types.


def require_unchanged(release: Release, source: BoundSource, names: Sequence[str]) -> dict[str, str]:
    """Returns the types in which these columns of the source are published, by their folded names.

    Raises PolicyError if a column is gone, has another type, or has labels of a hierarchy that has changed.
    """
    digests = {hierarchy.digest for hierarchy in hierarchies_of(release)}
    named = set(map(fold, names))
    for each in source.coarse:
        if fold(each.bound.column) in named and each.digest not in digests:
            raise PolicyError(
                f"the labels of {each.bound.column} in {release.name} are of a hierarchy that was changed after the "
                "release was made",
                hint=f"make the release again, {statement_again(release, or_replace=True)}",
            )
    kinds = {fold(name): kind for name, kind in source.columns}
    former = {fold(name): kind for name, kind in types_of(release).items()}
    published: dict[str, str] = {}
    for name in names:
        kind = kinds.get(fold(name))
        now = None if kind is None else without_enums(kind)
        before = former.get(fold(name), now)
        before = "VARCHAR" if before == ENUM else before
        if now is None or now != before:
            what = "is gone" if now is None else f"is {now} now and was {before}"
            raise PolicyError(
                f"the source of {release.name} has changed: its column {name} {what}",
                hint=f"make the release again, {statement_again(release, or_replace=True)}",
            )
        published[fold(name)] = now
    return published


# The reason why a release can no longer be read: changed tables behind a live view.


def unreadable(engine: Engine, release: Release, error: EngineError) -> UserError:
    """Returns the error that replaces the engine's error about an unreadable release; it names the changed tables or
    columns.
    """
    try:
        why = next(_changes(engine, release), None)
    except SqlanonError:
        # The engine's error has aborted the user's transaction, so no further query can run.
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
    """Yields sentences about the columns and tables of a source that no longer exist or cannot be read."""
    if source.name is None:
        # The engine's error names the column that is missing.
        return
    entry = source_entry(engine, source)
    if entry is None:
        yield f"the table or view {source.name} no longer exists"
        return
    try:
        columns = [name for name, _ in engine.columns(select(exp.Star(), of=relation(entry[1])))]
    except EngineError as error:
        yield f"the view {source.name} cannot be read itself: {error.message}"
        return
    present = {fold(name) for name in columns}
    if gone := [name for name in names if fold(name) not in present]:
        yield f"{source.name} no longer has a column {', '.join(gone)}; it has {', '.join(columns)}"
