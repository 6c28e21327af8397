"""The measured tables, generated from a seed and kept in files of their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from sqlanon.clients.terminal.demo import load_adult

__all__ = ["ADULT", "CENSUS", "DIAGNOSED", "DISTINCT", "Dataset", "prepared"]

# Salts of the hashes that stand in for a random generator: unlike random(), a hash of the
# row's number gives the same rows whatever the number of threads.
_PERSON, _AGE, _BIRTH, _ZIP, _DIAGNOSIS, _CHOSEN = 11, 12, 13, 14, 15, 16

# 28,000 days up to the end of 2006, and five digits of which the low ones are more frequent.
_DAYS, _FIRST_DAY = 28_000, "1930-05-06"
_ZIPS, _ZIP_SKEW = 90_000, 1.5
# The most frequent diagnosis has 22 % of the rows, the least frequent 2.5 %.
_DIAGNOSES, _DIAGNOSIS_SKEW = 20, 2.0

_PEOPLE_DRAWN = f"""
    FROM (SELECT i, (hash(i, {_PERSON}) % (SELECT count(*) FROM person))::BIGINT AS id FROM range($rows) AS r(i))
    JOIN person USING (id)
"""
_ADULT_ROWS = f"""
    SELECT age + (hash(i, {_AGE}) % 5)::INTEGER - 2 AS age, workclass, education, marital_status, occupation,
           race, sex, native_country, salary_class
    {_PEOPLE_DRAWN}
"""
_DISTINCT_COLUMNS = f"""
    DATE '{_FIRST_DAY}' + (hash(i, {_BIRTH}) % {_DAYS})::INTEGER AS birth,
    (10000 + floor(pow(hash(i, {_ZIP}) / pow(2.0, 64), {_ZIP_SKEW}) * {_ZIPS}))::INTEGER::VARCHAR AS zip,
    sex, education, native_country, occupation
"""
# Hashes of a number with two salts are correlated; hashes of a text are not.
_DIAGNOSIS_COLUMN = f"""
    'D' || floor(pow(hash(i || ':{_DIAGNOSIS}') / pow(2.0, 64), {_DIAGNOSIS_SKEW}) * {_DIAGNOSES})::INTEGER AS diagnosis
"""
_CENSUS_COLUMNS = tuple("age workclass education marital_status race sex".split())
_CENSUS_ROWS = f"""
    SELECT {", ".join(_CENSUS_COLUMNS)}, occupation FROM person ORDER BY hash(id, {_CHOSEN}), id LIMIT $rows
"""


@dataclass(frozen=True)
class Dataset:
    """A table `name` with `columns`, all of them quasi-identifiers, and the SELECT that generates $rows rows.

    One more column may be `sensitive`.
    """

    name: str
    columns: tuple[str, ...]
    select: str
    what: str
    sensitive: str | None = None


ADULT = Dataset(
    "adult_rows",
    tuple("age workclass education marital_status occupation race sex native_country salary_class".split()),
    _ADULT_ROWS,
    "complete rows of UCI Adult drawn with replacement, age shifted by -2 to +2",
)
DISTINCT = Dataset(
    "distinct_rows",
    ("birth", "zip", "sex", "education", "native_country", "occupation"),
    f"SELECT {_DISTINCT_COLUMNS} {_PEOPLE_DRAWN}",
    "birth date and five-digit zip beside four columns of UCI Adult: nearly all combinations are distinct",
)
DIAGNOSED = Dataset(
    "diagnosed_rows",
    DISTINCT.columns,
    f"SELECT {_DISTINCT_COLUMNS}, {_DIAGNOSIS_COLUMN} {_PEOPLE_DRAWN}",
    "the same with a diagnosis, which does not depend on the other columns",
    sensitive="diagnosis",
)
CENSUS = Dataset(
    "census_rows",
    _CENSUS_COLUMNS,
    _CENSUS_ROWS,
    "complete rows of UCI Adult, each at most once",
    sensitive="occupation",
)


def prepared(dataset: Dataset, rows: int, folder: Path, note: Callable[[str], None] = lambda text: None) -> Path:
    """Returns the DuckDB file in `folder` with this number of rows of the data set; generates it if it is missing."""
    file = folder / f"{dataset.name}-{rows}.duckdb"
    if not file.exists():
        note(f"making {rows:,} rows of {dataset.name}")
        unfinished = file.with_suffix(".partial")
        unfinished.unlink(missing_ok=True)
        _make(dataset, rows, unfinished)
        os.replace(unfinished, file)
    return file


def _make(dataset: Dataset, rows: int, file: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        load_adult(connection)
        _number_people(connection)
        connection.execute(f"ATTACH '{str(file).replace(chr(39), chr(39) * 2)}' AS made")
        connection.execute(f"CREATE TABLE made.{dataset.name} AS {dataset.select}", {"rows": rows})


def _number_people(connection: duckdb.DuckDBPyConnection) -> None:
    """Numbers Adult's complete rows from 0, in an order that does not depend on threads."""
    connection.execute("CREATE TEMP TABLE complete AS SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL")
    columns = ", ".join(row[0] for row in connection.execute("DESCRIBE complete").fetchall())
    connection.execute(
        f"CREATE TEMP TABLE person AS SELECT row_number() OVER (ORDER BY {columns}) - 1 AS id, * FROM complete"
    )
