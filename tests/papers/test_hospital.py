"""The hospital table (17 rows), to the digit: its 4-anonymous generalizations."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date
from fractions import Fraction

import pytest

from sqlanon import Connection, PrivacyViolation, connect
from tests.oracles.k_anonymity import achieved
from tests.support.hospital import HOSPITAL, OTHERS


@pytest.fixture
def hospital() -> Connection:
    con = connect()
    con.execute("CREATE TABLE patients (dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [list(row) for row in HOSPITAL])
    con.execute("CREATE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE)")
    con.execute("CREATE HIERARCHY zip_prefix AS PREFIXES (4, 3, 2)")
    return con


def _release(con: Connection, attributes: str, suppression: str) -> list[tuple[object, ...]]:
    con.execute(
        f"CREATE OR REPLACE POLICY hospital ON patients ({attributes}, disease SENSITIVE) REQUIRE k_anonymity(k => 4)"
    )
    con.execute(
        "CREATE OR REPLACE ANONYMIZED TABLE published AS POLICY hospital "
        f"METHOD generalization(suppression => {suppression})"
    )
    con.execute(
        "CREATE OR REPLACE ANONYMIZED VIEW published_live AS POLICY hospital "
        f"METHOD generalization(suppression => {suppression})"
    )
    rows: list[tuple[object, ...]] = con.execute("FROM published").fetchall()
    assert Counter(con.execute("FROM published_live").fetchall()) == Counter(rows)
    return rows


def _levels(con: Connection) -> dict[str, int]:
    query = """SELECT attribute, level FROM anon.release_attribute JOIN anon.release USING (release_id)
               WHERE object_name = 'published' AND level IS NOT NULL"""
    return dict(con.execute(query).fetchall())


MONTH_AND_AREA = "dob QUASI IDENTIFIER USING birth MIN LEVEL 1 MAX LEVEL 1, sex QUASI IDENTIFIER MIN LEVEL 1, "
YEAR_AND_SEX = "dob QUASI IDENTIFIER USING birth MIN LEVEL 2 MAX LEVEL 2, sex QUASI IDENTIFIER MAX LEVEL 0, "
AREA = "zip QUASI IDENTIFIER USING zip_prefix MIN LEVEL 2 MAX LEVEL 2"


def test_month_without_sex(hospital: Connection) -> None:
    """DoB without its day, sex suppressed, ZIP without its last two digits, the 1958 row suppressed."""
    rows = _release(hospital, MONTH_AND_AREA + AREA, "0.06")
    assert Counter(rows) == Counter((dob[:7], "*", "941**", disease) for dob, _, _, disease in OTHERS)
    assert Counter(row[:3] for row in rows) == {
        ("1940-04", "*", "941**"): 4,
        ("1940-06", "*", "941**"): 4,
        ("1950-05", "*", "941**"): 4,
        ("1950-06", "*", "941**"): 4,
    }
    # Not 2-diverse.
    assert {disease for month, _, _, disease in rows if month == "1940-04"} == {"Peptic Ulcer"}


def test_year_with_sex(hospital: Connection) -> None:
    """DoB to the year, sex kept, ZIP without two digits: four classes of 4 with three diseases or more."""
    rows = _release(hospital, YEAR_AND_SEX + AREA, "0.06")
    assert Counter(rows) == Counter((dob[:4], sex, "941**", disease) for dob, sex, _, disease in OTHERS)
    diseases: dict[tuple[object, ...], list[object]] = defaultdict(list)
    for year, sex, _, disease in rows:
        diseases[year, sex].append(disease)
    assert {key: len(found) for key, found in diseases.items()} == {
        ("1940", "F"): 4,
        ("1940", "M"): 4,
        ("1950", "F"): 4,
        ("1950", "M"): 4,
    }
    assert min(len(set(found)) for found in diseases.values()) == 3
    assert Fraction(diseases["1950", "F"].count("H1N1"), 4) == Fraction("0.5")
    assert Fraction(sum(row[3] == "H1N1" for row in rows), len(rows)) == Fraction("0.125")


@pytest.mark.parametrize("attributes", [MONTH_AND_AREA + AREA, YEAR_AND_SEX + AREA])
def test_without_suppression_neither_is_possible(hospital: Connection, attributes: str) -> None:
    """The 1958 row stands alone in both, and the error says so."""
    with pytest.raises(PrivacyViolation, match=r"k => 4\) cannot be met with at most 0 of 17 rows") as raised:
        _release(hospital, attributes, "0")
    assert "nothing was published" in raised.value.message
    assert "94142" not in str(raised.value)
    assert "Pneumonia" not in str(raised.value)


@pytest.mark.long
def test_birth_alone_needs_the_decade_or_one_suppressed_row(hospital: Connection) -> None:
    birth = "dob QUASI IDENTIFIER USING birth"
    rows = _release(hospital, birth, "0")
    assert _levels(hospital) == {"dob": 3}
    assert Counter(label for label, _ in rows) == {"194*": 8, "195*": 9}
    rows = _release(hospital, birth, "0.06")
    assert _levels(hospital) == {"dob": 1}
    assert Counter(label for label, _ in rows) == {"1940-04": 4, "1940-06": 4, "1950-05": 4, "1950-06": 4}


def test_check_tells_what_the_releases_achieve(hospital: Connection) -> None:
    _release(hospital, MONTH_AND_AREA + AREA, "0.06")
    for name in ("published", "published_live"):
        hospital.execute(f"CHECK {name}")
        assert hospital.fetchall() == [(f"main.{name}", "k_anonymity", None, 4.0, 4.0, True)]
    found = hospital.execute("CHECK patients (dob, sex, zip) REQUIRE k_anonymity(k => 4)").fetchall()
    keys = [(date.fromisoformat(dob), sex, area) for dob, sex, area, _ in HOSPITAL]
    assert found == [("patients", "k_anonymity", None, 4.0, float(achieved(keys) or 0), False)]
