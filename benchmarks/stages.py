"""Measures the time and the queries of a statement in each stage of the pipeline."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon import Connection
from sqlanon.domain.explanation import Choice
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.methods.generalization.explain import Generalization
from sqlanon.release.pipeline import run
from sqlanon.statements.parser import parse_script
from sqlanon.statements.releases.explain_release import ExplainRelease

__all__ = ["StageTimes", "timed_choice", "timed_search", "timed_statement"]


class StageTimes:
    """Listens to one statement and times its stages; each stage ends when the next one begins."""

    def __init__(self) -> None:
        self.queries: Counter[str] = Counter()
        self._starts: dict[str, float] = {}
        self._begun = self._ended = 0.0

    def observe(self, stage: str, sql: str | None, *_: object) -> None:
        if sql is not None:
            self.queries[stage] += 1
        else:
            self._starts.setdefault(stage, time.perf_counter())

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Times the whole statement, which runs inside the block."""
        self._begun = time.perf_counter()
        yield
        self._ended = time.perf_counter()

    @property
    def stage(self) -> str:
        """The stage that began last; empty before the first."""
        return next(reversed(self._starts), "")

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each stage; the last stage includes the commit and the dropping of temporary tables."""
        ends = [*list(self._starts.values())[1:], self._ended]
        return {name: end - start for (name, start), end in zip(self._starts.items(), ends, strict=True)}

    @property
    def total(self) -> float:
        return self._ended - self._begun


def timed_statement(connection: Connection, statement: str) -> StageTimes:
    """Runs one statement; returns the times of its stages."""
    times = StageTimes()
    connection.observe(times.observe)
    try:
        with times.taken():
            connection.sql(statement)
    finally:
        connection.observe(None)
    return times


def timed_search(connection: Connection, statement: str) -> tuple[StageTimes, Generalization]:
    """Dry-runs a generalization; returns the times of its stages and the result of its search."""
    times, found = timed_choice(connection, statement)
    assert isinstance(found, Generalization)
    return times, found


def timed_choice(connection: Connection, statement: str) -> tuple[StageTimes, Choice]:
    """Dry-runs a release; returns the times of its stages and the method's choice, which EXPLAIN only describes."""
    [parsed] = parse_script(statement)
    assert isinstance(parsed, ExplainRelease)
    times = StageTimes()
    engine = DuckDBEngine(connection.duckdb, lambda text: times.observe(times.stage, text))
    with times.taken():
        plan = run.explain(engine, parsed.create, lambda stage, *_: times.observe(stage, None))
    return times, plan.planned.compiled.choice
