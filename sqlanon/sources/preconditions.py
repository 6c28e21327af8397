"""Checks the settings of a session and a database on which figures depend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from sqlglot import exp

from sqlanon.catalog import migrations
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import settings_of_texts
from sqlanon.errors import EngineError, InUseError, UserError
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.source import BoundSource
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.questions.macros import macro_definitions
from sqlanon.sql.release.view_preconditions import BINARY, MadeFor

# The settings of a session that change the meaning of a query.


# Settings that may change the result of a user's query. Our queries do not depend on them.
_OF_ANY_QUERY = (
    "default_order",
    "default_null_order",
    "dialect_compatibility_mode",
    "ieee_floating_point_ops",
    "error_on_division_by_zero",
    "scalar_subquery_error_on_multiple_rows",
)
# Settings that decide how a timestamp with time zone is written as text and read from it.
_OF_TIMESTAMPS = ("TimeZone", "Calendar")
_IN_UTC = ("UTC", "gregorian")
_ZONED = "WITH TIME ZONE"


def require_settings(engine: Engine) -> None:
    """Raises UserError in a session that compares text by a collation, or in which / is not the usual division of
    numbers.
    """
    collation, whole, *_ = settings_of_texts(engine)
    if str(collation or "").lower() not in BINARY:
        raise UserError(
            f"this session compares text by the collation {collation}: classes would look larger than they are",
            hint="run RESET default_collation first",
        )
    if whole is not False:
        raise UserError(
            "this session has integer_division: shares and distances would be rounded to whole numbers",
            hint="run RESET integer_division first",
        )


@contextmanager
def timestamps_in_utc(engine: Engine, types: Sequence[str]) -> Iterator[None]:
    """Sets the session's time zone to UTC within the block, so that timestamps are written without the user's zone.

    Nothing is set if none of the types has a time zone.
    """
    if not any(_ZONED in type_ for type_ in types):
        yield
        return
    of_session = engine.rows(select(*(f.call("current_setting", literal(name)) for name in _OF_TIMESTAMPS)))[0]
    _set_timestamps(engine, _IN_UTC)
    try:
        yield
    finally:
        _set_timestamps(engine, of_session)


def _set_timestamps(engine: Engine, values: Sequence[object]) -> None:
    for name, value in zip(_OF_TIMESTAMPS, values, strict=True):
        assignment = exp.EQ(this=exp.var(name), expression=literal(str(value)))
        engine.run(exp.Set(expressions=[exp.SetItem(this=assignment)]))


def made_for(
    engine: Engine, bound: BoundPolicy, policy_source: Source, source: BoundSource, names: Sequence[str]
) -> MadeFor:
    """Returns the columns and settings under which a live view over the columns `names` is correct.

    A table has the same meaning in all sessions. A query, or a view that a user made, keeps the meaning of the current
    settings.
    """
    settings: list[str] = []
    if not source.stable:
        settings += [*_OF_ANY_QUERY, *(_OF_TIMESTAMPS if _reads_timestamps(engine, policy_source, source) else ())]
    elif any(_ZONED in kind and name in _read_from_text(bound) for name, kind in source.columns):
        settings += _OF_TIMESTAMPS
    values = engine.rows(select(*map(_current, settings)))[0] if settings else ()
    kinds = dict(source.columns)
    typed = tuple((name, kinds[name], without_enums(kinds[name])) for name in names)
    return MadeFor(typed, tuple(zip(settings, map(str, values), strict=True)))


def is_writable(engine: Engine) -> bool:
    """Whether the session's database can be written, so that the catalog can record something."""
    query = "SELECT readonly FROM system.main.duckdb_databases() WHERE database_name = system.main.current_database()"
    return not engine.rows(query)[0][0]


def _read_from_text(bound: BoundPolicy) -> set[str]:
    """Returns the columns whose values are looked up among texts: in a hierarchy, in ranges, or as guarding nodes."""
    in_ranges = bound.sensitive if bound.ranges else ()
    named = (b for b in (*bound.attributes, *in_ranges) if b.hierarchy or b.attribute.is_coarse or b in in_ranges)
    return {b.column for b in named} | set(bound.guarding)


def _reads_timestamps(engine: Engine, policy_source: Source, source: BoundSource) -> bool:
    """Whether a query may read or compute a timestamp with time zone; true in case of doubt."""
    query = policy_source.query or to_sql(select(exp.Star(), of=relation(source.lasting or source.relation)))
    ((plan,),) = engine.rows("SELECT CAST(json_serialize_plan(?) AS VARCHAR)", [query])
    return _ZONED in plan or not plan.startswith('{"error":false')


def _current(name: str) -> exp.Expr:
    value = f.call("current_setting", literal(name))
    return as_text(value)


# Threads make a catalog one after the other: DuckDB refuses one of two at once.
_INSTALLATION = Lock()
_CONFLICT = "Catalog write-write conflict"


def require_usual_session(engine: Engine) -> None:
    """Raises UserError for settings and macros of the session that could change a figure."""
    require_settings(engine)
    if names := engine.shadowing_macros():
        raise UserError(
            f"macros of this database have the names of built-in functions: {', '.join(names)}",
            hint="rename or drop them: what a release shows and guarantees would depend on them",
        )


def no_catalog() -> UserError:
    """Returns the error for a statement that reads the catalog of a database without one."""
    return UserError(
        "this database has no policies and no releases yet",
        hint="begin with CREATE ANONYMIZED TABLE name FROM patients (age, sex), or with CREATE POLICY",
    )


def install_catalog(engine: Engine) -> None:
    """Makes the catalog and its macros, unless another thread made them while this thread waited.

    Raises InUseError if an open transaction makes the catalog.
    """
    with _INSTALLATION:
        if migrations.ready(engine):
            return
        try:
            with engine.transaction():
                migrations.create(engine)
                for text in macro_definitions():
                    engine.run(text)
        except EngineError as error:
            if _CONFLICT not in error.message:
                raise
            raise InUseError(
                "another transaction makes the catalog of this database at the same time; nothing was done",
                hint="run this again once the other transaction is over; inside BEGIN, after a ROLLBACK",
            ) from error
