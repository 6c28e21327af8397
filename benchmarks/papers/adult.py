"""The complete rows of UCI Adult as in the papers, with numeric codes for the learners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import sqlanon
from sqlanon import assets
from sqlanon.clients.terminal.demo import load_adult

__all__ = [
    "FOLDS",
    "OCC_7",
    "OCC_15",
    "RELEASE",
    "SENSITIVE",
    "SOURCE",
    "Numbers",
    "Selection",
    "connected",
    "declare",
    "described",
    "take",
]

FOLDS = 10
SENSITIVE = "occupation"
RELEASE = "release"
# The source of each release: some of Adult's rows, and the attributes of the selection.
SOURCE, _POLICY = "source_rows", "paper"
_NUMERIC = frozenset("age fnlwgt education_num capital_gain capital_loss hours_per_week".split())

# Adult's own hierarchies are in sql/examples; full-domain generalization needs some for the other attributes.
_MORE_HIERARCHIES = """
CREATE OR REPLACE HIERARCHY adult_fnlwgt AS INTERVALS (100000, 400000);
CREATE OR REPLACE HIERARCHY adult_education_num AS INTERVALS (4, 8);
CREATE OR REPLACE HIERARCHY adult_capital_gain AS INTERVALS (5000, 20000);
CREATE OR REPLACE HIERARCHY adult_capital_loss AS INTERVALS (500, 1500);
CREATE OR REPLACE HIERARCHY adult_hours_per_week AS INTERVALS (10, 20);
CREATE OR REPLACE HIERARCHY adult_relationship AS LEVELS (
    SELECT * FROM (VALUES
        ('Husband', 'Spouse'), ('Wife', 'Spouse'),
        ('Own-child', 'Other relative'), ('Other-relative', 'Other relative'),
        ('Unmarried', 'Without family'), ('Not-in-family', 'Without family')
    ) AS h(value, kind)
);
"""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Selection:
    """Attributes of Adult, the quasi-identifiers first and the sensitive one last.

    `domains` has the values of each attribute that is not numeric, in the order in which Mondrian cuts them: the code
    of a value is its position.
    """

    name: str
    quasi_identifiers: tuple[str, ...]
    domains: dict[str, list[str]]
    labels: dict[str, dict[str, list[int]]]

    @property
    def attributes(self) -> tuple[str, ...]:
        return (*self.quasi_identifiers, SENSITIVE)

    def numeric(self, attribute: str) -> bool:
        return attribute in _NUMERIC

    def coded(self, attribute: str, expression: str | None = None) -> str:
        """Returns the SQL expression of an attribute as a number: its value, or the code of its text."""
        text = expression or attribute
        if self.numeric(attribute):
            return f"{text}::DOUBLE"
        values = ", ".join("'" + value.replace("'", "''") + "'" for value in self.domains[attribute])
        return f"(list_position([{values}], {text}) - 1)::DOUBLE"


OCC_7 = Selection("OCC-7", tuple("age workclass education marital_status race sex".split()), {}, {})
OCC_15 = Selection(
    "OCC-15",
    tuple(
        "age workclass fnlwgt education education_num marital_status relationship race sex capital_gain capital_loss "
        "hours_per_week native_country salary_class".split()
    ),
    {},
    {},
)


@contextmanager
def connected(rows: int | None, seed: int) -> Iterator[sqlanon.Connection]:
    """Yields a database in memory with the table `people`: this number of Adult's complete rows, or all if it is None.

    Each row has a random `fold` that depends on the seed.
    """
    with sqlanon.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        load_adult(connection)
        connection.execute(
            "CREATE TABLE people AS SELECT * FROM (SELECT *, row_number() OVER (ORDER BY hash(number, $seed)) % $folds "
            "AS fold FROM (SELECT *, row_number() OVER () AS number FROM adult WHERE COLUMNS(*) IS NOT NULL)) "
            "ORDER BY hash(number, $seed + 1) LIMIT $rows",
            {"seed": seed, "folds": FOLDS, "rows": rows if rows is not None else 2**31},
        )
        connection.sql(assets.read("sql", "examples", "adult_hierarchies.sql"))
        connection.sql(_MORE_HIERARCHIES)
        yield connection


def described(connection: sqlanon.Connection, selection: Selection) -> Selection:
    """Returns the selection with its domains, and the values below each label."""
    domains, labels = {}, {}
    for attribute in (name for name in selection.attributes if not selection.numeric(name)):
        domains[attribute], labels[attribute] = _domain(connection, attribute)
    return replace(selection, domains=domains, labels=labels)


def _domain(connection: sqlanon.Connection, attribute: str) -> tuple[list[str], dict[str, list[int]]]:
    present = {row[0] for row in connection.duckdb.execute(f"SELECT DISTINCT {attribute} FROM people").fetchall()}
    groups: dict[int, dict[str, list[str]]] = {}
    query = "SELECT level, value, label FROM anon.hierarchy_value WHERE hierarchy = ? ORDER BY level"
    for level, value, label in connection.duckdb.execute(query, [f"adult_{attribute}"]).fetchall():
        groups.setdefault(level, {}).setdefault(label, []).append(value)
    # Values that share a label are consecutive, and labels are sorted by the least value below them.
    keys: dict[str, list[str]] = {value: [] for value in present}
    for level in sorted(groups, reverse=True):
        for members in groups[level].values():
            for value in present.intersection(members):
                keys[value].append(min(members))
    domain = sorted(present, key=lambda value: (*keys[value], value))
    codes = {value: code for code, value in enumerate(domain)}
    labels = {value: [code] for value, code in codes.items()}
    for level in sorted(groups):
        for label, members in groups[level].items():
            if below := [codes[value] for value in members if value in codes]:
                labels[label] = below
    return domain, labels | {"*": list(range(len(domain)))}


def take(
    connection: sqlanon.Connection, selection: Selection, condition: str = "true", limit: int | None = None
) -> None:
    """Makes the source of the next releases: at most `limit` rows of `people` that satisfy a condition."""
    columns = ", ".join(selection.attributes)
    rows = f"LIMIT {limit}" if limit is not None else ""
    connection.duckdb.execute(
        f"CREATE OR REPLACE TABLE {SOURCE} AS SELECT {columns} FROM people WHERE {condition} {rows}"
    )


def declare(connection: sqlanon.Connection, selection: Selection, requirement: str) -> str:
    """Creates the policy on the source, and returns its name."""
    roles: Sequence[str] = [f"{name} QUASI IDENTIFIER USING adult_{name}" for name in selection.quasi_identifiers]
    connection.sql(
        f"CREATE OR REPLACE POLICY {_POLICY} ON {SOURCE} ({', '.join(roles)}, {SENSITIVE} SENSITIVE) "
        f"REQUIRE {requirement}"
    )
    return _POLICY
