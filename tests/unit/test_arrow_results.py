"""Answers and releases in Arrow, pandas and NumPy: the rows that DuckDB has, and copies only where the docs say so."""

from __future__ import annotations

import gc
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pandas
import pyarrow
import pytest

import sqlanon

ROWS = 50_000
ANSWERS = (
    "CHECK r",
    "CHECK t (age) SENSITIVE disease REQUIRE k_anonymity(k => 5), l_diversity(l => 2)",
    "ESTIMATE SELECT disease, count(*) FROM t WHERE age < 3 GROUP BY disease FROM RELEASE r",
    "EXPLAIN ANONYMIZED TABLE q AS POLICY p METHOD mondrian",
    "ATTACK r WITH homogeneity(confidence => 0.5)",
    "DESCRIBE POLICY p",
    "SHOW RELEASES",
    "SHOW STREAMS",
    "DROP POLICY IF EXISTS nobodys",
)


@pytest.fixture(scope="module")
def con() -> Iterator[sqlanon.Connection]:
    with sqlanon.connect() as connection:
        connection.sql(f"""
            CREATE TABLE t AS SELECT i % 50 AS age, 'd' || i % 7 AS disease, i * 1.5 AS cost FROM range({ROWS}) AS s(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, disease SENSITIVE, cost INSENSITIVE)
            REQUIRE k_anonymity(k => 5);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian;
        """)
        yield connection


@pytest.mark.parametrize("statement", ANSWERS)
def test_an_answer_is_an_arrow_stream(con: sqlanon.Connection, statement: str) -> None:
    answer = con.sql(statement)
    rows = answer.fetchall()
    for table in (pyarrow.table(answer), answer.to_arrow_table(), answer.to_arrow_reader().read_all()):
        assert [tuple(row.values()) for row in table.to_pylist()] == rows
        assert table.column_names == answer.columns
    assert len(answer.df()) == len(rows)


def allocated(read: Callable[[], Any]) -> tuple[Any, int, int]:
    """What is read, and how many bytes pyarrow and Python, with NumPy, have taken for it."""
    gc.collect()
    before = pyarrow.total_allocated_bytes()
    tracemalloc.start()
    result = read()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return result, pyarrow.total_allocated_bytes() - before, taken


@pytest.mark.long
@pytest.mark.parametrize("read", [lambda rows: rows.to_arrow_table(), pyarrow.table])
def test_the_arrays_that_duckdb_made_are_taken_over(con: sqlanon.Connection, read: Callable[[Any], Any]) -> None:
    rows = con.sql("FROM r")
    table, in_arrow, in_python = allocated(lambda: read(rows))
    assert table.num_rows == ROWS
    assert table.nbytes > 8 * ROWS
    # Less than a byte a row, where one column has eight.
    assert max(in_arrow, in_python) < ROWS


def test_pandas_shares_the_arrays_where_it_keeps_arrow_types(con: sqlanon.Connection) -> None:
    table = con.sql("FROM r").to_arrow_table()
    frame, in_arrow, in_python = allocated(lambda: table.to_pandas(types_mapper=pandas.ArrowDtype))
    assert max(in_arrow, in_python) < ROWS
    shared = pyarrow.chunked_array(frame["cost"].array.__arrow_array__()).chunks
    assert [a.buffers()[1].address for a in shared] == [a.buffers()[1].address for a in table["cost"].chunks]


def test_df_copies(con: sqlanon.Connection) -> None:
    _, in_arrow, in_python = allocated(con.sql("SELECT cost FROM r").df)
    assert in_arrow + in_python >= 8 * ROWS


@pytest.mark.long
def test_the_arrow_table_of_anonymize_is_duckdbs() -> None:
    source = pyarrow.table({"age": pyarrow.array(range(ROWS)), "cost": pyarrow.array(range(ROWS))})
    released, in_arrow, _ = allocated(
        lambda: sqlanon.anonymize(source, quasi_identifiers=["age"], insensitive=["cost"], k=10_000)
    )
    assert released.num_rows == ROWS
    assert in_arrow < ROWS


def test_a_reader_reads_as_far_as_it_is_asked(con: sqlanon.Connection) -> None:
    """A million million rows, of which a thousand are made; until it is closed, others need a cursor."""
    reader = con.sql("SELECT r.* FROM r, range(10_000_000)").to_arrow_reader(1000)
    assert reader.read_next_batch().num_rows == 1000
    with pytest.raises(sqlanon.UserError, match="open result"):
        con.sql("CHECK r")
    with con.cursor() as other:
        assert other.sql("CHECK r").fetchall()[0][-1] is True
    reader.close()
    assert con.sql("CHECK r").fetchall()[0][-1] is True


def test_what_execute_left_is_copied_once_more(con: sqlanon.Connection) -> None:
    """DuckDB says so itself."""
    for statement in ("CHECK r", "FROM r"):
        con.execute(statement)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            assert con.to_arrow_table().num_rows
        assert ["extra copy" in str(warning.message) for warning in warned] == [True]


def test_an_arrow_stream_is_no_frame(con: sqlanon.Connection) -> None:
    with pytest.raises(sqlanon.UserError, match=r"pyarrow\.table"):
        sqlanon.anonymize(con.sql("FROM t"), quasi_identifiers=["age"])
