"""The risks of a release: the figures of MEASURE, and the answers of ATTACK."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import log

from sqlanon.assess.attacks.attacked import AttackAnswer, AttackedClass
from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Measurement
from sqlanon.export.report.facts import Facts
from sqlanon.export.report.markup import (
    NOT_DEFINED,
    NOTHING_REQUIRED,
    WHOLE_RELEASE,
    InPlaceOfNumber,
    Markup,
    folded,
    listed,
    number,
    paragraph,
    percent,
    table,
    text,
)
from sqlanon.methods.registry import worded
from sqlanon.sources.joins import bind_joined, of_join
from sqlanon.sql.questions.load import Question
from sqlanon.sql.questions.statistics import Statistic, attack_parts, readable_statistics

_NO_BOUND = InPlaceOfNumber("no bound")
# MEASURE's figures about single people: the words before and after the value, and the function that writes it.
_SENTENCES: Mapping[str, tuple[str, str, Callable[[float], Markup]]] = {
    "unique_rows": ("Rows that are alone in their class: ", ".", number),
    "prosecutor_risk": (
        "A reader who knows that somebody is in the release picks the right row, in the smallest class, with a chance "
        "of ",
        ".",
        percent,
    ),
    "marketer_risk": ("A reader who picks a row for each person picks the right one for ", " of them.", percent),
    "p_loss": (
        "The sensitive values of the class that differs most are as far from those of all rows as ",
        " of the greatest divergence that there can be.",
        lambda value: percent(value / log(2)),
    ),
    "a_acc": (
        "The most frequent value of each class is the right guess for ",
        " of all rows more than the most frequent value of the whole release.",
        percent,
    ),
}

# The figures about finding a person's row in a class of rows that look alike.
_OF_PEOPLE = ("unique_rows", "prosecutor_risk", "marketer_risk")
_ROWS_APART = (
    "A reader who knows somebody's quasi-identifiers finds their row: they are published as they are. What is hidden "
    "is which sensitive value of the bucket is theirs."
)
_OF_ROWS = (
    "The chance to find somebody is not measured: rows of one respondent count as one, and the release does not show "
    "which rows those are."
)
_OF_ITEMS = (
    "The chance to find somebody by a whole list is not measured: the requirements are about readers who know a few of "
    "its items."
)


def risks(facts: Facts) -> Iterator[Markup]:
    """Yields sentences with the figures about single people."""
    yield from listed(
        [
            Markup(f"{text(_about(figure))}{text(_begun(figure, before))}{written(figure.value)}{text(after)}")
            for figure in facts.figures
            if figure.value is not None and figure.name in _SENTENCES
            if not (facts.tells_rows_apart and figure.name in _OF_PEOPLE)
            for before, after, written in [_SENTENCES[figure.name]]
        ]
    )
    if facts.tells_rows_apart:
        yield paragraph(_ROWS_APART)
    elif not any(figure.name == "prosecutor_risk" for figure in facts.figures):
        yield paragraph(
            f"{facts.without_classes}."
            if facts.without_classes
            else (_OF_ITEMS if any(requirement.of_itemsets for requirement in facts.requirements) else _OF_ROWS)
        )
    if facts.special.size and not facts.tells_rows_apart:
        yield paragraph(_special(facts))


def _special(facts: Facts) -> str:
    """Writes a sentence with the columns that make rows special, and their shares of the rows and of the scores."""
    size, columns = facts.special.size, facts.special.columns
    few = "by one column" if size == 1 else f"by up to {size} columns"
    if not columns:
        return f"No row is alone {few}."
    shares = ", ".join(
        f"{each.name} ({counted(each.rows, 'row')}, {percent(each.contribution, marked=False)} of the SUDA scores)"
        for each in columns
    )
    return f"These columns make rows special: rows are alone {few}, all needed, with it among them: {shares}."


def _about(figure: ClassFigure) -> str:
    return f"{figure.attribute}: " if figure.attribute else ""


def _begun(figure: ClassFigure, sentence: str) -> str:
    """Returns a sentence; after the name of a column, it begins in lower case."""
    return sentence[0].lower() + sentence[1:] if figure.attribute else sentence


def figures(facts: Facts) -> Iterator[Markup]:
    """Yields the answer of MEASURE, and the meaning of each figure."""
    yield paragraph("They are averages and maxima over rows. They promise nothing; only the requirements do.")
    rows = [
        (figure.name, figure.attribute or WHOLE_RELEASE, NOT_DEFINED if figure.value is None else figure.value)
        for figure in facts.figures
    ]
    yield table("Figures of the release (MEASURE)", ("figure", "about", "value"), rows)
    meanings = meanings_of(figure.name for figure in facts.figures)
    for sentence in facts.not_measured:
        yield paragraph(f"{sentence}.")
    items = (f"<dt>{text(', '.join(names))}</dt><dd>{text(meaning)}</dd>" for names, meaning in meanings)
    if meanings:
        yield Markup(f"<dl>{''.join(items)}</dl>")


def attacks(facts: Facts) -> Iterator[Markup]:
    """Yields a sentence about the surest guess of each attack without other tables, and the folded answers of
    ATTACK.
    """
    if not facts.attacks:
        why = "No column is sensitive: these attacks are about sensitive values."
        yield paragraph(f"{facts.without_classes}." if facts.without_classes else why)
        return
    yield from listed([_surest(answer) for answer in facts.attacks])
    unbounded = list(dict.fromkeys(answer.attack for answer in facts.attacks if answer.bound is None))
    if unbounded:
        yield paragraph(
            f"No requirement bounds {', '.join(unbounded)}: the numbers may be worse for another release of the policy."
        )
    yield folded("How each attack was tried, and where it is worst", *_tried(facts))
    yield paragraph(
        "Other attacks need more than the release: linkage a table of known people, similarity a hierarchy or a range, "
        "composition another release. Ask them with ATTACK."
    )


def _surest(answer: AttackAnswer) -> Markup:
    """Writes the surest and the mean guess of an attack, the largest ratio of shares, or the reason why there is
    none.
    """
    called = f"<strong>{text(_called(answer))}</strong>"
    if answer.highest is None:
        return Markup(f"{called}: not defined: {text(answer.undefined or 'there is no target')}.")
    if _statistic(answer).certain is None:
        about = "the greatest ratio of a value's share in a class to its share of all rows is"
        return Markup(f"{called}: {about} {number(answer.highest)}.")
    mean = "" if answer.mean is None else f", the mean one of {percent(answer.mean)}"
    return Markup(f"{called}: the surest guess has a chance of {percent(answer.highest)}{mean}.")


def _tried(facts: Facts) -> Iterator[Markup]:
    items = "".join(f"<li>{_attacked(answer)}</li>" for answer in facts.attacks)
    yield Markup(f"<ul>{items}</ul>")
    yield table(
        "Results of attacks (ATTACK)",
        ("attack", "about", "targets", "succeeded", "surest", "mean", "bound"),
        [_row(answer) for answer in facts.attacks],
    )
    for answer in facts.attacks:
        if answer.worst:
            classes = "".join(f"<li>{_worst(answer, attacked)}</li>" for attacked in answer.worst)
            yield Markup(f"<h3>Where it is worst: {text(_called(answer))}</h3><ol>{classes}</ol>")


def _called(answer: AttackAnswer) -> str:
    return f"{answer.attack} of {answer.attribute}" if answer.attribute else answer.attack


def _row(answer: AttackAnswer) -> tuple[object, ...]:
    *figures, bound = answer.figures
    return *(NOT_DEFINED if figure is None else figure for figure in figures), _NO_BOUND if bound is None else bound


def _worst(answer: AttackAnswer, attacked: AttackedClass) -> Markup:
    """Writes a class with its number of targets, and the attack's confidence."""
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
    """Writes the default arguments of an attack, with their meanings."""
    arguments = [f"{p.name} => {p.default} ({p.meaning})" for p in statistic.parameters if p.default is not None]
    return f" Tried with {' and '.join(arguments)}." if arguments else ""


