"""The worked figures of De Capitani di Vimercati and others, Protecting Privacy in Data Release (2011).

`survey.toml` has a statement beside each printed figure; `python -m benchmarks.papers survey` runs them. The paper's
tables, and the releases that it prints, are made by `survey.sql`. `python -m benchmarks.papers.survey` prints the
statements (`statements`) and, as Figure 3 is about the inhabitants of the United States, who is unique in a made-up
population (`population`).
"""

from __future__ import annotations

import argparse
import math
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import NormalDist
from typing import Any

import sqlanon
from benchmarks.papers.printed import Computation, Value
from benchmarks.papers.statements import cell, parser, printed, table

__all__ = ["GROUPS", "main", "statements", "value_of"]

PARTS = ("statements", "population")
# The inhabitants of 2000 by the number of ZIP codes and of counties. Sizes are log-normal: the deviations are those
# with which a full date tells as many apart as the paper prints.
_PLACES = {"ZIP": (281_400_000 / 32_000, 1.286, 200), "county": (281_400_000 / 3_141, 1.457, 60)}
# Percent of the inhabitants by the years of a group of ages, from 0 on.
_AGES = (
    *((5, share) for share in (6.8, 7.3, 7.3, 7.2, 6.7)),
    *((10, share) for share in (14.2, 16.0, 13.4)),
    *((5, share) for share in (4.8, 3.8)),
    *((10, share) for share in (6.5, 4.4, 1.5)),
)
_BIRTHS = {"year": "year(born)", "month, year": "date_trunc('month', born)", "full date": "born"}

_FILE = Path(__file__).with_suffix(".toml")
_TABLES = Path(__file__).with_suffix(".sql")


def statements() -> Iterator[Sequence[str]]:
    """Yields where each figure is printed, its name, and its statement; no line for a figure without a statement."""
    for group in _groups():
        for figure in group["figures"]:
            if "statement" in figure:
                yield group["where"], figure["name"], f"`{figure['statement']}`"


def _groups() -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["group"]
    return content


def _figures(group: Mapping[str, Any], connection: sqlanon.Connection) -> Iterator[tuple[str, Value]]:
    """Yields the figures of a group; a statement that several figures share is run once."""
    _prepare(connection)
    answers: dict[str, list[dict[str, Any]]] = {}
    for figure in group["figures"]:
        statement = figure.get("statement")
        if statement and statement not in answers:
            answers[statement] = _answer(connection, statement)
        yield figure["name"], value_of(figure, answers[statement]) if statement else None


def _prepare(connection: sqlanon.Connection) -> None:
    """Makes the paper's tables and releases, unless another group has made them."""
    [(made,)] = connection.duckdb.execute(
        "SELECT count(*) FROM duckdb_views() WHERE view_name = 'gabrielle'"
    ).fetchall()
    if not made:
        connection.sql(_TABLES.read_text(encoding="utf-8"))


def _answer(connection: sqlanon.Connection, statement: str) -> list[dict[str, Any]]:
    answer = connection.sql(statement)
    heads = [description[0] for description in answer.description]
    return [dict(zip(heads, row, strict=True)) for row in answer.fetchall()]


def value_of(figure: Mapping[str, Any], answer: Sequence[Mapping[str, Any]]) -> Value:
    """Returns the cell of a statement's answer that is the figure: a number, or a text in the paper's words.

    Raises ValueError unless one row of the answer counts.
    """
    column = figure.get("column", "achieved")
    if answer and len(answer[0]) == 1:
        [column] = answer[0]
    rows = [
        row
        for row in answer
        if "row" not in figure or figure["row"] in [cell for head, cell in row.items() if head != column]
    ]
    if len(rows) != 1:
        raise ValueError(f"{figure['name']}: {len(rows)} rows of the answer count, not 1")
    value = rows[0][column]
    if isinstance(value, str):
        return str(figure.get("words", {}).get(value, value))
    times: float = figure.get("times", 1)
    return float(value) * times


GROUPS: Mapping[str, Computation] = {group["name"]: partial(_figures, group) for group in _groups()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables of the parts."""
    options = parser("survey", __doc__, PARTS).parse_args(arguments)
    with sqlanon.connect(config={"threads": "1"}) as connection:
        for part in options.part or PARTS:
            printed(options, part, _lines(connection, part, options), {})
    return 0


def _lines(connection: sqlanon.Connection, part: str, options: argparse.Namespace) -> Iterator[str]:
    if part == "statements":
        return table(("where", "figure", "statement"), statements())
    return table(("place", *_BIRTHS), _population(connection, options))


def _population(connection: sqlanon.Connection, options: argparse.Namespace) -> Iterator[Sequence[str]]:
    """Yields for each kind of place who is unique by place, sex and birth, in percent of a made-up population."""
    connection.duckdb.execute("SELECT setseed(?)", [options.seed / 1000])
    for kind, (mean, deviation, count) in _PLACES.items():
        _populate(connection, mean, deviation, 10 if options.quick else count)
        shares = []
        for birth in _BIRTHS.values():
            answer = _answer(connection, f"CHECK (SELECT place, sex, {birth} AS born FROM people) (place, sex, born)")
            numbers = {row["question"]: row["achieved"] for row in answer}
            shares.append(cell(100 * numbers["unique_rows"] / numbers["rows"], 1))
        yield (kind, *shares)


def _populate(connection: sqlanon.Connection, mean: float, deviation: float, count: int) -> None:
    """Makes `people`: the sizes of their places are as likely each by a log-normal distribution with this mean."""
    scores = (NormalDist().inv_cdf((place + 0.5) / count) for place in range(count))
    sizes = [mean * math.exp(deviation * score - deviation**2 / 2) for score in scores]
    ages = [share / years for years, share in _AGES for _ in range(years)]
    ends = list(accumulate(share / sum(ages) for share in ages))
    connection.duckdb.execute(
        "CREATE OR REPLACE TABLE people AS WITH drawn AS ("
        "SELECT place, random() < 0.5 AS sex, random() AS age, random() AS day "
        "FROM (SELECT unnest($places) AS place, unnest($sizes) AS size), range(size)) "
        "SELECT place, sex, make_date(1999 - len(list_filter($ends, lambda bound: bound < age)), 1, 1) "
        "+ floor(365 * day)::INTEGER AS born FROM drawn",
        {"places": list(range(count)), "sizes": [round(size) for size in sizes], "ends": ends},
    )


if __name__ == "__main__":
    sys.exit(main())
