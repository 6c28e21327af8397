"""What identifies the rows of a relation, whatever their order: it tells a changed release from the checked one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.inputs.source import own_object
from sqlanon.sqlgen.build.names import identifier, relation
from sqlanon.sqlgen.build.sql_files import query_file

__all__ = [
    "content_fingerprint",
    "fingerprint_of",
    "fingerprint_of_tables",
    "fingerprint_query",
    "has_checked_rows",
]


def fingerprint_query(rows: exp.Query) -> exp.Select:
    """One row with one text, the fingerprint of the rows of a query."""
    query = query_file("statements", "content_fingerprint")
    assert isinstance(query, exp.Select)
    return query.with_(identifier("snapshot"), as_=rows)


def fingerprint_of(engine: Engine, rows: exp.Query) -> str:
    return str(engine.rows(fingerprint_query(rows))[0][0])


def content_fingerprint(engine: Engine, name: QualifiedName) -> str:
    """The fingerprint of a release's own object."""
    return fingerprint_of(engine, exp.select(exp.Star()).from_(relation(own_object(engine, name))))


def fingerprint_of_tables(engine: Engine, names: Sequence[QualifiedName]) -> str:
    """The fingerprint of what is published together: that of each table, in their order."""
    return " ".join(content_fingerprint(engine, name) for name in names)


def has_checked_rows(engine: Engine, release: Release) -> bool:
    """Whether a snapshot has the rows that were checked when it was made; a live view has those of its own query."""
    names = [made.name for made in release.published]
    return release.content_fingerprint in (None, fingerprint_of_tables(engine, names))
