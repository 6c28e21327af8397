"""The experiments of Li and Li, On the Tradeoff Between Privacy and Utility in Data Publishing (2009).

`python -m benchmarks.papers tradeoff` compares each printed figure with ours. `python -m benchmarks.papers.tradeoff`
prints P_loss and U_loss of releases of UCI Adult by requirement (`requirements`) and by method (`methods`), Anatomy's
over 20 runs (`runs`), the relative error of counts by selectivity and dimension (`queries`), how much the printed
point depends on the rule by which Mondrian cuts (`rules`), and so the points that have few classes (`cuts`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import median

import sqlanon
from benchmarks.papers import adult, rules
from benchmarks.papers.charts import Points
from benchmarks.papers.printed import Computation, Value
from benchmarks.papers.statements import Attributes, cell, declare, figures_of, parser, printed, release, rows_of, table

__all__ = ["GROUPS", "main"]

PARTS = ("requirements", "methods", "runs", "queries", "rules", "cuts")
_ATTRIBUTES = Attributes(("age", "workclass", "education", "marital_status", "race", "sex"), "occupation")
_FIGURES = "p_loss, u_loss(min_support => 0.05)"
_BUCKETS = "mondrian(publish => 'none')"


@dataclass(frozen=True)
class Required:
    """A requirement with the value of its parameter, and its model's name in the paper."""

    model: str
    value: str

    def __str__(self) -> str:
        return f"{self.model}, {self.value}"

    @property
    def statement(self) -> str:
        """The requirement as a policy has it."""
        number = float(self.value.split(" = ")[1])
        return {
            "k-anonymity": f"k_anonymity(k => {number:.0f})",
            # A share of at most 1/l, for an l that need not be whole.
            "l-diversity": f"alpha_k_anonymity(alpha => {1 / number + 5e-7:.6f}, k => 1)",
            "t-closeness": f"t_closeness(t => {number:g}, distance => 'jensen_shannon')",
            "semantic privacy": f"delta_disclosure(delta => {number:g})",
        }[self.model]


def _family(model: str, parameter: str, values: str) -> tuple[Required, ...]:
    return tuple(Required(model, f"{parameter} = {value}") for value in values.split())


_K = _family("k-anonymity", "k", "10 50 100 200 500 1000 2000 5000")
_L = _family("l-diversity", "l", "3 3.5 4 4.25 4.5 4.75 5 5.5")
_T = _family("t-closeness", "t", "0.075 0.1 0.15 0.2 0.25 0.3 0.35 0.4")
_DELTA = _family("semantic privacy", "delta", "1 1.2 1.4 1.5 1.7 1.9 2 2.1")
_ALL = (*_K, *_L, *_T, *_DELTA)
_RUNS = 20
# The whole l of Figure 2, after the least that there is: Anatomy counts rows.
_WHOLE = (2, 3, 4, 5)
# The points of few classes, and rules by which Mondrian may cut.
_FEW = (_K[-1], _L[-1], *_DELTA)
_CUTS = {
    "order": "mondrian",
    "tree": "mondrian(hierarchy => 'tree')",
    "information gain": f"mondrian(split => 'information_gain', target => {_ATTRIBUTES.sensitive})",
}
_CHARTS = {
    "requirements": Points("P_loss", "U_loss", lambda row: row["requirement"].split(",")[0]),
    "methods": Points(
        "P_loss", "U_loss", lambda row: f"{row['requirement'].split(',')[0]}, {row['method'].split('(')[0]}"
    ),
}


