"""The search for the least of every loss against an oracle that looks at every node, on small random tables."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, event, given, settings

from sqlanon import PrivacyViolation
from tests.properties.losses_support import ORACLES, Demand, demands, shown
from tests.properties.policies_support import levels_of, released

# Each example makes a database; what is slow is DuckDB's own catalog, not the search.
BUDGET = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("loss", ORACLES)
@given(demand=demands())
@BUDGET
def test_snapshot_loses_least(demand: Demand, loss: str) -> None:
    con = demand.install()
    best = demand.optimum(loss)
    create = f"CREATE ANONYMIZED TABLE out AS POLICY p {demand.method(loss)}"
    if best is None:
        event("infeasible")
        with pytest.raises(PrivacyViolation):
            con.execute(create)
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        con.close()
        return
    event("suppressed some" if best.suppressed else "suppressed none")
    con.execute(create)
    assert levels_of(con) == best.node
    query = "SELECT suppressed_rows, nodes, proven_optimal, loss_name, loss FROM anon.release"
    *facts, recorded = con.duckdb.execute(query).fetchall()[0]
    assert facts == [len(best.suppressed), len(demand.lattice), True, loss]
    # All but entropy are exact until they become DOUBLEs, so the doubles are equal too.
    assert recorded == (pytest.approx(best.loss, abs=1e-7) if isinstance(best.loss, float) else float(best.loss))
    assert released(con, demand.case, "out") == Counter(shown(demand, best))
    con.close()
