"""Runs statements: first the checks, then the statement itself."""

from __future__ import annotations

from contextlib import nullcontext

from sqlanon.catalog import migrations
from sqlanon.domain.context import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import within_statement
from sqlanon.errors import InternalError, UserError
from sqlanon.sources.preconditions import install_catalog, no_catalog, require_usual_session
from sqlanon.statements.base import Answer, Catalog, PassThrough, Statement
from sqlanon.statements.log import logged

ELSEWHERE = "run it on DuckDB, with a table of the rows there: CREATE TABLE ... AS FROM read_parquet(...)"


def run_statement(engine: Engine, statement: Statement, progress: Watching | None = None) -> Answer:
    """Runs a statement of sqlanon completely, or raises an error and changes nothing; logs the statement."""
    if isinstance(statement, PassThrough):
        raise InternalError(f"there is nothing that runs {type(statement).__name__}")
    with logged(statement, progress) as log, within_statement(engine):
        try:
            answer = _run(engine, statement, log.watching)
        except SystemExit as ended:
            raise UserError(
                "a plug-in tried to end the program in the middle of a statement; nothing was done",
                hint="uninstall the package of the method, format or model that the statement names",
            ) from ended
        engine.end_statement()
    log.answered(answer)
    return answer


def _run(engine: Engine, statement: Statement, progress: Watching | None) -> Answer:
    if engine.distributed:
        _require_possible(statement)
    ready = _prepared(engine, statement)
    with migrations.known_to_be_ready(engine) if ready else nullcontext():
        return statement.run(engine, progress)


def _require_possible(statement: Statement) -> None:
    """Raises UserError, with the reason, for a statement that does not run with rows on another engine."""
    refused = statement.elsewhere()
    if refused is not None:
        raise UserError(f"{refused.statement} does not run with engine => 'spark': {refused.reason}", hint=ELSEWHERE)


def _prepared(engine: Engine, statement: Statement) -> bool:
    """Checks that the catalog exists if the statement needs it, and that the session does not change its figures.

    Returns whether there is a catalog. Raises UserError for settings and macros that could change a figure, and
    CatalogError for an older, newer or changed catalog.
    """
    ready = statement.catalog() is not Catalog.NONE and _catalog_is_there(engine, statement)
    if statement.CALCULATES:
        require_usual_session(engine)
    return ready


def _catalog_is_there(engine: Engine, statement: Statement) -> bool:
    """Whether there is a catalog; installs one, with its macros, for a statement that writes.

    Raises UserError for a statement that reads a missing catalog, and CatalogError for an older, newer or changed
    catalog.
    """
    if migrations.ready(engine):
        return True
    match statement.catalog():
        case Catalog.LISTS:
            return False
        case Catalog.WRITES:
            install_catalog(engine)
            return True
    statement.explain_lack(engine)
    raise no_catalog()
