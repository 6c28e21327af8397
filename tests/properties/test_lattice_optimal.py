"""The search for the least of every loss against an oracle that looks at every node, on small random tables."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, event, given, settings

from sqlanon import PrivacyViolation, connect
from tests.support.draws import draws
from tests.support.losses import ORACLES, Demand, demands, shown
from tests.support.policies import levels_of, released

pytestmark = pytest.mark.drawn

# Each example makes a database; what is slow is DuckDB's own catalog, not the search.
BUDGET = settings(max_examples=draws(2, long=10), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.one_in(6)
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


def test_a_node_that_withholds_too_much_in_later_rounds_hides_no_other() -> None:
    """A node that loses less than the best, but withholds more than the two rows allowed once its rounds are done."""
    rows = "040x 310x 650y 741y 553y 651x 121x 033y 710x 003x 621z 562y 071z".split()
    with connect(config={"threads": "1"}) as con:
        con.execute("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, s VARCHAR)")
        for a, b, c, s in rows:
            con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?, ?)", [int(a), int(b), int(c), s])
        con.execute("CREATE HIERARCHY h AS INTERVALS (2, 4)")
        con.execute(
            "CREATE POLICY p ON t (a QUASI IDENTIFIER USING h, b QUASI IDENTIFIER USING h, c QUASI IDENTIFIER, "
            "s SENSITIVE) REQUIRE t_closeness(t => 0.3)"
        )
        con.execute(
            "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.2, loss => 'precision')"
        )
        assert levels_of(con) == (2, 3, 1)
