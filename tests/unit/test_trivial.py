"""METHOD trivial: which columns stand together, what is checked of the tables, and what is refused."""

from __future__ import annotations

from collections import Counter

import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation, SqlanonError
from tests.support.database import template

NAMES = ('a "ge"', "it's", "é 中", "select")
AGE, SEX, DISEASE, WARD = ('"' + name.replace('"', '""') + '"' for name in NAMES)
ROWS = [(i % 7 or None, "FM"[i % 2], f"d{i * 3 % 5}" if i % 11 else None, f"w{i % 3}") for i in range(60)]


@pytest.fixture
def con() -> Connection:
    return template(install)


def install(connection: Connection) -> None:
    connection.execute(f"CREATE TABLE people ({AGE} INTEGER, {SEX} VARCHAR, {DISEASE} VARCHAR, {WARD} VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [list(row) for row in ROWS])
    connection.execute(
        f"CREATE POLICY p ON people ({AGE} QUASI IDENTIFIER, {SEX} QUASI IDENTIFIER, {DISEASE} SENSITIVE, "
        f"{WARD} INSENSITIVE) REQUIRE k_anonymity(k => 60), l_diversity(l => 2)"
    )


@pytest.mark.parametrize(
    ("drop", "rest", "dropped"),
    [("quasi_identifiers", (DISEASE, WARD), (AGE, SEX)), ("sensitive", (AGE, SEX, WARD), (DISEASE,))],
)
def test_two_tables_of_all_rows(con: Connection, drop: str, rest: tuple[str, ...], dropped: tuple[str, ...]) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD trivial(drop => '{drop}')")
    for table, columns in (("r_rest", rest), (f"r_{drop}", dropped)):
        shown = con.execute(f"SELECT * FROM {table}").fetchall()
        source = con.execute(f"SELECT {', '.join(columns)}, 1 FROM people").fetchall()
        assert Counter(shown) == Counter(source)
    reached = {row[1]: row[4] for row in con.execute("CHECK r").fetchall()}
    assert reached["k_anonymity"] == 60
    assert reached["distinct_l_diversity"] == 6


def test_the_rows_are_in_an_order_of_their_own(con: Connection) -> None:
    orders = set()
    for _ in range(3):
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD trivial")
        for table in ("r_rest", "r_quasi_identifiers"):
            orders.add(tuple(con.execute(f"SELECT * FROM {table}").fetchall()))
    source = [
        tuple(con.execute(f"SELECT {c}, 1 FROM people").fetchall()) for c in (f"{DISEASE}, {WARD}", f"{AGE}, {SEX}")
    ]
    assert len(orders) == 6
    assert orders.isdisjoint(source)


def test_one_bucket_is_what_it_is_and_no_remark(con: Connection) -> None:
    """Of another method the remark advises to require less, which nobody can do here."""
    made = con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD trivial")
    names = [name for name, *_ in made.description]
    assert all("one bucket" not in (dict(zip(names, row, strict=True))["remarks"] or "") for row in made.fetchall())


@pytest.mark.long
def test_nobody_learns_more_than_of_all(con: Connection) -> None:
    for drop in ("quasi_identifiers", "sensitive"):
        con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD trivial(drop => '{drop}')")
        figures = {figure: value for _, figure, _, value, _ in con.execute("MEASURE r").fetchall()}
        for name in ("a_know", "a_acc", "a_quot", "gain", "p_loss", "p_loss_mean"):
            assert figures[name] == 0, name
        assert figures["u_loss"] > 0


def test_estimates_take_any_row_to_have_any_value(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD trivial")
    query = f"SELECT count(*) AS n FROM people WHERE {SEX} = 'F' AND {DISEASE} = 'd3'"
    diseased = sum(row[2] == "d3" for row in ROWS)
    answer = con.execute(f"ESTIMATE {query} FROM RELEASE r").fetchone()
    assert answer is not None
    assert answer[0] == pytest.approx(diseased / 2)


def test_a_requirement_that_all_rows_miss_publishes_nothing(con: Connection) -> None:
    con.execute(f"CREATE POLICY q ON people ({AGE} QUASI IDENTIFIER, {DISEASE} SENSITIVE) REQUIRE l_diversity(l => 7)")
    with pytest.raises(PrivacyViolation):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY q METHOD trivial")
    assert con.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall() == [("people",)]


@pytest.mark.parametrize(
    "change", ["DELETE FROM r_rest WHERE rowid = 0", "UPDATE r_rest SET bucket = 2 WHERE rowid = 0"]
)
def test_tables_that_do_not_fit_any_more_are_not_exported(con: Connection, change: str, tmp_path: object) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD trivial")
    con.execute(change)
    with pytest.raises(SqlanonError):
        con.execute(f"EXPORT r TO '{tmp_path}/out' (FORMAT parquet)")


def test_a_policy_without_a_sensitive_attribute_is_refused(con: Connection) -> None:
    con.execute(f"CREATE POLICY q ON people ({AGE} QUASI IDENTIFIER, {WARD} INSENSITIVE) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="no SENSITIVE"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY q METHOD trivial")


def test_a_column_named_bucket_is_refused(con: Connection) -> None:
    con.execute("CREATE TABLE pails AS SELECT 1 AS bucket, 'd' AS disease")
    con.execute("CREATE POLICY q ON pails (bucket QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 1)")
    with pytest.raises(PolicyError, match="one of that name already"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY q METHOD trivial")


def test_an_unknown_part_is_refused(con: Connection) -> None:
    with pytest.raises(SqlanonError, match="drop"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD trivial(drop => 'all')")
