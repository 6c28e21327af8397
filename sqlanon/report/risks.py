"""What a reader may learn from a release: the figures of MEASURE and what attacks come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import log

from sqlanon.attacks.attacked import AttackAnswer, AttackedClass
from sqlanon.figures.class_figures import ClassFigure
from sqlanon.questions.attacks import attack_parts
from sqlanon.questions.statistics import Statistic
from sqlanon.report.facts import Facts
from sqlanon.report.markup import (
    NOT_DEFINED,
    WHOLE_RELEASE,
    InPlaceOfNumber,
    Markup,
    number,
    paragraph,
    percent,
    table,
    text,
)
from sqlanon.report.meanings import meanings_of

_NO_BOUND = InPlaceOfNumber("no bound")
# MEASURE's figures of single people: each with what is said before and behind its value, and how this is written.
_SENTENCES: Mapping[str, tuple[str, str, Callable[[float], Markup]]] = {
    "unique_rows": ("Rows that are alone in their class: ", ".", number),
    "prosecutor_risk": (
        "Who knows that somebody is in the release points at the right row, in the smallest class, with a chance of ",
        ".",
        percent,
    ),
    "marketer_risk": ("Who points at a row for each person is right about ", " of them.", percent),
    "p_loss": (
        "The sensitive values of the class that differs most are as far from those of all rows as ",
        " of the greatest divergence that there can be.",
        lambda value: percent(value / log(2)),
    ),
    "a_acc": (
        "Who knows the class of each row, and names its most frequent value, is right about ",
        " of all rows more often than who names the most frequent value of all.",
        percent,
    ),
}

_OF_ROWS = (
    "The chance to find somebody is not measured: rows of one respondent count as one, and the release does not say "
    "which they are."
)
_OF_ITEMS = (
    "The chance to find somebody by a whole list is not measured: what is required is about readers who know a few of "
    "its items."
)


def risks(facts: Facts) -> Iterator[Markup]:
    """What the figures say of single people, in sentences."""
    sentences = [
        f"<li>{text(_about(figure))}{text(before)}{written(figure.value)}{text(after)}</li>"
        for figure in facts.figures
        if figure.value is not None and figure.name in _SENTENCES
        for before, after, written in [_SENTENCES[figure.name]]
    ]
    if sentences:
        yield Markup(f"<ul>{''.join(sentences)}</ul>")
    if not any(figure.name == "prosecutor_risk" for figure in facts.figures):
        yield paragraph(
            facts.without_classes
            or (_OF_ITEMS if any(requirement.of_itemsets for requirement in facts.requirements) else _OF_ROWS)
        )


def _about(figure: ClassFigure) -> str:
    return f"{figure.attribute}: " if figure.attribute else ""


def figures(facts: Facts) -> Iterator[Markup]:
    """The answer of MEASURE, and what its figures mean."""
    yield paragraph("They are averages and maxima over rows and promise nothing; what is promised is what is required.")
    rows = [
        (figure.name, figure.attribute or WHOLE_RELEASE, NOT_DEFINED if figure.value is None else figure.value)
        for figure in facts.figures
    ]
    yield table("Figures of the release (MEASURE)", ("figure", "about", "value"), rows)
    meanings = meanings_of(figure.name for figure in facts.figures)
    for said in facts.not_measured:
        yield paragraph(f"{said}.")
    items = (f"<dt>{text(', '.join(names))}</dt><dd>{text(meaning)}</dd>" for names, meaning in meanings)
    if meanings:
        yield Markup(f"<dl>{''.join(items)}</dl>")


def attacks(facts: Facts) -> Iterator[Markup]:
    """The answers of ATTACK, for those attacks that need no other table."""
    if not facts.attacks:
        yield paragraph(facts.without_classes or "No column is sensitive: these attacks are about sensitive values.")
        return
    items = "".join(f"<li>{_attacked(answer)}</li>" for answer in facts.attacks)
    yield Markup(f"<ul>{items}</ul>")
    yield table(
        "What attacks come to (ATTACK)",
        ("attack", "about", "targets", "succeeded", "surest", "mean", "bound"),
        [_row(answer) for answer in facts.attacks],
    )
    unbounded = list(dict.fromkeys(answer.attack for answer in facts.attacks if answer.bound is None))
    if unbounded:
        yield paragraph(
            f"Nothing that is required bounds {', '.join(unbounded)}: the numbers may be worse for other rows."
        )
    for answer in facts.attacks:
        if answer.worst:
            classes = "".join(f"<li>{_worst(answer, attacked)}</li>" for attacked in answer.worst)
            yield Markup(f"<h3>Where it is worst: {text(_called(answer))}</h3><ol>{classes}</ol>")
    yield paragraph(
        "Other attacks need more than the release: linkage a table of known people, similarity a hierarchy or a range, "
        "composition another release. Ask them with ATTACK."
    )


def _called(answer: AttackAnswer) -> str:
    return f"{answer.attack} of {answer.attribute}" if answer.attribute else answer.attack


def _row(answer: AttackAnswer) -> tuple[object, ...]:
    *figures, bound = answer.figures
    return *(NOT_DEFINED if figure is None else figure for figure in figures), _NO_BOUND if bound is None else bound


def _worst(answer: AttackAnswer, attacked: AttackedClass) -> Markup:
    """A class with its number of targets, and how sure the attack is of them."""
    target = "target" if attacked.targets == 1 else "targets"
    sure = ""
    if attacked.confidence is not None:
        is_ratio = _statistic(answer).certain is None
        written = number(attacked.confidence) if is_ratio else percent(attacked.confidence)
        sure = f", a {'ratio' if is_ratio else 'chance'} of {written}"
    name = text(attacked.name or "all rows")
    return Markup(f"{name}<small>: {number(attacked.targets)} {target}{sure}</small>")


def _statistic(answer: AttackAnswer) -> Statistic:
    [statistic, *_], _ = attack_parts(answer.attack, ())
    return statistic


def _thresholds(statistic: Statistic) -> str:
    """The arguments that an attack has where none are given, and what they mean."""
    arguments = [f"{p.name} => {p.default} ({p.meaning})" for p in statistic.parameters if p.default is not None]
    return f" Tried with {' and '.join(arguments)}." if arguments else ""


def _attacked(answer: AttackAnswer) -> Markup:
    """What an attack is, from when on it succeeds, for how many targets it does, and how sure it is."""
    statistic = _statistic(answer)
    comes_to = ""
    if answer.targets and answer.highest is not None and answer.mean is not None:
        comes_to = (
            f" The greatest ratio of shares is {number(answer.highest)}, the mean {number(answer.mean)}."
            if statistic.certain is None
            else f" The surest guess has a chance of {percent(answer.highest)}, the mean one of {percent(answer.mean)}."
        )
    if answer.targets and answer.succeeded is not None:
        comes_to += (
            f" It succeeds for {number(answer.succeeded)} of {number(answer.targets)} targets, "
            f"{percent(answer.succeeded / answer.targets)}."
        )
    elif answer.undefined:
        comes_to += f" How often it succeeds is not defined: {text(answer.undefined)}."
    return Markup(
        f"<strong>{text(_called(answer))}</strong>: {text(statistic.title)}{text(_thresholds(statistic))}{comes_to}"
    )
