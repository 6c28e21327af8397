"""Finds the source of a policy, and copies its rows unless it is a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from sqlglot import exp

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute, BoundPolicy, CoarseColumn, LongTable
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.statement_memo import current_database, session
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.translated import near_file
from sqlanon.errors import EngineError, PolicyError, StatementError, UserError, about
from sqlanon.sources.catalog_entries import find_relation, find_source, require_same_meaning, source_entry
from sqlanon.sources.column_types import require_binary_text
from sqlanon.sources.data_frames import frame_gone, stored_frames
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import huge
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import to_sql, view_over
from sqlanon.sql.build.sql_files import sql_file
from sqlanon.sql.cells.labels import published_value
from sqlanon.syntax.head import FILE_NAME
from sqlanon.syntax.query_text import query_text
from sqlanon.syntax.script import quoted_texts

# A source that is a file on this machine, or a pattern for several files.
_FILE = re.compile(
    r"FROM '(?P<path>(?:(?!://)[^']|'')+\.(?:csv|tsv|parquet|json|jsonl|ndjson)(?:\.gz|\.zst)?)'", re.IGNORECASE
)

# Texts that a stored query may not contain.


# The keyword of a password in a connection string or after a URL's ?, and the beginning of a URL up to its scheme.
_KEYWORD = re.compile(r"(?:password|passwd|pwd)\s*=", re.IGNORECASE)
_SCHEME = re.compile(
    r"(?<![a-z0-9+.-])[0-9+.-]*+[a-z][a-z0-9+.-]*+://|\b(?:postgres|postgresql|mysql|mariadb|mongodb):", re.IGNORECASE
)


def require_no_password(text: str, whose: str) -> None:
    """Raises PolicyError for a query with a text that may contain the password of a database.

    The catalog stores the query as it is. `whose` names the query in the error.
    """
    if any(_may_have_password(unquote(literal)) for literal in quoted_texts(text)):
        raise PolicyError(
            f"{whose} has a password in it, or a text that looks like one, and the catalog would keep it",
            hint="put it into a secret of DuckDB's, CREATE SECRET, or into the environment, PGPASSWORD; for another "
            "text, make a view of the query, which the catalog of sqlanon does not keep",
        )


def _may_have_password(text: str) -> bool:
    """Whether a text has the keyword of a password, or a colon between the beginning of a URL and the last @.

    A password may contain any character, so that harmless texts may be refused, but no password is overlooked.
    """
    scheme = _SCHEME.search(text)
    is_url = scheme is not None and 0 <= text.find(":", scheme.end()) < text.rfind("@")
    return is_url or _KEYWORD.search(text) is not None


# Functions whose result a reader of a live view could choose, and so choose the rows.
_SESSION = frozenset(
    "getvariable getenv current_setting current_schema current_schemas current_database current_catalog current_user "
    "current_role session_user user in_search_path current_query current_query_id current_connection_id "
    "current_transaction_id txid_current".split()
)
_SESSION_PREFIXES = ("duckdb_", "pragma_")


@dataclass(frozen=True)
class BoundSource:
    """The source of a policy, with its columns.

    `relation` can be read repeatedly with the same rows. `lasting` is the relation that a live view may read, or None
    if the source is in another database or is a query. `stable` says whether `lasting` is a table of stored columns;
    any other relation may change between readings. `long_table` is the long table that was pivoted to make the source,
    if there is one. `coarse` are the columns with labels in place of values; `values_of` is the source with the values.
    `of_release` is true if the rows are rows of a release, so that the columns have labels already.
    """

    columns: tuple[Column, ...]
    relation: QualifiedName
    lasting: QualifiedName | None
    stable: bool
    long_table: LongTable | None = None
    coarse: tuple[CoarseColumn, ...] = ()
    values_of: BoundSource | None = None
    of_release: bool = False


def bind_source(
    engine: Engine,
    source: Source,
    temp: TempTables,
    *,
    copy: bool = True,
    failed: str = "the query of the policy does not run",
) -> BoundSource:
    """Finds the source and, unless it is a table, copies its rows once.

    Raises PolicyError if there is no such relation, if its data frame is gone, or if its query fails; the error for a
    failed query begins with `failed`.
    """
    with about("source"):
        for frame in stored_frames(source):
            if find_relation(engine, frame) is None:
                raise frame_gone(frame)
        return _bound_source(engine, source, temp, copy, failed)


def _bound_source(engine: Engine, source: Source, temp: TempTables, copy: bool, failed: str) -> BoundSource:
    declared = engine.declare(source)
    if source.name and declared.name:
        kind_and_name = source_entry(engine, declared)
        if kind_and_name is None:
            _refuse_another(engine, declared)
            raise PolicyError(f"there is no table or view {source.name}", hint=_instead(engine, source.name))
        kind, full = kind_and_name
        database = current_database(engine)
        lasting = QualifiedName(full.parts[1:]) if full.parts[0] == database else None
        if kind == "view":
            require_same_meaning(engine, declared)
        try:
            columns, is_computed = _columns(engine, kind, full)
        except EngineError as error:
            raise PolicyError(f"the {kind} {source.name} cannot be read: {error.message}", hint=error.hint) from None
        require_binary_text(engine, full, columns, called=source.called)
        if not is_computed:
            return BoundSource(columns, full, lasting, stable=True)
        return BoundSource(columns, _copied(engine, full, columns, temp, copy), lasting, stable=False)
    require_same_meaning(engine, source)
    _require_one_query(str(source.query))
    require_no_password(str(source.query), "the query of the policy")
    view = QualifiedName(("temp", temp.view_name("source")))
    try:
        _require_file(engine, str(source.query), failed)
        engine.run(view_over(QualifiedName((view.name,)), str(source.query), temporary=True))
        columns = tuple(engine.columns(select(exp.Star(), of=relation(view.name))))
    except EngineError as error:
        raise PolicyError(f"{failed}: {error.message}", hint=error.hint, quoted=error.quoted) from None
    require_binary_text(engine, QualifiedName((view.name,)), columns, called=source.called)
    copied = _copied(engine, QualifiedName((view.name,)), columns, temp, copy)
    return BoundSource(columns, copied, None, stable=False)


def _require_file(engine: Engine, query: str, failed: str) -> None:
    """Raises PolicyError for a source file that is gone, because reading it would abort the transaction."""
    match = _FILE.fullmatch(query)
    if match is None or engine.distributed:
        return
    path = match["path"].replace("''", "'")
    if find_relation(engine, QualifiedName((path,))) is not None:
        return
    files = select(f.count(), of=f.call("glob", exp.Literal.string(path)))
    if engine.rows(files) == [(0,)]:
        message = f'No files found that match the pattern "{path}"'
        raise PolicyError(f"{failed}: {message}", hint=near_file(message))


def _refuse_another(engine: Engine, source: Source) -> None:
    """Raises PolicyError if the policy's relation is gone and another relation now has its name."""
    if source.name and source.bound and (now := find_source(engine, source.name)):
        raise PolicyError(
            f"{source.name} was {source.bound[0]} when the policy was made, which is gone; the name means the {now[0]} "
            f"{now[1]} now",
            hint="make the policy again with CREATE OR REPLACE POLICY",
        )


