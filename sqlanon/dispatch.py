"""What each statement does, and the rows that it answers with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

from sqlanon.attacks.attacked import ATTACKED
from sqlanon.attacks.unbounded import unbounded
from sqlanon.catalog import migrations, releases
from sqlanon.catalog.digests import require_own_rows
from sqlanon.domain.counts import counted
from sqlanon.domain.release import Release
from sqlanon.domain.report import Measurement, PrivacyReport
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.engines.statement_memo import within_statement
from sqlanon.errors import CatalogError, InternalError, PolicyError, UserError, about
from sqlanon.export.attack_export import attack_export
from sqlanon.export.check_export import check_export
from sqlanon.export.layout import report_path, report_text
from sqlanon.export.reader import estimate_export
from sqlanon.export.run import export_release
from sqlanon.inputs.source import qualified
from sqlanon.methods.registry import assumed_of
from sqlanon.pipeline import run
from sqlanon.pipeline.explain import explanation, printable
from sqlanon.releases.composition import others_among, others_of, warning
from sqlanon.releases.objects import drop_release
from sqlanon.report.page_file import with_report, without_former
from sqlanon.statements import answer_columns
from sqlanon.statements.advise import advise
from sqlanon.statements.attack import attack_relation, attack_release
from sqlanon.statements.check import attacks_beyond, check_relation, check_release, require_no_table
from sqlanon.statements.check_joined import check_joined
from sqlanon.statements.distributed import require_possible
from sqlanon.statements.estimate import estimate_release
from sqlanon.statements.frontier import drop_frontier, make_frontier
from sqlanon.statements.hierarchy import create_hierarchy, drop_hierarchy
from sqlanon.statements.hierarchy_users import misfits
from sqlanon.statements.listings import describe_policy, show
from sqlanon.statements.measure import measure, workload_figures
from sqlanon.statements.measure_figures import measure_figures
from sqlanon.statements.measure_task import measure_task
from sqlanon.statements.policy import alter_policy, create_policy, drop_policy
from sqlanon.statements.preconditions import prepared
from sqlanon.statements.profile import PROFILED, profile, propose_hierarchy
from sqlanon.statements.refresh import refreshed
from sqlanon.statements.series import check_series, create_series, drop_series
from sqlanon.statements.stream import advance_stream, check_stream, create_stream, drop_stream, find_stream
from sqlanon.statements.workload import create_workload, drop_workload
from sqlanon.syntax import statements as s

__all__ = ["Answer", "run_statement"]


@dataclass(frozen=True)
class Answer:
    """Columns with their types, rows of numbers, texts, booleans and NULL, and sentences about them as `remarks`."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[str, ...] = ()


Handler = Callable[[Engine, Any, Watching | None], Answer]


def run_statement(engine: Engine, statement: s.Statement, progress: Watching | None = None) -> Answer:
    """Runs one of sqlanon's statements: whole, or with an error and nothing done."""
    if type(statement) not in _HANDLERS:
        raise InternalError(f"there is nothing that runs {type(statement).__name__}")
    with within_statement(engine):
        try:
            return _run(engine, statement, progress)
        except SystemExit as ended:
            raise UserError(
                "a plug-in tried to end the program in the middle of a statement; nothing was done",
                hint="uninstall the package of the method, format or model that the statement names",
            ) from ended


def _run(engine: Engine, statement: s.Statement, progress: Watching | None) -> Answer:
    if engine.distributed:
        require_possible(statement)
    ready = prepared(engine, statement)
    with migrations.known_to_be_ready(engine) if ready else nullcontext():
        return _HANDLERS[type(statement)](engine, statement, progress)


def _hierarchy(engine: Engine, statement: s.CreateHierarchy | s.ProposeHierarchy, progress: Watching | None) -> Answer:
    if isinstance(statement, s.ProposeHierarchy):
        name, remarks = statement.name, propose_hierarchy(engine, statement)
    else:
        name, remarks = statement.definition.name, create_hierarchy(engine, statement)
    answer = replace(_done("CREATE HIERARCHY", name, "exists" if remarks is None else "created"), remarks=remarks or ())
    if remarks is None or not (warnings := misfits(engine, name)):
        return answer
    # A column that the answer has only where there is something to warn of.
    rows = tuple((*row, "\n".join(warnings)) for row in answer.rows)
    return replace(answer, columns=(*answer.columns, answer_columns.WARNING), rows=rows)


