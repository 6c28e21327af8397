"""Every method: a process that ends at a stage of a release leaves no table of it and no row in the catalog."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sqlanon
from tests.support.killed_stages import REACHED, STAGES
from tests.support.methods import CALLS, ROOT, with_example


@pytest.mark.one_in(13)
@pytest.mark.parametrize("name", CALLS)
def test_a_process_that_ends_at_a_stage_publishes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "house.duckdb"
    program = [sys.executable, "-m", "tests.support.killed_stages", str(path), str(tmp_path), name]
    ended = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == [REACHED] * len(STAGES)

    monkeypatch.setattr("sqlanon.methods.registry.METHODS", with_example(tmp_path))
    policy, call = CALLS[name]
    with sqlanon.connect(str(path)) as con:
        tables = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'"
        assert con.duckdb.execute(tables).fetchall() == [('the "house',)]
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        # What is left behind is in nobody's way.
        con.execute(f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}")
        assert all(row[-1] for row in con.execute("CHECK made").fetchall())