def _instead(engine: Engine, name: QualifiedName) -> str:
    databases = {fold(str(row[0])) for row in engine.rows(sql_file("statements", "databases"))}
    if len(name.parts) == 3 and fold(name.parts[0]) not in databases:
        return f"ATTACH the database {name.parts[0]} first: each session has to"
    known = [str(known) for (known,) in engine.rows(sql_file("statements", "relation_names"))]
    return (
        _file_instead(engine, name)
        or nearest(name.name, known)
        or "SHOW ALL TABLES lists what there is; in Python, a data frame has the name of its variable"
    )


def _file_instead(engine: Engine, name: QualifiedName) -> str | None:
    """Returns a hint for a name that looks like a file, with this file or a file of a similar name; None if there is
    none.
    """
    path = str(name)
    is_file = len(name.parts) > 1 and FILE_NAME.fullmatch(f".{name.name}") is not None
    others = "" if is_file else ".*"
    try:
        files = [str(file) for (file,) in engine.rows(sql_file("statements", "files"), [path + others])]
    except EngineError:
        files = []
    if is_file:
        certain = "the file is there" if path in files else "a path begins in the folder in which sqlanon runs"
        return f"write '{path}', in quotes: {certain}"
    readable = [file for file in files if FILE_NAME.fullmatch(file.removeprefix(path))]
    return f"write '{readable[0]}', in quotes, if you mean the file" if readable else None


