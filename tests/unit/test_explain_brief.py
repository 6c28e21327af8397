"""EXPLAIN without VERBOSE: the five rows that a reader decides by, last on the screen."""

from __future__ import annotations

import io
import re

import pytest

from sqlanon import Connection, connect
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.scripts import ScriptRun
from tests.support.hospital import HOSPITAL

LAST_FIVE = ["columns", "rows left out", "error", "binding requirement", "alternative"]
POLICY = """source (
    dob QUASI IDENTIFIER USING birth MAX LEVEL 2, sex QUASI IDENTIFIER,
    zip QUASI IDENTIFIER USING zips MIN LEVEL 1 MAX LEVEL 3, disease SENSITIVE
) REQUIRE k_anonymity(k => 4)"""
PLAIN = "source (dob QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE) REQUIRE"
METHOD = "METHOD generalization(suppression => 0.06)"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def con() -> Connection:
    con = connect()
    con.execute("CREATE TABLE source (dob DATE, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO source VALUES (?, ?, ?, ?)", [list(row) for row in HOSPITAL])
    con.execute("CREATE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE); CREATE HIERARCHY zips AS PREFIXES (4, 3, 2)")
    return con


def brief(con: Connection, policy: str, method: str = "") -> dict[str, str]:
    """The last five rows of EXPLAIN."""
    con.execute(f"CREATE OR REPLACE POLICY p ON {policy}")
    rows = con.execute(f"EXPLAIN ANONYMIZED TABLE t AS POLICY p {method}").fetchall()
    last = {item: detail for _, item, detail in rows if item in LAST_FIVE}
    assert [item for _, item, _ in rows[-len(last) :]] == [item for item in LAST_FIVE if item in last]
    assert not {"fingerprint", "SELECT", "next cheaper"} & set(re.findall(r"next cheaper|\w+", str(rows)))
    return last


def test_the_last_five_rows_are_the_answer(con: Connection) -> None:
    """Year, sex and three digits, as printed for the 17 patients; the reasons are those that VERBOSE has."""
    con.execute("ALTER TABLE source ADD COLUMN ward VARCHAR; ALTER TABLE source ADD COLUMN bill INTEGER")
    said = brief(con, POLICY, METHOD)
    verbose: dict[str, list[str]] = {}
    for stage, item, detail in con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE t AS POLICY p {METHOD}").fetchall():
        verbose.setdefault(stage if stage == "advise" else item, []).append(detail)
    assert said == {
        "columns": "dob: CALENDAR (YEAR), level 2 of 4 of birth; sex, disease: unchanged; "
        "zip: PREFIXES (3), level 2 of 4 of zips; 2 columns that the policy does not name: not published",
        "rows left out": "1 of 17, at most 1 allowed",
        "error": "granularity loss 0.509804, the least of all 18 nodes",
        "binding requirement": verbose["binding requirement"][0],
        "alternative": "; ".join(verbose.get("advise", ["none: no other method or option that was tried loses less"])),
    }
    assert verbose["ward"] == verbose["bill"] == ["not published: the policy does not name it"]


@pytest.mark.parametrize(
    ("requirement", "method", "columns", "binding"),
    [
        (
            "k_anonymity(k => 1)",
            "generalization(suppression => 0)",
            "dob, sex, zip, disease: unchanged",
            "none: no attribute may be less general",
        ),
        (
            "k_anonymity(k => 2)",
            "mondrian",
            "dob: ranges; sex, zip: alphabetical ranges; disease: unchanged",
            "k_anonymity(k => 2): it is the only one",
        ),
        (
            "k_anonymity(k => 1)",
            "anatomy(l => 2)",
            "dob, sex, zip: unchanged in t_qi; disease: unchanged, by bucket in t_sensitive",
            None,
        ),
    ],
)
def test_what_becomes_of_columns_by_method(
    con: Connection, requirement: str, method: str, columns: str, binding: str | None
) -> None:
    said = brief(con, f"{PLAIN} {requirement}", f"METHOD {method}")
    assert (said["columns"], said.get("binding requirement")) == (columns, binding)
    assert said["rows left out"].startswith("0 of 17")


def test_a_column_that_is_starred(con: Connection) -> None:
    said = brief(con, f"{PLAIN} k_anonymity(k => 17)", "METHOD generalization")
    assert said["columns"] == "dob, sex, zip: '*' in each row; disease: unchanged"
    assert said["error"] == "granularity loss 1.000000, the least of all 8 nodes"


def test_the_answer_stays_on_a_terminal_of_24_lines(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty columns that the policy does not name are a phrase, and not a row each."""
    con.execute("CREATE TABLE wide AS SELECT *, " + ", ".join(f"1 AS other_{i}" for i in range(40)) + " FROM source")
    con.execute(f"CREATE POLICY p ON {POLICY.replace('source', 'wide')}")
    monkeypatch.setenv("COLUMNS", "80")
    out = Terminal()
    runner = ScriptRun(con, Output(_stdout=out, _stderr=Terminal()))
    assert runner.run(f"EXPLAIN ANONYMIZED TABLE t AS POLICY p {METHOD};", "script.sql")
    # Behind the table are the line of the status and that of the cursor.
    screen = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()).splitlines()[-22:]
    assert max(map(len, screen)) <= 80
    assert [item for item in LAST_FIVE if any(f" {item} " in line for line in screen)] == LAST_FIVE


def test_it_is_written_as_it_is_read(con: Connection) -> None:
    from sqlanon.statements.parser import parse_script

    for text in ("EXPLAIN VERBOSE ANONYMIZED TABLE", "EXPLAIN VERBOSE CREATE OR REPLACE ANONYMIZED TABLE"):
        (statement,) = parse_script(f"{text} t AS POLICY p {METHOD}")
        assert statement.sql().startswith(text)
        (again,) = parse_script(statement.sql())
        assert again == statement
