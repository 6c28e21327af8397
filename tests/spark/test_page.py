"""What the page on Spark shows is what happens (make test-spark)."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlanon import connect
from sqlanon.engines.spark import SparkEngine
from tests.support.pages import ROOT, Reading

pytestmark = pytest.mark.spark

PAGE = "docs/spark.md"


def test_the_page_does_what_it_says(spark: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients").mkdir()
    with connect() as connection:
        connection.execute((ROOT / "sql" / "examples" / "hospital.sql").read_text(encoding="utf-8"))
        connection.execute("COPY patients TO 'patients/part-0.parquet'")
    reading = Reading(tmp_path, has_spark=True)
    reading.page((ROOT / PAGE).read_text(encoding="utf-8").replace('"/data/', f'"{tmp_path}/'), PAGE)
    folder = tmp_path / "releases" / "main" / "hospital_2026"
    session, releases = spark.connection, tmp_path / "releases"
    try:
        assert session.table("hospital_2026").count() == session.read.parquet(str(folder)).count() > 0
        with connect("catalog.duckdb", engine="spark", session=session, releases=releases) as connection:
            connection.execute("REFRESH ANONYMIZED TABLE hospital_2026")
        session.sql("REFRESH TABLE hospital_2026")
        assert session.table("hospital_2026").count() == session.read.parquet(str(folder)).count() > 0
    finally:
        spark.connection.sql("DROP TABLE hospital_2026")
    assert [*folder.glob("*.parquet")]
