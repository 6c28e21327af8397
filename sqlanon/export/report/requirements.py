"""The requirements of a release and the values that it reaches, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Measurement
from sqlanon.export.report.facts import Facts
from sqlanon.export.report.markup import (
    NOT_DEFINED,
    NOTHING_REQUIRED,
    WHOLE_RELEASE,
    Markup,
    folded,
    number,
    paragraph,
    table,
    text,
)
from sqlanon.methods.registry import worded
from sqlanon.sources.joins import bind_joined, of_join
from sqlanon.sql.questions.load import Question

# A table of more requirements is folded.
_ROWS = 12


def met(facts: Facts) -> bool:
    """Whether something was required and all of it is met."""
    return facts.checked.satisfied


def requirements(facts: Facts) -> Iterator[Markup]:
    """The answer of CHECK; folded, a sentence for each requirement."""
    if not facts.checked.measurements:
        yield paragraph("The policy requires nothing that can be computed from the published rows.")
        return
    sentences = "".join(f"<li>{_sentence(facts, measurement)}</li>" for measurement in facts.checked.measurements)
    answer = table(
        "Computed again from the published rows (CHECK)",
        ("requirement", "about", "required", "reached", "met"),
        [_row(measurement) for measurement in facts.checked.measurements],
    )
    is_long = len(facts.checked.measurements) > _ROWS
    yield folded("The answer of CHECK", answer) if is_long else answer
    yield folded("The meaning of each requirement", Markup(f"<ul>{sentences}</ul>"))
    if facts.assumptions:
        yield paragraph("This rests on assumptions that the rows of the release cannot show:")
        items = (f"<li>{text(item.meaning)} {text(item.leaves)}</li>" for item in facts.assumptions)
        yield Markup(f"<ul>{''.join(items)}</ul>")


def _row(m: Measurement) -> tuple[object, ...]:
    return (
        m.question,
        m.attribute or WHOLE_RELEASE,
        NOTHING_REQUIRED if m.required is None else m.required,
        NOT_DEFINED if m.achieved is None else m.achieved,
        NOTHING_REQUIRED if m.satisfied is None else m.satisfied,
    )


def _sentence(facts: Facts, measurement: Measurement) -> Markup:
    """What the requirement means, the numbers, and whether it is met."""
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
    """What a model requires, and what a respondent is where the policy names none."""
    if "respondents" not in question.title or policy.entity is not None:
        return question.title
    return f"{question.title} Each row counts as a respondent, since the policy names no ENTITY."
