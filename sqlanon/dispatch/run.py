"""The handler of each statement, and the way of a statement to it."""

from __future__ import annotations

from contextlib import nullcontext

from sqlanon.catalog import migrations
from sqlanon.dispatch import objects, releases
from sqlanon.dispatch.answer import Answer, Handler
from sqlanon.dispatch.statement_log import logged
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import within_statement
from sqlanon.errors import InternalError, UserError
from sqlanon.statements.distributed import require_possible
from sqlanon.statements.preconditions import prepared
from sqlanon.syntax import statements as s


def run_statement(engine: Engine, statement: s.Statement, progress: Watching | None = None) -> Answer:
    """Runs one of sqlanon's statements: whole, or with an error and nothing done. The logger has a record of it."""
    if type(statement) not in _HANDLERS:
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


def _run(engine: Engine, statement: s.Statement, progress: Watching | None) -> Answer:
    if engine.distributed:
        require_possible(statement)
    ready = prepared(engine, statement)
    with migrations.known_to_be_ready(engine) if ready else nullcontext():
        return _HANDLERS[type(statement)](engine, statement, progress)


# A handler imports the modules of its statement when it runs, so that a program waits for those alone that it uses.
_HANDLERS: dict[type, Handler] = {
    s.CreateHierarchy: objects.run_create_hierarchy,
    s.ProposeHierarchy: objects.run_create_hierarchy,
    s.DropHierarchy: objects.run_drop_hierarchy,
    s.CreatePolicy: objects.run_create_policy,
    s.DropPolicy: objects.run_drop_policy,
    s.AlterPolicy: objects.run_alter_policy,
    s.DescribePolicy: objects.run_describe_policy,
    s.Show: objects.run_show,
    s.CreateWorkload: objects.run_create_workload,
    s.DropWorkload: objects.run_drop_workload,
    s.CreateSeries: objects.run_create_series,
    s.DropSeries: objects.run_drop_series,
    s.CreateStream: objects.run_create_stream,
    s.Advance: objects.run_advance,
    s.DropStream: objects.run_drop_stream,
    s.CreateRelease: releases.run_create_release,
    s.RefreshRelease: releases.run_refresh_release,
    s.ExplainRelease: releases.run_explain_release,
    s.DropRelease: releases.run_drop_release,
    s.CheckRelease: releases.run_check_release,
    s.CheckSeries: releases.run_check_series,
    s.CheckJoined: releases.run_check_joined,
    s.CheckRelation: releases.run_check_relation,
    s.CheckExport: releases.run_check_export,
    s.Attack: releases.run_attack,
    s.Profile: releases.run_profile,
    s.ExportRelease: releases.run_export_release,
    s.Measure: releases.run_measure,
    s.MeasureFigures: releases.run_measure_figures,
    s.MeasureTask: releases.run_measure_figures,
    s.Estimate: releases.run_estimate,
    s.Frontier: objects.run_frontier,
    s.Advise: objects.run_advise,
    s.DropFrontier: objects.run_drop_frontier,
}
