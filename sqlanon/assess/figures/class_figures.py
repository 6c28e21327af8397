"""Figures of the classes of a release, each a file under `sql/figures/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from typing import Any

from sqlglot import exp

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.context import Adjustable
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.release.existing.classes import ReleaseClasses, classes_of
from sqlanon.release.existing.estimable import recorded
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.membership import JoinedTuples, Matching, matching_of
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.release.existing.statistics import statistics_of
from sqlanon.sources.bind_policy import source_rows
from sqlanon.sources.source import own_object
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.questions.statistics import BoundStatistic, Statistic, bind_statistic

# Relations that need more than the rows of a release.
_OF_MORE = ("public_class", "sensitive_ancestor")
# A parameter that the release sets: the number of the source's rows in no class.
_SUPPRESSED = "suppressed"


@dataclass(frozen=True)
class ClassFigure:
    """One number: `attribute` is the measured sensitive attribute, None for a figure about classes alone.

    `value` is None if it is undefined, for example without rows. The catalog stores the `recorded` figures; the others
    are details of the recorded figure before them. `note` is a remark that belongs to the value.
    """

    name: str
    attribute: str | None
    value: float | None
    recorded: bool = True
    note: str = ""


def reads_more(statistic: Statistic) -> bool:
    """Whether a statistic reads a table besides the release, and therefore cannot be measured on a release."""
    return bool({*statistic.reads} & {*_OF_MORE})


def why_not(statistic: Statistic, release: Release) -> PolicyError | None:
    """Returns the error that explains why a statistic cannot be measured on a release; None if it can be measured."""
    called = f"{statistic.model} of {release.name}"
    policy = policy_of(release)
    if reads_more(statistic):
        return PolicyError(
            f"{called} cannot be measured: it compares with a public table",
            hint="CHECK release (columns) AGAINST public measures it of the released table",
        )
    if statistic.of_respondents and policy.entity is not None:
        return PolicyError(
            f"{called} cannot be measured: rows of one {policy.entity.name} count as one, and which they are is not "
            "published",
            hint="CHECK says what the respondents of each class come to",
        )
    if not statistic.of_buckets and any(a.reading is Reading.BUCKET for a in release.attributes):
        return PolicyError(
            f"{called} cannot be measured: the rows of a bucket share their sensitive values, and are told apart by "
            "the columns beside it",
            hint="measure a release of the same policy without buckets",
        )
    if statistic.of_sensitive_values and not any(policy.having(Role.SENSITIVE)):
        return PolicyError(
            f"{called} cannot be measured: its policy has no SENSITIVE attribute",
            hint="figures of class sizes can: class_sizes, linkage_risk",
        )
    return None


def class_figures(
    engine: Engine, release: Release, requested: Sequence[tuple[Statistic, Mapping[str, Value]]], temp: TempTables
) -> list[list[ClassFigure]]:
    """Returns the figures of each requested statistic, for each sensitive attribute that the statistic measures.

    Raises PolicyError for a release whose rows are not in classes, for a statistic that cannot be measured on it, and
    for an invalid argument.
    """
    for statistic, _ in requested:
        if error := why_not(statistic, release):
            raise error
    classes = classes_of(engine, release)
    bound: list[BoundStatistic] = []
    numbers: list[int] = []
    for number, (statistic, arguments) in enumerate(requested):
        with _of_figure(statistic):
            subjects = list(_bound(statistic, arguments, classes, release))
        bound += subjects
        numbers += [number] * len(subjects)
    sources = {made.fragment: relation(own_object(engine, made.name)) for made in release.published}
    answers: dict[int, Mapping[str, Any]] = {}
    for part in classes.rows(sources, bound):
        statistics = [bound[index] for index in part.indexes]
        # Rows that are elsewhere cannot be numbered by their class.
        rows = statistics_of(engine, statistics, part.rows, None, temp, labelled=not engine.numbers_rows)
        answers |= dict(zip(part.indexes, (row for (row,) in rows), strict=True))
    figures: list[list[ClassFigure]] = [[] for _ in requested]
    for index, (number, statistic_of_subject) in enumerate(zip(numbers, bound, strict=True)):
        attribute = ", ".join(statistic_of_subject.attributes) or None
        figures[number] += [ClassFigure(name, attribute, _number(value)) for name, value in answers[index].items()]
    return figures


def _bound(
    statistic: Statistic, arguments: Mapping[str, Value], classes: ReleaseClasses, release: Release
) -> Iterator[BoundStatistic]:
    if _SUPPRESSED in arguments:
        raise PolicyError(
            f"{statistic.model} has no argument {_SUPPRESSED!r}", hint="the release says how many rows it leaves out"
        )
    if any(parameter.name == _SUPPRESSED for parameter in statistic.parameters):
        arguments = {**arguments, _SUPPRESSED: release.suppressed_rows}
    subjects = [(b.column,) for b in classes.bound.sensitive] if statistic.of_sensitive_values else [()]
    for subject in subjects:
        yield bind_statistic(statistic, arguments, subject)


@contextmanager
def _of_figure(statistic: Statistic) -> Iterator[None]:
    """Adds the position of the figure in the statement, and a hint, to an error about an argument."""
    try:
        yield
    except PolicyError as error:
        error.part = ("figures", statistic.model)
        error.hint = error.hint or f"it takes: {', '.join(p.name for p in statistic.parameters) or 'no arguments'}"
        raise


def _number(value: Any) -> float | None:
    number = None if value is None else float(value)
    return None if number is None or isnan(number) else number


# MEASURE release WITH FIGURES (membership): how well a release hides the tuples of its source.


@dataclass(frozen=True)
class Sizes:
    """The limit of joins: tables are joined only if they could form at most `max_joined_tuples` tuples, counted by
    bucket.
    """

    max_joined_tuples: int = 20_000_000


sizes = Adjustable(Sizes())


# The number of buckets that tuples match: the mean, and the shares of ranges.
_OF_BUCKETS = ("", "_at_most_10", "_11_to_20", "_above_20")


def membership(engine: Engine, release: Release, temp: TempTables) -> list[tuple[str, float | None]]:
    """Returns the membership figures of a snapshot: the number of tuples in the join of its tables, and the number of
    buckets that these tuples match.

    Runs in an open transaction. Raises PolicyError for a live view, for a release that shows values other than the
    values of its source, for too many tuples, and if the source no longer has the columns.
    """
    if release.kind == "view":
        raise PolicyError(
            f"{release.name} is a live view, whose rows change with its source: membership is measured of snapshots",
            hint="make one with CREATE ANONYMIZED TABLE",
        )
    require_own_columns(engine, release)
    matching = matching_of(str(release.name), recorded(engine, release).tables)
    source = _source(engine, release, matching, temp)
    return membership_figures(engine, matching, str(release.name), source, temp)


def membership_figures(
    engine: Engine, matching: Matching, name: str, source: exp.Table | exp.Subquery, temp: TempTables
) -> list[tuple[str, float | None]]:
    """Returns the membership figures of a release from its matching and its source, in an open transaction.

    Raises PolicyError, with the release's name, if its tables could be joined to too many tuples.
    """
    values = [temp.table("values", part.values) for part in matching.columns]
    buckets = None if matching.buckets is None else temp.table("buckets", matching.buckets)
    tuples = JoinedTuples(matching, values, buckets)
    ((most,),) = engine.rows(tuples.most())
    if tuples.is_product:
        matched = tuples.of_one_bucket(source, most)
    elif most <= sizes().max_joined_tuples:
        matched = tuples.matched(source)
    else:
        raise PolicyError(
            f"{name}: its tables can be joined to {most:,.0f} tuples, counted in each bucket; more than "
            f"{sizes().max_joined_tuples:,} are not counted",
            hint="there are fewer with smaller buckets, and where more columns are published together",
        )
    query = query_file("statements", "membership")
    assert isinstance(query, exp.Select)
    return list(_figures(engine.rows(with_steps(query, [("matched_tuples", matched)]))))


def _figures(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, float | None]]:
    """Yields the figures from the rows of `sql/statements/membership.sql` about original and fake tuples."""
    measured = {is_original: (tuples, buckets) for is_original, tuples, *buckets in rows}
    (original, of_originals), (fake, of_fakes) = (
        measured.get(is_original, (0.0, [None] * len(_OF_BUCKETS))) for is_original in (True, False)
    )
    yield "original", original
    yield "fake", fake
    yield "fake_original_ratio", fake / original if original else None
    for kind, of_buckets in (("original", of_originals), ("fake", of_fakes)):
        yield from zip((f"matching_buckets_{kind}{which}" for which in _OF_BUCKETS), of_buckets, strict=True)


def _source(engine: Engine, release: Release, matching: Matching, temp: TempTables) -> exp.Subquery:
    """Returns the attributes of the release's source, in the types in which they are published.

    Raises PolicyError if a column is gone or has another type.
    """
    source = source_rows(engine, policy_of(release), temp, copy=False)
    kinds = {fold(name): kind for name, kind in source.columns}
    published = require_unchanged(release, source, matching.attributes)
    outputs: list[exp.Expr] = []
    for attribute in matching.attributes:
        value, kind = column(attribute), published[fold(attribute)]
        outputs.append(alias(value if kinds[fold(attribute)] == kind else cast(value, kind), attribute))
    return subquery(select(*outputs, of=relation(source.relation)), "source")
