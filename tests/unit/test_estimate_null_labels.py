"""ESTIMATE where a label of texts says that NULL is among its values, with and without a hierarchy that lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sqlanon import Connection
from tests.oracles.estimates import Figures, estimates
from tests.support.database import template
from tests.support.estimates.figures import figures_of

# Of age 0 the cities are Turin and NULL, of age 1 one whose name looks like that, of age 2 Rome.
SOURCE = """
CREATE TABLE t AS SELECT i % 3 AS age,
    CASE WHEN i % 3 = 2 THEN 'Rome' WHEN i % 3 = 1 THEN 'Oslo or NULL' WHEN i % 2 = 0 THEN 'Turin' END AS city
FROM range(60) AS r(i);
CREATE HIERARCHY cities AS LEVELS (SELECT DISTINCT city AS value, 'any' AS level_1 FROM t WHERE city IS NOT NULL);
"""
CONDITIONS: dict[str, Callable[[Any], bool | None]] = {
    "city = 'Turin'": lambda city: None if city is None else city == "Turin",
    "city = 'Turin or NULL'": lambda city: None if city is None else city == "Turin or NULL",
    "city = 'Oslo'": lambda city: None if city is None else city == "Oslo",
    "city IS NULL": lambda city: city is None,
    "city IS NOT NULL": lambda city: city is not None,
    "city <> 'Rome'": lambda city: None if city is None else city != "Rome",
    "city IN ('Rome', 'Turin')": lambda city: None if city is None else city in ("Rome", "Turin"),
    "city >= 'Rome'": lambda city: None if city is None else city >= "Rome",
    "city LIKE 'T%'": lambda city: None if city is None else city.startswith("T"),
    "city LIKE '%o%'": lambda city: None if city is None else "o" in city,
    "city = 'Turin' OR city IS NULL": lambda city: city in ("Turin", None),
}


def released(using: str = "") -> Connection:
    return template(
        SOURCE,
        f"CREATE POLICY p ON t (age QUASI IDENTIFIER, city QUASI IDENTIFIER {using}) REQUIRE k_anonymity(k => 11)",
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian",
    )


def leaves(label: str) -> list[tuple[Any, float | None]]:
    """A label with NULL is its value and NULL, as likely as each other; that it is one value is merely possible."""
    if label.endswith(" or NULL"):
        return [(label, 0.0), (label.removesuffix(" or NULL"), 1.0), (None, 1.0)]
    return [(label, 1.0)]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_label_with_null_is_estimated_as_every_combination_says(condition: str) -> None:
    con, holds = released(), CONDITIONS[condition]
    labels = [label for (label,) in con.execute("SELECT city FROM r").fetchall()]
    assert set(labels) == {"Turin or NULL", "Oslo or NULL", "Rome"}
    query = f"SELECT count(*) AS n FROM t WHERE {condition}"
    (row,) = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
    rows = [{"city": leaves(label)} for label in labels]
    wanted = estimates(rows, "count", lambda values: holds(values["city"]), lambda _: 0, None, 0, grouped=False)[0]
    assert Figures(*row) == Figures(*(pytest.approx(figure) for figure in vars(wanted).values()))
    assert None not in row
    ((truth,),) = con.duckdb.execute(query).fetchall()
    assert row[2] <= truth <= row[3]


@pytest.mark.one_in(10)
@pytest.mark.parametrize("condition", [condition for condition in CONDITIONS if "OR" not in condition])
def test_a_hierarchy_that_lists_the_values_does_not_change_the_estimate(condition: str) -> None:
    query = f"ESTIMATE SELECT count(*) AS n FROM t WHERE age <> 1 AND {condition} FROM RELEASE r"
    (plain,), (listed,) = (figures_of(released(using).sql(query)) for using in ("", "USING cities"))
    assert plain[:2] == pytest.approx(listed[:2])
    # Without a list the label may be one value, too.
    assert (plain[2] <= listed[2], listed[3] <= plain[3]) == (True, True)


def test_groups_and_shares_of_a_label_with_null() -> None:
    query = "SELECT city, count(*) AS n FROM t WHERE age = 0 GROUP BY city"
    rows = figures_of(released().sql(f"ESTIMATE {query} FROM RELEASE r"))
    assert {row[0]: row[1] for row in rows if row[1]} == {"Turin": 10, None: 10}
    assert {(row[3], row[4]) for row in rows} == {(0, 20)}
