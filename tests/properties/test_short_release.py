"""CREATE ANONYMIZED ... FROM: its rows meet what is required, and are those of the policy that is written out."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation, connect
from tests.oracles.k_anonymity import equivalence_classes
from tests.oracles.models import distinct_l_diversity
from tests.oracles.models.support import Table
from tests.support.database import ONE_THREAD
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

NAMES = ("age", 'a "b"', "x.y", "select", "Größe", "日本")


def table(random: Random, rows: int) -> str:
    """CREATE TABLE of two quasi-identifiers, numbers and texts with NULLs among them, and of a sensitive column."""
    number, text, secret = (f'"{name}"'.replace('a "b"', 'a ""b""') for name in random.sample(NAMES, 3))
    missing, values = random.choice([0, 5]), random.choice([2, 3])
    return (
        f"CREATE TABLE t AS SELECT if(i % 7 < {missing} AND i % 3 = 0, NULL, hash(i, {random.random()}) % 60) "
        f"AS {number}, "
        f"if(i % 11 < {missing} // 3, NULL, 'z' || hash(i, {random.random()}) % 30) AS {text}, "
        f"if(i % 5 = 0, NULL, hash(i, {random.random()}) % {values}) AS {secret} FROM range({rows}) AS r(i)"
    )


@given(seed=st.integers(0, 2**32), rows=st.sampled_from([1, 9, 80, 400]), k=st.integers(2, 8))
@settings(max_examples=draws(3, long=40), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_short_form_is_its_policy_and_its_rows_meet_what_is_required(seed: int, rows: int, k: int) -> None:
    random = Random(seed)
    con: Connection = connect(config=ONE_THREAD)
    con.execute(table(random, rows))
    number, text, secret = ('"' + name.replace('"', '""') + '"' for name in con.sql("FROM t").columns)
    required = random.choice(["", f"REQUIRE k_anonymity({k})", f"REQUIRE k_anonymity({k}), l_diversity(2)"])
    k, method = k if required else 5, random.choice(["", "METHOD mondrian"])
    try:
        con.execute(f"CREATE ANONYMIZED TABLE r FROM t ({number}, {text}) SENSITIVE {secret} {required} {method}")
    except PrivacyViolation:
        assert con.sql("SHOW POLICIES").fetchall() == con.sql("SHOW HIERARCHIES").fetchall() == []
        return
    released = con.duckdb.execute("FROM r").fetchall()
    classes = equivalence_classes([row[:2] for row in released])
    assert min(map(len, classes.values()), default=k) >= k
    assert distinct_l_diversity.violating(Table(classes, [row[2] for row in released]), 2) == set()

    written = "\n".join(row[0] for row in con.sql("DESCRIBE POLICY r AS SQL").fetchall())
    con.execute(f"DROP POLICY r; {written} CREATE ANONYMIZED TABLE again AS POLICY r {method}")
    assert Counter(con.duckdb.execute("FROM again").fetchall()) == Counter(released)
