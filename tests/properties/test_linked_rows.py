"""The tables of random releases as one: each bucket keeps its rows and its values, and a seed its links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon import Connection, SqlanonError
from sqlanon.catalog.releases import load
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.release.existing.estimable import published, recorded
from sqlanon.release.existing.linked_rows import linked_rows
from sqlanon.sql.build.names import column
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

NAMES = ('a "ge"', "it's", "é 中")
Row = tuple[Hashable, ...]

tables = st.lists(
    st.tuples(st.sampled_from((None, -3, 2**40, 7)), st.sampled_from((None, "", "F", "it's")), st.sampled_from("abcd")),
    min_size=1,
    max_size=24,
)
METHODS = ("anatomy(l => 2)", "slicing(l => 2, columns => 3)", "trivial", "trivial(drop => 'sensitive')")


def released(table: Sequence[Row], method: str) -> Connection:
    con = new_database()
    age, sex, disease = map(quoted, NAMES)
    con.execute(f"CREATE TABLE people ({age} BIGINT, {sex} VARCHAR, {disease} VARCHAR)")
    con.executemany("INSERT INTO people VALUES (?, ?, ?)", [list(row) for row in table])
    con.execute(
        f"CREATE POLICY p ON people ({age} QUASI IDENTIFIER, {sex} QUASI IDENTIFIER, {disease} SENSITIVE) "
        "REQUIRE k_anonymity(k => 1)"
    )
    try:
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    except SqlanonError:
        assume(False)
    return con


def linked(con: Connection, seed: int) -> list[Row]:
    engine = DuckDBEngine(con.duckdb)
    model = published(recorded(engine, load(engine, QualifiedName(("r",)))), ["r"])
    with TempTables(engine) as temp:
        query = linked_rows(temp, model, [fold(name) for name in NAMES], seed)
        columns = [column(str(index)) for index in range(len(NAMES))]
        return engine.rows(exp.select(*columns).from_(query.subquery("linked")))


def buckets(con: Connection) -> dict[Hashable, list[Counter[Row]]]:
    """Of each bucket the values of each of its columns, by their positions in the source."""
    counts: dict[Hashable, list[Counter[Row]]] = {}
    listed = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND starts_with(table_name, 'r_')"
    for (name,) in con.duckdb.execute(listed).fetchall():
        query = con.duckdb.execute(f"SELECT * FROM {quoted(name)}")
        header = [part[0] for part in query.description or []]
        for row in query.fetchall():
            parts = dict(zip(header, row, strict=True))
            of_bucket = counts.setdefault(parts["bucket"], [Counter() for _ in NAMES])
            for index, source in enumerate(NAMES):
                published_as = "value" if "value" in parts and index == 2 else source
                if published_as in parts:
                    of_bucket[index][parts[published_as]] += parts.get("count", 1)
    return counts


@settings(max_examples=draws(2, long=12), deadline=None)
@given(tables, st.sampled_from(METHODS), st.integers(0, 5))
def test_links_stay_within_buckets(table: list[Row], method: str, seed: int) -> None:
    with released(table, method) as con:
        rows = linked(con, seed)
        assert Counter(linked(con, seed)) == Counter(rows)
        by_bucket = buckets(con)
        for index in range(len(NAMES)):
            assert Counter(row[index] for row in rows) == Counter(row[index] for row in table)
        for row, count in Counter(rows).items():
            most = sum(
                min(of_bucket[index][value] for index, value in enumerate(row)) for of_bucket in by_bucket.values()
            )
            assert count <= most
