"""What Spark is asked, what it answers, and what it refuses to guess."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.portable import spark_sql
from sqlanon.engines.spark import SparkEngine, local_session
from sqlanon.errors import EngineError
from sqlanon.sql.build.names import column, parameter, relation
from sqlanon.sql.build.render import drop

pytestmark = pytest.mark.spark

# Bits, NULLs, numbers and text, each where engines are known to disagree, or might.
ALIKE = [
    "SELECT (13 & 6) + 1, 13 & (6 + 1), 13 & 6 = 4, "
    "xor(13, 6), xor((13 & 6), 1), CAST(1 AS BIGINT) << 40, 1099511627777 >> 39, 5 & 4 > 3",
    "SELECT CAST(-7 AS BIGINT) // 2, -7 % 3, 7 // -2, (-8 >> 1), -1 & 255",
    "SELECT sum(x), CAST(sum(x) AS HUGEINT), avg(x), count(*), count(x), min(x) FROM (VALUES (1), (NULL), (4)) t(x)",
    "SELECT CAST(sum(CAST(x AS DECIMAL(38, 0))) AS HUGEINT) FROM (VALUES (9223372036854775807), (9)) t(x)",
    "SELECT 1 / 4, 7 / nullif(0, 0), ln(2), exp(1), sqrt(2), abs(-3), round(2.5e0), floor(-0.5e0), ceil(0.5e0)",
    "SELECT NULL IS NOT DISTINCT FROM NULL, 1 IS DISTINCT FROM NULL, NULL = NULL, coalesce(NULL, 2), greatest(1, 3)",
    "SELECT a.x, b.y FROM (VALUES (1), (NULL), (2)) a(x) FULL JOIN (VALUES (NULL), (2), (3)) b(y) "
    "ON a.x IS NOT DISTINCT FROM b.y",
    "SELECT x, row_number() OVER (ORDER BY x), dense_rank() OVER (ORDER BY x DESC), lag(x) OVER (ORDER BY x) "
    "FROM (VALUES ('b'), (NULL), ('a'), ('B'), ('é'), ('😀'), ('')) t(x)",
    "SELECT g, sum(n) OVER (PARTITION BY g ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) "
    "FROM (VALUES (1, 2), (1, 3), (NULL, 4), (NULL, 5)) t(g, n)",
    "SELECT {'a': g, 'b c': n} AS id, count(*) FROM (VALUES (1, 2), (1, NULL), (1, NULL)) t(g, n) GROUP BY g, n",
    "SELECT id, count(*) FROM (SELECT {'a': g} AS id FROM (VALUES (1), (1), (NULL), (NULL)) t(g)) u GROUP BY id",
    "SELECT max(x) FILTER (WHERE x < 3), count(DISTINCT x) FROM (VALUES (1), (2), (2), (5), (NULL)) t(x)",
    "SELECT 'it''s', 'back\\slash', '\\u0041', '${spark.master}', "
    "left('é😀x', 2), length('é😀x'), 'a' || NULL, repeat('*', -1)",
    "SELECT CAST('Infinity' AS DOUBLE), CAST('nan' AS DOUBLE) = CAST('nan' AS DOUBLE), CAST('nan' AS DOUBLE) > 1, "
    "isnan(CAST('nan' AS DOUBLE)), CAST('-infinity' AS DOUBLE) < 0",
    "SELECT x FROM (VALUES (CAST('nan' AS DOUBLE)), (CAST('nan' AS DOUBLE)), (0e0), (-0e0)) t(x) GROUP BY x",
    "SELECT extract(isodow FROM CAST(d AS DATE)), extract(doy FROM CAST(d AS DATE)), "
    "extract(quarter FROM CAST(d AS DATE)), CASE WHEN CAST(d AS DATE) = CAST('infinity' AS DATE) THEN 1 ELSE 2 END "
    "FROM (VALUES ('2020-01-05'), ('2019-12-31'), (NULL)) t(d)",
    "WITH a AS (SELECT 1 AS x UNION ALL SELECT 1), b AS (SELECT x FROM a UNION SELECT 2) SELECT x FROM b "
    "WHERE x IN (SELECT x FROM a) AND NOT EXISTS (SELECT 1 FROM a WHERE a.x = 9) AND x BETWEEN 0 AND 5",
]


def rounded(rows: list[tuple[Any, ...]]) -> list[str]:
    cells = [[f"{v:.12g}" if isinstance(v, float) else repr(v) for v in row] for row in rows]
    return sorted(map(repr, cells))


@pytest.mark.parametrize("query", ALIKE)
def test_what_is_portable_has_one_answer(query: str, duck: DuckDBEngine, spark: SparkEngine) -> None:
    assert rounded(spark.rows(query)) == rounded(duck.rows(sqlglot.parse_one(query, dialect="duckdb")))


def test_parameters_are_the_queries_own(spark: SparkEngine) -> None:
    both = exp.BitwiseAnd(this=column("x"), expression=parameter(2))
    query = exp.select(both, parameter(1)).from_("(VALUES (6), (7)) AS t(x)", dialect="duckdb").group_by(both.copy())
    assert sorted(spark.rows(query, ["${x}'\\", 2**40 + 5])) == [(4, "${x}'\\"), (5, "${x}'\\")]
    assert spark.rows("SELECT $1 AS a, $2 AS b, $1 AS c", [None, 2]) == [(None, 2, None)]
    assert spark.rows("SELECT ($1 + 1) << $2 AS a", [1, 40]) == [(2**41,)]


def test_names_of_any_kind(spark: SparkEngine) -> None:
    for name in ("a b", "select", "é", 'say "x"', "tick`tick", "dot.ted", "${spark.master}", "x" * 200, "'", "\\"):
        values = exp.select(exp.alias_(exp.Literal.number(1), name, quoted=True))
        made = exp.Properties(expressions=[exp.TemporaryProperty()])
        spark.run(exp.Create(kind="TABLE", this=relation(name), expression=values, properties=made))
        assert spark.rows(exp.select(column(name, name)).from_(relation(name))) == [(1,)]
        assert spark.columns(exp.select(exp.Star()).from_(relation(name))) == [(name, "INTEGER")]
        spark.run(drop("TABLE", relation(name), exists=True))
        with pytest.raises(EngineError, match="TABLE_OR_VIEW_NOT_FOUND"):
            spark.rows(exp.select(exp.Star()).from_(relation(name)))


def test_a_temporary_table_keeps_its_rows(spark: SparkEngine) -> None:
    session = spark.connection
    session.createDataFrame([(1,), (2,)], "x int").createOrReplaceTempView("changing")
    spark.run("CREATE TEMPORARY TABLE kept AS SELECT x FROM changing")
    session.createDataFrame([(3,)], "x int").createOrReplaceTempView("changing")
    assert sorted(spark.rows("SELECT x FROM kept")) == [(1,), (2,)]
    with pytest.raises(EngineError, match="TEMP_TABLE_OR_VIEW_ALREADY_EXISTS"):
        spark.run("CREATE TEMPORARY TABLE kept AS SELECT 1 AS x")
    spark.run("DROP TABLE IF EXISTS kept")
    spark.run("DROP TABLE IF EXISTS kept")
    session.catalog.dropTempView("changing")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t AS SELECT 1 AS x",
        "CREATE OR REPLACE TEMPORARY TABLE t AS SELECT 1 AS x",
        "CREATE TEMPORARY TABLE t (x INTEGER)",
        "CREATE VIEW t AS SELECT 1 AS x",
        "DROP TABLE t",
        "DROP TABLE IF EXISTS anon.t",
        "INSERT INTO t VALUES (1)",
        "BEGIN TRANSACTION",
        "SELECT 1",
        "FROM t SELECT SELECT",
    ],
)
def test_nothing_else_is_run(statement: str, spark: SparkEngine) -> None:
    with pytest.raises(EngineError, match="Spark does not"):
        spark.run(statement)


def test_what_spark_cannot_do_is_said(spark: SparkEngine) -> None:
    for asked in (spark.in_transaction, spark.transaction, lambda: spark.tables_of("SELECT 1")):
        with pytest.raises(EngineError, match="Spark does not"):
            asked()
    # Made by Spark, since no portable query has such a column.
    spark.connection.sql("SELECT map(1, 2) AS m").createOrReplaceTempView("maps")
    with pytest.raises(EngineError, match="column m has the Spark type map<int,int>"):
        spark.columns("SELECT m FROM maps")
    assert spark.version().startswith("Spark 4.")


def test_errors_show_no_values(spark: SparkEngine, capfd: pytest.CaptureFixture[str], caplog: Any) -> None:
    spark.connection.createDataFrame([("one of a row",)], "x string").createOrReplaceTempView("texts")
    with caplog.at_level(logging.INFO), pytest.raises(EngineError, match="CAST_INVALID_INPUT") as raised:
        spark.rows("SELECT CAST(x AS INTEGER) FROM texts")
    assert "may hold values and is withheld" in raised.value.message
    assert raised.value.query == "SELECT CAST(x AS INTEGER) FROM texts"
    with caplog.at_level(logging.INFO), pytest.raises(EngineError, match="CAST_INVALID_INPUT"):
        spark.run("CREATE TEMPORARY TABLE made AS SELECT CAST(x AS INTEGER) AS x FROM texts")
    with pytest.raises(EngineError, match=r"UNRESOLVED_COLUMN.*`nothing`"):
        spark.rows("SELECT nothing FROM texts")
    shown = capfd.readouterr()
    assert "one of a row" not in str(raised.value) + shown.out + shown.err + caplog.text


@pytest.fixture
def setting(spark: SparkEngine) -> Iterator[Any]:
    changed: dict[str, str | None] = {}

    def change(name: str, value: str) -> None:
        changed[name] = spark.connection.conf.get(name)
        spark.connection.conf.set(name, value)

    yield change
    for name, value in changed.items():
        spark.connection.conf.set(name, str(value))


def test_a_session_that_would_answer_otherwise_is_refused(spark: SparkEngine, setting: Any) -> None:
    setting("spark.sql.variable.substitute", "true")
    assert spark.rows("SELECT 1") == [(1,)]
    with pytest.raises(EngineError, match="would replace"):
        spark.rows("SELECT '${spark.app.name}'")
    setting("spark.sql.ansi.enabled", "false")
    with pytest.raises(EngineError, match=r"set spark\.sql\.ansi\.enabled"):
        spark.rows("SELECT 1")
    spark.connection.conf.unset("spark.sql.ansi.enabled")
    assert spark.rows("SELECT 1") == [(1,)], "Spark 4 has it on unless told otherwise"


def test_a_query_is_left_as_it_was() -> None:
    given = "SELECT {'a': x << 1, 'b': $1}, extract(isodow FROM d), try_cast(x + 1 AS DOUBLE) FROM t ORDER BY x"
    query = sqlglot.parse_one(given, dialect="duckdb")
    before = query.copy()
    text = spark_sql(query)
    assert query == before
    assert text == spark_sql(query)
    assert ":p1" in text


def test_the_session_listens_on_this_machine_only(spark: SparkEngine) -> None:
    conf = spark.connection.sparkContext.getConf()
    assert conf.get("spark.driver.host") == conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.connection.sparkContext.uiWebUrl is None
    assert local_session() is spark.connection


def test_without_java_the_error_says_so(tmp_path: Path) -> None:
    program = "from sqlanon.engines.spark import local_session; local_session()"
    path = os.pathsep.join(sys.path)
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "JAVA_HOME": str(tmp_path), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode != 0
    assert "UserError: Spark did not start\n  hint: it needs Java 17" in ran.stderr
