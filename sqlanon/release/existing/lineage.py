"""What a release is made from, by name, so that other releases about the same people are recognized."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sqlglot import exp

from sqlanon.assets import read
from sqlanon.catalog import exports
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import SourceRead
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import current_database
from sqlanon.errors import EngineError, UserError
from sqlanon.sources.catalog_entries import find_source, source_entry
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import to_sql
from sqlanon.syntax.script import after_as

# A query as DuckDB's parser reads it; empty where DuckDB cannot write that down.
_PARSED = "SELECT json_serialize_sql(?)"


def sources_of(engine: Engine, policy: Policy) -> tuple[SourceRead, ...]:
    """The tables that a policy's source and its related tables read, through views too; a relation or a query also
    counts by itself.

    A table of a release counts together with what that release was made from. A relation of this database is named by
    its schema and its name, a file as the query names it.
    """
    sources: set[SourceRead] = set()
    for source in policy.sources:
        for name in _names(engine, source):
            full = find_source(engine, name)
            sources.add(_without_database(engine, full[1]) if full else name)
    sources |= exports.made_from(
        engine, [source_read for source_read in sources if isinstance(source_read, QualifiedName)]
    )
    queries = (source.query for source in policy.sources if source.query)
    sources |= {hashlib.sha256(query.strip().encode()).hexdigest() for query in queries}
    # The objects beside live views each belong to one release.
    return tuple(sorted((source_read for source_read in sources if not _of_catalog(source_read)), key=str))


def _of_catalog(source: SourceRead) -> bool:
    if not isinstance(source, QualifiedName) or len(source.parts) != 2:
        return False
    return source.parts[0] == "anon" or source.name.startswith("__sqlanon_")


def _without_database(engine: Engine, full: QualifiedName) -> QualifiedName:
    """A relation's name without that of this database, which may be opened under another one."""
    database = current_database(engine)
    return QualifiedName(full.parts[1:]) if full.parts[0] == database else full


def _names(engine: Engine, source: Source) -> Iterator[QualifiedName]:
    if source.name:
        relation_found = source_entry(engine, source)
        yield relation_found[1] if relation_found else source.name
        if relation_found is None or relation_found[0] == "table":
            return
        text = to_sql(exp.select(exp.Star()).from_(relation(relation_found[1])))
    else:
        text = str(source.query)
    yield from _files(engine, text)
    # A query whose relations nobody can tell is compared by its text alone.
    with suppress(UserError, EngineError):
        read_too = engine.reads(text)
        yield from (reading.name for reading in read_too)
        yield from _files_of_views(engine, {reading.name for reading in read_too if reading.kind == "view"})


def _files_of_views(engine: Engine, views: set[QualifiedName]) -> Iterator[QualifiedName]:
    for _, *parts, text in engine.rows(read("sql", "statements", "relations.sql")) if views else ():
        if text and QualifiedName(tuple(parts)) in views:
            yield from _files(engine, after_as(text))


def _files(engine: Engine, text: str) -> Iterator[QualifiedName]:
    """The files that a query's table functions read: the first argument of each, a text or a list of them."""
    try:
        parsed = json.loads(engine.rows(_PARSED, [text])[0][0])
    except RecursionError:
        return
    for node in _objects(parsed):
        if node.get("type") == "TABLE_FUNCTION":
            constants = _objects(node.get("function", {}).get("arguments", [])[:1])
            yield from (
                QualifiedName((str(constant["text"]),)) for constant in constants if constant.get("kind") == "STRING"
            )


def _objects(part: Any) -> Iterator[dict[str, Any]]:
    """Every object in a value of JSON, however deep."""
    pending = [part]
    while pending:
        inner = pending.pop()
        if isinstance(inner, dict):
            yield inner
            pending += inner.values()
        elif isinstance(inner, list):
            pending += inner
