"""How a large source is searched - a part of the classes first, then tables that are kept - on small ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given

from sqlanon import PrivacyViolation
from sqlanon.methods.generalization.lattice.sizes import sizes
from tests.support.policies import BUDGET, Case, cases, levels_of

pytestmark = pytest.mark.drawn


@pytest.fixture(autouse=True, scope="module")
def every_source_is_large() -> Iterator[None]:
    with sizes.replaced(large_source=0, one_in=2, times_fewer=1):
        yield


@given(case=cases())
@BUDGET
def test_the_optimum_is_the_same(case: Case) -> None:
    best = case.optimum()
    con = case.install()
    create = f"CREATE ANONYMIZED TABLE t AS POLICY p {case.method}"
    if best is None:
        with pytest.raises(PrivacyViolation):
            con.execute(create)
        return
    con.execute(create)
    assert levels_of(con) == best.node
    counted = con.duckdb.execute("SELECT suppressed_rows, loss FROM anon.release").fetchall()
    assert counted == [(len(best.suppressed), float(best.loss))]
    con.close()


def test_a_part_of_the_classes_proves_that_a_node_fails() -> None:
    """The query over a part of the classes runs, and rows of fewer nodes are kept than are checked."""
    from sqlanon import connect

    con = connect()
    con.execute("CREATE TABLE t AS SELECT i AS a, i % 50 AS b FROM range(2000) r(i)")
    con.execute("CREATE HIERARCHY h AS INTERVALS (2, 4, 8, 16, 32, 64, 128)")
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER USING h, b QUASI IDENTIFIER) REQUIRE k_anonymity(k => 10)")
    texts: list[str] = []
    con.observe(lambda stage, sql, *_: texts.append(sql or ""))
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p")
    parts = [text for text in texts if "1000003" in text]
    whole = [text for text in texts if text.startswith("INSERT") and "_rollup" in text]
    checked = con.duckdb.execute("SELECT nodes_checked FROM anon.release").fetchall()[0][0]
    assert len(parts) > 1
    # Each node whose rows are kept is copied from the cells, and then grouped once more as one of a batch.
    assert len(whole) // 2 < checked
    assert con.duckdb.execute("SELECT min(n) FROM (SELECT count(*) AS n FROM r GROUP BY ALL)").fetchall()[0][0] >= 10
