"""Which tests a run has, and what inputs the property tests draw.

`--part` chooses: `quick` is what `make test` runs, `long` what `make test-long` runs, `all` is both in one. The long
part has the tests marked `long`, the parameters that `one_in` leaves to it, and once more the tests marked `drawn`,
which draw more inputs there. Each test has the markers of its subjects.

Property tests draw the same inputs each time, unless others are asked for: a test that fails then fails for whoever
runs it, and because of the change at hand. `--hypothesis-profile=random` draws new ones, to find what nobody has seen.

`--compiled` is for sqlglot's compiled build, and ends at once with any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
import sqlglot.expressions.core
import sqlglot.generators.duckdb
import sqlglot.parsers.duckdb
import sqlglot.tokenizer_core
from hypothesis import settings

# An assertion in a helper says what was compared, as one in a test does.
pytest.register_assert_rewrite("tests.support")

from tests.support.draws import Part, run_only  # noqa: E402
from tests.support.subjects import SUBJECTS, subjects_of  # noqa: E402

# What trees are read, made, copied and written with.
SQLGLOT = (
    sqlglot.expressions.core,
    sqlglot.generators.duckdb,
    sqlglot.parsers.duckdb,
    sqlglot.tokenizer_core,
)

# How long an input takes depends on what else the machine does.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("random", derandomize=False, deadline=None)
settings.load_profile("fixed")


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk() -> Iterator[None]:
    """No test cuts the power, and so none waits until what sqlanon writes would outlast that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--compiled", action="store_true", help="fail unless sqlglot's compiled build is imported")
    parser.addoption(
        "--part", choices=[*Part], default=Part.QUICK, help="quick (make test), long (make test-long) or all"
    )


def pytest_configure(config: pytest.Config) -> None:
    run_only(Part(config.getoption("--part")))
    for subject in SUBJECTS:
        config.addinivalue_line("markers", f"{subject}: a subject; see docs/maintainers/testing.md")
    if not config.getoption("--compiled"):
        return
    plain = [str(module.__file__) for module in SQLGLOT if not str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES))]
    if plain:
        raise pytest.UsageError(f"--compiled: this is not sqlglot's compiled build: {plain[0]}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for subject in subjects_of(item.path):
            item.add_marker(subject)
    part = Part(config.getoption("--part"))
    seen: Counter[tuple[Path, str]] = Counter()
    chosen, left_out = [], []
    for item in items:
        function = (item.path, item.nodeid.partition("[")[0])
        (chosen if _runs(item, seen[function], part) else left_out).append(item)
        seen[function] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


def _runs(item: pytest.Item, place: int, part: Part) -> bool:
    """Whether the part has the test, the one in this place of those that its function is parametrized to."""
    one_in = item.get_closest_marker("one_in")
    is_long = item.get_closest_marker("long") is not None or (one_in is not None and place % one_in.args[0] > 0)
    if part is Part.LONG:
        return is_long or item.get_closest_marker("drawn") is not None
    return part is Part.ALL or not is_long
