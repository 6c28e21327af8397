"""Budgets, and the ledger of what was spent of them: never more than a budget has, whatever else happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from sqlanon import connect
from sqlanon.catalog import budgets
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, InUseError, PolicyError, PrivacyViolation, StatementError, UserError
from tests.support.database import template

SETUP = """
CREATE TABLE visits (patient INTEGER, disease VARCHAR);
INSERT INTO visits VALUES (1, 'flu'), (1, 'cold'), (2, 'flu');
CREATE POLICY visits ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY visits (epsilon => 2, delta => 1e-9);
"""
HALF, NOTHING = Decimal("0.5"), Decimal(0)


@pytest.fixture
def con():
    with template(SETUP) as connection:
        yield connection


def spend(con, epsilon, delta=NOTHING, name="b"):
    engine = DuckDBEngine(con.duckdb)
    return budgets.spend(engine, budgets.load(engine, name), "a query", Decimal(epsilon), Decimal(delta))


def shown(con, name="b"):
    """What SHOW BUDGETS says of a budget."""
    cursor = con.execute("SHOW BUDGETS")
    names = [column for column, *_ in cursor.description]
    return next(dict(zip(names, row, strict=True)) for row in cursor.fetchall() if row[0] == name)


def test_a_new_budget_is_listed(con):
    assert shown(con) == {
        "budget": "b",
        "policy": "visits",
        "epsilon": 2.0,
        "spent": 0.0,
        "remaining": 2.0,
        "delta": 1e-9,
        "spent_delta": 0.0,
        "entries": 0,
        "state": "open",
        "accounting": "basic",
    }
    assert con.execute("DESCRIBE BUDGET b").fetchall() == []


def test_what_is_spent_is_exact_and_written_down(con):
    assert [spend(con, Decimal("0.1")) for _ in range(3)] == [Decimal("1.9"), Decimal("1.8"), Decimal("1.7")]
    assert spend(con, "1.7") == 0
    assert (shown(con)["spent"], shown(con)["remaining"], shown(con)["entries"]) == (2.0, 0.0, 4)
    entries = con.execute("DESCRIBE BUDGET b").fetchall()
    assert [row[1:] for row in entries] == [(0.1, 0.0, None, "a query")] * 3 + [(1.7, 0.0, None, "a query")]
    with pytest.raises(PrivacyViolation, match="has an epsilon of 0 left, and the answer would cost 1e-18;") as refused:
        spend(con, "0.000000000000000001")
    assert "the budget is used up" in refused.value.hint


def test_what_a_budget_does_not_have_is_refused_and_not_written_down(con):
    spend(con, "1.5")
    with pytest.raises(PrivacyViolation, match=r"an epsilon of 0\.5 left, and the answer would cost 0\.6") as refused:
        spend(con, "0.6")
    assert refused.value.hint == "write epsilon => 0.5 or less"
    with pytest.raises(PrivacyViolation, match="a delta of 1e-9 left, and the answer would cost 2e-9"):
        spend(con, "0.1", "2e-9")
    assert shown(con)["entries"] == 1
    assert spend(con, HALF, "1e-9") == 0


def test_the_ledger_survives_a_rollback(con):
    con.execute("BEGIN")
    con.execute("INSERT INTO visits VALUES (7, 'flu')")
    spend(con, "0.25")
    con.execute("ROLLBACK")
    assert shown(con)["spent"] == 0.25


def test_a_budget_that_is_not_committed_is_not_spent(con):
    con.execute("BEGIN")
    con.execute("CREATE BUDGET c ON POLICY visits (epsilon => 1)")
    with pytest.raises(UserError, match="budget c is not visible to other connections") as refused:
        spend(con, HALF, name="c")
    assert "COMMIT" in refused.value.hint


def test_a_transaction_that_holds_the_row_keeps_everybody_from_spending(con, monkeypatch):
    monkeypatch.setattr(budgets, "_ATTEMPTS", 3)
    con.execute("BEGIN")
    con.execute("DROP BUDGET b")
    with pytest.raises(InUseError, match="is being changed by another transaction; nothing was spent"):
        spend(con, HALF)
    con.execute("ROLLBACK")
    assert spend(con, HALF) == Decimal("1.5")


def test_a_dropped_budget_stays_with_its_entries_and_its_name(con):
    spend(con, HALF)
    con.execute("DROP BUDGET B")
    assert (shown(con)["state"], shown(con)["spent"]) == ("dropped", 0.5)
    assert len(con.execute("DESCRIBE BUDGET b").fetchall()) == 1
    with pytest.raises(UserError, match="was dropped; nothing was spent"):
        spend(con, HALF)
    with pytest.raises(UserError, match="there is no budget b"):
        con.execute("DROP BUDGET b")
    assert con.execute("DROP BUDGET IF EXISTS b").fetchall() == [("DROP BUDGET", "b", "absent")]
    for statement in (
        "CREATE BUDGET B ON POLICY visits (epsilon => 9)",
        "CREATE BUDGET IF NOT EXISTS b ON POLICY visits (epsilon => 9)",
    ):
        with pytest.raises(PolicyError, match="spent costs cannot be taken back"):
            con.execute(statement)


def test_a_budget_is_not_replaced_and_not_altered(con):
    with pytest.raises(StatementError, match="a budget is not replaced"):
        con.execute("CREATE OR REPLACE BUDGET b ON POLICY visits (epsilon => 9)")
    assert con.execute("CREATE BUDGET IF NOT EXISTS b ON POLICY visits (epsilon => 9)").fetchall()[0][2] == "exists"
    assert shown(con)["epsilon"] == 2.0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE anon.budget SET spent_epsilon = 0",
        "DELETE FROM anon.budget_entry",
        "UPDATE anon.budget_entry SET epsilon = 0.1",
    ],
)
def test_a_ledger_that_was_changed_by_hand_is_refused(con, change):
    spend(con, HALF)
    con.execute(change)
    with pytest.raises(CatalogError, match=r"do not add up to the spent amounts in anon\.budget"):
        spend(con, HALF)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("delta => 1e-9", "a budget needs an epsilon"),
        ("epsilon => 0", "has to be above 0"),
        ("epsilon => -1", "has to be above 0"),
        ("epsilon => 1001", "at most 1000"),
        ("epsilon => 1e300", "at most 1000"),
        ("epsilon => 'much'", "has to be a number"),
        ("epsilon => true", "has to be a number"),
        ("epsilon => 0.1234567890123456789", "more than 18 digits"),
        ("epsilon => 1, delta => 0.5", "has to be from 0 to 0.001"),
        ("epsilon => 1, delta => -1e-9", "has to be from 0 to 0.001"),
        ("epsilon => 1, eps => 2", "no argument 'eps'"),
        ("epsilon => 1, accounting => 'renyi'", "has to be 'basic' or 'zcdp'"),
        ("epsilon => 1, accounting => 'zcdp'", "needs a delta"),
        ("epsilon => 1, answers => 0", "answers is 0, and has to be a whole number from 1"),
    ],
)
def test_arguments_out_of_bounds_are_refused(con, arguments, message):
    with pytest.raises(PolicyError, match=message):
        con.execute(f"CREATE BUDGET c ON POLICY visits ({arguments})")
    assert len(con.execute("SHOW BUDGETS").fetchall()) == 1


@pytest.mark.parametrize(
    "source",
    ["(SELECT * FROM visits)", "visits_view", "computed"],
)
def test_rows_that_may_be_computed_from_others_are_refused(con, source):
    con.execute("CREATE VIEW visits_view AS SELECT *, count(*) OVER () AS n FROM visits")
    con.execute("CREATE TABLE computed (patient INTEGER, disease VARCHAR, twice INTEGER AS (patient * 2))")
    con.execute(f"CREATE POLICY q ON {source} (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="is not a table: a row of a view, a query or a file"):
        con.execute("CREATE BUDGET c ON POLICY q (epsilon => 1)")


def test_hostile_names(con):
    name = 'b"; DROP TABLE visits; --'
    quoted = '"' + name.replace('"', '""') + '"'
    con.execute('CREATE TABLE "t ""x""" AS SELECT patient AS "who?", disease AS "SELECT" FROM visits')
    con.execute(
        f'CREATE POLICY {quoted} ON "t ""x""" ("who?" ENTITY, "SELECT" QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)'
    )
    con.execute(f"CREATE BUDGET {quoted} ON POLICY {quoted} (epsilon => 1)")
    assert spend(con, HALF, name=name) == HALF
    con.execute(f"ALTER POLICY {quoted} RENAME TO other")
    assert shown(con, name)["policy"] == "other"
    con.execute(f"DROP BUDGET {quoted}")
    assert shown(con, name)["state"] == "dropped"


