"""What a reader may learn from a release: the figures of MEASURE and what attacks come to."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.figures.class_figures import ClassFigure
from sqlanon.questions.attacks import attack_parts
from sqlanon.report.facts import Facts
from sqlanon.report.markup import NOT_DEFINED, WHOLE_RELEASE, Markup, number, paragraph, table, text
from sqlanon.report.meanings import meanings_of

__all__ = ["attacks", "figures", "risks"]

# MEASURE's figures of single people, each in a sentence with the number in its middle.
_SENTENCES = {
    "unique_rows": ("Rows that are alone in their class: ", "."),
    "prosecutor_risk": (
        "Who knows that somebody is in the release points at the right row, in the smallest class, with a chance of ",
        ".",
    ),
    "marketer_risk": ("Who points at a row for each person is right about a share of ", " of them."),
    "p_loss": (
        "How far the sensitive values of a class are from those of all rows, at most, in nats: ",
        ", of at most 0.693147.",
    ),
    "a_acc": (
        "The most frequent value of a class is right of more rows than that of all rows is, by a share of ",
        ".",
    ),
}


def risks(facts: Facts) -> Iterator[Markup]:
    """What the figures say of single people, in sentences."""
    sentences = [
        f"<li>{text(_about(figure))}{text(before)}{number(figure.value)}{text(after)}</li>"
        for figure in facts.figures
        if figure.value is not None and figure.name in _SENTENCES
        for before, after in [_SENTENCES[figure.name]]
    ]
    if sentences:
        yield Markup(f"<ul>{''.join(sentences)}</ul>")
    if not any(figure.name == "prosecutor_risk" for figure in facts.figures):
        yield paragraph(
            facts.without_classes
            or "The chance to find somebody is not measured: rows of one respondent count as one, and the release does "
            "not say which they are."
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
    items = (f"<dt>{text(', '.join(names))}</dt><dd>{text(meaning)}</dd>" for names, meaning in meanings)
    if meanings:
        yield Markup(f"<dl>{''.join(items)}</dl>")


def attacks(facts: Facts) -> Iterator[Markup]:
    """The answers of ATTACK, for those attacks that need no other table."""
    if not facts.attacks:
        yield paragraph(facts.without_classes or "No column is sensitive: these attacks are about sensitive values.")
        return
    titles = {name: attack_parts(name, ())[0][0].title for name in dict.fromkeys(row[0] for row in facts.attacks)}
    items = "".join(f"<li><strong>{text(name)}</strong>: {text(title)}</li>" for name, title in titles.items())
    yield Markup(f"<ul>{items}</ul>")
    yield table(
        "What attacks come to (ATTACK)",
        ("attack", "about", "targets", "succeeded", "surest", "mean", "bound", "worst classes"),
        facts.attacks,
    )
    unbounded = list(dict.fromkeys(name for name, *_, bound, _ in facts.attacks if bound is None))
    if unbounded:
        yield paragraph(
            f"Nothing that is required bounds {', '.join(unbounded)}: the numbers may be worse for other rows."
        )
    yield paragraph(
        "Other attacks need more than the release: linkage a table of known people, similarity a hierarchy or a range, "
        "composition another release. Ask them with ATTACK."
    )
