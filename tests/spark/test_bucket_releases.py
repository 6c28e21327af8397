"""Anatomy through Spark: its tables, read from the files that were written, are what the source and the policy say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sqlanon import CatalogError, Connection, PrivacyViolation, connect
from sqlanon.engines.federated.parquet_releases import ParquetReleases
from sqlanon.engines.spark import SparkEngine
from tests.oracles.anatomy import by_bucket, diverse, fitting, most_groups

pytestmark = pytest.mark.spark

ROWS = 48
RANDOM = Random(17)
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "age": (pa.int32(), [*range(20, 60, 5), None]),
    'zip "4`': (pa.string(), ["94141", "", "a'b\\c${d}", "é😀", None]),
    "note.x": (pa.float64(), [float("inf"), -0.0, 0.0, 1.5, None]),
    "select": (pa.string(), ["flu", "cold", 'a "b"', "", None]),
    "the price": (pa.decimal128(8, 2), [*map(Decimal, ("-0.01", "0.25", "7")), None]),
}
SOURCE = pa.table(
    {name: pa.array([RANDOM.choice(values) for _ in range(ROWS)], kind) for name, (kind, values) in VALUES.items()}
)
QUASI_IDENTIFIERS = 'age QUASI IDENTIFIER, "zip ""4`" QUASI IDENTIFIER, "note.x" INSENSITIVE'
ONE, BOTH = '"select" SENSITIVE', '"select" SENSITIVE, "the price" SENSITIVE'


class Case(NamedTuple):
    """What a policy has besides its quasi-identifiers, the arguments of the method, and what buckets have to be."""

    label: str
    sensitive: str
    required: str
    method: str
    variant: str
    least: int
    source: str = "source"
    merged: bool = False


CASES = [
    Case("groups as they are dealt", ONE, "l_diversity(l => 2)", "l => 3", "probabilistic", 3),
    Case(
        "merged groups",
        BOTH,
        "k_anonymity(k => 16), t_closeness(t => 0.6)",
        "l => 3, variant => 'recursive', c => 1.5",
        "recursive",
        3,
        merged=True,
    ),
    Case("regions", ONE, "l_diversity(l => 2)", "l => 3, variant => 'distinct', grouping => 'near'", "distinct", 3),
    Case("no rows", ONE, "l_diversity(l => 2)", "l => 2", "probabilistic", 2, source="nothing"),
]


@pytest.fixture(scope="module")
def connections(
    spark: SparkEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Connection, Connection, Path]]:
    """The same source in DuckDB and in several parts on Spark, and the folder of the releases."""
    session = spark.connection
    folder = tmp_path_factory.mktemp("releases")
    ours, theirs = connect(), connect(engine="spark", session=session, releases=folder)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    for name, rows in (("source", SOURCE), ("nothing", SOURCE.slice(0, 0))):
        ours.duckdb.register("given", rows)
        ours.duckdb.execute(f"CREATE TABLE {name} AS FROM given")
        session.createDataFrame(rows).repartition(3).createOrReplaceTempView(name)
    yield ours, theirs, folder
    session.conf.set("spark.sql.shuffle.partitions", "1")
    for name in ("source", "nothing"):
        session.catalog.dropTempView(name)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(i).to_pylist() for i in range(table.num_columns)), strict=True))


def counted(table: pa.Table) -> Counter[str]:
    """The rows of a table, with 0 and -0 as one value."""
    return Counter(
        repr(tuple(0.0 if value == 0.0 and isinstance(value, float) else value for value in row))
        for row in rows_of(table)
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_buckets_are_what_was_required(case: Case, connections: tuple[Connection, Connection, Path]) -> None:
    *both, folder = connections
    made = []
    for connection in both:
        connection.execute(
            f"CREATE OR REPLACE POLICY p ON {case.source} ({QUASI_IDENTIFIERS}, {case.sensitive}) "
            f"REQUIRE {case.required}; "
            f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD anatomy({case.method})"
        )
        made.append(connection.execute("CHECK r").fetchall())
    # What is reached depends on draws where groups are merged, and what is required does not.
    assert [row[:4] for row in made[0]] == [row[:4] for row in made[1]]
    assert all(row[-1] for rows in made for row in rows)
    source = SOURCE if case.source == "source" else SOURCE.slice(0, 0)
    exact = pq.read_table(folder / "main" / "r_qi")
    assert exact.column_names == ["age", 'zip "4`', "note.x", "bucket"]
    assert counted(exact.drop_columns("bucket")) == counted(source.select([0, 1, 2]))
    buckets = exact.column("bucket").to_pylist()
    assert {*buckets} == {*range(1, 1 + len({*buckets}))}
    names = ["select"] if case.sensitive == ONE else ["select", "the price"]
    for name in names:
        published = pq.read_table(
            folder / "main" / ("r_sensitive" if len(names) == 1 else f"r_{name}".replace(" ", "%20"))
        )
        assert published.schema.types == [pa.int64(), VALUES[name][0], pa.int64()]
        values = by_bucket(rows_of(published))
        assert sum(values.values(), Counter()) == Counter(source.column(name).to_pylist())
        assert fitting(buckets, values)
        assert all(diverse(counts, case.variant, case.least, Fraction("1.5")) for counts in values.values())
        if case.label == "groups as they are dealt":
            # An order that tells nothing: neither that of the buckets, nor one that both tables have.
            order = published.column("bucket").to_pylist()
            assert sorted(buckets) not in (buckets, order)
            assert list(dict.fromkeys(order)) != list(dict.fromkeys(buckets))
            assert len({*buckets}) == most_groups(source.column("select").to_pylist(), case.least)
    if not case.merged:
        (ours,) = both[0].execute("SELECT count(DISTINCT bucket) FROM r_qi").fetchone() or (0,)
        assert len({*buckets}) == ours


def test_what_cannot_be_dealt_out_is_refused_alike(connections: tuple[Connection, Connection, Path]) -> None:
    said = []
    for connection in connections[:2]:
        connection.execute(
            f"CREATE OR REPLACE POLICY p ON source ({QUASI_IDENTIFIERS}, {BOTH}) REQUIRE l_diversity(l => 2)"
        )
        with pytest.raises(PrivacyViolation) as raised:
            connection.execute("CREATE ANONYMIZED TABLE refused AS POLICY p METHOD anatomy(l => 5)")
        said.append((str(raised.value), raised.value.hint))
    assert said[0] == said[1]
    assert "its most frequent value" in said[0][0]


def test_the_folders_of_a_release_are_one(
    spark: SparkEngine, connections: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, target = tmp_path / "out", tmp_path / "given away"
    own = connect(tmp_path / "catalog.duckdb", engine="spark", session=spark.connection, releases=out)
    own.execute(
        f"CREATE POLICY p ON source ({QUASI_IDENTIFIERS}, {ONE}) REQUIRE l_diversity(l => 2); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 3)"
    )
    before = files_in(out)
    assert {path.parent.name for path in before} == {"r_qi", "r_sensitive"}

    renamed = ParquetReleases.before_commit

    def fail(releases: ParquetReleases) -> None:
        assert files_in(out / "main").keys() == before.keys()
        renamed(releases)
        assert not before.keys() & {*(out / "main").rglob("*.parquet")}
        raise CatalogError("as if the catalog could not be written")

    with monkeypatch.context() as patched:
        patched.setattr(ParquetReleases, "before_commit", fail)
        with pytest.raises(CatalogError):
            own.execute("REFRESH ANONYMIZED TABLE r")
    assert files_in(out) == before
    exported = own.execute(f"EXPORT r TO '{target}/'").fetchall()
    assert [row[2:4] for row in exported] == [(f"{target}/r_qi", ROWS), (f"{target}/r_sensitive", ROWS)]
    with connect() as plain:
        checked = plain.execute(f"CHECK '{target}'").fetchall()
        known = own.execute("CHECK r").fetchall()
        assert [row[1:6] for row in checked[1:]] == [row[1:6] for row in known if row[4] is not None]
        query = "SELECT count(*) AS n FROM source"
        assert plain.execute(f"ESTIMATE {query} FROM RELEASE '{target}'").fetchall()[0][0] == ROWS
        more = target / "r_sensitive" / "other.parquet"
        more.write_bytes(next((target / "r_qi").iterdir()).read_bytes())
        with pytest.raises(PrivacyViolation, match="r_sensitive has other files than"):
            plain.execute(f"CHECK '{target}'")
    # Buckets have as many rows as before, and other ones.
    rows = pq.read_table(out / "main" / "r_qi")
    buckets = rows["bucket"].to_pylist()
    changed = rows.set_column(3, "bucket", pa.array([*buckets[1:], buckets[0]]))
    spark.connection.createDataFrame(changed).write.mode("overwrite").parquet(str(out / "main" / "r_qi"))
    with pytest.raises(PrivacyViolation, match="do not have the rows any more"):
        own.execute("CHECK r")
    own.execute("DROP ANONYMIZED TABLE r")
    assert files_in(out) == {}


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.parquet")}
