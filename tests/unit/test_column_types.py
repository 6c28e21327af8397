"""Columns of every type of DuckDB's go through all statements, or are refused by name with a reason of ours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, connect
from sqlanon.errors import UserError

# A type, and a value of it for a number i from 0 to 4.
TYPES = {
    "BOOLEAN": "CASE WHEN i < 4 THEN i % 2 = 0 END",
    "TINYINT": "i - 2",
    "SMALLINT": "i - 2",
    "INTEGER": "i - 2",
    "BIGINT": "9007199254740990 + i",
    "HUGEINT": "81129638414606735738984533590017::HUGEINT + i",
    "UTINYINT": "255 - i",
    "USMALLINT": "i",
    "UINTEGER": "i",
    "UBIGINT": "18446744073709551615 - i",
    "UHUGEINT": "340282366920938463463374607431768211455::UHUGEINT - i::UHUGEINT",
    "BIGNUM": "i",
    "FLOAT": "i / 3",
    "DOUBLE": "i / 3",
    "DECIMAL(18,3)": "i / 4",
    "DECIMAL(38,10)": "i / 4",
    "VARCHAR": "'it''s ' || i",
    "BLOB": r"('\x00\xFF' || i)",
    "BIT": "i::INTEGER::BIT",
    "DATE": "[DATE '2020-02-29', 'infinity', '-infinity', '0044-03-15 (BC)', '2020-03-01'][i + 1]",
    "TIME": "TIME '12:00:00' + to_minutes(i)",
    "TIME_NS": "('12:00:00.00000000' || i)",
    "TIME WITH TIME ZONE": "('12:0' || i || ':00+02')",
    "TIMESTAMP": "[TIMESTAMP '2020-02-29 12:00:00', 'infinity', '-infinity', '1969-12-31 23:59:59', NULL][i + 1]",
    "TIMESTAMP_S": "TIMESTAMP '2020-01-01 12:00:00' + to_hours(i)",
    "TIMESTAMP_MS": "TIMESTAMP '2020-01-01 12:00:00' + to_hours(i)",
    "TIMESTAMP_NS": "TIMESTAMP '2020-01-01 12:00:00' + to_hours(i)",
    "TIMESTAMP WITH TIME ZONE": "('2020-01-01 12:0' || i || ':00+02')",
    "INTERVAL": "to_days(i::INTEGER)",
    "UUID": "('00000000-0000-0000-0000-00000000000' || i)",
    "ENUM('e0', 'e1', 'e2', 'e3', 'e4')": "'e' || i",
    "JSON": """'{"a": ' || i || '}'""",
    "INTEGER[]": "[i, NULL]",
    "INTEGER[2]": "[i, i]",
    "STRUCT(a INTEGER, b VARCHAR)": "{'a': i, 'b': 'x'}",
    "MAP(VARCHAR, INTEGER)": "MAP {'a': i}",
    "UNION(num INTEGER, str VARCHAR)": "union_value(num := i::INTEGER)",
    "VARIANT": "i",
}
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
