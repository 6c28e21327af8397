"""The report of a release: one HTML page for the person who decides whether to publish it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.export.report.charts import Charts
from sqlanon.export.report.facts import Facts, facts_of
from sqlanon.export.report.first_screen import first_screen
from sqlanon.export.report.frontiers import frontiers
from sqlanon.export.report.markup import Markup, document, folded, paragraph, section, table, text
from sqlanon.export.report.plotted import answers, classes, columns, values
from sqlanon.export.report.risks import attacks, figures, requirements, risks

_LIMITS = (
    "anything about columns that the policy takes for harmless, though a reader may know them",
    "anything against a reader who knows more than the quasi-identifiers, such as the values of the others in a class",
    "anything about this release combined with others of the same people, of another time or by another method",
    "that a reader cannot tell who is in the data, unless delta_presence is required",
)
_ROWS_OF_CLASS = "that a class has as many people as rows"
# The limits of a release with noise, whose promise is about each row or person, whatever a reader knows.
_LIMITS_OF_NOISE = (
    "anything about releases of the same people that no budget has paid for",
    (
        "that a reader learns nothing about somebody: a fact that the counts show about many people may be true of "
        "each of them"
    ),
)


def report_page(engine: Engine, name: QualifiedName) -> str:
    """Returns the report of a release as one HTML page that loads nothing.

    Its first screen has the verdict, four figures and a plot of the columns; details are folded. Each figure is an
    answer of CHECK, MEASURE or ATTACK, a count of the published rows, or a comparison with the source. The page has no
    row of the source; its labels and sensitive values are in the release. Raises the errors of these statements, and
    UserError if Altair or vl-convert-python is not installed.
    """
    charts = Charts()
    facts = facts_of(engine, name)
    first = first_screen(facts, charts)
    sections = [
        (anchor, called, title, parts)
        for anchor, called, title, parts in _sections(facts, charts)
        if parts and (anchor == "classes" or parts != _without_classes(facts))
    ]
    parts = [
        first,
        *_about(facts),
        _contents([(anchor, called) for anchor, called, *_ in sections]),
        *(section(anchor, title, *parts) for anchor, _, title, parts in sections),
        section("decision", "Decision", paragraph("Name, date and signature: ______________________________")),
    ]
    return document(f"Report of the release {facts.release.name}", parts, charts.data, charts.scripts)


def _sections(facts: Facts, charts: Charts) -> Iterator[tuple[str, str, str, list[Markup]]]:
    """Yields the sections of a page: the anchor, the name in the list of contents, the title, and the parts."""
    yield "requirements", "Requirements", "Requirements", [*requirements(facts)]
    yield "columns", "Columns", "Columns", [*columns(facts, charts)]
    yield "classes", "Classes", "Classes", [*classes(facts, charts)]
    yield "values", "Values", "Sensitive values of the worst classes", [*values(facts, charts)]
    yield "risks", "Risks", "Risks", [*risks(facts)]
    yield "attacks", "Attacks", "Attacks", [*attacks(facts)]
    yield "answers", "Answers", "Answers to queries", [*answers(facts, charts), *_to_other_choices(facts)]
    others = [*frontiers(facts, charts)]
    parts = [folded("Candidates of the frontiers of this policy", *others)] if others else []
    yield "frontier", "Other choices", "Other choices", parts
    yield "figures", "Figures", "All figures", [folded("Figures of MEASURE, with their meanings", *figures(facts))]
    yield "limits", "Limits", "What is not promised", [*_limits(facts)]
    yield "identity", "Identity", "Identity", [folded("Fingerprints and versions", *_identity(facts))]


def _without_classes(facts: Facts) -> list[Markup]:
    """Returns the sentence in place of the sections about classes, for a release without classes."""
    return [paragraph(f"{facts.without_classes}.")]


def _about(facts: Facts) -> Iterator[Markup]:
    release = facts.release
    kind = "a live view, which follows its source" if release.kind == "view" else "a snapshot"
    if release.source_rows is None:
        rows = f"It has {release.released_rows:,} rows, made of counts with noise; none of them is a row of its source"
    else:
        rows = (
            f"It had {release.released_rows:,} of the {release.source_rows:,} rows of its source then; "
            f"{release.suppressed_rows:,} were left out"
        )
    yield paragraph(
        f"{release.name} is {kind}, made under the policy {release.policy} by the method {release.method} on "
        f"{release.created_at:%Y-%m-%d}. {rows}."
    )
    if facts.other_releases:
        yield paragraph(Markup("<strong>Beware:</strong> "), f"it is {facts.other_releases}.")
    yield paragraph("This report is for the owner of the source. Publish it as you would any other aggregate.")


def _contents(links: Sequence[tuple[str, str]]) -> Markup:
    items = "".join(f'<li><a href="#{anchor}">{called}</a></li>' for anchor, called in links)
    return Markup(f'<nav aria-label="Parts of this report"><ul>{items}</ul></nav>')


def _to_other_choices(facts: Facts) -> Iterator[Markup]:
    if facts.candidates:
        link = Markup('<a href="#frontier">other choices</a>')
        yield paragraph("Other releases that the policy allows are among the ", link, ".")


def _limits(facts: Facts) -> Iterator[Markup]:
    limits = [*(_LIMITS_OF_NOISE if facts.release.has_noise else _LIMITS)]
    if facts.policy.entity is None:
        of_rows = "that somebody's rows are protected together" if facts.release.has_noise else _ROWS_OF_CLASS
        limits.insert(0, f"{of_rows}: the policy names no ENTITY")
    yield Markup(f"<ul>{''.join(f'<li>{text(limit)}.</li>' for limit in limits)}</ul>")


def _identity(facts: Facts) -> Iterator[Markup]:
    release = facts.release
    content = release.content_fingerprint or "none: a live view has other rows when its source changes"
    yield table(
        "The release and its fingerprints",
        ("part", "value"),
        (
            ("release", str(release.name)),
            (
                "fingerprint of the policy and its hierarchies (SHA-256), as in a certificate",
                release.policy_fingerprint,
            ),
            ("fingerprint of the published rows, whatever their order", content),
            ("made", f"{release.created_at:%Y-%m-%d %H:%M:%S} UTC"),
            ("made with", f"sqlanon {release.sqlanon_version} on {release.engine_version}"),
        ),
    )
