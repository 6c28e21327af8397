"""A test module stands on its own: what it shares with others lies in `tests/support`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# Folders of modules that hold no tests. The golden files have a command of their own, `python -m tests.golden`.
SHARED = ("tests.golden", "tests.oracles", "tests.support")


# An import statement, wherever in a file; to parse the statements alone takes a tenth of the time of the files.
IMPORT = re.compile(r"^ *((?:from \S+ import (?:\([^)]*\)|[^(\n]*)|import [^\n]*))$", re.MULTILINE)


def imported(text: str) -> Iterator[str]:
    """The modules that a module names in its imports, and each name that it takes from one."""
    for node in ast.walk(ast.parse("\n".join(IMPORT.findall(text)))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def is_shared(name: str) -> bool:
    return name.startswith(tuple(f"{folder}." for folder in SHARED)) and ".test_" not in name


def test_nothing_is_imported_from_a_test_module() -> None:
    found = {
        (path.relative_to(TESTS).as_posix(), name)
        for path in TESTS.rglob("*.py")
        for name in imported(path.read_text(encoding="utf-8"))
        if name.startswith("tests.") and not is_shared(name)
    }
    assert found == set()


def test_only_the_shared_folders_hold_modules_without_tests() -> None:
    folders = [TESTS / name.partition(".")[2] for name in SHARED]
    beside = [
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if not path.name.startswith("test_")
        and path.name != "conftest.py"
        and not any(f in path.parents for f in folders)
    ]
    assert beside == []


def test_the_search_would_find_such_an_import() -> None:
    text = (
        "from tests.unit import test_docs\nfrom tests.unit.test_docs import (\n    Reading,\n    Words,\n)\n"
        "if True:\n    import tests.unit.test_docs"
    )
    found = list(imported(text))
    assert found == [
        "tests.unit.test_docs",
        "tests.unit.test_docs.Reading",
        "tests.unit.test_docs.Words",
        "tests.unit.test_docs",
    ]
    assert not any(map(is_shared, found))
