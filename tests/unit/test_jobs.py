"""`sqlanon job run`: scripts that are run again and again, if there is anything to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from sqlanon import connect
from sqlanon.clients.terminal.cli import app

SCRIPT = """
BEGIN;
CREATE OR REPLACE HIERARCHY tens AS INTERVALS (10);
CREATE OR REPLACE HIERARCHY wards AS LEVELS (SELECT ward, area FROM areas);
CREATE OR REPLACE POLICY p ON visits (age QUASI IDENTIFIER USING tens, ward QUASI IDENTIFIER USING wards, ill SENSITIVE)
REQUIRE k_anonymity(k => 5);
CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
COMMIT;
CHECK r;
EXPORT r TO 'out/' (REPLACE true);
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return prepared(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the job has run once, which no test changes."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        prepared(folder)
        assert outcome() == "done"
    return folder


@pytest.fixture
def done(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, in which the job has run once. A copy is no change: `test_order_is_no_change`."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(finished, tmp_path, dirs_exist_ok=True)


def prepared(folder: Path) -> Path:
    """The current folder, with a database and the script of the job."""
    change("""
        CREATE TABLE areas AS SELECT 'w' || i AS ward, ['North', 'South'][1 + i % 2] AS area FROM range(4) AS t(i);
        CREATE TABLE visits AS
        SELECT 20 + i % 40 AS age, 'w' || i % 4 AS ward, ['Flu', 'Cold'][1 + i % 2] AS ill FROM range(400) AS t(i);
    """)
    (folder / "night.sql").write_text(SCRIPT, encoding="utf-8")
    return folder


def change(script: str) -> None:
    connect("a.duckdb").execute(script).close()


def rows(query: str) -> list[tuple[Any, ...]]:
    with connect("a.duckdb") as con:
        answer: list[tuple[Any, ...]] = con.sql(query).fetchall()
    return answer


def run(*arguments: str, scripts: tuple[str, ...] = ("night.sql",)) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and the log."""
    done = CliRunner().invoke(app, ["job", "run", *scripts, "-d", "a.duckdb", "--json", *arguments])
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()]


def outcome(*arguments: str) -> str:
    code, log = run(*arguments)
    assert log[-1]["exit_code"] == code
    return str(log[-1]["outcome"])


def release_id() -> str:
    return str(rows("SELECT release_id FROM anon.release")[0][0])


@pytest.mark.long
def test_there_is_nothing_to_do_twice(folder: Path) -> None:
    code, log = run()
    assert code == 0
    assert [line["event"] for line in log if line["event"] != "remark"] == ["begun", *["statement"] * 8, "ended"]
    made = release_id()
    code, log = run()
    assert (code, [line["event"] for line in log], log[-1]["outcome"]) == (0, ["begun", "ended"], "unchanged")
    assert release_id() == made
    assert outcome("--force") == "done"
    assert release_id() != made


LABELS = ("job", "release", "requirement", "attribute")
CHANGES = {
    "a row more": "INSERT INTO visits VALUES (20, 'w0', 'Flu')",
    "a value": "UPDATE visits SET ill = 'Ulcer' WHERE rowid = 7",
    "a row twice for another": "UPDATE visits SET age = 20, ward = 'w0', ill = 'Flu' WHERE rowid = 1",
    "a value of a hierarchy": "UPDATE areas SET area = 'East' WHERE ward = 'w1'",
    "the type of a column": "ALTER TABLE visits ALTER age TYPE INTEGER",
    "a column more": "ALTER TABLE visits ADD COLUMN more INTEGER",
    "the release is gone": "DROP ANONYMIZED TABLE r",
    "the release was changed": "UPDATE r SET ill = 'Flu'",
    "the release was made again": "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization",
    "it is another release": "DROP ANONYMIZED TABLE r; CREATE TABLE r AS SELECT 1 AS a",
    "nobody knows of the last run": "DELETE FROM anon.job",
    "two last runs": "INSERT INTO anon.job FROM anon.job",
}


@pytest.mark.long
@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changes_is_noticed(done: Path, name: str) -> None:
    change(CHANGES[name])
    if name == "it is another release":
        assert outcome() == "failed"
        return
    assert outcome() == "done"
    assert outcome() == "unchanged"


def test_order_is_no_change(done: Path) -> None:
    change("CREATE OR REPLACE TABLE visits AS FROM visits ORDER BY random()")
    assert outcome() == "unchanged"


@pytest.mark.long
@pytest.mark.parametrize("how", ["gone", "certificate", "one byte", "certificate.md", "a file more", "older"])
def test_files_are_looked_at(done: Path, how: str) -> None:
    data, certificate = done / "out" / "r.parquet", done / "out" / "certificate.json"
    match how:
        case "gone":
            for file in (done / "out").iterdir():
                file.unlink()
        case "certificate":
            certificate.unlink()
            data.unlink()
        case "one byte":
            data.write_bytes(data.read_bytes()[:-1] + b"x")
        case "certificate.md":
            (done / "out" / "certificate.md").unlink()
        case "a file more":
            (done / "out" / "more.csv").touch()
        case "older":
            shutil.copytree(done / "out", done / "former")
            assert outcome("--force") == "done"
            shutil.rmtree(done / "out")
            (done / "former").rename(done / "out")
    # What was changed is no export any more, and is never replaced.
    assert outcome() == ("failed" if how in ("one byte", "a file more") else "done")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("script", ["CHECK r;", "EXPORT r TO 'again/' (REPLACE true);"])
def test_a_release_of_another_script_is_looked_at_each_time(done: Path, script: str) -> None:
    (done / "night.sql").write_text(script, encoding="utf-8")
    assert [outcome(), outcome()] == ["done", "done"]


@pytest.mark.long
def test_a_key_that_signs_is_part_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one.key", "other.key"):
        assert CliRunner().invoke(app, ["keygen", name, "--quiet"]).exit_code == 0
    (folder / "night.sql").write_text(SCRIPT.replace("REPLACE true", "REPLACE true, SIGN KEY 'KEY'"), encoding="utf-8")
    monkeypatch.setenv("KEY", "one.key")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    monkeypatch.setenv("KEY", "other.key")
    assert [outcome(), outcome()] == ["done", "unchanged"]


@pytest.mark.long
@pytest.mark.parametrize("of_script", [True, False], ids=["policy of the script", "policy of another script"])
@pytest.mark.parametrize("role", ["ENTITY", "IDENTIFIER"])
def test_the_key_of_a_pseudonym_is_part_of_it(
    folder: Path, role: str, of_script: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that was rotated because somebody may know it leaves no token of its own behind."""
    change("ALTER TABLE visits ADD COLUMN who VARCHAR; UPDATE visits SET who = 'p' || rowid;")
    made = (
        f"CREATE OR REPLACE POLICY p ON visits (who {role} PSEUDONYM KEY 'TOKEN_KEY', age QUASI IDENTIFIER, "
        "ill SENSITIVE) REQUIRE k_anonymity(k => 2); CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p "
        "METHOD generalization;"
    )
    monkeypatch.setenv("TOKEN_KEY", "the first key, 0123456789")
    if not of_script:
        change(made)
        made = "REFRESH ANONYMIZED TABLE r;"
    (folder / "night.sql").write_text(f"{made}\nEXPORT r TO 'out/' (FORMAT csv, REPLACE true);", encoding="utf-8")
    tokens = []
    for key in ("the first key, 0123456789", "the second key, 0123456789", "the first key, 0123456789"):
        monkeypatch.setenv("TOKEN_KEY", key)
        assert [outcome(), outcome()] == ["done", "unchanged"]
        tokens.append(_words(folder / "out"))
    first, second, again = tokens
    assert first == again
    assert len(first - second) >= 400
    monkeypatch.delenv("TOKEN_KEY")
    assert outcome() == "failed"


def _words(folder: Path) -> set[str]:
    """The values of all CSV files in a folder."""
    texts = [file.read_text(encoding="utf-8") for file in folder.glob("*.csv")]
    return {value for text in texts for line in text.splitlines() for value in line.split(",")}


@pytest.mark.long
def test_a_macro_that_a_query_calls_is_part_of_it(folder: Path) -> None:
    change("CREATE MACRO coarse(age) AS age // 10")
    text = SCRIPT.replace("ON visits", "ON (SELECT coarse(age) AS age, ward, ill FROM visits)")
    (folder / "night.sql").write_text(text, encoding="utf-8")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    change("CREATE OR REPLACE MACRO coarse(age) AS age // 20")
    assert [outcome(), outcome()] == ["done", "unchanged"]


@pytest.mark.long
def test_a_version_is_part_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of DuckDB, and of a package that has plug-ins."""
    assert [outcome(), outcome()] == ["done", "unchanged"]
    monkeypatch.setattr("duckdb.__version__", "9.9.9")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    monkeypatch.setattr("sqlanon.clients.jobs.inputs.plugin_versions", lambda: [("extended", "1.1")])
    assert [outcome(), outcome()] == ["done", "unchanged"]


@pytest.mark.long
def test_a_transaction_ends_with_its_job(folder: Path) -> None:
    """One that fails within BEGIN and COMMIT, and one without COMMIT, leave nothing to the next job."""
    (folder / "fails.sql").write_text(SCRIPT.replace("k => 5", "k => 500"), encoding="utf-8")
    (folder / "open.sql").write_text("BEGIN; CREATE OR REPLACE HIERARCHY tens AS INTERVALS (7);", encoding="utf-8")
    code, log = run(scripts=("fails.sql", "open.sql", "night.sql"))
    ended = {line["job"]: (line["outcome"], line["exit_code"]) for line in log if line["event"] == "ended"}
    assert ended == {"fails": ("failed", 1), "open": ("failed", 2), "night": ("done", 0)}
    assert code == 1
    assert rows("SELECT DISTINCT arguments FROM anon.hierarchy WHERE hierarchy = 'tens'")[0][0] == "[10]"


@pytest.mark.long
def test_the_script_is_part_of_it(done: Path) -> None:
    (done / "night.sql").write_text(SCRIPT.replace("k => 5", "k => 6"), encoding="utf-8")
    assert outcome() == "done"
    assert outcome() == "unchanged"


@pytest.mark.long
def test_a_policy_of_another_script_is_part_of_it(done: Path) -> None:
    (done / "night.sql").write_text(
        "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization;", encoding="utf-8"
    )
    assert [outcome(), outcome()] == ["done", "unchanged"]
    change("ALTER POLICY p REQUIRE k_anonymity(k => 7)")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    change("CREATE OR REPLACE HIERARCHY tens AS INTERVALS (10, 20)")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    change("DELETE FROM visits WHERE rowid < 10")
    (done / "night.sql").write_text("REFRESH ANONYMIZED TABLE r;", encoding="utf-8")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    change("DELETE FROM visits WHERE rowid < 20")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    (done / "night.sql").write_text("REFRESH ANONYMIZED TABLE r LEVELS FROM RELEASE r;", encoding="utf-8")
    assert [outcome(), outcome()] == ["done", "unchanged"]
    change("DELETE FROM visits WHERE rowid < 30")
    assert [outcome(), outcome()] == ["done", "unchanged"]


@pytest.mark.long
@pytest.mark.parametrize(
    "more",
    [
        "SELECT 1;",
        "SET threads = 1;",
        "CREATE OR REPLACE TABLE log AS SELECT 1 AS a;",
        "CREATE OR REPLACE WORKLOAD w ON POLICY p (queries => 3, dimensions => 1);",
        "ROLLBACK;",
        "CREATE HIERARCHY IF NOT EXISTS tens AS INTERVALS (10);",
        "CREATE POLICY IF NOT EXISTS p ON visits (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5);",
    ],
)
def test_what_may_read_anything_is_run_each_time(folder: Path, more: str) -> None:
    (folder / "night.sql").write_text(SCRIPT + ("BEGIN;" if more == "ROLLBACK;" else "") + more, encoding="utf-8")
    assert [outcome(), outcome()] == ["done", "done"]


@pytest.mark.long
def test_a_query_that_is_never_the_same(folder: Path) -> None:
    text = SCRIPT.replace("ON visits", "ON (SELECT * FROM visits WHERE random() < 0.9)")
    (folder / "night.sql").write_text(text, encoding="utf-8")
    assert [outcome(), outcome()] == ["done", "done"]


def test_a_job_that_fails_leaves_what_was_there(done: Path) -> None:
    made, files = release_id(), sorted(path.read_bytes() for path in (done / "out").iterdir())
    (done / "night.sql").write_text(SCRIPT.replace("k => 5", "k => 500"), encoding="utf-8")
    code, log = run()
    assert code == 1
    (error,) = [line for line in log if line["event"] == "error"]
    assert error["kind"] == "PrivacyViolation"
    assert release_id() == made
    assert sorted(path.read_bytes() for path in (done / "out").iterdir()) == files
    (done / "night.sql").write_text(SCRIPT, encoding="utf-8")
    assert outcome() == "unchanged"


@pytest.mark.long
def test_one_that_fails_does_not_keep_the_next_from_running(folder: Path) -> None:
    (folder / "wrong.sql").write_text("CHECK nothing;", encoding="utf-8")
    (folder / "broken.sql").write_text("CREATE POLICY p ON (", encoding="utf-8")
    code, log = run(scripts=("wrong.sql", "broken.sql", "night.sql"))
    assert code == 2
    assert {line["job"]: line["outcome"] for line in log if line["event"] == "ended"} == {
        "wrong": "failed",
        "broken": "failed",
        "night": "done",
    }


@pytest.mark.long
def test_the_log_has_no_rows(folder: Path) -> None:
    """Rows of a table of the user's are printed by a statement of DuckDB's, and stand in no log."""
    (folder / "night.sql").write_text(SCRIPT + "FROM visits;", encoding="utf-8")
    for _ in range(2):
        assert run("--log", "jobs.jsonl")[0] == 0
    lines = [json.loads(line) for line in (folder / "jobs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines if line["event"] not in ("remark", "warning")] == [
        "begun",
        *["statement"] * 9,
        "ended",
    ] * 2
    assert all(line["time"].endswith("Z") for line in lines)
    assert {line["statement"] for line in lines if "answer" in line} == {
        "CREATE ANONYMIZED TABLE r",
        "CHECK r",
        "EXPORT r",
    }
    assert "Flu" not in (folder / "jobs.jsonl").read_text(encoding="utf-8")


@pytest.mark.long
def test_metrics(folder: Path) -> None:
    (folder / "wrong.sql").write_text("CHECK nothing;", encoding="utf-8")
    for unchanged in (0, 1):
        run("--metrics", "a.prom", scripts=("wrong.sql", "night.sql"))
        text = (folder / "a.prom").read_text(encoding="utf-8")
        samples = {
            (sample.name, *(sample.labels[label] for label in LABELS if label in sample.labels)): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
        assert samples["sqlanon_job_exit_code", "wrong"] == 2
        assert samples["sqlanon_job_exit_code", "night"] == 0
        assert samples["sqlanon_job_unchanged", "night"] == unchanged
        assert ("sqlanon_job_last_success_timestamp_seconds", "wrong") not in samples
        assert samples["sqlanon_release_rows", "night", "main.r"] == 400
        assert samples["sqlanon_requirement_required", "night", "main.r", "k_anonymity", ""] == 5
        assert samples["sqlanon_requirement_achieved", "night", "main.r", "k_anonymity", ""] >= 5
        finished = rows("SELECT epoch(finished_at) FROM anon.job WHERE job = 'night'")[0][0]
        assert abs(samples["sqlanon_job_last_success_timestamp_seconds", "night"] - finished) < 1
        assert not any("loss" in name for key in samples for name in key)


def test_the_last_success_is_known_after_a_failure(done: Path) -> None:
    (done / "night.sql").write_text(SCRIPT.replace("k => 5", "k => 500"), encoding="utf-8")
    assert run("--metrics", "a.prom")[0] == 1
    text = (done / "a.prom").read_text(encoding="utf-8")
    assert 'sqlanon_job_last_success_timestamp_seconds{job="night"}' in text
    assert 'sqlanon_release_rows{job="night",release="main.r"} 400.0' in text


@pytest.mark.long
def test_an_archive_has_the_latest_runs(folder: Path) -> None:
    (folder / "archive" / "night").mkdir(parents=True)
    (folder / "archive" / "night" / "notes.txt").touch()
    (folder / "archive" / "night" / "mine").mkdir()
    seen = set()
    for _ in range(4):
        code, log = run("--force", "--archive", "archive", "--keep", "2")
        assert code == 0
        (copied,) = [line["path"] for line in log if line["event"] == "archived"]
        assert connect().sql(f"CHECK '{copied}/out'").fetchall()
        seen.add(Path(copied).name)
    left = {path.name for path in (folder / "archive" / "night").iterdir()}
    assert left == {"notes.txt", "mine", *sorted(seen)[-2:]}
    # A run that has nothing to do copies nothing.
    assert run("--archive", "archive")[1][-1]["outcome"] == "unchanged"
    assert {path.name for path in (folder / "archive" / "night").iterdir()} == left


@pytest.mark.long
@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_clock_that_was_set_back_costs_no_copy(folder: Path, keep: int) -> None:
    """Runs of a later moment were made before; they go first, and the run that was just archived never does."""
    archive = folder / "archive" / "night"
    for day in (30, 31):
        (archive / f"209912{day}T000000.000000Z").mkdir(parents=True)
    made = []
    for _ in range(4):
        code, log = run("--force", "--archive", "archive", "--keep", str(keep))
        assert code == 0
        (copied,) = [line["path"] for line in log if line["event"] == "archived"]
        assert connect().sql(f"CHECK '{copied}/out'").fetchall()
        made.append(Path(copied).name)
        runs = {path.name for path in archive.iterdir()}
        assert len(runs) == min(keep, 2 + len(made))
        assert runs >= set(made[-keep:])


@pytest.mark.long
def test_a_single_file_is_archived_with_its_certificates(folder: Path) -> None:
    (folder / "night.sql").write_text(SCRIPT.replace("'out/'", "'r.csv'"), encoding="utf-8")
    assert run("--archive", "archive")[0] == 0
    assert sorted(path.name for path in (folder / "archive" / "night").glob("*/*")) == [
        "r.csv",
        "r.csv.certificate.json",
        "r.csv.certificate.md",
    ]


@pytest.mark.long
def test_another_process_has_the_database(folder: Path) -> None:
    holder = "import sqlanon, sys; con = sqlanon.connect('a.duckdb'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        assert run()[0] == 4
        assert run("--wait", "0.6")[0] == 4
        other.stdin.close()
        assert run("--wait", "60")[0] == 0


@pytest.mark.long
def test_mistakes(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "night.sql").write_text(SCRIPT, encoding="utf-8")
    assert run("--keep", "3")[0] == 2
    assert run(scripts=("night.sql", "other/night.sql"))[0] == 2
    assert run(scripts=("nothing.sql",))[0] == 2
    assert run("--metrics", "nowhere/a.prom")[0] == 2
    assert run("--log", "nowhere/a.jsonl")[0] == 2
    if os.name == "posix":
        assert run("--force", "--archive", "a.duckdb")[0] == 2
    assert CliRunner().invoke(app, ["job", "run", "night.sql", "-d", "nothing.duckdb"]).exit_code == 2
