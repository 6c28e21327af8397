"""What the files of a release say besides its rows, and who can read them before they are checked."""

from __future__ import annotations

import os
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark import SparkContext
from sqlglot import exp

from sqlanon import UserError, connect
from sqlanon.engines.federated.parquet_releases import ParquetFolder
from sqlanon.engines.spark import SparkEngine
from sqlanon.errors import EngineError
from sqlanon.release.pipeline import check

pytestmark = pytest.mark.spark

PEOPLE = pa.table(
    {
        "sex": ["F", "M"] * 30,
        "who": list(range(60)),
        "disease": [f"d{i % 3}" for i in range(60)],
        "note": ["n"] * 60,
    }
)
POLICY = """
    CREATE POLICY p ON labelled (sex QUASI IDENTIFIER, who ENTITY, disease SENSITIVE, note INSENSITIVE)
    REQUIRE k_anonymity(k => 5)
"""
MOMENTS = """
    CREATE POLICY p ON moments ("at" QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)
"""


def labelled(spark: SparkEngine) -> None:
    """The source, each column of which has labels that no row has, as an encoder writes them."""
    rows = spark.connection.createDataFrame(PEOPLE)
    columns = (
        rows[name].alias(name, metadata={"comment": "SECRET", "ml_attr": {"vals": ["SECRET"]}}) for name in rows.columns
    )
    rows.select(*columns).createOrReplaceTempView("labelled")


@pytest.mark.parametrize("method", ["generalization", "mondrian", "anatomy(l => 2)"])
def test_files_have_nothing_of_a_column_but_its_name_and_type(spark: SparkEngine, tmp_path: Path, method: str) -> None:
    labelled(spark)
    policy = POLICY.replace("who ENTITY, ", "") if "anatomy" in method else POLICY
    with connect(engine="spark", session=spark.connection, releases=tmp_path / "out") as connection:
        connection.execute(
            f"{policy}; CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}; EXPORT r TO '{tmp_path}/x/'"
        )
    files = [*(tmp_path / "out").rglob("*.parquet"), *(tmp_path / "x").rglob("*.parquet")]
    assert {str(file.relative_to(tmp_path)).partition("/")[0] for file in files} == {"out", "x"}
    for file in files:
        assert b"org.apache.spark.sql.parquet.row.metadata" in pyarrow.parquet.ParquetFile(file).metadata.metadata
        assert b"SECRET" not in file.read_bytes()


