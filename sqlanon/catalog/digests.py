"""Whether the rows that describe a release are those that were written with it.

A digest over all of them is kept in the release's own row. It tells a mistake, made by hand or by a program, from what
was written. Anyone who means to deceive can compute it again: it is no signature.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256

from sqlglot import exp

from sqlanon.domain.release import Release, ReleaseObject
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import CatalogError, EngineError
from sqlanon.sql.build.expressions import in_utc
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import sql_file


def digests(engine: Engine, release_ids: Sequence[str]) -> dict[str, str]:
    """The digest of the rows of each release as they are now: the SHA-256 of their lines.

    The lines are in the order of their bytes, which no collation of a session changes. DuckDB would give each table a
    hash table of its own to group by the release, which takes longer than reading the lines of most releases.
    """
    lines: dict[str, list[bytes]] = defaultdict(list)
    for release_id, line in engine.rows(sql_file("catalog", "queries", "release_digests"), [list(release_ids)]):
        lines[release_id].append(line.encode())
    return {release_id: sha256(b"\n".join(sorted(said))).hexdigest() for release_id, said in lines.items()}


def seal(engine: Engine, release_id: str) -> None:
    """Keeps the digest of a release's rows: from now on they may not change. It is written last of all."""
    keep_digest(engine, release_id, digests(engine, [release_id])[release_id])


def keep_digest(engine: Engine, release_id: str, digest: str) -> None:
    """Keeps the digest of a release's rows, as `digests` has just computed it."""
    engine.run(sql_file("catalog", "queries", "seal_release"), [digest, release_id])


def require_sealed(engine: Engine, name: QualifiedName, release_id: str, digest: str | None) -> None:
    """Raises CatalogError unless the rows of a release have the digest that was kept with them."""
    if digest is None or digests(engine, [release_id]).get(release_id) != digest:
        raise CatalogError(
            f"release {name}: its rows in the catalog are not those that were written with it; nothing was done",
            hint="put back what was changed; or drop what you know to be the release's with DROP TABLE or DROP VIEW, "
            f"and let the catalog forget it: {forgetting(name)}",
        )


def forgetting(name: QualifiedName) -> str:
    """The statement that takes a release out of the catalog, and drops nothing."""
    schema_and_name = zip(("schema_name", "object_name"), name.parts, strict=True)
    where = exp.and_(*(column(key).eq(literal(part)) for key, part in schema_and_name))
    return to_sql(exp.delete(relation(("anon", "release")), where=where))


def table_digest(engine: Engine, name: QualifiedName) -> str:
    """The digest of the rows of one table, whatever the session's time zone."""
    rows = rows_in_utc(relation(name), engine.columns(exp.select(exp.Star()).from_(relation(name))))
    [(digest,)] = engine.rows(sql_file("catalog", "queries", "table_digest"), [to_sql(rows)])
    return str(digest)


def rows_in_utc(table: exp.Table, columns: Sequence[Column]) -> exp.Select:
    """The rows of a table as no session's time zone changes them."""
    return exp.select(*(alias(in_utc(name, kind), name) for name, kind in columns)).from_(table)


def require_own_rows(engine: Engine, release: Release) -> None:
    """Raises CatalogError if a table beside a live view has other rows than it was made with, or is gone."""
    for made in release.objects:
        if made.digest is not None and made.digest != _digest_now(engine, made):
            raise CatalogError(
                f"release {release.name}: the rows of {made.name}, by which it places rows, are not those that were "
                "written with it; nothing was done",
                hint=f"create it again with CREATE OR REPLACE ANONYMIZED {release.kind.upper()}",
            )


def _digest_now(engine: Engine, made: ReleaseObject) -> str | None:
    try:
        return table_digest(engine, made.name)
    except EngineError:
        return None
