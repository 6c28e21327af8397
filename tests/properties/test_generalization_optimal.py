"""The search against an oracle that looks at every node, on small random tables."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon.methods.shared.lattice.nodes import sizes
from tests.support.draws import draws
from tests.support.policies import BUDGET, Case, assert_optimal, cases

pytestmark = pytest.mark.drawn


@given(case=cases(), few_nodes=st.sampled_from([0, 32]))
@settings(BUDGET, max_examples=draws(2, long=30))
def test_snapshot_is_the_optimal_recoding(case: Case, few_nodes: int) -> None:
    con = case.install()
    with sizes.replaced(few_nodes=few_nodes):
        best = assert_optimal(con, case, "TABLE")
    event("infeasible" if best is None else "suppressed some" if best.suppressed else "suppressed none")
    con.close()
