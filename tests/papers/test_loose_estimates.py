"""Counts from the hospital of De Capitani di Vimercati et al. (2010), with the groups that they print, by hand."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from sqlanon import Connection, connect
from tests.support.estimates.figures import figures_of
from tests.support.hospital import LEFT, LINKED, OTHERS, RIGHT


@pytest.fixture(scope="module")
def hospital() -> Connection:
    """A release of the paper's 16 rows, in whose tables the paper's groups are put; the source is gone."""
    con = connect(config={"threads": "1"})
    con.execute("CREATE TABLE patients (dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [list(row) for row in OTHERS])
    con.execute(
        "CREATE POLICY apart ON patients (dob QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, "
        "disease SENSITIVE) CONFIDENTIAL (dob, sex, zip, disease) VISIBLE (dob, sex, zip);"
        "CREATE ANONYMIZED TABLE r AS POLICY apart METHOD loose(k => 4); DROP TABLE patients"
    )
    con.duckdb.execute("DELETE FROM r_1; DELETE FROM r_2; DELETE FROM r_association")
    for (*left, disease), one, other in zip(OTHERS, LEFT, RIGHT, strict=True):
        con.duckdb.execute("INSERT INTO r_1 VALUES (?, ?, ?, ?)", [*left, one])
        con.duckdb.execute("INSERT INTO r_2 VALUES (?, ?)", [disease, other])
    con.duckdb.executemany("INSERT INTO r_association VALUES (?, ?)", [list(pair) for pair in LINKED])
    return con


def asked(con: Connection, where: str) -> tuple[Any, ...]:
    ((*found,),) = figures_of(con.sql(f"ESTIMATE SELECT count(*) AS n FROM patients WHERE {where} FROM RELEASE r"))
    return tuple(found)


def test_women_with_h1n1(hospital: Connection) -> None:
    """H1N1 is half of the second groups 1 and 5, to which 11 and 31, 45 and 75 lead.

    Of the first groups 1 has one woman of two, 3 none, 4 and 7 only women: 1/4 + 0 + 1/2 + 1/2. There are two
    tuples of H1N1, and the one of group 5 is a woman's whichever of its rows has it.
    """
    wanted = (1.25, sqrt(1 / 4 * 3 / 4 + 2 * 1 / 4), 1, 2)
    assert asked(hospital, "sex = 'F' AND disease = 'H1N1'") == pytest.approx(wanted)


def test_men_with_a_peptic_ulcer(hospital: Connection) -> None:
    """11, 31, 23, 53 and 87 may: the men's shares are 1/2, 1, 1/2, 1, 1, and half of each second group has an ulcer.

    The second groups 1, 3 and 7 have one ulcer each. A woman may have the first two, and the other of 67 the third.
    """
    wanted = (2.0, sqrt(2 * 1 / 4 * 3 / 4 + 3 * 1 / 4), 0, 3)
    assert asked(hospital, "sex = 'M' AND disease = 'Peptic Ulcer'") == pytest.approx(wanted)


def test_groups_that_are_known_are_certain(hospital: Connection) -> None:
    """78, 88 and no other row lead to the flu, one of whose group has it: one of them is born in 1950 for certain."""
    assert asked(hospital, "dob >= '1950-01-01' AND disease = 'Flu'") == pytest.approx((1.0, sqrt(1 / 2), 1, 1))
    assert asked(hospital, "sex = 'F'") == (8.0, 0.0, 8, 8)
