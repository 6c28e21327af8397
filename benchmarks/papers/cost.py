"""The experiments of Brickell and Shmatikov, The Cost of Privacy (2008).

`python -m benchmarks.papers.cost` prints A_acc and A_know of releases of UCI Adult by requirement (`disclosure`), and
the gain of a learner from a release over the trivial releases, with A_acc (`learning`, with scikit-learn).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

import sqlanon
from benchmarks.papers import adult
from benchmarks.papers.charts import Bars
from benchmarks.papers.printed import Computation, Value
from benchmarks.papers.statements import (
    Attributes,
    Family,
    candidates,
    cell,
    declare,
    figures_of,
    parser,
    printed,
    rows_of,
    table,
)

__all__ = ["main"]

PARTS = ("disclosure", "learning")
_OCCUPATION = Attributes(("age", "sex", "race"), "occupation")
# The learned attribute is neither a quasi-identifier nor sensitive.
_TASKS = {
    "marital status, occupation sensitive": (
        Attributes(("age", "sex", "race"), "occupation", ("marital_status", "education", "hours_per_week")),
        "marital_status",
    ),
    "salary, marital status sensitive": (
        Attributes(("age", "occupation", "education"), "marital_status", ("salary_class", "hours_per_week")),
        "salary_class",
    ),
}
# Only without suppression are the rows of all releases the same.
_METHOD = "generalization(suppression => 0)"
_FAMILIES = (
    Family("k", "k_anonymity(k => 10)", "k", (10, 100, 1000)),
    Family("l", "l_diversity(l => 2, variant => 'recursive', c => 3)", "l", (2, 6, 10, 12, 15)),
    Family("t", "t_closeness(t => 0.4, distance => 'equal')", "t", (0.4, 0.3, 0.2, 0.1)),
    Family("delta", "delta_disclosure(delta => 2)", "delta", (2, 1.4, 1)),
    Family("delta, present values", "delta_disclosure(delta => 2, absent => 'ignored')", "delta", (2, 1.4, 1)),
)
_REQUIREMENTS = (
    "k_anonymity(k => 10)",
    "k_anonymity(k => 1000)",
    "l_diversity(l => 6, variant => 'recursive', c => 3)",
    "t_closeness(t => 0.2, distance => 'equal')",
)
_BASELINES = 3
_CHARTS = {
    "disclosure": Bars(("A_acc", "A_know"), lambda row: row["requirement"]),
    "learning": Bars(("researcher's gain", "A_acc"), lambda row: f"{row['task'].split(',')[0]}: {row['requirement']}"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = parser("cost", __doc__, PARTS).parse_args(arguments)
    with adult.connected(rows_of(options), options.seed) as connection:
        for part in options.part or PARTS:
            printed(options, part, _lines(connection, part, options), _CHARTS)
    return 0


def _lines(connection: sqlanon.Connection, part: str, options: argparse.Namespace) -> Iterator[str]:
    if part == "disclosure":
        families = [family.reduced() for family in _FAMILIES] if options.quick else _FAMILIES
        yield from table(("requirement", "A_acc", "A_know"), _disclosures(connection, families))
    else:
        heads = ("task", "requirement", "U_max", "U_base", "U_san", "researcher's gain", "A_acc")
        yield from table(heads, _gains(connection, options))


def _disclosures(connection: sqlanon.Connection, families: Sequence[Family]) -> Iterator[Sequence[str]]:
    for family in families:
        measured = candidates(connection, _OCCUPATION, family, (_METHOD,), ("a_acc", "a_know"))
        for position, candidate in enumerate(measured):
            if position >= _BASELINES or family is families[0]:
                name = candidate.requirement if position >= _BASELINES else candidate.method
                yield (name, cell(candidate.figures["a_acc"]), cell(candidate.figures["a_know"]))


def _gains(connection: sqlanon.Connection, options: argparse.Namespace) -> Iterator[Sequence[str]]:
    """Yields the accuracies of a decision tree and of an adversary for each task and requirement."""
    tasks = list(_TASKS.items())
    for name, (attributes, target) in tasks[:1] if options.quick else tasks:
        for requirement in _REQUIREMENTS[:1] if options.quick else _REQUIREMENTS:
            policy = declare(connection, attributes, requirement)
            made = f"CREATE OR REPLACE ANONYMIZED TABLE {adult.RELEASE} AS POLICY {policy} METHOD {_METHOD}"
            try:
                connection.sql(made)
            except sqlanon.PrivacyViolation:
                # Not even the table without its quasi-identifiers satisfies it.
                yield (name, requirement, *["-"] * 5)
                continue
            answer = connection.sql(
                f"MEASURE {adult.RELEASE} WITH TASK "
                f"(target => {target}, models => ('tree'), folds => 3, seed => {options.seed})"
            )
            heads = [description[0] for description in answer.description]
            numbers = {row[heads.index("figure")]: row[heads.index("value")] for row in answer.fetchall()}
            figures = ("u_max_tree", "u_base_tree", "u_san_tree", "gain_tree", "a_acc")
            yield (name, requirement, *(cell(numbers[figure]) for figure in figures))


def _baselines(connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    for name, method in (("Intact", _METHOD), ("Suppressed", "trivial(drop => 'quasi_identifiers')")):
        policy = declare(connection, _OCCUPATION, "k_anonymity(k => 1)")
        connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {adult.RELEASE} AS POLICY {policy} METHOD {method}")
        for figure, value in figures_of(connection, "a_acc, a_know").items():
            yield f"{name}, {figure.replace('a_', 'A_')}", value


GROUPS: Mapping[str, Computation] = {"baselines": _baselines}

if __name__ == "__main__":
    sys.exit(main())
