"""The search against an oracle that looks at every node, on small random tables."""

from __future__ import annotations

import pytest
from hypothesis import event, given

from tests.support.policies import BUDGET, Case, assert_optimal, cases

pytestmark = pytest.mark.drawn


@given(case=cases())
@BUDGET
def test_snapshot_is_the_optimal_recoding(case: Case) -> None:
    con = case.install()
    best = assert_optimal(con, case, "TABLE")
    event("infeasible" if best is None else "suppressed some" if best.suppressed else "suppressed none")
    con.close()
