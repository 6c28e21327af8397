"""Collects the facts of a report: the answers of CHECK, MEASURE and ATTACK, and the catalog's records of a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from sqlglot import exp

from sqlanon.assess.attack import attack_release
from sqlanon.assess.attacks.attacked import AttackAnswer, class_text
from sqlanon.assess.check import check_release, require_no_table
from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.assess.figures.suda import special_columns_of
from sqlanon.assess.measure_figures import measure_figures, of_whole_release
from sqlanon.assess.measure_results import Results
from sqlanon.assess.special_uniques import SpecialColumns
from sqlanon.assess.workloads.summary import typical_counts
from sqlanon.catalog import budgets, frontiers, migrations, workloads
from sqlanon.catalog.frontiers import Measured
from sqlanon.catalog.snapshot import fingerprint, hierarchies_of, policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Assumption, PrivacyReport, Reading, Release
from sqlanon.domain.requests import AttackRequest
from sqlanon.domain.summary import CountError
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.statement_memo import within_statement
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.estimates.query.parse import Aggregate, parsed
from sqlanon.methods.registry import assumed_of, promised_by
from sqlanon.release.existing.classes import ReleaseClasses, classes_of, tells_rows_apart
from sqlanon.release.existing.composition import others_of, warning
from sqlanon.release.existing.loaded import load_release
from sqlanon.release.existing.statistics import statistic_queries
from sqlanon.sources.preconditions import no_catalog, require_usual_session
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.classes.normal_relations import relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.ask import BoundRequirement, least_rows
from sqlanon.sql.questions.statistics import BoundStatistic, bind_statistic, load_statistic

# The classes in a report's plots: their sizes, and the sensitive values of the worst classes.


@dataclass(frozen=True)
class ValueShare:
    """A sensitive value, or None for NULL, with the number of rows that have it in a class and among all rows."""

    label: str | None
    rows: int
    rows_of_all: int


@dataclass(frozen=True)
class WorstClass:
    """A class, as the release shows it, with the values whose shares differ most from their shares among all rows.

    `divergence` is the Jensen-Shannon divergence in nats; `p_loss` is the largest of all classes. `total` is the number
    of rows in classes.
    """

    attribute: str
    name: str
    size: int
    total: int
    divergence: float
    values: tuple[ValueShare, ...]

    @property
    def others(self) -> ValueShare | None:
        """All values that are not listed, together; None if there are no such values."""
        rows = self.size - sum(value.rows for value in self.values)
        rows_of_all = self.total - sum(value.rows_of_all for value in self.values)
        return ValueShare("all other values", rows, rows_of_all) if rows_of_all else None


def class_sizes(engine: Engine, release: Release) -> list[tuple[int, int]]:
    """Returns (size, n), by size: n classes have this size. Raises the errors of `classes_of`."""
    classes = classes_of(engine, release)
    statistic = bind_statistic(load_statistic("report", "class_size_counts"), {})
    with engine.transaction(), TempTables(engine) as temp:
        [query] = statistic_queries(engine, [statistic], _rows(engine, release, classes, statistic), None, temp)
        return [(int(size), int(count)) for size, count in engine.rows(query)]


def worst_classes(engine: Engine, release: Release) -> list[WorstClass]:
    """Returns the worst classes of each sensitive attribute, with the worst class first. Raises the errors of
    `classes_of`.
    """
    classes = classes_of(engine, release)
    worst: list[WorstClass] = []
    for attribute in classes.bound.sensitive:
        statistic = bind_statistic(load_statistic("report", "worst_class_values"), {}, (attribute.column,))
        with engine.transaction(), TempTables(engine) as temp:
            query = _query(statistic, _rows(engine, release, classes, statistic), temp)
            worst += _classes(attribute.column, engine.rows(query))
    return worst


def _rows(engine: Engine, release: Release, classes: ReleaseClasses, statistic: BoundStatistic) -> Rows:
    sources = {made.fragment: relation(own_object(engine, made.name)) for made in release.published}
    [part] = classes.rows(sources, [statistic])
    return part.rows


def _query(statistic: BoundStatistic, rows: Rows, temp: TempTables) -> exp.Select:
    """Returns the query of the worst classes, which also reads the values behind their numbers."""
    tables: dict[str, str] = {}
    for name, query in [*relations_of(rows, [statistic]), *sensitive_values([statistic])]:
        tables[name] = temp.table(name, reading(query, tables))
    return statistic.statement("figures", {name: tables[f"{name}_0"] for name in statistic.reads})


def _classes(attribute: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[WorstClass]:
    for _, values in groupby(rows, key=lambda row: row[0]):
        listed = list(values)
        _, class_id, size, divergence, _, _, _, total = listed[0]
        shares = tuple(ValueShare(label, int(n), int(n_of_all)) for *_, label, n, n_of_all, _ in listed)
        yield WorstClass(attribute, class_text(class_id), int(size), int(total), float(divergence), shares)


GRANULARITY_LOSS = "granularity_loss"

# The attacks that need no other table and no argument; the first needs only a class as knowledge.
SUREST = "homogeneity"
_ATTACKS = (SUREST, "background", "skewness")


@dataclass(frozen=True)
class Facts:
    """The facts about a release at one time, for a report.

    `not_measured` has the reasons for figures that are left out. `answers` are the errors for each workload by which
    the release was measured. `without_classes` is the reason why a release has no classes; `sizes`, `worst` and
    `attacks` are then empty. `candidates` has the candidates of each frontier of the release's policy. `examples` has,
    by folded name, a label of each column with labels of one level. `typical` is the error of a typical count, measured
    by new random counts and not recorded. `budgets` has, for a release with noise, the name of each budget of its
    policy, its epsilon, and the epsilon left. `tells_rows_apart` is true if a reader can distinguish the rows of a
    class, which is then a bucket. `special` are the columns that make rows special.
    """

    release: Release
    policy: Policy
    checked: PrivacyReport
    assumptions: tuple[Assumption, ...]
    figures: Sequence[ClassFigure]
    not_measured: Sequence[str]
    attacks: Sequence[AttackAnswer]
    answers: Mapping[str, Sequence[AnswerErrors]]
    sizes: Sequence[tuple[int, int]]
    worst: Sequence[WorstClass]
    without_classes: str | None
    candidates: Mapping[str, Sequence[Measured]]
    examples: Mapping[str, str]
    other_releases: str | None
    typical: CountError
    budgets: Sequence[tuple[str, float, float]]
    tells_rows_apart: bool
    special: SpecialColumns

    @property
    def requirements(self) -> tuple[BoundRequirement, ...]:
        """The requirements of the policy for the release, and the promises of its method."""
        promised = promised_by(self.release.method, self.release.method_arguments)
        return resolve_requirements(self.policy, promised=promised)

    @property
    def least_rows(self) -> int:
        """The number of rows below which a class violates the requirements for any values."""
        return least_rows(self.requirements)

    @property
    def without_requirement(self) -> tuple[str, ...]:
        """The sensitive columns that no requirement, promise of the method or confidentiality constraint is about.

        The result is empty for a release with noise, because its promise covers all values in a respondent's rows.
        """
        if self.release.has_noise:
            return ()
        about = [name for requirement in self.requirements for name in requirement.attributes]
        about += [name for constraint in self.policy.confidential for name in constraint]
        known = {*map(fold, about)}
        return tuple(a.name for a in self.policy.having(Role.SENSITIVE) if fold(a.name) not in known)

    def over_all(self, figure: str) -> float | None:
        """Returns a figure of the whole release, computed as in FRONTIER."""
        return of_whole_release(self.figures, figure)


def facts_of(engine: Engine, name: QualifiedName) -> Facts:
    """Runs CHECK, MEASURE and ATTACK on a release, in one transaction. Raises the errors of these statements.

    MEASURE's figures are recorded in the catalog, as if the statement had been written.
    """
    with within_statement(engine):
        if not migrations.ready(engine):
            require_no_table(engine, name)
            raise no_catalog()
        require_usual_session(engine)
        with migrations.known_to_be_ready(engine), engine.transaction():
            return _facts(engine, load_release(engine, name))


def _facts(engine: Engine, release: Release) -> Facts:
    checked = check_release(engine, release)
    without_classes = _without_classes(engine, release)
    not_measured: list[str] = []
    has_classes = without_classes is None
    has_values = has_classes and bool(classes_of(engine, release).bound.sensitive)
    return Facts(
        release=release,
        policy=policy_of(release),
        checked=checked,
        assumptions=assumed_of(release),
        figures=_figures(engine, release, not_measured),
        not_measured=not_measured,
        attacks=list(_attacked(engine, release)) if has_values else (),
        answers=errors_of_workloads(engine, release),
        sizes=class_sizes(engine, release) if has_classes else (),
        worst=worst_classes(engine, release) if has_values else (),
        without_classes=without_classes,
        candidates=_candidates(engine, release),
        examples=_examples(engine, release),
        budgets=list(_budgets(engine, release)) if release.has_noise else (),
        tells_rows_apart=tells_rows_apart(release),
        special=special_columns_of(engine, release),
        other_releases=warning(others_of(engine, release)),
        typical=typical_counts(engine, release)
        if engine.reads_in_place
        else CountError(reason="the rows are on another engine, where MEASURE ... WITH WORKLOAD asks for it"),
    )


def _figures(engine: Engine, release: Release, not_measured: list[str]) -> list[ClassFigure]:
    """Returns the figures that a report may show; the reasons for missing ones are added to `not_measured`.

    A release with noise has none, because a comparison with the source would be exact, and no budget has paid for it.
    """
    if release.has_noise:
        not_measured.append(
            "figures that compare it with its source have no noise, and are the owner's: "
            "MEASURE ... WITH FIGURES tells them"
        )
        return []
    # A figure that is not recorded is about single populations, and has values of the source.
    return [each for each in measure_figures(engine, release, (), remark=not_measured.append) if each.recorded]


def _budgets(engine: Engine, release: Release) -> Iterator[tuple[str, float, float]]:
    for name, policy, epsilon, _, left, *_ in budgets.counts(engine):
        if fold(str(policy)) == fold(release.policy):
            yield str(name), float(epsilon), float(left)


def _without_classes(engine: Engine, release: Release) -> str | None:
    try:
        classes_of(engine, release)
    except PolicyError as error:
        return error.message
    return None


def _examples(engine: Engine, release: Release) -> dict[str, str]:
    """Returns, for each column that is published as labels of one level, the label that sorts last as text. Columns
    whose last label is `*` are left out.
    """
    examples: dict[str, str] = {}
    for made in release.published:
        names = [
            a.name
            for a in release.attributes_of(made.fragment)
            if a.reading is Reading.LABEL and a.level is not None and a.level != a.height
        ]
        last = [f.call("max", as_text(column(name))) for name in names]
        if last:
            [labels] = engine.rows(select(*last, of=relation(own_object(engine, made.name))))
            pairs = zip(names, labels, strict=True)
            examples |= {fold(name): label for name, label in pairs if label not in (None, "*")}
    return examples


def _attacked(engine: Engine, release: Release) -> Iterator[AttackAnswer]:
    for attack in _ATTACKS:
        yield from attack_release(engine, release, AttackRequest(attack))


def _candidates(engine: Engine, release: Release) -> dict[str, list[Measured]]:
    """Returns the candidates of each frontier that belongs to the release's policy as it was when the release was made.

    The candidates may have other requirements than the release.
    """
    made_by = fingerprint(replace(policy_of(release), requirements=()), hierarchies_of(release))
    loaded = {name: frontiers.load(engine, name) for name in frontiers.listing(engine)}
    return {name: several for name, several in loaded.items() if several[0].policy_fingerprint == made_by}


_SHAPE = ("query_id", "result", "counts", "dimensions")


@dataclass(frozen=True)
class AnswerErrors:
    """The errors of query results of the same kind.

    `dimensions` is the number of columns in the conditions of their queries, or None if a query is gone or cannot be
    estimated. `share` is 1 for counts under 0.1 % of the source's rows, 2 under 1 %, 3 under 10 %, 4 for other counts,
    and None for results that are not counts. `mean`, `median` and `high` (the 95 % quantile) are relative errors of the
    results that are `compared`; they are None if no results are compared, because results that are 0 in the source have
    no error.
    """

    dimensions: int | None
    share: int | None
    results: int
    compared: int
    mean: float | None
    median: float | None
    high: float | None
    not_estimated: int


def errors_of_workloads(engine: Engine, release: Release) -> dict[str, Sequence[AnswerErrors]]:
    """Returns the errors of each workload with which the release was measured, from the last time."""
    of_release = select(exp.Star(), of=relation(("anon", "query_error")))
    of_release = extend(of_release, where=[column("release_id").eq(literal(release.release_id))])
    names = select(column("workload"), distinct=True, of=subquery(of_release, "query_error"))
    return {
        str(name): _errors(engine, release, str(name), of_release)
        for (name,) in engine.rows(names.order_by(ascending(column("workload"))))
    }


def _errors(engine: Engine, release: Release, workload: str, of_release: exp.Select) -> list[AnswerErrors]:
    with TempTables(engine) as temp:
        shape = Results(engine, temp, "shape", _SHAPE)
        shape.add_rows(_shapes(engine, workload))
        size = select(alias(literal(release.source_rows), "row_count"))
        tables: Mapping[str, str | exp.Query] = {
            "query_error": of_release.where(column("workload").eq(literal(workload))),
            "shape": shape.table,
            "source_size": size,
        }
        rows = engine.rows(reading(query_file("statements", "workload_errors"), tables))
    return [AnswerErrors(*row) for row in rows]


def _shapes(engine: Engine, workload: str) -> Iterator[tuple[object, ...]]:
    """Yields query_id, result, whether it counts rows, and the number of columns in the query's conditions."""
    try:
        queries = workloads.load(engine, workload)
    except SqlanonError:
        # The workload's rows were changed after the measurement.
        return
    for number, text in queries:
        try:
            query = parsed(text)
        except SqlanonError:
            continue
        columns = {node.name.lower() for node in query.where.find_all(exp.Column)} if query.where else set()
        for item in query.items:
            if isinstance(item, Aggregate):
                yield number, item.name, item.function == "count" and item.argument is None, len(columns)
