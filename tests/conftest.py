"""Which tests a run has, and what inputs the property tests draw.

`--part` chooses: `quick` is what `make test` runs, `long` what `make test-long` runs, `all` is both in one. The long
part has the tests marked `long`, the parameters that `one_in` leaves to it, and once more the tests marked `drawn`,
which draw more inputs there. Each test has the markers of its subjects.

`--share 2/15` runs the second fifteenth of the part: every fifteenth of its tests, each with all inputs that it draws
in this part. Fifteen runs, 1/15 to 15/15, have every test once.

Property tests draw the same inputs each time, unless others are asked for: a test that fails then fails for whoever
runs it, and because of the change at hand. `--hypothesis-profile=random` draws new ones, to find what nobody has seen.

A test of the quick part that takes more than its budget of processor time fails (tests/support/budget.py). There is no
budget without sqlglot's compiled build, with the lowest versions, for Spark and for clients, which are slower.

`--pure` is for sqlglot's pure build, and ends at once with the compiled one; `--lowest` is for the versions of
`tests/lowest.txt`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from itertools import count
from pathlib import Path

import pytest
import sqlglot.expressions.core
import sqlglot.generators.duckdb
import sqlglot.parsers.duckdb
import sqlglot.tokenizer_core
from hypothesis import settings

# An assertion in a helper says what was compared, as one in a test does.
pytest_plugins = ["pytester"]

pytest.register_assert_rewrite("tests.support")

from tests.support.budget import Budget, add_option  # noqa: E402
from tests.support.draws import Part, Share, run_only  # noqa: E402
from tests.support.subjects import SUBJECTS, subjects_of  # noqa: E402

# What trees are read, made, copied and written with.
SQLGLOT = (
    sqlglot.expressions.core,
    sqlglot.generators.duckdb,
    sqlglot.parsers.duckdb,
    sqlglot.tokenizer_core,
)

# Processor seconds of a test in the quick part, and of one whose markers have moved the rest of its work.
QUICK_SECONDS, SAMPLE_SECONDS = 1.0, 5.0

# How long an input takes depends on what else the machine does.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("random", derandomize=False, deadline=None)
settings.load_profile("fixed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """While tests are collected no connection is opened, because each process of a run collects all of them."""

    def refuse(*args: object, **options: object) -> object:
        raise AssertionError("a test module opens a connection when it is imported: do that in a fixture or a test")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duckdb.connect", refuse)
        return (yield)


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk() -> Iterator[None]:
    """No test cuts the power, and so none waits until what sqlanon writes would outlast that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pure", action="store_true", help="fail if sqlglot's compiled build is imported")
    parser.addoption("--lowest", action="store_true", help="fail unless the versions of tests/lowest.txt are installed")
    parser.addoption(
        "--part", choices=[*Part], default=Part.QUICK, help="quick (make test), long (make test-long) or all"
    )
    add_option(parser)
    parser.addoption("--share", default="1/1", help="a share of the part's tests, such as 2/15")


def pytest_configure(config: pytest.Config) -> None:
    try:
        Share.read(config.getoption("--share"))
    except ValueError as error:
        raise pytest.UsageError(f"--share: {error}") from error
    run_only(Part(config.getoption("--part")))
    has_budget = (
        config.getoption("--part") == Part.QUICK
        and not config.getoption("--lowest")
        and all(str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES)) for module in SQLGLOT)
    )
    config.pluginmanager.register(Budget(_budget if has_budget else lambda item: None))
    for subject in SUBJECTS:
        config.addinivalue_line("markers", f"{subject}: a subject; see docs/maintainers/testing.md")
    if config.getoption("--lowest"):
        _require_lowest()
    if not config.getoption("--pure"):
        return
    compiled = [str(module.__file__) for module in SQLGLOT if str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES))]
    if compiled:
        raise pytest.UsageError(f"--pure: this is sqlglot's compiled build: {compiled[0]}")


def _budget(item: pytest.Item) -> float | None:
    """The processor seconds that a test may take in the quick part; None without a budget."""
    if not {"spark", "clients"}.isdisjoint(item.path.parts):
        return None
    is_sample = any(item.get_closest_marker(marker) for marker in ("drawn", "one_in"))
    return SAMPLE_SECONDS if is_sample else QUICK_SECONDS


def _require_lowest() -> None:
    lines = (Path(__file__).parent / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split("==") for line in lines if not line.startswith("#")]
    others = [f"{name} {version(name)}, not {lowest}" for name, lowest in pinned if version(name) != lowest]
    if others:
        raise pytest.UsageError(f"--lowest: these are not the lowest versions: {'; '.join(others)}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for subject in subjects_of(item.path):
            item.add_marker(subject)
    part, share = Part(config.getoption("--part")), Share.read(config.getoption("--share"))
    seen: Counter[tuple[Path, str]] = Counter()
    of_part = count()
    chosen, left_out = [], []
    for item in items:
        function = (item.path, item.nodeid.partition("[")[0])
        runs = _is_in(part, item, seen[function]) and share.has(next(of_part))
        seen[function] += 1
        (chosen if runs else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


def _is_in(part: Part, item: pytest.Item, index: int) -> bool:
    """Whether a part has the test, the one with this index of those that its function is parametrized to."""
    if part is Part.ALL:
        return True
    is_only_long = _is_only_long(item, index)
    return not is_only_long if part is Part.QUICK else is_only_long or item.get_closest_marker("drawn") is not None


def _is_only_long(item: pytest.Item, index: int) -> bool:
    """Whether the quick part lacks the test, the one with this index of those that its function is parametrized to."""
    one_in = item.get_closest_marker("one_in")
    return item.get_closest_marker("long") is not None or (one_in is not None and index % one_in.args[0] > 0)
