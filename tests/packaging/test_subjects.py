"""Every test file has a subject, and `make test` has tests of each subject and of each kind of evidence."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.subjects import SUBJECTS, subjects_of

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(TESTS.rglob("test_*.py"))
# Settings of property tests that a helper defines, and a call that draws more inputs in the long part.
SETTINGS = re.compile(r"^(\w+) = settings\(.*\bdraws\(", re.MULTILINE)
CALL = re.compile(r"(?<!def )\bdraws\(")


def test_every_test_file_has_a_subject() -> None:
    assert [path.relative_to(TESTS).as_posix() for path in FILES if not subjects_of(path)] == []


def test_every_file_that_a_subject_names_is_there() -> None:
    there = {path.stem.removeprefix("test_") for path in FILES}
    assert {name for files in SUBJECTS.values() for name in files} - there == set()


def test_what_draws_more_inputs_in_the_long_part_runs_there() -> None:
    shared = [name for path in (TESTS / "support").rglob("*.py") for name in SETTINGS.findall(path.read_text("utf-8"))]
    drawing = re.compile("|".join([CALL.pattern, *(rf"\b{name}\b" for name in shared)]))
    own = [path for path in FILES if path != Path(__file__) and drawing.search(path.read_text("utf-8"))]
    assert [path.relative_to(TESTS).as_posix() for path in own if "mark.drawn" not in path.read_text("utf-8")] == []
