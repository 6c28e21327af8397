"""The part of a report about other possible releases: the candidates of frontiers, beside this release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.catalog.frontiers import Measured
from sqlanon.domain.workload import workload_of
from sqlanon.export.report import charts as plots
from sqlanon.export.report.charts import EFFICIENT, NOT_EFFICIENT, THIS_RELEASE, Charts
from sqlanon.export.report.facts import Facts
from sqlanon.export.report.markup import (
    NOT_DEFINED,
    InPlaceOfNumber,
    Markup,
    paragraph,
    table,
    text,
)
from sqlanon.syntax.texts import call_text

# Figures that depend on arguments, which anon.candidate does not record.
_BY_ARGUMENTS = ("p_loss_above", "u_loss", "populations")
_NOTHING, _NOT_COMPARED = "nothing", InPlaceOfNumber("not compared")


def frontiers(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """Yields the candidates of each frontier of the policy, beside this release."""
    for name, candidates in facts.candidates.items():
        yield from _frontier(facts, name, candidates, charts)


def _comparable(facts: Facts, figure: str) -> float | None:
    """Returns a figure of this release for comparison with candidates; None if the figure depends on unrecorded
    arguments.
    """
    return None if figure in _BY_ARGUMENTS else facts.over_all(figure)


def _frontier(facts: Facts, name: str, candidates: Sequence[Measured], charts: Charts) -> Iterator[Markup]:
    names = [figure for figure, _ in candidates[0].figures]
    measured = [_comparable(facts, figure) for figure in names]
    rows = [*_rows(candidates), _row_of_release(facts, measured)]
    title = f"Candidates of the frontier {name}"
    head = ("candidate", "required", "kind", *names)
    points = _points(rows) if len(names) > 1 else []
    yield paragraph("Less is better of each figure. No candidate dominates an efficient one.")
    if None in measured:
        yield paragraph("What FRONTIER may have measured with other arguments is not compared with this release.")
    yield from _without_points(candidates, names)
    if points:
        yield charts.figure(plots.candidates(points, names[0], names[1]), title, head, rows)
    else:
        yield table(title, head, rows)


# A candidate, the requirements it meets, whether it is efficient, and its figures.
_Row = tuple[str | float | InPlaceOfNumber, ...]


def _rows(candidates: Sequence[Measured]) -> list[_Row]:
    return [
        (
            _called(c),
            c.requirement or _NOTHING,
            EFFICIENT if c.efficient else NOT_EFFICIENT,
            *(NOT_DEFINED if value is None else value for _, value in c.figures),
        )
        for c in candidates
        if c.undefined_figures is not None
    ]


def _row_of_release(facts: Facts, measured: Sequence[float | None]) -> _Row:
    required = ", ".join(map(call_text, facts.policy.requirements)) or _NOTHING
    figures = (_NOT_COMPARED if value is None else value for value in measured)
    return THIS_RELEASE, required, THIS_RELEASE, *figures


def _points(rows: Sequence[_Row]) -> list[tuple[str, float, float]]:
    """Returns the kind and the first two figures of each row that has both figures."""
    return [(str(kind), x, y) for _, _, kind, x, y, *_ in rows if isinstance(x, float) and isinstance(y, float)]


def _called(candidate: Measured) -> str:
    return f"{candidate.number}: {candidate.called}"


def _without_points(candidates: Sequence[Measured], names: Sequence[str]) -> Iterator[Markup]:
    """Yields the number of candidates without figures, with a remark if the plot of two figures lacks them, and the
    reason.
    """
    reasons: dict[str, list[str]] = {}
    count = not_drawn = 0
    for candidate in candidates:
        undefined = candidate.undefined_figures
        if undefined == ():
            continue
        reasons.setdefault(_reason(candidate, undefined), []).append(_called(candidate))
        count += 1
        not_drawn += undefined is None or not {*names[:2]}.isdisjoint(undefined)
    if not reasons:
        return
    lack = "1 lacks" if count == 1 else f"{count} lack"
    out_of = ""
    if len(names) > 1 and not_drawn:
        those = f"{not_drawn} of them" if not_drawn < count else "it" if count == 1 else "them"
        out_of = f", and the plot does not have {those}"
    yield paragraph(f"Of {len(candidates)} candidates {lack} figures{out_of}:")
    listed = ((text("; ".join(those)), text(reason)) for reason, those in reasons.items())
    items = (f"<li><strong>{those}</strong> {reason}</li>" for those, reason in listed)
    yield Markup(f"<ul>{''.join(items)}</ul>")


def _reason(candidate: Measured, undefined: Sequence[str] | None) -> str:
    if undefined is None:
        return f"could not be made: {candidate.reason}"
    called = [name if workload_of(name) is None else f"the error of the {name}" for name in undefined]
    sentence = f"was made, but {' and '.join(called)} {'is' if len(called) == 1 else 'are'} not defined of it"
    if any(map(workload_of, undefined)):
        sentence += ": it does not answer all queries of the workload, or their results in the source are all 0"
    return sentence