def test_the_ledger_is_in_the_database_of_the_session(tmp_path):
    """A new connection begins in the database that was opened first."""
    with connect(str(tmp_path / "first.duckdb")) as connection:
        connection.execute(f"ATTACH '{tmp_path}/second.duckdb'; USE second")
        connection.execute("CREATE SCHEMA second; USE second.main")
        connection.execute(SETUP)
        spend(connection, HALF)
        assert shown(connection)["spent"] == 0.5


def test_a_file_that_is_open_for_reading_only_spends_nothing(tmp_path):
    file = str(tmp_path / "visits.duckdb")
    with connect(file) as connection:
        connection.execute(SETUP)
    with connect(file, read_only=True) as connection:
        assert shown(connection)["remaining"] == 2.0
        with pytest.raises(UserError, match="open for reading only"):
            spend(connection, HALF)


def spend_until_refused(connection, epsilon):
    """How many times a session of its own has spent from the budget b."""
    times = 0
    with connection.cursor() as session:
        while True:
            try:
                spend(session, epsilon)
            except PrivacyViolation:
                return times
            times += 1


@pytest.mark.parametrize(("sessions", "times"), [(2, 8), pytest.param(8, 200, marks=pytest.mark.long)])
def test_sessions_that_spend_at_the_same_time_never_overspend(tmp_path, sessions, times):
    with connect(str(tmp_path / "visits.duckdb")) as connection:
        connection.execute(SETUP)
        epsilon = Decimal(2) / times
        with ThreadPoolExecutor(sessions) as pool:
            spent = list(pool.map(lambda _: spend_until_refused(connection, epsilon), range(sessions)))
        assert sum(spent) == times
        assert (shown(connection)["spent"], shown(connection)["entries"]) == (2.0, times)


