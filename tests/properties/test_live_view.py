"""A live view against an oracle that recodes and withholds anew after each random change of the source."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, connect
from tests.oracles.k_anonymity import achieved
from tests.support.draws import draws
from tests.support.live_views import apply, changes
from tests.support.policies import BUDGET, Case, cases, levels_of, shown

pytestmark = pytest.mark.drawn


@given(data=st.data(), case=cases())
@settings(BUDGET, max_examples=draws(2, long=30))
def test_view_follows_its_source(data: st.DataObject, case: Case) -> None:
    assume(case.optimum() is not None)
    con = case.install()
    con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p {case.method}")
    levels = levels_of(con)
    # From here on the view stands by itself.
    con.execute("DROP POLICY p")
    for place, quasi in enumerate(case.quasi):
        if quasi.hierarchy:
            con.execute(f"DROP HIERARCHY h{place}")
    rows = [case.full_row(place) for place in range(len(case.rows))]
    for kind, row in [("start", ()), *data.draw(changes(case))]:
        rows = apply(con, rows, kind, row) if kind != "start" else rows
        expected = shown(case, rows, levels)
        found = con.duckdb.execute(f"SELECT {case.published} FROM v").fetchall()
        assert Counter(found) == Counter(expected), (kind, row)
        event(f"{kind}: {'all' if len(found) == len(rows) else 'some' if found else 'none'} shown")
        entities = {source[-1]: source[-2] for source in rows} if case.entities is not None else None
        reached = achieved([r[:-1] for r in found], [entities[r[-1]] for r in found] if entities is not None else None)
        assert reached is None or reached >= case.k
    con.execute("CHECK v")
    assert con.fetchall()[0][-1] is True
    con.close()


def _levels_view(con: Connection) -> None:
    con.execute("CREATE TABLE source (q0 VARCHAR, s INTEGER)")
    con.execute("INSERT INTO source SELECT v, i FROM (VALUES ('a'), ('b'), ('c'), (NULL)) t(v), range(3) r(i)")
    con.execute(
        "CREATE HIERARCHY h AS LEVELS (SELECT * FROM (VALUES ('a', 'x'), ('b', 'x'), ('c', 'y'), ('d', 'y')) t)"
    )
    con.execute(
        "CREATE POLICY p ON source (q0 QUASI IDENTIFIER USING h MIN LEVEL 1, s SENSITIVE) REQUIRE k_anonymity(k => 3)"
    )
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    assert _labels(con) == {"x": 6, "y": 3, None: 3}


def _labels(con: Connection) -> Counter[str | None]:
    return Counter(label for (label,) in con.execute("SELECT q0 FROM v").fetchall())


def test_rows_added_to_the_frozen_labels_do_not_break_k() -> None:
    """A label listed twice must not double its rows, nor a second label split or join classes below k."""
    con = connect()
    _levels_view(con)
    con.execute("INSERT INTO anon.release_recoding FROM anon.release_recoding")
    assert _labels(con) == {"x": 6, "y": 3, None: 3}
    con.execute("DELETE FROM source WHERE q0 = 'c' AND s = 0")
    assert _labels(con) == {"x": 6, None: 3}
    con.execute(
        "INSERT INTO anon.release_recoding SELECT release_id, attribute, 'a', 'z' FROM anon.release_recoding LIMIT 1"
    )
    assert _labels(con) == {"x": 3, "z": 3, None: 3}
    con.execute("DELETE FROM source WHERE q0 = 'a' AND s = 0")
    assert _labels(con) == {"x": 3, None: 3}
    con.execute("DELETE FROM anon.release_recoding")
    assert _labels(con) == {}


def test_replacing_hierarchy_and_policy_changes_no_view() -> None:
    con = connect()
    _levels_view(con)
    con.execute("CREATE OR REPLACE HIERARCHY h AS LEVELS (SELECT * FROM (VALUES ('a', 'q'), ('b', 'r'), ('c', 'r')) t)")
    con.execute(
        "CREATE OR REPLACE POLICY p ON source (q0 QUASI IDENTIFIER USING h, s SENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    assert _labels(con) == {"x": 6, "y": 3, None: 3}
    con.execute("UPDATE anon.hierarchy_value SET label = 'lie'")
    con.execute("DELETE FROM source WHERE q0 = 'c' AND s = 0")
    assert _labels(con) == {"x": 6, None: 3}
    assert con.execute("CHECK v").fetchall() == [("main.v", "k_anonymity", None, 3.0, 3.0, True)]


def test_an_emptied_and_a_refilled_source() -> None:
    con = connect()
    _levels_view(con)
    con.execute("TRUNCATE source")
    assert _labels(con) == {}
    assert con.execute("CHECK v").fetchall() == [("main.v", "k_anonymity", None, 3.0, None, True)]
    con.execute("INSERT INTO source SELECT 'd', i FROM range(3) r(i)")
    assert _labels(con) == {"y": 3}


def test_many_new_labels_never_run_into_each_other() -> None:
    """A column that has one label, and one that has two, get thousands."""
    con = connect()
    con.execute("CREATE TABLE source (a INTEGER, b INTEGER, s INTEGER)")
    con.execute("INSERT INTO source SELECT i // 4, 0, i FROM range(8) r(i)")
    con.execute(
        "CREATE POLICY p ON source (a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    con.execute("INSERT INTO source SELECT i // 2, i // 4, i FROM range(8, 8000) r(i)")
    source = Counter(con.execute("SELECT a, b FROM source").fetchall())
    assert Counter(con.execute("SELECT a, b FROM v").fetchall()) == source
