"""Figures of disclosure of the hospital's releases, to the digit."""

from __future__ import annotations

from math import inf, log

import pytest

import sqlanon
from sqlanon import Connection
from tests.support.hospital import OTHERS

FIGURES = "a_know, a_acc, a_quot, gain, p_loss"
# The levels of date of birth, sex and postal code.
RELEASES = {
    "homogeneous": ((1, 1), (1, 1), (2, 2)),
    "diverse": ((2, 2), (0, 0), (2, 2)),
    "intact": ((0, 0), (0, 0), (0, 0)),
    "suppressed": ((4, 4), (1, 1), (4, 4)),
}


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect()
    connection.execute("CREATE TABLE patients (dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    for row in OTHERS:
        connection.duckdb.execute("INSERT INTO patients VALUES (CAST(? AS DATE), ?, ?, ?)", list(row))
    connection.execute("CREATE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE)")
    connection.execute("CREATE HIERARCHY digits AS PREFIXES (4, 3, 2)")
    for name, levels in RELEASES.items():
        dob, sex, digits = (f"MIN LEVEL {least} MAX LEVEL {most}" for least, most in levels)
        connection.execute(
            f"CREATE POLICY {name} ON patients (dob QUASI IDENTIFIER USING birth {dob}, sex QUASI IDENTIFIER {sex}, "
            f"zip QUASI IDENTIFIER USING digits {digits}, disease SENSITIVE) REQUIRE k_anonymity(k => 1)"
        )
        connection.execute(f"CREATE ANONYMIZED TABLE {name}_release AS POLICY {name} METHOD generalization")
    return connection


def measured(con: Connection, release: str, figures: str, attribute: str = "disease") -> dict[str, float]:
    rows = con.execute(f"MEASURE {release} WITH FIGURES ({figures})").fetchall()
    assert {(name, of) for name, _, of, _ in rows} == {(f"main.{release}", attribute)}
    return {figure: value for _, figure, _, value in rows}


# A_know, A_acc, A_quot, the same over the values that a class has, gain, P_loss and its mean.
@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("homogeneous", (21 / 32, 1 / 4, inf, log(4), 1.126364, 0.380396, 0.318658)),
        ("diverse", (5 / 8, 1 / 4, inf, log(4), 1.039721, 0.380396, 0.298079)),
        ("intact", (55 / 64, 3 / 4, inf, None, 2.079442, 0.574297, 0.487138)),
        ("suppressed", (0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_figures_of_disclosure(con: Connection, release: str, expected: tuple[float | None, ...]) -> None:
    figures = measured(con, f"{release}_release", FIGURES)
    names = ("a_know", "a_acc", "a_quot", "a_quot_present", "gain", "p_loss", "p_loss_mean")
    for name, value in zip(names, expected, strict=True):
        assert value is None or figures[name] == pytest.approx(value, abs=5e-7), name


@pytest.mark.parametrize(("fraction", "expected"), [("0.1", 1 / 145), ("0.7727272727272727", 17 / 97)])
def test_uniqueness_in_the_population(fraction: str, expected: float) -> None:
    """Nine classes of (month, sex), one of one row and eight of two."""
    with sqlanon.connect() as con:
        con.execute("CREATE TABLE t AS SELECT range // 2 AS month FROM range(17)")
        con.execute("CREATE POLICY p ON t (month QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        statement = f"MEASURE r WITH FIGURES (uniqueness(sampling_fraction => {fraction}))"
        found = {figure: value for _, figure, _, value in con.execute(statement).fetchall()}
    assert (found["unique_rows"], found["classes_of_two"]) == (1, 8)
    assert found["population_uniqueness"] == pytest.approx(expected)
