"""Grants of budgets: who may spend from which, and who has spent what."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sqlanon.catalog import budgets, readers
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import StatementError, UserError
from tests.support.database import template

SETUP = """
CREATE TABLE visits AS SELECT i AS patient, 'd' || i % 2 AS disease FROM range(20) AS t(i);
CREATE POLICY clinic ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET study ON POLICY clinic (epsilon => 2);
CREATE BUDGET former ON POLICY clinic (epsilon => 2);
DROP BUDGET former;
CREATE READER ana;
CREATE READER ben;
"""


@pytest.fixture
def con():
    with template(SETUP) as connection:
        yield connection


def rows(con, text):
    return con.execute(text).fetchall()


def grants(con, of="ana"):
    """The kinds and states of what a reader was granted, by name."""
    return {row[1]: row[2:4] for row in rows(con, f"SHOW GRANTS FOR {of}")}


def test_a_budget_is_granted_once_and_revoked(con):
    assert rows(con, "GRANT ESTIMATE ON BUDGET STUDY TO Ana") == [("ana", "study", "granted")]
    assert rows(con, "grant estimate on budget study to ana") == [("ana", "study", "was granted already")]
    assert grants(con) == {"study": ("budget", "granted")}
    assert grants(con, "ben") == {}
    assert [row[:2] for row in rows(con, "SHOW GRANTS")] == [("ana", "study")]
    assert rows(con, "REVOKE ESTIMATE ON BUDGET study FROM ana") == [("ana", "study", "revoked")]
    assert grants(con) == {}
    rows(con, "GRANT ESTIMATE ON BUDGET study TO ana")
    assert grants(con) == {"study": ("budget", "granted")}
    [(stayed,)] = rows(con, "SELECT count(*) FROM anon.budget_grant WHERE revoked_at IS NOT NULL")
    assert stayed == 1


def test_releases_are_listed_before_budgets(con):
    con.execute("GRANT ESTIMATE ON BUDGET study TO ana")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY clinic METHOD generalization; GRANT SELECT ON RELEASE r TO ana")
    assert list(grants(con)) == ["main.r", "study"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("GRANT ESTIMATE ON BUDGET study TO anna", "there is no reader anna"),
        ("GRANT ESTIMATE ON BUDGET studio TO ana", "there is no budget studio"),
        ("GRANT ESTIMATE ON BUDGET former TO ana", "budget former was dropped"),
        ("REVOKE ESTIMATE ON BUDGET study FROM ana", "ana has no grant on budget study; nothing was revoked"),
        ("REVOKE ESTIMATE ON BUDGET studio FROM ana", "there is no budget studio"),
        ("REVOKE ESTIMATE ON BUDGET study FROM eve", "there is no reader eve"),
    ],
)
def test_what_cannot_be_granted_or_revoked(con, statement, message):
    with pytest.raises(UserError, match=message):
        con.execute(statement)
    assert grants(con) == {}


@pytest.mark.parametrize(
    "statement",
    [
        "GRANT ESTIMATE ON study TO ana",
        "GRANT ESTIMATE ON RELEASE study TO ana",
        "GRANT ESTIMATE ON BUDGET a.study TO ana",
        "GRANT ESTIMATE ON BUDGET study, former TO ana",
        "GRANT ESTIMATE ON BUDGET study FROM ana",
        "REVOKE ESTIMATE ON BUDGET study TO ana",
        "GRANT SELECT ON BUDGET study TO ana",
    ],
)
def test_what_is_no_grant_of_a_budget(con, statement):
    with pytest.raises(StatementError):
        con.execute(statement)


def test_a_dropped_budget_and_an_expired_reader(con):
    con.execute("GRANT ESTIMATE ON BUDGET study TO ana; GRANT ESTIMATE ON BUDGET study TO ben")
    con.duckdb.execute("UPDATE anon.reader SET expires_on = '2020-01-01' WHERE reader = 'ben'")
    assert grants(con, "ben") == {"study": ("budget", "void: the reader has expired")}
    con.execute("DROP BUDGET study")
    assert grants(con) == {"study": ("budget", "void: the budget was dropped")}
    con.execute("REVOKE ESTIMATE ON BUDGET study FROM ana")
    assert grants(con) == {}


def test_another_reader_of_the_name_has_no_grant(con):
    con.execute("GRANT ESTIMATE ON BUDGET study TO ana; DROP READER ana; CREATE READER ana")
    assert grants(con) == {}
    assert rows(con, "SELECT count(*) FROM anon.budget_grant WHERE revoked_at IS NULL") == [(0,)]


def test_the_ledger_names_the_reader(con):
    engine = DuckDBEngine(con.duckdb)
    budget, ana = budgets.load(engine, "study"), readers.load(engine, "ana")
    con.execute("ESTIMATE SELECT count(*) FROM visits UNDER BUDGET study (epsilon => 0.25)")
    left = budgets.spend(engine, budget, "hers", Decimal("0.5"), Decimal(0), reader_id=ana.reader_id)
    assert left == Decimal("1.25")
    con.execute("DROP READER ana")
    entries = rows(con, "DESCRIBE BUDGET study")
    assert [(row[1], row[3], row[4].split()[0]) for row in entries] == [(0.25, None, "ESTIMATE"), (0.5, "ana", "hers")]