def passing(engine: Engine, source: Source) -> str | None:
    """Returns the reason why a live view cannot read a source in another session; None if it can."""
    database = current_database(engine)
    entry = source_entry(engine, source) if source.name else None
    query = to_sql(select(exp.Star(), of=relation(entry[1]))) if entry else str(source.query)
    try:
        readings = engine.reads(query)
    except UserError as error:
        return error.message
    # The name of a file has a dot; the name of a Python variable with a data frame has none.
    if any(
        reading.name.name.isidentifier() if reading.kind == "other" else reading.name.parts[0] != database
        for reading in readings
    ):
        return "it is temporary or lives in another database"
    for reading in readings:
        if not reading.steady:
            return (
                f"it names {reading.name.name} without its schema, {reading.name.parts[1]}, and with another search "
                "path that is another table or none"
            )
    return None if entry and entry[0] == "table" else _of_session(engine, query)


def _of_session(engine: Engine, query: str) -> str | None:
    """Returns the reason why another session may answer a query differently: macros, or functions of the session."""
    try:
        calls = engine.calls(query)
    except UserError as error:
        return error.message
    if calls.macros:
        return f"it calls the macro {calls.macros[0].name}, and a session may have another one of that name"
    session_functions = [name for name in calls.functions if name in _SESSION or name.startswith(_SESSION_PREFIXES)]
    return f"it calls {min(session_functions)}, which each session answers for itself" if session_functions else None


def _require_one_query(text: str) -> None:
    """Raises PolicyError unless the text is one query. Because the text is run unchanged, a second statement would run,
    too.
    """
    try:
        query_text(text)
    except StatementError:
        raise PolicyError(
            "the query of the policy is not a single query", hint="write one SELECT, and nothing after it"
        ) from None


def source_column(name: str, columns: Sequence[Column], source: str) -> Column:
    """Returns the source's column of this name and its type. Raises PolicyError if there is no such column."""
    for known in columns:
        if fold(known[0]) == fold(name):
            return known
    raise PolicyError(f"{source} has no column {name}", hint=nearest(name, [known for known, _ in columns]))


def _columns(engine: Engine, kind: str, name: QualifiedName) -> tuple[tuple[Column, ...], bool]:
    """Returns the columns of a relation, and whether one is computed at each reading, as the columns of a view are.

    The expression of a generated column of a table may give another value each time.
    """
    listed = sorted(engine.rows(sql_file("statements", "table_columns"), name.parts)) if kind == "table" else []
    is_computed = kind != "table" or any(is_generated for *_, is_generated in listed)
    # A federated engine's table may be a view in DuckDB.
    if listed and engine.shares_names:
        return tuple((column_name, type_) for _, column_name, type_, _ in listed), is_computed
    return tuple(engine.columns(select(exp.Star(), of=relation(name)))), is_computed


def _copied(
    engine: Engine, name: QualifiedName, columns: tuple[Column, ...], temp: TempTables, copy: bool
) -> QualifiedName:
    if not copy:
        return name
    query = select(*(column(part) for part, _ in columns), of=relation(name))
    return QualifiedName(("temp", "main", temp.rows("source", query)))


