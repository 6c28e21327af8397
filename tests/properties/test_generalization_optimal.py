"""The search against an oracle that looks at every node, on small random tables."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import event, given

from sqlanon import PrivacyViolation
from tests.oracles.lattice import nodes
from tests.properties.policies_support import BUDGET, Case, cases, levels_of



@given(case=cases())
@BUDGET
def test_snapshot_is_the_optimal_recoding(case: Case) -> None:
    best = case.optimum()
    con = case.install()
    event("feasible" if best else "infeasible")
    event(f"suppressed: {bool(best and best.suppressed)}, entities: {case.entities is not None}")
    create = f"CREATE ANONYMIZED TABLE t AS POLICY p {case.method}"
    if best is None:
        with pytest.raises(PrivacyViolation):
            con.execute(create)
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 't'").fetchall() == [(0,)]
        return
    con.execute(create)
    assert levels_of(con) == best.node
    query = "SELECT source_rows, released_rows, suppressed_rows, nodes, loss FROM anon.release"
    *counts, loss = con.duckdb.execute(query).fetchall()[0]
    size = len(nodes([q.low for q in case.quasi], [q.top for q in case.quasi]))
    assert counts == [len(case.rows), len(case.rows) - len(best.suppressed), len(best.suppressed), size]
    # The loss is exact until it becomes a DOUBLE, so the doubles are equal too.
    assert loss == float(best.loss)
    released = con.duckdb.execute(f"SELECT {case.published} FROM t").fetchall()
    assert Counter(released) == Counter(case.released(best))
    con.close()