# Spends for as long as it runs, and says how often before it goes on.
SPENDER = """
import sys
from decimal import Decimal
from sqlanon import connect
from sqlanon.catalog import budgets
from sqlanon.engines.duckdb import DuckDBEngine
with connect(sys.argv[1]) as connection:
    engine = DuckDBEngine(connection.duckdb)
    budget = budgets.load(engine, "b")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO visits VALUES (9, 'flu')")
    while True:
        budgets.spend(engine, budget, "a query", Decimal("0.000001"), Decimal(0))
        print("noise", flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("kills", [25] * 8)
def test_a_killed_process_has_spent_for_every_answer_that_it_gave(tmp_path, kills):
    """Few entries are without an answer that was seen; no answer is without its entry."""
    file = str(tmp_path / "visits.duckdb")
    with connect(file) as connection:
        connection.execute(SETUP)
    answers = 0
    for kill in range(kills):
        with subprocess.Popen([sys.executable, "-c", SPENDER, file], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(1 + kill % 7):
                assert child.stdout.readline() == "noise\n"
            os.kill(child.pid, signal.SIGKILL)
            answers += 1 + kill % 7 + len(child.stdout.read().splitlines())
    with connect(file) as connection:
        ledger = shown(connection)
        assert answers <= ledger["entries"] <= answers + kills
        assert ledger["spent"] == pytest.approx(ledger["entries"] * 1e-6)
        assert connection.execute("SELECT count(*) FROM visits").fetchone() == (3,)
        assert spend(connection, HALF) > 0