def _policy(engine: Engine, statement: s.CreatePolicy, progress: Watching | None) -> Answer:
    remarks = create_policy(engine, statement)
    done = _done("CREATE POLICY", statement.policy.name, "exists" if remarks is None else "created")
    return replace(done, remarks=remarks or ())


def _altered_policy(engine: Engine, statement: s.AlterPolicy, progress: Watching | None) -> Answer:
    remarks = alter_policy(engine, statement)
    done = _done("ALTER POLICY", statement.name, "absent" if remarks is None else "altered")
    return replace(done, remarks=remarks or ())


def _table(table: tuple[tuple[tuple[str, str], ...], list[tuple[Any, ...]]]) -> Answer:
    columns, rows = table
    return Answer(columns, tuple(rows))


def _workload(engine: Engine, statement: s.CreateWorkload, progress: Watching | None) -> Answer:
    made = create_workload(engine, statement)
    return _done("CREATE WORKLOAD", statement.name, "exists" if made is None else counted(made, "query", "queries"))


def _says(called: str, act: Callable[[Engine, Any], object], done: str, otherwise: str) -> Handler:
    """What runs a statement whose answer is whether anything was done."""
    return lambda engine, statement, progress: _done(
        called, statement.name, done if act(engine, statement) else otherwise
    )


def _done(statement: str, name: str, outcome: str) -> Answer:
    return Answer(answer_columns.DONE, ((statement, name, outcome),))


def _release(engine: Engine, statement: s.CreateRelease, progress: Watching | None) -> Answer:
    state = run.create(engine, statement, progress)
    if state is None:
        release = _load(engine, statement.name)
        # What requires nothing, such as the loss, is no requirement.
        measured = releases.measurements(engine, release)
        report = PrivacyReport(tuple(measurement for measurement in measured if measurement.satisfied is not None))
        others = others_of(engine, release)
    else:
        assert state.release is not None and state.report is not None and state.known is not None
        release, report = state.release, state.report
        others = others_among(engine, release, state.known)
    head = (
        str(release.name),
        release.kind,
        release.source_rows,
        release.released_rows,
        release.suppressed_rows,
        release.loss,
        release.levels,
    )
    said = warning(others)
    remarks = "\n".join(map(printable, state.remarks)) if state and state.remarks else None
    rows = ((*head, m.question, *_measured(m), said, remarks) for m in report.measurements)
    # The column of the loss says which loss it is.
    loss = (release.loss_name or "granularity_loss", "DOUBLE")
    return Answer(
        (*answer_columns.COUNTED, loss, *answer_columns.REQUIRED, answer_columns.WARNING, answer_columns.REMARKS),
        tuple(rows),
    )


def _refresh(engine: Engine, statement: s.RefreshRelease, progress: Watching | None) -> Answer:
    return _release(engine, refreshed(engine, _load(engine, statement.name), statement), progress)


def _explain(engine: Engine, statement: s.ExplainRelease, progress: Watching | None) -> Answer:
    return Answer(answer_columns.EXPLAINED, tuple(explanation(run.explain(engine, statement.create, progress))))


def _drop_release(engine: Engine, statement: s.DropRelease, progress: Watching | None) -> Answer:
    name = f"DROP ANONYMIZED {statement.kind.upper()}"
    with engine.transaction():
        release = releases.find(engine, qualified(engine, statement.name))
        if release is None and statement.if_exists:
            return _done(name, str(statement.name), "absent")
        release = release or _load(engine, statement.name)
        if release.kind != statement.kind:
            raise UserError(
                f"the release {release.name} is a {release.kind}", hint=f"write DROP ANONYMIZED {release.kind.upper()}"
            )
        drop_release(engine, release)
    return _done(name, str(statement.name), "dropped")


def _load(engine: Engine, name: Any) -> Release:
    """The release that a statement reads, whose rows in the catalog are those that were written with it."""
    with about("release"):
        release = releases.load(engine, qualified(engine, name))
    require_own_rows(engine, release)
    return release


