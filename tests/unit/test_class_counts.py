"""Counts of classes in arrays are what each class adds one by one."""

from __future__ import annotations

import math
from random import Random

import duckdb
import pytest

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.batch.bitmasks import MaskedColumn
from sqlanon.estimates.batch.class_counts import counts_of_classes, most_queries_on_classes
from sqlanon.estimates.batch.distinct_rows import DistinctRows
from sqlanon.estimates.fixed_sql import sizes
from sqlanon.sql.build.sql_files import filled_query

Share = tuple[bool, float | None]


def _shares(random: Random, labels: int, queries: list[int], exact: bool) -> dict[tuple[int, int], Share]:
    """For some labels and queries, whether the label satisfies for certain, and its share, which may be unknown."""
    shares: dict[tuple[int, int], Share] = {}
    for query in queries:
        for label in range(1, labels + 1):
            if random.random() < 0.7:
                certain = exact or random.random() < 0.4
                shares[query, label] = (certain, 1.0 if certain else random.choice([0.0, 0.25, 0.9, None, 0.5]))
    return shares


def _counted(
    classes: list[tuple[int, list[int]]], columns: list[tuple[list[int], dict[tuple[int, int], Share]]], query: int
) -> tuple[int, int, float | None, float | None]:
    """Returns the bounds, the expected number of rows and the variance of one query, class by class."""
    low = high = 0
    hits = variance = 0.0
    unknown = False
    for n, labels in classes:
        p, certain, possible = 1.0, True, True
        known = True
        for (asking, shares), label in zip(columns, labels, strict=True):
            if query not in asking:
                continue
            if (query, label) not in shares:
                possible = False
                break
            surely, share = shares[query, label]
            certain = certain and surely
            if share is None:
                known = False
            else:
                p *= share
        if possible:
            high += n
            low += n if certain else 0
            unknown = unknown or not known
            hits += n * p
            variance += n * p * (1 - p)
    return low, high, None if unknown else hits, None if unknown else variance


@pytest.mark.parametrize(
    ("labels", "exact", "classes", "queries", "read"),
    [
        ([3, 40, 700, 5], [False, False, False, True], 400, 70, 4_000_000),
        ([1, 1], [True, True], 1, 1, 4_000_000),
        ([60, 900, 3], [True, True, True], 300, 130, 7),
        ([2000, 1500, 30], [False, True, False], 500, 3, 100),
        ([4, 4], [False, False], 0, 5, 4_000_000),
        # More rows than are computed with at a time, and more combinations than 64 bits can number.
        ([7, 2, 9], [False, True, False], 70_000, 1, 4_000_000),
        ([90_000] * 8, [False] * 8, 60, 2, 4_000_000),
    ],
)
def test_classes_add_up(labels: list[int], exact: list[bool], classes: int, queries: int, read: int) -> None:
    random = Random(sum(labels) + classes)
    made = [
        (random.choice([1, 2, 3, 1000, 123_456_789]), [random.randint(1, min(n, 2000)) for n in labels])
        for _ in range(classes)
    ]
    columns = []
    for size, is_exact in zip(labels, exact, strict=True):
        asking = [query for query in range(queries) if random.random() < 0.6]
        columns.append((asking, _shares(random, min(size, 2000), asking, is_exact)))
    database = duckdb.connect()
    engine = DuckDBEngine(database)
    with engine.transaction(), TempTables(engine) as temp:
        rows = ", ".join(f"number_{index} INTEGER" for index in range(len(labels)))
        database.execute(f"CREATE TABLE classes (n BIGINT, {rows})")
        if made:
            database.execute(
                f"INSERT INTO classes SELECT {', '.join(f'unnest(${i + 1})' for i in range(len(labels) + 1))}",
                [[n for n, _ in made], *([own[i] for _, own in made] for i in range(len(labels)))],
            )
        masked = []
        for index, ((asking, shares), size) in enumerate(zip(columns, labels, strict=True)):
            database.execute(f"CREATE TABLE label_{index} AS SELECT unnest(range({size})) + 1 AS number")
            database.execute(f"CREATE TABLE share_{index} (query INTEGER, number INTEGER, certain BOOLEAN, p DOUBLE)")
            if shares:
                columns_of = zip(*[(*key, *share) for key, share in shares.items()], strict=True)
                database.execute(
                    f"INSERT INTO share_{index} SELECT unnest($1), unnest($2), unnest($3), unnest($4)",
                    list(map(list, columns_of)),
                )
            of_shares = filled_query("SELECT * FROM share", tables={"share": f"share_{index}"})
            masked.append(MaskedColumn(index, f"label_{index}", of_shares, asking, exact[index]))
        distinct = DistinctRows("classes", len(made), [f"label_{index}" for index in range(len(labels))])
        with sizes.replaced(max_classes_read=read):
            table = counts_of_classes(engine, distinct, masked, queries).table(temp)
        answers = database.execute(f"SELECT low, high, hits, variance FROM temp.{table} ORDER BY query").fetchall()
        assert len(answers) == queries
        for query, (low, high, hits, variance) in enumerate(answers):
            own = _counted(made, columns, query)
            assert (low, high) == own[:2]
            assert [hits is None, variance is None] == [own[2] is None] * 2
            if hits is not None and own[2] is not None and own[3] is not None:
                assert math.isclose(hits, own[2], rel_tol=1e-12)
                assert math.isclose(variance, own[3], rel_tol=1e-12, abs_tol=1e-9)
    database.close()


