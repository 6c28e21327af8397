"""What a search has chosen, and why, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import CommonValue, ExaminedNode, Explanation
from sqlanon.methods.generalization.choice import Generalization
from sqlanon.methods.shared.wording import loss_text

__all__ = ["decision", "reasons"]


def decision(
    found: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]
) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): each attribute's level, the rows left out and why, the loss and how sure it is."""
    for bound, level in zip(quasi, found.levels, strict=True):
        yield bound.column, _level(level, bound)
    if _several(found):
        for number, one in enumerate(found.rounds, start=1):
            yield f"round {number}", f"{_levels(one.levels, quasi)}: {one.rows} rows"
    yield "suppressed rows", f"{found.suppressed} of {found.rows}, at most {found.limit} allowed"
    if not _several(found):
        for violated in explained.chosen.violated:
            yield "of which", f"{violated.rows} in {violated.classes} classes that violate {violated.requirement}"
        if explained.chosen.later:
            yield "of which", f"{explained.chosen.later} in later rounds: without the others these violate too"
    yield from (("rows left out", _common(told)) for told in explained.common_values)
    yield found.loss_name.replace("_", " "), f"{loss_text(found.loss)}, {_proof(found)}"
    left = found.nodes - found.checked - found.pruned
    unseen = f"{found.pruned} ruled out unseen" + (f", {left} left" if left else "")
    yield "nodes checked", f"{found.checked} of {found.nodes}, {unseen}"


def _common(told: CommonValue) -> str:
    published = f", of those published {told.most_published / told.published:.1%}" if told.published else ""
    return f"{told.most / told.rows:.1%} share one value of {told.attribute}{published}"


def reasons(
    found: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]
) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): why no attribute is less general, what stands in the way, what could lose less."""
    for step in explained.less_general:
        lacks = f"MIN LEVEL {step.level + 1}" if step.node is None else _lacks(step.node, explained, found)
        yield step.column, f"not level {step.level}: {lacks}"
    yield "binding requirement", _binding(found, explained)
    near = "" if explained.reach is None else f" (of the {explained.among} nodes within {explained.reach} levels)"
    for node in explained.cheaper:
        parts = [_suppressed(node, found), *(f"{v.rows} by {v.requirement}" for v in node.violated[:1])]
        least = f"{_levels(node.levels, quasi)}: at least {loss_text(node.bound)}"
        yield "next cheaper", f"{least}, but {', '.join(parts)}{near}"


def _lacks(node: ExaminedNode, explained: Explanation, found: Generalization) -> str:
    """Why a node one level less general was not chosen: it may not be published, or it loses more."""
    if _several(found):
        rather = f"{_suppressed(node, found)} rather than {explained.chosen.withheld}"
        return "; ".join([rather, *map(str, node.violated[:1])])
    if node.loss is None:
        allowed = "" if node.later is None else f", at most {explained.limit} allowed"
        return "; ".join([_suppressed(node, found) + allowed, *map(str, node.violated[:1])])
    return f"it would lose {_compared(node, explained)}; {_suppressed(node, found)}"


def _compared(node: ExaminedNode, explained: Explanation) -> str:
    """What a node loses beside the chosen one. What is not proven to be the best may have better nodes beside it."""
    more = explained.extra_loss(node)
    if more > 0:
        return f"{_difference(more)} more"
    less = f"{_difference(-more)} less" if more else "as much"
    return f"{less}, which the search has not come to"


def _suppressed(node: ExaminedNode, found: Generalization) -> str:
    if node.later is None:
        return "whatever rows are suppressed, the rest violates"
    later = f", {node.later} of them in later rounds" if node.later else ""
    what = "left to later rounds" if _several(found) else "suppressed"
    return f"{node.suppressed} of {found.rows} rows would be {what}{later}"


def _binding(found: Generalization, explained: Explanation) -> str:
    """What stands in the way of most of the nodes one level less general, and how that was counted."""
    if not explained.neighbours:
        return "none: no attribute may be less general"
    if _several(found):
        most = explained.most_rows or "none"
        return f"{most}: violated by most rows that the less general nodes would leave to later rounds"
    binding = explained.binding
    if binding is None:
        better, all_of = len(explained.better), len(explained.neighbours)
        if better:
            return f"none: {better} of the {all_of} less general nodes could be published, and lose no more"
        most = f", most of which violate {explained.most_rows}" if explained.most_rows else ""
        return f"none: the less general nodes lose more by the rows that they leave out{most}"
    where = f"at {binding.at} of the {binding.of} less general nodes that fail"
    if binding.requirement is None:
        return f"the suppression budget: {where}, no requirement by itself suppresses too many rows"
    return f"{binding.requirement}: violated by most rows {where}"


def _several(found: Generalization) -> bool:
    return len(found.rounds) > 1


def _proof(found: Generalization) -> str:
    if _several(found):
        return (
            f"no more than the best of the {found.nodes} nodes that was found for all rows; not proven to be the least"
        )
    if found.proven or found.least is None:
        return f"the least of all {found.nodes} nodes"
    if found.least == found.loss:
        return f"the least of all {found.nodes} nodes, others of which may lose as much and have lower levels"
    return (
        f"not proven to be the least: of the {found.nodes} nodes none that may be published "
        f"loses less than {loss_text(found.least)}"
    )


def _level(level: int, bound: BoundAttribute) -> str:
    name = f" of {bound.hierarchy.name}" if bound.hierarchy else ""
    meaning = "kept" if level == 0 else "suppressed ('*')" if level == bound.height else "generalized"
    return f"level {level} of {bound.height}{name}: {meaning}"


def _levels(levels: Sequence[int], quasi: Sequence[BoundAttribute]) -> str:
    return ", ".join(f"{b.column} {level}/{b.height}" for b, level in zip(quasi, levels, strict=True))


def _difference(losses: Fraction) -> str:
    """What is above 0 is never shown as 0."""
    return "less than 0.000001" if losses < Fraction(1, 2_000_000) else loss_text(losses)
