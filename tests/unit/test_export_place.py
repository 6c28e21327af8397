"""Renaming an export into place: killed anywhere, it leaves the old one or the new one."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.export import atomic
from sqlanon.export.atomic import put
from sqlanon.export.certificate_format import CERTIFICATE_FORMAT
from sqlanon.export.layout import Layout, layout_of, require_free
from sqlanon.export.markdown import MARKDOWN_TITLE
from tests.support.database import template
from tests.support.processes import running

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")


def write(layout: Layout, folder: Path, version: str) -> None:
    """An export whose files all say which version they are."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [{"name": layout.data, "sha256": hashlib.sha256(version.encode()).hexdigest()}]
    stated = {"format": CERTIFICATE_FORMAT, "release": version, "files": files}
    (folder / layout.data).write_text(version)
    (folder / layout.certificate).write_text(json.dumps(stated))
    (folder / layout.markdown).write_text(MARKDOWN_TITLE + version)


def read(layout: Layout) -> dict[str, str]:
    """Which version each file that is there says it is."""
    found: dict[str, str] = {}
    for name in layout.names:
        file = layout.folder / name
        if file.exists():
            text = file.read_text()
            found[name] = json.loads(text)["release"] if name == layout.certificate else text.split()[-1]
    return found


def killed_at(step: int, action: Callable[[], None]) -> bool:
    """Runs an action in a process that is killed right before its n-th change of a file; whether it was."""
    child = os.fork()
    if child == 0:
        left = [step]

        def hook(event: str, _: object) -> None:
            if event in ("os.rename", "os.remove", "os.rmdir"):
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1

        sys.addaudithook(hook)
        status = 1
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def each_kill(tmp_path: Path, path: str, old: bool, check: Callable[[Layout], None]) -> int:
    """Kills `put` before its first change, its second, ... until it comes to an end; the number of kills."""
    for step in range(20):
        root = tmp_path / str(step)
        root.mkdir()
        layout = layout_of(f"{root}/{path}", "csv", "release")
        if old:
            write(layout, layout.folder, "old")
        files = root / ".sqlanon-0" / "export"
        write(layout, files, "new")

        def action(layout: Layout = layout, files: Path = files) -> None:
            put(files, layout, replace=True)

        killed = killed_at(step, action)
        check(layout)
        # What is there is an export still, and the next one may replace it.
        require_free(layout, replace=True)
        if not killed:
            assert set(read(layout).values()) == {"new"}
            assert len(read(layout)) == 3
            return step
    raise AssertionError("put does not come to an end")


@pytest.mark.parametrize("old", [False, True])
def test_a_folder_is_the_old_or_the_new_one(tmp_path: Path, old: bool) -> None:
    def check(layout: Layout) -> None:
        found = read(layout)
        assert len(found) == 3 or (not old and not layout.target.exists())
        assert len(set(found.values())) <= 1

    kills = each_kill(tmp_path, "out/", old, check)
    assert kills >= (0 if old else 1)  # the exchange itself is one call that Python does not announce


def test_a_folder_without_exchange_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "_exchanged", lambda new, target: False)

    def check(layout: Layout) -> None:
        atomic.recover(layout.target)
        found = read(layout)
        assert len(found) == 3
        assert len(set(found.values())) == 1
        assert not list(layout.target.parent.glob(".sqlanon-former-*"))

    assert each_kill(tmp_path, "out/", True, check) >= 3


def test_a_failure_in_between_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "_exchanged", lambda new, target: False)
    layout = layout_of(f"{tmp_path}/out/", "csv", "release")
    write(layout, layout.folder, "old")
    with pytest.raises(OSError, match="missing"):
        atomic.exchange(tmp_path / "missing", layout.target)
    assert set(read(layout).values()) == {"old"}


@pytest.mark.parametrize("old", [False, True])
def test_a_file_never_stands_beside_another_s_certificate(tmp_path: Path, old: bool) -> None:
    def check(layout: Layout) -> None:
        found = read(layout)
        data = found.get(layout.data)
        assert data in (("old", "new") if old else (None, "new"))
        if data:
            assert set(found.values()) == {data}
        if not old and data:
            assert len(found) == 3

    assert each_kill(tmp_path, "out.csv", old, check) >= 3


SCRIPT = """
import sys, sqlanon
connection = sqlanon.connect(sys.argv[1])
print("ready", flush=True)
while True:
    connection.sql(f"EXPORT release TO '{sys.argv[2]}' (FORMAT {sys.argv[3]}, REPLACE true)")
"""


@pytest.mark.long
@pytest.mark.parametrize("format_", ["parquet", "csv", "duckdb"])
def test_a_killed_process_leaves_a_whole_export(tmp_path: Path, format_: str) -> None:
    database, target = tmp_path / "d.duckdb", tmp_path / "out"
    with sqlanon.connect(database) as connection:
        connection.sql("""
            CREATE TABLE t AS SELECT i % 3 AS age, i AS bill FROM range(30) AS r(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, bill SENSITIVE) REQUIRE k_anonymity(k => 10);
            CREATE ANONYMIZED TABLE release AS POLICY p METHOD generalization;
        """)
        connection.sql(f"EXPORT release TO '{target}' (FORMAT {format_})")
    command = [sys.executable, "-c", SCRIPT, str(database), str(target), format_]
    with running(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.getcwd()}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(random.uniform(0.1, 0.6))
        process.kill()
    assert process.returncode == -signal.SIGKILL
    said: dict[str, Any] = json.loads((target / "certificate.json").read_text())
    [file] = said["files"]
    assert (target / file["name"]).stat().st_size == file["bytes"]
    assert {entry.name for entry in target.iterdir()} == {file["name"], "certificate.json", "certificate.md"}
    with sqlanon.connect(database) as connection:
        connection.sql(f"EXPORT release TO '{target}' (FORMAT {format_}, REPLACE true)")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("path", ["/", "//", "/.", "/tmp/.."])
@pytest.mark.parametrize("options", ["", " (REPORT true)", " (REPLACE true)"])
def test_the_root_of_the_file_system_is_no_place(path: str, options: str) -> None:
    con = template("""
        CREATE TABLE t AS SELECT 1 AS a FROM range(4);
        CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    """)
    with pytest.raises(sqlanon.UserError, match="is the root of the file system"):
        con.execute(f"EXPORT r TO '{path}'{options}")
