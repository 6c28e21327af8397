"""Figures of the classes of a release, each a file under `sql/figures/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from typing import Any

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Release
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.release.existing.classes import ReleaseClasses, classes_of
from sqlanon.release.existing.statistics import statistics_of
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import relation
from sqlanon.sql.questions.statistics import BoundStatistic, Statistic, bind_statistic

# Relations that are made of more than the rows of a release.
_OF_MORE = ("public_class", "sensitive_ancestor")
# A parameter that is the release's: how many rows of the source are in no class.
_SUPPRESSED = "suppressed"


@dataclass(frozen=True)
class ClassFigure:
    """One number: `attribute` is the sensitive attribute that it is about, None where it is about classes alone.

    `value` is None where it is not defined: of no rows, say. The catalog keeps those that are `recorded`; others are
    details of the one before them.
    """

    name: str
    attribute: str | None
    value: float | None
    recorded: bool = True


def reads_more(statistic: Statistic) -> bool:
    """Whether a statistic reads a table beside the release, so that no release can be measured by it."""
    return bool({*statistic.reads} & {*_OF_MORE})


def why_not(statistic: Statistic, release: Release) -> PolicyError | None:
    """The error that says why a statistic cannot be measured of a release; None where it can."""
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
    if statistic.of_sensitive_values and not any(policy.having(Role.SENSITIVE)):
        return PolicyError(
            f"{called} cannot be measured: its policy has no SENSITIVE attribute",
            hint="figures of class sizes can: class_sizes, linkage_risk",
        )
    return None


def class_figures(
    engine: Engine, release: Release, requested: Sequence[tuple[Statistic, Mapping[str, Value]]], scratch: Scratch
) -> list[list[ClassFigure]]:
    """The figures of each statistic with its arguments, of each sensitive attribute that it is about.

    Raises PolicyError for a release whose rows are in no classes, for what cannot be measured of it and for an
    argument that a statistic does not take.
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
        rows = statistics_of(engine, statistics, part.rows, None, scratch, labelled=not engine.numbers_rows)
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
    """An error of an argument is about the figure's place in the statement."""
    try:
        yield
    except PolicyError as error:
        error.part = ("figures", statistic.model)
        error.hint = error.hint or f"it takes: {', '.join(p.name for p in statistic.parameters) or 'no arguments'}"
        raise


def _number(value: Any) -> float | None:
    number = None if value is None else float(value)
    return None if number is None or isnan(number) else number
