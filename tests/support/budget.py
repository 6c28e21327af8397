"""The budget of a quick test: a second of processor time, on a machine as fast as the reference.

A test's time is that of its call and of the fixtures made for it alone, in this process and in the children that it
waits for. Fixtures of a wider scope are left out: they belong to all tests of a file, and the first test that asks
would pay for the others. They have no budget; `--times` shows what they take.

A test above the budget runs twice more, and its least time counts. So the first test in a process does not pay for
what is imported and cached once, and a moment in which the machine is busy decides nothing. Each time is divided by
how much slower than the reference the machine is at that moment, measured by a fixed piece of work. That work stands
for a test's own only roughly, so that a test fails from `TOLERANCE` times its budget on; one between the two is listed.

`--times FILE` writes the times, a line of JSON for each test, the slowest first, and prints a summary.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

__all__ = ["Budget", "add_option", "processor_seconds", "slowness"]

# The processor time of `work` on the machine that the figures of docs/maintainers/testing.md are from, idle.
REFERENCE_SECONDS = 0.022
RUNS = 3
# Between machines, the same test differs by a third beside `work`, which says how fast a machine is.
TOLERANCE = 1.5
# The names under which a report tells the process that leads the workers what a test took.
OWN, SHARED, ABOVE = "processor seconds", "processor seconds of shared fixtures", "above the budget"


def processor_seconds() -> float:
    """Returns the processor time of this process and of its children that have ended and been waited for."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def work() -> None:
    """Does what tests do in Python: makes, sorts and joins numbers, texts, lists and dictionaries, always the same."""
    rows = sorted((number * 7919 % 10007, str(number)) for number in range(40_000))
    ends: dict[str, list[int]] = {}
    for number, text in rows:
        ends.setdefault(text[-3:], []).append(number)
    "".join(f"{end}: {sum(numbers)};" for end, numbers in ends.items()).encode().split(b";")


def slowness() -> float:
    """Returns how many times longer than on the reference machine `work` takes now, and 1 on a faster machine."""
    start = time.process_time()
    work()
    return max(1.0, (time.process_time() - start) / REFERENCE_SECONDS)


def add_option(parser: pytest.Parser) -> None:
    """Adds `--times`."""
    parser.addoption("--times", metavar="FILE", type=Path, help="write each test's processor time to a file")


class Budget:
    """A plug-in of pytest that measures each test, and fails a test that takes more than the limit of its item.

    `limit` returns the seconds that an item may take, and None for an item without a budget.
    """

    def __init__(
        self, limit: Callable[[pytest.Item], float | None], *, slowness: Callable[[], float] = slowness
    ) -> None:
        self._limit = limit
        self._slowness = slowness
        self._own = self._shared = 0.0
        self._times: dict[str, tuple[float, float]] = {}
        self._above: list[str] = []
        self._workers = 0.0

    @contextmanager
    def _measured(self) -> Iterator[None]:
        """Counts what is done in the block as the test's own, but for the fixtures that it shares with others."""
        start, shared = processor_seconds(), self._shared
        try:
            yield
        finally:
            self._own += processor_seconds() - start - (self._shared - shared)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with self._measured():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with self._measured():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[Any]:
        if fixturedef.scope == "function":
            return (yield)
        # A shared fixture may ask for another one by name, which has counted itself then.
        start, shared = processor_seconds(), self._shared
        try:
            return (yield)
        finally:
            self._shared = shared + processor_seconds() - start

    def _run(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[pytest.TestReport], float, float]:
        """Runs a test, and returns its reports, its own time and that of the shared fixtures made for it."""
        self._own = self._shared = 0.0
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        return reports, self._own, self._shared

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports, own, shared = self._run(item, nextitem)
        limit = self._limit(item)
        above = False
        if limit is not None and own > limit and all(report.passed for report in reports):
            own = self._least(item, nextitem, own, limit)
            above = own > limit
            if own > limit * TOLERANCE:
                _fail(reports, own, limit)
        for report in reports:
            if report.when == "call":
                report.user_properties += [(OWN, own), (SHARED, shared), (ABOVE, above)]
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _least(self, item: pytest.Item, nextitem: pytest.Item | None, first: float, limit: float) -> float:
        """Returns a test's least time on a machine like the reference; runs it again until that is within the limit."""
        least = first / self._slowness()
        for _ in range(1, RUNS):
            if least <= limit:
                break
            reports, own, _ = self._run(item, nextitem)
            # A test that fails the second time has not done its work, so that its time says nothing.
            if all(report.passed for report in reports):
                least = min(least, own / self._slowness())
        return least

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = dict(report.user_properties)
        if OWN in found:
            self._times[report.nodeid] = (found[OWN], found[SHARED])
            if found[ABOVE]:
                self._above.append(f"{found[OWN]:8.2f} s  {report.nodeid}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output[OWN] = processor_seconds()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # A worker that has crashed has no output.
        self._workers += getattr(node, "workeroutput", {}).get(OWN, 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        if self._above:
            terminalreporter.section("tests above their budget of processor time")
            for line in sorted(self._above, reverse=True):
                terminalreporter.write_line(line)
        path = config.getoption("--times")
        if path is None or not self._times:
            return
        slowest = sorted(self._times.items(), key=lambda each: -each[1][0])
        lines = [json.dumps({"test": test, "own": own, "shared": shared}) for test, (own, shared) in slowest]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        terminalreporter.section("processor time")
        processes = time.process_time() + self._workers if self._workers else processor_seconds()
        for line in summary(self._times, processes):
            terminalreporter.write_line(line)


def _fail(reports: list[pytest.TestReport], seconds: float, limit: float) -> None:
    """Makes a test that has passed one that has failed, for its time."""
    for report in reports:
        if report.when == "call":
            report.outcome = "failed"
            report.longrepr = (
                f"This test takes {seconds:.2f} s of the reference machine's processor time, the least of {RUNS} runs, "
                f"and a test of the quick part may take {limit:g} s. Make its data smaller, or give it the marker "
                "long, one_in(n) or drawn: "
                'see "The budget" in docs/maintainers/testing.md.'
            )


def summary(times: dict[str, tuple[float, float]], processes: float) -> list[str]:
    """Returns the lines below a run: median, 99th percentile and sums of the tests' times, and the slowest ten."""
    own = sorted(seconds for seconds, _ in times.values())
    shared = sum(seconds for _, seconds in times.values())
    median, high = own[len(own) // 2], own[min(len(own) - 1, len(own) * 99 // 100)]
    slowest = sorted(times, key=lambda test: -times[test][0])[:10]
    return [
        f"{len(own)} tests: median {median:.3f} s, 99th percentile {high:.2f} s, together {sum(own):.0f} s",
        f"shared fixtures {shared:.0f} s, all processes {processes:.0f} s",
        *(f"{times[test][0]:8.2f} s  {test}" for test in slowest),
    ]