def _attacked(answer: AttackAnswer) -> Markup:
    """Writes an attack's definition, thresholds and confidence, and the number of targets for which the attack
    succeeds.
    """
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
        f"matching_buckets_{kind}": f"The number of buckets that match a tuple which counts as {kind}, the mean.",
        **{
            f"matching_buckets_{kind}_{name}": f"The share of the tuples counted as {kind} that match {words} buckets."
            for name, words in shares.items()
        },
    }


MEANINGS: Mapping[str, str] = {
    "a_acc": "The share of the rows that are guessed right by the most frequent sensitive value of their class, less "
    "the share that is guessed right by the most frequent value of all published rows.",
    "a_know": "The distance of the sensitive values of a row's class from those of all published rows: half the sum "
    "of the absolute differences of shares, the mean over rows. 0 where no class differs.",
    "a_quot": "The greatest logarithm, in absolute value, of a value's share in a class by its share of all "
    "published rows: infinite where a class lacks a value.",
    "a_quot_present": "The figure a_quot over those values alone that a class has.",
    "least_class_size": "The rows of the smallest class.",
    "average_class_size": "The rows of a class, the mean over classes.",
    "greatest_class_size": "The rows of the largest class.",
    "discernibility": "The sum over rows of the sizes of their classes; a row that was left out counts as all rows "
    "of the source.",
    "gain": "The information about a row's sensitive value that its class gives a reader, in nats: the entropy of all "
    "published rows less the mean over rows of the entropy of their class.",
    "classes": "The number of classes.",
    "row_count": "The number of published rows.",
    "unique_rows": "The number of rows that are alone in their class.",
    "prosecutor_risk": "The greatest chance that a reader who knows that somebody is in the release picks their row "
    "out of their class.",
    "marketer_risk": "The share of people whose row is picked right by a reader who picks a row for each.",
    "p_loss": "The Jensen-Shannon divergence of the sensitive values of a class from those of all published rows, in "
    "nats, of the class that differs most; at most 0.693147.",
    "p_loss_mean": "The divergence of p_loss, the mean over rows.",
    **{
        f"p_loss_{share}": f"The divergence of p_loss that {share} % of the rows do not exceed."
        for share in (50, 90, 95, 99)
    },
    "p_loss_above": "The share of the rows whose class has a divergence, by p_loss, above 0.3.",
    "granularity_loss": "The detail that is lost: a label that stands for n of the N values of its column costs "
    "(n - 1) / (N - 1), a row that was left out costs 1; the mean over the rows of the source, "
    f"and over the quasi-identifiers, weighted where the policy weighs them. {_FROM_0_TO_1}.",
    "individual_risk": "The chance that a match of a row is the right person, of the worst class: the mean of one by "
    "the number of people of the class in the population, which its sampling weights estimate. It is not a bound.",
    "household_risk": "The chance that somebody of a household is found, by individual_risk, of the worst household.",
    "household_risk_mean": "The chance of household_risk, the mean over households.",
    "individual_risk_mean": "The chance of individual_risk, the mean over rows.",
    "expected_reidentifications": "The number of rows that are matched right if each row is matched: the sum of the "
    "chances of individual_risk.",
    "weighted_people": "The sum of the sampling weights: the size of the population, if the weights are right.",
    "k_map_estimated": "The share of the rows in classes that may be of fewer than k people of the population: classes "
    "below k_map_class_size.",
    "k_map_class_size": "The size from which on a class is of fewer than k people with a probability of at most alpha, "
    "by a zero-truncated Poisson distribution.",
    "k_map_class_size_poisson": "The size of k_map_class_size by a Poisson distribution, the less careful one.",
    "population_uniques": "The estimated number of people who are alone with their values in the population that the "
    "source is a sample of, by the model that a remark names. It is not a bound: the model may not fit the population.",
    **{
        f"population_uniques_{name}": f"The estimate of population_uniques by the model of {model}; not defined where "
        "it has no solution, or several."
        for name, model in (("zayatz", "Zayatz"), ("pitman", "Pitman"), ("snb", "Chen and Keller-McNulty"))
    },
    "precision": "The height of values in their hierarchies: a value costs its level divided by the height of its "
    "hierarchy, a row that was left out costs 1; the mean over the rows of the source, and over the quasi-identifiers, "
    f"weighted where the policy weighs them. {_FROM_0_TO_1}.",
    "non_uniform_entropy": "The number of bits that tell the values below the labels, the sum over rows: a frequent "
    "value costs less than a rare one below the same label. Not defined where rows were left out, because the release "
    "does not show which.",
    "suppressed_cells": "The cells of a column that are NULL because they would tell rows apart, and those of all "
    "columns.",
    "least_own": "The least number of published rows with the same cells, where NULL equals NULL alone.",
    "least_agrees": "The least number of published rows that somebody is left with who knows a person's true values: "
    "their cells are those, or NULL. Of the people of the source who fit any row.",
    "least_matches": "The least number of published rows that agree with a row wherever both have a value. It may be "
    "large where one row fits a person alone.",
    "sse": "The share of the variance of a column that the means of groups do not show, and of all columns together, "
    f"each with variance 1. {_FROM_0_TO_1}.",
    "u_loss": "The error of the release about large groups of people, such as all of an age and a sex: the "
    "Jensen-Shannon divergence of their sensitive values in the release from those in the source, in nats, the mean "
    "over groups with at least 5 % of the source's rows.",
    "populations": "The number of groups that u_loss is the mean over.",
    "epsilon": "What the release costs and promises: without one respondent, no release would be more than e^epsilon "
    "times as probable, or as improbable.",
    "marginals": "Half the sum of the differences between the shares that the source and the release have of two "
    "columns' values, the mean over pairs of columns. It is exact, and the owner's.",
    "marginals_worst": "The marginals of the pair of columns that differs most.",
    "original": "The number of different tuples that the published tables can be joined to and that the source has.",
    "fake": "The number of different tuples that the published tables can be joined to and that the source lacks.",
    "fake_original_ratio": "The number of fake tuples for each original one.",
    **_of_buckets("original"),
    **_of_buckets("fake"),
}


