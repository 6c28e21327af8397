"""Answers under budgets through an open door: no answer without its cost in the ledger, whatever is killed or refused.

The processes that open the database are real, and so are the clients.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sqlanon
from sqlanon.clients.serve.workers import Limits
from sqlanon.errors import InUseError
from tests.support.database import template_file
from tests.support.door.doors import TOKEN, OpenedDoor, database_door, opened_door, room_file

SECONDS = 120
SETUP = """
CREATE TABLE visits AS SELECT i // 2 AS patient, 'd' || i % 2 AS disease FROM range(4000) AS t(i);
CREATE POLICY clinic ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET study ON POLICY clinic (epsilon => 10);
CREATE READER ana;
CREATE READER ben;
GRANT ESTIMATE ON BUDGET study TO ana;
CREATE ANONYMIZED TABLE r AS POLICY clinic METHOD generalization;
GRANT SELECT ON RELEASE r TO ben;
"""
COUNT = "ESTIMATE SELECT count(*) AS n FROM visits UNDER BUDGET study (epsilon => 0.125)"
# The process is killed before the query with the number in a file; it writes the number of each query to another one.
COUNTS_QUERIES = """
import os, signal
from pathlib import Path
from sqlanon.clients.serve import keeper_main
whole, folder = keeper_main.DuckDBEngine, Path({folder!r})
def engine(connection, **named):
    last, number = int((folder / "last").read_text()), 0
    def observe(text):
        nonlocal number
        number += 1
        (folder / "number").write_text(str(number))
        if number == last:
            os.kill(os.getpid(), signal.SIGKILL)
    return whole(connection, observe, **named)
asked = keeper_main.ask
def ask(*parts):
    keeper_main.DuckDBEngine = engine
    return asked(*parts)
keeper_main.ask = ask
"""
DIES = "lambda *parts, **named: os.kill(os.getpid(), signal.SIGKILL)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return template_file(tmp_path / "clinic.duckdb", SETUP)


def execute(file: Path, text: str) -> list[tuple[Any, ...]]:
    """Runs a statement of the owner, as soon as the file can be had."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            with sqlanon.connect(str(file)) as connection:
                return connection.execute(text).fetchall()
        except InUseError:
            assert time.monotonic() < until
            time.sleep(0.05)


def token(file: Path, name: str = "ana") -> str:
    return str(execute(file, f"ALTER READER {name} NEW TOKEN")[0][3])


def entries(file: Path) -> list[tuple[float, str]]:
    """Returns the cost and the reader of each entry."""
    return [(row[1], row[3]) for row in execute(file, "DESCRIBE BUDGET study")]


def fetched(door: OpenedDoor, secret: str, statement: str = COUNT, name: str = "ana") -> list[tuple[object, ...]] | str:
    """Returns the rows that the standard driver fetches, or the text of its error."""
    with door.connect(name, secret) as connection, connection.cursor() as cursor:
        try:
            cursor.execute(statement)
            return list(cursor.fetchall())
        except Exception as error:
            text = str(error)
    assert "Traceback" not in text
    return text


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "are_spent"),
    [
        ("sqlanon.catalog.budgets._spent", False),
        ("sqlanon.estimates.noisy.answers._drawn", True),
        ("sqlanon.clients.serve.keeper_main._arrow", True),
    ],
)
def test_a_process_that_is_killed_before_and_after_the_charge(
    place: str, are_spent: bool, file: Path, tmp_path: Path
) -> None:
    secret = token(file)
    module, _, name = place.rpartition(".")
    # The answer that costs nothing has to pass, for it comes first.
    dies = f"lambda *parts, **named: whole(*parts, **named) if is_plan(parts) else {DIES[DIES.index('os.kill') :]}"
    code = f"import os, signal, {module} as module\nwhole = module.{name}\n"
    code += "is_plan = lambda parts: len(parts) > 1 and isinstance(parts[1], tuple) and not parts[1]\n"
    with database_door(tmp_path, file, code=f"{code}module.{name} = {dies}") as door:
        text = fetched(door, secret)
        assert "ended its process" in text
        assert "its cost may be spent" in text
        [begun], [over] = door.lines("started"), door.lines("ended")
        assert (begun["reader"], begun["budget"], begun["epsilon"], over["outcome"]) == (
            "ana",
            "study",
            0.125,
            "killed",
        )
    assert entries(file) == [(0.125, "ana")] * are_spent
    with database_door(tmp_path, file) as door:
        [(_, low, high, epsilon, remaining)] = fetched(door, secret)
        assert (low < high, epsilon, remaining) == (True, 0.125, 9.875 - 0.125 * are_spent)
    assert entries(file) == [(0.125, "ana")] * (1 + are_spent)


