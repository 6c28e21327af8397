"""An estimate tells nothing but what the release shows, whatever is asked and whatever went wrong."""

from __future__ import annotations

import pytest

from sqlanon import Connection, connect
from sqlanon.errors import SqlanonError
from tests.support.estimates.figures import figures_of

RELEASES = (
    "TABLE r AS POLICY p METHOD generalization(suppression => 0.2)",
    "TABLE r AS POLICY p METHOD generalization(suppression => 0.2, recoding => 'local')",
    "VIEW r AS POLICY p METHOD generalization(suppression => 0.2)",
)
QUERIES = (
    "SELECT count(*) AS n FROM t",
    "SELECT count(*) AS n FROM t WHERE age = 77",
    "SELECT age, count(*) AS n FROM t WHERE age BETWEEN 10 AND 90 GROUP BY age",
    "SELECT disease, count(*) AS n, sum(cost) AS c FROM t GROUP BY disease",
    "SELECT min(cost) AS a, max(cost) AS b, avg(cost) AS c FROM t WHERE disease <> 'Flu'",
    "SELECT count(*) AS n FROM t WHERE 1 / CAST(disease AS INTEGER) > 0",
    "SELECT count(*) AS n FROM t WHERE CASE WHEN cost > 100 THEN CAST(disease AS INTEGER) END = 1",
    "SELECT sum(cost * 1e308 * 1e308) AS n FROM t",
)


def released(release: str, lonely: str) -> Connection:
    """Nine rows alike and one like nobody else, which is withheld."""
    con = connect(config={"threads": "1"})
    con.execute(
        "CREATE TABLE t (age INTEGER, disease VARCHAR, cost INTEGER); "
        "INSERT INTO t SELECT 30 + i, ['Flu', 'Cold'][1 + i % 2], i FROM range(9) AS t(i); "
        f"INSERT INTO t VALUES ({lonely}); CREATE HIERARCHY h AS INTERVALS (10); "
        "CREATE POLICY p ON t (age QUASI IDENTIFIER USING h MAX LEVEL 1, disease SENSITIVE, cost INSENSITIVE) "
        f"REQUIRE k_anonymity(k => 3); CREATE ANONYMIZED {release}"
    )
    return con


def said(con: Connection, query: str) -> str:
    try:
        rows = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
    except SqlanonError as error:
        return str(error)
    # Doubles are added up in the order of the rows, which is random.
    return str([[round(part, 9) if isinstance(part, float) else part for part in row] for row in rows])


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
def test_withheld_rows_change_no_answer(release: str) -> None:
    one, other = released(release, "77, 'Secret-1', 1000"), released(release, "12, 'Secret-2', -5")
    assert one.duckdb.execute("SELECT count(*) FROM r").fetchone() == (9,)
    for query in QUERIES:
        first = said(one, query)
        assert first == said(other, query), query
        assert "Secret" not in first


def test_a_query_reads_no_file_and_no_function_of_the_users() -> None:
    con = released(RELEASES[0], "77, 'Secret-1', 1000")
    con.execute("CREATE MACRO peek(x) AS (SELECT max(disease) FROM t)")
    for query in (
        "SELECT count(*) FROM t WHERE peek(cost) = 'Secret-1'",
        "SELECT count(*) FROM t JOIN read_csv('/etc/passwd') f ON t.cost = f.column0",
        "SELECT count(*) FROM t WHERE getenv('HOME') = 'x'",
        "SELECT count(*) FROM t WHERE cost = (SELECT max(cost) FROM t)",
        "SELECT count(*) FROM t; DROP TABLE t",
    ):
        assert "line 1" in said(con, query), query
        assert "Secret" not in said(con, query), query
    assert con.duckdb.execute("SELECT count(*) FROM t").fetchone() == (10,)


APART = (
    "SELECT count(*) AS n FROM t WHERE age > 33 AND disease = 'Flu'",
    "SELECT disease, count(*) AS n, sum(cost) AS c FROM t WHERE age < 36 GROUP BY disease",
    "SELECT avg(age) AS a, max(cost) AS b FROM t WHERE disease <> 'Flu' OR cost > 3",
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["fragments", "loose(groups => (2, 1), suppression => 0.5)"])
def test_what_ties_fragments_is_not_read_from_the_source(method: str) -> None:
    """Answers are those of the tables: of a source that pairs them otherwise, of none, and in any order of rows."""
    con = connect(config={"threads": "1"})
    con.execute(
        "CREATE TABLE t AS SELECT 30 + i AS age, ['Flu', 'Cold'][1 + i % 2] AS disease, i AS cost FROM range(10) r(i);"
        "CREATE POLICY p ON t (age QUASI IDENTIFIER, disease SENSITIVE, cost INSENSITIVE) CONFIDENTIAL (age, disease);"
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method} FRAGMENTS (age), (disease, cost)"
    )
    before = [said(con, query) for query in APART]
    con.execute("UPDATE t SET age = 39 - (age - 30), disease = 'Secret'")
    assert [said(con, query) for query in APART] == before
    con.execute("DROP TABLE t")
    for (name,) in con.duckdb.execute("SELECT table_name FROM duckdb_tables() WHERE table_name ^@ 'r_'").fetchall():
        con.duckdb.execute(f"CREATE TEMP TABLE turned AS FROM {name} ORDER BY ALL DESC")
        con.duckdb.execute(f"DELETE FROM {name}; INSERT INTO {name} FROM turned; DROP TABLE turned")
    assert [said(con, query) for query in APART] == before
    assert not any("Secret" in one for one in before)


def test_a_value_that_is_no_number_is_not_printed() -> None:
    con = connect(config={"threads": "1"})
    con.execute(
        "CREATE TABLE t AS SELECT 30 + i AS age, 'Secret-' || i AS disease FROM range(8) AS t(i);"
        "CREATE POLICY p ON t (age QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (age, disease);"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD loose(k => 4);"
        "INSERT INTO anon.workload SELECT 'w', i, "
        "'SELECT count(*) AS n FROM t WHERE age > 32 AND CAST(disease AS INTEGER) = ' || i FROM range(3) AS r(i)"
    )
    assert "Secret" not in said(con, "SELECT count(*) AS n FROM t WHERE age > 31 AND CAST(disease AS INTEGER) = 1")
    with pytest.raises(SqlanonError) as error:
        con.execute("MEASURE r WITH WORKLOAD w")
    assert "workload w, query 0: " in str(error.value)
    assert "Secret" not in str(error.value)
