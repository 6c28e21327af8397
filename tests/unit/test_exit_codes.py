"""How a run ends that something outside of it ends: the reader, a signal, the disk, another process."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from tests.support.processes import SECONDS, running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has neither these signals nor these limits")

SQLANON = [sys.executable, "-m", "sqlanon"]
RUN = ["run", "-"]
MADE = """
CREATE TABLE t AS SELECT i % 3 AS a, md5(i::VARCHAR) AS s FROM range({rows}) r(i);
CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization;
"""
# One query, within which Python does not look at signals.
SLOW = "SELECT count(DISTINCT md5(i::VARCHAR)) FROM range(60_000_000) r(i);\nSELECT 'never' AS x;\n"
READY = "COPY (SELECT 1) TO '{folder}/ready';\n"
FULL = "the disk is full; nothing was written"


def environment() -> dict[str, str]:
    path = [str(Path(sqlanon.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def started(*arguments: str | Path, **named: Any) -> AbstractContextManager[subprocess.Popen[str]]:
    named = {"stdin": -1, "stdout": -1, "stderr": -1} | named
    # A shell starts background jobs with interrupts ignored, which their children inherit.
    return running([*SQLANON, *arguments], env=environment(), text=True, preexec_fn=listening, **named)


def listening() -> None:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def ran(*arguments: str | Path, text: str = "", **named: Any) -> tuple[int, str]:
    """The exit code, and what was said on standard error."""
    with started(*arguments, **named) as process:
        _, said = process.communicate(text, timeout=SECONDS)
    return process.returncode, said or ""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exit") / "x.duckdb"
    with sqlanon.connect(path) as connection:
        connection.execute(MADE.format(rows=200_000))
    return path


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (RUN, 1),
        (RUN, 100_000),
        ([*RUN, "--json"], 1),
        ([*RUN, "--json"], 100_000),
        (["shell", "--limit", "0"], 100_000),
    ],
)
def test_the_reader_has_left(arguments: list[str], rows: int) -> None:
    """Before anything was printed, so that a little output is in nobody's way until the end."""
    read, write = os.pipe()
    os.close(read)
    code, said = ran(*arguments, text=f"FROM range({rows});", stdout=write)
    os.close(write)
    assert (code, said) == (141, "")


def test_the_reader_of_messages_has_left(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    code, _ = ran(*RUN, "-q", text="FROM nowhere;", stdout=write, stderr=write)
    os.close(write)
    assert code == 141


@pytest.mark.long
def test_a_quiet_run_has_nothing_to_print() -> None:
    read, write = os.pipe()
    os.close(read)
    assert ran(*RUN, "-q", text="FROM range(100_000);", stdout=write) == (0, "")
    os.close(write)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("arguments", "rows"), [(RUN, 1), (RUN, 100_000), ([*RUN, "--json"], 100_000), (["shell"], 1)])
def test_what_is_printed_finds_no_room(arguments: list[str], rows: int) -> None:
    with open("/dev/full", "w") as full:
        code, said = ran(*arguments, text=f"FROM range({rows});", stdout=full)
    assert code == 3
    assert "No space left on device" in said
    assert "defect" not in said


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("number", "word", "arguments"),
    [
        (signal.SIGINT, "interrupted", RUN),
        (signal.SIGTERM, "terminated", RUN),
        (signal.SIGHUP, "hung up", RUN),
        (signal.SIGTERM, "", [*RUN, "--json"]),
        (signal.SIGHUP, "", [*RUN, "-q"]),
        (signal.SIGTERM, "terminated", ["shell"]),
    ],
)
def test_a_signal_ends_a_query(number: signal.Signals, word: str, arguments: list[str], tmp_path: Path) -> None:
    """At once, though Python hears of a signal only when the query is over."""
    with started(*arguments) as process:
        begin(process, SLOW, tmp_path)
        begun = time.monotonic()
        process.send_signal(number)
        assert process.wait(timeout=60) == 128 + number
        assert time.monotonic() - begun < 10
        assert process.stdout
        assert process.stderr
        assert "never" not in process.stdout.read()
        assert process.stderr.read().strip() == word


def begin(process: subprocess.Popen[str], script: str, folder: Path) -> None:
    """Has the process run a script, and returns when it is in the middle of it."""
    assert process.stdin
    process.stdin.write(READY.format(folder=folder) + script)
    process.stdin.close()
    while not (folder / "ready").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(1)


@pytest.mark.long
def test_a_signal_undoes_what_was_begun(tmp_path: Path) -> None:
    """A transaction of the user's, as an error would."""
    path = tmp_path / "x.duckdb"
    with started(*RUN, "-d", path) as process:
        begin(process, "CREATE TABLE kept(a INT); BEGIN; CREATE TABLE lost(a INT);" + SLOW, tmp_path)
        process.terminate()
        assert process.wait(timeout=60) == 143
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("kept",)]


