"""Estimates from rows that are counted first, as on an engine that has no rows, are those from rows one by one."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from sqlanon import Connection, connect
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import SqlanonError
from sqlanon.estimates.release_model import counted_source
from sqlanon.sql.build.names import relation

# Rows of few values, so that many are equal; NULLs, a column `n`, a name with a quote, and a group of one row.
SOURCE = """
    CREATE TABLE source AS SELECT
        CASE WHEN i % 11 = 0 THEN NULL ELSE 20 + i * 7 % 30 END AS n,
        CASE WHEN i % 17 = 0 THEN NULL ELSE (94100 + i * 13 % 40)::VARCHAR END AS "zip ""é",
        ['F', 'M', 'x'][1 + i % 3] AS sex,
        ['flu', 'cold', 'asthma', 'none'][1 + (i * 5 + i // 7) % 4] AS disease,
        (i * 37 % 90)::DECIMAL(6, 2) / 4 AS "select",
        CASE WHEN i % 13 = 0 THEN 'nan' ELSE (i % 5)::VARCHAR END::DOUBLE AS note
    FROM range(180) t(i);
    CREATE TABLE wards AS SELECT * FROM (VALUES ('F', 'one'), ('M', 'two')) t(code, ward);
    CREATE HIERARCHY ages AS INTERVALS (5, 10);
    CREATE HIERARCHY zips AS PREFIXES (4, 3);
    CREATE POLICY p ON source (n QUASI IDENTIFIER USING ages, "zip ""é" QUASI IDENTIFIER USING zips,
        sex QUASI IDENTIFIER, disease SENSITIVE, "select" INSENSITIVE, note INSENSITIVE)
        REQUIRE k_anonymity(k => 2);
    CREATE POLICY buckets ON source (n QUASI IDENTIFIER, "zip ""é" QUASI IDENTIFIER, sex QUASI IDENTIFIER,
        disease SENSITIVE, "select" INSENSITIVE, note INSENSITIVE) REQUIRE l_diversity(l => 2);
    CREATE POLICY apart ON source (n QUASI IDENTIFIER, "zip ""é" QUASI IDENTIFIER, sex QUASI IDENTIFIER,
        disease SENSITIVE) CONFIDENTIAL (sex, disease), (n, "zip ""é");
    CREATE WORKLOAD asked ON POLICY p (queries => 8, seed => 5, dimensions => 2);
    CREATE WORKLOAD sums ON POLICY p (queries => 3, seed => 6, dimensions => 1, aggregate => 'sum', of => "select");
    INSERT INTO anon.workload SELECT 'asked', 100 + query_id, sql FROM anon.workload WHERE workload = 'sums';
"""
OWN = [
    "SELECT count(*) AS number FROM source",
    "SELECT count(n) AS a, min(n) AS b, max(n) AS c, avg(n) AS d FROM source WHERE sex IN ('F', 'x')",
    "SELECT sex, count(*) AS number FROM source GROUP BY sex HAVING count(*) > 2",
    "SELECT sum(\"select\" * 2) AS a, sum(note) AS b FROM source WHERE n > 30 OR disease = 'flu'",
    "SELECT ward, count(*) AS number FROM source JOIN wards ON source.sex = wards.code GROUP BY ward",
    'SELECT disease, sex, count(*) AS number FROM source WHERE "zip ""é" LIKE \'941%\' GROUP BY ALL',
    "SELECT count(*) AS number FROM source WHERE n IS NULL AND NOT disease ILIKE '%L%'",
    "SELECT avg(absent) AS number FROM source",
]
METHODS = {
    "generalization": "p METHOD generalization(suppression => 0.3)",
    "regions": "p METHOD mondrian(bounds => true)",
    "anatomy": "buckets METHOD anatomy(l => 2)",
    "slicing": 'buckets METHOD slicing(l => 2) COLUMNS (n, "zip ""é"), (sex, disease), ("select", note)',
    "fragments": "apart METHOD fragments",
}


@pytest.fixture(scope="module")
def connection() -> Any:
    with connect() as opened:
        opened.execute(SOURCE)
        for number, query in enumerate(OWN[:-1], 201):
            opened.execute(
                "INSERT INTO anon.workload (workload, query_id, sql) VALUES ('asked', $1, $2)", [number, query]
            )
        yield opened


def answers(connection: Connection, release: str) -> list[Any]:
    """What a release answers to each query, and what is measured of it, to 12 digits."""
    told: list[Any] = []
    connection.execute("DELETE FROM anon.query_error")
    for query in (OWN[2], OWN[-1]):
        told += asked(connection, f"ESTIMATE {query} FROM RELEASE {release}")
    told += asked(connection, f"MEASURE {release} WITH WORKLOAD asked")
    told += asked(connection, "SELECT * EXCLUDE (release_id) FROM anon.query_error ORDER BY ALL")
    return told


def asked(connection: Connection, statement: str) -> list[Any]:
    try:
        rows = connection.execute(statement).fetchall()
    except SqlanonError as error:
        return [(str(error), error.hint)]
    return [tuple(float(f"{value:.11g}") if isinstance(value, float) else value for value in row) for row in rows]


@pytest.mark.long
@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", METHODS)
def test_counted_rows_answer_alike(name: str, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    connection.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY {METHODS[name]}")
    expected = answers(connection, name)
    monkeypatch.setattr(DuckDBEngine, "reads_in_place", False)
    found = answers(connection, name)
    assert list(map(repr, found)) == list(map(repr, expected))


def test_rows_are_repeated_as_often_as_they_occur() -> None:
    """In blocks of 1,024, of which the last may have fewer; and no rows are none, whatever columns are asked about."""
    database = open_database(":memory:")
    database.execute("CREATE TABLE r AS SELECT nullif(i % 3, 2) AS n, 'x' AS n_ FROM range(7000) t(i)")
    database.execute("CREATE TABLE nothing AS FROM r LIMIT 0")
    with TempTables(DuckDBEngine(database)) as temp:
        for table in ("r", "nothing"):
            for columns in (["n", "n_"], ["n"], []):
                made = counted_source(relation(table), columns, "number", temp)
                counts = f"SELECT {', '.join([*columns, 'count(*)'])} FROM {{}} GROUP BY ALL ORDER BY ALL"
                found, expected = (database.execute(counts.format(rows)).fetchall() for rows in (made.rows, table))
                assert found == expected
    database.close()


@pytest.mark.parametrize("release", ["anatomy", "slicing"])
def test_counts_of_one_table_of_buckets_are_exact(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values of a bucket's columns in one table are known together; the source's own counts are the oracle."""
    random = Random(3)
    columns = "(a, sex), (first, second)" if release == "slicing" else None
    rows = [
        (random.choice([1, 2, 3, None]), random.choice("FM"), i % 4, random.choice(["p", "q", "r", None]))
        for i in range(120)
    ]
    queries = ["first IN (0, 1)", "second IN ('p', 'r')", "first BETWEEN 2 AND 3 AND sex IN ('F')"]
    if columns:
        queries += [
            "first IN (0, 1) AND second IN ('p')",
            "second IS NULL AND first > 2",
            "a IN (1, 2) AND sex IN ('M')",
        ]
    with connect() as con:
        con.execute("CREATE TABLE t (a INTEGER, sex VARCHAR, first INTEGER, second VARCHAR)")
        con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        con.execute(
            "CREATE POLICY one ON t (a QUASI IDENTIFIER, sex QUASI IDENTIFIER, first SENSITIVE, second SENSITIVE) "
            f"REQUIRE l_diversity(l => 2); CREATE ANONYMIZED TABLE r AS POLICY one METHOD {release}(l => 2)"
            + (f" COLUMNS {columns}" if columns else "")
        )
        texts = [f"SELECT count(*) AS n FROM t WHERE {condition}" for condition in queries]
        con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(texts)])
        monkeypatch.setattr(DuckDBEngine, "reads_in_place", False)
        con.execute("MEASURE r WITH WORKLOAD w")
        errors = con.duckdb.execute(
            "SELECT actual, estimated, spread, low, high FROM anon.query_error ORDER BY query_id"
        ).fetchall()
    known = [
        sum(row[2] in (0, 1) for row in rows),
        sum(row[3] in ("p", "r") for row in rows),
        sum(row[2] in (2, 3) and row[1] == "F" for row in rows),
        sum(row[2] in (0, 1) and row[3] == "p" for row in rows),
        sum(row[2] == 3 and row[3] is None for row in rows),
        sum(row[0] in (1, 2) and row[1] == "M" for row in rows),
    ]
    assert [actual for actual, *_ in errors] == known[: len(texts)]
    for number, (actual, estimated, spread, low, high) in enumerate(errors):
        assert low <= actual <= high
        if number != 2:
            assert (estimated, spread, low, high) == (pytest.approx(actual), 0, actual, actual), texts[number]
