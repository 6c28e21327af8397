"""ESTIMATE against the oracle, and against the truth, on random tables, releases and queries."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.errors import PolicyError, PrivacyViolation
from tests.oracles.estimates import Figures, estimates
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of
from tests.support.estimates.queries import DEALT, RELEASES, Having, Query, Task, havings, queries, tables
from tests.support.estimates.released_rows import released_rows

pytestmark = pytest.mark.drawn


def asked(con: Connection, query: Query, having: str = "") -> dict[Any, Figures]:
    rows = figures_of(con.sql(f"ESTIMATE {query.sql}{having} FROM RELEASE r"))
    return {(row[0] if query.group else 0): Figures(*row[-4:]) for row in rows}


def lists_texts(task: Task, query: Query, rows: list[dict[str, list[tuple[Any, float | None]]]]) -> bool:
    """Whether the query would have to list the texts between two others."""
    if task.release != "flat" or query.group != "kind":
        return False
    return any(weight is None for row in rows for _, weight in row["kind"])


def close(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    return isclose(left, right, rel_tol=1e-9, abs_tol=1e-6)


def no_wider(figures: Figures, wanted: Figures) -> bool:
    """Whether the bounds are known where the oracle's are, and not beyond them."""
    low = wanted.low is None or (figures.low is not None and figures.low >= wanted.low - 1e-6)
    high = wanted.high is None or (figures.high is not None and figures.high <= wanted.high + 1e-6)
    return low and high


def check(con: Connection, task: Task, query: Query) -> bool:
    """Checks the answer; returns False where the query is refused, as it has to be."""
    if query.lookup:
        query.lookup.install(con)
    truth = {(row[0] if query.group else 0): row[-1] for row in con.duckdb.execute(query.sql).fetchall()}
    rows = released_rows(con, task, query)
    ((withheld,),) = con.duckdb.execute(
        "SELECT CASE kind WHEN 'table' THEN suppressed_rows END FROM anon.release"
    ).fetchall()
    if lists_texts(task, query, rows):
        with pytest.raises(PolicyError, match="not known"):
            asked(con, query)
        return False
    found = asked(con, query)
    expected = estimates(
        rows,
        query.function,
        query.holds,
        query.key,
        query.number if query.argument else None,
        withheld,
        grouped=query.group is not None,
    )
    assert set(found) == set(expected), query.sql
    unknown = any(weight is None for row in rows for leaf in row.values() for _, weight in leaf)
    for key, figures in found.items():
        wanted = expected[key]
        # Values that are dealt out without repetition have another spread, and no wider bounds, than independent ones.
        dealt = task.release in DEALT
        for ours, own in ((figures.value, wanted.value), (figures.spread, wanted.spread)):
            if ours is figures.spread and (query.function in ("min", "max") or (dealt and query.function != "count")):
                continue
            # What nobody knows may be left unknown though it did not matter; never the other way round.
            assert close(ours, own) or (ours is None and unknown), (query.sql, key, figures, wanted)
        if dealt and query.function == "count":
            assert (wanted.low or 0) <= (figures.low or 0) <= (figures.high or 0) <= (wanted.high or 0), query.sql
        elif dealt:
            assert no_wider(figures, wanted), (query.sql, key, figures, wanted)
        else:
            assert close(figures.low, wanted.low), (query.sql, key, figures, wanted)
            assert close(figures.high, wanted.high), (query.sql, key, figures, wanted)
        if key in truth and truth[key] is not None:
            within(truth[key], figures, query.sql)
    if withheld == 0:
        missing = {key for key, value in truth.items() if key not in found}
        assert not missing, query.sql
    return True


def within(truth: float, figures: Figures, sql: str) -> None:
    assert figures.low is None or figures.low <= truth + 1e-9 * max(1, abs(truth)), (sql, truth, figures)
    assert figures.high is None or truth - 1e-9 * max(1, abs(truth)) <= figures.high, (sql, truth, figures)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("release", RELEASES)
def test_estimates_and_bounds(release: str) -> None:
    @settings(max_examples=draws(2, long=3), deadline=None, suppress_health_check=[*HealthCheck])
    @given(tables(release), st.lists(queries(), min_size=3, max_size=3))
    def holds(task: Task, some: list[Query]) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            for query in some:
                check(con, task, query)

    holds()


def check_having(con: Connection, query: Query, having: Having) -> None:
    """HAVING keeps the groups whose estimates satisfy it, with all their figures."""
    expected = {}
    for row in figures_of(con.sql(f"ESTIMATE {query.counted} FROM RELEASE r")):
        group, figures = (row[0], row[1:]) if query.group else (0, row)
        if having.holds({"g": group, "n": figures[0], "c": figures[4]}) is True:
            expected[group] = Figures(*figures[:4])
    assert asked(con, query, f" HAVING {having.sql}") == expected, (query.sql, having.sql)


@pytest.mark.long
@settings(max_examples=draws(2, long=12), deadline=None, suppress_health_check=[*HealthCheck])
@given(st.sampled_from([*RELEASES]), st.lists(queries(joined=True), min_size=2, max_size=2), st.data())
def test_lookups_and_having(release: str, some: list[Query], data: st.DataObject) -> None:
    task = data.draw(tables(release, sizes=(12, 12, 8, 3)))
    try:
        con = task.install()
    except PrivacyViolation:
        return
    with con:
        for query in some:
            having = data.draw(havings(query))
            if check(con, task, query):
                check_having(con, query, having)
