"""Which tuples the tables of a release can be joined to, against looking each tuple up in each bucket."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.errors import PrivacyViolation
from tests.oracles.membership import Column, figures
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.estimates.fragments import METHODS, shown
from tests.support.estimates.fragments import sources as apart
from tests.support.estimates.queries import COLUMNS
from tests.support.membership import Buckets, Row, measured
from tests.support.names import HOSTILE, quoted

pytestmark = pytest.mark.drawn

DOMAINS: tuple[Sequence[Any], ...] = ((1, 2, None), ("a", "A", "", None), (0.5, -0.0, None), ("x", "y", "z", None))
TYPES = ("INTEGER", "VARCHAR", "DOUBLE", "VARCHAR")
# What the queries of a matching call their own columns, too.
NAMES = [*HOSTILE, "attribute_0", "attribute_1", "link_0", "bucket_0", "matches", "buckets", "published", "column_0"]
SEVERAL = (
    ((0,), (1,), (2,), (3,)),
    ((0, 1), (2, 3)),
    ((0, 1, 2, 3),),
    ((0, 1, 3), (2, 3)),
    ((0, 1), (1, 2), (2, 3, 0)),
)


def same(found: dict[str, float | None], expected: dict[str, Any]) -> None:
    assert found == pytest.approx({name: None if value is None else float(value) for name, value in expected.items()})


@st.composite
def rows_of_source(draw: st.DrawFn, most: int = 8) -> list[Row]:
    return draw(st.lists(st.tuples(*map(st.sampled_from, DOMAINS)), max_size=most))


@st.composite
def names_of_columns(draw: st.DrawFn) -> tuple[str, ...]:
    return tuple(draw(st.lists(st.sampled_from(NAMES), min_size=4, max_size=4, unique=True)))


@st.composite
def laid_out(draw: st.DrawFn) -> Buckets:
    """Any rows, most of them in buckets."""
    source = draw(rows_of_source())
    buckets = [draw(st.integers(-1, 2)) for _ in source]
    rows = [[row for row, own in enumerate(buckets) if own == bucket] for bucket in range(3)]
    return Buckets(
        draw(names_of_columns()), source, draw(st.sampled_from(SEVERAL)), [own for own in rows if own], TYPES
    )


@settings(max_examples=draws(6, long=50), deadline=None)
@example(Buckets("abcd", [], SEVERAL[1], [], TYPES))
@example(Buckets("abcd", [(1, None, None, "x")], SEVERAL[3], [[0]], TYPES))
@example(Buckets("abcd", [(1, None, None, "x")] * 3, SEVERAL[0], [[0, 1], [2]], TYPES))
@given(laid_out())
def test_buckets_that_are_laid_out(release: Buckets) -> None:
    buckets = [[bucket] * len(release.columns) for bucket in range(len(release.rows))]
    same(release.figures(), figures(release.source, release.of_oracle(), buckets))


@settings(max_examples=draws(3, long=8), deadline=None)
@given(st.integers(1, 40), st.integers(1, 40))
def test_shares_of_many_buckets(first: int, second: int) -> None:
    """Two tuples in so many buckets each, and the tuples between them in as many as both share."""
    source = [(1, "a", 0.5, "x"), (2, "b", 0.5, "y")]
    rows = [[row for row, n in enumerate((first, second)) if bucket < n] for bucket in range(max(first, second))]
    release = Buckets("abcd", source, SEVERAL[1], rows, TYPES)
    buckets = [[bucket] * 2 for bucket in range(len(rows))]
    same(release.figures(), figures(source, release.of_oracle(), buckets))


@dataclass(frozen=True)
class Published:
    """A source of four columns, which is published by a method of buckets."""

    names: tuple[str, ...]
    source: Sequence[Row]
    roles: tuple[str, ...]

    def install(self, method: str) -> Connection:
        con = new_database()
        columns = [f"{quoted(name)} {kind}" for name, kind in zip(self.names, TYPES, strict=True)]
        con.execute(f"CREATE TABLE t ({', '.join(columns)})")
        for row in self.source:
            con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?, ?)", list(row))
        roles = ", ".join(f"{quoted(name)} {role}" for name, role in zip(self.names, self.roles, strict=True))
        con.execute(f"CREATE POLICY p ON t ({roles}) REQUIRE k_anonymity(k => 2)")
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
        return con

    def having(self, role: str) -> list[int]:
        return [index for index, own in enumerate(self.roles) if own.startswith(role)]


@st.composite
def published(draw: st.DrawFn) -> Published:
    names = draw(
        st.lists(st.sampled_from([name for name in NAMES if name != "bucket"]), min_size=4, max_size=4, unique=True)
    )
    roles = [
        draw(st.sampled_from(("QUASI IDENTIFIER", "QUASI IDENTIFIER", "INSENSITIVE", "SENSITIVE"))) for _ in range(2)
    ]
    return Published(tuple(names), draw(rows_of_source(9)), ("QUASI IDENTIFIER", *roles, "SENSITIVE"))


def by_bucket(rows: Sequence[Row]) -> dict[Hashable, list[Row]]:
    buckets: dict[Hashable, list[Row]] = {}
    for bucket, *values in rows:
        buckets.setdefault(bucket, []).append(tuple(values))
    return buckets


def of_anatomy(con: Connection, task: Published) -> list[Column]:
    sensitive = task.having("SENSITIVE")
    exact = [index for index in range(4) if index not in sensitive]
    named = ", ".join(["bucket", *(quoted(task.names[index]) for index in exact)])
    columns = [Column(exact, by_bucket(con.duckdb.execute(f"SELECT {named} FROM r_qi").fetchall()))]
    for index in sensitive:
        table = quoted("r_sensitive" if len(sensitive) == 1 else f"r_{task.names[index]}")
        rows = con.duckdb.execute(f"SELECT bucket, value FROM {table}").fetchall()
        columns.append(Column([index], by_bucket(rows)))
    return columns


def of_regions(con: Connection, task: Published) -> list[Column]:
    sensitive = task.having("SENSITIVE")
    exact = [index for index in range(4) if index not in sensitive]
    columns = []
    for own in (exact, sensitive):
        named = ", ".join(["bucket", *(quoted(task.names[index]) for index in own)])
        columns.append(Column(own, by_bucket(con.duckdb.execute(f"SELECT {named} FROM r").fetchall())))
    return columns


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "columns_of"),
    [("anatomy(l => 2, variant => 'distinct')", of_anatomy), ("mondrian(publish => 'none')", of_regions)],
    ids=["anatomy", "mondrian"],
)
def test_releases_of_buckets(method: str, columns_of: Callable[[Connection, Published], list[Column]]) -> None:
    @settings(max_examples=draws(4, long=8), deadline=None, suppress_health_check=[*HealthCheck])
    @given(published())
    def holds(task: Published) -> None:
        try:
            con = task.install(method)
        except PrivacyViolation:
            return
        with con:
            columns = columns_of(con, task)
            buckets = [[bucket] * len(columns) for bucket in columns[0].values]
            same(measured(con), figures(task.source, columns, buckets))

    holds()


SLICED = (((0,), (1,), (2,), (3,)), ((0, 1), (2, 3)), ((0, 1, 2), (3,)), ((0, 1), (1, 2), (3,)), ((0, 2), (1, 2, 3)))


@settings(max_examples=draws(2, long=8), deadline=None, suppress_health_check=[*HealthCheck])
@given(st.data(), st.sampled_from(SLICED))
def test_slices(data: st.DataObject, columns: Sequence[Sequence[int]]) -> None:
    """Attributes in several columns, too."""
    task = replace(data.draw(published()), roles=("QUASI IDENTIFIER",) * 3 + ("SENSITIVE",))
    listed = ", ".join(f"({', '.join(quoted(task.names[index]) for index in attributes)})" for attributes in columns)
    try:
        con = task.install(f"slicing(l => 2, variant => 'distinct') COLUMNS {listed}")
    except PrivacyViolation:
        return
    with con:
        of_oracle = []
        for number, attributes in enumerate(columns, start=1):
            named = ", ".join(["bucket", *(quoted(task.names[index]) for index in attributes)])
            of_oracle.append(
                Column(attributes, by_bucket(con.duckdb.execute(f"SELECT {named} FROM r_{number}").fetchall()))
            )
        buckets = [[bucket] * len(columns) for bucket in of_oracle[0].values]
        same(measured(con), figures(task.source, of_oracle, buckets))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("release", METHODS)
def test_fragments_and_groups(release: str) -> None:
    @settings(max_examples=draws(2, long=6), deadline=None, suppress_health_check=[*HealthCheck])
    @given(apart(release))
    def holds(task: Any) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            fragments, association = shown(con, task)
            positions = {name: index for index, name in enumerate(COLUMNS)}
            columns = [
                Column(
                    [positions[name] for name in names],
                    by_bucket([(group, *(row[name] for name in names)) for row, group in rows]),
                )
                for names, rows in zip(task.fragments, fragments, strict=True)
            ]
            source = [tuple(row[name] for name in COLUMNS) for row in task.rows]
            same(measured(con), figures(source, columns, association))

    holds()
