"""What CHECK says of attacks that the requirements do not bound, however well they are met."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.report import Measurement
from sqlanon.engines.base import Engine
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.attacks import as_tried, attacks_on_classes, shapes
from sqlanon.sql.questions.statistics import Statistic


def unbounded(
    engine: Engine,
    requirements: Sequence[BoundRequirement],
    measurements: Sequence[Measurement],
    sensitive: Sequence[str],
) -> tuple[str, ...]:
    """A sentence about the attacks that are not bounded, as `ATTACK` tries them by default; none if all are.

    A requirement counts if it is met, is about no attribute or about this one alone, and promises less than certainty.
    Attributes about which the same attacks are not bounded stand together.
    """
    attributes: dict[str, list[str]] = {}
    met = {(m.question, fold(m.attribute or ""), m.required) for m in measurements if m.satisfied}
    files = attacks_on_classes()
    for attribute in sensitive:
        promising = [r for r in requirements if _is_met(r, met) and _is_about(r, attribute)]
        if names := ", ".join(_called(files, _bounded(engine, files, promising, attribute))):
            attributes.setdefault(names, []).append(attribute)
    if not attributes:
        return ()
    parts = [f"what {names} can tell about {', '.join(of)}" for names, of in attributes.items()]
    return (f"no requirement that is met limits {', nor '.join(parts)}; ATTACK measures each attack",)


def _is_met(requirement: BoundRequirement, met: Collection[tuple[str, str, float | None]]) -> bool:
    return (requirement.question_name, fold(", ".join(requirement.attributes)), requirement.required) in met


def _is_about(requirement: BoundRequirement, attribute: str) -> bool:
    return [*map(fold, requirement.attributes)] in ([], [fold(attribute)])


def _bounded(
    engine: Engine, files: Sequence[Statistic], requirements: Sequence[BoundRequirement], attribute: str
) -> set[Statistic]:
    """The files of attacks whose highest confidence one of the requirements keeps below certainty."""
    promises: list[tuple[Statistic, exp.Expr]] = []
    for file in files:
        for requirement in requirements:
            # The requirement spells the attribute as the source does.
            tried = as_tried(file, (*requirement.attributes, attribute)[0])
            promises += [(file, promise) for promise in tried.bounds_by(requirement)]
    if not promises:
        return set()
    values = engine.rows(exp.select(*(promise for _, promise in promises)))[0]
    return {file for (file, _), value in zip(promises, values, strict=True) if file.least_bound([value]) is not None}


def _called(files: Sequence[Statistic], bounded: Collection[Statistic]) -> Iterator[str]:
    """The attacks that are not bounded, by the names that users type; with arguments where other ones are bounded."""
    for model in dict.fromkeys(file.model for file in files):
        parts = [file for file in files if file.model == model]
        rest = [file for file in parts if file not in bounded]
        if rest:
            yield model if rest == parts else shapes(rest)
