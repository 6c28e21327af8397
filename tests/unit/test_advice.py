"""Advice: what EXPLAIN says another call would reach is what CREATE with that call reaches."""

from __future__ import annotations

import re

import pytest

from sqlanon import Connection
from sqlanon.release.pipeline.advise import sizes
from tests.support.database import template


@pytest.fixture
def con() -> Connection:
    """Three people of ninety and more stand in the way of 2,000 younger ones."""
    return template("""
        CREATE TABLE t AS SELECT 20 + i % 40 AS age, 1 + i % 2 AS site, hash(i) % 7 AS s FROM range(2000) AS r(i)
            UNION ALL SELECT 90 + i, 1, i FROM range(3) AS r(i);
        CREATE HIERARCHY ages AS INTERVALS (5, 10);
        CREATE POLICY p ON t (age QUASI IDENTIFIER USING ages, site QUASI IDENTIFIER, s SENSITIVE)
            REQUIRE k_anonymity(k => 5), l_diversity(l => 2);
        """)


def advice(con: Connection, call: str, policy: str = "p") -> list[str]:
    rows = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE other AS POLICY {policy} METHOD {call}").fetchall()
    return [detail for stage, item, detail in rows if (stage, item) == ("advise", "advice")]


@pytest.mark.long
@pytest.mark.parametrize("loss", ["granularity_loss", "discernibility", "non_uniform_entropy"])
def test_what_it_says_is_what_create_reaches(con: Connection, loss: str) -> None:
    said = advice(con, f"generalization(suppression => 0, loss => '{loss}')")
    assert any("suppression => 0.02" in text for text in said)
    assert ("METHOD mondrian " in " ".join(said)) is (loss == "granularity_loss")
    for text in said:
        parts = re.fullmatch(
            r"METHOD (.*) would lose ([\d.]+) instead of ([\d.]+) and leave out (no row|(\d+) rows?.*)", text
        )
        assert parts
        (answer, *_) = con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {parts[1]}").fetchall()
        assert (answer[5], answer[4]) == (pytest.approx(float(parts[2]), abs=1e-6), int(parts[5] or 0))
        if loss == "granularity_loss":
            measured = con.execute("MEASURE r WITH FIGURES (granularity_loss)").fetchall()[-1][-1]
            assert measured == pytest.approx(float(parts[2]), abs=1e-6)


def test_without_arguments_a_few_rows_stand_in_nobodys_way(con: Connection) -> None:
    """The default leaves out up to 2 % of the rows."""
    (answer, *_) = con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization").fetchall()
    (strict, *_) = con.execute(
        "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0)"
    ).fetchall()
    assert (answer[4], strict[4]) == (3, 0)
    assert answer[5] < 0.01 < 0.4 < strict[5]
    assert advice(con, "generalization") == []


def test_a_method_that_cannot_is_not_proposed(con: Connection) -> None:
    con.execute(
        "CREATE POLICY q ON t (age QUASI IDENTIFIER USING ages MIN LEVEL 1, s SENSITIVE) REQUIRE k_anonymity(k => 5)"
    )
    said = advice(con, "generalization(suppression => 0)", "q")
    assert said
    assert not any("mondrian" in text for text in said)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("least", [{"rows": 2000}, {"nodes": 7}, {"loss": 0.9}])
def test_what_would_take_long_or_gain_little_is_not_tried(con: Connection, least: dict[str, float]) -> None:
    with sizes.replaced(**least):
        assert advice(con, "generalization(suppression => 0)") == []


def test_other_methods_have_none(con: Connection) -> None:
    assert advice(con, "mondrian") == advice(con, "anatomy(l => 2)") == []


def test_it_leaves_nothing(con: Connection) -> None:
    before = con.duckdb.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
    advice(con, "generalization(suppression => 0)")
    assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == before
