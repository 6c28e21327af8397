"""What killed exports leave is removed by the next one there, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Barrier, Thread

import pytest

import sqlanon
from sqlanon.export.atomic import remove_leftovers, working_folder
from tests.support.database import template
from tests.support.processes import SECONDS, running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there a folder has no lock")

MADE = """
    CREATE TABLE t AS SELECT i % 3 AS a FROM range(30) r(i);
    CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
    CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization;
"""
# An export that is killed, or not, while its rows lie in its working folder.
WORKER = """
import sys
from pathlib import Path
from sqlanon.export.layout import layout_of
from sqlanon.export.atomic import staging
with staging(layout_of(sys.argv[1], "csv", "released")) as place:
    (place.files / "released.csv").write_text("released rows")
    print(place.files.parent, flush=True)
    sys.stdin.read()
print("done", flush=True)
"""


@contextmanager
def working(target: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process in the middle of an export, and its working folder."""
    environment = {**os.environ, "PYTHONPATH": str(Path(sqlanon.__file__).parent.parent)}
    command = [sys.executable, "-c", WORKER, str(target)]
    with running(command, env=environment, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout
        folder = Path(process.stdout.readline().strip())
        assert (folder / "export" / "released.csv").exists()
        yield process, folder


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with template(MADE) as connection:
        yield connection


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.long
@pytest.mark.parametrize("target", ["out", "out.csv", "other/out"])
def test_the_folders_of_killed_exports(con: sqlanon.Connection, tmp_path: Path, target: str) -> None:
    """However many, and whatever beside the target they were to become."""
    place = (tmp_path / target).parent
    with ExitStack() as running:
        for number in range(2):
            running.enter_context(working(place / f"killed{number}"))
    assert len(hidden(place)) == 2
    con.execute(f"EXPORT released TO '{tmp_path / target}' (FORMAT csv)")
    assert hidden(place) == []


def test_the_folder_of_an_export_that_runs_is_left_alone(con: sqlanon.Connection, tmp_path: Path) -> None:
    with working(tmp_path / "running") as (process, folder):
        con.execute(f"EXPORT released TO '{tmp_path / 'out'}' (FORMAT csv)")
        assert (folder / "export" / "released.csv").exists()
        output, _ = process.communicate()
        assert output.split() == ["done"]
    assert hidden(tmp_path) == []


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("leftovers") / "large.duckdb"
    with sqlanon.connect(path) as connection:
        connection.execute(MADE.replace("range(30)", "range(2_000_000)"))
    return path


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_export_that_is_told_to_end_leaves_none(large: Path, tmp_path: Path, number: signal.Signals) -> None:
    """By the command line, in the middle of its writing."""
    environment = {**os.environ, "PYTHONPATH": str(Path(sqlanon.__file__).parent.parent)}
    command = [sys.executable, "-m", "sqlanon", "export", "released", str(tmp_path / "out"), "-d", str(large)]
    with running(
        [*command, "-f", "csv"],
        env=environment,
        stderr=-1,
        text=True,
        preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGHUP)] and None,
    ) as process:
        while process.poll() is None and not hidden(tmp_path):
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + number
    assert said.split("\n")[0] in ("interrupted", "terminated", "hung up")
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_the_users_is_removed(con: sqlanon.Connection, tmp_path: Path) -> None:
    """Names that are alike, other content, files and links."""
    name = ".sqlanon-0123456789abcde"
    (tmp_path / "elsewhere" / "export").mkdir(parents=True)
    (tmp_path / (name + "0")).mkdir()
    (tmp_path / (name + "0") / "mine.txt").write_text("mine")
    (tmp_path / (name + "1")).write_text("a file")
    (tmp_path / (name + "2")).symlink_to(tmp_path / "elsewhere")
    (tmp_path / (name + "3x")).mkdir()
    (tmp_path / (name + "G")).mkdir()
    (tmp_path / ".sqlanon-former-0123456789abcdef").mkdir()
    (tmp_path / ".sqlanon").mkdir()
    before = hidden(tmp_path)
    con.execute(f"EXPORT released TO '{tmp_path / 'out'}' (FORMAT csv)")
    assert hidden(tmp_path) == before
    assert (tmp_path / "elsewhere" / "export").is_dir()


def test_many_at_once(tmp_path: Path) -> None:
    """Each removes what it finds, and none what another works in."""
    together, failed = Barrier(8), []

    def work(number: int) -> None:
        together.wait()
        try:
            for _ in range(30):
                remove_leftovers(tmp_path)
                with working_folder(tmp_path) as folder:
                    (folder / "export").mkdir()
                    (folder / "export" / "rows").write_text(str(number))
                    remove_leftovers(tmp_path)
                    assert (folder / "export" / "rows").read_text() == str(number)
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_made_again_while_the_former_is_locked_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock on a folder that is gone says nothing of another that has its name."""
    import fcntl

    folder = tmp_path / ".sqlanon-0123456789abcdef"
    folder.mkdir()
    lock = fcntl.flock

    def made_again(descriptor: int, operation: int) -> None:
        folder.rmdir()
        (folder / "export").mkdir(parents=True)
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", made_again)
    remove_leftovers(tmp_path)
    assert (folder / "export").is_dir()


def test_a_place_that_cannot_be_listed_is_no_hindrance(con: sqlanon.Connection, tmp_path: Path) -> None:
    remove_leftovers(tmp_path / "missing")
    with working(tmp_path / "killed") as (process, folder):
        process.kill()
        process.wait()
    (folder / "export" / "released.csv").unlink()
    con.execute(f"EXPORT released TO '{tmp_path / 'out'}' (FORMAT csv)")
    assert hidden(tmp_path) == []


def test_the_only_certificate_of_a_file_stays_until_it_has_another(con: sqlanon.Connection, tmp_path: Path) -> None:
    """A kill between the files of an export leaves the data without it, and REPLACE has to know the data again."""
    con.execute(f"EXPORT released TO '{tmp_path / 'a.csv'}' (FORMAT csv)")
    left = tmp_path / ".sqlanon-0123456789abcdef" / "former"
    left.mkdir(parents=True)
    for certificate in [path for path in tmp_path.glob("a.*") if path.name != "a.csv"]:
        certificate.rename(left / certificate.name)
    (left.parent / "export").mkdir()
    con.execute(f"EXPORT released TO '{tmp_path / 'b.csv'}' (FORMAT csv)")
    assert hidden(tmp_path) == [left.parent.name]
    con.execute(f"EXPORT released TO '{tmp_path / 'a.csv'}' (FORMAT csv, REPLACE true)")
    assert hidden(tmp_path) == []
