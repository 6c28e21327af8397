"""Which report stands beside an export, and what killed runs leave of a page."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, UserError
from sqlanon.export.destinations import files
from sqlanon.export.report import charts
from sqlanon.export.report.markup import PAGE_HEAD, document
from sqlanon.export.report.page_file import remove_leftovers, write_page
from tests.support.html_page import Page
from tests.support.processes import SECONDS, running
from tests.support.reports import people

PAGE = document("A page", [], [], [])
# Processes that are killed, or not, in the middle of what they do.
WRITER = """
import os, sys
from pathlib import Path
from sqlanon.export.report import page_file
replace = os.replace
def waiting(source, target):
    print(source, flush=True)
    sys.stdin.read()
    replace(source, target)
os.replace = waiting
page_file.write_page(Path(sys.argv[1]), sys.argv[2])
print("done", flush=True)
"""
EXPORTER = """
import sys
from pathlib import Path
from sqlanon.export.report.page_file import without_former
with without_former(Path(sys.argv[1]), replace=True):
    print("in it", flush=True)
    sys.stdin.read()
print("done", flush=True)
"""


@pytest.fixture(autouse=True)
def _without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))


@pytest.fixture
def con() -> Iterator[Connection]:
    with people("generalization") as connection:
        yield connection


@contextmanager
def working(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(Path(sqlanon.__file__).parent.parent)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with running(command, env=environment, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout
        assert process.stdout.readline()
        yield process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(SECONDS)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.one_in(5)
@pytest.mark.parametrize("path", ["out", "out/", "folder/../out/", "out.csv", "folder/."])
def test_the_answer_says_where_the_report_is(tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / "folder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with people("generalization") as con:
        plain = con.sql(f"EXPORT r TO '{tmp_path / 'plain.csv'}'")
        assert plain.columns == ["release", "format", "path", "rows", "certificate", "warning"]
        answer = con.sql(f"EXPORT r TO '{path}' (REPORT true)")
        assert answer.columns == [*plain.columns, "report"]
        [(*_, said)] = answer.fetchall()
    assert Page(Path(said).read_text(encoding="utf-8")).table("Published columns")
    assert "\\" not in said
    assert said == f"{path.rstrip('/.')}.report.html"


@pytest.mark.long
def test_a_release_of_several_tables_has_one_report(tmp_path: Path) -> None:
    with people("anatomy(l => 2)") as con:
        rows = con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPORT true)").fetchall()
    assert [row[-1] for row in rows] == [(tmp_path / "out.report.html").as_posix()] * 2


@pytest.mark.long
def test_a_report_goes_before_another_export_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    con = people("mondrian")
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPORT true)")
    put, seen = files.put, []

    def watched(*arguments: Any, **named: Any) -> None:
        seen.append((tmp_path / "out.report.html").exists())
        put(*arguments, **named)

    monkeypatch.setattr(files, "put", watched)
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPLACE true, REPORT true)")
    assert names(tmp_path) == ["out", "out.report.html"]
    assert "by the method anatomy" in Page((tmp_path / "out.report.html").read_text(encoding="utf-8")).text
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPLACE true)")
    assert names(tmp_path) == ["out"]
    assert seen == [False, False]


@pytest.mark.long
def test_a_report_stays_where_its_export_does(con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPORT true)")
    report = (tmp_path / "out.report.html").read_text(encoding="utf-8")

    def failing(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "not today")

    with monkeypatch.context() as patch:
        patch.setattr(files, "put", failing)
        for options in ("REPLACE true", "REPLACE true, REPORT true"):
            with pytest.raises(UserError, match="nothing was exported"):
                con.execute(f"EXPORT r TO '{tmp_path / 'out'}' ({options})")
    assert names(tmp_path) == ["out", "out.report.html"]
    assert (tmp_path / "out.report.html").read_text(encoding="utf-8") == report


@pytest.mark.parametrize("kind", ["a file", "a link", "a folder"])
def test_what_is_no_report_stays(con: Connection, tmp_path: Path, kind: str) -> None:
    place, other = tmp_path / "out.report.html", tmp_path / "other.html"
    other.write_text(PAGE, encoding="utf-8")
    if kind == "a file":
        place.write_text("mine")
    elif kind == "a link":
        place.symlink_to(other)
    else:
        place.mkdir()
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPLACE true)")
    assert names(tmp_path) == ["other.html", "out", "out.report.html"]
    assert other.read_text(encoding="utf-8") == PAGE


def test_a_name_that_leaves_no_room_for_a_report_is_exported_to(con: Connection, tmp_path: Path) -> None:
    long = "x" * 250
    con.execute(f"EXPORT r TO '{tmp_path / long}/'")
    con.execute(f"EXPORT r TO '{tmp_path / long}/' (REPLACE true)")
    assert names(tmp_path) == [long]


@pytest.mark.one_in(3)
@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock")
@pytest.mark.parametrize("next_run", ["the same page", "another page", "an export"])
def test_what_a_killed_run_has_written_is_removed_by_the_next(con: Connection, tmp_path: Path, next_run: str) -> None:
    with working(WRITER, tmp_path / "x.html", PAGE) as process:
        kill(process)
    assert [name[:8] for name in names(tmp_path)] == [".x.html."]
    if next_run == "an export":
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}'")
        assert names(tmp_path) == ["out"]
    else:
        name = "x.html" if next_run == "the same page" else "y.html"
        write_page(tmp_path / name, PAGE)
        assert names(tmp_path) == [name]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock")
def test_an_export_that_is_killed_has_no_report_beside_it(con: Connection, tmp_path: Path) -> None:
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPORT true)")
    with working(EXPORTER, tmp_path / "out.report.html") as process:
        kill(process)
    assert "out.report.html" not in names(tmp_path)
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (REPLACE true)")
    assert names(tmp_path) == ["out"]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock")
def test_what_another_process_works_with_stays(tmp_path: Path) -> None:
    (tmp_path / "y.html").write_text(PAGE, encoding="utf-8")
    with working(WRITER, tmp_path / "x.html", PAGE) as writer, working(EXPORTER, tmp_path / "y.html") as exporter:
        before = names(tmp_path)
        assert [name[:8] for name in before] == [".x.html.", ".y.html."]
        write_page(tmp_path / "z.html", PAGE)
        assert names(tmp_path) == [*before, "z.html"]
        for process in (writer, exporter):
            output, _ = process.communicate(timeout=SECONDS)
            assert output.split() == ["done"]
    assert names(tmp_path) == ["x.html", "z.html"]


def test_nothing_of_the_users_is_removed(tmp_path: Path) -> None:
    """Names that are alike, other content, links and folders; an empty file is one only of the page's own name."""
    (tmp_path / "elsewhere.html").write_text(PAGE, encoding="utf-8")
    for name in ("x.html.01234567", ".x.html.0123456", ".x.html.0123456G", ".x.html.012345678", ".x.html"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    (tmp_path / ".x.html.00000001").write_text("mine", encoding="utf-8")
    (tmp_path / ".x.html.00000002").symlink_to(tmp_path / "elsewhere.html")
    (tmp_path / ".x.html.00000003").mkdir()
    (tmp_path / ".y.html.00000004").write_text("")
    (tmp_path / ".y.html.00000005").write_text(PAGE_HEAD[:20], encoding="utf-8")
    os.mkfifo(tmp_path / ".x.html.00000006")
    before = names(tmp_path)
    (tmp_path / ".x.html.00000007").write_text("")
    (tmp_path / ".x.html.00000008").write_text(PAGE_HEAD[:20], encoding="utf-8")
    remove_leftovers(tmp_path / "x.html")
    assert names(tmp_path) == before
    remove_leftovers(tmp_path / "missing" / "x.html")


def test_many_at_once(tmp_path: Path) -> None:
    """Each writes its page, whatever the others find and remove."""
    together, failed = Barrier(8), []

    def work() -> None:
        together.wait()
        try:
            for _ in range(40):
                write_page(tmp_path / "x.html", PAGE)
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert names(tmp_path) == ["x.html"]
    assert (tmp_path / "x.html").read_text(encoding="utf-8") == PAGE


@pytest.mark.long
def test_a_source_that_has_moved_on_leaves_figures_out_and_says_so(con: Connection, tmp_path: Path) -> None:
    """A region shows the text b, which is no value of the source's any more."""
    con.execute(
        "CREATE TABLE moved AS FROM (VALUES ('p1', 'a', 'x'), ('p2', 'a', 'y'), ('p3', 'b', 'x'), ('p4', 'b', 'y'), "
        "('p5', 'c', 'x'), ('p6', 'd', 'y')) AS t(name, city, disease); "
        "CREATE POLICY moving ON moved (name ENTITY, city QUASI IDENTIFIER, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2); CREATE ANONYMIZED TABLE older AS POLICY moving METHOD mondrian; "
        "DELETE FROM moved WHERE city = 'b'"
    )
    answer = con.execute(f"EXPORT older TO '{tmp_path}/older/' (FORMAT csv, REPORT true)").fetchall()
    page = Path(str(answer[0][-1])).read_text(encoding="utf-8")
    said = (
        "granularity_loss is not measured: the release shows labels of city below which there is no value that an "
        "estimate can compare; the source has changed since the release was made."
    )
    assert said in page
    assert "Figures of the release" in page
    assert "granularity_loss" not in {name for name, *_ in con.execute("MEASURE older").fetchall()}
