"""The tables and views of a release: checks that they are unchanged, and drops them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from sqlanon.catalog import releases
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release, ReleaseObject
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.duckdb import with_built_ins
from sqlanon.engines.statement_memo import rows_once
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.release.existing.loaded import own_series, statement_again
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.requirements import is_nested
from sqlanon.sources.source import own_object
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import column, identifier, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import drop_object, secure_view, to_sql
from sqlanon.sql.build.sql_files import query_file, sql_file
from sqlanon.sql.release.release_query import ReleaseQuery


def drop_release(engine: Engine, release: Release) -> None:
    """Drops a release's objects and its catalog rows. Another object that has taken a name since is not dropped.

    Raises UserError for a release whose rows are on an engine that this connection does not have.
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
            f"the rows of {release.name} are files that Spark wrote, so only Spark can drop or replace them",
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
        columns = [column for column, _ in engine.columns(select(exp.Star(), of=relation(name)))]
    else:
        # DuckDB's catalog has the columns of a view even if its source is gone; DESCRIBE would fail.
        columns = [column for (column,) in engine.rows(sql_file("statements", "relation_columns"), name.parts)]
    return columns == [attribute.name for attribute in release.attributes_of(made.fragment)]


def column_types(engine: Engine, release: Release) -> dict[tuple[str | None, str], str]:
    """Returns the types of the columns of a snapshot's current tables, by (fragment, column); the result is empty for a
    view, because it may be broken.
    """
    types: dict[tuple[str | None, str], str] = {}
    for made in release.published:
        described = find_relation(engine, own_object(engine, made.name))
        if described is not None and described[0] == made.kind == "table":
            columns = engine.columns(select(exp.Star(), of=relation(described[1])))
            types |= {(made.fragment, name): kind for name, kind in columns}
    return types


def require_own_columns(engine: Engine, release: Release) -> None:
    """Raises PrivacyViolation for an object with another kind or other columns than were released, and UserError for a
    missing object.
    """
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
                f"{made.name} was changed after it was released: it is not a {made.kind} with the same columns",
                hint="create it again",
            )


# Views that show only their own rows, and have the same meaning in every session.


def make_secure_view(engine: Engine, name: QualifiedName, body: exp.Query) -> None:
    """Makes a SECURE VIEW of a body, in which a reader's macros have no effect."""
    text = with_built_ins(partial(rows_once, engine), to_sql(body))
    engine.run(secure_view(name, body.named_selects, text))


# The fingerprint of a relation's rows, independent of their order, which detects a changed release.


def fingerprint_query(rows: exp.Query, columns: Sequence[Column]) -> exp.Select:
    """SELECT of one text, the fingerprint of a query's rows; `columns` are its columns.

    DuckDB hashes only the parts of a list, a struct or a map: [] and NULL have the same hash, and so do [[1], [2]] and
    [[1, 2]]. The hash of a VARIANT distinguishes such values, independently of the session's time zone.
    """
    query = query_file("statements", "content_fingerprint")
    assert isinstance(query, exp.Select)
    nested = [cast(column(name), "VARIANT") for name, kind in columns if is_nested(kind)]
    digest = next(part.this for part in query.find_all(exp.Alias) if part.alias == "digest")
    digest.set("expressions", [*digest.expressions, *nested])
    return query.with_(identifier("snapshot"), as_=rows)


def fingerprint_of(engine: Engine, rows: exp.Query, columns: Sequence[Column] | None = None) -> str:
    """Returns the fingerprint of the rows of a query; `columns` are looked up if they are not given."""
    native_fingerprint = engine.fingerprint(rows)
    if native_fingerprint is not None:
        return native_fingerprint
    known = engine.columns(rows) if columns is None else columns
    return str(engine.rows(fingerprint_query(rows, known))[0][0])


def content_fingerprint(engine: Engine, name: QualifiedName) -> str:
    """Returns the fingerprint of the rows in a release's table or view."""
    return fingerprint_of(engine, _rows(engine, name))


def fingerprint_of_tables(engine: Engine, names: Sequence[QualifiedName], *, plain: bool = False) -> str:
    """Returns the fingerprint of tables published together: the fingerprints of the tables, in their order.

    `plain` is true if no column has a nested type, so the types need not be looked up.
    """
    columns = () if plain else None
    return " ".join(fingerprint_of(engine, _rows(engine, name), columns) for name in names)


def has_checked_rows(engine: Engine, release: Release) -> bool:
    """Whether a snapshot has the rows that were checked when it was made; true for a live view, which has no stored
    rows.
    """
    names = [made.name for made in release.published]
    return release.content_fingerprint is None or has_fingerprint(engine, names, release.content_fingerprint)


def has_fingerprint(engine: Engine, names: Sequence[QualifiedName], expected: str | None) -> bool:
    """Whether tables published together have the fingerprint that was stored when they were made."""
    return fingerprint_of_tables(engine, names) == expected


def _rows(engine: Engine, name: QualifiedName) -> exp.Select:
    return select(exp.Star(), of=relation(own_object(engine, name)))


# The views made with a live view: views that it reads, in the schema main, and views that check it, in the schema anon.
#
# They are dropped with the release. Only the user's own queries show values.


# In a view of this schema, DuckDB searches an unqualified name here first, for any search path of the session. In a
# view of another schema, it continues along the search path.
_MAIN = "main"


def source_view(release_id: str) -> QualifiedName:
    """Returns the name of the view of a user's query that a live view reads as its source."""
    return QualifiedName((_MAIN, "__sqlanon_source_" + release_id))


def public_view(release_id: str) -> QualifiedName:
    """Returns the name of the view of a user's query that a live view reads as its public table."""
    return QualifiedName((_MAIN, "__sqlanon_public_" + release_id))


def report_view(release_id: str) -> QualifiedName:
    """Returns the name of the view of requirements that a live view's rows alone cannot answer: place, achieved,
    violating.
    """
    return QualifiedName(("anon", "report_" + release_id))


def content_view(release_id: str) -> QualifiedName:
    """Returns the name of the view with a live view's fingerprint, computed from its sources instead of the view."""
    return QualifiedName(("anon", "content_" + release_id))


def own_queries(release_id: str, policy: Policy) -> list[tuple[QualifiedName, str]]:
    """Returns the user's own queries that a live view reads, with unchanged texts, each with the name of its view."""
    named = ((source_view(release_id), policy.source), (public_view(release_id), policy.against))
    return [(name, source.query) for name, source in named if source is not None and source.query]


def make_checks(engine: Engine, query: ReleaseQuery, body: exp.Query, hidden: Sequence[int]) -> list[QualifiedName]:
    """Makes the views from which CHECK reads the requirements that the released rows alone cannot answer; returns the
    names of the views.

    `body` is the SELECT of the live view.
    """
    if not hidden:
        return []
    report, content = report_view(query.release_id), content_view(query.release_id)
    make_secure_view(engine, report, query.report(hidden))
    make_secure_view(engine, content, fingerprint_query(body, engine.columns(body)))
    return [report, content]
