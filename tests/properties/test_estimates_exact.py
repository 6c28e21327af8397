"""The truth lies within the bounds to the last digit, for every kind of release and every type that is added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.errors import PolicyError, PrivacyViolation
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of

pytestmark = pytest.mark.drawn

RELEASES = {
    "global": "TABLE r AS POLICY p METHOD generalization(suppression => 0)",
    "suppressed": "TABLE r AS POLICY p METHOD generalization(suppression => 0.4)",
    "local": "TABLE r AS POLICY p METHOD generalization(suppression => 0.5, recoding => 'local')",
    "view": "VIEW r AS POLICY p METHOD generalization(suppression => 0.4)",
    "range": "TABLE r AS POLICY p METHOD mondrian",
    "bounds": "TABLE r AS POLICY p METHOD mondrian(bounds => true, publish => 'centroid')",
    "buckets": "TABLE r AS POLICY p METHOD mondrian(publish => 'none')",
    "anatomy": "TABLE r AS POLICY p METHOD anatomy(l => 2, variant => 'distinct')",
    "fragments": "TABLE r AS POLICY c METHOD fragments",
    "loose": "TABLE r AS POLICY c METHOD loose(k => 2)",
}
VALUES: dict[str, Sequence[Any]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, -1, 0, 100, 127],
    "INTEGER": [-(2**31), -3, 0, 7, 2**31 - 1],
    "UBIGINT": [0, 1, 2**53, 2**53 + 1, 2**64 - 1],
    "BIGINT": [-(2**63), -1, 2**53 + 1, 2**62, 2**63 - 1],
    "HUGEINT": [-(10**26), 0, 3, 2**64 + 1],
    "DECIMAL(5,2)": ["-1.10", "0.01", "0.10", "999.99"],
    "DECIMAL(38,4)": ["-123456789012345678.0001", "0.1000", "0.2000", "9999999999999999999.9999"],
    "FLOAT": [0.1, 0.2, -1.5, 3e38],
    "DOUBLE": [0.1, 0.2, 0.3, 1e16, -1e16, 1e200, 1e308, float("inf"), float("nan"), -0.0],
}


@dataclass(frozen=True)
class Task:
    """A table whose columns q and v are of these types, with rows of q, t, v and s, and how it is published."""

    kinds: tuple[str, str]
    rows: tuple[tuple[Any, ...], ...]
    release: str
    k: int

    def install(self) -> Connection:
        con = new_database()
        con.execute(f"CREATE TABLE t (q {self.kinds[0]}, t VARCHAR, v {self.kinds[1]}, s INTEGER)")
        con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [list(row) for row in self.rows])
        attributes = "(q QUASI IDENTIFIER, t QUASI IDENTIFIER, v INSENSITIVE, s SENSITIVE)"
        con.execute(f"CREATE POLICY p ON t {attributes} REQUIRE k_anonymity(k => {self.k})")
        con.execute(f"CREATE POLICY c ON t {attributes} CONFIDENTIAL (q, s)")
        con.execute(f"CREATE ANONYMIZED {RELEASES[self.release]}")
        return con


@st.composite
def tasks(draw: st.DrawFn, release: str) -> Task:
    kinds = (draw(st.sampled_from([*VALUES])), draw(st.sampled_from([*VALUES])))
    row = st.tuples(
        st.sampled_from([*VALUES[kinds[0]], None]),
        st.sampled_from(["a", "b", None]),
        st.sampled_from([*VALUES[kinds[1]], None]),
        st.sampled_from([1, 2, 3, None]),
    )
    rows = tuple(draw(row) for _ in range(draw(st.sampled_from([12, 9, 6]))))
    return Task(kinds, rows, release, draw(st.sampled_from([2, 2, 3])))


def conditions(task: Task) -> st.SearchStrategy[str]:
    own = [repr(one) if isinstance(one, int) else f"'{one}'" for one in VALUES[task.kinds[0]]]
    return st.one_of(
        st.builds("q {} {}".format, st.sampled_from(["=", "<>", "<", ">="]), st.sampled_from(own)),
        st.sampled_from(["t = 'a'", "t IS NULL", "s > 1", "s IN (1, 2)", "q IS NOT NULL", "v IS NOT NULL", "1 = 1"]),
        st.sampled_from(["t = 'a' AND s > 1", "t = 'b' OR s = 1", "NOT (s > 2)", "q IS NULL OR t = 'a'"]),
    )


def queries(task: Task) -> st.SearchStrategy[str]:
    called = [
        f"{function}({column})"
        for place, column in enumerate("qv")
        for function in ("sum", "avg", "min", "max", "count")
        if not (function == "avg" and task.kinds[place] == "BOOLEAN")
    ]

    def query(one: str, condition: str, group: str, having: str) -> str:
        head = f"{group}, " if group else ""
        tail = f" GROUP BY {group}{having}" if group else ""
        return f"SELECT {head}{one} AS n FROM t WHERE {condition}{tail}"

    return st.builds(
        query,
        st.sampled_from([*called, "count(*)"]),
        conditions(task),
        st.sampled_from(["", "", "t", "s"]),
        st.sampled_from(["", " HAVING count(*) > 1", " HAVING count(*) <> 2"]),
    )


def truths(con: Connection, query: str) -> list[list[tuple[Any, ...]]]:
    """The answer of the source, whose rows are added up in some orders: of DOUBLE each has its own sum."""
    orders = ("q, t, v, s", "v", "v DESC", "hash(v)")
    return [
        con.duckdb.execute(query.replace("FROM t", f"FROM (FROM t ORDER BY {one}) AS t")).fetchall() for one in orders
    ]


def is_no_number(part: Any) -> bool:
    return isinstance(part, float) and isnan(part)


def answered(con: Connection, query: str) -> list[tuple[Any, ...]] | str:
    """The answer of a query, or why it is refused."""
    try:
        return figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
    except PolicyError as error:
        return str(error)


def check(con: Connection, task: Task, query: str) -> bool:
    """Checks an answer; False if it is refused."""
    rows = answered(con, query)
    if isinstance(rows, str):
        # Which numbers lie in a range of DOUBLE nobody can list.
        assert "not known" in rows, (task, query, rows)
        return False
    assert not any(is_no_number(part) for row in rows for part in row), (task, query, rows)
    found = {row[:-4]: row[-2:] for row in rows}
    for answer in truths(con, query):
        for *group, truth in answer:
            low, high = found.get(tuple(group), (None, None))
            assert low is None or truth is None or is_no_number(truth) or low <= truth, (task, query, group, truth, low)
            assert high is None or truth is None or truth <= high, (task, query, group, truth, high)
    return True


@pytest.mark.one_in(12)
@pytest.mark.parametrize("release", RELEASES)
def test_the_truth_is_within_the_bounds_and_every_query_is_measured(release: str) -> None:
    @settings(max_examples=draws(2, long=3), deadline=None, suppress_health_check=[*HealthCheck])
    @given(tasks(release), st.data())
    def holds(task: Task, data: st.DataObject) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            some = data.draw(st.lists(queries(task), min_size=4, max_size=4, unique=True))
            refused = [query for query in some if not check(con, task, query)]
            con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(some)])
            figures = {name: value for _, _, name, value in con.sql("MEASURE r WITH WORKLOAD w").fetchall()}
            kept = con.duckdb.execute("FROM anon.query_error WHERE within IS FALSE").fetchall()
            assert figures["bounds_hit_rate"] in (1, None), (task, some, kept)
            assert figures["queries"] == 4
            assert (figures["not_estimated"] or 0) >= len(refused)

    holds()
