"""Queries that MEASURE asks at once come to what ESTIMATE says of each of them."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon.assess.workloads import ask_source, measure
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.estimates.batch import distinct_rows
from sqlanon.estimates.fixed_sql import sizes
from sqlanon.sql.build.names import literal
from tests.support.estimates.figures import figures_of
from tests.support.estimates.queries import DEALT, RELEASES, SLICED, Condition, Task, conjuncts, quoted, tables

DRAWN = "CREATE WORKLOAD w ON POLICY p (queries => 2, dimensions => {}, seed => {}, selectivity => 0.3)"
KEPT = st.sampled_from(["memory", "file", "alike"])


def alike(left: float | None, right: float | None) -> bool:
    return left is right if left is None or right is None else isclose(left, right, rel_tol=1e-9, abs_tol=1e-7)


def one_by_one(*_: object) -> Any:
    raise InternalError("a query was asked by itself")


def keep(patch: pytest.MonkeyPatch, how: str) -> None:
    """Reads tables as those in memory are read, as those of a file, or so that all texts have one digest."""
    for asking in (measure, ask_source):
        patch.setattr(asking, "in_file", lambda *_: how != "memory")
    if how == "alike":
        patch.setattr(distinct_rows, "digest", lambda _: literal(0))


def texts(task: Task, some: list[list[Condition]], *, counted: bool = True) -> list[str]:
    """Returns queries with the conjunctions that are asked at once.

    Sums are asked alone where a condition reads two columns whose values are dealt out. In buckets whose rows stay
    together, they are asked alone where a condition reads one.
    """
    found, most = [], 0 if task.release == "buckets" else 1
    for parts in some:
        asked = frozenset().union(*(part.columns for part in parts))
        dealt = asked & set(DEALT.get(task.release, {}))
        if counted or len(dealt) <= most:
            found.append("SELECT count(*) AS n FROM t WHERE " + " AND ".join(f"({part.sql})" for part in parts))
    return found


@pytest.mark.one_in(12)
@pytest.mark.parametrize("release", [*SLICED, *RELEASES])
def test_what_is_asked_at_once_is_what_is_asked_by_itself(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=2, deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        tables(release),
        st.lists(st.lists(conjuncts(), min_size=1, max_size=4), min_size=2, max_size=3),
        st.integers(1, 3),
        st.integers(1, 99),
        st.sampled_from([1, sizes().max_rows]),
        KEPT,
    )
    def holds(task: Task, some: list[list[Condition]], dimensions: int, seed: int, most: int, kept: str) -> None:
        queries = texts(task, some)
        if len(queries) < 2:
            return
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(queries)])
            if all(any(row[name] is not None for row in task.rows) for name in ("number", "kind", "code", "value")):
                con.execute(DRAWN.replace(" w ", " drawn ").format(dimensions, seed))
                con.execute(
                    "INSERT INTO anon.workload SELECT 'w', 100 + query_id, sql FROM anon.workload "
                    "WHERE workload = 'drawn'"
                )
            with monkeypatch.context() as patch:
                patch.setattr(measure, "answer_alone", one_by_one)
                keep(patch, kept)
                small = {"max_rows": most, "max_pairs": most, "max_leaves_in_one_scan": most}
                on_buckets = 64 if most == 1 else sizes().max_queries_on_buckets
                with sizes.replaced(**small, max_queries_on_buckets=on_buckets):
                    con.execute("MEASURE r WITH WORKLOAD w")
            found = con.duckdb.execute(
                "SELECT sql, actual, estimated, spread, low, high, within FROM anon.query_error JOIN anon.workload "
                "USING (workload, query_id) WHERE workload = 'w'"
            ).fetchall()
            assert len(found) >= len(queries)
            for sql, actual, *figures, within in found:
                ((*own,),) = figures_of(con.sql(f"ESTIMATE {sql} FROM RELEASE r"))
                assert all(map(alike, figures, own)), (sql, figures, own)
                assert within, sql
                assert con.duckdb.execute(sql).fetchall() == [(actual,)]

    holds()


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
def test_sums_and_averages_at_once_are_what_they_are_by_themselves(
    release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so are minima, maxima and counts of values, but of values that are dealt out."""
    numbers = [quoted(name) for name in ("number", "value") if name not in DEALT.get(release, {})]
    heads = [f"{function}({one}) AS n" for one in numbers for function in ("sum", "avg", "min", "max", "count")]
    heads += [f"count(*) AS m, sum({numbers[0]}) AS n", f"count({quoted('kind')}) AS m, avg({numbers[0]}) AS n"]

    @settings(max_examples=2, deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        tables(release),
        st.lists(st.lists(conjuncts(), min_size=1, max_size=3), min_size=2, max_size=4),
        st.lists(st.sampled_from(heads), min_size=4, max_size=4),
        KEPT,
    )
    def holds(task: Task, some: list[list[Condition]], asked: list[str], kept: str) -> None:
        conditions = [text.partition(" WHERE ")[2] for text in texts(task, some, counted=False)]
        if len(conditions) < 2:
            return
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            queries = [
                f"SELECT {head} FROM t WHERE {condition}" for head, condition in zip(asked, conditions, strict=False)
            ]
            con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(queries)])
            with monkeypatch.context() as patch:
                patch.setattr(measure, "answer_alone", one_by_one)
                keep(patch, kept)
                con.execute("MEASURE r WITH WORKLOAD w")
            for number, sql in enumerate(queries):
                found = con.duckdb.execute(
                    "SELECT result, actual, estimated, spread, low, high FROM anon.query_error WHERE query_id = ?",
                    [number],
                ).fetchall()
                ((*own,),) = figures_of(con.sql(f"ESTIMATE {sql} FROM RELEASE r"))
                ((*true,),) = con.duckdb.execute(sql).fetchall()
                results = {name: figures for name, *figures in found}
                every = [figure for name in sorted(results) for figure in results[name][1:]]
                assert len(every) == len(own)
                assert all(map(alike, every, own)), (sql, every, own)
                assert all(map(alike, [results[name][0] for name in sorted(results)], true)), (sql, results, true)

    holds()
