"""Slicing through Spark, and the trivial release: their tables, read from the files that were written, are DuckDB's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation, connect
from sqlanon.engines.spark import SparkEngine
from sqlanon.methods.slicing.options import sizes
from tests.oracles.slicing import bucket_check, diversity
from tests.support.names import quoted
from tests.support.slicing import Case as Known
from tests.support.slicing import Shown, buckets_of, sliced

pytestmark = pytest.mark.spark

ROWS = 40
RANDOM = Random(23)
# Names that steps on the way have, too.
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "region": (pa.int32(), [*range(-20, 20, 5), None]),
    'zip "4`': (pa.string(), ["94141", "", "a'b\\c${d}", "é😀", None]),
    "value_0": (pa.float64(), [float("inf"), -0.0, 0.0, 1.5, None]),
    "draw": (pa.decimal128(8, 2), [*map(Decimal, ("-0.01", "0.25", "7")), None]),
    "select": (pa.string(), ["flu", "cold", 'a "b"', "", None]),
}
NAMES = tuple(VALUES)
ROLES = ("QUASI IDENTIFIER", "QUASI IDENTIFIER", "QUASI IDENTIFIER", "INSENSITIVE", "SENSITIVE")
SOURCE = pa.table(
    {name: pa.array([RANDOM.choice(values) for _ in range(ROWS)], kind) for name, (kind, values) in VALUES.items()}
)
SOURCES = {"source": SOURCE, "nothing": SOURCE.slice(0, 0), "one": SOURCE.slice(0, 1)}
ATTRIBUTES = ", ".join(f"{quoted(name)} {role}" for name, role in zip(NAMES, ROLES, strict=True))
PAIRS = ((0, 2, 3), (1, 4))
APART = ((0, 1), (2, 3), (4,))


class Case(NamedTuple):
    """What is required, the method, and the columns by the positions of their attributes, None where they are found."""

    label: str
    method: str
    columns: tuple[tuple[int, ...], ...] | None = None
    required: str = "k_anonymity(k => 2)"
    source: str = "source"

    def policy(self) -> str:
        return f"CREATE OR REPLACE POLICY p ON {self.source} ({ATTRIBUTES}) REQUIRE {self.required}"

    def release(self) -> str:
        named = (f"({', '.join(quoted(NAMES[at]) for at in one)})" for one in self.columns or ())
        columns = f" COLUMNS {', '.join(named)}" if self.columns else ""
        return f"ANONYMIZED TABLE r AS POLICY p METHOD {self.method}{columns}"


CASES = [
    Case("columns that are found", "slicing(l => 2)"),
    Case("ranges", "slicing(l => 2, column_k => 4)", PAIRS, "k_anonymity(k => 3), t_closeness(t => 0.8)"),
    Case("tuples of everybody", "slicing(l => 2, diversity => 'matching', fake_tuples => 0.5)", APART),
    Case("no rows", "slicing(l => 2)", source="nothing"),
]
DRAWN = Case("drawn buckets", "slicing(l => 3, grouping => 'random', bucket_size => 10)", APART)


class Both(NamedTuple):
    """The same sources in DuckDB and in several parts on Spark, and the folder of the releases there."""

    ours: Connection
    theirs: Connection
    folder: Path

    def files(self) -> dict[str, pa.Table]:
        """The tables of the release on Spark, by the names of their folders."""
        folders = sorted({path.parent for path in self.folder.rglob("*.parquet")})
        return {folder.name: pq.read_table(folder) for folder in folders}

    def tables(self, number: int) -> list[pa.Table]:
        """The tables of a sliced release in DuckDB."""
        return [self.ours.duckdb.sql(f"FROM r_{i + 1}").to_arrow_table() for i in range(number)]


@pytest.fixture(scope="module")
def both(spark: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    session = spark.connection
    folder = tmp_path_factory.mktemp("releases")
    ours, theirs = connect(), connect(engine="spark", session=session, releases=folder)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    for name, rows in SOURCES.items():
        ours.duckdb.register("given", rows)
        ours.duckdb.execute(f"CREATE TABLE {name} AS FROM given")
        session.createDataFrame(rows).repartition(3).createOrReplaceTempView(name)
    yield Both(ours, theirs, folder)
    session.conf.set("spark.sql.shuffle.partitions", "1")
    for name in SOURCES:
        session.catalog.dropTempView(name)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(i).to_pylist() for i in range(table.num_columns)), strict=True))


def by_bucket(tables: list[pa.Table]) -> Counter[str]:
    """What the buckets hold, whatever their numbers are: the rows of each table, with 0 and -0 as one value."""
    buckets: dict[int, list[Counter[str]]] = defaultdict(lambda: [Counter() for _ in tables])
    for index, table in enumerate(tables):
        for bucket, *row in rows_of(table):
            buckets[bucket][index][
                repr([0.0 if value == 0.0 and isinstance(value, float) else value for value in row]).replace(
                    "-0.0", "0.0"
                )
            ] += 1
    return Counter(repr([sorted(counts.items()) for counts in of_tables]) for of_tables in buckets.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_columns_and_buckets_are_those_of_duckdb(case: Case, both: Both) -> None:
    said, checked = [], []
    for connection in (both.ours, both.theirs):
        connection.execute(case.policy())
        if case.columns is None and case.source == "source":
            explained = connection.execute(f"EXPLAIN {case.release()}").fetchall()
            said.append([row for row in explained if row[0] == "solve"])
        made = connection.execute(f"CREATE OR REPLACE {case.release()}").fetchall()
        # What follows are remarks, which look at the rows of the source.
        checked.append(([row[:12] for row in made], connection.execute("CHECK r").fetchall()))
    assert said[:1] == said[1:]
    assert checked[0] == checked[1]
    files = both.files()
    ours = both.tables(len(files))
    assert [(name, table.column_names) for name, table in files.items()] == [
        (f"r_{number}", table.column_names) for number, table in enumerate(ours, start=1)
    ]
    assert by_bucket([*files.values()]) == by_bucket(ours)
    if case.source != "source":
        return
    buckets = [table.column("bucket").to_pylist() for table in files.values()]
    assert {*buckets[0]} == {*range(1, 1 + len({*buckets[0]}))} != {1}
    # Orders that tell nothing: neither that of the buckets, nor one that two tables have.
    orders = [sorted(buckets[0]), *buckets]
    assert all(one != other for number, one in enumerate(orders) for other in orders[:number])


def test_drawn_buckets_are_what_was_required(both: Both, tmp_path: Path) -> None:
    """With more attributes than cells have room for: rows are found by nothing but the numbers of their draws."""
    known = Known(NAMES, ROLES, tuple(rows_of(SOURCE)), APART)
    with sizes.replaced(max_coded_attributes=2):
        both.theirs.execute(f"{DRAWN.policy()}; CREATE OR REPLACE {DRAWN.release()}")
    files = both.files()
    shown: Shown = [[(row[0], tuple(row[1:])) for row in rows_of(table)] for table in files.values()]
    buckets = buckets_of(known, shown)
    assert buckets is not None
    assert sorted(row for bucket in buckets for row in bucket) == [*range(ROWS)]
    # Half of the buckets that are drawn at first are not diverse, and are put together.
    assert all(len(bucket) >= 10 for bucket in buckets)
    assert bucket_check(sliced(known, buckets, 4), diversity(3))
    target = tmp_path / "out"
    both.theirs.execute(f"EXPORT r TO '{target}/'")
    with connect() as plain:
        ours = [row[1:6] for row in both.theirs.execute("CHECK r").fetchall() if row[4] is not None]
        assert [row[1:6] for row in plain.execute(f"CHECK '{target}'").fetchall()[1:]] == ours


def test_what_cannot_be_sliced_is_refused(both: Both) -> None:
    """Alike where not even all rows as one bucket do; what numbers rows, or reads hashes of them, is Spark's own."""
    said = []
    asked = [CASES[0]._replace(source="one"), DRAWN._replace(columns=PAIRS)]
    for connection in (both.ours, both.theirs):
        for case, coded in zip(asked, (3, 2), strict=True):
            connection.execute(case.policy())
            with sizes.replaced(max_coded_attributes=coded), pytest.raises(PrivacyViolation) as raised:
                connection.execute(f"CREATE {case.release()}".replace("TABLE r", "TABLE other"))
            said.append((raised.value.message, raised.value.hint))
    assert said[:2] == said[2:]
    assert "in the column of select" in said[1][0]
    for case, coded, why in (
        (
            DRAWN._replace(method="slicing(l => 2, grouping => 'random', diversity => 'matching')"),
            3,
            "with all buckets",
        ),
        (DRAWN._replace(columns=None), 2, "phi2 is computed of at most 2 quasi-identifiers"),
    ):
        with sizes.replaced(max_coded_attributes=coded), pytest.raises(PolicyError, match=why):
            both.theirs.execute(f"CREATE {case.release()}".replace("TABLE r", "TABLE other"))


def test_a_trivial_release_has_two_tables_that_nothing_links(both: Both) -> None:
    checked = []
    for connection in (both.ours, both.theirs):
        connection.execute(
            f"{CASES[0].policy()}; CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD trivial; "
            "REFRESH ANONYMIZED TABLE r"
        )
        checked.append(connection.execute("CHECK r").fetchall())
    assert checked[0] == checked[1]
    files = both.files()
    assert [*files] == ["r_quasi_identifiers", "r_rest"]
    assert of_one_bucket(files["r_rest"]) == Counter(map(repr, rows_of(SOURCE.select([3, 4]))))
    assert of_one_bucket(files["r_quasi_identifiers"]) == Counter(map(repr, rows_of(SOURCE.select([0, 1, 2]))))
    both.theirs.execute("DROP ANONYMIZED TABLE r")
    assert both.files() == {}


def of_one_bucket(table: pa.Table) -> Counter[str]:
    """The rows of a table without the bucket, which is 1 in all of them."""
    assert {*table.column("bucket").to_pylist()} == {1}
    return Counter(map(repr, rows_of(table.drop_columns("bucket"))))
