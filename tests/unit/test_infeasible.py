"""What an error says where not even the whole table meets a requirement about sensitive values."""

from __future__ import annotations

import pytest

from sqlanon import Connection, PrivacyViolation
from tests.support.database import template

SOURCE = """
    CREATE TABLE t AS
    SELECT i % 3 AS age, ['flu', 'flu', 'cold'][1 + i % 3] AS disease, i % 2 = 0 AS ward FROM range(10) AS n(i);
    CREATE HIERARCHY pairs AS INTERVALS (2);
"""
ROLES = "age QUASI IDENTIFIER USING pairs{}, disease SENSITIVE, ward SENSITIVE"


@pytest.fixture
def con() -> Connection:
    return template(SOURCE)


def refused(con: Connection, method: str, requirements: str, levels: str = "") -> str:
    con.execute(f"CREATE OR REPLACE POLICY p ON t ({ROLES.format(levels)}) REQUIRE {requirements}")
    with pytest.raises(PrivacyViolation) as error:
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
    return error.value.message


@pytest.mark.one_in(4)
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


# 40 people with 4 rows each, and 5 rows of nobody.
PANEL = """
    CREATE TABLE panel AS
    SELECT i // 4 AS person, i // 4 % 2 AS town, i % 3 AS disease, i % 2 = 0 AS ward FROM range(160) AS n(i)
    UNION ALL SELECT NULL, 0, 0, true FROM range(5);
"""


def refused_panel(con: Connection, method: str, requirements: str, levels: str = "") -> str:
    roles = f"person ENTITY, town QUASI IDENTIFIER{levels}, disease SENSITIVE, ward SENSITIVE"
    con.execute(f"CREATE OR REPLACE POLICY p ON panel ({roles}) REQUIRE {requirements}")
    with pytest.raises(PrivacyViolation) as error:
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    return error.value.message


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", ["generalization(suppression => 0)", "mondrian"])
@pytest.mark.parametrize(
    "asked", ["k_anonymity(k => 100)", "alpha_k_anonymity(alpha => 0.9, k => 100, attribute => disease)"]
)
def test_respondents_are_counted_where_they_are_too_few(con: Connection, method: str, asked: str) -> None:
    con.execute(PANEL)
    assert "with 40 respondents in 165 rows; " in refused_panel(con, method, asked)
    # Of values there are too few in rows, whosever they are.
    assert "respondent" not in refused_panel(con, method, "l_diversity(l => 4, attribute => disease)")


def test_the_smallest_class_is_that_of_the_fewest_respondents(con: Connection) -> None:
    con.execute(PANEL)
    con.execute("UPDATE panel SET person = 7 WHERE town = 1 AND person > 7")
    con.execute("DELETE FROM panel WHERE town = 0 AND person > 9")
    message = refused_panel(con, "generalization(suppression => 0)", "k_anonymity(k => 6)", " MAX LEVEL 0")
    # By town: 5 people in 20 rows with 5 rows of nobody, and 4 in 80.
    assert "2 with 105 rows, the smallest with 4 respondents in 80 rows; nothing" in message


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "method", ["generalization(suppression => 0)", "mondrian", "generalization(recoding => 'local')"]
)
def test_what_cannot_be_met_is_listed_once_and_nothing_else(con: Connection, method: str) -> None:
    con.execute(PANEL)
    asked = "k_anonymity(k => 2), l_diversity(l => 3), alpha_k_anonymity(alpha => 0.9, k => 41)"
    listed, _ = refused_panel(con, method, asked).split(" cannot be met")
    assert listed == (
        "l_diversity(l => 3, variant => 'distinct') of ward, alpha_k_anonymity(alpha => 0.9, k => 41) of disease, "
        "alpha_k_anonymity(alpha => 0.9, k => 41) of ward"
    )


def test_what_can_be_met_each_by_itself_is_listed_as_too_much_together(con: Connection) -> None:
    """Each would suppress the rows of one town, half of all; both together would suppress all of them."""
    con.execute(PANEL)
    con.execute("DELETE FROM panel WHERE person IS NULL OR (town = 0 AND person > 30)")
    con.execute("UPDATE panel SET disease = 0 WHERE town = 1")
    message = refused_panel(
        con, "generalization(suppression => 0.6)", "k_anonymity(k => 20), l_diversity(l => 2)", " MAX LEVEL 0"
    )
    assert message.startswith(
        "k_anonymity(k => 20), l_diversity(l => 2, variant => 'distinct') of disease cannot be met together with "
    )
