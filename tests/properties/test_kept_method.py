"""Statements that make a release again, one after the other: which of them keep its method, by a naive account."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from tests.support.database import template
from tests.support.draws import draws

SETUP = """
CREATE TABLE t AS
SELECT (hash(i) % 9)::INT AS a, (hash(i * 3) % 4)::INT AS "select", i % 3 AS ill FROM range(40) AS r(i);
UPDATE t SET a = NULL WHERE rowid % 7 = 0;
CREATE POLICY p ON t (a QUASI IDENTIFIER, "select" QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
"""
TABLE = "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p"
STEPS = {
    "again": TABLE,
    "choose": f"{TABLE} CHOOSE METHOD",
    "mondrian": f"{TABLE} METHOD mondrian",
    "local": f"{TABLE} METHOD generalization(recoding => 'local')",
    "view": "CREATE OR REPLACE ANONYMIZED VIEW r AS POLICY p",
    "refresh": "REFRESH ANONYMIZED TABLE r",
    "refresh choose": "REFRESH ANONYMIZED TABLE r CHOOSE METHOD",
    "drop": "DROP ANONYMIZED TABLE r",
    "rows": "UPDATE t SET a = (a + rowid) % 6; DELETE FROM t WHERE rowid % 11 = 3; INSERT INTO t VALUES (NULL, 1, 2)",
    "policy": "ALTER POLICY p REQUIRE k_anonymity(k => {k})",
    "same policy": 'CREATE OR REPLACE POLICY p ON t (a QUASI IDENTIFIER, "select" QUASI IDENTIFIER, ill SENSITIVE) '
    "REQUIRE k_anonymity({k})",
}


@dataclass(frozen=True)
class Account:
    """What a release is by the rules: its kind, the k of its policy, and the number of the step that chose its method.

    `chosen` is None for a method that was named, `is_there` whether there is a release.
    """

    kind: str = "table"
    k: int = 2
    chosen: int | None = None
    is_there: bool = False


def after(step: str, number: int, account: Account, k: int) -> Account:
    """The account after a step that succeeds, where the policy requires k."""
    made = replace(account, is_there=True, k=k, kind="view" if step == "view" else "table")
    is_kept = account.is_there and account.chosen is not None and (account.kind, account.k) == (made.kind, k)
    match step:
        case "again" | "view":
            return made if is_kept else replace(made, chosen=number)
        case "choose" | "refresh choose":
            return replace(made, chosen=number)
        case "mondrian" | "local":
            return replace(made, chosen=None)
        case "refresh":
            return made
        case "drop":
            return replace(account, is_there=False)
    return account


def recorded(con: Connection) -> tuple[Any, ...] | None:
    """The method, and when and of how many it was chosen; None where there is no release."""
    query = (
        "SELECT r.method, method_arguments, any_value(compared_at), count(compared_at), count(*) FILTER (chosen) "
        "FROM anon.release AS r LEFT JOIN anon.release_comparison USING (release_id) GROUP BY ALL"
    )
    rows = con.duckdb.execute(query).fetchall()
    return tuple(rows[0]) if rows else None


@pytest.mark.drawn
@given(steps=st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(2, 3)), max_size=6))
@settings(max_examples=draws(2, long=12))
def test_what_is_kept_is_what_the_account_says(steps: list[tuple[str, int]]) -> None:
    with template(SETUP) as con:
        account, k, moments, former = Account(), 2, {}, None
        for number, (step, other) in enumerate(steps):
            if step in ("refresh", "refresh choose", "drop") and (not account.is_there or account.kind == "view"):
                continue
            k = other if "policy" in step else k
            con.execute(STEPS[step].format(k=k))
            account = after(step, number, account, k)
            now = recorded(con)
            assert (now is not None) == account.is_there
            if now is None:
                continue
            method, arguments, moment, compared, chosen = now
            assert (compared, chosen) == ((0, 0) if account.chosen is None else (3, 1))
            if account.chosen is not None:
                # A comparison has one moment, and no two have the same.
                assert moments.setdefault(account.chosen, moment) == moment
                assert len(set(moments.values())) == len(moments)
                assert account.chosen == number or former == (method, arguments)
            former = (method, arguments)
        orphans = "FROM anon.release_comparison WHERE release_id NOT IN (SELECT release_id FROM anon.release)"
        assert con.duckdb.execute(orphans).fetchall() == []