def test_a_candidate_is_read_by_its_owner_alone(
    spark: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled(spark)
    measured, seen = check.measured, []

    def look(*arguments: Any, **named: Any) -> Any:
        (folder,) = (tmp_path / "out").iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [*folder.rglob("*.parquet")]
        assert duckdb.execute("SELECT count(*) FROM glob(?)", [f"{tmp_path}/out/*/*/*.parquet"]).fetchall() == [(0,)]
        seen.append(folder.name)
        return measured(*arguments, **named)

    monkeypatch.setattr(check, "measured", look)
    with connect(engine="spark", session=spark.connection, releases=tmp_path / "out") as connection:
        connection.execute(f"{POLICY}; CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert seen
    assert os.listdir(tmp_path / "out") == ["main"]


def test_of_two_that_publish_one_name_at_once_one_fails(
    spark: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [ParquetFolder(spark.connection, str(tmp_path / "out")) for _ in range(2)]
    paths = [folder.hidden_path() for folder in folders]
    for number, (folder, path) in enumerate(zip(folders, paths, strict=True), 3):
        folder.write(spark.connection.range(number), path)
    target = str(tmp_path / "out" / "main" / "r")
    for folder, path in zip(folders, paths, strict=True):
        folder.publish(path, target)
    folders[0].before_commit()
    with pytest.raises(UserError, match="is not a release of this catalog"):
        folders[1].before_commit()
    with monkeypatch.context() as both_looked_before:
        both_looked_before.setattr(ParquetFolder, "_exists", lambda *_: False)
        with pytest.raises(EngineError, match="could not be renamed"):
            folders[1].before_commit()
    folders[1].end(committed=False)
    folders[0].end(committed=True)
    assert spark.connection.read.parquet(target).count() == 3
    assert os.listdir(tmp_path / "out") == ["main"]


@pytest.mark.parametrize("method", ["generalization", "anatomy(l => 2)"])
def test_readers_have_the_former_release_until_the_commit(spark: SparkEngine, tmp_path: Path, method: str) -> None:
    labelled(spark)
    policy = POLICY.replace("who ENTITY, ", "")
    seen: dict[str, set[frozenset[Path]]] = {}

    def look(stage: str, *_: object) -> None:
        seen.setdefault(stage, set()).add(files())

    def files() -> frozenset[Path]:
        return frozenset((tmp_path / "out" / "main").rglob("*.parquet"))

    with connect(engine="spark", session=spark.connection, releases=tmp_path / "out") as connection:
        connection.execute(f"{policy}; CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
        former = files()
        connection.observe(look)
        connection.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
        connection.observe(None)
        assert former
        assert not former & files()
        assert {name for name, found in seen.items() if found == {former}} >= {"encode", "materialize", "check"}
        # Its last queries are asked after the commit.
        assert seen["publish"] == {former, files()}
        assert all(row[-1] for row in connection.execute("CHECK r").fetchall())


def test_a_release_is_dropped_alone_whatever_the_folder_is_called(spark: SparkEngine, tmp_path: Path) -> None:
    root = tmp_path / "_sqlanon_releases"
    folder = ParquetFolder(spark.connection, str(root))
    for name in ("one", "two"):
        path = folder.hidden_path()
        folder.write(spark.connection.range(2), path)
        folder.publish(path, str(root / "main" / name))
    folder.before_commit()
    folder.end(committed=True)
    folder.drop(str(root / "main" / "one"))
    folder.before_commit()
    folder.end(committed=True)
    assert os.listdir(root) == ["main"]
    assert os.listdir(root / "main") == ["two"]


def test_a_fingerprint_has_microseconds_wherever_the_session_is(spark: SparkEngine) -> None:
    def fingerprint(moment: str) -> str | None:
        spark.connection.sql(f"SELECT {moment} AS moment").createOrReplaceTempView("moments")
        return spark.fingerprint(exp.select(exp.Star()).from_("moments"))

    for kind in ("timestamp_ntz", "timestamp_ltz"):
        assert fingerprint(f"{kind}'2020-01-01 00:00:00.123456'") != fingerprint(f"{kind}'2020-01-01 00:00:00.123999'")
    here = fingerprint("timestamp_ltz'2020-06-01 12:00:00Z'")
    zone = spark.connection.conf.get("spark.sql.session.timeZone")
    spark.connection.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        assert fingerprint("timestamp_ltz'2020-06-01 12:00:00Z'") == here
    finally:
        spark.connection.conf.set("spark.sql.session.timeZone", str(zone))


def test_moments_without_a_time_zone_stay_so_in_any_session(spark: SparkEngine, tmp_path: Path) -> None:
    """The hours that a change to summer time skips, and those that it has twice."""
    moments = [datetime(2026, 10, 25, 2, 30), datetime(2026, 3, 29, 2, 30)]
    rows = pa.table({"at": pa.array(moments * 6, pa.timestamp("us")), "disease": ["a", "b", "c"] * 4})
    spark.connection.createDataFrame(rows).createOrReplaceTempView("moments")
    settings = {"spark.sql.timestampType": "TIMESTAMP_LTZ", "spark.sql.session.timeZone": "Europe/Berlin"}
    before = {name: str(spark.connection.conf.get(name)) for name in settings}
    for name, value in settings.items():
        spark.connection.conf.set(name, value)
    try:
        with connect(engine="spark", session=spark.connection, releases=tmp_path) as connection:
            connection.execute(MOMENTS)
            connection.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization; CHECK r")
    finally:
        for name, value in before.items():
            spark.connection.conf.set(name, value)
    published = pyarrow.parquet.read_table(tmp_path / "main" / "r").column("at").to_pylist()
    assert sorted(set(published)) == sorted(moments)
    assert len(published) == 12


def test_what_no_session_or_folder_may_be(spark: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="as a pattern"):
        connect(engine="spark", session=spark.connection, releases=tmp_path / "r[1]").execute("SELECT 1")
    conf = spark.connection.sparkContext.getConf().set("spark.speculation", "true")
    monkeypatch.setattr(SparkContext, "getConf", lambda _: conf)
    with pytest.raises(UserError, match="choose random rows again"):
        connect(engine="spark", session=spark.connection, releases=tmp_path)
