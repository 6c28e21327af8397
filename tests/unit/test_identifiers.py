"""Names are told apart as DuckDB tells them apart: by the case of A to Z alone they are not, by that of Ä they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection, connect
from sqlanon.domain.identifiers import fold, nearest, same_name

# Letters whose case str.lower() folds and DuckDB does not, with some whose lower case is ASCII or has two letters.
LETTERS = "AaZzÄäÉéİ\u0131K\u212aΣ\u03c3ςẞß_1"


@pytest.mark.long
@settings(deadline=None)
@given(st.text(LETTERS, min_size=1, max_size=3), st.sampled_from((str.upper, str.lower, str.casefold, str.swapcase)))
def test_two_spellings_are_one_name_where_duckdb_refuses_both(one: str, spelled: Callable[[str], str]) -> None:
    other = spelled(one)
    with duckdb.connect() as con:
        try:
            con.execute(f'CREATE TABLE t ("{one}" INTEGER, "{other}" INTEGER)')
        except duckdb.CatalogException:
            refused = True
        else:
            refused = False
    assert same_name(one, other) is refused
    assert (fold(one) == fold(other)) is refused


def test_the_nearest_names_are_as_they_are_spelled() -> None:
    assert nearest("AEG", ["Age", "Ward"]) == "did you mean Age?"
    assert nearest("Ä", ["x"]) is None


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    """Two columns whose names differ in the case of an umlaut: 0 to 11, and a hundred times as much."""
    with connect(config={"threads": "1"}) as opened:
        opened.execute(
            'CREATE TABLE t AS SELECT i AS "Ä", 100 * i AS "ä", \'d\' || i AS "É", i % 3 AS "é" FROM range(12) AS r(i)'
        )
        opened.execute(
            'CREATE POLICY p ON t ("Ä" QUASI IDENTIFIER, "ä" QUASI IDENTIFIER, "É" SENSITIVE, "é" INSENSITIVE)'
            " REQUIRE k_anonymity(k => 3)"
        )
        opened.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian(bounds => true)")
        yield opened


def test_mondrian_publishes_the_bounds_of_both(con: Connection) -> None:
    rows = con.duckdb.execute('SELECT "Ä_low", "Ä_high", "ä_low", "ä_high" FROM r').fetchall()
    assert len(rows) == 12
    assert all((100 * low, 100 * high) == (other_low, other_high) for low, high, other_low, other_high in rows)


def test_mondrian_is_told_about_one_of_them(con: Connection) -> None:
    method = "mondrian(split => 'information_gain', target => 'é')"
    con.execute(f"CREATE ANONYMIZED TABLE gained AS POLICY p METHOD {method}")
    steps = con.duckdb.execute('SELECT count(DISTINCT "Ä") FROM gained').fetchone()
    assert steps is not None
    assert steps[0] > 1


@pytest.mark.long
def test_an_estimate_asks_the_column_that_is_named(con: Connection) -> None:
    for name, total in (("Ä", 66), ("ä", 6600)):
        answers = con.execute(
            f'ESTIMATE SELECT sum("{name}") AS "S", count(*) AS "s_" FROM t FROM RELEASE r'
        ).fetchall()
        assert float(total) in [cell for row in answers for cell in row if isinstance(cell, float)]


@pytest.mark.long
def test_what_aggregates_are_called_is_told_apart(con: Connection) -> None:
    answers = con.execute('ESTIMATE SELECT sum("Ä") AS "Ö", sum("ä") AS "ö" FROM t FROM RELEASE r').fetchall()
    assert {66.0, 6600.0} <= {cell for row in answers for cell in row if isinstance(cell, float)}


def test_a_workload_reads_both(con: Connection) -> None:
    queries = {1: '"Ä" < 6', 2: '"ä" < 600', 3: '"Ä" < 6 AND "ä" >= 600', 4: '"É" = \'d3\' AND "é" = 0'}
    for number, where in queries.items():
        con.duckdb.execute(
            "INSERT INTO anon.workload (workload, query_id, sql) VALUES ('w', ?, ?)",
            [number, f"SELECT count(*) FROM t WHERE {where}"],
        )
    con.execute("MEASURE r WITH WORKLOAD w")
    actual = con.duckdb.execute("SELECT actual FROM anon.query_error ORDER BY query_id").fetchall()
    assert [float(one) for (one,) in actual] == [6.0, 6.0, 0.0, 1.0]
