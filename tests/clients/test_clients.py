"""What the page on notebooks shows of jupysql, Ibis and polars, run cell by cell in IPython (make test-clients)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ibis
import pandas
import polars
import pyarrow
import pytest
from IPython.core.interactiveshell import InteractiveShell

from sqlanon import Connection, connect
from tests.support.notebooks import SATISFIED, variables


def test_polars(shell: InteractiveShell) -> None:
    names = variables(shell, "polars")
    for name in ("released", "anonymized"):
        assert isinstance(names[name], polars.DataFrame)
        assert names[name].group_by(["age", "sex"]).len()["len"].min() == 6
    assert names["checked"].rows() == [SATISFIED]


@pytest.mark.parametrize("kind", [polars.DataFrame, polars.LazyFrame])
def test_frames_of_polars_by_name(shell: InteractiveShell, kind: Any) -> None:
    con = variables(shell, "polars")["connection"]
    frame = kind({"age": [1, 1, 2, 2]})
    assert con.sql("SELECT count(*) FROM frame").fetchall() == [(4,)]
    assert con.sql("CHECK frame (age) REQUIRE k_anonymity(k => 2)").fetchall()[0][-1] is True
    con.sql("CREATE POLICY p ON frame (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert con.sql("SELECT count(*) FROM r").fetchall() == [(4,)]
    frame = kind({"age": [3]})
    with pytest.raises(Exception, match="another one"):
        con.sql("CREATE ANONYMIZED TABLE s AS POLICY p METHOD generalization")


def test_jupysql(shell: InteractiveShell) -> None:
    names = variables(shell, "jupysql")
    [row] = names["checked"]
    assert tuple(row) == SATISFIED
    assert sorted(tuple(row) for row in names["released"]) == [("[31, 32]", 6), ("[33, 34]", 6)]


def test_ibis(shell: InteractiveShell) -> None:
    names = variables(shell, "Ibis")
    assert isinstance(names["counted"], pandas.DataFrame)
    assert sorted(names["counted"]["patients"]) == [6, 6]
    assert names["checked"] == [SATISFIED]


@pytest.fixture
def large() -> Iterator[Connection]:
    """A connection with a release of some hundred thousand rows."""
    with connect() as con:
        con.sql("""
            CREATE TABLE t AS SELECT i % 50 AS age, i * 1.5 AS cost FROM range(300_000) AS s(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, cost INSENSITIVE) REQUIRE k_anonymity(k => 5);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian;
        """)
        yield con


def test_ibis_takes_over_the_arrays_of_duckdb(large: Connection) -> None:
    released = ibis.duckdb.from_connection(large).table("r")
    before = pyarrow.total_allocated_bytes()
    for table in (released.to_pyarrow(), pyarrow.table(released)):
        assert table.num_rows == 300_000
        assert pyarrow.total_allocated_bytes() - before < 300_000
    assert isinstance(released.to_polars(), polars.DataFrame)


def test_polars_shares_numbers_with_arrow_and_reads_streams(large: Connection) -> None:
    table = large.sql("FROM r").to_arrow_table()
    shared = polars.from_arrow(table, rechunk=False)
    assert isinstance(shared, polars.DataFrame)
    addresses = [chunk.to_arrow().buffers()[1].address for chunk in shared["cost"].get_chunks()]
    assert addresses == [chunk.buffers()[1].address for chunk in table["cost"].chunks]
    for frame in (large.sql("CHECK r").pl(), polars.DataFrame(large.sql("CHECK r"))):
        assert frame.rows() == large.sql("CHECK r").fetchall()
