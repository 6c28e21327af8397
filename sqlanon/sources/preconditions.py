"""Conditions of a session and a database under which figures are what they should be."""

from __future__ import annotations

from threading import Lock

from sqlanon.catalog import migrations
from sqlanon.engines.base import Engine
from sqlanon.errors import EngineError, InUseError, UserError
from sqlanon.sources.session_settings import require_settings
from sqlanon.sql.questions.macros import macro_definitions

# One thread after the other makes a catalog: of two at once DuckDB refuses one.
_INSTALLATION = Lock()
_CONFLICT = "Catalog write-write conflict"


def require_usual_session(engine: Engine) -> None:
    """Raises UserError for settings and macros of the session by which a figure could come out otherwise."""
    require_settings(engine)
    if names := engine.shadowing_macros():
        raise UserError(
            f"macros of this database have the names of built-in functions: {', '.join(names)}",
            hint="rename or drop them: what a release shows and guarantees would depend on them",
        )


def no_catalog() -> UserError:
    """The error of a statement that reads the catalog where there is none."""
    return UserError("this database has no policies and no releases yet", hint="begin with CREATE POLICY")


def install_catalog(engine: Engine) -> None:
    """Makes the catalog and its macros, unless another thread has made them while this one has waited.

    Raises InUseError where a transaction that somebody has begun makes the catalog, and is not over.
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
