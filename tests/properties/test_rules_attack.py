"""ATTACK ... WITH rules against every set of items of every list."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.errors import SqlanonError
from tests.oracles.attacks import rules
from tests.support.database import new_database
from tests.support.draws import draws

ITEMS = 'it"ems'
known = st.one_of(st.none(), st.lists(st.sampled_from(["a", "it's", "", None]), max_size=4))
secret = st.one_of(st.none(), st.lists(st.sampled_from(["a", "hiv", None]), max_size=3))


def listed(rows: list[tuple[Any, Any]]) -> Connection:
    con = new_database()
    con.execute('CREATE TABLE t ("it""ems" VARCHAR[], "select" VARCHAR[])')
    for row in rows:
        con.duckdb.execute("INSERT INTO t VALUES (?, ?)", row)
    return con


@pytest.mark.drawn
@settings(max_examples=draws(4, long=60), deadline=None)
@given(st.lists(st.tuples(known, secret), max_size=6), st.integers(0, 3))
def test_every_rule_is_tried(rows: list[tuple[Any, Any]], m: int) -> None:
    with listed(rows) as con:
        wanted = rules([(items or [], secrets or []) for items, secrets in rows], m)
        attack = f'ATTACK t ("it""ems") SENSITIVE "select" WITH rules(confidence => 0.5, m => {m})'
        ((_, attribute, targets, succeeded, highest, mean, bound, _),) = con.sql(attack).fetchall()
        assert (attribute, targets, bound) == ("select", len(wanted), None)
        assert succeeded == sum(confidence >= 0.5 for confidence in wanted.values())
        if wanted:
            assert highest == pytest.approx(float(max(wanted.values())))
            assert mean == pytest.approx(float(sum(wanted.values()) / len(wanted)))


LISTS = [
    (["bread", "milk"], ["hiv"]),
    (["bread", "milk"], []),
    (["bread", "beer"], None),
    (["milk", "beer"], ["hiv"]),
    (["bread", "milk", "beer"], []),
    (["beer"], ["flu"]),
]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_six_lists(m: int) -> None:
    """rho is 1/2: of four lists with milk two have HIV. So it is of milk and beer."""
    with listed(LISTS) as con:
        attack = f'ATTACK t ("it""ems") SENSITIVE "select" WITH rules(confidence => 0.5, m => {m})'
        ((*_, succeeded, highest, _, _, worst),) = con.sql(attack).fetchall()
        assert (succeeded, highest) == ((1, 0.5) if m == 1 else (2, 0.5))
        assert "milk -> hiv" in worst.split("; ")


def test_a_release_and_a_secret_of_one_value() -> None:
    with listed(LISTS) as con:
        con.execute(
            'CREATE POLICY p ON t ("it""ems" QUASI IDENTIFIER, "select" SENSITIVE) '
            "REQUIRE km_anonymity(k => 2, m => 2); CREATE ANONYMIZED TABLE r AS POLICY p METHOD itemsets;"
            """CREATE TABLE single AS SELECT "it""ems", "select"[1] AS secret FROM t"""
        )
        assert con.sql("ATTACK r WITH rules").fetchall()[0][4] == 0.5
        # NULL is a value: two of six have HIV, three nothing.
        assert con.sql('ATTACK single ("it""ems") SENSITIVE secret WITH rules(m => 0)').fetchall()[0][4] == 0.5


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ('ATTACK t ("select") SENSITIVE "it""ems" WITH rules(m => 9)', "outside"),
        ("ATTACK numbers (n) SENSITIVE o WITH rules", "no columns of lists"),
        ('ATTACK t ("it""ems") WITH rules', "is about sensitive values"),
    ],
)
def test_errors_say_what_to_write(statement: str, words: str) -> None:
    with listed(LISTS) as con:
        con.execute("CREATE TABLE numbers AS SELECT 1 AS n, 2 AS o")
        with pytest.raises(SqlanonError) as error:
            con.sql(statement)
    assert words in str(error.value)
