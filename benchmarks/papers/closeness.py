"""The experiments of Li, Li and Venkatasubramanian, t-Closeness (2007), and Closeness (2010).

`python -m benchmarks.papers.closeness` prints how many minimal tables of UCI Adult the similarity attack breaks
(`similarity`), and the time of statements with the class sizes of their releases (`quality`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product

import sqlanon
from benchmarks.papers import adult
from benchmarks.papers.charts import Bars
from benchmarks.papers.statements import Attributes, cell, declare, parser, printed, rows_of, table

__all__ = ["main", "minimal_levels"]

PARTS = ("similarity", "quality")
_ATTRIBUTES = Attributes(("age", "education", "sex"), "occupation")
# The greatest level of each: ages by 5, 10, 20, 40 and '*', stages of education, degrees and '*', '*'.
_HIGHEST = (5, 3, 1)
_WIDER = Attributes(("age", "workclass", "education", "race", "sex"), "occupation")
_MINIMAL = (
    "k_anonymity(k => 10)",
    "k_anonymity(k => 10), l_diversity(l => 4, variant => 'entropy')",
    "k_anonymity(k => 10), t_closeness(t => 0.3, distance => 'equal')",
)
_COMPARED = (
    "k_anonymity(k => 10)",
    "k_anonymity(k => 10), l_diversity(l => 4, variant => 'entropy')",
    "k_anonymity(k => 10), l_diversity(l => 4, variant => 'recursive', c => 4)",
    "k_anonymity(k => 10), t_closeness(t => 0.2, distance => 'equal')",
    "k_anonymity(k => 10), t_closeness(t => 0.15, distance => 'equal')",
)
_METHOD = "generalization(suppression => 0)"
# Shares of a class that are below one node of the occupations' hierarchy.
_CONFIDENCES = (0.8, 0.9, 1.0)
_CHARTS = {
    "similarity": Bars(
        ("minimal tables", *(f"prone at {share:g}" for share in _CONFIDENCES)), lambda row: row["requirement"]
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = parser("closeness", __doc__, PARTS).parse_args(arguments)
    with adult.connected(rows_of(options), options.seed) as connection:
        for part in options.part or PARTS:
            printed(options, part, _lines(connection, part, options), _CHARTS)
    return 0


def _lines(connection: sqlanon.Connection, part: str, options: argparse.Namespace) -> Iterator[str]:
    if part == "similarity":
        heads = ("requirement", "minimal tables", *(f"prone at {share:g}" for share in _CONFIDENCES))
        yield from table(heads, _prone(connection, _MINIMAL[:1] if options.quick else _MINIMAL))
    else:
        heads = ("requirement", "processor seconds", "average class", "discernibility / rows")
        yield from table(heads, _quality(connection, _COMPARED[:2] if options.quick else _COMPARED))


def _release(connection: sqlanon.Connection, requirement: str, levels: Sequence[int] | None = None) -> bool:
    """Makes a release with this requirement, at these levels if given; returns whether it is possible."""
    policy = declare(connection, _WIDER if levels is None else _ATTRIBUTES, requirement, levels)
    try:
        connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {adult.RELEASE} AS POLICY {policy} METHOD {_METHOD}")
    except sqlanon.PrivacyViolation:
        return False
    return True


def minimal_levels(connection: sqlanon.Connection, requirement: str) -> Iterator[tuple[int, ...]]:
    """Yields the levels of each minimal table: it satisfies the requirement, and no table with lower levels does.

    At each step the release is the table with the yielded levels.
    """
    minimal: list[tuple[int, ...]] = []
    for levels in sorted(product(*(range(highest + 1) for highest in _HIGHEST)), key=lambda node: (sum(node), node)):
        below = any(all(low <= level for low, level in zip(node, levels, strict=True)) for node in minimal)
        if not below and _release(connection, requirement, levels):
            minimal.append(levels)
            yield levels


def _prone(connection: sqlanon.Connection, requirements: Sequence[str]) -> Iterator[Sequence[str]]:
    for requirement in requirements:
        tables, prone = 0, [0 for _ in _CONFIDENCES]
        for _ in minimal_levels(connection, requirement):
            tables += 1
            for position, share in enumerate(_CONFIDENCES):
                answer = connection.sql(
                    f"ATTACK main.{adult.RELEASE} SENSITIVE {_ATTRIBUTES.sensitive} USING adult_occupation "
                    f"WITH similarity(level => 2, confidence => {share})"
                )
                heads = [description[0] for description in answer.description]
                prone[position] += any(row[heads.index("succeeded")] > 0 for row in answer.fetchall())
        yield (requirement, str(tables), *map(str, prone))


def _quality(connection: sqlanon.Connection, requirements: Sequence[str]) -> Iterator[Sequence[str]]:
    for requirement in requirements:
        begun = time.process_time()
        released = _release(connection, requirement)
        seconds = time.process_time() - begun
        if not released:
            yield (requirement, cell(seconds, 2), "-", "-")
            continue
        answer = connection.sql(f"MEASURE {adult.RELEASE} WITH FIGURES (class_sizes)")
        heads = [description[0] for description in answer.description]
        sizes = {row[heads.index("figure")]: row[heads.index("value")] for row in answer.fetchall()}
        [(rows,)] = connection.duckdb.execute(f"SELECT count(*) FROM {adult.RELEASE}").fetchall()
        yield (
            requirement,
            cell(seconds, 2),
            cell(sizes["average_class_size"], 1),
            cell(sizes["discernibility"] / rows, 1),
        )


if __name__ == "__main__":
    sys.exit(main())
