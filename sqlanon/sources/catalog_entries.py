"""Resolves names to catalog entries, and keeps the entries to which a policy's names referred when it was made.

DuckDB looks a name up at each reading: in the temporary tables and views first, then along the search path. So a name
may mean another table tomorrow. A policy keeps the entries that its names meant, and later readings use these entries.
A query or a view that would read another relation of the same name is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName, Source, variable_of
from sqlanon.engines.base import Engine, Reading
from sqlanon.engines.reads import Namespace, search_path
from sqlanon.engines.statement_memo import current_database, rows_once, session
from sqlanon.errors import PolicyError, UserError
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import RepeatedQuery, to_sql
from sqlanon.sql.build.sql_files import sql_file
from sqlanon.sql.release.view_preconditions import hidden, unhiding

_Rows = Callable[[RepeatedQuery, Sequence[object]], list[tuple[Any, ...]]]
# The kind of a relation, 'table' or 'view', and its full name.
Entry = tuple[str, QualifiedName]

_TEMPORARY: Namespace = ("temp", "main")
# A full name as DuckDB spells it means one relation. The query for it alone takes a quarter of the time.
_QUERIES = ("find_table", "find_relation")


def find_relation(engine: Engine, name: QualifiedName, *, is_new: bool = False) -> Entry | None:
    """Finds a relation as DuckDB does; returns its kind ('table' or 'view') and its full name, or None if there is no
    relation.

    If `is_new` is true, no relation is expected, and the query that finds a table only by its full name is skipped.
    """
    return _relation_named(engine, engine.rows, name, ("find_relation",) if is_new else _QUERIES)


def find_source(engine: Engine, name: QualifiedName) -> Entry | None:
    """Finds a source relation of a release. The entry is remembered, because no step of a statement changes it."""
    return _relation_named(engine, partial(rows_once, engine), name)


def find_entry(engine: Engine, entry: QualifiedName) -> Entry | None:
    """Finds a relation by the name that a policy keeps: its schema and name in this database, or its full name."""
    return find_source(engine, _full_name(engine, entry))


def source_entry(engine: Engine, source: Source) -> Entry | None:
    """Returns the relation of a named source.

    If the policy keeps the relation to which the name referred when the policy was made, it is this relation. Raises
    PolicyError if the catalog's name of the source does not fit the kept relation.
    """
    assert source.name is not None
    if not source.bound:
        return find_source(engine, source.name)
    entry = source.bound[0]
    # The name a.b may mean a relation b in the schema a or in the database a.
    place_names = {
        fold(part) for part in (*entry.parts[:-1], *([] if len(entry.parts) == 3 else [current_database(engine)]))
    }
    if fold(source.name.name) != fold(entry.name) or not {fold(part) for part in source.name.parts[:-1]} <= place_names:
        raise PolicyError(
            f"the catalog has the source {source.name}, but the different table or view {entry} for it",
            hint="make the policy again with CREATE OR REPLACE POLICY, or set its column bound to NULL",
        )
    return find_entry(engine, entry)


def _relation_named(
    engine: Engine, rows: _Rows, name: QualifiedName, queries: Sequence[str] = _QUERIES
) -> Entry | None:
    first = partial(_first, rows, queries)
    table, schema, database = (*reversed(name.parts), None, None)[:3]
    if len(name.parts) < 3:
        now = session(engine)
        namespaces = search_path(now.database, now.search_path)
        if len(namespaces) > 1:
            return _along(first, name, [_TEMPORARY, *namespaces, (now.database, "main")])
    if len(name.parts) == 2:
        # In DuckDB the first part of a.b may be a schema or a database; the schema comes first.
        return first(table, schema, None) or first(table, None, schema)
    return first(table, schema, database)


def _along(first: Callable[..., Entry | None], name: QualifiedName, namespaces: Sequence[Namespace]) -> Entry | None:
    """Returns the first relation with this name, which lacks the database, in these databases and schemas; `first`
    looks one up.
    """
    *schema, table = name.parts
    for database, known in namespaces:
        if (not schema or fold(schema[0]) == fold(known)) and (entry := first(table, known, database)):
            return entry
    return first(table, schema[0], None) or first(table, None, schema[0]) if schema else None


def _first(rows: _Rows, queries: Sequence[str], *parts: str | None) -> Entry | None:
    for query in queries if None not in parts else queries[-1:]:
        for _, _, kind, database, schema, name in sorted(rows(sql_file("statements", query), parts)):
            return str(kind), QualifiedName((database, schema, name))
    return None


def _full_name(engine: Engine, entry: QualifiedName) -> QualifiedName:
    return entry if len(entry.parts) == 3 else QualifiedName((current_database(engine), *entry.parts))


def kept_name(engine: Engine, name: QualifiedName) -> QualifiedName:
    """Returns the name by which a policy keeps a relation; the name itself if there is no relation."""
    entry = find_source(engine, name)
    return name if entry is None else _without_own_database(engine, entry[1])


def _without_own_database(engine: Engine, full: QualifiedName) -> QualifiedName:
    return QualifiedName(full.parts[1:]) if full.parts[0] == current_database(engine) else full


def with_bound_names(engine: Engine, policy: Policy) -> Policy:
    """Returns the policy with the entries to which its sources refer now; known entries stay.

    If rows are on another engine, nothing is kept, because that engine resolves the names.
    """
    if not engine.shares_names:
        return policy
    bound = partial(_bound, engine)
    return replace(
        policy,
        source=bound(policy.source),
        against=policy.against and bound(policy.against),
        related=tuple(replace(table, source=bound(table.source)) for table in policy.related),
    )


def _bound(engine: Engine, source: Source) -> Source:
    if source.bound:
        return source
    entry = find_source(engine, source.name) if source.name else None
    entries = [reading.name for reading in _readings(engine, source, entry) if reading.kind != "other"]
    entries += _macros(engine, source, entry)
    return replace(source, bound=tuple(_without_own_database(engine, name) for name in dict.fromkeys(entries)))


def _macros(engine: Engine, source: Source, entry: Entry | None) -> list[QualifiedName]:
    """Returns the macros that a query or a view may call, each with () after its name."""
    if (source.name is not None and entry is None) or (entry is not None and entry[0] == "table"):
        return []
    try:
        macros = engine.calls(_query_of(source, entry)).macros
    except UserError:
        return []
    return [QualifiedName((*macro.parts[:-1], f"{macro.name}()")) for macro in macros]


def _query_of(source: Source, entry: Entry | None) -> str:
    return str(source.query) if entry is None else to_sql(select(exp.Star(), of=relation(entry[1])))


def _readings(engine: Engine, source: Source, entry: Entry | None) -> list[Reading]:
    """Returns the relations that a source reads, beginning with the `entry` of a named source.

    If the others cannot be determined, only the entry is returned.
    """
    if source.name is not None and entry is None:
        return []
    own_entry = [] if entry is None else [Reading(*entry)]
    if entry is not None and entry[0] == "table":
        return own_entry
    try:
        return [*own_entry, *engine.reads(_query_of(source, entry))]
    except UserError:
        return own_entry


def require_same_meaning(engine: Engine, source: Source) -> None:
    """Raises PolicyError if a name in a policy's query or view now refers to another relation.

    A name that is new in a view does not count.
    """
    if not source.bound:
        return
    then = {_folded(_full_name(engine, entry)): entry for entry in source.bound}
    by_name = {parts[-1]: entry for parts, entry in then.items()}
    own_entry = source_entry(engine, source) if source.name else None
    macros = [Reading("macro", name) for name in _macros(engine, source, own_entry)]
    for reading in [*_readings(engine, source, own_entry), *macros]:
        entry = by_name.get(fold(reading.name.name))
        if entry is not None and _folded(reading.name) not in then:
            name = reading.name.name
            raise PolicyError(
                f"{source.called} read {entry} when the policy was made, and would read {_described(reading)} now",
                hint=f"drop or rename that {name}; or make the policy again, CREATE OR REPLACE POLICY, to mean it",
            )


def _described(reading: Reading) -> str:
    if reading.kind == "other":
        return f"{reading.name}, which is not in the database"
    kind = f"temporary {reading.kind}" if reading.name.parts[0] == _TEMPORARY[0] else reading.kind
    return f"the {kind} {reading.name}"


def require_nothing_temporary(engine: Engine, entry: Entry) -> None:
    """Raises PolicyError for a permanent view that would read a temporary relation, because the view may have read
    another relation before.
    """
    kind, name = entry
    if kind != "view" or name.parts[0] == _TEMPORARY[0]:
        return
    for reading in _readings(engine, Source(name=name), entry):
        if reading.kind != "other" and reading.name.parts[0] == _TEMPORARY[0]:
            raise PolicyError(
                f"the view {name} would read {_described(reading)}",
                hint=f"drop or rename that {reading.name.name}, or name a table instead of the view",
            )


def require_unhidden(engine: Engine, source: Source) -> None:
    """Raises UserError if a temporary table or view has one of the names that a live view reads of a source."""
    names = hidden_names(engine, source)
    temporary = engine.rows(sql_file("statements", "temporary_relations"))
    if hiding := [str(name) for (name,) in temporary if fold(str(name)) in names]:
        raise UserError(hidden(names), hint=unhiding(hiding[0]))


def hidden_names(engine: Engine, source: Source) -> tuple[str, ...]:
    """Returns the names that a live view reads of a source, which temporary tables or views of these names would hide.

    Temporary relations are only in the schema main. So a source in another schema is not hidden, because the live view
    writes its schema. The text of a view or a query may leave schemas out, so its names are all returned.
    """
    return tuple(dict.fromkeys(_hidden(engine, source)))


def _hidden(engine: Engine, source: Source) -> Iterator[str]:
    own_entry = source_entry(engine, source) if source.name else None
    for reading in _readings(engine, source, own_entry):
        is_written_in_full = (
            own_entry is not None and reading.name == own_entry[1] and fold(reading.name.parts[1]) != "main"
        )
        if reading.kind != "other" and not is_written_in_full and not variable_of(reading.name.name):
            yield fold(reading.name.name)


def _folded(name: QualifiedName) -> tuple[str, ...]:
    return tuple(map(fold, name.parts))
