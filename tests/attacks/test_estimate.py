"""An estimate tells nothing but what the release shows, whatever is asked and whatever went wrong."""

from __future__ import annotations

import pytest

from sqlanon import Connection, connect
from sqlanon.errors import SqlanonError

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
        rows = con.sql(f"ESTIMATE {query} FROM RELEASE r").fetchall()
    except SqlanonError as error:
        return str(error)
    # Doubles are added up in the order of the rows, which is random.
    return str([[round(part, 9) if isinstance(part, float) else part for part in row] for row in rows])


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
