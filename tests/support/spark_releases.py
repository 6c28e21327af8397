"""Releases that are made on both engines: a source of many types, policies on it, and whether two are the same."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from sqlanon import Connection
from sqlanon.engines.spark import SparkEngine

__all__ = ["CASES", "COLUMNS", "HIERARCHIES", "TABLES", "Case", "released_alike"]

ROWS = 240
RANDOM = Random(11)
# For each column its Arrow type and the values that it takes, NULL aside.
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "born": (pa.date32(), [date(1950 + year, month, 3) for year in range(0, 30, 6) for month in (1, 2, 7)]),
    "at": (pa.timestamp("us"), [datetime(2020, month, 5, hour, 30) for month in (1, 5) for hour in (0, 1)]),
    'zip "4`': (pa.string(), ["94141", "94142", "94030", "9", "", "é€😀xy", "a'b\\c${d}"]),
    "age": (pa.int32(), [-23, -5, -1, 0, 1, 4, 5, 19, 20, 21, 2**31 - 1]),
    "price": (pa.decimal128(8, 2), list(map(Decimal, ("-0.01", "0.24", "0.25", "7")))),
    "school": (pa.string(), ["9th", "10th", "BA", "PhD"]),
    "order": (pa.string(), ["F", "M", "f"]),
    "alive": (pa.bool_(), [True, False]),
    "who": (pa.int64(), list(range(60))),
    "disease": (pa.string(), ["flu", "cold", "asthma", "Ängste", "😀"]),
    "income": (pa.int32(), [0, 10, 20, 30]),
    "wish": (pa.string(), ["flu", "respiratory"]),
    "note.x": (pa.float64(), [float("nan"), 0.0, 1.5, float("inf")]),
}
SOURCE = pa.table(
    {
        name: pa.array([RANDOM.choice([*values, *values, *values, None]) for _ in range(ROWS)], kind)
        for name, (kind, values) in COLUMNS.items()
    }
)
# The people among whom those of the source are: themselves, and others.
PEOPLE = pa.concat_tables([SOURCE, SOURCE.slice(0, 150), SOURCE.slice(40)])
TABLES = {"source": SOURCE, "nothing": SOURCE.slice(0, 0), "people": PEOPLE}
HIERARCHIES = """
    CREATE TABLE ranges AS SELECT * FROM (VALUES ('flu', 0.0, 0.9), ('cold', NULL, 0.8)) t(value, low, high);
    CREATE HIERARCHY birth AS CALENDAR (MONTH, YEAR, DECADE);
    CREATE HIERARCHY moment AS CALENDAR (HOUR, MONTH);
    CREATE HIERARCHY prefix AS PREFIXES (4, 2, 1);
    CREATE HIERARCHY ages AS INTERVALS (5, 10, 20);
    CREATE HIERARCHY prices AS INTERVALS (0.25, 1);
    CREATE HIERARCHY schools AS LEVELS (SELECT * FROM (VALUES ('9th', 'school'), ('10th', 'school'), ('BA', 'college'),
        ('PhD', 'college'), ('MA', 'college')) t(value, kind));
    CREATE HIERARCHY diseases AS LEVELS (SELECT * FROM (VALUES ('flu', 'respiratory'), ('cold', 'respiratory'),
        ('asthma', 'respiratory'), ('Ängste', 'other'), ('😀', 'other')) t(value, kind));
