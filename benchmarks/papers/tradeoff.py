"""The experiments of Li and Li, On the Tradeoff Between Privacy and Utility in Data Publishing (2009).

`python -m benchmarks.papers.tradeoff` prints P_loss and U_loss of releases of UCI Adult by requirement (`requirements`)
and by method (`methods`), and the relative error of counts with P_loss, by selectivity and dimension (`queries`).
FRONTIER computes all figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import sqlanon
from benchmarks.papers import adult
from benchmarks.papers.charts import Points
from benchmarks.papers.statements import (
    Attributes,
    Candidate,
    Family,
    candidates,
    cell,
    declare,
    parser,
    printed,
    rows_of,
    table,
)

__all__ = ["main"]

PARTS = ("requirements", "methods", "queries")
_ATTRIBUTES = Attributes(("age", "workclass", "education", "marital_status", "race", "sex"), "occupation")
_MIN_SUPPORT = 0.05
_DIVERSITY = Family("l-diversity", "l_diversity(l => 2, variant => 'probabilistic')", "l", (2, 3, 4, 5, 6))
_FAMILIES = (
    Family("k-anonymity", "k_anonymity(k => 10)", "k", (10, 50, 200, 1000)),
    _DIVERSITY,
    Family("t-closeness", "t_closeness(t => 0.3, distance => 'equal')", "t", (0.3, 0.2, 0.15, 0.1)),
    Family("delta-disclosure", "delta_disclosure(delta => 2)", "delta", (2, 1.5, 1)),
)
_METHODS = ("mondrian", "anatomy", "slicing")
# Each frontier begins with the intact table and the two trivial releases.
_BASELINES = 3


def _model(row: dict[str, str]) -> str:
    return row["requirement"].split("(")[0] or "intact and trivial"


def _method(row: dict[str, str]) -> str:
    return row["method"].split("(")[0] if row["requirement"] else "intact and trivial"


_CHARTS = {
    "requirements": Points("P_loss", "U_loss", _model),
    "methods": Points("P_loss", "U_loss", _method),
    "queries": Points("P_loss", "selectivity 0.05", _method),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = parser("tradeoff", __doc__, PARTS).parse_args(arguments)
    with adult.connected(rows_of(options), options.seed) as connection:
        for part in options.part or PARTS:
            printed(options, part, _lines(connection, part, options), _CHARTS)
    return 0


def _lines(connection: sqlanon.Connection, part: str, options: argparse.Namespace) -> Iterator[str]:
    if part == "queries":
        yield from _queries(connection, options)
        return
    families = _FAMILIES if part == "requirements" else (_DIVERSITY,)
    methods = ("mondrian",) if part == "requirements" else _METHODS
    heads = ("method", "requirement", "P_loss", "mean P_loss", "U_loss")
    yield from table(heads, _tradeoffs(connection, [_reduced(family, options) for family in families], methods))


def _reduced(family: Family, options: argparse.Namespace) -> Family:
    return family.reduced() if options.quick else family


def _tradeoffs(
    connection: sqlanon.Connection, families: Sequence[Family], methods: Sequence[str]
) -> Iterator[Sequence[str]]:
    figures = ("p_loss", "p_loss_mean", "u_loss")
    for family in families:
        measured = candidates(
            connection,
            _ATTRIBUTES,
            family,
            methods,
            ("p_loss", "p_loss_mean", f"u_loss(min_support => {_MIN_SUPPORT})"),
        )
        for candidate in measured if family is families[0] else measured[_BASELINES:]:
            numbers = [cell(candidate.figures.get(figure)) for figure in figures]
            yield (candidate.method, _required(candidate), *numbers)


def _required(candidate: Candidate) -> str:
    baseline = candidate.method.startswith(("intact", "trivial"))
    return "" if baseline else candidate.requirement


def _queries(connection: sqlanon.Connection, options: argparse.Namespace) -> Iterator[str]:
    """Yields the mean relative error of random counts by the release's P_loss."""
    count = 20 if options.quick else 300
    settings = {f"selectivity {share:g}": (4, share) for share in (0.01, 0.05, 0.1)}
    settings |= {f"dimensions {number}": (number, 0.05) for number in (2, 6)}
    if options.quick:
        settings = dict(list(settings.items())[:2])
    family = _reduced(Family("", _DIVERSITY.requirement, "l", (2, 4, 6)), options)
    policy = declare(connection, _ATTRIBUTES, family.requirement)
    workloads = {f"paper_{position}": name for position, name in enumerate(settings)}
    for workload, name in workloads.items():
        dimensions, selectivity = settings[name]
        connection.sql(
            f"CREATE OR REPLACE WORKLOAD {workload} ON POLICY {policy} (queries => {count}, "
            f"dimensions => {dimensions}, selectivity => {selectivity}, seed => {options.seed})"
        )
    yield from table(
        ("method", "requirement", "P_loss", *settings),
        _errors(connection, policy, family, list(workloads), options.quick),
    )


def _errors(
    connection: sqlanon.Connection, policy: str, family: Family, workloads: Sequence[str], quick: bool
) -> Iterator[Sequence[str]]:
    for method in _METHODS[:1] if quick else _METHODS[:2]:
        for value in family.values:
            requirement = f"l_diversity(l => {value:g}, variant => 'probabilistic')"
            declare(connection, _ATTRIBUTES, requirement)
            argument = f"(l => {value:g})" if method == "anatomy" else ""
            connection.sql(
                f"CREATE OR REPLACE ANONYMIZED TABLE {adult.RELEASE} AS POLICY {policy} METHOD {method}{argument}"
            )
            loss = _figures(connection, "WITH FIGURES (p_loss)")["p_loss"]
            errors = [
                _figures(connection, f"WITH WORKLOAD {workload}")["mean_relative_error"] for workload in workloads
            ]
            yield (method, requirement, cell(loss), *(cell(error) for error in errors))


def _figures(connection: sqlanon.Connection, clause: str) -> dict[str, float | None]:
    answer = connection.sql(f"MEASURE {adult.RELEASE} {clause}")
    names = [description[0] for description in answer.description]
    return {row[names.index("figure")]: row[names.index("value")] for row in answer.fetchall()}


if __name__ == "__main__":
    sys.exit(main())
