"""Measures what two releases about the same people reveal only together: `python -m benchmarks.composition`.

UCI Adult, six quasi-identifiers and the occupation. For each person with unique quasi-identifiers, every release leaves
some occupations possible, each with a share. A reader of several releases intersects them: an occupation is possible if
it is in each release, with the product of its shares as weight (Ganta, Kasiviswanathan and Smith, Composition attacks
and auxiliary information in data privacy, 2008).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import sqlanon
from benchmarks import databases
from benchmarks.data import CENSUS, prepared
from sqlanon.clients.terminal.demo import ADULT_COMPLETE_ROWS

__all__ = ["main"]

_SENSITIVE = str(CENSUS.sensitive)
_COLUMNS = ", ".join(CENSUS.columns)

# The published releases by name: the text after METHOD, with l left open.
_RELEASES = {
    "random_1": "anatomy(l => {l})",
    "random_2": "anatomy(l => {l})",
    "random_3": "anatomy(l => {l})",
    "near_1": "anatomy(l => {l}, grouping => 'near')",
    "near_2": "anatomy(l => {l}, grouping => 'near')",
    # Regions as they are whatever stands for their values: exact values say at once in which one a person is.
    "regions": "mondrian(publish => 'none')",
}
_READ_TOGETHER = {
    "Anatomy": ("random_1",),
    "Anatomy twice": ("random_1", "random_2"),
    "Anatomy three times": ("random_1", "random_2", "random_3"),
    "Anatomy, near": ("near_1",),
    "Anatomy, near, twice": ("near_1", "near_2"),
    "Anatomy and Anatomy, near": ("random_1", "near_1"),
    "Mondrian": ("regions",),
    "Anatomy and Mondrian": ("random_1", "regions"),
}

_PEOPLE = f"""
CREATE TEMP TABLE people AS
SELECT row_number() OVER () AS person, {_COLUMNS}, any_value({_SENSITIVE}) AS truth
FROM {CENSUS.name} GROUP BY {_COLUMNS} HAVING count(*) = 1
"""
# For a person the values of the bucket, each with its share of the bucket's rows.
_OF_BUCKETS = f"""
CREATE TEMP TABLE possible_{{name}} AS
SELECT person, value, count / sum(count) OVER (PARTITION BY person) AS share
FROM people JOIN {{name}}_qi USING ({_COLUMNS}) JOIN {{name}}_sensitive USING (bucket)
"""
_OF_REGIONS = f"""
CREATE TEMP TABLE possible_{{name}} AS
WITH counted AS (SELECT bucket, {_SENSITIVE} AS value, count(*) AS n FROM {{name}} GROUP BY ALL)
SELECT person, value, n / sum(n) OVER (PARTITION BY person) AS share
FROM people JOIN {{name}} USING ({_COLUMNS}) JOIN counted USING (bucket)
"""
_TOGETHER = """
WITH left_over AS (SELECT person, value, {product} AS share FROM {tables}),
guessed AS (
    SELECT person, count(*) AS values, arg_max(value, share) AS guess, max(share) AS most, sum(share) AS whole
    FROM left_over GROUP BY person
),
likeliest AS (
    SELECT person, count(*) AS ties, bool_or(value = truth) AS among
    FROM left_over JOIN guessed USING (person) JOIN people USING (person)
    -- Products of the same shares in another order may differ in their last digits.
    WHERE share >= most * (1 - 1e-9) GROUP BY person
)
SELECT
    count(*) AS people,
    avg((values = 1)::INTEGER) AS determined,
    avg(CASE WHEN among THEN 1 / ties ELSE 0 END) AS right,
    avg((most / whole > {bound})::INTEGER) AS above
FROM guessed JOIN likeliest USING (person)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each set of releases that are read together."""
    given = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sqlanon-composition-") as folder:
        kept = given.data or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        with databases.working_copy(CENSUS, prepared(CENSUS, given.rows, kept, _note)) as connection:
            _publish(connection, given.l)
            connection.duckdb.execute(_PEOPLE)
            for name in _RELEASES:
                text = _OF_REGIONS if name == "regions" else _OF_BUCKETS
                connection.duckdb.execute(text.format(name=name))
            print(f"| releases, l = {given.l} | people | one value left | guessed right | belief above 1/{given.l} |")
            print("| --- | ---: | ---: | ---: | ---: |")
            for said, names in _READ_TOGETHER.items():
                print(_line(connection, said, names, given.l), flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.composition", description=__doc__)
    parser.add_argument("--l", type=int, default=3, metavar="L")
    parser.add_argument("--rows", type=int, default=ADULT_COMPLETE_ROWS, metavar="N")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep the table here and use it again")
    return parser


def _publish(connection: sqlanon.Connection, l: int) -> None:  # noqa: E741 - the papers' name
    databases.declare(
        connection, CENSUS, CENSUS.columns, [_SENSITIVE], f"l_diversity(l => {l}, variant => 'probabilistic')"
    )
    for name, method in _RELEASES.items():
        _note(f"{name}: {method.format(l=l)}")
        connection.sql(databases.published("table", name, method.format(l=l)))


def _line(connection: sqlanon.Connection, said: str, names: Sequence[str], l: int) -> str:  # noqa: E741
    first, *others = (f"possible_{name}" for name in names)
    tables = " ".join((first, *(f"JOIN {other} USING (person, value)" for other in others)))
    product = " * ".join(f"{table}.share" for table in (first, *others))
    # Rounding must not lift a share above the promised one.
    query = _TOGETHER.format(product=product, tables=tables, bound=f"(1.0 / {l} + 1e-9)")
    ((people, determined, right, above),) = connection.duckdb.execute(query).fetchall()
    return f"| {said} | {people:,} | {100 * determined:.1f} % | {100 * right:.1f} % | {100 * above:.1f} % |"


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
