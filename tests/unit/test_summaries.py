"""A query whose summaries are tables has the rows that it had, and reads no row where it reads summaries alone."""

from __future__ import annotations

from typing import NamedTuple

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.engines.federated.summaries import with_summaries
from sqlanon.errors import EngineError
from sqlanon.sql.build.render import create_temporary, to_sql

ROWS = """
    CREATE TABLE people AS SELECT i % 7 AS age, nullif('z"' || i % 3, 'z"2') AS "zip ""é", i % 5 AS "order"
        FROM range(90) AS r(i);
    CREATE TABLE label AS SELECT * FROM (VALUES ('z"0', 'a'), ('z"1', 'b'), (NULL, 'c')) t(value, label)
"""
_STEPS = """
    source AS NOT MATERIALIZED (SELECT age, "zip ""é" AS zip, "order" FROM people),
    recode AS (SELECT o.value, l.label, dense_rank() OVER (ORDER BY l.label ASC NULLS LAST) AS code
        FROM (SELECT DISTINCT zip AS value FROM source) AS o JOIN label AS l ON o.value IS NOT DISTINCT FROM l.value),
    recoded AS NOT MATERIALIZED (SELECT r.code AS class_id, r.label, s."order", s.age
        FROM source AS s JOIN recode AS r ON s.zip IS NOT DISTINCT FROM r.value),
    counted AS (SELECT class_id, "order", count(*) AS n FROM recoded GROUP BY class_id, "order"),
    class AS (SELECT class_id, CAST(sum(n) AS BIGINT) AS size FROM counted GROUP BY class_id),
    published AS (SELECT class_id FROM class WHERE NOT class_id IN (SELECT class_id FROM counted WHERE n < 6))
"""


class Case(NamedTuple):
    """A query, whether what is left of it reads rows, and how many tables are made of rows and of tables."""

    query: str
    is_remote: bool
    summaries: int
    tables: int


CASES = {
    "a release": Case(
        f"SELECT * FROM (WITH {_STEPS} SELECT label, r.age FROM recoded AS r JOIN published AS p "
        "ON r.class_id = p.class_id) AS released",
        is_remote=True,
        summaries=2,
        # The labels for the count, and the classes for the rows.
        tables=2,
    ),
    "a check": Case(
        f"SELECT place, found FROM (WITH {_STEPS} SELECT * FROM "
        "(SELECT 0 AS place, (SELECT min(size) FROM class) AS found UNION ALL "
        "SELECT 1 AS place, (SELECT count(*) FROM published) AS found) AS report) AS reported",
        is_remote=False,
        summaries=2,
        tables=1,
    ),
    "windows over a count": Case(
        "SELECT value, row_number() OVER (ORDER BY value ASC NULLS LAST) AS rank FROM "
        "(SELECT value, n FROM (SELECT age AS value, count(*) AS n FROM people GROUP BY age) AS occurring) AS spans",
        is_remote=False,
        summaries=1,
        tables=0,
    ),
    "a count of rows": Case("SELECT age, count(*) AS n FROM people GROUP BY age", True, 0, 0),
    "one that depends on the rows around it": Case(
        'SELECT age FROM label AS l JOIN people AS p ON p."zip ""é" = l.value WHERE EXISTS (SELECT 1 FROM '
        '(SELECT "order" FROM people AS q WHERE q.age = p.age GROUP BY "order") AS other)',
        is_remote=True,
        summaries=0,
        tables=0,
    ),
    "united": Case(
        "(SELECT n FROM (SELECT count(*) AS n FROM people) AS a) UNION ALL (SELECT age FROM people) UNION ALL "
        "SELECT age FROM (SELECT DISTINCT age FROM people) AS b",
        is_remote=True,
        summaries=2,
        tables=0,
    ),
    "names that occur twice": Case(
        "WITH a AS (SELECT age FROM people GROUP BY age) SELECT * FROM "
        "(WITH A AS (SELECT 1 AS age) SELECT age FROM a) AS t",
        is_remote=True,
        summaries=0,
        tables=0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_query_has_the_same_rows(name: str) -> None:
    case, query = CASES[name], sqlglot.parse_one(CASES[name].query, dialect="duckdb")
    assert isinstance(query, exp.Query)
    made: list[bool] = []
    with duckdb.connect() as connection:
        connection.execute(ROWS)

        def table_of(summary: exp.Query) -> str:
            made.append(is_remote(summary))
            connection.execute(to_sql(create_temporary("TABLE", f"summary_{len(made)}", summary)))
            return f"summary_{len(made)}"

        before = to_sql(query)
        rewritten = with_summaries(query, is_remote, table_of)
        assert to_sql(query) == before
        expected, rows = (sorted(map(repr, connection.execute(to_sql(q)).fetchall())) for q in (query, rewritten))
    assert rows == expected
    assert rows
    assert (is_remote(rewritten), sum(made), len(made) - sum(made)) == case[1:]


def is_remote(query: exp.Query) -> bool:
    return any(table.name == "people" for table in query.find_all(exp.Table))


def test_a_query_with_draws_is_refused() -> None:
    query = exp.select("*").from_("people").with_("drawn", as_="SELECT random() AS x FROM people GROUP BY age")
    with pytest.raises(EngineError, match="RAND"):
        with_summaries(query, is_remote, lambda _: "never made")
