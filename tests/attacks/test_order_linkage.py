"""Linkage by order: an adversary knows in which order the respondents stand in the source.

A list sorted by name, an admission book, a class register: whoever knows its order
links the r-th row of a release to the r-th name. It needs no quasi-identifier, so no
generalization stops it. On a copy made with CREATE TABLE AS it succeeds for every row.

The thresholds: a random order gives a Poisson(1) number of fixed points and a rank
correlation of standard deviation 1/sqrt(n). 15 hits or 6 deviations come by chance
less than once in 10^8 runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlanon
from tests.support.attacks.order import DEVIATIONS, HITS, ROWS, correlation, hits, is_unordered, marks

SOURCE = f"""
CREATE TABLE register AS
SELECT 'name ' || lpad(i::VARCHAR, 9, '0') AS name, 'person ' || i AS person,
       20 + (hash(i) % 40)::INTEGER AS age, i AS mark
FROM range({ROWS}) AS t(i) ORDER BY name;
"""
POLICIES = {
    "rows": "name IDENTIFIER, age QUASI IDENTIFIER, mark INSENSITIVE",
    "entity": "name ENTITY, age QUASI IDENTIFIER, mark INSENSITIVE",
    "pseudonym": "name ENTITY PSEUDONYM, person IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER, mark INSENSITIVE",
}
NAIVE = "CREATE TABLE naive AS SELECT age, mark FROM register"


def connected(policy: str = POLICIES["rows"]) -> Any:
    connection = sqlanon.connect()
    connection.sql(SOURCE + f"CREATE POLICY p ON register ({policy}) REQUIRE k_anonymity(k => 5);")
    return connection


def snapshot(connection: Any, name: str = "released") -> None:
    connection.sql(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD generalization")


def test_the_attack_succeeds_on_a_naive_copy() -> None:
    connection = connected()
    connection.sql(NAIVE)
    found = marks(connection, "naive")
    assert hits(found, list(range(ROWS))) == ROWS
    assert correlation(found) == pytest.approx(1)
    assert not is_unordered(found)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ["rowid", "(SELECT 1)"])
def test_the_attack_does_no_better_than_chance_on_a_snapshot(policy: str, order: str) -> None:
    connection = connected(POLICIES[policy])
    snapshot(connection)
    assert is_unordered(marks(connection, "released", order))


def test_places_inside_a_class_say_nothing_either() -> None:
    """The adversary knows the ages too: the r-th of an age in the source against the r-th of it in the release."""
    connection = connected()
    snapshot(connection)
    connection.sql(NAIVE)
    linked = """
        SELECT count(*) FROM (SELECT age, mark, row_number() OVER (PARTITION BY age ORDER BY rowid) AS r FROM {}) AS a
        JOIN (SELECT age, mark, row_number() OVER (PARTITION BY age ORDER BY name) AS r FROM register) AS b
        ON a.age = b.age AND a.r = b.r AND a.mark = b.mark
    """
    classes = 40
    assert connection.sql(linked.format("naive")).fetchall() == [(ROWS,)]
    assert connection.sql(linked.format("released")).fetchall()[0][0] < classes + DEVIATIONS * classes**0.5 + HITS


def test_a_seed_that_the_session_has_set_does_not_decide_the_order() -> None:
    """setseed() is a SELECT that anybody may run: the order must not follow from it."""
    connection = connected()
    connection.sql("SET threads = 1")
    orders = []
    for name in ("first", "second"):
        connection.sql("SELECT setseed(0.42)").fetchall()
        snapshot(connection, name)
        orders.append(marks(connection, name))
    assert hits(*orders) < HITS
    assert all(is_unordered(found) for found in orders)


def test_who_knows_the_seed_cannot_compute_the_order() -> None:
    connection = connected()
    connection.sql("SET threads = 1")
    draws = "ORDER BY random()"
    connection.sql("SELECT setseed(0.42)").fetchall()
    connection.sql(f"CREATE TABLE seeded AS SELECT age, mark FROM register {draws}")
    connection.sql("SELECT setseed(0.42)").fetchall()
    guess = [mark for (mark,) in connection.sql(f"SELECT mark FROM register {draws}").fetchall()]
    assert hits(marks(connection, "seeded"), guess) == ROWS, "an order by random() alone can be computed again"
    connection.sql("SELECT setseed(0.42)").fetchall()
    snapshot(connection)
    assert hits(marks(connection, "released"), guess) < HITS


@pytest.mark.parametrize(
    "macro", ["random() AS 0", "concat(a, b) AS 'same'", "md5_number_lower(a) AS 1", '"-"(a, b) AS 0']
)
@pytest.mark.parametrize("kind", ["MACRO", "TEMP MACRO"])
def test_macros_with_the_names_of_builtin_functions_are_refused(kind: str, macro: str) -> None:
    """One of them could keep the order, another make every class look large."""
    connection = connected()
    connection.sql(f"CREATE {kind} {macro}")
    with pytest.raises(sqlanon.UserError, match="names of built-in functions"):
        snapshot(connection)
    assert connection.duckdb.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'released'"
    ).fetchall() == [(0,)]


def test_statistics_of_row_groups_do_not_tell_where_in_the_source_they_come_from(tmp_path: Path) -> None:
    """Each row group of a naive copy holds a stretch of the source, which its minimum and maximum give away."""
    rows = 260_000
    with sqlanon.connect(tmp_path / "groups.duckdb") as connection:
        connection.sql(f"""
            CREATE TABLE register AS SELECT i AS mark, i % 7 AS age FROM range({rows}) AS t(i);
            CREATE POLICY p ON register (age QUASI IDENTIFIER, mark INSENSITIVE) REQUIRE k_anonymity(k => 5);
            CREATE TABLE naive AS SELECT age, mark FROM register;
            CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization;
            CHECKPOINT;
        """)
        assert max(spans(connection, "naive", rows)) < 0.5
        found = spans(connection, "released", rows)
        assert len(found) >= 2
        assert min(found) > 0.99
        stated = connection.sql("SELECT stats(mark) FROM released LIMIT 1").fetchall()[0][0]
        assert str(rows - 1) in str(stated), "the extreme marks are released, so the statistics may hold them"


def spans(connection: Any, table: str, rows: int) -> list[float]:
    """How much of the source's range each row group covers."""
    query = f"""
        SELECT row_group_id, stats FROM pragma_storage_info('{table}')
        WHERE column_name = 'mark' AND segment_type NOT IN ('VALIDITY')
    """
    ends: dict[int, tuple[int, int]] = {}
    for group, stats in connection.sql(query).fetchall():
        low, high = ends.get(group, (rows, 0))
        ends[group] = min(low, int(stats["min"])), max(high, int(stats["max"]))
    return [(high - low) / rows for low, high in ends.values()]
