"""Estimates of a population from samples of Adult, whose population is known: `python -m benchmarks.population`.

The complete rows of Adult are the population. Each line has means over some samples of one fraction of these rows: the
number of people who are unique in the population with its estimates, the probability that a unique match is right, and
the sum of the individual risks of the unique rows, where each row has the sampling weight 1 / fraction.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import sqlanon
from benchmarks import databases
from benchmarks.data import CENSUS, prepared
from sqlanon.clients.terminal.demo import ADULT_COMPLETE_ROWS

__all__ = ["main", "measured"]

_COLUMNS = (
    ("age", "sex", "race", "education", "occupation"),
    ("age", "sex", "education"),
    ("sex", "race", "education", "marital_status", "workclass"),
)
_FRACTIONS = ("0.02", "0.1", "0.3")
_ESTIMATES = ("true uniques", "rule", "Zayatz", "Pitman", "SNB")
_HEADS = ("columns", "fraction", *_ESTIMATES, "theta", "true theta", "individual risk", "true risk")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table in Markdown: a line for each set of columns and fraction."""
    given = _parser().parse_args(arguments)
    print(f"| {' | '.join(_HEADS)} |\n| --- |{' ---: |' * (len(_HEADS) - 1)}")
    with tempfile.TemporaryDirectory(prefix="sqlanon-population-") as folder:
        file = prepared(CENSUS, given.rows, Path(folder), lambda text: print(text, file=sys.stderr))
        with databases.working_copy(CENSUS, file) as connection:
            for columns in _COLUMNS:
                for fraction in _FRACTIONS:
                    samples = [measured(connection, CENSUS.name, columns, fraction, n) for n in range(given.samples)]
                    print(f"| {' | '.join(_line(columns, fraction, samples))} |", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.population", description=__doc__)
    parser.add_argument("--rows", type=int, default=ADULT_COMPLETE_ROWS, metavar="N", help="people of the population")
    parser.add_argument("--samples", type=int, default=3, metavar="N", help="samples of each fraction")
    return parser


def measured(
    connection: sqlanon.Connection, people: str, columns: Sequence[str], fraction: str, number: int
) -> dict[str, float | None]:
    """Returns the figures of a sample of a table, and the truth: `true_uniques`, `true_theta` and `true_risk`.

    Theta is the probability that a unique row and its match are one person. The risk is the sum, over unique rows, of 1
    / the number of people with the row's values.
    """
    names, run = ", ".join(columns), connection.duckdb
    run.execute(
        f"CREATE OR REPLACE TABLE drawn AS SELECT {names}, {1 / float(fraction)!r} AS weight FROM "
        f"(SELECT *, row_number() OVER () AS person FROM {people}) "
        f"ORDER BY hash(person, {number}) LIMIT CAST(round({fraction} * (SELECT count(*) FROM {people})) AS BIGINT)"
    )
    quasi = ", ".join(f"{name} QUASI IDENTIFIER" for name in columns)
    connection.execute(
        f"CREATE OR REPLACE POLICY drawn ON drawn ({quasi}, weight INSENSITIVE) REQUIRE k_anonymity(k => 1);"
        "CREATE OR REPLACE ANONYMIZED TABLE drawn_release AS POLICY drawn METHOD generalization"
    )
    rows = connection.execute(
        f"MEASURE drawn_release WITH FIGURES (population_uniques({fraction}), individual_risk(weights => weight))"
    ).fetchall()
    figures: dict[str, float | None] = {name: value for _, name, _, value in rows}
    connection.execute("DROP ANONYMIZED TABLE drawn_release")
    ((uniques, theta, risk),) = run.execute(
        f"WITH everybody AS (SELECT {names}, count(*) AS n FROM {people} GROUP BY ALL), "
        f"alone AS (SELECT {names} FROM drawn GROUP BY ALL HAVING count(*) = 1) "
        f"SELECT (SELECT count(*) FROM everybody WHERE n = 1), count(*) / sum(n), sum(1 / n) FROM alone JOIN everybody "
        f"USING ({names})"
    ).fetchall()
    return {**figures, "true_uniques": float(uniques), "true_theta": theta, "true_risk": risk}


def _line(columns: Sequence[str], fraction: str, samples: Sequence[Mapping[str, float | None]]) -> list[str]:
    """Returns the cells of a line: means over the samples, and the number of samples without an estimate."""
    risks = [(sample["unique_rows"] or 0) * (sample["individual_risk"] or 0) for sample in samples]
    names = ("population_uniques", *(f"population_uniques_{model}" for model in ("zayatz", "pitman", "snb")))
    return [
        " ".join(columns),
        fraction,
        *(_mean([sample[name] for sample in samples], ".0f") for name in ("true_uniques", *names)),
        *(_mean([sample[name] for sample in samples], ".3f") for name in ("population_uniqueness", "true_theta")),
        _mean(risks, ".1f"),
        _mean([sample["true_risk"] for sample in samples], ".1f"),
    ]


def _mean(values: Sequence[float | None], digits: str) -> str:
    known = [value for value in values if value is not None]
    missing = f" (NULL in {len(values) - len(known)} of {len(values)})" if len(known) < len(values) else ""
    return f"{fmean(known):{digits}}{missing}" if known else "NULL"


if __name__ == "__main__":
    sys.exit(main())
