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
    assert (tmp_path / "releases" / "main" / "hospital_2026").is_dir()
