"""Local recoding against its definition, row by row: the rounds, the release, and a live view as its source changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.methods.generalization.local_recoding.rounds import ROUNDS
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.sql.questions.load import load_question, question_names
from tests.oracles.lattice import Node
from tests.oracles.local_recoding import Task, local_recoding, lost, optimum, placements, shown
from tests.support.draws import draws
from tests.support.live_views import apply, changes
from tests.support.local_recoding import (
    method,
    skewed,
    skewed_cases,
    solved,
    task_of_case,
    task_of_drawn,
)
from tests.support.models.search import Drawn, install
from tests.support.policies import Case

pytestmark = pytest.mark.drawn

# Each example makes a database, and a few searches of it.
FEW = settings(max_examples=draws(2, long=3), deadline=None, suppress_health_check=list(HealthCheck))
LIVE = (
    "distinct_l_diversity",
    "equal_t_closeness",
    "hierarchical_t_closeness",
    "personalized",
    "k_map",
    "delta_presence",
)
SOME = settings(max_examples=draws(2, long=6), deadline=None, suppress_health_check=list(HealthCheck))


def levels_of_rounds(con: Connection, width: int) -> list[Node]:
    """The levels of each round of the one release there is."""
    query = "SELECT round, attribute, level FROM anon.release_round ORDER BY round, attribute"
    found = con.duckdb.execute(query).fetchall()
    rounds = max(number for number, _, _ in found)
    return [tuple(level for own, _, level in found if own == number)[:width] for number in range(1, rounds + 1)]


def expected_rows(task: Task, values: Sequence[Any], levels: Sequence[Node]) -> list[tuple[Any, ...]]:
    """What rounds at these levels show of the rows: labels, and their own value; the guard's doing included."""
    placed, public = placements(task, levels)
    classes: dict[Any, list[int]] = {}
    for place, number in placed.items():
        classes.setdefault(shown(task.rows[place], task.taxonomies, levels, number), []).append(place)
    counts: dict[Any, int] = Counter(
        shown(row, task.public_taxonomies, levels, public[place]) if place in public else ("elsewhere",)
        for place, row in enumerate(task.public)
    )
    gone = task.withheld(classes, counts)
    return [] if gone is None else [(*of, values[p]) for of, own in classes.items() for p in own if p not in gone]


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


@pytest.mark.one_in(20)
@pytest.mark.parametrize("question", [name for name in question_names() if not load_question(name).whole_release])
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


@pytest.mark.one_in(6)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_that_of_what_is_published_and_at_most_that_of_global_recoding(loss: str) -> None:
    @given(case=skewed_cases())
    @FEW
    def check(case: Case) -> None:
        task = task_of_case(case)
        assume(optimum(task) is not None)
        con = case.install()
        found = {}
        for recoding in ("global", "local"):
            method = f"generalization(suppression => {case.suppression}, recoding => '{recoding}', loss => '{loss}')"
            con.execute(f"CREATE ANONYMIZED TABLE {recoding} AS POLICY p METHOD {method}")
            found[recoding] = con.duckdb.execute(
                "SELECT loss, suppressed_rows FROM anon.release WHERE object_name = ?", [recoding]
            ).fetchall()[0]
        assert found["local"] <= found["global"]
        levels = levels_of_rounds(con, len(case.quasi))
        placed, _ = placements(task, levels)
        rounds = [(node, frozenset(p for p, own in placed.items() if own == n)) for n, node in enumerate(levels)]
        assert found["local"][0] == pytest.approx(float(lost(loss, task, rounds, case.k)), rel=1e-9, abs=1e-9)
        event(f"rounds: {len(levels)}, {'less' if found['local'][0] < found['global'][0] else 'the same'}")
        con.close()

    check()


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
        assert Counter(found) == Counter(expected_rows(task_of_case(case, rows), [row[-1] for row in rows], levels)), (
            kind,
            row,
        )
        event(
            f"{kind}, {len(levels)} rounds: {'all' if len(found) == len(rows) else 'some' if found else 'none'} shown"
        )
    con.execute("CHECK v")
    assert con.fetchall()[0][-1] is True
    con.close()


@st.composite
def other_rows(draw: st.DrawFn, case: Drawn) -> list[tuple[Any, ...]]:
    """What may stand in the source some time later: some of its rows, and new ones."""
    left = draw(st.lists(st.sampled_from(case.rows), min_size=1, max_size=len(case.rows) + 3))
    keys = st.tuples(*(st.sampled_from((*q.domain, *q.later)) for q in case.quasi))
    sensitive, guard = (st.sampled_from([row[place] for row in case.rows]) for place in (-2, -1))
    new = st.tuples(keys, sensitive, guard).map(lambda row: (*row[0], *row[1:]))
    return [*left, *draw(st.lists(new, max_size=6))]


def fill(con: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    con.duckdb.execute(f"DELETE FROM {table}")
    for row in rows:
        con.duckdb.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", list(row))


@pytest.mark.long
@pytest.mark.parametrize("question", LIVE)
def test_a_live_view_of_every_kind_of_model(question: str) -> None:
    """Judged by rows of its own class, of others, by a public table, by guarding nodes: whatever the source becomes."""

    @given(data=st.data(), case=skewed(question))
    @FEW
    def check(data: st.DataObject, case: Drawn) -> None:
        best = local_recoding(task_of_drawn(case), ROUNDS)
        assume(best is not None and len(best.rounds) > 1)
        con = install(case)
        con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p {method(case.suppression)}")
        levels = levels_of_rounds(con, len(case.quasi))
        for rows in (list(case.rows), *data.draw(st.lists(other_rows(case), min_size=2, max_size=3))):
            fill(con, "source", rows)
            public = [row[: len(case.quasi)] for row in data.draw(other_rows(case))]
            fill(con, "everybody", public)
            task = task_of_drawn(replace(case, public=tuple(public)), rows)
            names = ", ".join([*(f"q{place}" for place in range(len(case.quasi))), "s"])
            found = con.duckdb.execute(f"SELECT {names} FROM v").fetchall()
            assert Counter(found) == Counter(expected_rows(task, [row[-2] for row in rows], levels))
            event("all shown" if len(found) == len(rows) else "some shown" if found else "none shown")
        con.close()

    check()
