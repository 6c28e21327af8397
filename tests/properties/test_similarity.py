"""Policies over long tables: what is published is the source's, and similarity is that of the definition."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlanon.domain.bound import BoundAttribute, LongTable
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.slicing.correlation import equal_ratings
from sqlanon.methods.slicing.options import sizes
from tests.oracles.similarity import Rating, similarity, wide
from tests.support.draws import draws
from tests.support.ratings import films, rated

ITEMS = ("a", 'the "b"', "c.d", "it's", "select")
pairs = st.dictionaries(
    st.tuples(st.sampled_from(["u", "v", "w", "x", "y", "z"]), st.sampled_from(ITEMS)),
    st.none() | st.integers(min_value=1, max_value=3),
    max_size=24,
)
ratings_of = pairs.map(lambda known: [(who, item, value) for (who, item), value in known.items()])


@pytest.mark.drawn
@settings(max_examples=draws(15, long=35), deadline=None)
@given(ratings_of)
def test_similarity_is_that_of_the_definition(ratings: list[Rating]) -> None:
    connection = rated(ratings)
    engine = DuckDBEngine(connection.duckdb)
    bounds = [BoundAttribute(Attribute(name, Role.QUASI_IDENTIFIER), name, "INTEGER", "INTEGER") for name in ITEMS]
    long_table = LongTable(QualifiedName(("ratings",)), ("respondent",), "item", "rating")
    with TempTables(engine) as temp:
        found = equal_ratings(engine, temp, long_table, bounds)
    for first, second in combinations(ITEMS, 2):
        assert found.between(first, second) == pytest.approx(float(similarity(ratings, first, second)))


@pytest.mark.drawn
@settings(max_examples=draws(3, long=20), deadline=None)
@given(ratings_of, st.sampled_from([0, 62]), st.integers(min_value=1, max_value=3), st.sampled_from([None, 1, 2]))
def test_each_bucket_has_the_rows_of_the_source(
    ratings: list[Rating], coded: int, size: int, sensitive_attributes: int | None
) -> None:
    """Whether the items have a place in cells or not, each table has the source's values, in diverse buckets."""
    items = sorted({item for _, item, _ in ratings})
    assume(len(items) > 1)
    last = items[-1]
    assume(len({row[-1] for row in wide(ratings, items)}) > 1)
    connection = rated(ratings)
    films(connection, last.replace('"', '""'))
    about = f", sensitive_attributes => {sensitive_attributes}" if sensitive_attributes else ""
    with sizes.replaced(max_coded_attributes=coded):
        connection.execute(
            "CREATE ANONYMIZED TABLE sliced AS POLICY films METHOD slicing(l => 2, variant => 'distinct', "
            f"similarity => 'equal_ratings', grouping => 'random', bucket_size => {size}{about})"
        )
    source = wide(ratings, items)
    tables = connection.duckdb.execute(
        "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() "
        "WHERE table_name LIKE 'sliced^_%' ESCAPE '^' GROUP BY ALL"
    ).fetchall()
    published = [name for _, columns in tables for name in columns[1:]]
    assert sorted(published) == items
    in_buckets: list[Counter[int]] = []
    for table, columns in tables:
        rows = connection.duckdb.execute(f'FROM "{table}"').fetchall()
        at = [items.index(name) for name in columns[1:]]
        assert Counter(row[1:] for row in rows) == Counter(tuple(row[i] for i in at) for row in source)
        in_buckets.append(Counter(row[0] for row in rows))
        if last in columns:
            of_last = columns.index(last)
            parts: dict[tuple[object, ...], set[object]] = {}
            for row in rows:
                parts.setdefault((*row[:of_last], *row[of_last + 1 :]), set()).add(row[of_last])
            assert min(map(len, parts.values())) >= 2
    assert all(counts == in_buckets[0] for counts in in_buckets)
    assert min(in_buckets[0].values()) >= 2
