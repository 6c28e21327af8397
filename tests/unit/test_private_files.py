"""Files for the owner of the source: nobody else may read them, whatever the umask says, until somebody shares them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.clients.terminal.cli import app

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no modes")

SCRIPT = (
    "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p "
    "METHOD generalization; EXPORT r TO 'out/' (REPORT true, REPLACE true);"
)
# The file that a command writes.
COMMANDS = {
    "report.html": ("report", "r", "-d", "a.duckdb", "-o", "report.html"),
    "policy.html": ("policy", "p", "-d", "a.duckdb", "-o", "policy.html"),
    "release.sql": (
        "compile",
        "r",
        "--dialect",
        "postgres",
        "--source",
        "s.t",
        "--target",
        "s.r",
        "-d",
        "a.duckdb",
        "-o",
        "release.sql",
    ),
    "jobs.jsonl": ("job", "run", "night.sql", "-d", "a.duckdb", "--force", "--log", "jobs.jsonl"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    former = os.umask(0)
    with sqlanon.connect("a.duckdb") as con:
        con.execute("""
            CREATE TABLE t AS SELECT i % 4 AS age, 'd' || i % 3 AS ill FROM range(60) AS r(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
        """)
    Path("night.sql").write_text(SCRIPT, encoding="utf-8")
    yield tmp_path
    os.umask(former)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("file", COMMANDS)
def test_a_new_file_is_the_owners_alone(folder: Path, file: str) -> None:
    """One that was shared stays so: a log is appended to, and what takes its place has its mode."""
    for shared in (0o600, 0o640, 0o604):
        if (folder / file).exists():
            (folder / file).chmod(shared)
        done = CliRunner().invoke(app, COMMANDS[file])
        assert done.exit_code == 0, done.output
        assert (folder / file).read_text(encoding="utf-8")
        assert mode(folder / file) == shared


@pytest.mark.long
def test_a_report_beside_an_export_is_too(folder: Path) -> None:
    with sqlanon.connect("a.duckdb") as con:
        for _ in range(2):
            con.execute("EXPORT r TO 'out/' (REPORT true, REPLACE true)")
            (report,) = folder.glob("*.html")
            assert mode(report) == 0o600
            report.chmod(0o644)
    # What is given away is as the umask says.
    assert mode(folder / "out" / "r.parquet") & 0o044
