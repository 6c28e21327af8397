"""Fragments through Spark: the files that were written have the source's values, and link no more than they may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation, connect
from sqlanon.engines.spark import SparkEngine
from sqlanon.methods.fragmentation.association.block_grids import sizes
from tests.oracles import loose as oracle
from tests.oracles.left_out import worst

pytestmark = pytest.mark.spark

ROWS = 62
RANDOM = Random(23)
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    'zip "4`': (pa.string(), ["94141", "", "a'b\\c${d}", "é😀", None]),
    "note.x": (pa.float64(), [float("inf"), -0.0, 0.0, 1.5, None]),
    "select": (pa.string(), ["flu", "cold", 'a "b"', "", "NULL", None]),
    "the price": (pa.decimal128(8, 2), [*map(Decimal, ("-0.01", "0.25", "7")), None]),
}
SOURCE = pa.table(
    {"who": pa.array(range(ROWS), pa.int64())}
    | {name: pa.array([RANDOM.choice(values) for _ in range(ROWS)], kind) for name, (kind, values) in VALUES.items()}
)
SOURCES = {"source": SOURCE, "one row": SOURCE.slice(3, 1), "nothing": SOURCE.slice(0, 0)}
COLUMNS = (
    'who QUASI IDENTIFIER, "zip ""4`" QUASI IDENTIFIER, "note.x" INSENSITIVE, "select" SENSITIVE, '
    '"the price" INSENSITIVE'
)
APART = '("zip ""4`", "select"), ("the price", "note.x", "select"), ("the price", "who")'
LOOSE_IN_ONE, LOOSE_IN_TWO = '(who, "select")', '("zip ""4`", "select")'

Both = tuple[Connection, Connection, Path]


@pytest.fixture(scope="module")
def connections(spark: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """The same sources in DuckDB and in several parts on Spark, and the folder of the releases."""
    session = spark.connection
    folder = tmp_path_factory.mktemp("releases")
    ours, theirs = connect(), connect(engine="spark", session=session, releases=folder)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    for name, rows in SOURCES.items():
        ours.duckdb.register("given", rows)
        ours.duckdb.execute(f'CREATE TABLE "{name}" AS FROM given')
        session.createDataFrame(rows).repartition(3).createOrReplaceTempView(f"`{name}`")
    yield ours, theirs, folder
    session.conf.set("spark.sql.shuffle.partitions", "1")
    for name in SOURCES:
        session.catalog.dropTempView(name)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(i).to_pylist() for i in range(table.num_columns)), strict=True))


def counted(table: pa.Table) -> Counter[str]:
    """The rows of a table, with 0 and -0 as one value."""
    return Counter(
        repr(tuple(0.0 if value == 0.0 and isinstance(value, float) else value for value in row))
        for row in rows_of(table)
    )


def tables_in(folder: Path, release: str) -> dict[str, pa.Table]:
    return {path.name: pq.read_table(path) for path in sorted((folder / "main").glob(f"{release}_*"))}


def made(connection: Connection, source: str, confidential: str, method: str) -> list[tuple[Any, ...]]:
    """What is said of a release, and then of its check."""
    rows = connection.execute(
        f'CREATE OR REPLACE POLICY p ON "{source}" ({COLUMNS}) CONFIDENTIAL {confidential}; '
        f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}"
    ).fetchall()
    # What is said last of a release on Spark is that nobody looked for overlooked roles.
    return [row[:-1] for row in rows] + connection.execute("CHECK r").fetchall()


@pytest.mark.parametrize("name", SOURCES)
def test_fragments_have_the_rows_of_the_source(name: str, connections: Both) -> None:
    *both, folder = connections
    ours, theirs = (made(connection, name, APART, "fragments") for connection in both)
    assert ours == theirs
    published, source = tables_in(folder, "r"), SOURCES[name]
    assert [table.column_names for table in published.values()] == [
        ["who", 'zip "4`', "note.x"],
        ["select", "the price"],
    ]
    for table in published.values():
        assert counted(table) == counted(source.select(table.column_names))
        assert table.schema.types == [source.schema.field(column).type for column in table.column_names]
    if name == "source":
        # Rows that stand at the same place are not one row of the source.
        first, last = published.values()
        together = pa.table([*first.columns, *last.columns], [*first.column_names, *last.column_names])
        assert counted(together) != counted(source.select(together.column_names))


CASES = [
    ("one key", "loose(k => 4, suppression => 0.5)", LOOSE_IN_ONE, "source"),
    ("two keys", "loose(groups => (2, 2), suppression => 0.5)", LOOSE_IN_TWO, "source"),
    ("no rows", "loose(k => 4)", LOOSE_IN_TWO, "nothing"),
]


@pytest.mark.parametrize(("label", "method", "confidential", "name"), CASES)
def test_associations_are_as_loose_as_required(
    label: str, method: str, confidential: str, name: str, connections: Both
) -> None:
    *both, folder = connections
    # Where the rows of blocks have to differ in several keys, how many are left out is chance.
    with sizes.replaced(max_rows_numbered=7, min_blocks_dealt_again=2):
        ours, theirs = (made(connection, name, confidential, method) for connection in both)
    assert ours == theirs or label == "two keys"
    assert all(row[-1] for row in theirs[-4:])
    one, other, association = tables_in(folder, "r").values()
    source, groups = SOURCES[name], rows_of(association)
    k, own = 4, ["who"] if label == "one key" else ['zip "4`']
    for table in (one, other):
        assert table.column_names[-1] == "group_id"
        own_columns = table.drop_columns("group_id")
        assert counted(own_columns) <= counted(source.select(own_columns.column_names))
        # The rows left out are a class: of no value there is more than one in k of them.
        for key in (own, ["select"]):
            if set(key) <= set(table.column_names):
                left = counted(source.select(key)) - counted(table.select(key))
                assert worst([list(left.elements())]) <= Fraction(1, k)
        # Groups have numbers from 1, and nothing in the order of rows tells which are linked.
        numbers = table.column("group_id").to_pylist()
        assert {*numbers} == {*range(1, 1 + len({*numbers}))}
        assert not numbers or numbers != sorted(numbers)
    sides = [
        list(zip(rows_of(table.select(key)), table.column("group_id").to_pylist(), strict=True))
        for table, key in ((one, own), (other, ["select"]))
    ]
    for pair in (oracle.pair(*sides, groups), oracle.pair(*sides[::-1], [(there, here) for here, there in groups])):
        assert (pair.group, pair.association, pair.deep) == (True, True, True)
        assert pair.k is None if name == "nothing" else pair.k is not None and pair.k >= k


def test_what_cannot_be_loose_is_refused_alike(connections: Both) -> None:
    said = []
    for connection in connections[:2]:
        for source, method in (("one row", "loose(k => 2)"), ("source", "loose(k => 40)")):
            with pytest.raises(PrivacyViolation) as raised:
                made(connection, source, LOOSE_IN_ONE, method)
            said.append((str(raised.value), raised.value.hint))
    assert said[:2] == said[2:]
    with pytest.raises(PolicyError, match="near rows are moved between temporary tables of DuckDB's"):
        made(connections[1], "source", LOOSE_IN_ONE, "loose(k => 4, near => true)")


def test_the_files_of_an_association_are_one_release(spark: SparkEngine, connections: Both, tmp_path: Path) -> None:
    out, target = tmp_path / "out", tmp_path / "given away"
    own = connect(tmp_path / "catalog.duckdb", engine="spark", session=spark.connection, releases=out)
    known = made(own, "source", LOOSE_IN_ONE, "loose(k => 4, suppression => 0.5)")
    before = tables_in(out, "r")
    explained = own.execute(
        "EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p METHOD loose(k => 4, suppression => 0.5)"
    ).fetchall()
    assert ("solve", "fragments", "2: proven minimal") in explained
    own.execute("REFRESH ANONYMIZED TABLE r")
    assert rows_of(tables_in(out, "r")["r_association"]) != rows_of(before["r_association"])
    exported = own.execute(f"EXPORT r TO '{target}/'").fetchall()
    assert [row[2] for row in exported] == [f"{target}/{name}" for name in before]
    with connect() as plain:
        checked = plain.execute(f"CHECK '{target}'").fetchall()
        assert [row[1:4] for row in checked[1:]] == [row[1:4] for row in known[-4:-1]]
    # As many rows as before, of which two have changed groups.
    rows = pq.read_table(out / "main" / "r_1")
    groups = rows["group_id"].to_pylist()
    changed = rows.set_column(rows.num_columns - 1, "group_id", pa.array([*groups[1:], groups[0]]))
    spark.connection.createDataFrame(changed).write.mode("overwrite").parquet(str(out / "main" / "r_1"))
    with pytest.raises(PrivacyViolation, match="do not have the rows any more"):
        own.execute("CHECK r")
    own.execute("DROP ANONYMIZED TABLE r")
    assert [*out.rglob("*.parquet")] == []
