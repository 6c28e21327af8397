"""The report of a release: one HTML page for who decides whether it is given away."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.counts import per_cent
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.export.report.candidates import frontiers
from sqlanon.export.report.charts import Charts
from sqlanon.export.report.facts import SUREST, Facts, facts_of
from sqlanon.export.report.markup import Markup, document, paragraph, section, table, text
from sqlanon.export.report.plotted import answers, classes, columns, values
from sqlanon.export.report.requirements import met, requirements
from sqlanon.export.report.risks import attacks, figures, risks

# The chance from which on a guess is named at the top of the report, whatever is required.
_SURE = 0.9

_LIMITS = (
    "anything about columns that the policy takes for harmless, though a reader may know them",
    "anything against a reader who knows more than the quasi-identifiers, such as the values of the others in a class",
    "anything about this release beside others of the same people, of another time or by another method",
    "that it stays hidden who is in the data, unless delta_presence is required",
)


def report_page(engine: Engine, name: QualifiedName) -> str:
    """The report of a release as one HTML page that loads nothing.

    Each figure is one that CHECK, MEASURE or ATTACK answers with, or is counted on the published rows. No row of the
    source is in it; labels, and sensitive values, are those that the release shows. Raises what these statements raise,
    and UserError where what draws the plots is not installed.
    """
    charts = Charts()
    facts = facts_of(engine, name)
    parts = [
        *_head(facts),
        section("requirements", "What was required, and what is reached", *requirements(facts)),
        section("columns", "What is published, and how coarse it is", *columns(facts, charts)),
        section("classes", "How large the classes are", *classes(facts, charts)),
        section("values", "Sensitive values of the worst classes", *values(facts, charts)),
        section("risks", "Risks", *risks(facts)),
        section("figures", "Figures", *figures(facts)),
        section("attacks", "Attacks", *attacks(facts)),
        section("answers", "Answers to queries", *answers(facts, charts), *_to_other_choices(facts)),
        *(section("frontier", "Other choices", *parts) for parts in [list(frontiers(facts, charts))] if parts),
        section("limits", "What is not promised", *_limits(facts)),
        section("identity", "What this report is about", *_identity(facts)),
        section("decision", "Decision", paragraph("Name, date and signature: ______________________________")),
    ]
    return document(f"Report of the release {facts.release.name}", parts, charts.data, charts.scripts)


def _head(facts: Facts) -> Iterator[Markup]:
    release = facts.release
    kind = "a live view, which follows its source" if release.kind == "view" else "a snapshot"
    yield Markup(f'<p class="verdict">{text(_verdict(facts))}</p>')
    yield paragraph(
        f"{release.name} is {kind}, made under the policy {release.policy} by the method {release.method} on "
        f"{release.created_at:%Y-%m-%d}. It had {release.released_rows:,} of the {release.source_rows:,} rows of its "
        f"source then; {release.suppressed_rows:,} were left out."
    )
    if facts.other_releases:
        yield paragraph(Markup("<strong>Beware:</strong> "), f"it is {facts.other_releases}.")
    yield paragraph("This report is for the owner of the source. Publish it as you would any other aggregate.")
    links = {
        "requirements": "Requirements",
        "columns": "Columns",
        "classes": "Classes",
        "values": "Values",
        "risks": "Risks",
        "figures": "Figures",
        "attacks": "Attacks",
        "answers": "Answers",
        **({"frontier": "Other choices"} if facts.candidates else {}),
        "limits": "Limits",
        "identity": "Identity",
    }
    items = "".join(f'<li><a href="#{anchor}">{title}</a></li>' for anchor, title in links.items())
    yield Markup(f'<nav aria-label="Parts of this report"><ul>{items}</ul></nav>')


def _verdict(facts: Facts) -> str:
    """Whether what is required is met, and warnings of sensitive columns.

    Of those that nothing is required of, and of those that can be guessed all the same.
    """
    return " ".join([_met(facts), *_sure(facts)])


def _sure(facts: Facts) -> Iterator[str]:
    """The sensitive columns whose values the members of a class can be sure of, whatever is required and met."""
    for answer in facts.attacks:
        if answer.attack == SUREST and answer.highest is not None and answer.highest > _SURE:
            where = f", in the class {answer.worst[0].name}" if answer.worst and answer.worst[0].name else ""
            yield (
                f"Warning: who knows to which rows somebody belongs guesses {answer.attribute} with a chance of up to "
                f"{per_cent(answer.highest)}{where}."
            )


def _met(facts: Facts) -> str:
    columns = facts.without_requirement
    verdict = (
        ("What is required is met, but it leaves a gap." if columns else "Each requirement is met.")
        if met(facts)
        else "Nothing is required that could be met."
        if not facts.checked.violated
        else "Not all that was required is met: do not give it away."
    )
    if not columns:
        return verdict
    word = "column" if len(columns) == 1 else "columns"
    return (
        f"{verdict} Warning: nothing is required of the sensitive {word} {', '.join(columns)}. Who finds out to which "
        "rows somebody belongs may learn the value, for all of these rows may have the same one."
    )


def _to_other_choices(facts: Facts) -> Iterator[Markup]:
    if facts.candidates:
        link = Markup('<a href="#frontier">other choices</a>')
        yield paragraph("What else could have been published under the policy stands below, among the ", link, ".")


def _limits(facts: Facts) -> Iterator[Markup]:
    limits = [*_LIMITS]
    if facts.policy.entity is None:
        limits.insert(0, "that a class has as many people as rows: the policy names no ENTITY")
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
