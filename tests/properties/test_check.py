"""CHECK of any table, query or view, and the macro for bare clients, against counting in Python."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection, connect
from tests.oracles.k_anonymity import achieved
from tests.properties.policies_support import BUDGET, insert

Row = tuple[Any, ...]

_ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1]), st.sampled_from([None, "", "a", "A", "*"]), st.sampled_from([None, 0.0, 1.5])
    ),
    max_size=12,
)
_COLUMNS = st.permutations(["a", "b", "c"]).flatmap(lambda names: st.integers(1, 3).map(lambda n: names[:n]))


def _table(rows: list[Row]) -> Connection:
    con = connect(config={"threads": "1"})
    con.execute("CREATE TABLE source (a INTEGER, b VARCHAR, c DOUBLE)")
    for row in rows:
        insert(con, row)
    con.execute("CREATE VIEW seen AS FROM source")
    con.execute("CREATE POLICY p ON source (a QUASI IDENTIFIER, b SENSITIVE) REQUIRE k_anonymity(k => 1)")
    return con


@given(rows=_ROWS, columns=_COLUMNS, k=st.integers(1, 5))
@settings(BUDGET, max_examples=25)
def test_check_counts_as_python_does(rows: list[Row], columns: list[str], k: int) -> None:
    con = _table(rows)
    reached = achieved([tuple(row["abc".index(name)] for name in columns) for row in rows])
    for source in ("source", "main.source", "memory.main.source", "seen", "(SELECT * FROM source)", "(FROM seen)"):
        found = con.execute(f"CHECK {source} ({', '.join(columns)}) REQUIRE k_anonymity(k => {k})").fetchall()
        assert [row[1:] for row in found] == [
            ("k_anonymity", None, float(k), reached, reached is None or reached >= k),
        ]
    quoted = ", ".join(f"'{name}'" for name in columns)
    for source in ("source", "main.source", "seen", "(SELECT * FROM source)"):
        answer = con.duckdb.execute(f"FROM anon.k_anonymity('{source}', [{quoted}])").fetchall()
        keys = {tuple(row["abc".index(name)] for name in columns) for row in rows}
        assert answer == [(reached, len(keys), len(rows) if rows else None)]
    con.close()


def test_check_of_a_release_sees_what_was_changed_by_hand() -> None:
    con = connect()
    con.execute("CREATE TABLE source AS SELECT i // 3 AS a, i AS s FROM range(9) r(i)")
    con.execute("CREATE POLICY p ON source (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 3)")
    con.execute("CREATE ANONYMIZED TABLE t AS POLICY p")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 3.0, True)]
    con.execute("DELETE FROM t WHERE s = 0")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 2.0, False)]
    # The policy of the release counts, not what became of its name.
    con.execute("CREATE OR REPLACE POLICY p ON source (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 2.0, False)]
    con.execute("DROP POLICY p")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 2.0, False)]


def test_check_of_a_column_named_twice_is_a_check_of_it() -> None:
    con = connect()
    con.execute("CREATE TABLE source AS SELECT 1 AS a FROM range(2)")
    found = con.execute("CHECK source (a, A) REQUIRE k_anonymity(k => 2)").fetchall()
    assert found == [("source", "k_anonymity", None, 2.0, 2.0, True)]


def test_check_writes_nothing() -> None:
    con = connect()
    con.execute("CREATE TABLE source AS SELECT 1 AS a FROM range(2)")
    con.execute("CHECK source (a) REQUIRE k_anonymity(k => 2)")
    assert con.execute("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'anon'").fetchall() == [(0,)]
    assert con.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("source",)]