def _load_or_table(engine: Engine, name: Any, statement: str) -> Release:
    """As `_load`; of a table that is no release the error says how the statement is asked of it."""
    try:
        return _load(engine, name)
    except CatalogError:
        raise
    except UserError:
        # There is no such release.
        if find_stream(engine, name):
            raise
        require_no_table(engine, name, statement)
        raise


def _check_release(engine: Engine, statement: s.CheckRelease, progress: Watching | None) -> Answer:
    try:
        release = _load_or_table(engine, statement.name, "CHECK")
    except UserError:
        stream = find_stream(engine, statement.name)
        if stream is None:
            raise
        return _checked(str(stream.name), check_stream(engine, stream), ())
    measurements = check_release(engine, release).measurements
    assumed = (measurement.stated for measurement in assumed_of(release))
    return _checked(str(release.name), (*measurements, *assumed), attacks_beyond(engine, release, measurements))


def _create_stream(engine: Engine, statement: s.CreateStream, progress: Watching | None) -> Answer:
    made, warned = create_stream(engine, statement)
    answer = _done("CREATE ANONYMIZED STREAM", str(statement.name), "created" if made else "exists")
    return Answer(answer.columns, answer.rows, (warned,) if warned else ())


def _advance(engine: Engine, statement: s.Advance, progress: Watching | None) -> Answer:
    done = advance_stream(engine, statement)
    batch = done.batch
    numbers = (batch.released_rows, batch.reused_rows, batch.withheld_rows, batch.late_rows, batch.vanished_rows)
    head = (str(done.stream.name), batch.batch, batch.read_rows, batch.classes)
    row = (*head, *numbers, batch.waiting_rows, float(done.stream.k), done.fewest)
    return Answer(answer_columns.ADVANCED, (row,), done.remarks)


def _check_series(engine: Engine, statement: s.CheckSeries, progress: Watching | None) -> Answer:
    release = _load_or_table(engine, statement.name, "CHECK")
    return _checked(str(release.name), check_series(engine, release, statement.series), ())


def _check_joined(engine: Engine, statement: s.CheckJoined, progress: Watching | None) -> Answer:
    release = _load_or_table(engine, statement.name, "CHECK")
    with about("other"):
        other = releases.load(engine, qualified(engine, statement.other))
    require_own_rows(engine, other)
    return _checked(f"{release.name}, {other.name}", check_joined(engine, release, other, statement), ())


def _check_relation(engine: Engine, statement: s.CheckRelation, progress: Watching | None) -> Answer:
    report, requirements = check_relation(engine, statement)
    measurements, sensitive = report.measurements, statement.sensitive if statement.requirements else ()
    return _checked(str(statement.source), measurements, unbounded(engine, requirements, measurements, sensitive))


def _check_export(engine: Engine, statement: s.CheckExport, progress: Watching | None) -> Answer:
    with about("path"):
        checked = check_export(engine, statement.path, statement.key)
    measurements = [e.measurement for e in checked.evidence]
    remarks = unbounded(engine, checked.requirements, measurements, checked.sensitive)
    answer = _checked(checked.release, measurements, remarks)
    rows = tuple((*row, e.known_by) for row, e in zip(answer.rows, checked.evidence, strict=True))
    return Answer((*answer.columns, ("known_by", "VARCHAR")), rows, answer.remarks)


def _checked(name: str, measurements: Sequence[Measurement], remarks: tuple[str, ...]) -> Answer:
    rows = tuple((name, m.question, *_measured(m)) for m in measurements)
    return Answer(answer_columns.CHECKED, rows, remarks)


def _measured(measurement: Measurement) -> tuple[Any, ...]:
    """The columns `answer_columns.MEASURED`."""
    return measurement.attribute, measurement.required, measurement.achieved, measurement.satisfied


def _attack(engine: Engine, statement: s.Attack, progress: Watching | None) -> Answer:
    if statement.release is not None:
        answers = attack_release(engine, _load_or_table(engine, statement.release, "ATTACK"), statement)
    else:
        answers = (attack_relation if statement.source is not None else attack_export)(engine, statement)
    return Answer(ATTACKED, tuple(a.row for a in answers), tuple(a.remark for a in answers if a.undefined))


