"""What a search has chosen, and why, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.counts import count_of, counted
from sqlanon.domain.explanation import CommonValue, ExaminedNode, Explanation
from sqlanon.domain.release import level_range
from sqlanon.methods.generalization.choice import Generalization
from sqlanon.methods.shared.wording import loss_text


def decision(
    choice: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]
) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): each attribute's level, the rows left out and why, the loss and how sure it is."""
    for bound, *levels in zip(quasi, *(round_.levels for round_ in choice.rounds), strict=True):
        yield bound.column, _level(levels, bound)
    if _several(choice):
        for number, round_ in enumerate(choice.rounds, start=1):
            yield f"round {number}", f"{_levels(round_.levels, quasi)}: {counted(round_.rows, 'row')}"
    yield "suppressed rows", f"{choice.suppressed} of {choice.rows}, at most {choice.limit} allowed"
    if not _several(choice):
        for violated in explained.chosen.violated:
            classes = counted(violated.classes, "class that violates", "classes that violate")
            yield "of which", f"{violated.rows} in {classes} {violated.requirement}"
        if explained.chosen.later:
            yield "of which", f"{explained.chosen.later} in later rounds: without the others these violate too"
    yield from (("rows left out", _common(value)) for value in explained.common_values)
    for reached in explained.chosen.joins:
        yield f"joined with {reached.other}", f"{reached.requirement} comes to {reached.figure}"
    if explained.together is not None:
        yield "all columns together", f"k is {explained.together} for readers who know all quasi-identifiers"
    yield choice.loss_name.replace("_", " "), f"{loss_text(choice.loss)}, {_proof(choice)}"


def _common(value: CommonValue) -> str:
    published = f", of those published {value.most_published / value.published:.1%}" if value.published else ""
    return f"{value.most / value.rows:.1%} share one value of {value.attribute}{published}"


