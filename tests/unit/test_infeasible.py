"""What an error says where not even the whole table meets a requirement about sensitive values."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon import Connection, PrivacyViolation

SOURCE = """
    CREATE TABLE t AS
    SELECT i % 3 AS age, ['flu', 'flu', 'cold'][1 + i % 3] AS disease, i % 2 = 0 AS ward FROM range(10) AS n(i);
    CREATE HIERARCHY pairs AS INTERVALS (2);
"""
ROLES = "age QUASI IDENTIFIER USING pairs{}, disease SENSITIVE, ward SENSITIVE"


@pytest.fixture
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SOURCE)
    return connection


def refused(con: Connection, method: str, requirements: str, levels: str = "") -> str:
    con.execute(f"CREATE OR REPLACE POLICY p ON t ({ROLES.format(levels)}) REQUIRE {requirements}")
    with pytest.raises(PrivacyViolation) as error:
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
    return error.value.message


@pytest.mark.parametrize("method", ["generalization", "mondrian", "mondrian(publish => 'none')"])
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("l_diversity(l => 3, attribute => disease)", "value of disease, 'flu', has 7 of 10 rows (70.0%)"),
        ("l_diversity(l => 2, variant => 'probabilistic', attribute => disease)", "value of disease, 'flu', has 7"),
        ("alpha_k_anonymity(alpha => 0.6, k => 2, attribute => disease)", "value of disease, 'flu', has 7 of 10"),
        ("l_diversity(l => 5, jointly => true)", "value of disease, ward, ('flu', 'false'), has 4 of 10 rows (40.0%)"),
    ],
)
def test_the_most_frequent_value_of_the_whole_table_is_named(
    con: Connection, method: str, asked: str, named: str
) -> None:
    message = refused(con, method, f"k_anonymity(k => 2), {asked}")
    assert named in message
    assert message.count("most frequent") == 1


@pytest.mark.parametrize("method", ["generalization", "mondrian"])
def test_no_value_is_named_where_classes_are_too_small(con: Connection, method: str) -> None:
    assert "most frequent" not in refused(con, method, "k_anonymity(k => 11), l_diversity(l => 2)")


def test_mondrian_names_only_what_the_whole_table_does_not_meet(con: Connection) -> None:
    message = refused(con, "mondrian", "l_diversity(l => 2), l_diversity(l => 3, variant => 'entropy')")
    assert message.startswith("l_diversity(l => 3, variant => 'entropy') of disease, ")
    assert "distinct" not in message


def test_no_value_of_a_class_is_named(con: Connection) -> None:
    """Where levels are capped a class may be one person's."""
    con.execute("UPDATE t SET disease = 'gout' WHERE age = 2")
    message = refused(con, "generalization", "l_diversity(l => 3, attribute => disease)", " MAX LEVEL 1")
    assert "the smallest (age = [2,4)) with 3" in message
    assert not any(disease in message for disease in ("flu", "cold", "gout"))
