"""The part of a report about what else could have been published: candidates of frontiers, beside this release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.catalog.frontiers import Measured
from sqlanon.report import charts as plots
from sqlanon.report.charts import Charts
from sqlanon.report.facts import Facts
from sqlanon.report.markup import Markup, paragraph, table

__all__ = ["frontiers"]

# Figures that depend on what they are asked with: anon.candidate has their names alone.
_BY_ARGUMENTS = ("p_loss_above", "u_loss", "populations")


def frontiers(facts: Facts, charts: Charts) -> Iterator[Markup]:
    """What else could have been published under the policy, where a frontier of it is there, and this release."""
    for name, candidates in facts.candidates.items():
        yield from _frontier(facts, name, candidates, charts)


def _comparable(facts: Facts, figure: str) -> float | None:
    """A figure of this release as candidates have it; None also where it depends on arguments that nothing records."""
    return None if figure in _BY_ARGUMENTS else facts.over_all(figure)


def _frontier(facts: Facts, name: str, candidates: Sequence[Measured], charts: Charts) -> Iterator[Markup]:
    names = [figure for figure, _ in candidates[0].figures]
    kinds = {True: "efficient", False: "not efficient"}
    rows = [
        (f"{c.number}: {c.method}({c.arguments})", c.requirement or None, kinds[c.efficient], *dict(c.figures).values())
        for c in candidates
        if c.reason is None
    ]
    measured = [_comparable(facts, figure) for figure in names]
    rows.append(("this release", None, "this release", *measured))
    title = f"Candidates of the frontier {name}"
    head = ("candidate", "required", "kind", *names)
    both = [(str(row[2]), row[3], row[4]) for row in rows if len(names) > 1]
    points = [(kind, float(x), float(y)) for kind, x, y in both if x is not None and y is not None]
    yield paragraph("Less is better of each figure. No candidate dominates an efficient one.")
    if None in measured:
        yield paragraph("What FRONTIER may have measured with other arguments is not compared with this release.")
    if points:
        yield charts.figure(plots.candidates(points, names[0], names[1]), title, head, rows)
    else:
        yield table(title, head, rows)
