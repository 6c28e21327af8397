"""Anatomy of the hospital table (16 rows): the four groups of the literature, and those that are dealt out."""

from __future__ import annotations

from collections import Counter

import pytest

from sqlanon import Connection, PrivacyViolation
from tests.oracles.anatomy import by_bucket, diverse
from tests.support.database import new_database
from tests.support.hospital import OTHERS

GROUPS = (
    {"Peptic Ulcer": 2, "Broken Leg": 1, "Short Breath": 1},
    {"H1N1": 2, "Pneumonia": 1, "Flu": 1},
    {"Peptic Ulcer": 2, "Broken Leg": 1, "Stomach Cancer": 1},
    {"Gastritis": 2, "Dyspepsia": 1, "Stomach Cancer": 1},
)


@pytest.fixture
def hospital() -> Connection:
    con = new_database()
    con.execute("CREATE TABLE patients (dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [list(row) for row in OTHERS])
    con.execute(
        "CREATE POLICY hospital ON patients (dob QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, "
        "disease SENSITIVE) REQUIRE k_anonymity(k => 3)"
    )
    return con


def test_the_groups_of_the_literature_are_3_diverse_and_not_probabilistically(hospital: Connection) -> None:
    rows = ", ".join(
        f"({n}, '{value}')" for n, group in enumerate(GROUPS) for value, m in group.items() for _ in range(m)
    )
    asked = [f"l_diversity(l => 3{variant})" for variant in ("", ", variant => 'probabilistic'")]
    table = f"(SELECT * FROM (VALUES {rows}) AS t(bucket, disease))"
    found = hospital.execute(f"CHECK {table} (bucket) SENSITIVE disease REQUIRE {', '.join(asked)}").fetchall()
    assert [(row[1], row[4], row[5]) for row in found] == [
        ("distinct_l_diversity", 3.0, True),
        ("probabilistic_l_diversity", 2.0, False),
    ]
    assert sum((Counter(group) for group in GROUPS), Counter()) == Counter(row[-1] for row in OTHERS)
    assert all(diverse(group, "distinct", 3) and not diverse(group, "probabilistic", 3) for group in GROUPS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("grouping", ["random", "near"])
@pytest.mark.parametrize(
    ("variant", "l"), [("distinct", 3), ("probabilistic", 3), ("probabilistic", 4), ("entropy", 4)]
)
def test_buckets_of_the_hospital(hospital: Connection, grouping: str, variant: str, l: int) -> None:  # noqa: E741
    hospital.execute(
        "CREATE ANONYMIZED TABLE anat AS POLICY hospital "
        f"METHOD anatomy(l => {l}, variant => '{variant}', grouping => '{grouping}')"
    )
    values = by_bucket(hospital.duckdb.execute("FROM anat_sensitive").fetchall())
    assert all(diverse(counts, variant, l) for counts in values.values())
    assert sum(values.values(), Counter()) == Counter(row[-1] for row in OTHERS)
    if grouping == "random":
        # 16 rows in as many buckets as there can be, each with every value once.
        assert sorted(sum(counts.values()) for counts in values.values()) == ([3, 3, 3, 3, 4] if l == 3 else [4] * 4)
    shown = hospital.duckdb.execute("SELECT CAST(dob AS VARCHAR), sex, zip FROM anat_qi").fetchall()
    assert sorted(shown) == sorted(row[:3] for row in OTHERS)


def test_peptic_ulcer_is_too_frequent_for_more(hospital: Connection) -> None:
    with pytest.raises(
        PrivacyViolation,
        match=r"value, 'Peptic Ulcer', has 4 of 16 rows \(25.0%\), 1 more than the 3 that l => 5 allows",
    ) as error:
        hospital.execute("CREATE ANONYMIZED TABLE anat AS POLICY hospital METHOD anatomy(l => 5)")
    assert "l => 4" in str(error.value.hint)
