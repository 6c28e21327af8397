"""Groupings that occur more than once in a query are steps, and the query gives the same rows as before."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.sql.build.steps import shared_steps, with_steps

GROUPED = "(SELECT class_id, sum(n) AS size FROM held GROUP BY class_id)"
OWN = GROUPED.replace("held", "own")
OTHER = "(SELECT class_id, max(n) AS size FROM held GROUP BY class_id)"
HELD = "SELECT class_id, n FROM (VALUES (1, 2), (1, 3), (2, 4)) AS given(class_id, n)"


def tree(text: str) -> exp.Select:
    found = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(found, exp.Select)
    return found


@pytest.mark.parametrize(
    ("query", "groupings"),
    [
        (f"SELECT (SELECT min(size) FROM {GROUPED} AS a), (SELECT count(*) FROM {GROUPED} AS b WHERE b.size > 4)", 1),
        (f"SELECT (SELECT min(size) FROM {GROUPED} AS a), (SELECT min(size) FROM {OTHER} AS a)", 0),
        (
            f"SELECT (SELECT min(size) FROM {GROUPED} AS a), (SELECT sum(size) FROM {OTHER} AS b), "
            f"(SELECT max(size) FROM {GROUPED} AS c), (SELECT max(size) FROM {OTHER} AS d)",
            2,
        ),
        # The name means something else within the second.
        (
            f"SELECT (SELECT min(size) FROM {GROUPED} AS a), "
            f"(WITH own AS (SELECT 7 AS class_id, 9 AS n) SELECT min(size) FROM {OWN} AS b), "
            f"(WITH own AS (SELECT 7 AS class_id, 8 AS n) SELECT min(size) FROM {OWN} AS b)",
            0,
        ),
    ],
)
def test_what_is_grouped_alike_is_grouped_once(query: str, groupings: int) -> None:
    before = with_steps(tree(query), [("held", tree(HELD))])
    after = tree(query)
    steps = shared_steps(after, ["held"])
    assert len(steps) == groupings
    whole = with_steps(after, [("held", tree(HELD)), *steps])
    assert whole.sql("duckdb").count("GROUP BY") == query.count("GROUP BY") - groupings
    answers = [duckdb.sql(one.sql("duckdb")).fetchall() for one in (before, whole)]
    assert answers[0] == answers[1]
