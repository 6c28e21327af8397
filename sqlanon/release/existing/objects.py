"""The tables and views of a release: whether they are still its own, and how they are dropped."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.catalog import releases
from sqlanon.domain.release import Release, ReleaseObject
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.release.existing.original_statement import statement_again
from sqlanon.release.existing.own_series import own_series
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import own_object
from sqlanon.sql.build.ddl import drop_object
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.sql_files import sql_file


def drop_release(engine: Engine, release: Release) -> None:
    """Drops a release's objects and forgets it. Another object that has taken a name since stays.

    Raises UserError for a release whose rows are on an engine that this connection has not.
    """
    for made in release.objects:
        described = find_relation(engine, own_object(engine, made.name))
        if described and (
            is_own(engine, release, made, described) if made in release.published else described[0] == made.kind
        ):
            _require_here(engine, release, described[1])
            engine.run(drop_object(made.kind, described[1]))
    releases.delete(engine, release.release_id)


def _require_here(engine: Engine, release: Release, name: QualifiedName) -> None:
    if not engine.releases_are_files and engine.rows(sql_file("statements", "parquet_release"), name.parts[1:]):
        raise UserError(
            f"the rows of {release.name} are files that Spark wrote, and are dropped or made again there",
            hint="connect with engine => 'spark'; from the command line, --engine spark",
        )


def stands(engine: Engine, release: Release, made: ReleaseObject) -> bool:
    described = find_relation(engine, own_object(engine, made.name))
    return described is not None and is_own(engine, release, made, described)


def is_own(engine: Engine, release: Release, made: ReleaseObject, described: tuple[str, QualifiedName]) -> bool:
    """Whether the object under a released object's name still has its kind and its columns."""
    kind, name = described
    if kind != made.kind:
        return False
    if kind == "table":
        columns = [column for column, _ in engine.columns(exp.select(exp.Star()).from_(relation(name), copy=False))]
    else:
        # Asked of the catalog, for a view whose source is gone cannot be described.
        columns = [column for (column,) in engine.rows(sql_file("statements", "relation_columns"), name.parts)]
    return columns == [attribute.name for attribute in release.attributes_of(made.fragment)]


def column_types(engine: Engine, release: Release) -> dict[tuple[str | None, str], str]:
    """The types of the columns of a snapshot, by its tables as they stand; nothing of a view, which may be broken."""
    types: dict[tuple[str | None, str], str] = {}
    for made in release.published:
        described = find_relation(engine, own_object(engine, made.name))
        if described is not None and described[0] == made.kind == "table":
            columns = engine.columns(exp.select(exp.Star()).from_(relation(described[1])))
            types |= {(made.fragment, name): kind for name, kind in columns}
    return types


def require_own_columns(engine: Engine, release: Release) -> None:
    """Raises if an object does not have the kind and the columns of the release: nobody has checked another column."""
    for made in release.published:
        found_object = find_relation(engine, own_object(engine, made.name))
        if found_object is None:
            what = f"{made.name} of the release {release.name}" if made.fragment else f"of the release {release.name}"
            again = statement_again(release, series=own_series(engine, release))
            raise UserError(
                f"the {made.kind} {what} is gone",
                hint=f"{again} makes it again, DROP ANONYMIZED {release.kind.upper()} forgets it",
            )
        if not is_own(engine, release, made, found_object):
            raise PrivacyViolation(
                f"{made.name} is not the {made.kind} that was released: its kind or its columns are others",
                hint="create it again",
            )
