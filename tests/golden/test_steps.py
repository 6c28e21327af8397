"""Each step's SQL is what its file says, and the comparison itself sees what it is to see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.golden.files import HERE, UPDATE, differences, update
from tests.golden.hospital import FOLDERS
from tests.golden.steps import set_in_lines, steps

MADE = {"a/b/01-one.sql": "SELECT 1;\n", "a/b/02-two.sql": "SELECT 2;\n"}


def test_each_step_runs_what_its_file_says() -> None:
    if found := differences(steps()):
        pytest.fail("\n".join([*found, f"if this is what was meant: {UPDATE}"]), pytrace=False)


def test_every_case_has_a_step_of_its_own() -> None:
    cases = {f"{folder}/{case.name}" for folder, cases in FOLDERS.items() for case in cases}
    assert {path.parent.relative_to(HERE).as_posix() for path in HERE.glob("*/*/*.sql")} == cases


def test_nothing_that_is_drawn_is_in_a_file() -> None:
    drawn = re.compile(r"(?<![0-9a-f])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{12,}|/tmp")
    assert {path.name: drawn.findall(path.read_text(encoding="utf-8")) for path in HERE.rglob("*.sql")} == {
        path.name: [] for path in HERE.rglob("*.sql")
    }


@pytest.mark.parametrize(
    "text",
    [
        """SELECT date_diff('day', "a", "b") FROM "t" ORDER BY "a" ASC NULLS LAST""",
        """SELECT list("x"), len("y"), string_agg("z", ', ') FROM (SELECT UNNEST(range(3)) AS "x") AS "T" """,
    ],
)
def test_lines_are_broken_and_no_word_is_changed(text: str) -> None:
    lines = set_in_lines(text)
    assert "\n" in lines
    assert re.sub(r"\s", "", lines) == re.sub(r"\s", "", text)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Both steps as they are made, the first with a header of two lines."""
    update(MADE, tmp_path)
    for path, header in zip(MADE, ("-- Look for: one\n-- row.", "-- Look for: two."), strict=True):
        (tmp_path / path).write_text(f"{header}\n\n{MADE[path]}", encoding="utf-8")
    assert differences(MADE, tmp_path) == []
    return tmp_path


def test_a_changed_step_is_a_diff(files: Path) -> None:
    (diff,) = differences(MADE | {"a/b/02-two.sql": "SELECT 3;\n"}, files)
    assert diff.splitlines()[-2:] == ["-SELECT 2;", "+SELECT 3;"]
    assert diff.startswith("--- tests/golden/a/b/02-two.sql")


def test_a_step_without_a_file_and_a_file_without_a_step_are_told(files: Path) -> None:
    (files / "a/b/01-one.sql").rename(files / "a/b/01-none.sql")
    assert differences(MADE, files) == [
        "a/b/01-none.sql: no step makes this file any more",
        "a/b/01-one.sql: this step has no file",
    ]


@pytest.mark.parametrize("header", ["", "-- Look for:", "-- one row.", "-- Look for: a\n-- b\n-- c\n-- d"])
def test_a_step_without_a_header_is_told(files: Path, header: str) -> None:
    (files / "a/b/01-one.sql").write_text(f"{header}\n\nSELECT 1;\n", encoding="utf-8")
    (found,) = differences(MADE, files)
    assert found.startswith("a/b/01-one.sql: its first one to three lines")


def test_an_update_keeps_the_header_of_a_step_that_has_another_number(files: Path) -> None:
    moved = {"a/b/01-new.sql": "SELECT 0;\n", "a/b/02-one.sql": "SELECT 4;\n"}
    assert update(moved, files) == ["a/b/01-new.sql"]
    assert (files / "a/b/02-one.sql").read_text(encoding="utf-8") == "-- Look for: one\n-- row.\n\nSELECT 4;\n"
    assert {path.name for path in files.rglob("*.sql")} == {"01-new.sql", "02-one.sql"}