@pytest.mark.parametrize("in_arrays", [True, False])
def test_shares_of_labels_are_shares_of_leaves(in_arrays: bool) -> None:
    random = Random(8)
    for queries, labels in ((1, 1), (9, 5), (70, 12)):
        weights = [0.0, 1.0, 2.5, None] if labels > 1 else [1.0]
        leaves = [
            (label, random.choice(weights[: random.randint(1, len(weights))]))
            for label in range(1, labels + 1)
            for _ in range(random.randint(1, 4))
        ]
        asking = sorted(random.sample(range(queries), -(-queries * 2 // 3)))
        satisfying = [(query, *leaf) for query in asking for leaf in leaves if random.random() < 0.6]
        database = duckdb.connect()
        database.execute(f"CREATE TABLE label AS SELECT unnest(range({labels})) + 1 AS number")
        database.execute(
            "CREATE TABLE leaf AS SELECT unnest($1) AS number, unnest($2::DOUBLE[]) AS weight",
            list(map(list, zip(*leaves, strict=True))),
        )
        held_leaves = [list(part) for part in zip(*satisfying, strict=True)] or [[], [], []]
        database.execute(
            "CREATE TABLE satisfying AS "
            "SELECT unnest($1::INTEGER[]) AS query, unnest($2::INTEGER[]) AS number, unnest($3::DOUBLE[]) AS weight",
            held_leaves,
        )
        column = MaskedColumn(0, "label", "satisfying", asking, False, "leaf")
        # A class of one row in each label: its count is the label's share, which may be unknown.
        for label in range(1, labels + 1):
            database.execute(f"CREATE OR REPLACE TABLE classes AS SELECT 1 AS n, {label} AS number_0")
            with sizes.replaced(max_leaves_in_arrays=1 << 23 if in_arrays else 0):
                distinct = DistinctRows("classes", 1, ["label"])
                counts = counts_of_classes(DuckDBEngine(database), distinct, [column], queries)
            of_label = [weight for number, weight in leaves if number == label]
            for query in range(queries):
                held = [weight for number, at, weight in satisfying if (number, at) == (query, label)]
                certain = query not in asking or len(held) == len(of_label)
                assert (counts.low[query], counts.high[query]) == (certain, certain or bool(held))
                if held and not certain:
                    known = None not in of_label and sum(filter(None, of_label)) > 0
                    assert counts.unknown[query] == (not known)
                    if known:
                        share = sum(filter(None, held)) / sum(filter(None, of_label))
                        assert math.isclose(counts.hits[query], share, rel_tol=1e-12)


def test_as_many_queries_together_as_fit() -> None:
    database = duckdb.connect()
    database.execute("CREATE TABLE few AS SELECT unnest(range(3)) AS number")
    database.execute("CREATE TABLE many AS SELECT unnest(range(1000)) AS number")
    engine = DuckDBEngine(database)
    with sizes.replaced(max_rows=200_000):
        assert most_queries_on_classes(engine, DistinctRows("c", 1, ["few"])) == sizes().max_queries_on_buckets
        assert most_queries_on_classes(engine, DistinctRows("c", 1, ["few", "many"])) == 192
    with sizes.replaced(max_rows=1):
        assert most_queries_on_classes(engine, DistinctRows("c", 1, ["few", "many"])) == 64
    database.close()
