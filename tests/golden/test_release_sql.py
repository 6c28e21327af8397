"""The SELECT of a release, word for word. Each golden file says in its header what to look for in it.

These four are written by hand. Those in the folders are the steps of test_steps.py: python -m tests.golden --update.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlanon import Connection, connect

HERE = Path(__file__).parent

SETUP = """
CREATE TABLE visits (day DATE, sex VARCHAR, zip VARCHAR, disease ENUM ('flu', 'cold'), person INTEGER);
CREATE HIERARCHY days AS CALENDAR (MONTH, YEAR);
CREATE HIERARCHY zips AS PREFIXES (3, 2);
"""

POLICIES = {
    "rows": """CREATE POLICY p ON visits (
        day QUASI IDENTIFIER USING days MIN LEVEL 1 MAX LEVEL 1,
        sex QUASI IDENTIFIER MIN LEVEL 1,
        zip QUASI IDENTIFIER USING zips MIN LEVEL 2 MAX LEVEL 2,
        disease SENSITIVE
    ) REQUIRE k_anonymity(k => 3)""",
    "words": """CREATE POLICY p ON visits (
        day QUASI IDENTIFIER USING days MIN LEVEL 1 MAX LEVEL 1,
        sex QUASI IDENTIFIER MAX LEVEL 0,
        zip QUASI IDENTIFIER USING zips MIN LEVEL 2 MAX LEVEL 2
    ) REQUIRE k_anonymity(k => 3)""",
    "respondents": """CREATE POLICY p ON visits (
        person ENTITY,
        sex QUASI IDENTIFIER MAX LEVEL 0,
        disease INSENSITIVE
    ) REQUIRE k_anonymity(k => 3)""",
    "rounds": """CREATE POLICY p ON visits (
        sex QUASI IDENTIFIER MAX LEVEL 0,
        disease SENSITIVE
    ) REQUIRE k_anonymity(k => 2), t_closeness(t => 0.09)""",
}


@pytest.fixture
def con() -> Connection:
    connection = connect()
    connection.execute(SETUP)
    return connection


@pytest.mark.parametrize("name", POLICIES)
def test_the_body_of_a_live_view(con: Connection, name: str) -> None:
    con.execute(POLICIES[name])
    steps = con.execute("EXPLAIN ANONYMIZED VIEW v AS POLICY p").fetchall()
    sql = next(detail for stage, item, detail in steps if (stage, item) == ("compile", "sql"))
    golden = (HERE / f"{name}.sql").read_text(encoding="utf-8")
    header, _, body = golden.partition("\n\n")
    assert header.startswith("-- Look for")
    assert sql == body.rstrip("\n")


@pytest.mark.parametrize("name", POLICIES)
def test_a_golden_body_runs(con: Connection, name: str) -> None:
    """Three of four persons share a class, the fourth has two rows; what is left over, or differs, is withheld."""
    con.execute(
        "INSERT INTO visits VALUES ('2020-01-05', 'F', '12345', 'flu', 1), ('2020-01-06', 'F', '12345', 'flu', 2), "
        "('2020-01-07', 'F', '12399', 'cold', 3), ('2020-02-01', 'M', '12345', 'cold', 4), "
        "('2020-02-01', 'M', '12345', 'flu', 4)"
    )
    rows = con.duckdb.execute((HERE / f"{name}.sql").read_text(encoding="utf-8")).fetchall()
    expected = {
        "rows": [("2020-01", "*", "12***", "cold"), ("2020-01", "*", "12***", "flu"), ("2020-01", "*", "12***", "flu")],
        "words": [("2020-01", "F", "12***")] * 3,
        "respondents": [("F", "cold"), ("F", "flu"), ("F", "flu")],
        "rounds": [("F", "cold"), ("F", "flu"), ("F", "flu")],
    }
    assert sorted(rows) == expected[name]
