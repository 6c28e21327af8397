"""Local recoding against its definition, row by row: the rounds, the release, and a live view as its source changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.methods._local import ROUNDS
from sqlanon.questions.load import question_names
from tests.oracles.lattice import Node
from tests.oracles.local_recoding import Task, local_recoding, optimum, placements, shown
from tests.properties.local_support import (
    method,
    skewed,
    skewed_cases,
    solved,
    task_of_case,
    task_of_drawn,
)
from tests.properties.policies_support import Case
from tests.properties.test_live_view import apply, changes
from tests.properties.test_models_optimal import Drawn, install

# Each example makes a database, and a few searches of it.
FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


def levels_of_rounds(con: Connection, width: int) -> list[Node]:
    """The levels of each round of the one release there is."""
    query = "SELECT round, attribute, level FROM anon.release_round ORDER BY round, attribute"
    found = con.duckdb.execute(query).fetchall()
    rounds = max(number for number, _, _ in found)
    return [tuple(level for own, _, level in found if own == number)[:width] for number in range(1, rounds + 1)]


def expected_rows(task: Task, rows: Sequence[tuple[Any, ...]], levels: Sequence[Node]) -> list[tuple[Any, ...]]:
    """What rounds at these levels show of the rows: labels and the last column, the guard's doing included."""
    placed, public = placements(task, levels)
    classes: dict[Any, list[int]] = {}
    for place, number in placed.items():
        classes.setdefault(shown(task.rows[place], task.taxonomies, levels, number), []).append(place)
    counts: dict[Any, int] = Counter(
        shown(row, task.public_taxonomies, levels, public[place]) if place in public else ("elsewhere",)
        for place, row in enumerate(task.public)
    )
    gone = task.withheld(classes, counts)
    return [] if gone is None else [(*of, rows[p][-1]) for of, own in classes.items() for p in own if p not in gone]


def assert_rounds(task: Task, con: Connection, suppression: str) -> None:
    expected, found = local_recoding(task, ROUNDS), solved(con, suppression)
    if expected is None:
        assert found is None
        event("infeasible")
        return
    assert found is not None
    cells = len(task.rows) * task.suppressed
    event(f"rounds: {len(expected.rounds)}")
    assert [(one.levels, one.rows) for one in found.rounds] == [(node, len(kept)) for node, kept in expected.rounds]
    assert found.loss == (expected.loss / cells if cells else 0)
    assert found.suppressed == len(task.rows) - sum(one.rows for one in found.rounds) <= found.limit
    best = optimum(task)
    assert best is not None
    assert expected.loss <= best[0]


@pytest.mark.parametrize("question", question_names())
def test_the_rounds_of_every_model(question: str) -> None:
    @given(case=skewed(question))
    @FEW
    def check(case: Drawn) -> None:
        con = install(case)
        assert_rounds(task_of_drawn(case), con, case.suppression)
        con.close()

    check()


@given(case=skewed_cases())
@SOME
def test_the_rows_of_a_snapshot(case: Case) -> None:
    """Row for row the best rounds', and never fewer rows or more loss than the budget and global recoding allow."""
    task = task_of_case(case)
    best = local_recoding(task, ROUNDS)
    assume(best is not None)
    assert best is not None
    con = case.install()
    con.execute(f"CREATE ANONYMIZED TABLE out AS POLICY p {method(case.suppression)}")
    levels = [node for node, _ in best.rounds]
    assert levels_of_rounds(con, len(case.quasi)) == levels
    kept = {place: number for number, (_, places) in enumerate(best.rounds) for place in places}
    rows = [(*shown(task.rows[p], task.taxonomies, levels, number), p) for p, number in kept.items()]
    found = con.duckdb.execute(f"SELECT {case.published} FROM out").fetchall()
    assert Counter(found) == Counter(rows)
    event(f"rounds: {len(levels)}")
    con.close()


@given(data=st.data(), case=skewed_cases())
@SOME
def test_a_live_view_follows_its_source(data: st.DataObject, case: Case) -> None:
    assume(optimum(task_of_case(case)) is not None)
    con = case.install()
    con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p {method(case.suppression)}")
    levels = levels_of_rounds(con, len(case.quasi))
    con.execute("DROP POLICY p")
    for place, quasi in enumerate(case.quasi):
        if quasi.hierarchy:
            con.execute(f"DROP HIERARCHY h{place}")
    rows = [case.full_row(place) for place in range(len(case.rows))]
    for kind, row in [("start", ()), *data.draw(changes(case))]:
        rows = apply(con, rows, kind, row) if kind != "start" else rows
        found = con.duckdb.execute(f"SELECT {case.published} FROM v").fetchall()
        assert Counter(found) == Counter(expected_rows(task_of_case(case, rows), rows, levels)), (kind, row)
        event(
            f"{kind}, {len(levels)} rounds: {'all' if len(found) == len(rows) else 'some' if found else 'none'} shown"
        )
    con.execute("CHECK v")
    assert con.fetchall()[0][-1] is True
    con.close()
