"""What holds before a statement runs: its catalog is there, and the session computes as it should."""

from __future__ import annotations

from threading import Lock

from sqlanon.catalog import migrations
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import EngineError, InUseError, UserError
from sqlanon.inputs.session_settings import require_settings
from sqlanon.questions.macros import macro_definitions
from sqlanon.syntax import statements as s

__all__ = ["prepared"]

# One thread after the other makes a catalog: of two at once DuckDB refuses one.
_INSTALLATION = Lock()
_CONFLICT = "Catalog write-write conflict"
_WRITES = (s.CreateHierarchy, s.ProposeHierarchy, s.CreatePolicy)
# What a release shows, or is said to guarantee, comes from these.
_CALCULATES = (
    s.CreateHierarchy,
    s.ProposeHierarchy,
    s.CreateWorkload,
    s.CreateRelease,
    s.RefreshRelease,
    s.ExplainRelease,
    s.CreateStream,
    s.Advance,
    s.DropStream,
    s.DropRelease,
    s.CheckRelease,
    s.CheckSeries,
    s.CheckJoined,
    s.CheckRelation,
    s.CheckExport,
    s.Attack,
    s.Profile,
    s.ExportRelease,
    s.Estimate,
    s.Measure,
    s.MeasureFigures,
    s.MeasureTask,
    s.Frontier,
)
_DROPS = (s.DropHierarchy, s.DropPolicy, s.DropWorkload, s.DropFrontier, s.DropSeries, s.DropRelease, s.DropStream)


def prepared(engine: Engine, statement: s.Statement) -> bool:
    """Sees to it that a statement can run: that there is a catalog, and that nothing of the session turns its figures.

    Whether there is a catalog. Raises UserError for settings and macros by which a figure could come out otherwise,
    and CatalogError for a catalog that is older, newer or changed.
    """
    ready = not _needs_no_catalog(statement) and _prepare_catalog(engine, statement)
    if isinstance(statement, _CALCULATES):
        require_settings(engine)
        _require_built_ins(engine)
    return ready


def _needs_no_catalog(statement: s.Statement) -> bool:
    is_of_file = isinstance(statement, s.Estimate) and statement.file is not None
    if isinstance(statement, s.Attack):
        return statement.release is None
    return is_of_file or isinstance(statement, s.CheckRelation | s.CheckExport | s.Profile)


def _require_built_ins(engine: Engine) -> None:
    """Raises UserError while a macro stands in for a built-in function: a count could come out as it likes."""
    if names := engine.shadowing_macros():
        raise UserError(
            f"macros of this database have the names of built-in functions: {', '.join(names)}",
            hint="rename or drop them: what a release shows and guarantees would depend on them",
        )


def _prepare_catalog(engine: Engine, statement: s.Statement) -> bool:
    """Installs the catalog and its macros where there is none and the statement will write.

    Whether there is a catalog then. Raises CatalogError for one that is older, newer or changed.
    """
    if migrations.ready(engine):
        return True
    if isinstance(statement, (*_DROPS, s.Show)):
        # There is nothing to drop or to list, which the statement itself will say, or accept with IF EXISTS.
        return False
    if isinstance(statement, s.CheckRelease | s.CheckSeries | s.CheckJoined):
        _require_no_table(engine, statement.name, "CHECK")
    if isinstance(statement, s.Attack) and statement.release:
        _require_no_table(engine, statement.release, "ATTACK")
    if not isinstance(statement, _WRITES):
        raise UserError("this database has no policies and no releases yet", hint="begin with CREATE POLICY")
    _install(engine)
    return True


def _require_no_table(engine: Engine, name: QualifiedName, statement: str) -> None:
    from sqlanon.statements.check import require_no_table

    require_no_table(engine, name, statement)


def _install(engine: Engine) -> None:
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
