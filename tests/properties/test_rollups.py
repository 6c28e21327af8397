"""How a large source is searched - a part of the classes first, then tables that are kept - on small ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import PrivacyViolation
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.lattice.node_evaluator import batch_of
from sqlanon.methods.shared.lattice.nodes import sizes
from sqlanon.methods.shared.lattice.rollup import Rollups
from sqlanon.release.pipeline.encode import encode_stage
from sqlanon.release.pipeline.resolve import bind_stage, resolve_stage
from sqlanon.release.pipeline.stages import Requested
from sqlanon.statements.releases.create_release import CreateRelease
from tests.oracles.lattice import nodes
from tests.support.draws import draws
from tests.support.policies import BUDGET, Case, assert_optimal, cases, levels_of

pytestmark = pytest.mark.drawn


@pytest.fixture(autouse=True, scope="module")
def every_source_is_large() -> Iterator[None]:
    with sizes.replaced(large_source=0, one_in=2, times_fewer=1, lasting_from=0):
        yield


@given(case=cases())
@settings(BUDGET, max_examples=draws(3, long=30))
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


@pytest.mark.long
@given(case=cases())
@settings(BUDGET, max_examples=draws(2, long=30))
def test_the_optimum_is_the_same_where_satisfying_classes_are_one_row(case: Case) -> None:
    with sizes.replaced(large_source=1000, lasting_from=0, few_nodes=0), case.install() as con:
        assert_optimal(con, case, "table")


@given(case=cases(), order=st.randoms(use_true_random=False), asked=st.sampled_from(["", ", l_diversity(l => 2)"]))
@settings(BUDGET, max_examples=draws(3, long=30))
def test_classes_that_go_on_satisfying_count_the_same_as_one_row(case: Case, order: Random, asked: str) -> None:
    """Nodes in any order, a few at a time, some of them rolled up from meets: once with all rows of every class."""
    lattice = nodes([0] * len(case.quasi), [quasi.height for quasi in case.quasi])
    order.shuffle(lattice)
    with case.install() as con:
        con.execute(
            f"CREATE OR REPLACE POLICY p ON source ({case.attributes()}) REQUIRE k_anonymity(k => {case.k}){asked}"
        )
        engine = DuckDBEngine(con.duckdb)
        with engine.transaction(), TempTables(engine) as temp, sizes.replaced(large_source=1000, meet_from=0, meets=2):
            asked = Requested(engine, CreateRelease("table", QualifiedName(("out",)), "p"), temp)
            task = encode_stage(bind_stage(resolve_stage(asked))).task
            batch = batch_of(task, task.encoded)
            whole = Rollups(engine, task.encoded, batch, temp)
            short = Rollups(engine, task.encoded, replace(batch, lasting=True), temp)
            for first in range(0, min(len(lattice), 15), 5):
                some = lattice[first : first + 5]
                counted = whole.look(some, len(case.rows)), short.look(some, len(case.rows))
                each = [[replace(classes, rows=0) for classes in of] for of in counted]
                assert each[0] == each[1]


def test_a_part_of_the_classes_proves_that_a_node_fails() -> None:
    """The query over a part of the classes runs, and rows of fewer nodes are kept than are checked."""
    from sqlanon import connect

    con = connect()
    con.execute("CREATE TABLE t AS SELECT i AS a, i % 50 AS b FROM range(2000) r(i)")
    con.execute("CREATE HIERARCHY h AS INTERVALS (2, 4, 8, 16, 32, 64, 128)")
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER USING h, b QUASI IDENTIFIER) REQUIRE k_anonymity(k => 10)")
    texts: list[str] = []
    con.observe(lambda stage, sql, *_: texts.append(sql or "") if stage == "solve" else None)
    # Nothing is counted in memory.
    with sizes.replaced(most_labels=0):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    # By the remainders of the keys.
    parts = [text for text in texts if "1000003" in text]
    whole = [text for text in texts if text.startswith("INSERT") and "_rollup" in text]
    checked = con.duckdb.execute("SELECT nodes_checked FROM anon.release").fetchall()[0][0]
    assert len(parts) > 1
    # Each node whose rows are kept is copied from the cells, and then grouped once more as one of a batch.
    assert len(whole) // 2 < checked
    assert con.duckdb.execute("SELECT min(n) FROM (SELECT count(*) AS n FROM r GROUP BY ALL)").fetchall()[0][0] >= 10
