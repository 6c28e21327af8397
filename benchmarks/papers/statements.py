"""Shares policies, frontiers and tables of answers among experiments on the complete rows of Adult."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlanon
from benchmarks.papers.adult import RELEASE
from benchmarks.papers.charts import Bars, Points, draw

__all__ = [
    "Attributes",
    "Candidate",
    "Family",
    "candidates",
    "cell",
    "declare",
    "figures_of",
    "parser",
    "printed",
    "release",
    "rows_of",
    "table",
]

POLICY = "paper"
_FRONTIER = "paper_frontier"
_QUICK_ROWS = 600
# Sexes have the values themselves and '*'; the others have hierarchies in adult_hierarchies.sql.
_WITHOUT_HIERARCHY = frozenset({"sex"})


@dataclass(frozen=True)
class Attributes:
    """Attributes of Adult by role; neutral ones are published unchanged."""

    quasi_identifiers: tuple[str, ...]
    sensitive: str
    neutral: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """A privacy model with one varying parameter; `requirement` is the text for REQUIRE with the first value."""

    name: str
    requirement: str
    parameter: str
    values: tuple[float, ...]

    def reduced(self) -> Family:
        """Returns the family with its first value only."""
        return Family(self.name, self.requirement, self.parameter, self.values[:1])


@dataclass(frozen=True)
class Candidate:
    """A release that FRONTIER measured; a figure is None if it is undefined or the release is impossible."""

    method: str
    requirement: str
    figures: dict[str, float | None]


def declare(
    connection: sqlanon.Connection,
    attributes: Attributes,
    requirement: str,
    levels: Sequence[int] | None = None,
    *,
    hierarchies: bool = True,
    relation: str = "people",
) -> str:
    """Creates the policy on a relation and returns its name; `levels` has the only level of each quasi-identifier."""
    roles = []
    for position, name in enumerate(attributes.quasi_identifiers):
        using = f" USING adult_{name}" if hierarchies and name not in _WITHOUT_HIERARCHY else ""
        only = "" if levels is None else f" MIN LEVEL {levels[position]} MAX LEVEL {levels[position]}"
        roles.append(f"{name} QUASI IDENTIFIER{using}{only}")
    roles.append(f"{attributes.sensitive} SENSITIVE")
    roles += [f"{name} INSENSITIVE" for name in attributes.neutral]
    connection.sql(f"CREATE OR REPLACE POLICY {POLICY} ON {relation} ({', '.join(roles)}) REQUIRE {requirement}")
    return POLICY


def release(
    connection: sqlanon.Connection, attributes: Attributes, requirement: str, method: str, *, hierarchies: bool = True
) -> bool:
    """Makes the release with this requirement by a method; returns whether any release satisfies it."""
    policy = declare(connection, attributes, requirement, hierarchies=hierarchies)
    try:
        connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {RELEASE} AS POLICY {policy} METHOD {method}")
    except sqlanon.PrivacyViolation:
        return False
    return True


def candidates(
    connection: sqlanon.Connection,
    attributes: Attributes,
    family: Family,
    methods: Sequence[str],
    figures: Sequence[str],
) -> list[Candidate]:
    """Returns the candidates of a FRONTIER, starting with those of every frontier: intact, and the two trivial ones."""
    policy = declare(connection, attributes, family.requirement)
    values = ", ".join(f"{value:g}" for value in family.values)
    connection.sql(
        f"FRONTIER {_FRONTIER} ON POLICY {policy} METHODS ({', '.join(methods)}) "
        f"SWEEP {family.parameter} IN ({values}) MEASURE {', '.join(figures)}"
    )
    rows = connection.duckdb.execute(
        "SELECT any_value(method || coalesce('(' || nullif(arguments, '') || ')', '')), any_value(requirement), "
        "list(figure ORDER BY figure), list(value ORDER BY figure) "
        "FROM anon.candidate WHERE frontier = ? GROUP BY number ORDER BY number",
        [_FRONTIER],
    ).fetchall()
    return [
        Candidate(method, requirement or "", dict(zip(names, numbers, strict=True)))
        for method, requirement, names, numbers in rows
    ]


def figures_of(connection: sqlanon.Connection, figures: str, relation: str = RELEASE) -> dict[str, float | None]:
    """Returns the values of figures of a release by name, from MEASURE; `figures` is the text within FIGURES (...)."""
    answer = connection.sql(f"MEASURE {relation} WITH FIGURES ({figures})")
    heads = [description[0] for description in answer.description]
    return {row[heads.index("figure")]: row[heads.index("value")] for row in answer.fetchall()}


def cell(number: float | None, digits: int = 4) -> str:
    """Formats a number for a table; "-" without a release or a figure."""
    return "-" if number is None else f"{round(number, digits) + 0.0:.{digits}f}"


def table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a Markdown table, each as soon as its row is computed."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def parser(module: str, description: str | None, parts: Sequence[str]) -> argparse.ArgumentParser:
    """Returns a parser for the options that the modules share."""
    options = argparse.ArgumentParser(prog=f"python -m benchmarks.papers.{module}", description=description)
    options.add_argument("--part", action="append", choices=parts, help="this part; can be repeated (default: all)")
    options.add_argument("--quick", action="store_true", help="few rows and few parameters: does everything work?")
    options.add_argument("--rows", type=int, metavar="N", help="so many rows of Adult instead of all complete ones")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="of the rows, workloads and folds")
    options.add_argument("--charts", metavar="FOLDER", help="draw charts there too, as SVG (with the extra report)")
    options.set_defaults(module=module)
    return options


def printed(options: argparse.Namespace, part: str, lines: Iterator[str], charts: Mapping[str, Points | Bars]) -> None:
    """Prints the lines of a part, each as soon as it is computed, and draws its chart if requested."""
    table_lines: list[str] = []
    for line in lines:
        print(line, flush=True)
        table_lines.append(line)
    print()
    if options.charts and part in charts:
        draw(table_lines, charts[part], Path(options.charts) / f"{options.module}_{part}.svg")


def rows_of(options: argparse.Namespace) -> int | None:
    """Returns the number of rows of Adult that the options ask for; None for all complete rows."""
    rows: int | None = options.rows or (_QUICK_ROWS if options.quick else None)
    return rows
