"""The utility loss of releases of twelve rows, to the digit."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon import Connection

ROWS = """
    (21, 'F', 'flu', 1), (21, 'M', 'flu', 2), (22, 'F', 'cold', 1), (22, 'M', 'flu', 3), (22, 'F', 'flu', 4),
    (21, 'F', 'cold', 2), (31, 'M', 'cold', 3), (31, 'F', 'asthma', 1), (32, 'M', 'asthma', 2), (32, 'M', 'cold', 4),
    (32, 'F', 'asthma', 3), (31, 'M', 'flu', 4)
"""
# The levels of age and sex.
RELEASES = {"intact": (0, 0), "decades": (1, 1), "ageless": (2, 0), "suppressed": (2, 1)}


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect()
    connection.execute(
        f"CREATE TABLE people AS SELECT age, sex, disease FROM (VALUES {ROWS}) AS t (age, sex, disease, bucket)"
    )
    connection.execute("CREATE HIERARCHY decade AS LEVELS (SELECT DISTINCT age, age // 10 * 10 || 's' FROM people)")
    for name, levels in RELEASES.items():
        age, sex = (f"MIN LEVEL {level} MAX LEVEL {level}" for level in levels)
        connection.execute(
            f"CREATE POLICY {name} ON people (age QUASI IDENTIFIER USING decade {age}, sex QUASI IDENTIFIER {sex}, "
            "disease SENSITIVE) REQUIRE k_anonymity(k => 1)"
        )
        connection.execute(f"CREATE ANONYMIZED TABLE {name}_release AS POLICY {name} METHOD generalization")
    return connection


@pytest.mark.parametrize(
    ("release", "expected"),
    [("intact", 0), ("decades", 0.009930), ("ageless", 0.052706), ("suppressed", 0.046225)],
)
def test_loss_of_large_populations(con: Connection, release: str, expected: float) -> None:
    statement = f"MEASURE {release}_release WITH FIGURES (u_loss(min_support => 0.3333333333))"
    rows = con.execute(statement).fetchall()
    assert {attribute for _, _, attribute, _ in rows} == {"disease"}
    figures = {figure: value for _, figure, _, value in rows}
    assert figures["populations"] == 6
    assert figures["u_loss"] == pytest.approx(expected, abs=5e-7)


def test_loss_of_buckets(con: Connection) -> None:
    """The buckets of the example stand in for those that the method would choose."""
    con.execute(
        "CREATE POLICY dealt ON people (age QUASI IDENTIFIER USING decade, sex QUASI IDENTIFIER, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 1)"
    )
    con.execute("CREATE ANONYMIZED TABLE dealt_release AS POLICY dealt METHOD anatomy(l => 2)")
    con.execute(f"CREATE TEMP TABLE drawn AS SELECT * FROM (VALUES {ROWS}) AS t (age, sex, disease, bucket)")
    con.execute("DELETE FROM dealt_release_qi")
    con.execute("INSERT INTO dealt_release_qi SELECT age, sex, bucket FROM drawn")
    con.execute("DELETE FROM dealt_release_sensitive")
    con.execute("INSERT INTO dealt_release_sensitive SELECT bucket, disease, count(*) FROM drawn GROUP BY ALL")
    rows = con.execute(
        "MEASURE dealt_release WITH FIGURES (u_loss(min_support => 0.3333333333, worst => 6), p_loss)"
    ).fetchall()
    figures = {figure: value for _, figure, _, value in rows}
    assert figures["u_loss"] == pytest.approx(0.051803, abs=5e-7)
    assert figures["p_loss"] == pytest.approx(0.101197, abs=5e-7)
    assert {figure: round(value, 6) for figure, value in figures.items() if figure.startswith("u_loss of")} == {
        "u_loss of age 20s, sex F": 0.096930,
        "u_loss of age 20s": 0.114762,
        "u_loss of age 30s, sex M": 0.033822,
        "u_loss of age 30s": 0.060164,
        "u_loss of sex F": 0.002334,
        "u_loss of sex M": 0.002808,
    }


@pytest.mark.parametrize("drop", ["quasi_identifiers", "sensitive"])
def test_tables_without_a_link_lose_what_suppressing_all_does(con: Connection, drop: str) -> None:
    con.execute(
        "CREATE OR REPLACE POLICY apart ON people (age QUASI IDENTIFIER USING decade, sex QUASI IDENTIFIER, "
        "disease SENSITIVE) REQUIRE k_anonymity(k => 12)"
    )
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE unlinked AS POLICY apart METHOD trivial(drop => '{drop}')")
    rows = con.execute("MEASURE unlinked WITH FIGURES (u_loss(min_support => 0.3333333333), p_loss, a_know)").fetchall()
    figures = {figure: value for _, figure, _, value in rows}
    assert figures["u_loss"] == pytest.approx(0.046225, abs=5e-7)
    assert figures["p_loss"] == figures["a_know"] == 0
