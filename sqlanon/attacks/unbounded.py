"""What CHECK says of attacks that the requirements do not bound, however well they are met."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.report import Measurement
from sqlanon.engines.base import Engine
from sqlanon.questions.ask import BoundRequirement
from sqlanon.questions.attacks import as_tried, attacks_on_classes, shapes
from sqlanon.questions.statistics import Statistic

__all__ = ["unbounded"]


def unbounded(
    engine: Engine,
    requirements: Sequence[BoundRequirement],
    measurements: Sequence[Measurement],
    sensitive: Sequence[str],
) -> tuple[str, ...]:
    """A line for each sensitive attribute about which attacks are not bounded, as `ATTACK` tries them by default.

    A requirement counts if it is met, is about no attribute or about this one alone, and promises less than certainty.
    """
    lines: list[str] = []
    met = {(m.question, fold(m.attribute or ""), m.required) for m in measurements if m.satisfied}
    for attribute in sensitive:
        about = [r for r in requirements if [*map(fold, r.attributes)] in ([], [fold(attribute)]) and _is(r, met)]
        files = [file for file in attacks_on_classes() if not _is_bounded(engine, file, about, attribute)]
        if files:
            names = ", ".join(_called(files))
            lines.append(
                f"what is learned of {attribute} by {names} is bounded by no requirement that is met; "
                "ATTACK says how far each gets"
            )
    return tuple(lines)


def _is(requirement: BoundRequirement, met: set[tuple[str, str, float | None]]) -> bool:
    return (requirement.question_name, fold(", ".join(requirement.attributes)), requirement.required) in met


def _is_bounded(engine: Engine, file: Statistic, met: Sequence[BoundRequirement], attribute: str) -> bool:
    tried = as_tried(file, attribute)
    promises: list[exp.Expr] = []
    for requirement in met:
        promises += as_tried(file, (*requirement.attributes, attribute)[0]).bounds_by(requirement)
    return bool(promises) and tried.least_bound(engine.rows(exp.select(*promises))[0]) is not None


def _called(files: Sequence[Statistic]) -> list[str]:
    """The attacks by the names that users type; one of which a part is bounded, by the arguments of the other part."""
    whole = {file.model: [f for f in attacks_on_classes() if f.model == file.model] for file in files}
    names: list[str] = []
    for model, parts in whole.items():
        unbounded_parts = [file for file in files if file.model == model]
        names.append(model if len(unbounded_parts) == len(parts) else shapes(unbounded_parts))
    return names
