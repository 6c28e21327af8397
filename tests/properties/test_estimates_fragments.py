"""ESTIMATE from fragments and loose associations against every table that they may have been made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import isclose, sqrt
from statistics import fmean
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.assess.workloads import measure
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.estimates.fixed_sql import sizes
from tests.oracles import associations
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of
from tests.support.estimates.fragments import METHODS, Apart, shown, sources
from tests.support.estimates.queries import Condition, Query, conjuncts, queries

pytestmark = pytest.mark.drawn

MOST = 5_000
World = Sequence[dict[str, Any]]
OF: dict[str, Callable[[list[float]], float | None]] = {
    "count": len,
    "sum": lambda found: sum(found) if found else None,
    "avg": lambda found: fmean(found) if found else None,
    "min": lambda found: min(found, default=None),
    "max": lambda found: max(found, default=None),
}


def asked(con: Connection, query: Query, release: str = "r") -> dict[Hashable, Any]:
    rows = figures_of(con.sql(f"ESTIMATE {query.sql} FROM RELEASE {release}"))
    return {(row[0] if query.group else 0): row[-4:] for row in rows}


def possible(con: Connection, task: Apart) -> tuple[list[World], int]:
    """Every table that the release may have been made of, none where they are too many; and the rows left out."""
    fragments, association = shown(con, task)
    withheld = len(task.rows) - len(association)
    if associations.count(fragments) > MOST:
        return [], withheld
    worlds = list(associations.sources(fragments, association))
    assert worlds, "the release may have been made of no table at all"
    return worlds, withheld


def satisfies(query: Query, row: dict[str, Any]) -> bool:
    holds = query.where is None or query.where.holds(row) is True
    return holds and (query.argument is None or row[query.argument] is not None)


def answers(query: Query, world: World) -> dict[Hashable, list[float]]:
    """What is counted or added up of one table, by groups."""
    found: dict[Hashable, list[float]] = {} if query.group else {0: []}
    for row in world:
        if query.where is None or query.where.holds(row) is True:
            own = found.setdefault(row[query.group] if query.group else 0, [])
            if satisfies(query, row):
                own.append(1 if query.function == "count" else row[query.argument or ""])
    return found


def within(low: float | None, value: float, high: float | None) -> bool:
    slack = 1e-9 * max(1, abs(value))
    return (low is None or low <= value + slack) and (high is None or value - slack <= high)


def check(con: Connection, query: Query, worlds: list[World], withheld: int) -> None:
    found = asked(con, query)
    every = [answers(query, world) for world in worlds]
    assert set(found) == {key for one in every for key in one}, query.sql
    for key, (value, spread, low, high) in found.items():
        held = [one.get(key, []) for one in every]
        for own in held:
            known = OF[query.function](own)
            # The bounds of what is not counted hold where it is not NULL.
            assert known is None or within(low, known, high), (query.sql, key, known, low, high)
        if query.function == "count":
            assert isclose(value, fmean(map(len, held)), abs_tol=1e-9), (query.sql, key)
            assert 0 <= low <= high <= len(worlds[0]) + withheld
            assert spread >= 0
        if query.function == "sum" and value is not None:
            assert isclose(value, fmean(map(sum, held)), abs_tol=1e-9), (query.sql, key)
        assert query.function != "sum" or value is not None or not any(held), query.sql


@pytest.mark.one_in(8)
@pytest.mark.parametrize("release", METHODS)
def test_estimates_are_the_means_of_all_assignments_and_none_is_out_of_bounds(release: str) -> None:
    @settings(max_examples=draws(2, long=3), deadline=None, suppress_health_check=[*HealthCheck])
    @given(sources(release), st.lists(queries(), min_size=3, max_size=3))
    def holds(task: Apart, some: list[Query]) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            worlds, withheld = possible(con, task)
            if not worlds:
                return
            truths = [con.duckdb.execute(query.sql).fetchall() for query in some]
            con.duckdb.execute("DROP TABLE t")
            for query, truth in zip(some, truths, strict=True):
                check(con, query, worlds, withheld)
                found = asked(con, query)
                for row in truth:
                    figures = found.get(row[0] if query.group else 0)
                    # Only withheld rows may have a group that is not in the answer.
                    assert figures or withheld > 0, query.sql
                    assert figures is None or row[-1] is None or within(figures[2], row[-1], figures[3]), query.sql

    holds()


def joined(parts: Sequence[Condition]) -> Query:
    def holds(row: Any) -> bool:
        return all(part.holds(row) is True for part in parts)

    sql = " AND ".join(f"({part.sql})" for part in parts)
    return Query("count", None, Condition(sql, holds, frozenset().union(*(part.columns for part in parts))), None)


def all_of(found: Sequence[bool | None]) -> bool | None:
    return False if False in found else None if None in found else True


def denied(found: bool | None) -> bool | None:
    return None if found is None else not found


def either(one: bool | None, other: bool | None) -> bool | None:
    return denied(all_of([denied(one), denied(other)]))


# Conditions on two fragments, of which no value of one fragment alone says whether they hold.
ACROSS: dict[str, Callable[[bool | None, bool | None], bool | None]] = {
    "({0} AND {1}) OR (NOT {0} AND NOT {1})": lambda a, b: either(all_of([a, b]), all_of([denied(a), denied(b)])),
    "{0} OR {1}": either,
    "NOT ({0} AND {1})": lambda a, b: denied(all_of([a, b])),
    "({0} OR {1}) AND NOT ({0} AND {1})": lambda a, b: all_of([either(a, b), denied(all_of([a, b]))]),
}


def across(release: str) -> st.SearchStrategy[Query]:
    def combined(shape: str, one: Condition, other: Condition) -> Query:
        def holds(row: Any) -> bool | None:
            return ACROSS[shape](one.holds(row), other.holds(row))

        sql = shape.format(f"({one.sql})", f"({other.sql})")
        return Query("count", None, Condition(sql, holds, one.columns | other.columns), None)

    first, second, *_ = METHODS[release][1]
    return st.builds(combined, st.sampled_from([*ACROSS]), conjuncts(first), conjuncts(second))


@pytest.mark.long
@pytest.mark.parametrize("release", METHODS)
def test_counts_of_what_several_fragments_have(release: str) -> None:
    """The bounds of a conjunction are reached where nothing links fragments, and groups only narrow them."""
    several = st.lists(conjuncts(), min_size=1, max_size=4).map(joined)

    @settings(max_examples=draws(2, long=4), deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        sources(release), st.lists(several, min_size=2, max_size=2), st.lists(across(release), min_size=3, max_size=3)
    )
    def holds(task: Apart, conjunctions: list[Query], others: list[Query]) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            worlds, withheld = possible(con, task)
            if not worlds:
                return
            for query in (*conjunctions, *others):
                ((value, spread, low, high),) = asked(con, query).values()
                counts = [sum(satisfies(query, row) for row in world) for world in worlds]
                shares = [
                    sum(satisfies(query, world[place]) for world in worlds) / len(worlds)
                    for place in range(len(worlds[0]))
                ]
                assert isclose(value, fmean(counts), abs_tol=1e-9), query.sql
                assert low <= min(counts), query.sql
                assert max(counts) <= high - withheld <= sum(share > 0 for share in shares), query.sql
                assert low >= sum(share == 1 for share in shares), query.sql
                if not release.startswith("fragments"):
                    wanted = sqrt(sum(share * (1 - share) for share in shares))
                    assert isclose(spread, wanted, abs_tol=1e-7) or (spread == 0 and low + withheld == high), query.sql
                elif query in conjunctions:
                    assert (low, high) == (min(counts), max(counts)), query.sql

    holds()


def by_itself(*_: object) -> Any:
    raise InternalError("a query was asked by itself")


@pytest.mark.long
@pytest.mark.parametrize("release", METHODS)
def test_what_is_measured_at_once_is_what_is_estimated_by_itself(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=draws(2, long=3), deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        sources(release),
        st.lists(st.lists(conjuncts(), min_size=1, max_size=4), min_size=3, max_size=3),
        st.sampled_from([1, sizes().max_rows]),
    )
    def holds(task: Apart, some: list[list[Condition]], most: int) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            asked_together = [joined(parts).sql for parts in some]
            con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(asked_together)])
            with monkeypatch.context() as patch:
                patch.setattr(measure, "answer_alone", by_itself)
                with sizes.replaced(max_rows=most):
                    con.execute("MEASURE r WITH WORKLOAD w")
            found = con.duckdb.execute(
                "SELECT query_id, estimated, spread, low, high, within FROM anon.query_error WHERE workload = 'w'"
            ).fetchall()
            assert len(found) == len(asked_together)
            for number, *figures, within_bounds in found:
                ((*own,),) = figures_of(con.sql(f"ESTIMATE {asked_together[number]} FROM RELEASE r"))
                assert own == pytest.approx(figures, abs=1e-9), asked_together[number]
                assert within_bounds

    holds()
