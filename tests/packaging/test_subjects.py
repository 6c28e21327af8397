"""Every test file has a subject, and `make test` has tests of each subject and of each kind of evidence."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.draws import Share
from tests.support.subjects import SUBJECTS, subjects_of

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(TESTS.rglob("test_*.py"))
# Settings of property tests that a helper defines, and a call that draws more inputs in the long part.
SETTINGS = re.compile(r"^(\w+) = settings\(.*\bdraws\(", re.MULTILINE)
CALL = re.compile(r"(?<!def )\bdraws\(")
# A test, and a marker that moves one or a whole file to the long part.
TEST = re.compile(r"^(?:    )?def test_", re.MULTILINE)
LONG = re.compile(r"^(?:    )?@pytest\.mark\.long$", re.MULTILINE)
ALL_LONG = re.compile(r"^pytestmark = .*\bmark\.long\b", re.MULTILINE)


def test_every_test_file_has_a_subject() -> None:
    assert [path.relative_to(TESTS).as_posix() for path in FILES if not subjects_of(path)] == []


def test_every_file_that_a_subject_names_is_there() -> None:
    there = {path.stem.removeprefix("test_") for path in FILES}
    assert {name for files in SUBJECTS.values() for name in files} - there == set()


def draws_more(text: str, shared: set[str]) -> bool:
    """Whether a test module calls `draws`, or imports settings from a helper that does."""
    if CALL.search(text):
        return True
    if not any(name.rpartition(".")[2] in text for name in shared):
        return False
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    return not shared.isdisjoint(f"{node.module}.{name.name}" for node in imports for name in node.names)


def test_what_draws_more_inputs_in_the_long_part_runs_there() -> None:
    shared = {
        ".".join((*path.relative_to(TESTS.parent).with_suffix("").parts, name))
        for path in (TESTS / "support").rglob("*.py")
        for name in SETTINGS.findall(path.read_text(encoding="utf-8"))
    }
    assert "tests.support.policies.BUDGET" in shared
    texts = {path: path.read_text(encoding="utf-8") for path in FILES if path != Path(__file__)}
    unmarked = {path: text for path, text in texts.items() if "mark.drawn" not in text}
    assert [path.relative_to(TESTS).as_posix() for path, text in unmarked.items() if draws_more(text, shared)] == []


def test_make_test_has_tests_of_each_subject_and_kind_of_evidence() -> None:
    """For each subject and folder with tests of it, one test at least is not left to the long part."""
    there, quick = set(), set()
    for path in FILES:
        if path.parent.name in ("spark", "clients"):
            continue
        text, pairs = path.read_text(encoding="utf-8"), {(subject, path.parent.name) for subject in subjects_of(path)}
        there |= pairs
        if len(TEST.findall(text)) > len(LONG.findall(text)) and not ALL_LONG.search(text):
            quick |= pairs
    assert {("mondrian", "attacks"), ("series", "papers"), ("catalog", "migrations")} <= there
    assert sorted(there - quick) == []


@pytest.mark.long
def test_every_test_file_has_tests_in_make_test() -> None:
    """And with it each subject and each kind of evidence: what takes long may leave a file, but not all of it."""
    collect = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "--part=quick", str(TESTS)]
    run = subprocess.run(collect, cwd=TESTS.parent, capture_output=True, text=True, check=True)
    collected = {line.partition("::")[0] for line in run.stdout.splitlines() if "::" in line}
    files = {
        path.relative_to(TESTS.parent).as_posix() for path in FILES if path.parent.name not in ("spark", "clients")
    }
    # Readers, an owner and a door at work at once, for half a minute a test at least.
    assert files - collected == {"tests/attacks/test_door_refresh.py"}


def collected(*options: str) -> list[str]:
    """The tests of a folder that a run with these options would have."""
    collect = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", *options, str(TESTS / "contract")]
    run = subprocess.run(collect, cwd=TESTS.parent, capture_output=True, text=True, check=True)
    return [line for line in run.stdout.splitlines() if "::" in line]


@pytest.mark.long
@pytest.mark.parametrize("part", ["quick", "long", "all"])
def test_the_shares_of_a_part_have_each_of_its_tests_once(part: str) -> None:
    whole = collected(f"--part={part}")
    shares = [collected(f"--part={part}", f"--share={number}/4") for number in range(1, 5)]
    assert sorted(itertools.chain(*shares)) == sorted(whole)
    assert len(set(whole)) == len(whole) > 40
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_fifteen_commits_run_all_that_takes_long() -> None:
    text = (TESTS.parent / ".ci" / "run").read_text(encoding="utf-8")
    assert text.count("% 15 + 1 ))/15") == 1
    assert 'make test-long SHARE="$share"' in text
    assert 'make test-pure PYTEST_ARGS="--share=$share"' in text
    assert 'make test-spark PYTEST_ARGS="--part=all --share=$share"' in text


def test_each_share_has_tests_of_its_own() -> None:
    shares = [Share.read(f"{number}/3") for number in (1, 2, 3)]
    assert [[index for index in range(7) if share.has(index)] for share in shares] == [[0, 3, 6], [1, 4], [2, 5]]
    assert all(map(Share.read("1/1").has, range(7)))
    for text in ("0/3", "4/3", "1", "1/0", "a/b", "1/3 "):
        with pytest.raises(ValueError, match="no share"):
            Share.read(text)
