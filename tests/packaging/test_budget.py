"""The budget fails a slow test of the quick part, and no other one (tests/support/budget.py)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.budget import slowness, work

# A test burns processor time, so that what it takes does not depend on the machine; the limit is half of it.
SPEND = """
    import subprocess
    import sys
    import time

    import pytest


    def spend(seconds: float) -> None:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

"""
LIMIT = 0.05

Try = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Try:
    """Runs a test module with a budget, on a machine that is so many times slower than the reference."""

    def run(module: str, *options: str, slower: float = 1.0) -> pytest.RunResult:
        pytester.makeconftest(
            f"""
            from tests.support.budget import Budget, add_option

            def pytest_addoption(parser):
                add_option(parser)

            def pytest_configure(config):
                config.addinivalue_line("markers", "drawn: has more inputs in the long part")

                def limit(item):
                    return None if item.get_closest_marker("drawn") else {LIMIT}

                config.pluginmanager.register(Budget(limit, slowness=lambda: {slower}))
            """
        )
        pytester.makepyfile(SPEND + module)
        return pytester.runpytest_inprocess("-q", "-p", "no:hypothesispytest", *options)

    return run


def test_a_slow_test_fails_and_says_what_to_do(run: Try) -> None:
    ran = run("""
    def test_slow():
        spend(0.1)

    def test_quick():
        spend(0.001)
    """)
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(
        ["This test takes 0.1? s of the reference machine's processor time, the least of 3 runs, *may take 0.05 s. *"]
    )


def test_a_test_a_little_above_is_listed(run: Try) -> None:
    ran = run("""
    def test_a_little_slow():
        spend(0.06)

    def test_quick():
        spend(0.001)
    """)
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(["*tests above their budget of processor time*", "*0.06 s  *::test_a_little_slow"])
    assert "::test_quick" not in ran.stdout.str()


def test_waiting_is_free(run: Try) -> None:
    run("""
    def test_waits():
        time.sleep(0.5)
    """).assert_outcomes(passed=1)


def test_a_child_counts(run: Try) -> None:
    run("""
    def test_starts_a_process():
        subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.1: pass"], check=True)
    """).assert_outcomes(failed=1)


def test_a_marked_test_is_spared(run: Try) -> None:
    run("""
    @pytest.mark.drawn
    def test_slow():
        spend(0.1)
    """).assert_outcomes(passed=1)


def test_what_is_imported_once_is_spared(run: Try, pytester: pytest.Pytester) -> None:
    pytester.syspathinsert()
    pytester.makepyfile(
        slow_import="import time\nend = time.process_time() + 0.1\nwhile time.process_time() < end: pass"
    )
    ran = run(
        """
    def test_imports():
        import slow_import
    """,
        "--times=times.jsonl",
    )
    ran.assert_outcomes(passed=1)
    # The least time is the one that is written.
    assert json.loads((pytester.path / "times.jsonl").read_text(encoding="utf-8"))["own"] < LIMIT


def test_a_fixture_of_its_own_counts_and_a_shared_one_does_not(run: Try) -> None:
    ran = run("""
    @pytest.fixture(scope="module")
    def shared():
        spend(0.1)

    @pytest.fixture
    def own(shared):
        spend(0.1)

    def test_shares(shared):
        pass

    def test_has_its_own(own):
        pass

    def test_asks_for_it(request):
        request.getfixturevalue("shared")
    """)
    ran.assert_outcomes(passed=2, failed=1)
    ran.stdout.fnmatch_lines(["FAILED *::test_has_its_own*"])


@pytest.mark.parametrize(("slower", "outcome"), [(1.0, "failed"), (4.0, "passed")])
def test_a_slower_machine_has_more_time(run: Try, slower: float, outcome: str) -> None:
    run(
        """
    def test_slow():
        spend(0.1)
    """,
        slower=slower,
    ).assert_outcomes(**{outcome: 1})


def test_a_busy_moment_decides_nothing(run: Try) -> None:
    run("""
    runs = []

    def test_is_slow_but_once():
        runs.append(1)
        spend(0.1 if len(runs) < 3 else 0)
    """).assert_outcomes(passed=1)


def test_a_test_that_cannot_be_run_twice_keeps_its_first_time(run: Try) -> None:
    ran = run("""
    runs = []

    def test_runs_once():
        runs.append(1)
        assert len(runs) == 1
        spend(0.1)
    """)
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["This test takes 0.1? s of the reference machine's processor time*"])


@pytest.mark.long
def test_a_test_that_fails_fails_for_its_reason(run: Try) -> None:
    ran = run("""
    def test_wrong():
        spend(0.1)
        assert 1 == 2
    """)
    ran.assert_outcomes(failed=1)
    ran.stdout.no_fnmatch_line("*processor time*")


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_times_are_written_and_summed_up(run: Try, tmp_path: Path, workers: list[str]) -> None:
    path = tmp_path / "times.jsonl"
    ran = run(
        """
    @pytest.fixture(scope="module")
    def shared():
        spend(0.1)

    def test_quick(shared):
        spend(0.001)

    def test_slower():
        spend(0.03)
    """,
        f"--times={path}",
        *workers,
    )
    ran.assert_outcomes(passed=2)
    slower, quick = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (slower["test"].rpartition("::")[2], slower["shared"]) == ("test_slower", 0)
    assert 0.03 <= slower["own"] < LIMIT
    assert 0.001 <= quick["own"] < 0.03 < 0.1 <= quick["shared"]
    ran.stdout.fnmatch_lines(["2 tests: median 0.0?? s, *", "shared fixtures 0 s, all processes *", "*s  *test_slower"])


def test_a_machine_is_never_faster_than_the_reference() -> None:
    work()
    assert slowness() >= 1
