"""The part of a report about what else could have been published: candidates of frontiers, beside this release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.catalog.frontiers import Measured
from sqlanon.report import charts as plots
from sqlanon.report.charts import EFFICIENT, NOT_EFFICIENT, THIS_RELEASE, Charts
from sqlanon.report.facts import Facts
from sqlanon.report.markup import NOT_DEFINED, InPlaceOfNumber, Markup, paragraph, table, text
from sqlanon.statements.frontier import called_text
from sqlanon.syntax import render

__all__ = ["frontiers"]

# Figures that depend on what they are asked with: anon.candidate has their names alone.
_BY_ARGUMENTS = ("p_loss_above", "u_loss", "populations")
_NOTHING, _NOT_COMPARED = "nothing", InPlaceOfNumber("not compared")


def frontiers(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """What else could have been published under the policy, where a frontier of it is there, and this release."""
    for name, candidates in facts.candidates.items():
        yield from _frontier(facts, name, candidates, charts)


def _comparable(facts: Facts, figure: str) -> float | None:
    """A figure of this release as candidates have it; None also where it depends on arguments that nothing records."""
    return None if figure in _BY_ARGUMENTS else facts.over_all(figure)


def _frontier(facts: Facts, name: str, candidates: Sequence[Measured], charts: Charts) -> Iterator[Markup]:
    names = [figure for figure, _ in candidates[0].figures]
    rows = [
        (
            _called(c),
            c.requirement or _NOTHING,
            EFFICIENT if c.efficient else NOT_EFFICIENT,
            *(NOT_DEFINED if value is None else value for _, value in c.figures),
        )
        for c in candidates
        if c.reason is None
    ]
    required = ", ".join(map(render.requirement, facts.policy.requirements)) or _NOTHING
    measured = [_comparable(facts, figure) for figure in names]
    of_release = (_NOT_COMPARED if value is None else value for value in measured)
    rows.append((THIS_RELEASE, required, THIS_RELEASE, *of_release))
    title = f"Candidates of the frontier {name}"
    head = ("candidate", "required", "kind", *names)
    points = [
        (str(kind), x, y)
        for _, _, kind, x, y, *_ in (row for row in rows if len(names) > 1)
        if isinstance(x, float) and isinstance(y, float)
    ]
    yield paragraph("Less is better of each figure. No candidate dominates an efficient one.")
    if None in measured:
        yield paragraph("What FRONTIER may have measured with other arguments is not compared with this release.")
    yield from _without_points(candidates, names)
    if points:
        yield charts.figure(plots.candidates(points, names[0], names[1]), title, head, rows)
    else:
        yield table(title, head, rows)


def _called(candidate: Measured) -> str:
    return f"{candidate.number}: {called_text(candidate)}"


def _without_points(candidates: Sequence[Measured], names: Sequence[str]) -> Iterator[Markup]:
    """How many candidates are not in the plot of the first two figures, and why."""
    reasons: dict[str, list[str]] = {}
    for candidate in candidates:
        missing = [name for name, value in candidate.figures if value is None and name in names[:2]]
        if candidate.reason is not None:
            reasons.setdefault(f"could not be made: {candidate.reason}", []).append(_called(candidate))
        elif missing and len(names) > 1:
            reasons.setdefault(f"has no {' and no '.join(missing)}: not defined", []).append(_called(candidate))
    if reasons:
        count = sum(map(len, reasons.values()))
        lack = "1 lacks" if count == 1 else f"{count} lack"
        out_of = "" if len(names) < 2 else ", and the plot does not have " + ("it:" if count == 1 else "them:")
        yield paragraph(f"Of {len(candidates)} candidates {lack} figures{out_of or ':'}")
        listed = ((text("; ".join(those)), text(reason)) for reason, those in reasons.items())
        items = (f"<li><strong>{those}</strong> {reason}</li>" for those, reason in listed)
        yield Markup(f"<ul>{''.join(items)}</ul>")
