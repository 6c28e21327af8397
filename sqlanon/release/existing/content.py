"""What identifies the rows of a relation, whatever their order: it tells a changed release from the checked one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.sources.requirements import is_nested
from sqlanon.sources.source import own_object
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import column, identifier, relation
from sqlanon.sql.build.sql_files import query_file


def fingerprint_query(rows: exp.Query, columns: Sequence[Column]) -> exp.Select:
    """One row with one text, the fingerprint of the rows of a query that has these columns.

    The hash of a list, a struct or a map is that of its parts: [] has that of NULL, and [[1], [2]] that of [[1, 2]].
    The hash of a VARIANT tells them apart, whatever the time zone of the session.
    """
    query = query_file("statements", "content_fingerprint")
    assert isinstance(query, exp.Select)
    nested = [cast(column(name), "VARIANT") for name, kind in columns if is_nested(kind)]
    digest = next(part.this for part in query.find_all(exp.Alias) if part.alias == "digest")
    digest.set("expressions", [*digest.expressions, *nested])
    return query.with_(identifier("snapshot"), as_=rows)


def fingerprint_of(engine: Engine, rows: exp.Query, columns: Sequence[Column] | None = None) -> str:
    """The fingerprint of the rows of a query; its nested `columns` are looked up where they are not given."""
    native_fingerprint = engine.fingerprint(rows)
    if native_fingerprint is not None:
        return native_fingerprint
    known = engine.columns(rows) if columns is None else columns
    return str(engine.rows(fingerprint_query(rows, known))[0][0])


def content_fingerprint(engine: Engine, name: QualifiedName) -> str:
    """The fingerprint of a release's own object."""
    return fingerprint_of(engine, _rows(engine, name))


def fingerprint_of_tables(engine: Engine, names: Sequence[QualifiedName], *, plain: bool = False) -> str:
    """The fingerprint of what is published together: that of each table, in their order.

    `plain` says that no column has a nested type, so that the tables need not be asked.
    """
    columns = () if plain else None
    return " ".join(fingerprint_of(engine, _rows(engine, name), columns) for name in names)


def has_checked_rows(engine: Engine, release: Release) -> bool:
    """Whether a snapshot has the rows that were checked when it was made; a live view has those of its own query."""
    names = [made.name for made in release.published]
    return release.content_fingerprint is None or has_fingerprint(engine, names, release.content_fingerprint)


def has_fingerprint(engine: Engine, names: Sequence[QualifiedName], expected: str | None) -> bool:
    """Whether what is published together has the fingerprint that was stored when it was made."""
    return fingerprint_of_tables(engine, names) == expected


def _rows(engine: Engine, name: QualifiedName) -> exp.Select:
    return exp.select(exp.Star()).from_(relation(own_object(engine, name)))
