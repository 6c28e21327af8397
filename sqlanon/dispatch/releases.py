"""Runs the statements that make, check, measure, query and export releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from typing import Any

from sqlanon.catalog import releases
from sqlanon.catalog.digests import require_own_rows
from sqlanon.dispatch.answer import Answer, done
from sqlanon.domain.release import Release
from sqlanon.domain.report import Measurement, PrivacyReport
from sqlanon.domain.watching import Watching
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.errors import CatalogError, PolicyError, UserError, about
from sqlanon.inputs.source import qualified
from sqlanon.statements import answer_columns
from sqlanon.syntax import statements as s


def run_profile(engine: Engine, statement: s.Profile, progress: Watching | None) -> Answer:
    from sqlanon.statements.profile import PROFILED, profile

    return Answer(PROFILED, tuple(profile(engine, statement)))


def run_create_release(engine: Engine, statement: s.CreateRelease, progress: Watching | None) -> Answer:
    from sqlanon.pipeline import run
    from sqlanon.pipeline.explain import printable
    from sqlanon.releases.composition import others_among, others_of, warning

    published = run.create(engine, statement, progress)
    if published is None:
        release = _load(engine, statement.name)
        # What requires nothing, such as the loss, is no requirement.
        measured = releases.measurements(engine, release)
        report = PrivacyReport(tuple(measurement for measurement in measured if measurement.satisfied is not None))
        others = others_of(engine, release)
    else:
        release, report = published.release, published.report
        others = others_among(engine, release, published.known)
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
    remarks = "\n".join(map(printable, published.remarks)) if published and published.remarks else None
    rows = ((*head, m.question, *_measured(m), said, remarks) for m in report.measurements)
    # The column of the loss says which loss it is.
    loss = (release.loss_name, "DOUBLE")
    return Answer(
        (*answer_columns.COUNTED, loss, *answer_columns.REQUIRED, answer_columns.WARNING, answer_columns.REMARKS),
        tuple(rows),
    )


def run_refresh_release(engine: Engine, statement: s.RefreshRelease, progress: Watching | None) -> Answer:
    from sqlanon.statements.refresh import refreshed

    return run_create_release(engine, refreshed(engine, _load(engine, statement.name), statement), progress)


def run_explain_release(engine: Engine, statement: s.ExplainRelease, progress: Watching | None) -> Answer:
    from sqlanon.pipeline import run
    from sqlanon.pipeline.explain import explanation

    return Answer(answer_columns.EXPLAINED, tuple(explanation(run.explain(engine, statement.create, progress))))


def run_drop_release(engine: Engine, statement: s.DropRelease, progress: Watching | None) -> Answer:
    from sqlanon.releases.objects import drop_release

    name = f"DROP ANONYMIZED {statement.kind.upper()}"
    with engine.transaction():
        release = releases.find(engine, qualified(engine, statement.name))
        if release is None and statement.if_exists:
            return done(name, str(statement.name), "absent")
        release = release or _load(engine, statement.name)
        if release.kind != statement.kind:
            raise UserError(
                f"the release {release.name} is a {release.kind}", hint=f"write DROP ANONYMIZED {release.kind.upper()}"
            )
        drop_release(engine, release)
    return done(name, str(statement.name), "dropped")


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
        from sqlanon.statements.check import require_no_table
        from sqlanon.statements.stream import find_stream

        if find_stream(engine, name):
            raise
        require_no_table(engine, name, statement)
        raise


def run_check_release(engine: Engine, statement: s.CheckRelease, progress: Watching | None) -> Answer:
    from sqlanon.methods.registry import assumed_of
    from sqlanon.statements.check import attacks_beyond, check_release

    try:
        release = _load_or_table(engine, statement.name, "CHECK")
    except UserError:
        from sqlanon.statements.stream import check_stream, find_stream

        stream = find_stream(engine, statement.name)
        if stream is None:
            raise
        return _checked(str(stream.name), check_stream(engine, stream), ())
    measurements = check_release(engine, release).measurements
    assumed = (measurement.stated for measurement in assumed_of(release))
    return _checked(str(release.name), (*measurements, *assumed), attacks_beyond(engine, release, measurements))


def run_check_series(engine: Engine, statement: s.CheckSeries, progress: Watching | None) -> Answer:
    from sqlanon.statements.series import check_series

    release = _load_or_table(engine, statement.name, "CHECK")
    return _checked(str(release.name), check_series(engine, release, statement.series), ())


def run_check_joined(engine: Engine, statement: s.CheckJoined, progress: Watching | None) -> Answer:
    from sqlanon.statements.check_joined import check_joined

    release = _load_or_table(engine, statement.name, "CHECK")
    with about("other"):
        other = releases.load(engine, qualified(engine, statement.other))
    require_own_rows(engine, other)
    return _checked(f"{release.name}, {other.name}", check_joined(engine, release, other, statement), ())


def run_check_relation(engine: Engine, statement: s.CheckRelation, progress: Watching | None) -> Answer:
    from sqlanon.attacks.unbounded import unbounded
    from sqlanon.statements.check import check_relation

    report, requirements = check_relation(engine, statement)
    measurements, sensitive = report.measurements, statement.sensitive if statement.requirements else ()
    return _checked(str(statement.source), measurements, unbounded(engine, requirements, measurements, sensitive))


def run_check_export(engine: Engine, statement: s.CheckExport, progress: Watching | None) -> Answer:
    from sqlanon.attacks.unbounded import unbounded
    from sqlanon.export.check_export import check_export

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


def run_attack(engine: Engine, statement: s.Attack, progress: Watching | None) -> Answer:
    from sqlanon.attacks.attacked import ATTACKED
    from sqlanon.statements.attack import attack_relation, attack_release

    if statement.release is not None:
        answers = attack_release(engine, _load_or_table(engine, statement.release, "ATTACK"), statement)
    elif statement.source is not None:
        answers = attack_relation(engine, statement)
    else:
        from sqlanon.export.attack_export import attack_export

        answers = attack_export(engine, statement)
    return Answer(ATTACKED, tuple(a.row for a in answers), tuple(a.remark for a in answers if a.undefined))


def run_export_release(engine: Engine, statement: s.ExportRelease, progress: Watching | None) -> Answer:
    from sqlanon.export.layout import report_path, report_text
    from sqlanon.export.run import export_release
    from sqlanon.report.page_file import with_report, without_former

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


def run_estimate(engine: Engine, statement: s.Estimate, progress: Watching | None) -> Answer:
    try:
        if statement.file is not None:
            from sqlanon.export.estimate_export import estimate_export

            columns, rows = estimate_export(engine, statement.file, statement.query, statement.marginals)
        else:
            from sqlanon.statements.estimate import estimate_release

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


def run_measure(engine: Engine, statement: s.Measure, progress: Watching | None) -> Answer:
    from sqlanon.statements.measure import measure

    release = _load(engine, statement.release)
    figures = measure(engine, release, statement.workload, progress)
    return Answer(answer_columns.FIGURES, tuple((str(release.name), statement.workload, *figure) for figure in figures))


def run_measure_figures(
    engine: Engine, statement: s.MeasureFigures | s.MeasureTask, progress: Watching | None
) -> Answer:
    release = _load(engine, statement.release)
    remarks: list[str] = []
    if isinstance(statement, s.MeasureTask):
        from sqlanon.statements.measure_task import measure_task

        figures = measure_task(engine, release, statement.arguments)
    else:
        from sqlanon.statements.measure_figures import measure_figures

        figures = measure_figures(engine, release, statement.figures, remark=remarks.append)
        if statement.workload is not None:
            from sqlanon.statements.measure import workload_figures

            figures = [*workload_figures(engine, release, statement.workload, progress), *figures]
    rows = tuple((str(release.name), f.name, f.attribute, f.value) for f in figures)
    return Answer(answer_columns.FIGURES_OF_RELEASE, rows, tuple(remarks))
