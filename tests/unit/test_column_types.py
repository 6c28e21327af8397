"""Columns of every type of DuckDB's go through all statements, or are refused by name with a reason of ours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, connect
from sqlanon.errors import UserError
from tests.support.column_types import TYPES

METHODS = {
    "generalization(recoding => 'local', suppression => 0.5)": "p",
    "mondrian(bounds => true)": "p",
    "anatomy(l => 2, variant => 'distinct')": "p",
    "loose(k => 2, suppression => 0.5)": "c",
}
ASKED = ("SELECT count(x) AS n FROM t WHERE x <> 'TEXT' AND other < 2", "SELECT x, max(y) AS n FROM t GROUP BY x")
ESTIMATED = ("SELECT x, count(y) AS n FROM t GROUP BY x", "SELECT sum(x) AS n FROM t", "SELECT min(y) AS n FROM t")


def answered(con: Connection, statement: str) -> list[tuple[Any, ...]] | None:
    """What a statement answers; None if it is refused, which names a column. There is no other error."""
    refused = ""
    try:
        return con.sql(statement).fetchall()
    except UserError as error:
        refused = error.message
    assert "withheld" not in refused, (statement, refused)
    assert re.search(r"\b[xy]\b", refused), (statement, refused)
    return None


def check_estimate(con: Connection, query: str) -> None:
    """A query is refused, or its bounds have the answer of the source."""
    rows = answered(con, f"ESTIMATE {query} FROM RELEASE r")
    if rows is None:
        return
    found = {repr(row[:-4]): row[-2:] for row in rows}
    for *group, truth in con.duckdb.execute(query).fetchall():
        low, high = found.get(repr(tuple(group)), (None, None))
        assert low is None or truth is None or low <= truth, (query, group)
        assert high is None or truth is None or truth <= high, (query, group)


@pytest.mark.one_in(42)
@pytest.mark.parametrize("kind", TYPES)
def test_a_column_of_every_type_goes_through_all_statements(kind: str, tmp_path: Path) -> None:
    with connect(config={"threads": "1"}) as con:
        con.execute(
            f"CREATE TABLE t AS SELECT CASE WHEN i IS NOT NULL THEN ({TYPES[kind]})::{kind} END AS x, x AS y, "
            "j % 3 AS other FROM (SELECT j % 5 AS i, j FROM range(30) n(j) UNION ALL SELECT NULL, j FROM range(3) n(j))"
        )
        attributes = "(x QUASI IDENTIFIER, other QUASI IDENTIFIER, y SENSITIVE)"
        con.execute(f"CREATE POLICY p ON t {attributes} REQUIRE k_anonymity(k => 3)")
        con.execute(f"CREATE POLICY c ON t {attributes} CONFIDENTIAL (x, other)")
        con.execute("CREATE WORKLOAD w ON POLICY p (queries => 2)")
        text = con.duckdb.execute("SELECT any_value(x::VARCHAR) FROM t").fetchall()[0][0].replace("'", "''")
        asked = [query.replace("TEXT", text) for query in ASKED]
        con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(asked, start=3)])
        for place, (method, policy) in enumerate(METHODS.items()):
            release = f"ANONYMIZED TABLE r AS POLICY {policy} METHOD {method}"
            made = answered(con, f"CREATE {release}")
            assert (answered(con, f"EXPLAIN {release.replace(' r ', ' other ')}") is None) is (made is None), method
            if made is None:
                continue
            assert answered(con, "CHECK r"), method
            assert answered(con, f"EXPORT r TO '{tmp_path}/{place}'"), method
            found = {row[2]: row[3] for row in con.sql("MEASURE r WITH WORKLOAD w").fetchall()}
            assert (found["queries"], found["bounds_hit_rate"] or 1) == (4, 1), method
            for query in ESTIMATED:
                check_estimate(con, query)
            con.execute("DROP ANONYMIZED TABLE r")