def qualified(engine: Engine, name: QualifiedName) -> QualifiedName:
    """Returns a release's schema and name. The schema is the current one unless the user names another.

    Raises UserError for another database, because a transaction writes only one file, and the catalog is in the current
    database.
    """
    now = session(engine)
    schemas = set(map(fold, now.schemas))
    parts = name.parts
    if len(parts) == 1:
        parts = (now.schema, parts[0])
    # The first part of a name a.b means a schema if there is one of that name, and a database otherwise.
    if len(parts) == 2 and fold(parts[0]) not in schemas and fold(parts[0]) in map(fold, now.databases):
        parts = (parts[0], "main", parts[1])
    if len(parts) == 3 and fold(parts[0]) != fold(now.database):
        raise UserError(
            f"the release {name} would be in another database than its catalog",
            hint="name one of this database; EXPORT writes a release to a file of its own",
        )
    if fold(parts[-2]) == "anon":
        raise UserError("the schema anon holds sqlanon's catalog, not releases", hint="choose another schema")
    if fold(parts[-2]) not in schemas:
        raise UserError(f"there is no schema {parts[-2]}", hint="make it with CREATE SCHEMA first")
    return QualifiedName(parts[-2:])


def own_object(engine: Engine, name: QualifiedName) -> QualifiedName:
    """Returns the full name of a release's object, with the database.

    By schema and name alone, DuckDB would find a temporary object first.
    """
    return QualifiedName((current_database(engine), *name.parts[-2:]))


def in_file(engine: Engine, table: QualifiedName) -> bool:
    """Whether a table, by its full name, is stored in a file, because DuckDB then stores repeated texts as
    dictionaries.
    """
    return table.parts[0] in [row[0] for row in engine.rows(sql_file("statements", "database_files"))]


def require_not_source(engine: Engine, name: QualifiedName, table: exp.Table, policy: Policy) -> None:
    """Raises PolicyError if a relation, called `name`, is the policy's source or a view that reads it."""
    policy_source = source_entry(engine, policy.source) if policy.source.name else None
    read = engine.tables_of(to_sql(select(exp.Star(), of=table)))
    if policy_source and policy_source[1] in [
        relation_read[1] for relation_read in (find_relation(engine, name_read) for name_read in read) if relation_read
    ]:
        raise PolicyError(f"{name} reads the source of the release", hint="an estimate reads the release alone")


# Identities by which a source's rows are compared with its earlier rows.


def source_identity(
    engine: Engine,
    bound: BoundPolicy,
    attributes: Sequence[BoundAttribute],
    hierarchies: Mapping[str, StoredHierarchy],
) -> Sequence[Any]:
    """Identifies the rows of a source by some attributes: columns, hierarchies, the number of rows and their hashes.

    `hierarchies` has the hierarchies by folded name. Equal identities mean the same rows in any order, within this
    process.
    """
    of_columns = tuple((b.role, b.column, b.published_type, b.hierarchy, _digest(b, hierarchies)) for b in attributes)
    return (*of_columns, *rows_identity(engine, bound.relation, [published_value(b) for b in attributes]))


def rows_identity(engine: Engine, table: QualifiedName, values: Sequence[exp.Expr]) -> Sequence[Any]:
    """Returns the number of a table's rows, and the sum of the hashes of their values."""
    hashed = f.call("hash", *values)
    return engine.rows(select(f.count(), f.sum(huge(hashed)), of=relation(table)))[0]


def _digest(b: BoundAttribute, hierarchies: Mapping[str, StoredHierarchy]) -> str | None:
    return hierarchies[fold(b.hierarchy.name)].digest if b.hierarchy else None


# Comparison of the rows of two queries, each with its number of times, in any order.


def has_same_rows(engine: Engine, first: exp.Query, second: exp.Query) -> bool:
    """Whether two queries over the same columns have the same rows, each equally often."""
    return has_rows_of(engine, first, second) and has_rows_of(engine, second, first)


def has_rows_of(engine: Engine, rows: exp.Query, others: exp.Query) -> bool:
    """Whether `others` has each row of `rows` at least as often; both have the same columns."""
    beyond = subquery(exp.except_(rows, others, distinct=False, copy=True), "beyond")
    return not engine.rows(select(literal(1), of=beyond, limit=1))