def reasons(
    choice: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]
) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): what stands in the way, why no attribute is less general, what could lose less."""
    yield "binding requirement", _binding_rounds(choice, explained, quasi) if _several(choice) else _binding(explained)
    for step in explained.less_general:
        lacks = f"MIN LEVEL {step.level + 1}" if step.node is None else _lacks(step.node, explained, choice)
        yield step.column, f"not level {step.level}: {lacks}"
    levels = f"within {counted(explained.reach or 0, 'level')}"
    near = "" if explained.reach is None else f" (of the {explained.among} nodes {levels})"
    for node in explained.cheaper:
        because = node.broken_joins[:1] or [f"{v.rows} by {v.requirement}" for v in node.violated[:1]]
        yield (
            "next cheaper",
            f"{_could_lose(node, quasi)}, but {', '.join([_suppressed(node, choice), *map(str, because)])}{near}",
        )


def _could_lose(node: ExaminedNode, quasi: Sequence[BoundAttribute]) -> str:
    """What a node may lose, as far as the counts of single columns tell."""
    least = f"as little as {loss_text(node.bound)}" if node.bound else "nothing"
    return f"{_levels(node.levels, quasi)} might lose {least}"


def _lacks(node: ExaminedNode, explained: Explanation, choice: Generalization) -> str:
    """Why a node one level less general was not chosen: it may not be published, or it loses more."""
    if _several(choice):
        rather = f"{_suppressed(node, choice)} rather than {explained.chosen.withheld}"
        return "; ".join([rather, *map(str, node.violated[:1])])
    if node.broken_joins:
        return "; ".join([_suppressed(node, choice), *map(str, node.broken_joins)])
    if node.loss is None:
        allowed = "" if node.later is None else f", at most {explained.limit} allowed"
        return "; ".join([_suppressed(node, choice) + allowed, *map(str, node.violated[:1])])
    return f"it would lose {_compared(node, explained)}; {_suppressed(node, choice)}"


def _compared(node: ExaminedNode, explained: Explanation) -> str:
    """What a node loses beside the chosen one. What is not proven to be the best may have better nodes beside it."""
    difference = explained.extra_loss(node)
    if difference > 0:
        return f"{_difference(difference)} more"
    less = f"{_difference(-difference)} less" if difference else "as much"
    return f"{less}, which the search has not come to"


def _suppressed(node: ExaminedNode, choice: Generalization) -> str:
    if node.later is None and not node.broken_joins:
        return "whatever rows are suppressed, the rest violates"
    later = f", {node.later} of them in later rounds" if node.later else ""
    what = "left to later rounds" if _several(choice) else "suppressed"
    return f"{count_of(node.suppressed, choice.rows, 'row')} would be {what}{later}"


def _binding_rounds(choice: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]) -> str:
    """What leaves most rows to the later rounds, and the levels that rows have in all rounds."""
    if explained.neighbours:
        most, leaving = explained.most_rows or "none", "the less general nodes would leave"
    else:
        violated = explained.chosen.violated
        most, leaving = violated[0].requirement if violated else "none", "round 1 leaves"
    later = counted(sum(round_.rows for round_ in choice.rounds[1:]), "row")
    rounds = zip(quasi, *(round_.levels for round_ in choice.rounds), strict=True)
    level_texts = ", ".join(f"{bound.column} {level_range(levels)}/{bound.height}" for bound, *levels in rounds)
    return (
        f"{most}: violated by most rows that {leaving} to later rounds; these publish {later}, and the levels of all "
        f"rounds are {level_texts}"
    )


def _binding(explained: Explanation) -> str:
    """What stands in the way of most of the nodes one level less general, and how that was counted."""
    if not explained.neighbours:
        return "none: no attribute may be less general"
    binding = explained.binding
    if binding is None:
        better, all_of = len(explained.better), len(explained.neighbours)
        if better:
            which = "the only less general node" if all_of == 1 else f"{better} of the {all_of} less general nodes"
            return f"none: {which} could be published, and would lose no more"
        most = f", most of which violate {explained.most_rows}" if explained.most_rows else ""
        return f"none: the less general nodes lose more by the rows that they leave out{most}"
    if binding.of == 1:
        where = "at the only less general node that fails"
    elif binding.at == binding.of:
        where = f"at all {binding.of} less general nodes that fail"
    else:
        where = f"at {binding.at} of the {binding.of} less general nodes that fail"
    if binding.requirement is None:
        return f"the suppression budget: {where}, no requirement by itself suppresses too many rows"
    if binding.of_join:
        return f"{binding.requirement}: the join with another release violates it {where}"
    return f"{binding.requirement}: most rows violate it {where}"


def _several(choice: Generalization) -> bool:
    return len(choice.rounds) > 1


def _proof(choice: Generalization) -> str:
    if _several(choice):
        return (
            f"no more than the best of {counted(choice.nodes, 'node')} that was found for all rows; not proven to be "
            "the least"
        )
    least = "that of the only node" if choice.nodes == 1 else f"the least of all {choice.nodes} nodes"
    if choice.proven or choice.least is None:
        return least
    if choice.least == choice.loss:
        return f"{least}, others of which may lose as much and have lower levels"
    return (
        f"not proven to be the least: of {counted(choice.nodes, 'node')} none that may be published "
        f"loses less than {loss_text(choice.least)}"
    )


def _level(levels: Sequence[int], bound: BoundAttribute) -> str:
    """The levels of a column in the rounds, none below the one before, and what becomes of its values."""
    name = f" of {bound.hierarchy.name}" if bound.hierarchy else ""
    first, last = (_meaning(level, bound) for level in (levels[0], levels[-1]))
    if levels[0] == levels[-1]:
        return f"level {levels[0]} of {bound.height}{name}: {first}"
    becomes = first if first == last else f"{first} in round 1, {last} in round {len(levels)}"
    return f"levels {level_range(levels)} of {bound.height}{name}: {becomes}"


def _meaning(level: int, bound: BoundAttribute) -> str:
    return "kept" if level == 0 else "suppressed ('*')" if level == bound.height else "generalized"


def _levels(levels: Sequence[int], quasi: Sequence[BoundAttribute]) -> str:
    return ", ".join(f"{b.column} {level}/{b.height}" for b, level in zip(quasi, levels, strict=True))


def _difference(losses: Fraction) -> str:
    """What is above 0 is never shown as 0."""
    return "less than 0.000001" if losses < Fraction(1, 2_000_000) else loss_text(losses)