"""


class Case(NamedTuple):
    """A policy, without its name, and the arguments of its method."""

    label: str
    policy: str
    method: str = "generalization"
    explained: bool = False


CASES = [
    Case(
        "every hierarchy",
        """ON source (born QUASI IDENTIFIER USING birth, "at" QUASI IDENTIFIER USING moment,
            "zip ""4`" QUASI IDENTIFIER USING prefix, age QUASI IDENTIFIER USING ages,
            price QUASI IDENTIFIER USING prices, school QUASI IDENTIFIER USING schools,
            "order" QUASI IDENTIFIER, alive QUASI IDENTIFIER, disease SENSITIVE, "note.x" INSENSITIVE)
           REQUIRE k_anonymity(k => 4), l_diversity(l => 2)""",
        "generalization(suppression => 0.25)",
    ),
    Case(
        "respondents",
        """ON source (who ENTITY, age QUASI IDENTIFIER USING ages, "order" QUASI IDENTIFIER, disease SENSITIVE,
            income SENSITIVE)
           REQUIRE k_anonymity(k => 5), l_diversity(l => 2, jointly => true),
            alpha_k_anonymity(alpha => 0.8, k => 3)""",
        "generalization(suppression => 0.1, loss => 'discernibility')",
        explained=True,
    ),
    Case(
        "guarding nodes",
        """ON source ("zip ""4`" QUASI IDENTIFIER USING prefix, "order" QUASI IDENTIFIER,
            disease SENSITIVE USING diseases)
           REQUIRE k_anonymity(k => 2), personalized(guarding => wish, p => 0.9)""",
        "generalization(suppression => 0.3)",
    ),
    Case(
        "ranges",
        """ON source (school QUASI IDENTIFIER USING schools, alive QUASI IDENTIFIER, disease SENSITIVE)
           REQUIRE value_ranges(ranges => ranges), l_diversity(l => 1.5, variant => 'entropy')""",
        "generalization(suppression => 0.3)",
    ),
    Case(
        "regions",
        """ON source (born QUASI IDENTIFIER USING birth, "zip ""4`" QUASI IDENTIFIER, age QUASI IDENTIFIER,
            school QUASI IDENTIFIER USING schools, who ENTITY, disease SENSITIVE)
           REQUIRE k_anonymity(k => 6), l_diversity(l => 2)""",
        "mondrian(bounds => true)",
    ),
    Case(
        "regions of centroids",
        "ON source (age QUASI IDENTIFIER, price QUASI IDENTIFIER, income SENSITIVE) REQUIRE k_anonymity(k => 20)",
        "mondrian(publish => 'centroid')",
    ),
    Case(
        "distances",
        """ON source ("zip ""4`" QUASI IDENTIFIER USING prefix, "order" QUASI IDENTIFIER, alive QUASI IDENTIFIER,
            disease SENSITIVE USING diseases, income SENSITIVE)
           REQUIRE t_closeness(t => 0.3, distance => 'hierarchical', attribute => disease),
            t_closeness(t => 0.05, distance => 'jensen_shannon', attribute => income)""",
        "generalization(suppression => 0.6)",
    ),
    Case(
        "some columns",
        """ON source (who ENTITY, age QUASI IDENTIFIER USING ages, "zip ""4`" QUASI IDENTIFIER USING prefix,
            school QUASI IDENTIFIER, alive QUASI IDENTIFIER, disease SENSITIVE)
           REQUIRE k_anonymity(k => 4, on => (age, alive)), k_anonymity(k => 2),
            l_diversity(l => 2, on => ("zip ""4`", school))""",
        "generalization(suppression => 0.4)",
    ),
    Case(
        "a public table",
        """ON source (age QUASI IDENTIFIER USING ages, "zip ""4`" QUASI IDENTIFIER USING prefix,
            school QUASI IDENTIFIER USING schools, disease SENSITIVE)
           AGAINST people REQUIRE k_map(k => 8), delta_presence(min => 0, max => 0.55)""",
        "generalization(suppression => 0.6)",
    ),
    Case(
        "regions close to all",
        """ON source (age QUASI IDENTIFIER, price QUASI IDENTIFIER, school QUASI IDENTIFIER USING schools,
            who ENTITY, disease SENSITIVE, income SENSITIVE)
           REQUIRE k_anonymity(k => 5), t_closeness(t => 0.3, distance => 'ordered', attribute => income)""",
        "mondrian",
    ),
    Case("nothing", "ON nothing (age QUASI IDENTIFIER USING ages, disease SENSITIVE) REQUIRE k_anonymity(k => 2)"),
]


def released_alike(case: Case, connections: tuple[Connection, Connection], spark: SparkEngine) -> int:
    """Asserts that both make the same release, and returns the number of its rows."""
    name = "release_of_" + case.label.replace(" ", "_")
    answers: list[list[tuple[Any, ...]]] = []
    for connection in connections:
        connection.execute(f"CREATE POLICY {name} {case.policy}")
        method = f"METHOD {case.method}"
        explain = f"EXPLAIN VERBOSE ANONYMIZED TABLE {name} AS POLICY {name} {method}"
        explained = connection.execute(explain).fetchall() if case.explained else []
        made = connection.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY {name} {method}").fetchall()
        checked = connection.execute(f"CHECK {name}").fetchall()
        described = connection.duckdb.execute(
            "SELECT a.* EXCLUDE (release_id) FROM anon.release_attribute a JOIN anon.release r USING (release_id) "
            "WHERE r.object_name = ? ORDER BY ALL",
            [name],
        ).fetchall()
        decided = [row for row in explained if row[0] in ("solve", "explain") and row[1] != "nodes checked"]
        answers.append([*map(rounded, (*decided, *(row[:-2] for row in made), *checked, *described))])
    assert answers[0] == answers[1]
    ours = connections[0].execute(f"FROM {name}").to_arrow_table()
    theirs = published(spark, connections[1], name)
    assert theirs.column_names == ours.column_names
    assert shown(ours) == shown(theirs)
    return int(ours.num_rows)


def rounded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without the last digits, which logarithms may have otherwise on another engine."""
    return tuple(float(f"{value:.12g}") if isinstance(value, float) else value for value in row)


def published(spark: SparkEngine, connection: Connection, name: str) -> pa.Table:
    """The rows of a release, as any program reads them."""
    (comment,) = connection.duckdb.execute(
        "SELECT comment FROM duckdb_views() WHERE view_name = ?", [name]
    ).fetchone() or ("",)
    return spark.connection.read.parquet(comment.removeprefix("sqlanon: rows in Parquet at ")).toArrow()


def shown(rows: pa.Table) -> list[str]:
    return sorted(repr(tuple(row.values())) for row in rows.to_pylist())
