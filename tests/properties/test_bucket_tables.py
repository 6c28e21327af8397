"""Whether the tables of buckets fit together, against the definition, however the rows stand and whatever they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.methods.anatomy.method import unequal_buckets
from sqlanon.methods.anatomy.tables import differing, misplaced, out_of_order, out_of_place, unequal
from sqlanon.sql.build.names import relation
from sqlanon.sql.classes.buckets import BucketValues
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

_BUCKETS = st.sampled_from((1, 1, 2, 3, None, -5, 2**62))
_VALUES = st.sampled_from((None, None, "", "a", "B", "b", "é", "NULL"))
_COUNTS = st.sampled_from((1, 1, 1, 2, 3, 0, -1, None, 2**40))
Rows = Sequence[tuple[Any, ...]]


def fit(buckets: Sequence[int | None], values: Rows) -> bool:
    """Each bucket has as many rows as values, and has a value once, of at least one row."""
    if any(count is None or count < 1 for *_, count in values):
        return False
    if len({(bucket, value) for bucket, value, _ in values}) < len(values):
        return False
    held: Counter[int | None] = Counter()
    for bucket, _, count in values:
        held[bucket] += count
    return held == Counter(buckets)


def ascending(values: Rows) -> bool:
    """By bucket and value, NULL last among the values; a bucket NULL is in no order."""
    keys = [(bucket, value is None, (value or "").encode()) for bucket, value, _ in values]
    if any(count is None or count < 1 for *_, count in values):
        return False
    return all(one[0] is not None and other[0] is not None and one < other for one, other in pairwise(keys))


def engine_with(buckets: Sequence[int | None], values: Rows) -> DuckDBEngine:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE exact (bucket BIGINT); CREATE TABLE held (bucket BIGINT, value VARCHAR, count BIGINT)"
    )
    for bucket in buckets:
        connection.execute("INSERT INTO exact VALUES (?)", [bucket])
    for row in values:
        connection.execute("INSERT INTO held VALUES (?, ?, ?)", list(row))
    return DuckDBEngine(connection)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int | None], list[tuple[Any, ...]]]:
    """Any tables, and such as nearly fit, in their order or in any."""
    values = draw(st.lists(st.tuples(_BUCKETS, _VALUES, _COUNTS), max_size=7))
    if draw(st.booleans()):
        own = {(bucket, value): count for bucket, value, count in values if bucket is not None}
        values = sorted(
            ((*key, draw(st.integers(1, 2))) for key in own), key=lambda row: (row[0], row[1] is None, row[1] or "")
        )
    if draw(st.booleans()):
        values = draw(st.permutations(values))
    small = [(bucket, count) for bucket, _, count in values if count is not None and 0 < count < 9]
    buckets = [bucket for bucket, count in small for _ in range(count)]
    change = draw(st.sampled_from(("none", "none", "more", "less")))
    if change == "more":
        buckets.append(draw(_BUCKETS))
    if change == "less":
        buckets = buckets[1:]
    return draw(st.permutations(buckets)), values


@settings(max_examples=draws(7, long=40), deadline=None)
@example(([], []))
@example(([1], []))
@example(([], [(1, "a", 1)]))
@example(([1, 1], [(1, "a", 1), (1, None, 1)]))
@example(([1, 1], [(1, None, 1), (1, None, 1)]))
@example(([1, 1], [(1, None, 1), (1, "a", 1)]))
@example(([1, 2], [(1, "a", 2), (2, "a", 0)]))
@example(([1, 1, 2], [(1, "a", 1), (2, "a", 2)]))
@example(([1, 1, 2], [(1, "a", 1), (1, None, 1), (2, "a", 1)]))
@example(([1, 2, 1], [(1, "a", 1), (1, None, 1), (2, "a", 1)]))
@example(([1, 1], [(1, "a", 1), (1, None, 1), (2, "a", 1)]))
@example(([1, None], [(1, "a", 1), (None, "a", 1)]))
@given(tables())
def test_tables_fit_iff_their_buckets_are_the_same(case: tuple[list[int | None], list[tuple[Any, ...]]]) -> None:
    buckets, values = case
    engine = engine_with(buckets, values)
    exact, held = relation("exact"), relation("held")
    tables = {"qi": exact, "sensitive": held}
    for as_stored in (False, True):
        found = unequal_buckets(
            engine, tables, {"d": BucketValues("sensitive", "bucket", "value", (), "count")}, as_stored=as_stored
        )
        assert (found == 0) == fit(buckets, values)
    assert (engine.rows(unequal(exact.copy(), held.copy()))[0][0] == 0) == fit(buckets, values)
    in_order = engine.rows(out_of_order(held.copy()))[0][0] == 0
    if len(values) > 1:
        assert in_order == ascending(values)
    if in_order:
        assert (engine.rows(differing(exact.copy(), held.copy()))[0][0] == 0) == fit(buckets, values)
    known = None not in buckets
    beside = known and [(bucket, 1) for bucket in buckets] == [(bucket, count) for bucket, _, count in values]
    assert (engine.rows(misplaced(exact.copy(), held.copy()))[0][0] == 0) == beside
    by_bucket = known and buckets == sorted(bucket for bucket in buckets if bucket is not None)
    assert (engine.rows(out_of_place(exact.copy()))[0][0] == 0) == by_bucket