@pytest.mark.long
@pytest.mark.parametrize(
    ("work", "outcome"),
    [("time.sleep(60)", "time"), ("sum(iter(int, 1))", "time"), ("bytearray(3 << 30)", "broken")],
)
def test_limits_hold_and_the_file_is_free_again(work: str, outcome: str, file: Path, tmp_path: Path) -> None:
    secret = token(file)
    code = f"import time\nfrom sqlanon.estimates.noisy import answers\nanswers._drawn = lambda *parts: {work}"
    limits = Limits(seconds=2.0, memory=512 << 20)
    with database_door(tmp_path, file, limits=limits, code=code) as door:
        # The first question of a door waits for the libraries of its process.
        text = fetched(door, secret)
        assert "cost" in text
        assert door.lines("ended")[-1]["outcome"] == outcome
        assert entries(file) == [(0.125, "ana")]


@pytest.mark.long
def test_kills_before_queries(file: Path, tmp_path: Path) -> None:
    """Before the charge nothing is spent, and after it there is an entry, with or without an answer."""
    secret, spent = token(file), []
    (tmp_path / "last").write_text("0")
    with database_door(tmp_path, file, code=COUNTS_QUERIES.format(folder=str(tmp_path))) as door:
        client = door.client("ana", secret)
        assert client.fetch(client.ticket(COUNT)).num_rows == 1
        queries = int((tmp_path / "number").read_text())
        for last in (1, queries // 3, 2 * queries // 3, queries):
            before = len(entries(file))
            (tmp_path / "last").write_text(str(last))
            with pytest.raises((pa.ArrowException, OSError)):
                client.fetch(client.ticket(COUNT))
            assert door.lines("ended")[-1]["outcome"] == "killed"
            spent.append(len(entries(file)) - before)
    assert spent == sorted(spent)
    assert set(spent) == {0, 1}
    # The owner is answered only while the row of the budget and its entries agree.
    assert execute(file, COUNT)[0][4] == 10 - 0.125 * (2 + sum(spent))


@pytest.mark.long
def test_a_door_of_the_command_line(file: Path, tmp_path: Path) -> None:
    import adbc_driver_flightsql.dbapi as flightsql

    secret, bens = token(file), token(file, "ben")
    command = [sys.executable, "-m", "sqlanon", "serve", str(file), "--port", "0", "--audit", str(tmp_path / "audit")]
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as front:
        assert front.stdout is not None
        said = json.loads(front.stdout.readline())
        assert (said["releases"], said["budgets"]) == (["main.r"], ["study"])

        def ask(statement: str, name: str = "ana") -> Any:
            login = {"username": name, "password": secret if name == "ana" else bens}
            connected = flightsql.connect(said["uri"], db_kwargs=login, autocommit=True)
            with connected as connection, connection.cursor() as cursor:
                try:
                    cursor.execute(statement)
                    return cursor.fetchall()
                except Exception as error:
                    return str(error)

        try:
            [(number, *_, remaining)] = ask(COUNT.replace("0.125", "9"))
            assert remaining == 1
            assert "has an epsilon of 1 left, and the answer would cost 2; nothing was spent" in ask(
                COUNT.replace("0.125", "2")
            )
            assert "no budget of this name is granted to you: study" in ask(COUNT, "ben")
            assert ask("SELECT count(*) > 0 FROM r", "ben") == [(True,)]
            assert "no release is granted to you" in ask("FROM r")
            execute(file, "REVOKE ESTIMATE ON BUDGET study FROM ana")
            assert "no budget of this name is granted to you: study" in ask(COUNT)
            execute(file, "GRANT ESTIMATE ON BUDGET study TO ben")
            assert ask(COUNT, "ben")[0][-1] == 0.875
        finally:
            front.send_signal(signal.SIGINT)
            front.wait()
    assert entries(file) == [(9.0, "ana"), (0.125, "ben")]
    audit = (tmp_path / "audit").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in audit.splitlines()]
    of_budgets = [line for line in lines if line["event"] == "started" and "budget" in line]
    assert [(line["reader"], line["budget"], line["epsilon"]) for line in of_budgets] == [
        ("ana", "study", 9.0),
        ("ana", "study", 2.0),
        ("ben", "study", 0.125),
    ]
    outcomes = {line["query"]: line for line in lines if line["event"] == "ended"}
    assert [outcomes[line["query"]]["outcome"] for line in of_budgets] == ["done", "refused", "done"]
    assert outcomes[of_budgets[0]["query"]]["rows"] == 1
    assert f": {number}," not in audit


def test_a_door_without_a_source_has_no_budgets(tmp_path: Path) -> None:
    released = room_file(tmp_path / "releases.duckdb", "CREATE TABLE released AS SELECT 1 AS age")
    with opened_door(tmp_path, released) as door:
        assert "a budget is spent where the source is, not through this door" in fetched(door, TOKEN)
        assert [line["reason"][:37] for line in door.lines("refused")] == ["a budget is spent where the source is"]
        assert fetched(door, TOKEN, "FROM released") == [(1,)]