def _attributes(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    names = (*_ATTRIBUTES.quasi_identifiers, _ATTRIBUTES.sensitive)
    counts = ", ".join(f"count(DISTINCT {name})" for name in names)
    [row] = connection.duckdb.execute(f"SELECT count(*), {counts} FROM people").fetchall()
    yield from zip(("rows", *names), row, strict=True)


def _shares(connection: sqlanon.Connection) -> dict[str, float]:
    query = "SELECT occupation, count(*) / sum(count(*)) OVER () FROM people GROUP BY occupation"
    return dict(connection.duckdb.execute(query).fetchall())


def _distribution(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    yield from _shares(connection).items()


def _revealed(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields the Jensen-Shannon divergence between all rows and a class in which one value is known for certain."""
    for name, share in _shares(connection).items():
        if name in ("Armed-Forces", "Craft-repair"):
            middle = (1 + share) / 2
            # The other values keep half of their shares in the mean distribution, and each loses log 2.
            yield name, (share * log(share / middle) + (1 - share) * log(2) - log(middle)) / 2


def _baselines(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    for name, method in (
        ("intact", "generalization(suppression => 0)"),
        ("trivial", "trivial(drop => 'quasi_identifiers')"),
    ):
        release(connection, _ATTRIBUTES, "k_anonymity(k => 1)", method)
        figures = figures_of(connection, _FIGURES)
        yield f"{name}, P_loss", figures["p_loss"]
        yield f"{name}, U_loss", figures["u_loss"]


def _point(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    figures = _losses(connection, _K[-1].statement, "mondrian")
    yield "k = 5000, P_loss", figures["p_loss"]
    yield "k = 5000, U_loss", figures["u_loss"]


def _curves(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields what the text says about the 32 points of Figure 2(a)."""
    points = {required: _losses(connection, required.statement, "mondrian") for required in _ALL}
    utility = {required: figures["u_loss"] or 0 for required, figures in points.items()}
    privacy = {required: figures["p_loss"] or 0 for required, figures in points.items()}
    yield "points with U_loss below 0.04", sum(loss < 0.04 for loss in utility.values())
    yield "greatest P_loss", max(privacy.values())
    yield "points of l-diversity with P_loss above 0.488", sum(privacy[required] > 0.488 for required in _L)
    yield "classes with delta = 0.9", _classes(connection, Required("semantic privacy", "delta = 0.9"))


def _classes(connection: sqlanon.Connection, required: Required) -> int:
    release(connection, _ATTRIBUTES, required.statement, "mondrian")
    names = ", ".join(_ATTRIBUTES.quasi_identifiers)
    query = f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {adult.RELEASE})"
    [(classes,)] = connection.duckdb.execute(query).fetchall()
    return int(classes)


def _losses(connection: sqlanon.Connection, requirement: str, method: str) -> dict[str, float | None]:
    """Returns P_loss and U_loss of a release; None where no release satisfies the requirement."""
    if release(connection, _ATTRIBUTES, requirement, method):
        return figures_of(connection, _FIGURES)
    return {"p_loss": None, "p_loss_mean": None, "u_loss": None}


GROUPS: Mapping[str, Computation] = {
    "attributes": _attributes,
    "distribution": _distribution,
    "revealed": _revealed,
    "baselines": _baselines,
    "point": _point,
    "curves": _curves,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = parser("tradeoff", __doc__, PARTS).parse_args(arguments)
    with adult.connected(rows_of(options), options.seed) as connection:
        for part in options.part or PARTS:
            printed(options, part, _lines(connection, part, options), _CHARTS)
    return 0


def _lines(connection: sqlanon.Connection, part: str, options: argparse.Namespace) -> Iterator[str]:
    short = slice(1 if options.quick else None)
    if part == "requirements":
        rows = _tradeoffs(connection, _ALL[short], ("mondrian",))
        yield from table(("requirement", "method", "P_loss", "mean P_loss", "U_loss"), rows)
    elif part == "methods":
        rows = _tradeoffs(connection, (*_L, *_T)[short], ("mondrian", _BUCKETS))
        yield from table(("requirement", "method", "P_loss", "mean P_loss", "U_loss"), rows)
    elif part == "runs":
        heads = ("l", "least P_loss", "median", "greatest", "least U_loss", "median", "greatest")
        whole = _WHOLE[: 1 if options.quick else None]
        yield from table(heads, _of_runs(connection, whole, 2 if options.quick else _RUNS))
    elif part == "cuts":
        yield from table(("requirement", *_CUTS), _by_cuts(connection, _FEW[: 1 if options.quick else None]))
    elif part == "queries":
        yield from _queries(connection, options)
    else:
        yield from rules.lines(connection, _ATTRIBUTES, quick=options.quick)


def _tradeoffs(
    connection: sqlanon.Connection, requirements: Sequence[Required], methods: Sequence[str]
) -> Iterator[Sequence[str]]:
    for required in requirements:
        for method in methods:
            figures = _losses(connection, required.statement, method)
            yield (str(required), method, *(cell(figures[name]) for name in ("p_loss", "p_loss_mean", "u_loss")))


def _by_cuts(connection: sqlanon.Connection, requirements: Sequence[Required]) -> Iterator[Sequence[str]]:
    """Yields U_loss by each rule of cutting."""
    for required in requirements:
        losses = [_losses(connection, required.statement, method)["u_loss"] for method in _CUTS.values()]
        yield (str(required), *map(cell, losses))


def _of_runs(connection: sqlanon.Connection, whole: Sequence[int], runs: int) -> Iterator[Sequence[str]]:
    """Yields the losses of Anatomy, whose buckets are random, over several runs."""
    for l in whole:  # noqa: E741 - the paper's name
        requirement, method = f"l_diversity(l => {l}, variant => 'probabilistic')", f"anatomy(l => {l})"
        losses = [_losses(connection, requirement, method) for _ in range(runs)]
        spread: list[str] = []
        for name in ("p_loss", "u_loss"):
            values = [float(figures[name] or 0) for figures in losses]
            spread += [cell(number) for number in (min(values), median(values), max(values))]
        yield (str(l), *spread)


def _queries(connection: sqlanon.Connection, options: argparse.Namespace) -> Iterator[str]:
    """Yields the mean relative error of random counts by the release's P_loss."""
    count = 20 if options.quick else 1000
    settings = {f"selectivity {share:g}": (4, share) for share in (0.02, 0.05, 0.1)}
    settings |= {f"dimensions {number}": (number, 0.05) for number in (2, 6)}
    policy = declare(connection, _ATTRIBUTES, "k_anonymity(k => 1)")
    workloads = {name: f"paper_{position}" for position, name in enumerate(settings)}
    for name, (dimensions, selectivity) in settings.items():
        connection.sql(
            f"CREATE OR REPLACE WORKLOAD {workloads[name]} ON POLICY {policy} (queries => {count}, "
            f"dimensions => {dimensions}, selectivity => {selectivity}, seed => {options.seed})"
        )
    heads = ("requirement", "method", "P_loss", *settings)
    yield from table(heads, _errors(connection, list(workloads.values()), quick=options.quick))


def _errors(connection: sqlanon.Connection, workloads: Sequence[str], *, quick: bool) -> Iterator[Sequence[str]]:
    chosen = _T[:1]
    for required in chosen[: 1 if quick else None]:
        for method in (_BUCKETS, "mondrian"):
            release(connection, _ATTRIBUTES, required.statement, method)
            loss = figures_of(connection, "p_loss")["p_loss"]
            errors = [_error(connection, workload) for workload in workloads]
            yield (str(required), method, cell(loss), *(cell(error) for error in errors))


def _error(connection: sqlanon.Connection, workload: str) -> float | None:
    answer = connection.sql(f"MEASURE {adult.RELEASE} WITH WORKLOAD {workload}")
    names = [description[0] for description in answer.description]
    figures = {row[names.index("figure")]: row[names.index("value")] for row in answer.fetchall()}
    error: float | None = figures["mean_relative_error"]
    return error


if __name__ == "__main__":
    sys.exit(main())