def _export(engine: Engine, statement: s.ExportRelease, progress: Watching | None) -> Answer:
    release = _load(engine, statement.name)
    if is_database_url(statement.path):
        return Answer(answer_columns.EXPORTED, tuple(map(astuple, export_release(engine, release, statement))))
    with about("path"):
        path = report_path(statement.path)
    former = partial(without_former, path, replace=statement.replace)
    export = partial(export_release, engine, release, statement, former)
    if not statement.report:
        return Answer(answer_columns.EXPORTED, tuple(map(astuple, export())))
    exported = with_report(engine, release.name, path, export, replace=statement.replace)
    rows = tuple((*astuple(file), report_text(statement.path)) for file in exported)
    return Answer((*answer_columns.EXPORTED, answer_columns.REPORT), rows)


def _estimate(engine: Engine, statement: s.Estimate, progress: Watching | None) -> Answer:
    try:
        if statement.file is not None:
            columns, rows = estimate_export(engine, statement.file, statement.query, statement.marginals)
        else:
            release = _load(engine, statement.release)
            columns, rows = estimate_release(engine, release, statement.query, statement.marginals)
    except PolicyError as error:
        # Its place is one in the query.
        if error.position:
            known = statement.query_position
            error.position = error.position.within(known) if known else None
            error.part = error.part or ("query",)
        raise
    return Answer(columns, tuple(rows))


def _measure(engine: Engine, statement: s.Measure, progress: Watching | None) -> Answer:
    release = _load(engine, statement.release)
    figures = measure(engine, release, statement.workload, progress)
    return Answer(answer_columns.FIGURES, tuple((str(release.name), statement.workload, *figure) for figure in figures))


def _measure_figures(engine: Engine, statement: s.MeasureFigures | s.MeasureTask, progress: Watching | None) -> Answer:
    release = _load(engine, statement.release)
    remarks: list[str] = []
    if isinstance(statement, s.MeasureTask):
        figures = measure_task(engine, release, statement.arguments)
    else:
        figures = measure_figures(engine, release, statement.figures, remark=remarks.append)
        if statement.workload is not None:
            figures = [*workload_figures(engine, release, statement.workload, progress), *figures]
    rows = tuple((str(release.name), f.name, f.attribute, f.value) for f in figures)
    return Answer(answer_columns.FIGURES_OF_RELEASE, rows, tuple(remarks))


_HANDLERS: dict[type, Handler] = {
    s.CreateHierarchy: _hierarchy,
    s.ProposeHierarchy: _hierarchy,
    s.DropHierarchy: _says("DROP HIERARCHY", drop_hierarchy, "dropped", "absent"),
    s.CreatePolicy: _policy,
    s.DropPolicy: _says("DROP POLICY", drop_policy, "dropped", "absent"),
    s.AlterPolicy: _altered_policy,
    s.DescribePolicy: lambda engine, statement, _: _table(describe_policy(engine, statement.name)),
    s.Show: lambda engine, statement, _: _table(show(engine, statement.kind)),
    s.CreateWorkload: _workload,
    s.DropWorkload: _says("DROP WORKLOAD", drop_workload, "dropped", "absent"),
    s.CreateSeries: _says("CREATE SERIES", create_series, "created", "exists"),
    s.DropSeries: _says("DROP SERIES", drop_series, "dropped", "absent"),
    s.CreateStream: _create_stream,
    s.Advance: _advance,
    s.DropStream: _says("DROP ANONYMIZED STREAM", drop_stream, "dropped", "absent"),
    s.CreateRelease: _release,
    s.RefreshRelease: _refresh,
    s.ExplainRelease: _explain,
    s.DropRelease: _drop_release,
    s.CheckRelease: _check_release,
    s.CheckSeries: _check_series,
    s.CheckJoined: _check_joined,
    s.CheckRelation: _check_relation,
    s.CheckExport: _check_export,
    s.Attack: _attack,
    s.Profile: lambda engine, statement, _: Answer(PROFILED, tuple(profile(engine, statement))),
    s.ExportRelease: _export,
    s.Measure: _measure,
    s.MeasureFigures: _measure_figures,
    s.MeasureTask: _measure_figures,
    s.Estimate: _estimate,
    s.Frontier: lambda engine, statement, progress: _table(make_frontier(engine, statement, progress)),
    s.Advise: lambda engine, statement, _: _table(advise(engine, statement)),
    s.DropFrontier: _says("DROP FRONTIER", drop_frontier, "dropped", "absent"),
}
