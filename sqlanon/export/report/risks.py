"""What a reader may learn from a release: the figures of MEASURE and what attacks come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import log

from sqlanon.assess.attacks.attacked import AttackAnswer, AttackedClass
from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.export.report.facts import Facts
from sqlanon.export.report.markup import (
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
from sqlanon.sql.questions.attacks import attack_parts
from sqlanon.sql.questions.statistics import Statistic, readable_statistics

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


_FROM_0_TO_1 = "0 where nothing is changed, 1 where nothing is left"


def _of_buckets(kind: str) -> dict[str, str]:
    shares = {"at_most_10": "at most 10", "11_to_20": "11 to 20", "above_20": "more than 20"}
    return {
        f"matching_buckets_{kind}": f"How many buckets a tuple matches that counts as {kind}, the mean.",
        **{
            f"matching_buckets_{kind}_{name}": f"The share of the tuples counted as {kind} that match {words} buckets."
            for name, words in shares.items()
        },
    }


MEANINGS: Mapping[str, str] = {
    "a_acc": "How many more rows are guessed right, as a share, by the most frequent sensitive value of their class "
    "than by that of all published rows.",
    "a_know": "How far the sensitive values of a row's class are from those of all published rows: half the sum of "
    "the absolute differences of shares, the mean over rows. 0 where no class differs.",
    "a_quot": "The greatest logarithm, in absolute value, of a value's share in a class by its share of all "
    "published rows: infinite where a class lacks a value.",
    "a_quot_present": "The same as a_quot, of the values alone that a class has.",
    "least_class_size": "The rows of the smallest class.",
    "average_class_size": "The rows of a class, the mean over classes.",
    "greatest_class_size": "The rows of the largest class.",
    "discernibility": "The sum over rows of the sizes of their classes; a row that was left out counts as all rows "
    "of the source.",
    "gain": "How much less uncertain the sensitive value of a row is to who knows its class, in nats: the entropy of "
    "all published rows less the mean over rows of that of their class.",
    "classes": "How many classes there are.",
    "row_count": "How many rows are published.",
    "unique_rows": "How many rows are alone in their class.",
    "prosecutor_risk": "The greatest chance to pick somebody's row out of their class, of who knows that they are in "
    "the release.",
    "marketer_risk": "The share of the rows that are picked right by who picks a row for each person.",
    "p_loss": "The Jensen-Shannon divergence of the sensitive values of a class from those of all published rows, in "
    "nats: that of the class that differs most, of at most 0.693147.",
    "p_loss_mean": "The same divergence as p_loss, the mean over rows.",
    **{
        f"p_loss_{share}": f"The same divergence as p_loss: what {share} % of the rows do not exceed."
        for share in (50, 90, 95, 99)
    },
    "p_loss_above": "The share of the rows whose class has a divergence, as that of p_loss, above 0.3.",
    "granularity_loss": "How much coarser values are than in the source: one whose label stands for n of the N "
    "values of its column costs (n - 1) / (N - 1), a row that was left out 1; the mean over the rows of the source, "
    f"and over the quasi-identifiers, weighted where the policy weighs them. {_FROM_0_TO_1}.",
    "precision": "How far up their hierarchies values are: one costs its level divided by the height of its "
    "hierarchy, a row that was left out 1; the mean over the rows of the source, and over the quasi-identifiers, "
    f"weighted where the policy weighs them. {_FROM_0_TO_1}.",
    "non_uniform_entropy": "How many bits are needed to say which values the labels stand for, the sum over rows: a "
    "frequent value costs less than a rare one below the same label. Not defined where rows were left out, for the "
    "release does not say which.",
    "u_loss": "How wrong the release is about large groups of people, such as all of an age and a sex: the "
    "Jensen-Shannon divergence of their sensitive values in the release from those in the source, in nats, the mean "
    "over groups with at least 5 % of the source's rows.",
    "populations": "How many groups u_loss is the mean over.",
    "original": "How many different tuples of the published columns can be put together that are rows of the source.",
    "fake": "How many different tuples of the published columns can be put together that are no row of the source.",
    "fake_original_ratio": "How many fake tuples there are for each original one.",
    **_of_buckets("original"),
    **_of_buckets("fake"),
}


def meanings_of(names: Iterable[str]) -> list[tuple[tuple[str, ...], str]]:
    """The figures of these names with what they mean, each name once and in their order.

    Those that are not among `MEANINGS`, such as a plug-in's, have the title of their file together.
    """
    remaining = list(dict.fromkeys(names))
    files = readable_statistics("figures")
    titles = {file.title: file.columns for file in files}
    meanings: list[tuple[tuple[str, ...], str]] = []
    while remaining:
        name = remaining[0]
        several: tuple[str, ...] = (name,)
        meaning = MEANINGS.get(name)
        if meaning is None:
            meaning, columns = next(
                ((title, columns) for title, columns in titles.items() if name in columns), ("A figure of MEASURE.", ())
            )
            several = (name, *(other for other in remaining[1:] if other in columns and other not in MEANINGS))
        meanings.append((several, meaning))
        remaining = [other for other in remaining if other not in several]
    return meanings