@pytest.mark.long
def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    """As nohup has it."""
    command = ["nohup", *SQLANON, *RUN]
    with running(command, env=environment(), stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        begin(process, "SELECT count(*) AS counted FROM range(3_000_000_000);", tmp_path)
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=60) == 0
        assert process.stdout
        assert "counted" in process.stdout.read()


def small_files() -> None:
    """No file may grow beyond a megabyte, which is for a program as if the disk were full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


def limited(*arguments: str | Path, text: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [*SQLANON, *arguments],
        env=environment(),
        input=text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=small_files,
    )
    return done.returncode, done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE t AS SELECT md5(i::VARCHAR) AS s FROM range(300_000) r(i);",
        "CREATE TABLE t(s VARCHAR); INSERT INTO t SELECT md5(i::VARCHAR) FROM range(300_000) r(i);",
        "BEGIN; CREATE TABLE t AS SELECT md5(i::VARCHAR) AS s FROM range(300_000) r(i); COMMIT;",
        MADE.format(rows=12_000)
        + "CREATE ANONYMIZED TABLE again AS POLICY p METHOD generalization; CREATE ANONYMIZED TABLE more AS POLICY p;"
        "CREATE ANONYMIZED TABLE yet_more AS POLICY p METHOD generalization; CREATE ANONYMIZED TABLE last AS POLICY p;",
    ],
    ids=["create", "insert", "commit", "release"],
)
def test_the_disk_is_full_while_something_is_committed(script: str, tmp_path: Path) -> None:
    code, said = limited(*RUN, "-d", tmp_path / "x.duckdb", text=script)
    assert code == 3
    assert FULL in said


@pytest.mark.long
@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_the_disk_is_full_while_a_release_is_exported(file: Path, kind: str, tmp_path: Path) -> None:
    """Not CSV: where writing it fails, DuckDB 2.0.0 may wait for a lock that the same thread holds, and never ends."""
    code, said = limited("export", "released", tmp_path / "out", "-d", file, "--format", kind)
    assert code == 3
    assert FULL in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "arguments", [["run", "-", "-d"], ["shell"], ["migrate"], ["export", "released", "out", "-d"]], ids=lambda x: x[0]
)
def test_another_process_holds_the_database(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)):
        code, said = ran(*arguments, path, text="SELECT 1;")
    assert code == 2
    assert "open in another process" in said


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arguments", [["run", "-", "-d", "/proc/x.duckdb"], ["shell", "/proc/x.duckdb"]])
def test_a_medium_that_cannot_be_written(arguments: list[str]) -> None:
    code, said = ran(*arguments, text="CREATE TABLE t(a INT);")
    assert code == 2
    assert "cannot be opened" in said


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("streams", "arguments", "code"),
    [
        ("<&-", RUN, 0),
        ("<&-", ["shell"], 0),
        ("2>&-", ["run", "missing.sql"], 2),
        (">&-", ["run", "missing.sql"], 2),
    ],
)
def test_streams_that_are_closed(streams: str, arguments: list[str], code: int) -> None:
    """A job may be started without any: the exit code is that of a job that has them."""
    command = f'exec "$@" {streams}'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *SQLANON, *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_results_that_have_no_place_to_go(tmp_path: Path) -> None:
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;")
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *SQLANON, "run", str(script)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, "Bad file descriptor" in done.stderr) == (3, True)


@pytest.mark.long
def test_a_session_whose_encoding_is_ascii_says_so(tmp_path: Path) -> None:
    """LC_ALL=C without Python's UTF-8 mode: names are printed, and a file of such a name is the session's fault."""
    script = """
        CREATE TABLE "tüble" AS SELECT i % 2 AS "äge" FROM range(20) AS t(i);
        CREATE POLICY p ON "tüble" ("äge" QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5);
        CREATE ANONYMIZED TABLE "rélease" AS POLICY p METHOD generalization;
        CHECK "rélease";
    """
    (tmp_path / "script.sql").write_text(script, encoding="utf-8")
    (tmp_path / "export.sql").write_text("EXPORT \"rélease\" TO 'öut/';", encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    def run(*arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "sqlanon", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    code, answer, _ = run("run", "script.sql", "--database", "x.duckdb")
    assert (code, "main.rélease" in answer) == (0, True)
    for arguments in (("run", "export.sql", "--database", "x.duckdb"), ("verify", "öut/")):
        code, _, error = run(*arguments)
        assert code == 2
        assert "the encoding of this session is ascii" in error
        assert "PYTHONUTF8=1" in error
