"""METHOD slicing with column_k through the statements: what is published, checked, exported and refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation
from tests.support.database import template
from tests.support.methods import SETUP, SOURCE

CALL = "slicing(l => 2, column_k => 20)"
EIGHT = """
CREATE TABLE eight AS FROM (VALUES
    (22, 'M', 47906, 'dyspepsia'), (22, 'F', 47906, 'flu'), (33, 'F', 47905, 'flu'), (52, 'F', 47905, 'bronchitis'),
    (54, 'M', 47302, 'flu'), (60, 'M', 47302, 'dyspepsia'), (60, 'M', 47304, 'dyspepsia'), (64, 'F', 47304, 'gastritis')
) AS t (age, sex, zip, disease);
CREATE POLICY eight ON eight (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE k_anonymity(k => 2);
"""
COLUMNS = "COLUMNS (age, sex), (zip, disease)"


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


@pytest.fixture
def eight() -> Connection:
    return template(EIGHT)


def test_the_table_of_the_paper(eight: Connection) -> None:
    """Of four rows each: ages below and above the median, zips of both towns, and the diseases as they are."""
    eight.execute(f"CREATE ANONYMIZED TABLE r AS POLICY eight METHOD slicing(l => 2, column_k => 4) {COLUMNS}")
    people = eight.duckdb.execute("SELECT age, sex FROM r_1").fetchall()
    assert Counter(people) == {("[22, 52]", "[F, M]"): 4, ("[54, 64]", "[F, M]"): 4}
    zips = eight.duckdb.execute("SELECT zip, disease FROM r_2").fetchall()
    assert Counter(zip_ for zip_, _ in zips) == {"[47905, 47906]": 4, "[47302, 47304]": 4}
    assert Counter(disease for _, disease in zips) == {"dyspepsia": 3, "flu": 3, "bronchitis": 1, "gastritis": 1}


@pytest.mark.long
def test_every_statement(con: Connection, tmp_path: Path) -> None:
    create = f"ANONYMIZED TABLE made AS POLICY buckets METHOD {CALL}"
    explained = {item: detail for _, item, detail in con.execute(f"EXPLAIN VERBOSE {create}").fetchall()}
    assert "combinations of ranges" in explained["column_k"]
    assert "published as ranges in made_" in explained["é age"]
    con.execute(f"CREATE {create}")
    checked = {row[1]: row[3:] for row in con.execute("CHECK made").fetchall()}
    required, achieved, satisfied = checked["column_k_anonymity"]
    assert required == 20
    assert achieved >= 20
    assert satisfied
    con.execute(f"EXPORT made TO '{tmp_path / 'files'}'")
    exported = {row[1]: row[3:6] for row in con.execute(f"CHECK '{tmp_path / 'files'}'").fetchall()}
    assert exported["column_k_anonymity"] == (required, achieved, satisfied)
    text = (tmp_path / "files" / "certificate.md").read_text(encoding="utf-8")
    assert "a range with the value of one row of the bucket" in text
    assert "column_k_anonymity(k => 20)" in text
    con.execute(f"CREATE OR REPLACE {create}")
    con.execute("MEASURE made WITH FIGURES (p_loss, class_sizes)")
    con.execute("DROP ANONYMIZED TABLE made")


@pytest.mark.long
def test_what_is_not_a_range_is_estimated_exactly(con: Connection, tmp_path: Path) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY buckets METHOD {CALL}")
    con.execute(f"EXPORT made TO '{tmp_path / 'files'}'")
    exact = con.duckdb.execute(f"SELECT count(*) FROM {SOURCE} WHERE \"it's\" = 'd1'").fetchall()[0][0]
    for release in ("RELEASE made", f"RELEASE '{tmp_path / 'files' / 'certificate.json'}'"):
        answer = con.execute(
            f"ESTIMATE SELECT count(*) AS n FROM {SOURCE} WHERE \"it's\" = 'd1' FROM {release}"
        ).fetchall()
        assert answer[0][:1] + answer[0][2:4] == (exact, exact, exact)
        with pytest.raises(PolicyError, match='"é age": it is published as ranges by bucket'):
            con.execute(f'ESTIMATE SELECT count(*) AS n FROM {SOURCE} WHERE "é age" = 1 FROM {release}')


@pytest.mark.long
def test_a_workload_counts_what_is_not_estimated(con: Connection) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY buckets METHOD {CALL}")
    figures = {name: value for *_, name, value in con.execute("MEASURE made WITH WORKLOAD asked").fetchall()}
    assert figures["queries"] == 40
    assert figures["not_estimated"] > 0


def test_membership_is_refused_where_values_are_ranges(eight: Connection) -> None:
    eight.execute(f"CREATE ANONYMIZED TABLE r AS POLICY eight METHOD slicing(l => 2, column_k => 2) {COLUMNS}")
    with pytest.raises(PolicyError, match="shows age, sex, zip recoded"):
        eight.execute("MEASURE r WITH FIGURES (membership)")


def test_a_changed_range_is_found(eight: Connection) -> None:
    eight.execute(f"CREATE ANONYMIZED TABLE r AS POLICY eight METHOD slicing(l => 2, column_k => 4) {COLUMNS}")
    eight.duckdb.execute("UPDATE r_1 SET age = '22' WHERE rowid = 0")
    with pytest.raises(PrivacyViolation):
        eight.execute("CHECK r")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            "column_k => 9",
            PrivacyViolation,
            "column_k => 9 cannot be met: the source has 8 rows; nothing was published",
        ),
        ("column_k => 0", PolicyError, "column_k must be a whole number from 1"),
        ("column_k => 2, diversity => 'matching'", PolicyError, "diversity is about the source's own values"),
        ("column_k => 2, fake_tuples => 1", PolicyError, "fake_tuples is about the source's own values"),
    ],
)
def test_what_it_cannot_do_is_refused(eight: Connection, call: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        eight.execute(f"CREATE ANONYMIZED TABLE r AS POLICY eight METHOD slicing(l => 2, {call}) {COLUMNS}")
    assert eight.duckdb.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall() == [
        ("eight",)
    ]


def test_overlapping_columns_are_refused(eight: Connection) -> None:
    with pytest.raises(PolicyError, match="column_k"):
        eight.execute(
            "CREATE ANONYMIZED TABLE r AS POLICY eight METHOD slicing(l => 2, column_k => 2) "
            "COLUMNS (age, sex), (sex, zip, disease)"
        )


@pytest.mark.long
@pytest.mark.parametrize("grouping", ["mondrian", "random"])
def test_an_empty_source_and_drawn_buckets(eight: Connection, grouping: str) -> None:
    call = f"slicing(l => 2, column_k => 3, grouping => '{grouping}') COLUMNS EACH"
    eight.execute(f"CREATE ANONYMIZED TABLE r AS POLICY eight METHOD {call}")
    assert {row[1]: row[-1] for row in eight.execute("CHECK r").fetchall()}["column_k_anonymity"]
    eight.duckdb.execute("DELETE FROM eight")
    eight.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY eight METHOD {call}")
    assert {row[1]: row[4:] for row in eight.execute("CHECK r").fetchall()}["column_k_anonymity"] == (None, True)