def meanings_of(names: Iterable[str]) -> list[tuple[tuple[str, ...], str]]:
    """Returns the figures of these names with their meanings, each name once, in the given order.

    Figures that are not in `MEANINGS`, such as the figures of a plug-in, are grouped by file, with the file's title.
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


# The requirements of a release and the figures that it reaches, in words.


# A table of more requirements is folded.
_ROWS = 12


def met(facts: Facts) -> bool:
    """Whether there is a requirement and all requirements are met."""
    return facts.checked.satisfied


def requirements(facts: Facts) -> Iterator[Markup]:
    """Yields the answer of CHECK, and a folded sentence for each requirement."""
    if not facts.checked.measurements:
        yield paragraph("The policy requires nothing that can be computed from the published rows.")
        return
    sentences = "".join(f"<li>{_sentence(facts, measurement)}</li>" for measurement in facts.checked.measurements)
    answer = table(
        "Computed again from the published rows (CHECK)",
        ("requirement", "about", "required", "reached", "met"),
        [_row_requirements(measurement) for measurement in facts.checked.measurements],
    )
    is_long = len(facts.checked.measurements) > _ROWS
    yield folded("The answer of CHECK", answer) if is_long else answer
    yield folded("The meaning of each requirement", Markup(f"<ul>{sentences}</ul>"))
    if facts.assumptions:
        yield paragraph("This rests on assumptions that the rows of the release cannot show:")
        items = (f"<li>{text(item.meaning)} {text(item.leaves)}</li>" for item in facts.assumptions)
        yield Markup(f"<ul>{''.join(items)}</ul>")


def _row_requirements(m: Measurement) -> tuple[object, ...]:
    return (
        m.question,
        m.attribute or WHOLE_RELEASE,
        NOTHING_REQUIRED if m.required is None else m.required,
        NOT_DEFINED if m.achieved is None else m.achieved,
        NOTHING_REQUIRED if m.satisfied is None else m.satisfied,
    )


def _sentence(facts: Facts, measurement: Measurement) -> Markup:
    """Writes the meaning of a requirement, its figures, and whether it is met."""
    explained = worded(facts.release.method, facts.release.method_arguments).figures
    if measurement.question in explained:
        meaning, parameter = explained[measurement.question].meaning, explained[measurement.question].parameter
    elif of_the_join := [r for r in bind_joined(of_join(facts.policy)) if r.question_name == measurement.question]:
        statistic = of_the_join[0].statistic
        meaning, parameter = statistic.statistic.title, statistic.arguments[0][0]
        meaning += f" The other is {facts.policy.joined}."
    else:
        of = next(r for r in facts.requirements if r.question_name == measurement.question)
        meaning, parameter = title_of(of.question, facts.policy), of.question.required
        meaning += of.scope
    about = f" ({text(measurement.attribute)})" if measurement.attribute else ""
    verdict = {True: "met", False: "not met", None: "nothing is required"}[measurement.satisfied]
    numbers = ""
    if measurement.required is not None:
        name = f"{text(parameter)} = " if parameter and parameter.isidentifier() else ""
        reached = "nothing" if measurement.achieved is None else number(measurement.achieved)
        numbers = f" Required: {name}{number(measurement.required)}; reached: {reached}."
    return Markup(f"<strong>{text(measurement.question)}</strong>{about}, {verdict}: {text(meaning)}{numbers}")


def title_of(question: Question, policy: Policy) -> str:
    """Describes a model's requirement, and says that each row counts as a respondent if the policy has no ENTITY."""
    if "respondents" not in question.title or policy.entity is not None:
        return question.title
    return f"{question.title} Each row counts as a respondent, since the policy names no ENTITY."
